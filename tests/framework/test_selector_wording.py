"""Label selectors read as those of node affinity do."""

import pytest

from schedctl.api.meta import LabelSelector, LabelSelectorRequirement
from schedctl.api.selectors import compile_selector
from schedctl.framework.selector_wording import describe_selector


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        pytest.param(LabelSelector({"app": "web"}), "app=web", id="a label"),
        pytest.param(LabelSelector(), "", id="all labels"),
        pytest.param(None, "<none>", id="no selector selects nothing"),
        pytest.param(("tier", "In", ["b", "a"]), "tier in (a,b)", id="one of several values"),
        pytest.param(("tier", "NotIn", ["a"]), "tier!=a", id="another value"),
        pytest.param(("tier", "NotIn", ["b", "a"]), "tier notin (a,b)", id="none of several values"),
        pytest.param(("tier", "Exists", None), "tier", id="any value"),
        pytest.param(("tier", "DoesNotExist", None), "!tier", id="no value"),
    ],
)
def test_a_selector_in_words(selector, text):
    if isinstance(selector, tuple):
        selector = LabelSelector(match_expressions=[LabelSelectorRequirement(*selector)])
    assert describe_selector(compile_selector(selector)) == text

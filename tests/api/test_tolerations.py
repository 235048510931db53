"""Which tolerations cover which taints."""

import pytest

from schedctl.api.nodes import Taint
from schedctl.api.pods import Toleration
from schedctl.api.tolerations import first_untolerated, tolerates

TAINT = Taint(key="team", value="red", effect="NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "covers"),
    [
        pytest.param({"key": "team", "value": "red"}, True, id="without an operator values must be equal"),
        pytest.param({"key": "team", "operator": "Equal", "value": "blue"}, False, id="another value does not cover"),
        pytest.param({"key": "team", "operator": "Exists"}, True, id="Exists covers any value"),
        pytest.param({"key": "team", "operator": "Exists", "value": "blue"}, True, id="Exists overlooks a value"),
        pytest.param({"operator": "Exists"}, True, id="Exists without a key covers everything"),
        pytest.param({"operator": "Equal", "value": "red"}, True, id="no key stands for any key"),
        pytest.param({"key": "team"}, False, id="an empty value equals only an empty value"),
        pytest.param({"key": "other", "operator": "Exists"}, False, id="another key does not cover"),
        pytest.param({"key": "team", "operator": "Exists", "effect": "NoExecute"}, False, id="nor another effect"),
        pytest.param({"key": "team", "operator": "Exists", "effect": "NoSchedule"}, True, id="the same effect does"),
        pytest.param({"key": "team", "operator": "Gt", "value": "1"}, False, id="Gt is off by default"),
        pytest.param(
            {"key": "team", "operator": "Maybe", "value": "red"}, False, id="an unknown operator never covers"
        ),
    ],
)
def test_what_a_toleration_covers(toleration, covers):
    assert tolerates(Toleration(**toleration), TAINT) is covers


def test_the_first_taint_that_keeps_a_pod_off_is_found_in_the_order_of_the_node():
    soft = Taint(key="a", effect="PreferNoSchedule")
    evicting = Taint(key="b", effect="NoExecute")
    assert first_untolerated([soft, evicting, TAINT], []) is evicting
    assert first_untolerated([soft, evicting, TAINT], [Toleration(key="b", operator="Exists")]) is TAINT
    assert first_untolerated([soft], []) is None
    assert first_untolerated([soft, TAINT], [], {"PreferNoSchedule"}) is soft

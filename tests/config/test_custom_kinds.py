"""The table of custom kinds, and what users may add to it."""

from __future__ import annotations

import pytest

from schedctl.api.custom_kinds import CUSTOM_KINDS, PodsAt
from schedctl.config.custom_kinds import with_custom_kinds
from schedctl.errors import ConfigError


def kind_named(table, name: str):
    return next((kind for kind in table if str(kind) == name), None)


def test_entries_add_to_the_table_and_replace_what_is_there():
    table = with_custom_kinds(
        {
            "Shop.example.com": {"template": "spec.web.template", "replicas": "spec.web.size", "default": 2},
            "Rollout.argoproj.io": [{"spec": ["spec", "a.b"], "perNode": True, "group": "x"}],
        }
    )
    assert len(table) == len(CUSTOM_KINDS) + 1
    (shop,) = kind_named(table, "Shop.example.com").pods
    assert shop == PodsAt(("spec", "web", "template"), replicas=("spec", "web", "size"), default=2)
    (rollout,) = kind_named(table, "Rollout.argoproj.io").pods
    assert rollout == PodsAt(("spec", "a.b"), "spec", group="x", per_node=True)


def test_an_empty_list_takes_a_kind_out():
    assert kind_named(with_custom_kinds({"Rollout.argoproj.io": []}), "Rollout.argoproj.io") is None


@pytest.mark.parametrize(
    ("entries", "beginning"),
    [
        pytest.param({"Rollout": {}}, "Rollout: expected Kind.group, e.g. Rollout.argoproj.io", id="no group"),
        pytest.param({"A.b": 3}, "A.b: expected a mapping", id="no mapping"),
        pytest.param({"A.b": {"replicas": "x"}}, "A.b: expected one of template, spec, pod", id="no template"),
        pytest.param(
            {"A.b": {"template": "x", "default": -1}}, "A.b.default: expected a number at least 0", id="no number"
        ),
        pytest.param(
            {"A.b": {"template": 4}}, "A.b.template: expected a path with dots, or a list of its steps", id="no path"
        ),
        pytest.param(
            {"A.b": [{"template": "x"}, {"template": "x", "replica": "y"}]},
            'A.b[1].replica: unknown field "replica"',
            id="no field, in the second of a list",
        ),
        pytest.param({"A.b": {"template": "a..b"}}, "A.b.template: expected a path with dots", id="an empty step"),
        pytest.param({"A.b": {"template": ""}}, "A.b.template: expected a path", id="an empty path"),
        pytest.param(
            {"Job.batch": {"template": "x"}}, "Job.batch: Job.batch is a built-in kind of Kubernetes", id="not custom"
        ),
    ],
)
def test_an_entry_of_another_form_is_refused(entries, beginning):
    with pytest.raises(ConfigError) as raised:
        with_custom_kinds(entries)
    assert str(raised.value.problems[0]).startswith(beginning)


@pytest.mark.parametrize(
    ("field", "hint"),
    [
        pytest.param("replica", 'did you mean "replicas"?', id="a misspelt field"),
        pytest.param("xyz", "expected one of template, spec, pod", id="a field like none"),
    ],
)
def test_an_unknown_field_has_a_next_step(field, hint):
    with pytest.raises(ConfigError) as raised:
        with_custom_kinds({"A.b": {"template": "x", field: "y"}})
    assert raised.value.problems[0].hint.startswith(hint)

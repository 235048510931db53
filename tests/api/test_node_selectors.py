"""Node selectors: terms, fields, and what becomes of a term that cannot be parsed."""

import msgspec
import pytest

from schedctl.api.node_selectors import compile_node_selector, compile_preferred, required_node_affinity
from schedctl.api.pods import NodeSelector, PreferredSchedulingTerm
from schedctl.api.selectors import SelectorError
from schedctl.testing.builders import pod

NODE = ("node-a", {"zone": "z1", "gen": "5"})


def where(key, operator, *values):
    return {"key": key, "operator": operator, "values": list(values)}


def query(*terms):
    return compile_node_selector(msgspec.convert({"nodeSelectorTerms": list(terms)}, NodeSelector))


def named(operator, *values, key="metadata.name"):
    return {"matchFields": [where(key, operator, *values)]}


@pytest.mark.parametrize(
    ("terms", "matches"),
    [
        pytest.param([], False, id="no terms match nothing"),
        pytest.param([{}], False, id="an empty term matches nothing"),
        pytest.param([{}, {"matchExpressions": [where("zone", "Exists")]}], True, id="one term that holds is enough"),
        pytest.param(
            [{"matchExpressions": [where("zone", "In", "z1"), where("gen", "Gt", "5")]}],
            False,
            id="all requirements of a term must hold",
        ),
        pytest.param([named("In", "node-a")], True, id="a node can be named"),
        pytest.param([named("NotIn", "node-a")], False, id="a node can be excluded by name"),
        pytest.param(
            [{"matchExpressions": [where("zone", "In", "z2")], **named("In", "node-a")}],
            False,
            id="labels and fields must both match",
        ),
        pytest.param([named("In", "", key="metadata.uid")], True, id="any other field is empty"),
        pytest.param([named("In", "node-a", "node-b")], False, id="two names in a field cannot be parsed"),
        pytest.param(
            [{"matchExpressions": [where("zone", "NotIn", "_bad_")]}],
            False,
            id="NotIn of a value no label can have cannot be parsed",
        ),
    ],
)
def test_which_nodes_a_selector_matches(terms, matches):
    assert query(*terms).matches(*NODE) is matches


def test_a_term_that_cannot_be_parsed_spoils_no_other():
    broken = query({"matchExpressions": [where("zone", "Near", "z1")]}, {"matchExpressions": [where("zone", "Exists")]})
    assert broken.matches(*NODE)
    with pytest.raises(SelectorError) as error:
        broken.require_valid()
    assert str(error.value) == (
        'nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "Near": '
        'supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"'
    )


def test_a_pod_demands_its_node_selector_and_its_affinity():
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [named("In", "node-a")]}
        }
    }
    required = required_node_affinity(pod(nodeSelector={"zone": "z1"}, affinity=affinity).pod)
    assert required.matches(*NODE)
    assert not required.matches("node-b", NODE[1])
    assert not required.matches("node-a", {})
    assert not required.everywhere


def test_a_pod_that_demands_nothing_goes_everywhere():
    assert required_node_affinity(pod(nodeSelector={}, affinity={"nodeAffinity": {}}).pod).everywhere


def preferred(*terms):
    return [msgspec.convert(term, PreferredSchedulingTerm) for term in terms]


def test_preferred_terms_without_weight_or_condition_are_left_out():
    broken = {"matchExpressions": [where("zone", "Near")]}
    holds = {"matchExpressions": [where("zone", "Exists")]}
    terms = preferred({"weight": 0, "preference": broken}, {"weight": 3}, {"weight": 7, "preference": holds})
    assert [term.weight for term in compile_preferred(terms)] == [7]


def test_all_that_is_wrong_with_preferred_terms_is_reported():
    both = {
        "matchExpressions": [where("zone", "In")],
        "matchFields": [where("x", "Exists"), where("metadata.name", "In")],
    }
    with pytest.raises(SelectorError) as error:
        compile_preferred(preferred({"weight": 1, "preference": both}))
    assert error.value.problems == (
        "[0].matchExpressions[0].values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
        '[0].matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn"',
        "[0].matchFields[1].values: Invalid value: []: must have one element",
    )

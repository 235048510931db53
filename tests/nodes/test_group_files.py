"""Groups as a file describes them."""

from __future__ import annotations

import pytest

from schedctl.autoscaling import files, instance_types
from schedctl.autoscaling.detection import detect
from schedctl.autoscaling.instance_types import NO_TYPES
from schedctl.errors import InputError
from schedctl.testing.builders import ZONE, cluster, node

HEAD = "apiVersion: schedctl.dev/v1alpha1\nkind: NodeGroups\ngroups:\n"


def merged(state, path: str, catalogue=NO_TYPES):
    found = files.with_written(detect(state), files.load(path), state, catalogue)
    return {each.name: each for each in found.groups}, found.notes


@pytest.fixture
def state_of_two():
    return cluster(node("a", zone="z1", labels={"pool": "general"}), node("b", zone="z1", labels={"pool": "general"}))


def test_what_is_not_known_of_a_detected_group_is_added(state_of_two, written):
    path = written(HEAD + "- {name: general, maxSize: 5, minSize: 1, pricePerHour: 0.2, priority: 3}\n")
    groups, notes = merged(state_of_two, path)
    group = groups["general"]
    assert (group.max_size, group.min_size, group.priority, group.templates[0].price) == (5, 1, 3, 0.2)
    assert group.nodes == ("a", "b")
    assert notes == ()


def test_a_group_can_be_like_a_node_in_other_zones(state_of_two, written):
    path = written(HEAD + "- {name: new, like: a, zones: [z1, z2], labels: {team: x}, taints: ['only=x:NoSchedule']}\n")
    group = merged(state_of_two, path)[0]["new"]
    assert [each.zone for each in group.templates] == ["z1", "z2"]
    labels = group.templates[1].node.metadata.labels
    assert (labels[ZONE], labels["team"]) == ("z2", "x")
    assert group.templates[0].node.spec.taints[0].key == "only"


def test_a_group_can_be_of_instance_types(state_of_two, written):
    types = instance_types.load("fixtures/autoscalers/instance-types.csv")
    path = written(HEAD + "- {name: new, instanceTypes: [m6i.large, m6i.xlarge], zones: [eu-west-1a]}\n")
    group = merged(state_of_two, path, types)[0]["new"]
    assert {(each.instance_type, each.spot) for each in group.templates} == {
        ("m6i.large", False),
        ("m6i.large", True),
        ("m6i.xlarge", False),
        ("m6i.xlarge", True),
    }


def test_a_group_can_be_described_by_its_size(state_of_two, written):
    path = written(HEAD + "- {name: new, allocatable: {cpu: '2', memory: 4Gi}}\n")
    group = merged(state_of_two, path)[0]["new"]
    assert group.templates[0].node.status.allocatable == {"pods": "110", "cpu": "2", "memory": "4Gi"}


@pytest.mark.parametrize(
    ("entry", "message", "hint"),
    [
        ("- {name: new}", 'group "new" was not detected', "add `like: NODE`"),
        ("- {name: new, like: aa}", 'node "aa" not found', ""),
        ("- {name: new, instanceTypes: [x]}", 'unknown instance type "x"', "`--instance-types FILE`"),
        ("- {name: general, taints: [a]}", '"a" is not a taint', "e.g. dedicated=database:NoSchedule"),
        ("- {name: general, taints: ['a=b:Never']}", '"a=b:Never" is not a taint', ""),
        ("- {name: general, minSize: 3, maxSize: 1}", "the maximum size 1 is below the minimum size 3", ""),
        ("- {name: general, maxSize: -1}", "a size is below 0", ""),
        ("- {name: general, pricePerHour: -1}", "a price is below 0", ""),
        ("- {name: general, allocatable: {cpu: x}}", '"x" is not an amount', ""),
        ("- {name: general, allocatable: {cpu: '-4'}}", '"-4" is not an amount', ""),
        ("- {name: general}\n- {name: general}", 'group "general" is written twice', ""),
        ("- {nme: general}", 'unknown field "nme"', 'did you mean "name"?'),
        ("- {maxSize: 1}", "a group has no name", ""),
        ("[]", "no group in the file", ""),
    ],
)
def test_what_is_wrong_is_told_with_its_place(entry, message, hint, state_of_two, written):
    path = written(HEAD + f"{entry}\n" if entry != "[]" else HEAD.rstrip() + " []\n")
    with pytest.raises(InputError) as caught:
        merged(state_of_two, path)
    problem = next(each for each in caught.value.problems if message in each.message)
    assert problem.source == path
    assert hint in problem.hint
    assert problem.line >= 4 or entry == "[]"


@pytest.mark.parametrize("text", ["kind: Pod\napiVersion: v1\n", "a: [", "3"])
def test_another_document_is_refused(text, written):
    with pytest.raises(InputError):
        files.load(written(text))


def test_contradictions_with_the_nodes_are_told(state_of_two, written):
    path = written(HEAD + "- {name: general, maxSize: 1}\n- {name: x, like: a, nodeSelector: {pool: general}}\n")
    notes = merged(state_of_two, path)[1]
    assert f"group general has 2 nodes, more than maxSize 1 of {path}" in notes
    assert [each for each in notes if "as well" in each] == [
        f"nodes of group general in {path} are of group x as well"
    ], "once for the two"


def test_a_selector_of_no_node_is_told(state_of_two, written):
    path = written(HEAD + "- {name: x, like: a, nodeSelector: {pool: none}}\n")
    assert merged(state_of_two, path)[1] == (f"no node has the labels of group x in {path}",)


def test_labels_that_no_node_of_the_group_has_are_told_and_their_zone_is_that_of_new_nodes(state_of_two, written):
    path = written(HEAD + f"- {{name: general, labels: {{{ZONE}: z9, team: x}}}}\n")
    groups, notes = merged(state_of_two, path)
    assert notes == (f"label {ZONE} of group general is z9 in {path}, and z1 on its nodes",)
    assert [each.zone for each in groups["general"].templates] == ["z9"]


def test_a_described_node_without_a_zone_is_told_where_nodes_have_one(state_of_two, written):
    path = written(HEAD + "- {name: new, allocatable: {cpu: '2', memory: 4Gi}}\n")
    assert merged(state_of_two, path)[1] == (
        "a new node of group new has no zone: what is spread over zones would not fit there",
    )

"""What differs between two snapshots."""

from __future__ import annotations

import msgspec
import pytest

from schedctl.api.gaps import Gap
from schedctl.api.meta import ObjectMeta, OwnerReference
from schedctl.api.nodes import Node, NodeSpec, Taint
from schedctl.api.pods import Container, Pod, PodSpec
from schedctl.api.workloads import Service
from schedctl.errors import UsageError
from schedctl.reports.snapshots import Header, ObjectChangeType
from schedctl.snapshots import comparison, documents, levels

KEY, OTHER = b"a key of sixteen bytes", b"another key of as many"


def pod(name: str, *containers: str, node: str = "", uid: str = "", owner: str = "") -> Pod:
    owners = [OwnerReference(kind="ReplicaSet", name=owner, uid=owner, controller=True)] if owner else None
    return Pod(
        metadata=ObjectMeta(name=name, namespace="shop", uid=uid or name, owner_references=owners),
        spec=PodSpec(containers=[Container(name=each, image=f"{each}:1") for each in containers], node_name=node),
    )


def node(name: str, **spec) -> Node:
    return Node(metadata=ObjectMeta(name=name, uid=name), spec=NodeSpec(**spec))


def diff(before, after, *, level="default", keys=(KEY, KEY), missing=(), fail=False):
    """What differs between two lists of objects."""
    sides = []
    for objects, key in zip((before, after), keys, strict=True):
        found: dict[str, list] = {}
        for obj in objects:
            found.setdefault(type(obj).__name__, []).append(obj)
        text = levels.snapshot(Header(missing=list(missing)), found, level, key)
        sides.append(("s.json", documents.decode(text)))
    return comparison.diff(*sides, fail=fail)


def test_added_and_removed_objects_are_reported():
    report = diff([node("a"), node("b")], [node("b"), node("c")])
    assert [(one.name, one.change) for one in report.results] == [
        ("a", ObjectChangeType.REMOVED),
        ("c", ObjectChangeType.ADDED),
    ]
    assert [(one.kind, one.before, one.after, one.added, one.removed, one.changed) for one in report.kinds] == [
        ("Node", 2, 2, 1, 1, 0)
    ]


def test_changed_field_is_named():
    (one,) = diff([pod("web")], [pod("web", node="a")]).results
    assert [(each.path, each.before, each.after) for each in one.fields] == [("spec.nodeName", None, "a")]


def test_named_items_are_compared_by_name():
    (one,) = diff([pod("web", "app")], [pod("web", "sidecar", "app")]).results
    (field,) = one.fields
    assert (field.path, field.before) == ("spec.containers[name=sidecar]", None)


def test_reordered_named_items_are_reported_by_name():
    (one,) = diff([pod("web", "app", "old", "sidecar")], [pod("web", "sidecar", "app")]).results
    explanations = [(each.path, each.before, each.after) for each in one.fields]
    assert explanations[-1] == ("spec.containers", ["app", "sidecar"], ["sidecar", "app"])
    assert [path for path, _, _ in explanations[:-1]] == ["spec.containers[name=old]"]


def test_unnamed_items_are_compared_in_order():
    one, other = Taint(key="k", value="1", effect="NoSchedule"), Taint(key="k", value="2", effect="NoExecute")
    (found,) = diff([node("a", taints=[one, one])], [node("a", taints=[one, other])]).results
    assert [each.path for each in found.fields] == ["spec.taints[1].effect", "spec.taints[1].value"]


def test_object_with_another_uid_is_replaced():
    (one,) = diff([pod("web", uid="1")], [pod("web", uid="2")]).results
    assert one.change is ObjectChangeType.REPLACED


def test_who_manages_a_pod_is_told():
    (one,) = diff([], [pod("web-1", owner="web")]).results
    assert one.owner == "ReplicaSet web"


def test_order_is_no_difference():
    assert diff([node("a"), node("b")], [node("b"), node("a")]).results == []


def test_a_kind_that_could_not_be_listed_has_not_gone():
    service = Service(metadata=ObjectMeta(name="web", namespace="shop"))
    report = diff([service], [], missing=[Gap("Service", "Forbidden")])
    assert report.results == []
    assert report.not_compared == ["Service"]


@pytest.mark.parametrize(
    ("after", "fail", "code"), [([node("a")], True, 0), ([node("b")], True, 1), ([node("b")], False, 0)]
)
def test_differences_can_make_the_exit_code_1(after, fail, code):
    assert diff([node("a")], after, fail=fail).summary.exit_code == code


def test_snapshots_of_one_key_compare_though_every_rank_has_moved():
    before = [pod("web", "app", node="n1"), pod("zoo")]
    after = [pod("api"), pod("web", "app", node="n2"), pod("zoo")]
    report = diff(before, after, level="strict")
    assert [one.change for one in sorted(report.results, key=lambda one: one.change)] == [
        ObjectChangeType.ADDED,
        ObjectChangeType.CHANGED,
    ]
    (changed,) = (one for one in report.results if one.change is ObjectChangeType.CHANGED)
    assert [field.path for field in changed.fields] == ["spec.nodeName"]


def test_snapshots_of_two_keys_do_not_compare():
    with pytest.raises(UsageError, match="different keys"):
        diff([pod("a")], [pod("a")], level="strict", keys=(KEY, OTHER))


def test_names_and_hashes_do_not_compare():
    plain = documents.decode(levels.snapshot(Header(), {"Node": [node("a")]}, "default"))
    hashed = documents.decode(levels.snapshot(Header(), {"Node": [node("a")]}, "strict", KEY))
    with pytest.raises(UsageError, match="redacted strictly"):
        comparison.diff(("a", plain), ("b", hashed), fail=False)


def test_what_is_not_redacted_compares_with_what_is():
    sent = {"metadata": {"name": "a", "uid": "a", "annotations": {"note": "x"}}, "spec": {}, "status": {}}
    raw = documents.decode(levels.snapshot(Header(), {"Node": [sent]}, "none"))
    plain = documents.decode(levels.snapshot(Header(), {"Node": [node("a")]}, "default"))
    report = comparison.diff(("a", raw), ("b", plain), fail=False)
    assert report.results == []
    assert [field.path for field in report.header] == ["metadata.redaction"]


def test_nulls_and_managed_fields_are_not_kept_by_any_level():
    sent = {"metadata": {"name": "a", "managedFields": [{}], "creationTimestamp": None}, "spec": {"x": [{"y": None}]}}
    assert levels.as_sent(sent) == {"metadata": {"name": "a"}, "spec": {"x": [{}]}}
    assert msgspec.convert(levels.as_sent(sent), Node).metadata.name == "a"

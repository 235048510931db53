"""What a decision was made on, and whether it is still so.

A decision is made on lists that are seconds old when it is carried out: `ObservedState` finds in those lists what it
hangs on, as the API server sent it, and the functions beside it say what differs from what the server has now. Whether
a pod is as it was is judged by what scheduling reads of it, since its conditions and the status of its containers
change all the time and decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, TypeVar

import msgspec

from schedctl.api import defaults
from schedctl.api.kinds import Kind
from schedctl.api.meta import ObjectMeta, Struct
from schedctl.api.nodes import Node, NodeSystemInfo
from schedctl.api.pods import FINISHED, Pod
from schedctl.cache.pod_info import PodInfo
from schedctl.live.connections import Connection
from schedctl.live.listing import Listing
from schedctl.live.objects import POD, Head, decode, list_current

_SHOWN = 3

T = TypeVar("T", bound=Struct)


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""


class _Placed(msgspec.Struct):
    """A pod as far as its place goes."""

    spec: _Spec = msgspec.field(default_factory=_Spec)


class _NodeStatus(msgspec.Struct):
    conditions: list[dict[str, Any]] | None = None


class _Conditions(msgspec.Struct):
    """A node as far as its conditions go."""

    status: _NodeStatus = msgspec.field(default_factory=_NodeStatus)


class _Page(msgspec.Struct):
    items: list[msgspec.Raw] | None = None


class ObservedState:
    """The objects of a listing, found when they are asked for."""

    def __init__(self, listing: Listing) -> None:
        self._listing = listing
        self._by_kind: dict[str, dict[str, bytes]] = {}

    def get(self, kind: Kind, key: str) -> bytes | None:
        """Return an object as it was listed, JSON; None where it was not there."""
        return self.all_of(kind).get(key)

    def all_of(self, kind: Kind) -> Mapping[str, bytes]:
        """Return all objects of a kind as they were listed, by key."""
        if kind.name not in self._by_kind:
            bodies = (page.body for page in self._listing.pages if page.kind.name == kind.name)
            items = (bytes(item) for body in bodies for item in decode(body, _Page).items or ())
            self._by_kind[kind.name] = {decode(item, Head).key: item for item in items}
        return self._by_kind[kind.name]

    def pods_on(self, node: str) -> dict[str, Pod]:
        """Return the pods that stood on a node, by uid; those that have run to their end take part in nothing."""
        return _active_by_uid(decode(item, Pod) for item in self._on.get(node, ()))

    def pods_nominated_to(self, node: str) -> dict[str, Pod]:
        """Return the pods that waited and for which room was being made on a node, by uid."""
        return _nominees((decode(item, Pod) for item in self.all_of(POD).values()), node)

    @cached_property
    def _on(self) -> dict[str, list[bytes]]:
        found: dict[str, list[bytes]] = {}
        for item in self.all_of(POD).values():
            node = decode(item, _Placed).spec.node_name
            if node:
                found.setdefault(node, []).append(item)
        return found


def list_pods_on(connection: Connection, node: str) -> dict[str, Pod]:
    """Return the pods that stand on a node now, by uid.

    Raises:
        ClusterError: they cannot be read.
    """
    items = list_current(connection, POD, {"fieldSelector": f"spec.nodeName={node}"})
    return _active_by_uid(decode(item, Pod) for item in items)


def list_pods_nominated_to(connection: Connection, node: str) -> dict[str, Pod]:
    """Return the pods that wait and for which room is being made on a node now, by uid.

    Raises:
        ClusterError: they cannot be read.
    """
    items = list_current(connection, POD, {"fieldSelector": "spec.nodeName="})
    return _nominees((decode(item, Pod) for item in items), node)


def changed_fields(before: T, after: T) -> list[str]:
    """Return the fields in which two states of an object differ, as ``spec.taints``, as far as scheduling reads it."""
    fields = []
    for top in before.__struct_fields__:
        one, other = getattr(before, top), getattr(after, top)
        if one == other:
            continue
        name = before.__struct_encode_fields__[before.__struct_fields__.index(top)]
        if not (isinstance(one, Struct) and isinstance(other, Struct)):
            fields.append(name)
            continue
        fields += [
            f"{name}.{inner}"
            for inner, attribute in zip(one.__struct_encode_fields__, one.__struct_fields__, strict=True)
            if getattr(one, attribute) != getattr(other, attribute)
        ]
    return fields


def node_change(name: str, before: bytes, after: bytes | None) -> str:
    """Return how a node differs from what was seen, "" where scheduling reads the same of it."""
    if after is None:
        return f"node {name} is gone"
    if decode(before, Head).metadata.uid != decode(after, Head).metadata.uid:
        return f"node {name} was replaced by another node of that name"
    fields = changed_fields(_strip_node(decode(before, Node)), _strip_node(decode(after, Node)))
    return f"node {name} has changed: {_shorten(fields)}" if fields else ""


def only_heartbeat(before: bytes, after: bytes) -> bool:
    """Return whether nothing of a node differs from what was seen but that its kubelet has shown that it is alive."""
    return _without_heartbeat(before) == _without_heartbeat(after)


def pod_change(before: Pod, after: Pod) -> str:
    """Return how a pod differs from what was seen, "" where scheduling reads the same of it."""
    fields = changed_fields(strip_pod(before), strip_pod(after))
    # During a resize the statuses and conditions that `strip_pod` leaves out say what the pod takes.
    if not fields and PodInfo(before).demand.requests != PodInfo(after).demand.requests:
        fields = ["what it takes"]
    return _shorten(fields)


def nomination_changes(pod: Pod, before: Mapping[str, Pod], after: Mapping[str, Pod]) -> list[str]:
    """Return which pods the room on a node has been promised to that come before a pod or beside it, both by uid."""
    # kube-scheduler's Filter counts nominated pods of equal or higher priority; a pod of lower priority gives way.
    come = [
        other.key
        for uid, other in after.items()
        if uid not in before and uid != pod.metadata.uid and (other.spec.priority or 0) >= (pod.spec.priority or 0)
    ]
    return [f"{_shorten(sorted(come))} was nominated to the node"] if come else []


def pod_changes(before: Mapping[str, Pod], after: Mapping[str, Pod]) -> list[str]:
    """Return how the pods on a node differ from those that were seen, both by uid."""
    come = [after[uid].key for uid in after.keys() - before.keys()]
    gone = [before[uid].key for uid in before.keys() - after.keys()]
    others = {before[uid].key: pod_change(before[uid], after[uid]) for uid in before.keys() & after.keys()}
    changed = [f"{key} ({how})" for key, how in sorted(others.items()) if how]
    changes = [f"{_shorten(sorted(come))} was added to the node"] if come else []
    changes += [f"{_shorten(sorted(gone))} left the node"] if gone else []
    return changes + ([f"{_shorten(changed)} on the node changed"] if changed else [])


def strip_pod(pod: Pod) -> Pod:
    """Return a pod with nothing but what scheduling reads of it when it places another, or the pod itself."""
    metadata, status, replace = pod.metadata, pod.status, msgspec.structs.replace
    return replace(
        pod,
        metadata=ObjectMeta(
            name=metadata.name,
            namespace=metadata.namespace,
            uid=metadata.uid,
            labels=metadata.labels or None,
            deletion_timestamp=metadata.deletion_timestamp,
            owner_references=metadata.owner_references,
        ),
        status=replace(
            status,
            phase=status.phase if status.phase in FINISHED else "",
            reason="",
            message="",
            conditions=None,
            start_time=None,
            container_statuses=None,
            init_container_statuses=None,
        ),
    )


def _strip_node(node: Node) -> Node:
    """Return a node with nothing but what scheduling reads of it."""
    metadata, filled, replace = node.metadata, defaults.node(node), msgspec.structs.replace
    kept = ObjectMeta(name=metadata.name, uid=metadata.uid, labels=metadata.labels)
    return replace(filled, metadata=kept, status=replace(filled.status, conditions=None, node_info=NodeSystemInfo()))


def _without_heartbeat(node: bytes) -> dict[str, Any]:
    """Return a node as it is written, without what a kubelet and an API server write when nothing has happened."""
    found: dict[str, Any] = decode(node, dict[str, Any])
    metadata, status = dict(found.get("metadata") or {}), dict(found.get("status") or {})
    for field in ("resourceVersion", "managedFields"):
        metadata.pop(field, None)
    conditions: list[dict[str, Any]] = decode(node, _Conditions).status.conditions or []
    status["conditions"] = [
        {name: value for name, value in each.items() if name != "lastHeartbeatTime"} for each in conditions
    ]
    return {**found, "metadata": metadata, "status": status}


def _active_by_uid(pods: Iterable[Pod]) -> dict[str, Pod]:
    return {pod.metadata.uid: pod for pod in pods if pod.status.phase not in FINISHED}


def _nominees(pods: Iterable[Pod], node: str) -> dict[str, Pod]:
    waiting = (pod for pod in pods if not pod.spec.node_name and pod.status.nominated_node_name == node)
    return _active_by_uid(waiting)


def _shorten(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more

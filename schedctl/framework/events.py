"""Cluster events and queueing hints: which change of the cluster may help which pod (KEP-4247).

Every plugin registers the events that could make it accept a pod it has refused (`Plugin.events_to_register`), each
with a hint that looks at the changed object; ``schedctl.engine.queue`` asks the hints. The names are kube-scheduler's
own and show in its metrics and logs: ``AssignedPodDelete``, ``NodeUpdateNodeTaint``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, IntFlag
from functools import cached_property
from typing import Any

from schedctl.api import devices, storage
from schedctl.api.nodes import Node
from schedctl.api.pod_groups import PodGroup
from schedctl.api.pods import ResourceList
from schedctl.api.quantities import stored_amount
from schedctl.cache.pod_info import PodInfo
from schedctl.releases import Release, ReleaseChange


class Resource(Enum):
    """A kind of object that events are about. Of pods there are three kinds, by what a pod is to the one refused."""

    POD = "Pod"
    ASSIGNED_POD = "AssignedPod"
    UNSCHEDULED_POD = "UnscheduledPod"
    TARGET_POD = "TargetPod"
    NODE = "Node"
    PERSISTENT_VOLUME = "PersistentVolume"
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim"
    CSI_NODE = "storage.k8s.io/CSINode"
    CSI_DRIVER = "storage.k8s.io/CSIDriver"
    VOLUME_ATTACHMENT = "storage.k8s.io/VolumeAttachment"
    CSI_STORAGE_CAPACITY = "storage.k8s.io/CSIStorageCapacity"
    STORAGE_CLASS = "storage.k8s.io/StorageClass"
    RESOURCE_CLAIM = "resource.k8s.io/ResourceClaim"
    RESOURCE_SLICE = "resource.k8s.io/ResourceSlice"
    DEVICE_CLASS = "resource.k8s.io/DeviceClass"
    POD_GROUP = "scheduling.k8s.io/PodGroup"
    EVERY = "*"


POD_RESOURCES = (Resource.ASSIGNED_POD, Resource.UNSCHEDULED_POD, Resource.TARGET_POD)
"""What ``Pod`` stands for: pods on nodes, other pods that are not, and the very pod that was refused."""


class Action(IntFlag):
    """What was done to an object. Plugins register unions; an update is named as precisely as it can be."""

    ADD = 1 << 0
    DELETE = 1 << 1
    UPDATE_NODE_ALLOCATABLE = 1 << 2
    UPDATE_NODE_LABEL = 1 << 3
    UPDATE_NODE_TAINT = 1 << 4
    UPDATE_NODE_CONDITION = 1 << 5
    UPDATE_NODE_ANNOTATION = 1 << 6
    UPDATE_NODE_DECLARED_FEATURE = 1 << 7
    UPDATE_NODE_PREEMPTION_POLICY = 1 << 8
    UPDATE_POD_LABEL = 1 << 9
    UPDATE_POD_SCALE_DOWN = 1 << 10
    UPDATE_POD_SCALE_UP = 1 << 11
    UPDATE_POD_TOLERATION = 1 << 12
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 1 << 13
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = 1 << 14
    UPDATE = (1 << 15) - (1 << 2)  # all bits but those of ADD and DELETE
    ALL = (1 << 15) - 1


_ACTION_LABELS = {
    Action.ADD: "Add",
    Action.DELETE: "Delete",
    Action.UPDATE_NODE_ALLOCATABLE: "UpdateNodeAllocatable",
    Action.UPDATE_NODE_LABEL: "UpdateNodeLabel",
    Action.UPDATE_NODE_TAINT: "UpdateNodeTaint",
    Action.UPDATE_NODE_CONDITION: "UpdateNodeCondition",
    Action.UPDATE_NODE_ANNOTATION: "UpdateNodeAnnotation",
    Action.UPDATE_NODE_DECLARED_FEATURE: "UpdateNodeDeclaredFeature",
    Action.UPDATE_NODE_PREEMPTION_POLICY: "UpdateNodePreemptionPolicy",
    Action.UPDATE_POD_LABEL: "UpdatePodLabel",
    Action.UPDATE_POD_SCALE_DOWN: "UpdatePodScaleDown",
    Action.UPDATE_POD_SCALE_UP: "UpdatePodScaleUp",
    Action.UPDATE_POD_TOLERATION: "UpdatePodToleration",
    Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED: "UpdatePodSchedulingGatesEliminated",
    Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM: "UpdatePodGeneratedResourceClaim",
    Action.UPDATE: "Update",
    Action.ALL: "All",
}


@dataclass(frozen=True)
class ClusterEvent:
    """A kind of object and what was done to it; or, with ``Resource.EVERY``, an event of the queue's own.

    Attributes:
        resource: the kind of object.
        action: what was done to it; what plugins register may be a union.
        name: how an event of the queue's own is called.
    """

    resource: Resource
    action: Action
    name: str = ""

    @cached_property
    def label(self) -> str:
        """What kube-scheduler calls the event, e.g. ``AssignedPodDelete``; a union has only its resource."""
        return self.name or self.resource.value + _ACTION_LABELS.get(self.action, "")

    def label_in(self, release: Release) -> str:
        """Return what kube-scheduler of a release calls the event."""
        pending = self.resource in (Resource.UNSCHEDULED_POD, Resource.TARGET_POD)
        if pending and not release.includes(ReleaseChange.TARGET_POD_EVENTS):
            return "UnschedulablePod" + _ACTION_LABELS.get(self.action, "")
        return self.label

    @property
    def wildcard(self) -> bool:
        """Whether it concerns whatever is refused, for whatever reason."""
        return self.resource is Resource.EVERY and self.action == Action.ALL

    def covers(self, happened: ClusterEvent) -> bool:
        """Return whether a plugin that registered this event is to hear of one that happened.

        Whoever registers all updates hears of each kind of them; whoever registers one kind does not hear of an update
        that nobody has a name for.
        """
        if self.wildcard:
            return True
        same = self.resource in (Resource.EVERY, happened.resource)
        if not same and not (self.resource is Resource.POD and happened.resource in POD_RESOURCES):
            return False
        # an update that has no name of its own happens as UPDATE, a larger number than each of the bits that it is
        return bool(self.action.value & happened.action.value) and happened.action.value <= self.action.value


class Hint(Enum):
    """What a hint says of an event and a pod: that it may be worth another attempt, or that nothing has changed."""

    QUEUE = "Queue"
    SKIP = "QueueSkip"


QueueingHint = Callable[[PodInfo, Any, Any], Hint]
"""Called with the refused pod, the object before the event, None if it was added, and after it, None if it was deleted.

Pods come as `PodInfo`, everything else as API structs. An exception counts as Queue, so that no pod is stuck.
"""


@dataclass(frozen=True)
class Registration:
    """An event a plugin wants to hear of, and its hint; without one every such event is worth another attempt.

    Attributes:
        event: the event.
        hint: says of a pod whether such an event helps it.
        reads: returns all that the hint reads of a pod, hashable, so that pods of which it reads the same are asked
            about once. Without it, that is what the plugin's `signature` says.
    """

    event: ClusterEvent
    hint: QueueingHint | None = None
    reads: Callable[[PodInfo], Hashable] | None = None


def registers(resource: Resource, action: Action, hint: QueueingHint | None = None) -> Registration:
    """Return the registration of an event."""
    return Registration(ClusterEvent(resource, action), hint)


def has_node(pod: PodInfo) -> bool:
    """Return whether a pod is bound to a node."""
    return bool(pod.pod.spec.node_name)


def has_node_or_nomination(pod: PodInfo) -> bool:
    """Return whether a pod is bound to a node or nominated to one."""
    return bool(pod.pod.spec.node_name or pod.pod.status.nominated_node_name)


EVERY_EVENT = tuple(
    registers(resource, Action.ALL)
    for resource in (
        *POD_RESOURCES,
        Resource.NODE,
        Resource.PERSISTENT_VOLUME,
        Resource.PERSISTENT_VOLUME_CLAIM,
        Resource.CSI_NODE,
        Resource.CSI_DRIVER,
        Resource.CSI_STORAGE_CAPACITY,
        Resource.STORAGE_CLASS,
        Resource.RESOURCE_CLAIM,
        Resource.DEVICE_CLASS,
    )
)
"""What a plugin hears of that does not say what it wants to hear of."""
EVERY_EVENT_WITH_GROUPS = (*EVERY_EVENT, registers(Resource.POD_GROUP, Action.ALL))
"""The same where there are pod groups (GenericWorkload)."""

ASSIGNED_POD_ADD = ClusterEvent(Resource.ASSIGNED_POD, Action.ADD)
ASSIGNED_POD_UPDATE = ClusterEvent(Resource.ASSIGNED_POD, Action.UPDATE)
ASSIGNED_POD_DELETE = ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE)
UNSCHEDULED_POD_ADD = ClusterEvent(Resource.UNSCHEDULED_POD, Action.ADD)
UNSCHEDULED_POD_UPDATE = ClusterEvent(Resource.UNSCHEDULED_POD, Action.UPDATE)
UNSCHEDULED_POD_DELETE = ClusterEvent(Resource.UNSCHEDULED_POD, Action.DELETE)
TARGET_POD_UPDATE = ClusterEvent(Resource.TARGET_POD, Action.UPDATE)
NODE_ADD = ClusterEvent(Resource.NODE, Action.ADD)
NODE_DELETE = ClusterEvent(Resource.NODE, Action.DELETE)
UNSCHEDULABLE_TIMEOUT = ClusterEvent(Resource.EVERY, Action.ALL, "UnschedulableTimeout")
FORCE_ACTIVATE = ClusterEvent(Resource.EVERY, Action.ALL, "ForceActivate")

SCHEDULE_ATTEMPT_FAILURE, BACKOFF_COMPLETE, POP_FROM_BACKOFF_Q = (
    "ScheduleAttemptFailure",
    "BackoffComplete",
    "PopFromBackoffQ",
)
"""Labels of moves between queues that no cluster event caused."""

RESOURCES: Mapping[type, Resource] = {
    storage.PersistentVolume: Resource.PERSISTENT_VOLUME,
    storage.PersistentVolumeClaim: Resource.PERSISTENT_VOLUME_CLAIM,
    storage.CSINode: Resource.CSI_NODE,
    storage.CSIDriver: Resource.CSI_DRIVER,
    storage.VolumeAttachment: Resource.VOLUME_ATTACHMENT,
    storage.CSIStorageCapacity: Resource.CSI_STORAGE_CAPACITY,
    storage.StorageClass: Resource.STORAGE_CLASS,
    devices.ResourceClaim: Resource.RESOURCE_CLAIM,
    devices.ResourceSlice: Resource.RESOURCE_SLICE,
    devices.DeviceClass: Resource.DEVICE_CLASS,
    PodGroup: Resource.POD_GROUP,
}
"""The kinds, besides pods and nodes, whose changes are events."""


def pod_changes(before: PodInfo, after: PodInfo, *, target: bool) -> tuple[ClusterEvent, ...]:
    """Return the events an updated pod amounts to, at least one.

    Args:
        before: the pod as it was.
        after: the pod as it is.
        target: whether the pod itself is the one that was refused, rather than one beside it.
    """
    resource = Resource.TARGET_POD if target else Resource.UNSCHEDULED_POD
    if after.pod.spec.node_name:
        resource = Resource.ASSIGNED_POD
    actions = tuple(_pod_actions(before, after)) or (Action.UPDATE,)
    return tuple(ClusterEvent(resource, action) for action in actions)


def node_changes(before: Node, after: Node) -> tuple[ClusterEvent, ...]:
    """Return the events an updated node amounts to, none where nothing changed that scheduling could look at."""
    return tuple(ClusterEvent(Resource.NODE, action) for action in _node_actions(before, after))


def _pod_actions(before: PodInfo, after: PodInfo) -> Iterator[Action]:
    if dict(before.labels) != dict(after.labels):
        yield Action.UPDATE_POD_LABEL
    was, now = before.demand.thousandths, after.demand.thousandths
    if any(name not in now or amount > now[name] for name, amount in was.items()):
        yield Action.UPDATE_POD_SCALE_DOWN
    if any(name not in was or amount > was[name] for name, amount in now.items()):
        yield Action.UPDATE_POD_SCALE_UP
    old, new = before.pod, after.pod
    if old.spec.scheduling_gates and not new.spec.scheduling_gates:
        yield Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED
    # as upstream, by their number: the API server lets tolerations only be added to a pod
    if len(old.spec.tolerations or ()) != len(new.spec.tolerations or ()):
        yield Action.UPDATE_POD_TOLERATION
    claims = [
        (status.resource_claim_statuses or [], status.extended_resource_claim_status)
        for status in (old.status, new.status)
    ]
    if claims[0] != claims[1]:
        yield Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM


def _node_actions(before: Node, after: Node) -> Iterator[Action]:
    if before.spec.unschedulable and not after.spec.unschedulable:  # upstream: an uncordon is a change of taints
        yield Action.UPDATE_NODE_TAINT
    if _differ(before.status.allocatable, after.status.allocatable):
        yield Action.UPDATE_NODE_ALLOCATABLE
    if (before.metadata.labels or {}) != (after.metadata.labels or {}):
        yield Action.UPDATE_NODE_LABEL
    if (before.spec.taints or []) != (after.spec.taints or []):
        yield Action.UPDATE_NODE_TAINT
    if _conditions(before) != _conditions(after):
        yield Action.UPDATE_NODE_CONDITION
    if (before.metadata.annotations or {}) != (after.metadata.annotations or {}):
        yield Action.UPDATE_NODE_ANNOTATION
    if (before.status.declared_features or []) != (after.status.declared_features or []):
        yield Action.UPDATE_NODE_DECLARED_FEATURE
    if before.spec.pod_preemption_policy != after.spec.pod_preemption_policy:
        yield Action.UPDATE_NODE_PREEMPTION_POLICY


def _differ(before: ResourceList | None, after: ResourceList | None) -> bool:
    """Whether two resource lists differ in an amount, however it is written."""
    was, now = before or {}, after or {}
    if was == now:
        return False
    return was.keys() != now.keys() or any(stored_amount(was[name]).compare(stored_amount(now[name])) for name in was)


def _conditions(node: Node) -> dict[str, str]:
    return {condition.type: condition.status for condition in node.status.conditions or ()}

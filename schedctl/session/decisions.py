"""A cycle carried to its end in memory, for what it would write: the difference between an answer and a bind.

`reserve` places a pod on the node that was chosen for it, and `decide` keeps what PreBind changes, object by object.
Both leave the pod placed: whoever asks does so on a fork, and with a scheduler that is kept in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from schedctl.api.devices import ResourceClaim
from schedctl.api.meta import key_of
from schedctl.api.pods import ContainerExtendedResourceRequest, Pod
from schedctl.api.storage import PersistentVolume, PersistentVolumeClaim
from schedctl.cache.changes import ChangeKind
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.config.args import VolumeBindingArgs
from schedctl.engine.attempts import Attempt
from schedctl.engine.binding import BindingCycle
from schedctl.framework.points import Plugin
from schedctl.framework.profiles import Profile
from schedctl.framework.statuses import Status
from schedctl.plugins.dynamic_resources import plugin
from schedctl.scheduler import Scheduler

if TYPE_CHECKING:
    from schedctl.plugins.dynamic_resources.search import Finding

_WRITTEN = (PersistentVolume, PersistentVolumeClaim, ResourceClaim)
_VOLUMES = "VolumeBinding"
_UNWRITTEN = (
    "what the devices of claim {} take of the node has to be written into the status of the pod before the bind, and"
    " schedctl does not write that; leave the pod to kube-scheduler"
)


class Decision(msgspec.Struct, frozen=True):
    """What binding a pod to a node comes to.

    Attributes:
        pod: the pod.
        node: the name of the node.
        refusal: why the cycle ends before the bind, "" where it does not.
        changed: what PreBind changes: the plugin, the object as it is (None for one it makes) and as it is to be.
        mappings: which container gets which extended resource from which request, where devices stand in for them.
        patience: how many seconds volumes may take to be bound.
        waits: for how many seconds Permit plugins would hold the pod back, by their names.
    """

    pod: Pod
    node: str
    refusal: str = ""
    changed: tuple[tuple[str, Any, Any], ...] = ()
    mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    patience: float = float(VolumeBindingArgs().bind_timeout_seconds)
    waits: Mapping[str, float] = msgspec.field(default_factory=dict)


class Reserved(msgspec.Struct, frozen=True):
    """A pod on its node, before PreBind; in memory.

    Attributes:
        info: the pod.
        outcome: its attempt.
        cycle: its binding cycle.
        status: Success, Wait, or why it is not on the node.
        waits: for how many seconds Permit plugins would hold the pod back, by their names.
    """

    info: PodInfo
    outcome: Attempt
    cycle: BindingCycle
    status: Status
    waits: Mapping[str, float]


def keep_in_memory(scheduler: Scheduler) -> dict[str, Profile]:
    """Take from a scheduler what may have an effect outside of this process, and return the profiles as they were.

    From Reserve on only plugins are left that change nothing but memory; of Bind and PostBind there are none.
    """
    whole = dict(scheduler.profiles)
    for name, profile in whole.items():
        scheduler.profiles[name] = replace(
            profile,
            reserve=tuple(plugin for plugin in profile.reserve if plugin.memory_only),
            permit=tuple(plugin for plugin in profile.permit if plugin.memory_only),
            pre_bind=tuple(plugin for plugin in profile.pre_bind if plugin.memory_only),
            bind=(),
            post_bind=(),
        )
    return whole


def reserve(scheduler: Scheduler, info: PodInfo, node: str) -> Reserved:
    """Place a pending pod of the cluster on a feasible node.

    Raises:
        NotModelled: the pod needs something that is not modelled yet.
    """
    outcome = scheduler.attempt(info, make_room=False)  # a preemption nominates a node, and binds nothing to it
    cycle = scheduler.binding_cycle(outcome, node)
    reservation = cycle.reserve()
    scheduler.nominator.withdraw(info)
    return Reserved(info, outcome, cycle, reservation.status, reservation.waits)


def decide(reserved: Reserved) -> Decision:
    """Return what binding a pod comes to, by carrying its cycle on in memory to where it would be bound.

    Raises:
        NotModelled: the pod needs something that is not modelled yet.
    """
    outcome, node, cluster = reserved.outcome, reserved.cycle.node_name, reserved.outcome.cluster
    pod, status = reserved.info.pod, reserved.status
    changed: list[tuple[str, Any, Any]] = []
    generation = cluster.generation

    def note_changes(plugin: Plugin) -> None:
        nonlocal generation
        changed.extend((plugin.name, *pair) for pair in _changed_objects(cluster, generation))
        generation = cluster.generation

    if status.successful or reserved.waits:
        status = reserved.cycle.pre_bind(note_changes)
    if not status.successful:
        return Decision(pod, node, status.message)
    if (found := _finding(outcome, node)) is not None and found.charged:
        return Decision(pod, node, _UNWRITTEN.format(", ".join(each.resource_claim_name for each in found.charged)))
    profile = outcome.profile
    arguments = profile.plugins[_VOLUMES].args if _VOLUMES in profile.plugins else None
    patience = (arguments or VolumeBindingArgs()).bind_timeout_seconds
    return Decision(pod, node, "", tuple(changed), _mappings(outcome, node), float(patience), reserved.waits)


def _changed_objects(cluster: Cluster, generation: int) -> tuple[tuple[Any, Any], ...]:
    """Return the objects that have changed since a generation, before and after, in the order of their last change."""
    first: dict[tuple[type, str], Any] = {}
    last: dict[tuple[type, str], Any] = {}
    for change in cluster.changes_since(generation) or ():
        subject = change.subject
        if change.kind is ChangeKind.OBJECT and isinstance(subject, _WRITTEN):
            key = type(subject), key_of(subject)
            first.setdefault(key, change.before)
            last.pop(key, None)  # a dict keeps the place of a key that is set again: its last change counts
            last[key] = cluster.get(type(subject), key_of(subject))
    return tuple((first[key], after) for key, after in last.items() if after is not None and after != first[key])


def _mappings(outcome: Attempt, node: str) -> tuple[ContainerExtendedResourceRequest, ...]:
    """Return what DynamicResources found for the extended resources of the pod on a node."""
    found = _finding(outcome, node)
    return found.special.mappings if found is not None and found.special is not None else ()


def _finding(outcome: Attempt, node: str) -> Finding | None:
    """Return what DynamicResources found for the claims of the pod on a node, None where it has none."""
    state = outcome.cycle.state
    if plugin.STATE not in state or (search := state[plugin.STATE]) is None:
        return None
    return search.finding(outcome.cluster.node_table.row_of[node])

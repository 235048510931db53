"""A cycle carried to its end in memory, for what it would write: the difference between an answer and a bind.

`decide` places a pod on the node that was chosen for it, lets Reserve, Permit, PreBind and Bind have their say, and
keeps of the cluster that comes out what PreBind has changed, object by object. The cluster is as before when the answer
is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from schedctl.api.devices import ResourceClaim
from schedctl.api.meta import key_of
from schedctl.api.pods import ContainerExtendedResourceRequest, Pod
from schedctl.api.storage import PersistentVolume, PersistentVolumeClaim
from schedctl.cache.changes import ChangeKind
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.config.args import VolumeBindingArgs
from schedctl.engine.attempts import Attempt
from schedctl.plugins.dynamic_resources import plugin
from schedctl.scheduler import Scheduler

_WRITTEN = (PersistentVolume, PersistentVolumeClaim, ResourceClaim)
_VOLUMES = "VolumeBinding"


@dataclass(frozen=True, slots=True)
class Decision:
    """What binding a pod to a node comes to.

    Attributes:
        pod: the pod.
        node: the name of the node.
        refusal: why the cycle ends before the bind, "" where it does not.
        changed: the objects that PreBind changes, as they are (None for those it makes) and as they are to be.
        mappings: which container gets which extended resource from which request, where devices stand in for them.
        patience: how many seconds volumes may take to be bound.
    """

    pod: Pod
    node: str
    refusal: str = ""
    changed: tuple[tuple[Any, Any], ...] = ()
    mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    patience: float = float(VolumeBindingArgs().bind_timeout_seconds)


def decide(scheduler: Scheduler, info: PodInfo, node: str) -> Decision:
    """Return what binding a pending pod of the cluster to a feasible node comes to; the cluster is as before.

    Raises:
        NotModelled: the pod needs something that is not modelled yet.
    """
    cluster = scheduler.cluster
    with scheduler.fork():
        outcome = scheduler.attempt(info, make_room=False)  # a preemption nominates a node, and binds nothing to it
        generation = cluster.generation
        reservation = scheduler.place(outcome, node)
        status = reservation.status
        if reservation.waits:
            return Decision(info.pod, node, f"Permit holds the pod back: {', '.join(reservation.waits)}")
        if status.successful:
            status = scheduler.bind(outcome, node)
        if not status.successful:
            return Decision(info.pod, node, status.message)
        changed = _changed_objects(cluster, generation)
        mappings = _mappings(outcome, node)
    arguments = outcome.profile.plugins[_VOLUMES].args if _VOLUMES in outcome.profile.plugins else None
    patience = (arguments or VolumeBindingArgs()).bind_timeout_seconds
    return Decision(info.pod, node, changed=changed, mappings=mappings, patience=float(patience))


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
    state = outcome.cycle.state
    if plugin.STATE not in state or (search := state[plugin.STATE]) is None:
        return ()
    found = search.finding(outcome.cluster.node_table.row_of[node])
    return found.special.mappings if found is not None and found.special is not None else ()

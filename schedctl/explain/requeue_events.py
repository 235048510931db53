"""The events that bring a rejected pod back to the queue: those registered by the plugins that rejected it (KEP-4247).

What changes make the pod fit is another question, and that of ``hints``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.attempts import Attempt
from schedctl.engine.queue.hints import Hints, Strategy, registrations
from schedctl.engine.queue.intervals import MAX_UNSCHEDULABLE
from schedctl.engine.reporters import Reporter
from schedctl.framework import events
from schedctl.framework.events import Action, ClusterEvent, Registration, Resource
from schedctl.framework.extenders import EXTENDER_PLUGIN
from schedctl.releases import NEWEST, Release
from schedctl.reports.explanations import RequeueEvent

Count = Callable[[ClusterEvent], tuple[int, int] | None]
"""Says of how many instances of an event how many would bring a pod back; None where none was tried."""
_MOST_INSTANCES = 1000
"""With more pods or nodes than this no hint is called, for it would take longer than the answer."""
_replace = msgspec.structs.replace
_KINDS = {
    Resource.ASSIGNED_POD: "a pod on a node",
    Resource.UNSCHEDULED_POD: "another pending pod",
    Resource.TARGET_POD: "this pod",
    Resource.NODE: "a node",
}
_MOVES = {
    ClusterEvent(Resource.ASSIGNED_POD, Action.ADD): "a pod is bound to a node",
    ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE): "a pod leaves its node",
}
_DONE = {
    Action.ADD: "{} is added",
    Action.DELETE: "{} is deleted",
    Action.UPDATE_NODE_ALLOCATABLE: "allocatable of a node changes",
    Action.UPDATE_NODE_LABEL: "labels of a node change",
    Action.UPDATE_NODE_TAINT: "taints of a node change, or it is uncordoned",
    Action.UPDATE_NODE_CONDITION: "conditions of a node change",
    Action.UPDATE_NODE_ANNOTATION: "annotations of a node change",
    Action.UPDATE_NODE_DECLARED_FEATURE: "the features that a node declares change",
    Action.UPDATE_NODE_PREEMPTION_POLICY: "the preemption policy of a node changes",
    Action.UPDATE_POD_LABEL: "labels of {} change",
    Action.UPDATE_POD_SCALE_DOWN: "requests of {} are lowered",
    Action.UPDATE_POD_SCALE_UP: "requests of {} are raised",
    Action.UPDATE_POD_TOLERATION: "a toleration is added to {}",
    Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED: "the last scheduling gate of {} is removed",
    Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM: "a ResourceClaim is generated for {}",
    Action.UPDATE: "{} changes",
}
"""In words, what each action means; the one for any update comes last."""
_OF_NODES, _OF_PODS = (
    tuple(action for action in _DONE if (action.name or "").startswith(prefix))
    for prefix in ("UPDATE_NODE_", "UPDATE_POD_")
)
_OF_EVERYTHING = (Action.ADD, Action.DELETE)


def of(outcome: Attempt, rejector: str = "") -> list[RequeueEvent]:
    """Return what brings the pod of an attempt back into the queue; nothing where it found a node or is on its way out.

    A gated pod waits for the plugin that holds it, a refused one for those that kube-scheduler remembers with it.

    Args:
        outcome: the attempt.
        rejector: the plugin that took the chosen node back from the pod, in Reserve or Permit; "" for none.
    """
    if rejector:
        names = frozenset((rejector,))
    elif outcome.gated is not None:
        names = frozenset((outcome.gated.plugin,))
    elif outcome.is_unschedulable and not outcome.error:
        names = outcome.unschedulable_plugins | outcome.pending_plugins
    else:
        return []
    release = outcome.cluster.release
    plugins = outcome.profile.plugins
    refusing = {name: registrations(plugin, release) for name, plugin in plugins.items() if name in names}
    if EXTENDER_PLUGIN in names:
        refusing[EXTENDER_PLUGIN] = events.EVERY_EVENT
    hints = Hints((outcome.profile,), Reporter(), release)

    # A queueing hint cannot be put into words, but it can be called: with every running pod as if it left, and with
    # another node like each of those there are.
    def count(event: ClusterEvent) -> tuple[int, int] | None:
        instances = _instances(event, outcome.cluster)
        waking = (hints.strategy(outcome.pod, names, frozenset(), event, *instance) for instance in instances)
        return (sum(each is not Strategy.SKIP for each in waking), len(instances)) if instances else None

    found = requeue_events(refusing, count, release)
    return found if outcome.gated is None else found[:-1]


def requeue_events(
    refusing: Mapping[str, Iterable[Registration]],
    count: Count = lambda event: None,
    release: Release = NEWEST,
) -> list[RequeueEvent]:
    """Return the events that bring a pod back, each once, with who asks for it.

    The last is that nothing of the kind happens: kube-scheduler tries a pod again that has waited for long. One that
    is gated stays gated then, so that `of` leaves it out.

    Args:
        refusing: what those have registered that refused it, by name.
        count: tries those events that every one of them has a hint for.
        release: the kube-scheduler that names the events.
    """
    listeners: dict[ClusterEvent, list[tuple[str, bool]]] = {}
    for name, registered in refusing.items():
        for registration in registered:
            for event in _single(registration):
                listeners.setdefault(event, []).append((name, registration.hint is not None))
    minutes = int(MAX_UNSCHEDULABLE // 60)
    found = [_requeue_event(event, event.label_in(release), who, count) for event, who in listeners.items()]
    return [
        *sorted(found, key=lambda event: event.counting == 0),  # stable: only what would not help moves to the end
        RequeueEvent(event="UnschedulableTimeout", text=f"{minutes} minutes pass without any of these"),
    ]


def _requeue_event(event: ClusterEvent, label: str, who: list[tuple[str, bool]], count: Count) -> RequeueEvent:
    hinted = all(hinted for _, hinted in who)
    counted = count(event) if hinted else None
    counting, instances = counted or (None, None)
    return RequeueEvent(
        event=label,
        text=_text(event),
        plugins=list(dict.fromkeys(name for name, _ in who)),
        hinted=hinted,
        counting=counting,
        asked=instances,
    )


def _instances(event: ClusterEvent, cluster: Cluster) -> list[tuple[Any, Any]]:
    """Return what such an event could be in this cluster, as objects before and after; nothing where that is open."""
    nodes, pods = cluster.node_table, cluster.pod_table
    if event == events.NODE_ADD and len(nodes.row_of) <= _MOST_INSTANCES:
        return [(None, nodes.objects[row]) for row in nodes.row_of.values()]
    if event == events.ASSIGNED_POD_DELETE and len(pods.row_of) <= _MOST_INSTANCES:
        return [(_with_node(pods.infos[row], nodes.names[int(pods.node[row])]), None) for row in pods.row_of.values()]
    return []


def _with_node(info: PodInfo | None, node: str) -> PodInfo:
    """Return a pod of the cluster with its node, which it does not have in writing if a run has placed it."""
    assert info is not None
    if info.pod.spec.node_name:
        return info
    return info.as_now(_replace(info.pod, spec=_replace(info.pod.spec, node_name=node)))


def _single(registration: Registration) -> Iterator[ClusterEvent]:
    """Yield the events that a registration stands for, one resource and one action each."""
    registered = registration.event
    every = registered.resource is Resource.POD
    for resource in events.POD_RESOURCES if every else (registered.resource,):
        left = registered.action
        specific = _OF_NODES if resource is Resource.NODE else _OF_PODS if resource in events.POD_RESOURCES else ()
        for action in (*_OF_EVERYTHING, Action.UPDATE, *specific):
            # an update stands for all its parts; a pod is not requeued by its own addition or deletion
            if action & left == action and not (resource is Resource.TARGET_POD and action in _OF_EVERYTHING):
                left &= ~action
                yield ClusterEvent(resource, action)


def _text(event: ClusterEvent) -> str:
    kind = event.resource.value.rpartition("/")[2]
    article = "an" if kind[0] in "AEIOU" else "a"
    return _MOVES.get(event) or _DONE[event.action].format(_KINDS.get(event.resource, f"{article} {kind}"))

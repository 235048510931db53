"""A plan without most of the rules: amounts of resources only, in which no plan can be smaller than it is there.

What is left out makes room, never takes it, so that the least of the relaxation is a bound of every plan: pods may be
cut into pieces, and the room on nodes of one sort is one heap.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from schedctl.api.resources import PODS
from schedctl.api.selectors import SelectorError
from schedctl.autoscaling.joining import Joining
from schedctl.cache.pod_info import PodInfo
from schedctl.scheduler import Scheduler
from schedctl.simulation.scale_ups.options import NodeOption, PodClass

_OF_THE_NODE = ("NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodeResourcesFit")
"""The plugins whose refusal of an empty node stands whatever else is placed."""
_HOSTNAME = "kubernetes.io/hostname"


class Heap(msgspec.Struct):
    """The room on nodes that are there and that the same classes of pods could use.

    Attributes:
        free: by resource, what they have free together.
        most: by class, how many of its pods they could take at most.
    """

    free: dict[str, int] = msgspec.field(default_factory=dict)
    most: dict[int, int] = msgspec.field(default_factory=dict)


class Relaxation(msgspec.Struct):
    """What there is to be placed, and where it could be.

    Attributes:
        classes: the pods.
        options: the nodes that could be added.
        room: by option, what pods can have of a new node, by resource.
        most: by class and option, how many of its pods a new node takes at most; absent where it takes none.
        heaps: the room on the nodes there are.
    """

    classes: Sequence[PodClass]
    options: Sequence[NodeOption]
    room: list[Mapping[str, int]] = msgspec.field(default_factory=list)
    most: dict[tuple[int, int], int] = msgspec.field(default_factory=dict)
    heaps: list[Heap] = msgspec.field(default_factory=list)

    def compatible(self) -> dict[tuple[int, int], bool]:
        """Return by class and option whether a new node could take such a pod."""
        pairs = ((kind, option) for kind in range(len(self.classes)) for option in range(len(self.options)))
        return {pair: pair in self.most for pair in pairs}

    def resources(self) -> list[str]:
        """Return the resources that pods request."""
        return list(dict.fromkeys(name for each in self.classes for name in each.requests))


def relax(scheduler: Scheduler, classes: Sequence[PodClass], options: Sequence[NodeOption]) -> Relaxation:
    """Return the relaxation of a plan; the cluster is as before."""
    relaxation = Relaxation(classes, options)
    with scheduler.fork():
        joining = Joining(scheduler.cluster)
        for number, option in enumerate(options):
            (name,) = joining.add(option.template)
            room = _room(scheduler, [name], relaxation.resources())
            relaxation.room.append(room)
            for kind, each in enumerate(classes):
                if _takes(scheduler, each, [name]):
                    relaxation.most[kind, number] = _most(each, room)
            joining.remove(name)
    relaxation.heaps = _heaps(scheduler, classes, relaxation.resources())
    return relaxation


def _takes(scheduler: Scheduler, pods: PodClass, nodes: Sequence[str]) -> tuple[str, ...]:
    """Return the nodes that would take a pod of a class if nothing but the node itself counted."""
    info = pods.pods[0]
    profile = scheduler.profiles[info.pod.spec.scheduler_name]
    plugins = [name for name in _OF_THE_NODE if name in profile.plugins]
    return scheduler.feasible_nodes(info, nodes, plugins)


def _room(scheduler: Scheduler, names: Sequence[str], resources: Collection[str]) -> dict[str, int]:
    """Return what nodes have free together of some resources; nothing of one of which pods have taken too much."""
    nodes = scheduler.cluster.nodes_named(names)
    found: dict[str, int] = {}
    for resource in resources:
        if resource == PODS:
            free = nodes.allocatable(PODS) - nodes.pod_count
        else:
            free = nodes.allocatable(resource) - nodes.requested(resource)
        found[resource] = sum(max(0, amount) for amount in free.tolist())
    return found


def _most(pods: PodClass, room: Mapping[str, int]) -> int:
    """Return how many pods of a class one node takes at most, alone on it."""
    fits = min(room[name] // amount for name, amount in pods.requests.items())
    return min(fits, 1) if _excludes_its_own(pods.pods[0]) else fits


def _excludes_its_own(info: PodInfo) -> bool:
    """Return whether no two pods of a class can be on one node: by host ports, or anti-affinity to their like."""
    if info.host_ports:
        return True
    try:
        return any(
            term.topology_key == _HOSTNAME and info.namespace in term.namespaces and term.selector.matches(info.labels)
            for term in info.required_anti_affinity
        )
    except (SelectorError, ValueError):
        return False


def _heaps(scheduler: Scheduler, classes: Sequence[PodClass], resources: Collection[str]) -> list[Heap]:
    """Return the room on the nodes there are, in heaps of those that the same classes could use."""
    takers: dict[str, list[int]] = {}
    everywhere = list(scheduler.cluster.node_table.row_of)
    for kind, each in enumerate(classes):
        for name in _takes(scheduler, each, everywhere) if everywhere else ():
            takers.setdefault(name, []).append(kind)
    by_pattern: dict[tuple[int, ...], list[str]] = {}
    for name, kinds in takers.items():
        by_pattern.setdefault(tuple(kinds), []).append(name)
    heaps = []
    for pattern, names in by_pattern.items():
        heap = Heap(_room(scheduler, names, resources))
        columns = _columns(scheduler, names, resources)
        for kind in pattern:
            requests = classes[kind].requests
            most = 1 if _excludes_its_own(classes[kind].pods[0]) else 1 << 60
            heap.most[kind] = sum(
                min(most, *(columns[resource][at] // amount for resource, amount in requests.items()))
                for at in range(len(names))
            )
        heaps.append(heap)
    return heaps


def _columns(scheduler: Scheduler, names: Sequence[str], resources: Collection[str]) -> dict[str, list[int]]:
    nodes = scheduler.cluster.nodes_named(names)
    return {
        resource: [
            max(0, amount)
            for amount in (
                nodes.allocatable(resource) - (nodes.pod_count if resource == PODS else nodes.requested(resource))
            ).tolist()
        ]
        for resource in resources
    }

"""How many nodes can go at most: what moves has to fit into what is free on the nodes that stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

import msgspec

from schedctl.api.resources import CPU, MEMORY, PODS
from schedctl.autoscaling.groups import NodeGroup
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.reports.nodes import BoundProof
from schedctl.simulation.replacement import controller_of

_RESOURCES = (CPU, MEMORY, PODS)
_SLACK = 1 + 1e-9
"""How much arithmetic may be off."""
Amounts = Mapping[str, int]
"""Amounts by resource."""


class _Sizes(msgspec.Struct, frozen=True):
    """What the pods that could move request: the least of each resource, and the most for each unit of another.

    Attributes:
        least: by resource.
        ratios: by two resources, how much of the first goes with one unit of the second at most; absent for no limit.
    """

    least: Amounts
    ratios: Mapping[tuple[str, str], float]

    def usable(self, free: Amounts) -> dict[str, int]:
        """Return what moved pods can use of what is free on a node: nothing where even the least does not fit."""
        if any(self.least[name] > 0 and free[name] < self.least[name] for name in _RESOURCES):
            return dict.fromkeys(_RESOURCES, 0)
        # who requests nothing of a resource is not kept off where pods have more of it than there is
        found = {name: max(0, free[name]) for name in _RESOURCES}
        for (name, other), ratio in self.ratios.items():
            found[name] = min(found[name], ceil(free[other] * ratio * _SLACK))
        return found


def most_removed(
    cluster: Cluster,
    pods: Mapping[str, Sequence[PodInfo]],
    groups: Mapping[str, NodeGroup],
    *,
    by_resources: bool = True,
) -> tuple[int, BoundProof]:
    """Return how many nodes can go at most, and what proves it.

    Args:
        cluster: the nodes.
        pods: by name of a node that may go, its pods that would have to move.
        groups: by name of a node, its group.
        by_resources: whether pods need room; those that preempt others make it.
    """
    best, by = within_sizes([*pods], groups), BoundProof.RULES
    # a pod that no controller recreates is lost and needs no room
    moved = {name: [info for info in infos if controller_of(info.pod) is not None] for name, infos in pods.items()}
    every = [info for infos in moved.values() for info in infos]
    if not (by_resources and every):
        return best, by
    sizes = _sizes(every)
    usable = {name: sizes.usable(_free(cluster, name)) for name in cluster.node_table.row_of}
    for resource in _RESOURCES:
        # to remove a node takes what its pods request, and the room on it
        takes = sorted(
            sum(requested(info, resource) for info in moved[name]) + usable[name][resource] for name in moved
        )
        left = sum(each[resource] for each in usable.values())
        number = 0
        for each in takes:
            left -= each
            if left < 0:
                break
            number += 1
        if number < best:
            best, by = number, BoundProof.RESOURCES
    return best, by


def within_sizes(names: Sequence[str], groups: Mapping[str, NodeGroup]) -> int:
    """Return how many of some nodes may go by the minimum sizes of their groups."""
    per_group: dict[str, int] = {}
    allowed = 0
    for name in names:
        group = groups.get(name)
        if group is None:
            allowed += 1
            continue
        gone = per_group.get(group.name, 0)
        if gone < len(group.nodes) - group.min_size:
            per_group[group.name] = gone + 1
            allowed += 1
    return allowed


def requested(info: PodInfo, resource: str) -> int:
    """Return what a pod requests of a resource, ``pods`` among them."""
    return 1 if resource == PODS else info.requests.exact.get(resource, 0)


def _free(cluster: Cluster, name: str) -> dict[str, int]:
    nodes = cluster.nodes_named([name])
    taken = {PODS: int(nodes.pod_count[0]), **{each: int(nodes.requested(each)[0]) for each in (CPU, MEMORY)}}
    return {each: int(nodes.allocatable(each)[0]) - taken[each] for each in _RESOURCES}


def _sizes(pods: Sequence[PodInfo]) -> _Sizes:
    shapes = {tuple(requested(info, name) for name in _RESOURCES) for info in pods}
    amounts = [dict(zip(_RESOURCES, shape, strict=True)) for shape in shapes]
    least = {name: min(each[name] for each in amounts) for name in _RESOURCES}
    ratios = {
        (name, other): max(each[name] / each[other] for each in amounts)
        for name in _RESOURCES
        for other in _RESOURCES
        if name != other and least[other] > 0
    }
    return _Sizes(least, ratios)

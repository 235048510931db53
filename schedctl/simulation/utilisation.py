"""How full a cluster is: by node, by group of nodes, and how evenly.

A `Measure` is taken of a cluster as it is and outlives its changes, so that two of them can be compared. Groups are
what people buy nodes by: the node pool where a label tells it, else the instance type, else the zone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain

import msgspec

from schedctl.api import topology
from schedctl.api.node_labels import INSTANCE_TYPE, POOL_LABELS
from schedctl.api.nodes import Node
from schedctl.api.resources import CPU, MEMORY, PODS
from schedctl.cache.cluster import Cluster
from schedctl.reports.simulations import Evenness

_MOST_GROUPS = 40
"""A label with more values than this tells nodes apart rather than putting them together."""


class Measure(msgspec.Struct, frozen=True):
    """What the nodes of a cluster offered and what was taken, at one time.

    Attributes:
        label: what puts nodes into groups, "" where nothing does.
        groups: the group of each node by name, "" for nodes in none.
        allocatable: by resource, then by node, in the scheduler's units.
        requested: likewise, what pods have taken; of ``pods``, how many there are.
    """

    label: str
    groups: Mapping[str, str]
    allocatable: Mapping[str, Mapping[str, int]]
    requested: Mapping[str, Mapping[str, int]]


def zones(cluster: Cluster) -> dict[str, str]:
    """Return the zone of each node by name."""
    return {node.metadata.name: topology.zone_of(node.metadata.labels) for node in _nodes(cluster)}


def grouping_label(cluster: Cluster) -> str:
    """Return the label that puts the nodes of a cluster into groups, "" where none does.

    It is the first that most nodes have: of those for pools, then the instance type, then the zone.
    """
    nodes = list(_nodes(cluster))
    having = Counter(chain.from_iterable(node.metadata.labels or () for node in nodes))
    for label in (*POOL_LABELS, INSTANCE_TYPE, topology.ZONE):
        if label != topology.ZONE and 2 * having[label] <= len(nodes):
            continue
        values = [value for node in nodes if (value := topology.group_of(node.metadata.labels, label))]
        if 2 * len(values) > len(nodes) and len(set(values)) <= _MOST_GROUPS:
            return label
    return ""


def measure(cluster: Cluster, label: str | None = None) -> Measure:
    """Return how full a cluster is now.

    Args:
        cluster: the cluster.
        label: what puts its nodes into groups, None for what does best.
    """
    label = grouping_label(cluster) if label is None else label
    column = cluster.nodes_by_name
    names = column.names
    groups = {node.metadata.name: topology.group_of(node.metadata.labels, label) or "" for node in _nodes(cluster)}
    allocatable, requested = {}, {}
    for resource in _resources(cluster):
        offered = column.allocatable(resource).tolist()
        taken = (column.pod_count if resource == PODS else column.requested(resource)).tolist()
        allocatable[resource] = dict(zip(names, offered, strict=True))
        requested[resource] = dict(zip(names, taken, strict=True))
    return Measure(label, groups, allocatable, requested)


def share(taken: int, offered: int) -> float:
    """Return how full something is, in percent with one decimal; 0 where nothing is offered."""
    return round(100 * taken / offered, 1) if offered > 0 else 0.0


def evenness(taken: Measure, resource: str) -> Evenness:
    """Return how differently full the nodes are of a resource; nodes that offer none of it do not count."""
    offered = taken.allocatable.get(resource, {})
    shares = [100 * taken.requested[resource][name] / amount for name, amount in offered.items() if amount > 0]
    if not shares:
        return Evenness(mean=0.0, deviation=0.0, lowest=0.0, highest=0.0)
    mean = math.fsum(shares) / len(shares)
    deviation = math.sqrt(math.fsum((each - mean) ** 2 for each in shares) / len(shares))
    return Evenness(
        mean=round(mean, 1),
        deviation=round(deviation, 1),
        lowest=round(min(shares), 1),
        highest=round(max(shares), 1),
    )


def skew(counts: Mapping[str, int], domains: Iterable[str]) -> int:
    """Return by how much the fullest of some domains outnumbers the emptiest."""
    numbers = [counts.get(domain, 0) for domain in set(domains)]
    return max(numbers) - min(numbers) if numbers else 0


def _resources(cluster: Cluster) -> list[str]:
    """Return cpu, memory and pods, and of the others those that some node offers."""
    offered: Counter[str] = Counter()
    for node in _nodes(cluster):
        offered.update((node.status.allocatable or {}).keys())
    column = cluster.nodes_by_name
    others = (name for name in sorted(offered) if column.allocatable(name).any())
    return list(dict.fromkeys((CPU, MEMORY, PODS, *others)))


def _nodes(cluster: Cluster) -> Iterable[Node]:
    table = cluster.node_table
    return (table.objects[row] for row in table.row_of.values())

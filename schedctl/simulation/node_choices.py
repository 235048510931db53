"""Nodes as people name them in a what-if: by name, all of them, or by a label such as the zone."""

from __future__ import annotations

from schedctl.api import topology
from schedctl.api.nodes import Node
from schedctl.cache.cluster import Cluster
from schedctl.documents.spelling import suggest_names
from schedctl.errors import UsageError

SHORTHANDS = {
    "zone": topology.ZONE,
    "region": topology.REGION,
    "hostname": topology.HOSTNAME,
    "node": topology.HOSTNAME,
}
"""Labels by what people call them; a node that has a label of the short name itself is taken by that."""
ALL = "all"


def node_named(cluster: Cluster, name: str) -> Node:
    """Return a node.

    Raises:
        UsageError: there is none of that name; with the nearest names.
    """
    row = cluster.node_table.row_of.get(name)
    if row is None:
        raise UsageError(f'node "{name}" not found', suggest_names(name, sorted(cluster.node_table.row_of), "nodes"))
    return cluster.node_table.objects[row]


def nodes_chosen(cluster: Cluster, choice: str) -> list[str]:
    """Return the names of nodes, sorted.

    Args:
        cluster: the cluster.
        choice: a name, ``all``, or ``LABEL=VALUE``, where the label may be a shorthand; several of these with commas
            between them choose the nodes that have all of them.

    Raises:
        UsageError: there is no such node; with the nearest names.
    """
    parts = choice.split(",")
    if len(parts) > 1 and all("=" in part for part in parts):
        together = set.intersection(*(set(nodes_chosen(cluster, part)) for part in parts))
        if not together:
            raise UsageError(f"no node has all of {choice}")
        return sorted(together)
    if choice == ALL and ALL not in cluster.node_table.row_of:
        return sorted(cluster.node_table.row_of)
    key, equals, value = choice.partition("=")
    if not equals:
        return [node_named(cluster, choice).metadata.name]
    label = label_of(cluster, key)
    values: dict[str, list[str]] = {}
    for name, row in sorted(cluster.node_table.row_of.items()):
        group = topology.group_of(cluster.node_table.objects[row].metadata.labels, label)
        if group is not None:
            values.setdefault(group, []).append(name)
    if not values:
        keys = sorted(cluster_labels(cluster))
        raise UsageError(f'no node has a label "{label}"', suggest_names(label, [*keys, *SHORTHANDS], "labels"))
    if value not in values:
        raise UsageError(f"no node has {label}={value}", suggest_names(value, sorted(values), "values"))
    return values[value]


def label_of(cluster: Cluster, written: str) -> str:
    """Return the label that people mean by a word: a shorthand stands for its label unless nodes have it as such."""
    return written if written not in SHORTHANDS or written in cluster_labels(cluster) else SHORTHANDS[written]


def cluster_labels(cluster: Cluster) -> set[str]:
    """Return the keys of all labels that nodes have."""
    table = cluster.node_table
    return {key for row in table.row_of.values() for key in table.objects[row].metadata.labels or ()}

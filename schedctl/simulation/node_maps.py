"""The nodes of a cluster as reports have them for pictures: where each stands, and how full it was and is."""

from __future__ import annotations

from collections.abc import Mapping

from schedctl.api import topology
from schedctl.api.resources import CPU, MEMORY, PODS
from schedctl.cache.cluster import Cluster
from schedctl.reports.node_maps import MappedNode, NodeMap
from schedctl.simulation import utilisation
from schedctl.simulation.utilisation import Measure


def node_map(cluster: Cluster, before: Measure | None = None) -> NodeMap:
    """Return the nodes of a cluster as it is now.

    Args:
        cluster: the cluster.
        before: how full it was before; None where nothing has moved. A node that it lacks was empty.
    """
    now = utilisation.measure(cluster)
    past = before or now
    zones = utilisation.zones(cluster)
    table = cluster.node_table
    # Where no label tells pools apart the zone is what groups nodes, and a zone is no pool.
    label = "" if now.label == topology.ZONE else now.label
    return NodeMap(
        pool_label=label,
        nodes=[
            MappedNode(
                name=name,
                zone=zones[name],
                pool=now.groups[name] if label else "",
                unschedulable=table.objects[table.row_of[name]].spec.unschedulable,
                cpu=_amount(now.requested, CPU, name),
                memory=_amount(now.requested, MEMORY, name),
                pods=_amount(now.requested, PODS, name),
                cpu_before=_amount(past.requested, CPU, name),
                memory_before=_amount(past.requested, MEMORY, name),
                pods_before=_amount(past.requested, PODS, name),
                cpu_allocatable=_amount(now.allocatable, CPU, name),
                memory_allocatable=_amount(now.allocatable, MEMORY, name),
                pods_allocatable=_amount(now.allocatable, PODS, name),
            )
            for name in sorted(now.groups)
        ],
    )


def _amount(measured: Mapping[str, Mapping[str, int]], resource: str, node: str) -> int:
    return measured.get(resource, {}).get(node, 0)

"""Reports with the nodes that pictures of them show."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

if TYPE_CHECKING:
    from schedctl.cache.cluster import Cluster
    from schedctl.simulation.utilisation import Measure

R = TypeVar("R", bound=msgspec.Struct)


def add(report: R, cluster: Cluster, before: Measure | None = None) -> R:
    """Return a report with the nodes of a cluster.

    Args:
        report: one that has a `node_map`.
        cluster: the cluster as it is in the end.
        before: how full it was before; None where nothing has moved.
    """
    from schedctl.simulation.node_maps import node_map

    return msgspec.structs.replace(report, node_map=node_map(cluster, before))

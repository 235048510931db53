"""Which pod groups have fewer pods on nodes than they need, though they had enough before."""

from __future__ import annotations

from collections.abc import Mapping

from schedctl.api.pod_groups import PodGroup
from schedctl.cache.cluster import Cluster
from schedctl.framework.pod_groups import scheduled_members
from schedctl.releases import GENERIC_WORKLOAD
from schedctl.reports.pod_groups import BrokenGroup


def pods_on_nodes(cluster: Cluster) -> dict[str, int]:
    """Return how many pods of each group are on nodes; nothing where groups are off."""
    if not cluster.release.enabled(GENERIC_WORKLOAD):
        return {}
    return {key: len(scheduled_members(cluster, key)) for key in cluster.every(PodGroup)}


def broken_since(before: Mapping[str, int], cluster: Cluster) -> list[BrokenGroup]:
    """Return the groups that had enough pods on nodes and no longer have, by name.

    Args:
        before: what `pods_on_nodes` said then.
        cluster: as it is now.
    """
    groups, broken = cluster.every(PodGroup), []
    for key, after in sorted(pods_on_nodes(cluster).items()):
        needs, had = groups[key].min_count, before.get(key, 0)
        if groups[key].is_gang and after < needs <= had:
            broken.append(BrokenGroup(group=key, before=had, after=after, needs=needs))
    return broken

"""How far pods of a workload are from being spread as a constraint of theirs asks; what `explain` says of a fix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo
from schedctl.plugins.pod_topology_spread.constraints import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY, own_constraints
from schedctl.plugins.pod_topology_spread.counts import hard_state


class Skew(NamedTuple):
    """How unevenly the pods of one constraint are spread.

    Attributes:
        topology_key: over which domains.
        skew: by how many pods the fullest domain exceeds the emptiest.
        max_skew: by how many it may.
    """

    topology_key: str
    skew: int
    max_skew: int


def violated(cluster: ClusterView, pod: PodInfo) -> Iterator[Skew]:
    """Yield the constraints a pod brings itself, hard ones first, whose pods are spread less evenly than they ask for.

    Raises:
        SelectorError: a label selector does not parse.
    """
    written = pod.pod.spec.topology_spread_constraints or ()
    for action in (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY):
        for spread in hard_state(cluster, pod, own_constraints(written, pod.labels, action)).spreads:
            constraint = spread.constraint
            skew = int(spread.counts[spread.present].max()) - spread.floor if spread.number else 0
            if skew > constraint.max_skew:
                yield Skew(constraint.topology_key, skew, constraint.max_skew)

"""How the pods that constraints count are spread now, and the constraints that this does not keep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from schedctl.api.selectors import SelectorError
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.domain_counts import DomainCounts
from schedctl.plugins.pod_topology_spread.constraints import (
    DO_NOT_SCHEDULE,
    SCHEDULE_ANYWAY,
    Constraint,
    own_constraints,
)
from schedctl.plugins.pod_topology_spread.counts import HardSpread, hard_state

_SHOWN = 40
"""How many domains are told with their counts; of more, the emptiest and the fullest, half of this number each."""


def violations(cluster: ClusterView, pod: PodInfo) -> dict[str, str]:
    """Return by topology key the skew of a pod's own constraints, hard or soft, that is larger than they allow."""
    found: dict[str, str] = {}
    written = pod.pod.spec.topology_spread_constraints or ()
    for action in (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY):
        try:
            constraints = own_constraints(written, pod.labels, action, cluster.release)
        except SelectorError:  # which is told where the pod is judged
            continue
        for spread in hard_state(cluster, pod, constraints).spreads:
            key, most = spread.constraint.topology_key, spread.constraint.max_skew
            skew = int(spread.counts[spread.present].max()) - spread.floor if spread.number else 0
            if skew > most:
                found.setdefault(key, f"has skew {skew} over {key} (maxSkew {most})")
    return found


def domain_counts(
    cluster: ClusterView, pod: PodInfo, hard: Sequence[Constraint], soft: Sequence[Constraint]
) -> list[DomainCounts]:
    """Return the pods that constraints count by domain, counted for both kinds as DoNotSchedule counts."""
    constraints = (*hard, *soft)
    spreads = hard_state(cluster, pod, constraints).spreads if constraints else ()
    return [_counts(spread, number < len(hard)) for number, spread in enumerate(spreads)]


def _counts(spread: HardSpread, hard: bool) -> DomainCounts:
    present = np.flatnonzero(spread.present)
    ordered = present[np.argsort(spread.counts[present], kind="stable")].tolist()
    shown = ordered if len(ordered) <= _SHOWN else [*ordered[: _SHOWN // 2], *ordered[-_SHOWN // 2 :]]
    return DomainCounts(
        topology_key=spread.constraint.topology_key,
        hard=hard,
        max_skew=spread.constraint.max_skew,
        adds=spread.self_match,
        minimum=spread.floor if spread.number else 0,
        domains=spread.number,
        counts={str(spread.domains.values.values[domain]): int(spread.counts[domain]) for domain in shown},
    )

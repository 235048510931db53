"""Constraints that the pods of a workload, as they are spread now, do not keep."""

from __future__ import annotations

from schedctl.api.selectors import SelectorError
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo
from schedctl.plugins.pod_topology_spread.constraints import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY, own_constraints
from schedctl.plugins.pod_topology_spread.counts import hard_state


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

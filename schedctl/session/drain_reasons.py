"""Why pods are pending when a drain has ended, and what was probably not meant in the specs of those it evicts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable

import msgspec

from schedctl.cache.pod_info import PodInfo
from schedctl.explain import remarks
from schedctl.explain.pending_pods import PendingPodExplainer
from schedctl.reports.drains import DrainFate, DrainReport, WorkloadWarning
from schedctl.reports.explanations import OwnerPods
from schedctl.reports.simulations import PendingPods
from schedctl.scheduler import Scheduler
from schedctl.simulation.drains import DrainFacts
from schedctl.workloads import ownership

_HINTED_GROUPS = 20
_STAYING = (DrainFate.KEPT, DrainFate.IGNORED, DrainFate.MIRROR, DrainFate.TERMINATING)
_replace = msgspec.structs.replace


def add_warnings(report: DrainReport, facts: DrainFacts, scheduler: Scheduler) -> DrainReport:
    """Return the report with what plugins find in the specs of evicted pods; one pod of a workload stands for all."""
    evicted = defaultdict[ownership.Owned, list[PodInfo]](list)
    for pod in (pod for node in facts.nodes for pod in node.pods if pod.fate not in _STAYING):
        owner = ownership.workload_of(pod.info, scheduler.cluster) or (
            "Pod",
            pod.info.namespace,
            pod.info.pod.metadata.name,
        )
        evicted[owner].append(pod.info)
    found = [
        WorkloadWarning(f"{kind} {namespace}/{name}", len(pods), warning)
        for (kind, namespace, name), pods in evicted.items()
        for warning in remarks.warnings(scheduler, pods[0])
    ]
    return _replace(report, warnings=found)


def add_reasons(report: DrainReport, scheduler: Scheduler, advance: Callable[[int, int, str], None]) -> DrainReport:
    """Return the report with reasons and next steps for the pending pods, on the cluster as the drain left it.

    Args:
        report: the report.
        scheduler: whose cluster was drained.
        advance: called with how far the work is.
    """
    drained = {result.node for result in report.results}
    explainer = PendingPodExplainer(scheduler, _HINTED_GROUPS, drained)
    cluster = scheduler.cluster
    groups: list[PendingPods] = []
    for number, group in enumerate(report.pending):
        advance(number, len(report.pending), group.pods[0])
        owners = Counter(ownership.owner_name(pod, cluster) for pod in group.pods).most_common()
        owned = _replace(group, owners=[OwnerPods(owner, pods) for owner, pods in owners])
        pod = cluster.pending.get(group.pods[0])
        groups.append(owned if pod is None else explainer.add_reasons(owned, pod))
    return _replace(report, pending=groups)

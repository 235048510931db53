"""Why pods are pending when a run or a drain has ended; `explain` is asked about one of those alike."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable

import msgspec

from schedctl.api.pod_groups import PodGroup
from schedctl.cache.pod_info import PodInfo
from schedctl.explain import remarks
from schedctl.explain.pending_pods import PendingPodExplainer
from schedctl.explain.pod_groups import explain_group
from schedctl.reports.drains import DrainFate, DrainReport, WorkloadWarning
from schedctl.reports.explanations import OwnerPods
from schedctl.reports.pod_groups import GroupVerdict, PodGroupResult
from schedctl.reports.simulations import Fate, PendingPods, SimulationReport
from schedctl.scheduler import Scheduler
from schedctl.session import manifest_edits
from schedctl.simulation.drains import DrainFacts
from schedctl.simulation.report_builder import examples, pending_pod
from schedctl.simulation.simulations import Simulation
from schedctl.sources.manifests import Sourced
from schedctl.workloads import ownership

_HINTED_GROUPS = 40
_HINTED_GROUPS_OF_A_DRAIN = 20
_EXPLAINED = (Fate.UNSCHEDULABLE, Fate.NOMINATED, Fate.GATED, Fate.WAITING, Fate.QUEUED, Fate.FAILED)
_STAYING = (DrainFate.KEPT, DrainFate.IGNORED, DrainFate.MIRROR, DrainFate.TERMINATING)
_replace = msgspec.structs.replace


def of_simulation(
    report: SimulationReport,
    facts: Simulation,
    scheduler: Scheduler,
    manifests: Iterable[Sourced],
    advance: Callable[[int, int, str], None],
    hypothetical_nodes: Collection[str] = (),
) -> SimulationReport:
    """Return the report with reasons and next steps for its pending pods, on the cluster as the run left it.

    Args:
        report: the report.
        facts: what it is about.
        scheduler: whose run it was.
        manifests: the objects that were released, in which fixes of their pods are to be made.
        advance: called with how far the work is.
        hypothetical_nodes: nodes that are as a what-if has them, which no next step undoes.
    """
    explainer = PendingPodExplainer(scheduler, _HINTED_GROUPS, hypothetical_nodes)
    ours = report.summary.groups
    report = _replace(
        report, groups=[*(_group(each, scheduler) for each in report.groups[:ours]), *report.groups[ours:]]
    )
    of_groups = {key for group in report.groups for key in group.members}
    total = sum(len(result.pending) for result in report.results)
    sources = manifest_edits.workloads_in(manifests)
    results, done = [], 0
    for result in report.results:
        groups: list[PendingPods] = []
        for group in result.pending:
            advance(done, total, group.pods[0])
            pod = pending_pod(facts, result.namespace, group.pods[0]) if group.fate in _EXPLAINED else None
            if pod is not None and pod.key not in of_groups:
                group = explainer.add_reasons(group, pod)
                hints = [manifest_edits.edit_manifests(hint, sources) for hint in group.hints]
                group = _replace(group, hints=hints)
            groups.append(group)
            done += 1
        results.append(_replace(result, pending=groups))
    return _replace(report, results=results)


def _group(result: PodGroupResult, scheduler: Scheduler) -> PodGroupResult:
    """Return a group that not all pods of which are placed with why, and what would help, on the cluster as it is."""
    group = scheduler.cluster.get(PodGroup, f"{result.namespace}/{result.name}")
    if group is None or result.verdict is GroupVerdict.PLACED:
        return result
    found = explain_group(scheduler, group).result
    return _replace(
        result, causes=found.causes, missing=found.missing, hints=found.hints, notes=found.notes, waiting=found.waiting
    )


def add_warnings(report: SimulationReport, facts: Simulation, scheduler: Scheduler) -> SimulationReport:
    """Return the report with what plugins find in the spec of each workload's pods that was probably not meant."""
    results = [
        result if pod is None else _replace(result, warnings=remarks.warnings(scheduler, pod, replicas))
        for result, (pod, replicas) in zip(report.results, examples(facts), strict=True)
    ]
    return _replace(report, results=results)


def add_warnings_of_drain(report: DrainReport, facts: DrainFacts, scheduler: Scheduler) -> DrainReport:
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


def of_drain(report: DrainReport, scheduler: Scheduler, advance: Callable[[int, int, str], None]) -> DrainReport:
    """Return the report with reasons and next steps for the pending pods, on the cluster as the drain left it.

    Args:
        report: the report.
        scheduler: whose cluster was drained.
        advance: called with how far the work is.
    """
    drained = {result.node for result in report.results}
    explainer = PendingPodExplainer(scheduler, _HINTED_GROUPS_OF_A_DRAIN, drained)
    cluster = scheduler.cluster
    groups: list[PendingPods] = []
    for number, group in enumerate(report.pending):
        advance(number, len(report.pending), group.pods[0])
        owners = Counter(ownership.owner_name(pod, cluster) for pod in group.pods).most_common()
        owned = _replace(group, owners=[OwnerPods(owner, pods) for owner, pods in owners])
        pod = cluster.pending.get(group.pods[0])
        groups.append(owned if pod is None else explainer.add_reasons(owned, pod))
    return _replace(report, pending=groups)

"""Why pods are pending when a run has ended; `explain` is asked about one of those alike."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import msgspec

from schedctl.api.pod_groups import PodGroup
from schedctl.explain import remarks
from schedctl.reports.pod_groups import GroupVerdict, PodGroupResult
from schedctl.reports.simulations import Fate, PendingPods, SimulationReport
from schedctl.scheduler import Scheduler
from schedctl.session import manifest_edits
from schedctl.simulation.report_builder import examples, pending_pod
from schedctl.simulation.simulations import Simulation
from schedctl.sources.manifests import Sourced

_HINTED_GROUPS = 40
_EXPLAINED = (Fate.UNSCHEDULABLE, Fate.NOMINATED, Fate.GATED, Fate.WAITING, Fate.QUEUED, Fate.FAILED)
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
    if not (report.groups or any(result.pending for result in report.results)):
        return report
    # nearly all of `explain`, which a run that leaves no pod pending does without
    from schedctl.explain.pending_pods import PendingPodExplainer

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
    from schedctl.explain.pod_groups import explain_group

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

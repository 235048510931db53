"""Why pods are pending when a run has ended: one of those alike is explained, and stands for all.

``simulation`` and ``explain`` do not know each other; what one leaves pending is asked of the other here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from schedctl.explain import explanations
from schedctl.reports import explanations as explained
from schedctl.reports.reasons import Reason
from schedctl.reports.simulations import Fate, PendingPods, SimulationReport
from schedctl.scheduler import Scheduler
from schedctl.simulation.report_builder import pending_pod
from schedctl.simulation.simulations import Simulation

HINTED = 20
"""For how many groups of pods next steps are looked for, which takes much longer than the reasons."""
_ASKED = (Fate.UNSCHEDULABLE, Fate.NOMINATED, Fate.GATED, Fate.WAITING, Fate.QUEUED, Fate.FAILED)
_replace = msgspec.structs.replace


def with_reasons(
    report: SimulationReport, facts: Simulation, scheduler: Scheduler, advance: Callable[[int, int, str], None]
) -> SimulationReport:
    """Return the report with reasons and next steps for its pending pods, on the cluster as the run left it.

    Args:
        report: the report.
        facts: what it is about.
        scheduler: whose run it was.
        advance: told how far the work is.
    """
    total = sum(len(result.pending) for result in report.results)
    known: dict[Any, PendingPods] = {}
    results, done = [], 0
    for result in report.results:
        groups = []
        for group in result.pending:
            advance(done, total, group.pods[0])
            groups.append(_explained(group, result.namespace, facts, scheduler, known))
            done += 1
        results.append(_replace(result, pending=groups))
    return _replace(report, results=results)


def _explained(
    group: PendingPods, namespace: str, facts: Simulation, scheduler: Scheduler, known: dict[Any, PendingPods]
) -> PendingPods:
    info = pending_pod(facts, namespace, group.pods[0]) if group.fate in _ASKED else None
    if info is None:
        return group
    likeness = scheduler.likeness(info)
    key = (likeness, group.fate) if likeness is not None else info.key
    if key not in known:
        answer = explanations.explain(scheduler, info, hints=len(known) < HINTED)
        known[key] = _replace(
            group,
            example=info.pod.metadata.name,
            reasons=[reason_of(reason) for reason in answer.reasons],
            hints=answer.hints,
            notes=_notes(answer),
            remarks=answer.remarks,
        )
    found = known[key]
    return _replace(
        group,
        example=found.example,
        reasons=found.reasons,
        hints=found.hints,
        notes=found.notes,
        remarks=found.remarks,
    )


def reason_of(reason: Reason) -> Reason:
    """Return a reason as reports about many pods carry it: without the nodes, whose numbers `detail` sums up."""
    return _replace(reason, groups=[])


def _notes(answer: explained.Explanation) -> list[str]:
    if answer.reservation is not None and answer.reservation.waits:
        return [answer.reservation.text]
    if answer.verdict is explained.Verdict.SCHEDULED:
        return [f"it would be placed on {answer.chosen} if it were tried again"]
    return []

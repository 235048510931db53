"""Why pods are pending when a run has ended: one of those alike is explained, and stands for all.

``simulation`` and ``explain`` do not know each other; what one leaves pending is asked of the other here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from schedctl.explain import explanations
from schedctl.reports import explanations as explained
from schedctl.reports.simulations import Fate, Hint, PendingPods, Reason, Remark, SimulationReport
from schedctl.scheduler import Scheduler
from schedctl.simulation.report_builder import pending_pod
from schedctl.simulation.simulations import Simulation

HINTED = 20
"""For how many groups of pods next steps are looked for, which takes much longer than the reasons."""
_ASKED = (Fate.UNSCHEDULABLE, Fate.NOMINATED, Fate.GATED, Fate.WAITING, Fate.QUEUED, Fate.FAILED)
_DETAILS = 3
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
            hints=[msgspec.convert(hint, Hint, from_attributes=True) for hint in answer.hints],
            notes=_notes(answer),
            remarks=[msgspec.convert(remark, Remark, from_attributes=True) for remark in answer.remarks],
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


def reason_of(reason: explained.Reason) -> Reason:
    """Return a reason of an explanation as reports of runs carry it: its evidence in one line."""
    details = list(dict.fromkeys(group.detail for group in reason.groups if group.detail))
    more = f", +{len(details) - _DETAILS} more" if len(details) > _DETAILS else ""
    return Reason(
        reference=reason.reference,
        plugin=reason.plugin,
        code=reason.code,
        text=reason.text,
        count=reason.count,
        whole_pod=reason.whole_pod,
        detail=reason.summary or "; ".join(details[:_DETAILS]) + more,
        zones=reason.zones,
    )


def _notes(answer: explained.Explanation) -> list[str]:
    if answer.reservation is not None and answer.reservation.waits:
        return [answer.reservation.text]
    if answer.verdict is explained.Verdict.SCHEDULED:
        return [f"it would be placed on {answer.chosen} if it were tried again"]
    return []

"""Why pods are pending after a drain: one of those alike is explained, and stands for all."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from schedctl.explain import explanations
from schedctl.explain.cluster_changes import Uncordon
from schedctl.reports.drains import DrainReport
from schedctl.reports.simulations import PendingPods
from schedctl.scheduler import Scheduler
from schedctl.session.pending_reasons import reason_of

HINTED = 10
"""For how many groups of pods next steps are looked for."""
_replace = msgspec.structs.replace


def with_reasons(report: DrainReport, scheduler: Scheduler, advance: Callable[[int, int, str], None]) -> DrainReport:
    """Return the report with reasons and next steps for the pending pods, on the cluster as the drain left it.

    Args:
        report: the report.
        scheduler: whose cluster was drained.
        advance: told how far the work is.
    """
    drained = {result.node for result in report.results}
    groups: list[PendingPods] = []
    for number, group in enumerate(report.pending):
        advance(number, len(report.pending), group.pods[0])
        info = scheduler.cluster.pending.get(group.pods[0])
        if info is not None:
            answer = explanations.explain(scheduler, info, hints=number < HINTED)
            hints = [
                hint for hint in answer.hints if not (hint.type.startswith(Uncordon.kind) and hint.node in drained)
            ]
            group = _replace(
                group,
                reasons=[reason_of(reason) for reason in answer.reasons],
                hints=hints,
                remarks=answer.remarks,
            )
        groups.append(group)
    return _replace(report, pending=groups)

"""``schedulable``: the pods of each workload find a node."""

from __future__ import annotations

from collections.abc import Iterable

from schedctl.policy import findings
from schedctl.policy.documents import Schedulable
from schedctl.reports import counts


def judge(view: findings.View, arguments: Schedulable, about: findings.Judged) -> Iterable[findings.Finding]:
    """Judge a workload: so many of a hundred pods can be scheduled."""
    judged = about.workload
    assert judged is not None
    total, placed, unclear = len(judged.pods), len(judged.placed_pods), len(judged.unclear_pods)
    if not total:
        yield findings.pass_finding(judged.wants_none)
        return
    needed = arguments.min_percent * total / 100
    percent = f", needs {arguments.min_percent:g} %" if arguments.min_percent < 100 else ""
    only = "only " if 0 < placed < total else ""
    message = f"{only}{placed} of {counts.of(total, 'pod')} can be scheduled{percent}"
    if placed >= needed:
        yield findings.pass_finding(message)
    elif placed + unclear < needed:
        violates = {"pods pending": len(judged.pending_pods)}
        yield findings.violation(message, violates=violates).because(view.causes.explain_pending(judged.pending_pods))
    else:
        yield findings.inconclusive(f"{message}; {unclear} inconclusive").because(
            view.causes.explain_pending(judged.unclear_pods)
        )

"""A bind for people: where the pod goes and why, what is written before, the Binding itself, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from schedctl.render import explanations, machine, notices
from schedctl.render.layout import BLANK, Block, Line, Part, Span, line
from schedctl.reports import counts
from schedctl.reports.bindings import BindCall, BindOutcome, BindReport, GangBindReport
from schedctl.reports.explanations import ExplainReport, ExplainSummary, Explanation, Verdict


def lines(
    report: BindReport | GangBindReport, *, wide: bool = False, limit: int = 0, asking: bool = False
) -> Iterator[Part]:
    """Yield the report as lines and tables.

    Args:
        report: what to tell.
        wide: show every entry of a list, where the pod is not scheduled.
        limit: show so many entries of a list, 0 for what suits.
        asking: whether a question follows, so that the next step need not be named.
    """
    if isinstance(report, GangBindReport):
        yield from _gang(report, wide=wide, limit=limit, asking=asking)
        return
    yield from _pod(report, wide=wide, limit=limit)
    yield from _last(report, asking)


def _gang(report: GangBindReport, *, wide: bool, limit: int, asking: bool) -> Iterator[Part]:
    """Yield the answers about pods that are bound together."""
    for number, each in enumerate(report.results):
        if number:
            yield BLANK
        yield from _pod(each, wide=wide, limit=limit)
        yield from _warnings(each)
    summary = report.summary
    if summary.text:
        yield BLANK
        yield Line((Span(f"{summary.bound} of {summary.pods} pods bound", "bad"), Span(f" ({summary.text})")))
    yield from _next_step(summary.outcome, report.cluster, "the pods", asking=asking)


def _pod(report: BindReport, *, wide: bool, limit: int) -> Iterator[Part]:
    """Yield the answer about one pod, but for warnings and the next step."""
    summary, outcome = report.summary, report.summary.outcome
    if outcome in (BindOutcome.PLANNED, BindOutcome.ACCEPTED, BindOutcome.BOUND):
        yield _answer(report)
        yield from _account(report.decision, summary.node)
        yield from _waits(report)
        yield from _writes(report)
        yield from _calls(report)
        yield from notices.what_if(report.metadata.what_if)
        if outcome is BindOutcome.PLANNED and report.binding is not None:
            yield BLANK
            yield from (Line((Span(each),), whole=True) for each in machine.yaml(report.binding).splitlines())
        return
    if summary.text:
        word = "INCONCLUSIVE" if outcome is BindOutcome.INCONCLUSIVE else "NOT BOUND"
        pod, why = Span(f"pod {summary.pod}: ", "strong"), Span(f" ({summary.text})")
        yield Line((pod, Span(word, "bad"), why))
        if report.calls:
            yield from _waits(report)
            yield from _calls(report)
            return
        if outcome is BindOutcome.REFUSED and report.decision.node is None:
            return
        yield BLANK
    # Then it is the node asked for that is refused, and the pod would be scheduled on another.
    elsewhere = outcome is BindOutcome.REFUSED and report.decision.verdict is Verdict.SCHEDULED
    if elsewhere:
        yield Line((Span("without `--node`: ", "faint"), *explanations.headline(report.decision)))
    yield from explanations.lines(
        _explain_report(report), wide=wide, limit=limit, headline=not elsewhere, dry_run=not report.executing
    )
    if outcome is BindOutcome.INCONCLUSIVE:
        yield BLANK
        yield line("nothing was sent: schedctl does not bind a pod when the answer is inconclusive", "faint")


def _answer(report: BindReport) -> Line:
    summary, decision = report.summary, report.decision
    pod, node = Span(f"pod {summary.pod}", "strong"), Span(summary.node, "good")
    match summary.outcome:
        case BindOutcome.BOUND:
            verb = Span(" is bound to ")
        case BindOutcome.ACCEPTED:
            verb = Span(" would be bound by the API server to ")
        case _:
            verb = Span(" would be bound to ")
    score = next((each.total for each in decision.scores if each.node == summary.node), None)
    return Line((pod, verb, node, Span(f" (score {score})" if score is not None else "")))


def _account(decision: Explanation, node: str) -> Iterator[Block]:
    """Say in a few lines why this node."""
    feasible = f"{decision.nodes.feasible} of {counts.nodes(decision.nodes.total)} feasible"
    if node != decision.chosen:
        yield line(f"{feasible}; kube-scheduler would choose {decision.chosen} (score {decision.score})", indent=2)
    elif len(decision.ties) > 1:
        tied = ", ".join(decision.ties[:5]) + (", ..." if len(decision.ties) > 5 else "")
        first = f"{len(decision.ties)} have the highest score ({tied}); this is the first by name"
        yield line(f"{feasible}; {first}", indent=2)
    else:
        yield line(
            f"{feasible}, and this one has the highest score" if decision.nodes.feasible > 1 else feasible, indent=2
        )
        if decision.comparison is not None:
            yield line(decision.comparison.text, indent=2)


def _writes(report: BindReport) -> Iterator[Block]:
    done = report.summary.outcome is BindOutcome.BOUND
    for number, write in enumerate(report.writes, 1):
        yield Line(
            (Span("written: " if done else f"would write first, {number}: ", "faint"), Span(write.text)), 2, hang=4
        )


def _waits(report: BindReport) -> Iterator[Block]:
    if not report.waits:
        return
    names = ", ".join(f"{each.plugin} for up to {each.timeout:g} s" for each in report.waits)
    if report.summary.outcome is BindOutcome.PLANNED:
        yield line(f"Permit would hold the pod back: {names}", indent=2)
    else:
        yield line(f"Permit held the pod back for {report.waited:g} s: {names}", indent=2)


def _calls(report: BindReport) -> Iterator[Block]:
    """Say which plugins would be called, or were and what they answered, by extension point."""
    would = report.summary.outcome in (BindOutcome.PLANNED, BindOutcome.ACCEPTED)
    parts = []
    for point, calls in groupby(report.calls, lambda call: call.point):
        parts.append(f"{point} {', '.join(map(_call, calls))}")
    if parts:
        yield Line((Span("would call: " if would else "called: ", "faint"), Span("; ".join(parts))), 2, hang=4)


def _call(call: BindCall) -> str:
    if call.status in ("", "Success"):
        return call.plugin
    return f"{call.plugin} ({call.status}{f': {call.text}' if call.text else ''})"


def _last(report: BindReport, asking: bool = False) -> Iterator[Block]:
    yield from _warnings(report)
    yield from _next_step(report.summary.outcome, report.cluster, "the pod", asking=asking)


def _warnings(report: BindReport) -> Iterator[Block]:
    if report.moved:
        yield BLANK
        yield line("THE CLUSTER CHANGED DURING THE BIND, so the node may be wrong:", "bad")
        yield from (line(each, indent=2) for each in report.moved)
    if report.warnings and report.summary.outcome is BindOutcome.PLANNED:
        yield BLANK
    for warning in report.warnings:
        yield Line((Span("warning: ", "bad"), Span(warning)), hang=9)


def _next_step(outcome: BindOutcome, cluster: str, what: str, *, asking: bool) -> Iterator[Block]:
    if outcome is BindOutcome.PLANNED and not asking:
        yield BLANK
        live = f"`--execute` binds {what}, `--dry-run=server` lets the API server validate it"
        how = live if cluster else f"in a live cluster, `--execute` binds {what}"
        yield line(f"dry run, nothing was changed; {how}", "faint")
    elif outcome is BindOutcome.ACCEPTED:
        yield line("dry run, nothing was changed", "faint", indent=2)


def _explain_report(report: BindReport) -> ExplainReport:
    summary = ExplainSummary(exit_code=report.summary.exit_code, pods=1)
    return ExplainReport(metadata=report.metadata, summary=summary, results=[report.decision])

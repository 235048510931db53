"""Traces for people: the life of a pod, the pods of a trace, and where two traces part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.render.layout import ALL, BLANK, Block, Cell, Line, Span, Table, line
from schedctl.reports import counts
from schedctl.reports.traces import TraceDiff, TraceReport, TraceStep

_FEW = 20
_STYLES = {"Bound": "good", "Refused": "bad", "Failed": "bad", "Evicted": "bad", "Released": "bad"}


def lines(report: TraceReport | TraceDiff, *, wide: bool = False, limit: int = 0) -> Iterator[Block]:
    """Yield what a trace says, or what differs between two.

    Args:
        report: what to tell.
        wide: show everything.
        limit: show so many entries, 0 for a few; the steps of one pod are never cut.
    """
    entries = limit or (ALL if wide else _FEW)
    if isinstance(report, TraceDiff):
        return _difference(report, entries)
    return _life(report) if report.pod else _pods(report, entries)


def _life(report: TraceReport) -> Iterator[Block]:
    (end,) = report.pods
    yield Line((Span(f"pod {report.pod}: ", "strong"), Span(f"{counts.of(len(report.steps), 'step')}, {end.text}")))
    before: float | None = None
    for step in report.steps:
        time = f"{step.at:g} s" if step.at != before else ""
        before = step.at
        yield Line((Span(f"{time:>10}  ", "faint"), Span(_text(step, report.pod), _STYLES.get(step.step, ""))), hang=12)


def _text(step: TraceStep, pod: str = "") -> str:
    return step.text if step.pod in ("", pod) else f"pod {step.pod}: {step.text}"


def _pods(report: TraceReport, entries: int) -> Iterator[Block]:
    yield Line((Span(f"{report.file}: ", "strong"), Span(counts.of(len(report.pods), "pod"))))
    if report.pods:
        rows: list[Sequence[Cell]] = [
            ((Span(each.pod),), (Span(str(each.attempts)),), (Span(each.node),), (Span(each.text),))
            for each in report.pods[:entries]
        ]
        yield Table(rows, 2, ("POD", "ATTEMPTS", "NODE", "IN THE END"), frozenset((1,)))
    if len(report.pods) > entries:
        yield line(f"+{counts.of(len(report.pods) - entries, 'more pod')}: -o wide shows them", "faint", indent=2)
    yield line(f"the life of one: schedctl trace show {report.file} POD", "faint")


def _difference(report: TraceDiff, entries: int) -> Iterator[Block]:
    if report.summary.equal:
        yield line("no differences: every step is the same", "good")
        return
    same = f"equal up to line {report.line - 1}" if report.line > 1 else "different from the first line on"
    yield Line((Span(f"{same}; line {report.line}:", "strong"),))
    for name, step in ((report.before, report.first), (report.after, report.second)):
        yield Line((Span(f"{name}: ", "faint"), Span(_at(step))), 2, hang=4)
    yield BLANK
    if not report.placements:
        yield line("every pod is bound to the same node in the end")
        return
    yield line(f"{counts.of(len(report.placements), 'pod')} bound elsewhere in the end", "strong")
    rows: list[Sequence[Cell]] = [
        ((Span(each.pod),), (Span(each.before or "pending"),), (Span(each.after or "pending"),))
        for each in report.placements[:entries]
    ]
    yield Table(rows, 2, ("POD", report.before, report.after))
    if len(report.placements) > entries:
        more = counts.of(len(report.placements) - entries, "more pod")
        yield line(f"+{more}: -o wide shows them", "faint", indent=2)


def _at(step: TraceStep | None) -> str:
    return f"{step.at:g} s, {_text(step)}" if step is not None else "has ended"

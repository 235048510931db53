"""A calibration for people: how many decisions schedctl repeats, each plugin's part, and where its answer differs.

What agrees is counted, what differs is shown, each with what may be the cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.framework.wording import few
from schedctl.render import notices
from schedctl.render.layout import ALL, BLANK, Block, Cell, Line, Span, Table, line
from schedctl.reports import counts
from schedctl.reports.calibrations import (
    CalibrationReport,
    CalibrationSummary,
    Decision,
    DecisionOutcome,
    PluginAgreement,
)

_FEW = 10
_HEADS = ("PLUGIN", "ACCEPTS THE NODE", "RANKS NODES", "PREFERS ANOTHER", "SAME REASONS")


def lines(report: CalibrationReport, *, wide: bool = False, limit: int = 0) -> Iterator[Block]:
    """Yield the report as lines and tables.

    Args:
        report: what to tell.
        wide: show every decision that differs, and every cause.
        limit: show so many of them, 0 for what suits.
    """
    entries = limit or (ALL if wide else _FEW)
    for section in (
        _answer(report.summary),
        _plugins(report.plugins),
        _decisions(report.decisions, entries),
        _refusals(report, entries),
    ):
        blocks = list(section)
        yield from blocks
        if blocks:
            yield BLANK
    yield from _last(report, wide)


def _answer(summary: CalibrationSummary) -> Iterator[Block]:
    if summary.agreement is None and not summary.refusals:
        yield line("no decision to repeat: no scheduled pod in the state", "bad")
        yield notices.hint(
            "the times of decisions are those of a live cluster, or of a file of `schedctl snapshot create`"
        )
        return
    if summary.agreement is not None:
        answered = summary.decisions - summary.inconclusive
        style = "good" if summary.agrees == answered else "strong"
        agree = "agrees" if summary.agrees == 1 else "agree"
        yield Line(
            (Span(f"{summary.agrees} of {counts.of(answered, 'decision')} {agree}: {summary.agreement} %", style),)
        )
        best = (
            (summary.alone, "the only best node"),
            (summary.tied, "one of several with the same score"),
            (summary.only, "the only feasible node"),
        )
        agreeing = ", ".join(f"{count} {what}" for count, what in best if count)
        if agreeing:
            yield line(agreeing, indent=2)
        others = (
            (summary.lower, "scored lower than another node"),
            (summary.refused, "rejected"),
            (summary.unexplained, "of these without a possible cause"),
            (summary.generic, "of these with only causes that apply to almost any decision"),
            (summary.inconclusive, "inconclusive"),
        )
        differing = ", ".join(f"{count} {what}" for count, what in others if count)
        if differing:
            yield line(differing, indent=2)
    elif summary.decisions:
        yield line(f"{counts.of(summary.decisions, 'decision')}, all inconclusive", "bad")
    if summary.refusals:
        style = "good" if summary.refusals_agree == summary.refusals else "strong"
        pods = counts.of(summary.refusals, "pending pod")
        yield Line(
            (Span(f"{summary.refusals_agree} of {pods} would get the FailedScheduling message recorded for it", style),)
        )


def _plugins(plugins: Sequence[PluginAgreement]) -> Iterator[Block]:
    rows: list[Sequence[Cell]] = [
        (
            (Span(each.plugin),),
            _share(each.accepts, each.asked),
            (Span(str(each.tells) if each.tells else "-"),),
            (Span(str(each.outvotes) if each.tells else "-", "bad" if each.outvotes else ""),),
            _share(each.same, each.reasons),
        )
        for each in plugins
    ]
    if rows:
        yield Table(rows, 0, _HEADS, frozenset(range(1, len(_HEADS))))


def _share(agreeing: int, all_: int) -> Cell:
    return (Span(f"{agreeing} of {all_}" if all_ else "-", "bad" if agreeing < all_ else ""),)


def _decisions(decisions: Sequence[Decision], entries: int) -> Iterator[Block]:
    differing = [each for each in decisions if each.outcome is not DecisionOutcome.AGREES]
    if not differing:
        return
    yield line("decisions that differ, the newest first:", "faint")
    for each in differing[:entries]:
        word = "inconclusive: " if each.outcome is DecisionOutcome.INCONCLUSIVE else ""
        yield Line((Span(each.pod, "strong"), Span(f" on {each.node}: {word}{each.text}")))
        for cause in each.causes:
            yield Line((Span("perhaps: ", "faint"), Span(cause.text)), 2, hang=9)
        if not each.causes and each.outcome is not DecisionOutcome.INCONCLUSIVE:
            yield line("no possible cause found", "bad", indent=2)
    yield from notices.rest(len(differing) - entries, indent=0)


def _refusals(report: CalibrationReport, entries: int) -> Iterator[Block]:
    differing = [each for each in report.refusals if each.text]
    if not differing:
        return
    yield line("pending pods whose recorded message differs, or is older:", "faint")
    for each in differing[:entries]:
        yield Line((Span(each.pod, "strong"), Span(f": {each.text}")))
        if not each.agrees:
            yield notices.message_of_side("then: ", each.theirs)
            if each.ours:
                yield notices.message_of_side("now:  ", each.ours)
    yield from notices.rest(len(differing) - entries, indent=0)


def _last(report: CalibrationReport, wide: bool) -> Iterator[Block]:
    for each in report.not_replayed:
        yield notices.note(f"{counts.of(len(each.pods), 'pod')} not checked, {each.text}: {few(each.pods)}")
    yield from map(notices.note, report.notes)
    yield notices.end(report.metadata, wide=wide)

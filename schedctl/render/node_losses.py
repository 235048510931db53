"""Losses of nodes for people: how many would leave pods pending, and which, the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.render import notices
from schedctl.render.layout import ALL, BLANK, Block, Cell, Line, Span, Table, line
from schedctl.reports import counts
from schedctl.reports.node_losses import LossResult, NodeLossReport

_FEW = 10
_REASONS = 3


def lines(report: NodeLossReport, *, wide: bool = False, limit: int = 0) -> Iterator[Block]:
    """Yield the report as lines and tables.

    Args:
        report: what to tell.
        wide: show every loss that would do harm.
        limit: show so many losses, 0 for what suits.
    """
    entries = limit or (ALL if wide else _FEW)
    yield answer(report)
    harmful = [each for each in report.results if each.pending or each.lost or each.preempted or each.error]
    if harmful:
        yield BLANK
        yield _table(harmful[:entries])
        yield from notices.rest(len(harmful) - entries)
    worst = next((each for each in report.results if each.pending), None)
    if worst is not None:
        yield BLANK
        yield from _why(worst, entries)
    yield BLANK
    yield from _last(report, wide)


def answer(report: NodeLossReport) -> Line:
    """Return the answer in a line."""
    summary = report.summary
    doubts = notices.doubt(report.guesses)
    tried = losses_by_kind(report.results)
    unanswered = Span(
        f"; {summary.failed} of {summary.scenarios} could not be answered" if summary.failed else "", "bad"
    )
    if not summary.leaving_pending:
        which = "no loss with an answer" if summary.failed else "no single loss"
        text = f"{which} would leave a pod pending ({tried} tried)"
        return Line((Span(text, "bad" if summary.failed else "good"), unanswered, *doubts))
    text = f"{summary.leaving_pending} of {summary.scenarios} losses would leave pods pending"
    return Line((Span(text, "bad"), Span(f" ({tried} tried)"), unanswered, *doubts))


def losses_by_kind(results: Sequence[LossResult]) -> str:
    """Return how many losses of which kind there were: ``17 nodes, 3 zones``."""
    kinds: dict[str, int] = {}
    for each in sorted(results, key=lambda each: (each.by != "node", each.by)):
        kinds[each.by] = kinds.get(each.by, 0) + 1
    return ", ".join(counts.of(number, by.rpartition("/")[2]) for by, number in kinds.items())


def _table(results: Sequence[LossResult]) -> Table:
    rows: list[Sequence[Cell]] = []
    for each in results:
        name = f"{each.by.rpartition('/')[2]} {each.name}"
        if each.error:
            rows.append(((Span(name),), (Span(""),), (Span(""),), (Span(each.error, "bad"),)))
            continue
        style = "bad" if each.pending else ""
        cells = (Span(name), Span(str(each.displaced)), Span(str(each.pending), style), Span(_rest(each), "faint"))
        rows.append([(cell,) for cell in cells])
    return Table(rows, 0, ("LOSS", "DISPLACED", "PENDING", ""), frozenset((1, 2)), folding=1)


def _rest(each: LossResult) -> str:
    parts = []
    if each.nodes > 1:
        parts.append(counts.nodes(each.nodes))
    if each.preempted:
        parts.append(f"{counts.of(each.preempted, 'pod')} preempted")
    if each.lost:
        them = "it" if len(each.lost) == 1 else "them"
        parts.append(f"{counts.of(len(each.lost), 'pod')} lost: no controller recreates {them}")
    return ", ".join(parts)


def _why(worst: LossResult, entries: int) -> Iterator[Block]:
    yield line(f"pending if {worst.by.rpartition('/')[2]} {worst.name} is lost:", "strong")
    for group in worst.groups[:_REASONS]:
        preempted = f", {group.preempted} of them preempted" if group.preempted else ""
        names = notices.few(group.pods, min(entries, _REASONS))
        yield line(
            f"{counts.of(len(group.pods), 'pod')} of {group.owner or 'no controller'}{preempted}: {names}", indent=2
        )
        yield from notices.kubernetes_line(group.message, 4)
    yield from notices.rest(len(worst.groups) - _REASONS)
    yield Line((Span("next: ", "hint"), Span(worst.command)), hang=6)


def _last(report: NodeLossReport, wide: bool) -> Iterator[Block]:
    yield from notices.what_if(report.metadata.what_if)
    yield from notices.assumptions(report.guesses)
    yield from notices.not_known(report.metadata.missing)
    if report.summary.pending_before:
        number = counts.of(report.summary.pending_before, "pod")
        verb = "is" if report.summary.pending_before == 1 else "are"
        yield notices.note(f"{number} {verb} pending already and not counted: `{report.pending_command}`")
    yield notices.end(report.metadata, wide=wide)

"""A sweep for people: how many scenarios have an answer, how their numbers are distributed, and the worst of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from schedctl.render import notices
from schedctl.render.layout import ALL, BLANK, Block, Cell, Line, Span, Table, line
from schedctl.reports import counts
from schedctl.reports.draws import Distribution
from schedctl.reports.sweeps import SweepCase, SweepReport

_FEW = 10
_HEADS = ("MEAN", "LEAST", "5 %", "MEDIAN", "95 %", "MOST")


def lines(report: SweepReport, *, wide: bool = False, limit: int = 0) -> Iterator[Block]:
    """Yield the report as lines and tables.

    Args:
        report: what to tell.
        wide: show every group and number.
        limit: show so many groups, numbers and pods, 0 for what suits.
    """
    entries = limit or (ALL if wide else _FEW)
    yield answer(report)
    for error, number in list(report.errors.items())[:entries]:
        yield Line((Span(f"{counts.of(number, 'scenario')}: ", "bad"), Span(error)), 2, hang=2)
    if report.groups:
        yield BLANK
        yield from _groups(report, entries)
    if report.values:
        yield BLANK
        yield line("over all scenarios", "strong")
        rows = [_row(name, values) for name, values in list(report.values.items())[:entries]]
        yield Table(rows, 2, ("", *_HEADS), frozenset(range(1, 7)))
        yield from notices.rest(len(report.values) - entries)
    yield from _worst(report.worst, report.decisive)
    if report.pending:
        yield BLANK
        yield line("pending in some scenario", "strong")
        shares = [f"{each.pod} in {each.scenarios}" for each in report.pending]
        yield line(notices.few(shares, entries), indent=2)
    yield BLANK
    yield notices.note(f"a line for each scenario: {report.results}")
    yield notices.end(report.metadata, wide=wide)


def answer(report: SweepReport) -> Line:
    """Return in a line how many scenarios have an answer."""
    summary = report.summary
    complete = summary.answered + summary.failed == summary.scenarios
    text = f"study {report.study}: {summary.answered} of {counts.of(summary.scenarios, 'scenario')} answered"
    spans = [Span(text, "good" if complete and not summary.failed else "bad")]
    if summary.failed:
        spans.append(Span(f"; {summary.failed} failed", "bad"))
    if summary.resumed:
        spans.append(Span(f"; {summary.resumed} of them in an earlier run"))
    return Line(spans)


def _groups(report: SweepReport, entries: int) -> Iterator[Block]:
    by_axis: dict[str, list[tuple[Sequence[Cell], float]]] = {}
    for group in report.groups:
        row = [*_row(str(group.value), group.distribution)]
        by_axis.setdefault(group.axis, []).append((row, group.distribution.mean))
    for axis, rows in by_axis.items():
        yield line(f"{report.decisive}, by {axis}", "strong")
        yield Table([row for row, _ in rows[:entries]], 2, ("", *_HEADS), frozenset(range(1, 7)))
        yield from notices.rest(len(rows) - entries)


def _row(name: str, values: Distribution) -> Sequence[Cell]:
    numbers = (values.mean, values.lowest, values.q05, values.median, values.q95, values.highest)
    return [(Span(name),), *((Span(f"{number:.6g}"),) for number in numbers)]


def _worst(cases: Sequence[SweepCase], decisive: str) -> Iterator[Block]:
    if not cases or (len({each.value for each in cases}) == 1 and not any(each.pending for each in cases)):
        return
    yield BLANK
    yield line(f"worst scenarios, by {decisive}", "strong")
    for each in cases:
        yield Line((Span(f"{each.value:g}  ", "bad"), Span(_called(each.axes))), 2, hang=4)
        yield Line((Span(each.command),), 4, whole=True)


def _called(axes: Mapping[str, str | int]) -> str:
    return ", ".join(f"{name} {value}" for name, value in axes.items()) or "the only scenario"

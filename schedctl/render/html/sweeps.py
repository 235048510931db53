"""``schedctl sweep`` as a page: curves of metrics, how numbers are spread, and the worst scenarios."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.render import sweeps as texts
from schedctl.render.html import fixes
from schedctl.render.html.markup import Content, Markup, element
from schedctl.render.html.page import Page, Section
from schedctl.render.html.plain_text import as_text
from schedctl.render.html.svg.bars import bar
from schedctl.render.html.svg.curves import Curve, Point, curves
from schedctl.render.html.svg.spreads import spread
from schedctl.render.html.tables import Column, Value, table
from schedctl.reports import counts
from schedctl.reports.draws import Distribution
from schedctl.reports.sweeps import SweepCurve, SweepReport

_SHOWN = 40
_NUMBERS = (
    Column("Mean", "number"),
    Column("Least", "number"),
    Column("5 %", "number"),
    Column("Median", "number"),
    Column("95 %", "number"),
    Column("Most", "number"),
)


def page(report: SweepReport) -> Page:
    """Return the page of a report."""
    summary = report.summary
    complete = summary.answered + summary.failed == summary.scenarios
    verdict = f"{summary.answered} of {counts.of(summary.scenarios, 'scenario')} answered"
    if summary.failed:
        verdict += f", {summary.failed} failed"
    style = "good" if complete and not summary.failed else "bad"
    lead = f"{report.decisive} decides which scenario is the worst; a line for each is in {report.results}."
    return Page("sweep", f"study {report.study}", verdict, style, report.metadata, lead, [*_sections(report)])


def _sections(report: SweepReport) -> Iterator[Section]:
    if report.errors:
        items = [element("li", f"{counts.of(number, 'scenario')}: {text}") for text, number in report.errors.items()]
        yield Section("Why scenarios failed", element("ul", items))
    yield from _curves(report)
    for axis in dict.fromkeys(each.axis for each in report.groups):
        groups = [(str(each.value), each.distribution) for each in report.groups if each.axis == axis]
        yield Section(f"{report.decisive}, by {axis}", _distributions(report.decisive, axis, groups), _READING)
    worst = report.worst
    if worst:
        yield Section("The worst scenarios", _worst(report), "Each command repeats one of them.")
    if report.pending:
        yield Section("Pending in some scenario", _pending(report))
    if report.values:
        rows = [(name, values) for name, values in report.values.items()]
        yield Section("Every number over all scenarios", _table("Every number", "Number", rows), folded=True)
    yield Section("The same as text", as_text(texts.lines(report, wide=True)), folded=True)


_READING = "The thin line is from the least to the most, the thick one holds nine of ten, the mark is the median."


def _curves(report: SweepReport) -> Iterator[Section]:
    """Yield the curves, that of the decisive number first and open."""
    decisive = report.decisive.rpartition("@")[0]
    metrics = sorted(dict.fromkeys(each.metric for each in report.curves), key=lambda name: name != decisive)
    for number, metric in enumerate(metrics):
        found = [each for each in report.curves if each.metric == metric]
        across = f"{report.arrived} that has arrived, % of the capacity"
        drawn = [Curve(_name(each), [Point(*point) for point in _points(each)]) for each in found]
        by = f", by {found[0].axis}" if found[0].axis else ""
        yield Section(
            f"{metric} over time{by}",
            [curves(drawn, across, metric), _points_table(metric, found)],
            "Lines are means; behind each is the spread from the least to the most of its scenarios.",
            folded=number > 0,
        )


def _name(curve: SweepCurve) -> str:
    return str(curve.value) if curve.axis else "all scenarios"


def _points(curve: SweepCurve) -> Iterator[tuple[float, float, float, float]]:
    return ((each.at, each.mean, each.lowest, each.highest) for each in curve.points)


def _points_table(metric: str, found: Sequence[SweepCurve]) -> Markup:
    shares = sorted({point.at for curve in found for point in curve.points})
    columns = (Column("Arrived", "number"), *(Column(_name(each), "number") for each in found))
    means = [{point.at: point.mean for point in each.points} for each in found]
    rows: list[Sequence[Content | Value]] = [
        [Value(f"{at} %", at), *(_number(each[at]) if at in each else "" for each in means)] for at in shares
    ]
    made = table(f"Means of {metric} by what has arrived", columns, rows)
    return element("details", element("summary", "The numbers"), made)


def _distributions(decisive: str, axis: str, groups: Sequence[tuple[str, Distribution]]) -> Markup:
    least = min(each.lowest for _, each in groups)
    most = max(each.highest for _, each in groups)
    rows: list[Sequence[Content | Value]] = [
        [name, spread(each, least, most), *map(_number, _values(each))] for name, each in groups
    ]
    columns = (Column(axis, "name"), Column("From the least to the most", "picture"), *_NUMBERS)
    return table(f"{decisive} by {axis}", columns, rows, shown=_SHOWN)


def _table(caption: str, title: str, named: Sequence[tuple[str, Distribution]]) -> Markup:
    rows: list[Sequence[Content | Value]] = [[name, *map(_number, _values(each))] for name, each in named]
    return table(caption, (Column(title, "name"), *_NUMBERS), rows)


def _worst(report: SweepReport) -> Markup:
    rows: list[Sequence[Content | Value]] = [
        [
            Value(str(each.scenario), each.scenario),
            ", ".join(f"{name} {value}" for name, value in each.axes.items()),
            _number(each.value),
            fixes.command(each.command),
        ]
        for each in report.worst
    ]
    columns = (Column("Scenario", "number"), Column("Has"), Column(report.decisive, "number"), Column("Repeated by"))
    return table("The worst scenarios", columns, rows)


def _pending(report: SweepReport) -> Markup:
    rows: list[Sequence[Content | Value]] = [
        [each.pod, bar(each.scenarios, report.summary.answered, "bad"), Value(f"{each.scenarios:,}", each.scenarios)]
        for each in report.pending
    ]
    return table(
        "Pods that are pending in some scenario",
        (Column("Pod", "name"), Column("Of all scenarios", "picture"), Column("Scenarios", "number")),
        rows,
    )


def _values(values: Distribution) -> tuple[float, ...]:
    return values.mean, values.lowest, values.q05, values.median, values.q95, values.highest


def _number(value: float) -> Value:
    return Value(f"{value:,.6g}", value)

"""``schedctl sweep`` as a page: curves of metrics, how numbers are distributed by each axis, the worst scenarios."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from schedctl.render import sweeps as texts
from schedctl.render.html.fixes import command
from schedctl.render.html.markup import Content, Markup, element
from schedctl.render.html.page import Page, Section
from schedctl.render.html.plain_text import as_text
from schedctl.render.html.svg.bars import bar
from schedctl.render.html.svg.curves import Curve, Point, curves
from schedctl.render.html.svg.spans import span
from schedctl.render.html.tables import Column, Value, table
from schedctl.reports import counts
from schedctl.reports.draws import Distribution
from schedctl.reports.sweeps import SweepCase, SweepCurve, SweepGroup, SweepReport

_SHOWN = 200
_HEADS = ("Mean", "Least", "5 %", "Median", "95 %", "Most")


def page(report: SweepReport) -> Page:
    """Return the page of a report."""
    summary = report.summary
    whole = summary.answered == summary.scenarios
    decisive = report.values.get(report.decisive)
    verdict = f"{summary.answered} of {counts.of(summary.scenarios, 'scenario')} answered"
    if summary.failed:
        verdict += f", {summary.failed} failed"
    if whole and decisive is not None:
        numbers = f"{_text(decisive.lowest)} to {_text(decisive.highest)}"
        verdict = f"{report.decisive}: {numbers} over {counts.of(summary.scenarios, 'scenario')}"
    return Page(
        "sweep",
        f"study {report.study}: {report.question}",
        verdict,
        "" if whole else "bad" if summary.failed else "unsure",
        report.metadata,
        _lead(report),
        [*_sections(report)],
    )


def _lead(report: SweepReport) -> str:
    decisive = report.values.get(report.decisive)
    if decisive is None:
        return ""
    number = f"{report.decisive} is {_text(decisive.mean)} on average, and at most {_text(decisive.q95)} in 19 of 20"
    text = f"{number[:1].upper()}{number[1:]}."
    if report.worst:
        text += f" The worst: {_name(report.worst[0].axes)}."
    return text


def _sections(report: SweepReport) -> Iterator[Section]:
    if report.errors:
        rows: list[Sequence[Content | Value]] = [
            [Value(number, number), error] for error, number in report.errors.items()
        ]
        columns = (Column("Scenarios", "number"), Column("Why"))
        yield Section("Scenarios without an answer", table("Scenarios without an answer", columns, rows, shown=_SHOWN))
    yield from _curves(report)
    by_axis: dict[str, list[SweepGroup]] = {}
    for group in report.groups:
        by_axis.setdefault(group.axis, []).append(group)
    for axis, groups in by_axis.items():
        made = _distributions(
            f"{report.decisive} by {axis}", axis.capitalize(), [(str(each.value), each.distribution) for each in groups]
        )
        yield Section(f"{report.decisive.capitalize()}, by {axis}", [_legend(), made])
    if report.worst:
        yield Section("The worst scenarios", _worst(report.worst, report.decisive), f"By {report.decisive}.")
    if report.pending:
        yield Section("Pods that are ever pending", _pending(report))
    if report.values:
        lead = "Each on a scale of its own."
        yield Section("Every number, over all scenarios", [_legend(), _numbers(report.values)], lead)
    yield Section("Every scenario", element("p", "A line for each scenario: ", element("code", report.results)))
    yield Section("The same as text", as_text(texts.lines(report)), folded=True)


def _curves(report: SweepReport) -> Iterator[Section]:
    """Yield the curves, that of the decisive number first and open."""
    decisive = report.decisive.rpartition("@")[0]
    metrics = sorted(dict.fromkeys(each.metric for each in report.curves), key=lambda name: name != decisive)
    for number, metric in enumerate(metrics):
        found = [each for each in report.curves if each.metric == metric]
        across = f"{report.arrived} that has arrived, % of the capacity"
        drawn = [
            Curve(_side(each), [Point(point.at, point.mean, point.lowest, point.highest) for point in each.points])
            for each in found
        ]
        by = f", by {found[0].axis}" if found[0].axis else ""
        yield Section(
            f"{metric} over time{by}",
            [curves(drawn, across, metric), _points(metric, found)],
            "Lines are means; behind each is the spread from the least to the most of its scenarios.",
            folded=number > 0,
        )


def _side(curve: SweepCurve) -> str:
    return str(curve.value) if curve.axis else "all scenarios"


def _points(metric: str, found: Sequence[SweepCurve]) -> Markup:
    shares = sorted({point.at for curve in found for point in curve.points})
    columns = (Column("Arrived", "number"), *(Column(_side(each), "number") for each in found))
    means = [{point.at: point.mean for point in each.points} for each in found]
    rows: list[Sequence[Content | Value]] = [
        [Value(f"{at} %", at), *(Value(_text(each[at]), each[at]) if at in each else "" for each in means)]
        for at in shares
    ]
    made = table(f"Means of {metric} by what has arrived", columns, rows)
    return element("details", element("summary", "The numbers"), made)


def _legend() -> Markup:
    keys = (("whisker", "from the least to the most"), ("fill", "nine of ten scenarios"), ("mark", "the median"))
    return element(
        "ul", [element("li", element("span", class_=f"key {key}"), text) for key, text in keys], class_="legend"
    )


def _distributions(caption: str, title: str, named: Sequence[tuple[str, Distribution]]) -> Markup:
    low = min((each.lowest for _, each in named), default=0.0)
    high = max((each.highest for _, each in named), default=0.0)
    rows = [_row(name, values, low, high) for name, values in named]
    return table(caption, _columns(title), rows, shown=_SHOWN)


def _numbers(values: Mapping[str, Distribution]) -> Markup:
    rows = [_row(name, each, each.lowest, each.highest) for name, each in values.items()]
    return table("Every number, over all scenarios", _columns("Number"), rows, shown=_SHOWN)


def _columns(title: str) -> Sequence[Column]:
    return (Column(title, "name"), Column("Distribution", "picture"), *(Column(head, "number") for head in _HEADS))


def _row(name: str, values: Distribution, low: float, high: float) -> Sequence[Content | Value]:
    numbers = (values.mean, values.lowest, values.q05, values.median, values.q95, values.highest)
    return [name, span(values, low, high), *(Value(_text(number), number) for number in numbers)]


def _worst(cases: Sequence[SweepCase], decisive: str) -> Markup:
    rows: list[Sequence[Content | Value]] = [
        [
            Value(element("b", _text(each.value)), each.value),
            [_name(each.axes), command(each.command)],
            [element("p", pod) for pod in each.pending[:10]] or "none",
        ]
        for each in cases
    ]
    columns = (Column(decisive.capitalize(), "number"), Column("Scenario"), Column("Pending pods", "name"))
    return table("The worst scenarios", columns, rows, shown=_SHOWN)


def _pending(report: SweepReport) -> Markup:
    answered = report.summary.answered
    rows: list[Sequence[Content | Value]] = [
        [each.pod, bar(each.scenarios, answered, "bad"), Value(f"{each.scenarios:,}", each.scenarios)]
        for each in report.pending
    ]
    columns = (Column("Pod", "name"), Column(f"Pending in, of {answered:,}", "picture"), Column("Scenarios", "number"))
    return table("Pods that are ever pending", columns, rows, shown=_SHOWN)


def _text(number: float) -> str:
    return f"{number:.6g}"


def _name(axes: Mapping[str, str | int]) -> str:
    return ", ".join(f"{name} {value}" for name, value in axes.items()) or "the only scenario"

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
_NAMED = 3
_PODS = 10
_MANY = 20
"""Of fewer scenarios no shares such as 19 of 20 are told."""
_LOSSES, _NOTHING = "lose", "nothing"
"""The axis of losses, and its value for none."""
_HEADS = ("Mean", "Least", "5 %", "Median", "95 %", "Most")


def page(report: SweepReport) -> Page:
    """Return the page of a report."""
    summary = report.summary
    whole = summary.answered == summary.scenarios
    verdict = f"{summary.answered} of {counts.of(summary.scenarios, 'scenario')} answered"
    if summary.failed:
        verdict += f", {summary.failed} failed"
    if whole and report.decisive in report.values:
        verdict = _comparison(report)
    return Page(
        "sweep",
        f"study {report.study}: {report.question}",
        verdict,
        "" if whole else "bad" if summary.failed else "unsure",
        report.metadata,
        _lead(report),
        [*_sections(report)],
    )


def _by_axis(report: SweepReport) -> dict[str, list[SweepGroup]]:
    found: dict[str, list[SweepGroup]] = {}
    for group in report.groups:
        found.setdefault(group.axis, []).append(group)
    return found


def _matters(groups: Sequence[SweepGroup]) -> bool:
    """Return whether the decisive number differs between the values of an axis."""
    return any(each.distribution != groups[0].distribution for each in groups)


def _comparison(report: SweepReport) -> str:
    """Return the decisive number for the alternatives of the first axis that makes a difference."""
    number, overall = _number(report.decisive), report.values[report.decisive]
    groups = next((each for each in _by_axis(report).values() if _matters(each)), None)
    if groups is None:
        return f"{_range([overall])} {number} in every scenario"
    without = [each.distribution for each in groups if each.value == _NOTHING]
    others = [each.distribution for each in groups if each.value != _NOTHING]
    if groups[0].axis == _LOSSES and without:
        return f"a loss leaves {_range(others)} {number}; {_range(without)} without a loss"
    alternatives: dict[str, list[str]] = {}
    for each in sorted(groups, key=lambda each: each.distribution.mean):
        alternatives.setdefault(_range([each.distribution]), []).append(str(each.value))
    parts = [f"{numbers} with {' or '.join(values[:_NAMED])}" for numbers, values in alternatives.items()]
    shown = parts if len(parts) <= _NAMED else [parts[0], parts[-1]]
    return f"{number}: {', '.join(shown)}"


def _number(decisive: str) -> str:
    return "pods pending" if decisive == "pending" else decisive


def _range(found: Sequence[Distribution]) -> str:
    low, high = min(each.lowest for each in found), max(each.highest for each in found)
    return _text(low) if low == high else f"{_text(low)} to {_text(high)}"


def _lead(report: SweepReport) -> str:
    """Return what makes no difference, the average where there are enough scenarios for one, and the worst."""
    decisive = report.values.get(report.decisive)
    if decisive is None:
        return ""
    sentences = [
        f"The {axis} makes no difference to these numbers ({len(groups)} tried)."
        for axis, groups in _by_axis(report).items()
        if len(groups) > 1 and not _matters(groups)
    ]
    if report.summary.answered >= _MANY:
        number = f"{_text(decisive.mean)} on average, at most {_text(decisive.q95)} in 19 of 20 scenarios"
        sentences.append(f"{report.decisive[:1].upper()}{report.decisive[1:]}: {number}.")
    if report.worst and decisive.lowest < decisive.highest:
        name, value = _name(report.worst[0].axes), _text(report.worst[0].value)
        sentences.append(f"The worst of {report.summary.answered} scenarios: {name} ({value}).")
    return " ".join(sentences)


def _sections(report: SweepReport) -> Iterator[Section]:
    if report.errors:
        rows: list[Sequence[Content | Value]] = [
            [Value(number, number), error] for error, number in report.errors.items()
        ]
        columns = (Column("Scenarios", "number"), Column("Why"))
        yield Section("Scenarios without an answer", table("Scenarios without an answer", columns, rows, shown=_SHOWN))
    yield from _curves(report)
    for axis, groups in _by_axis(report).items():
        title = f"{report.decisive[:1].upper()}{report.decisive[1:]}, by {'loss' if axis == _LOSSES else axis}"
        if _matters(groups):
            yield Section(title, _alternatives(title, axis, groups))
    if report.worst:
        yield Section("The worst scenarios", _worst(report.worst, report.decisive), f"By {report.decisive}.")
    if report.pending:
        yield Section("Pods that are ever pending", _pending(report))
    if report.values:
        lead = "Each on a scale of its own."
        yield Section("Every number, over all scenarios", [_legend(), _numbers(report.values)], lead, folded=True)
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


def _alternatives(caption: str, axis: str, groups: Sequence[SweepGroup]) -> Content:
    """Return the decisive number for each value of an axis, drawn from 0; of few scenarios as bars of their means."""
    low = min(0.0, *(each.distribution.lowest for each in groups))
    high = max(0.0, *(each.distribution.highest for each in groups))
    if any(each.scenarios >= _MANY for each in groups):
        spans = [_row(str(each.value), each.distribution, low, high) for each in groups]
        return [_legend(), table(caption, _columns(axis.capitalize()), spans, shown=_SHOWN)]
    rows: list[Sequence[Content | Value]] = []
    for each in groups:
        found = each.distribution
        numbers = (found.mean, found.lowest, found.highest)
        picture = bar(found.mean - low, high - low)
        rows.append([str(each.value), picture, *(Value(_text(number), number) for number in numbers), each.scenarios])
    heads = ("Mean", "Least", "Most", "Scenarios")
    columns = (
        Column(axis.capitalize(), "name"),
        Column("Mean", "picture"),
        *(Column(head, "number") for head in heads),
    )
    return table(caption, columns, rows, shown=_SHOWN)


def _numbers(values: Mapping[str, Distribution]) -> Markup:
    rows = [_row(name, each, each.lowest, each.highest) for name, each in values.items()]
    return table("Every number, over all scenarios", _columns("Number"), rows, shown=_SHOWN)


def _columns(title: str) -> Sequence[Column]:
    return (Column(title, "name"), Column("Distribution", "picture"), *(Column(head, "number") for head in _HEADS))


def _row(name: str, values: Distribution, low: float, high: float) -> Sequence[Content | Value]:
    numbers = (values.mean, values.lowest, values.q05, values.median, values.q95, values.highest)
    return [name, span(values, low, high), *(Value(_text(number), number) for number in numbers)]


def _worst(cases: Sequence[SweepCase], decisive: str) -> Markup:
    alike: dict[tuple[float, tuple[str, ...]], list[SweepCase]] = {}
    for each in cases:
        alike.setdefault((each.value, tuple(each.pending)), []).append(each)
    rows: list[Sequence[Content | Value]] = []
    for (value, pods), (first, *others) in alike.items():
        same = element("p", f"and the same: {'; '.join(_name(each.axes) for each in others)}", class_="rest")
        scenario = [_name(first.axes), command(first.command), same if others else None]
        pending = [element("p", pod) for pod in pods[:_PODS]] or "none"
        rows.append([Value(element("b", _text(value)), value), scenario, pending])
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

"""``schedctl capacity`` as a page: how many more pods would fit, where they would go, and what stops the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.api.amounts import amount, quantity
from schedctl.render import capacities as texts
from schedctl.render import notices
from schedctl.render.html import causes, fixes, node_maps
from schedctl.render.html.markup import Content, Markup, element
from schedctl.render.html.node_maps import Category, NodeAnswers
from schedctl.render.html.page import Page, Section, doubt
from schedctl.render.html.plain_text import as_text
from schedctl.render.html.svg.bars import bar
from schedctl.render.html.tables import Column, Value, table
from schedctl.reports import counts
from schedctl.reports.capacities import NODE, CapacityReport, CapacityResult, Grouping
from schedctl.reports.node_maps import NodeMap

_SHOWN = 40
_NAMED = 4
_MAPS = 4
"""How many kinds of pods have a map of their own."""


def page(report: CapacityReport) -> Page:
    """Return the page of a report."""
    results = report.results
    data = {}
    if report.node_map is not None:
        maps = [node_maps.answers_data(report.node_map, _answers(each)) for each in results[:_MAPS]]
        data = {"nodes": node_maps.data(report.node_map), "maps": maps}
    one = results[0] if len(results) == 1 else None
    if one is not None:
        subject, verdict, style = one.subject, *_verdict(one)
        lead = _requests(one)
    else:
        subject = f"{report.summary.pods} kinds of pods"
        verdict = _verdict_on_several(report)
        fitting = report.summary.fitting
        style = "good" if fitting == report.summary.pods else "unsure" if fitting else "bad"
        lead = "Each is counted alone, on the cluster as it is."
    return Page("capacity", subject, verdict, style, report.metadata, lead, [*_sections(report)], data)


def _verdict_on_several(report: CapacityReport) -> str:
    """Return how many more of each kind would fit, of many kinds of how many there is room."""
    if len(report.results) > _NAMED:
        return f"more would fit of {report.summary.fitting} of {report.summary.pods} kinds"
    each_kind = []
    for result in report.results:
        least = "at least " if result.limited else ""
        number = f"{least}{result.fits:,} more" if result.fits else "no more"
        each_kind.append(f"{number} {result.subject}" if not result.error else f"{result.subject} cannot be decided")
    return f"{', '.join(each_kind)} would fit"


def _why_no_more(result: CapacityResult) -> Content:
    """Return in short what stops the next one."""
    if result.stop is None:
        return result.quota or ("counting stopped there" if result.limited else "")
    room = f"preempting {counts.of(result.stop.victims, 'pod')} would make room" if result.stop.nominated_node else ""
    why = [notices.cause([reason]) for reason in result.stop.reasons[:_NAMED]] or [result.stop.message]
    return [element("p", each) for each in (room, *why) if each]


def _verdict(result: CapacityResult) -> tuple[str, str]:
    if result.error:
        return "cannot be decided", "unsure"
    noun, verb = ("group", "start") if result.group_size else ("pod", "fit")
    if not result.fits:
        evicting = " without evicting others" if result.stop is not None and result.stop.nominated_node else ""
        return f"no more {noun}s would {verb}{evicting}", "bad"
    least = "at least " if result.limited else ""
    return f"{least}{result.fits:,} more {noun}{'' if result.fits == 1 else 's'} would {verb}", "good"


def _requests(result: CapacityResult) -> str:
    requests = ", ".join(f"{name} {quantity(name, value)}" for name, value in result.requests.items())
    sentence = f"Each requests {requests}." if requests else "They request nothing."
    if result.within_quota is not None:
        sentence += f" The ResourceQuota of the namespace allows {result.within_quota}."
    if result.limited:
        sentence += f" Counting stopped there, though more might {'start' if result.group_size else 'fit'}: see --max."
    return f"{result.error}." if result.error else sentence


def _sections(report: CapacityReport) -> Iterator[Section]:
    known = doubt(report.guesses)
    if known:
        yield Section("Not certain", known)
    if len(report.results) > 1:
        yield Section("Answers", _table(report.results))
    for number, result in enumerate(report.results):
        parts = [*_parts(result, report.node_map if number < _MAPS else None, number)]
        if len(report.results) == 1:
            yield from parts
        else:
            inner = [element("div", element("h3", each.title), each.content, class_="part") for each in parts]
            yield Section(result.subject, inner, folded=True)
    yield Section("The same as text", as_text(texts.lines(report)), folded=True)


def _table(results: Sequence[CapacityResult]) -> Markup:
    most = max(each.fits for each in results)
    rows: list[Sequence[Content | Value]] = [
        [
            each.subject,
            bar(each.fits, most, "good"),
            Value(f"{each.fits:,}", each.fits),
            _why_no_more(each),
            _requests(each),
        ]
        for each in results
    ]
    columns = (
        Column("Pod", "name"),
        Column("More that would fit", "picture"),
        Column("Fit", "number"),
        Column("Why no more"),
        Column("Each"),
    )
    return table("How many more pods would fit", columns, rows)


def _parts(result: CapacityResult, nodes: NodeMap | None, number: int) -> Iterator[Section]:
    if result.stop is not None:
        reasons = [causes.causes(result.stop.reasons), fixes.command(result.stop.message)]
        yield Section(texts.why_no_more(result), reasons, "Without evictions:" if result.stop.nominated_node else "")
    if nodes is not None and result.fits:
        yield Section(
            "Where they would go", [node_maps.figure(nodes, _answers(result), number), node_maps.node_list(number)]
        )
    for grouping in result.by:
        if result.fits and grouping.groups:
            yield Section(f"By {grouping.label.rpartition('/')[2]}", _groups(grouping))
    if result.largest:
        yield Section("The largest pod that would fit", _largest(result), "One resource is changed at a time.")
    notes = [element("li", text) for text in (*(each.text for each in result.warnings), *result.notes)]
    if notes:
        yield Section("Notes", element("ul", notes))


def _groups(grouping: Grouping) -> Markup:
    groups = sorted(grouping.groups, key=lambda group: -group.fits) if grouping.label == NODE else grouping.groups
    most = max(group.fits for group in groups)
    rows: list[Sequence[Content | Value]] = [
        [
            each.name or "none",
            bar(each.fits, most, "good"),
            Value(f"{each.fits:,}", each.fits),
            f"{each.used} of {each.nodes}",
        ]
        for each in groups
    ]
    key = grouping.label.rpartition("/")[2].capitalize()
    columns = (
        Column(key, "name"),
        Column("More that would fit", "picture"),
        Column("Fit", "number"),
        Column("Nodes used"),
    )
    return table(f"How many more pods would fit by {grouping.label}", columns, rows, shown=_SHOWN)


def _largest(result: CapacityResult) -> Markup:
    rows: list[Sequence[Content | Value]] = []
    counted = not result.limited and result.fits > 0
    for one in result.largest:
        most = max(one.requested, one.alone or 0, one.after or 0, 1)
        now, after = ("none" if value is None else quantity(one.resource, value) for value in (one.alone, one.after))
        picture = bar(one.alone or 0, most, "good", mark=one.requested)
        row: list[Content | Value] = [one.resource, picture, amount(one.resource, one.requested), now]
        rows.append([*row, after] if counted else row)
    columns = [
        Column("Resource", "name"),
        Column("Fits now; the mark is what is requested", "picture"),
        Column("Requested", "number"),
        Column("Fits now", "number"),
        *([Column("Fits after these", "number")] if counted else []),
    ]
    return table("The largest pod that would fit", columns, rows)


def _answers(result: CapacityResult) -> NodeAnswers:
    """Return how many pods each node takes, as a few steps of it."""
    most = max(result.nodes.values(), default=0)
    steps = [
        Category("takes the most", "chosen"),
        Category("takes some", "feasible"),
        Category(f"not used by the first {result.fits:,}" if result.limited else "takes none", "unseen"),
    ]
    category_of = {name: 0 if number == most else 1 for name, number in result.nodes.items() if number}
    details = {name: counts.of(number, "more pod") for name, number in result.nodes.items() if number}
    return NodeAnswers(steps, category_of, details)

"""``schedctl nodes`` as a page: which nodes would have to be added, or which can go, and how good that answer is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.render import nodes as texts
from schedctl.render.html import karpenter, node_maps, scale_downs, scale_ups
from schedctl.render.html.markup import Content, Markup, element
from schedctl.render.html.node_maps import NodeAnswers
from schedctl.render.html.page import Page, Section, doubt
from schedctl.render.html.plain_text import as_text
from schedctl.render.html.svg.bars import stack
from schedctl.render.html.tables import Column, Value, table
from schedctl.reports import counts
from schedctl.reports.nodes import GroupResult, NodesQuestion, NodesReport

_SHOWN = 200


def page(report: NodesReport) -> Page:
    """Return the page of a report."""
    summary = report.summary
    adding = report.question is NodesQuestion.ADD
    first, *more = ("".join(span.text for span in line.spans) for line in (*texts.answer(report), *texts.proof(report)))
    lead = f"{'. '.join(f'{each[:1].upper()}{each[1:]}' for each in more)}." if more else ""
    answers = scale_ups.answers(report) if adding else scale_downs.answers(report)
    data = {}
    if report.node_map is not None:
        data = {"nodes": node_maps.data(report.node_map), "maps": [node_maps.answers_data(report.node_map, answers)]}
    if adding:
        subject, style = f"nodes for {counts.of(summary.pods, 'pod')}", "bad" if summary.pending else "good"
    else:
        subject, style = "nodes to give back", _style_of_shrink(report)
    style = "unsure" if summary.interrupted else style
    return Page("nodes", subject, first, style, report.metadata, lead, [*_sections(report, answers)], data)


def _style_of_shrink(report: NodesReport) -> str:
    if not report.summary.removed:
        return "bad"
    harm = report.preempted or report.summary.waiting or any(each.lost for each in report.nodes)
    return "unsure" if harm else "good"


def _sections(report: NodesReport, answers: NodeAnswers) -> Iterator[Section]:
    adding = report.question is NodesQuestion.ADD
    known = doubt(report.guesses)
    if known:
        yield Section("Not certain", known)
    yield from scale_ups.answer(report) if adding else scale_downs.answer(report)
    yield from karpenter.answer(report.karpenter)
    if report.groups:
        yield Section("Groups of nodes", [_legend(report.groups, adding=adding), _groups(report.groups, adding=adding)])
    if report.node_map is not None:
        lead = "The cluster with the plan carried out." if adding else "The cluster with the pods where they would go."
        figure = node_maps.figure(report.node_map, answers)
        yield Section("Nodes", [figure, node_maps.node_list(0)], lead)
    yield from scale_ups.details(report) if adding else scale_downs.details(report)
    yield from karpenter.details(report.karpenter)
    notes = [f"group {group.name}: {note}" for group in report.groups for note in group.notes]
    if notes or report.notes:
        yield Section("Notes", element("ul", [element("li", note) for note in dict.fromkeys([*report.notes, *notes])]))
    yield Section("The same as text", as_text(texts.lines(report)), folded=True)


def _legend(groups: Sequence[GroupResult], *, adding: bool) -> Markup:
    keys = [("fill", "there now" if adding else "stay")]
    keys.append(("added", "would be added") if adding else ("freed", "can go"))
    if any(each.max_size is not None for each in groups):
        keys.append(("mark", "the most a group may have"))
    return element(
        "ul", [element("li", element("span", class_=f"key {key}"), text) for key, text in keys], class_="legend"
    )


def _groups(groups: Sequence[GroupResult], *, adding: bool) -> Markup:
    most = max((max(each.nodes + each.count, each.max_size or 0) for each in groups), default=1)
    rows: list[Sequence[Content | Value]] = []
    for each in sorted(groups, key=lambda each: (-each.count - each.remove, -each.nodes, each.name)):
        parts = [(each.nodes - each.remove, "fill"), (each.count, "added"), (each.remove, "freed")]
        after = each.nodes + each.count - each.remove
        rows.append(
            [
                each.name,
                stack(parts, most, each.max_size),
                Value(f"{each.nodes:,}", each.nodes),
                Value(element("b", f"{after:,}") if after != each.nodes else f"{after:,}", after),
                _sizes(each),
                each.origin,
            ]
        )
    columns = (
        Column("Group", "name"),
        Column("Nodes it would have" if adding else "Nodes that stay and that can go", "picture"),
        Column("Now", "number"),
        Column("Then", "number"),
        Column("Allowed"),
        Column("Found by"),
    )
    return table("Groups of nodes", columns, rows, shown=_SHOWN)


def _sizes(group: GroupResult) -> str:
    if group.max_size is None:
        return f"at least {group.min_size}" if group.min_size else "no limit known"
    return f"{group.min_size} to {group.max_size}"

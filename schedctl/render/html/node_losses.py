"""``schedctl n-1`` as a page: which losses would leave pods pending, the worst first, and which pods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.render import node_losses as texts
from schedctl.render import notices
from schedctl.render.html import node_maps
from schedctl.render.html.fixes import command
from schedctl.render.html.markup import Content, Markup, element
from schedctl.render.html.node_maps import Category, NodeAnswers
from schedctl.render.html.page import Page, Section, doubt
from schedctl.render.html.plain_text import as_text
from schedctl.render.html.svg.bars import stack
from schedctl.render.html.tables import Column, Value, table
from schedctl.reports import counts
from schedctl.reports.node_losses import LossResult, NodeLossReport, PendingAfterLoss

_SHOWN = 200
_NAMED = 3
_NODE = "node"


def page(report: NodeLossReport) -> Page:
    """Return the page of a report."""
    summary = report.summary
    data = {}
    if report.node_map is not None:
        maps = [node_maps.answers_data(report.node_map, _answers(report.results))]
        data = {"nodes": node_maps.data(report.node_map), "maps": maps}
    style = "bad" if summary.leaving_pending else "unsure" if summary.failed else "good"
    subject = f"{texts.losses_by_kind(report.results)}, each lost in turn"
    verdict = texts.answer(report).spans[0].text.partition(" (")[0]
    return Page("n-1", subject, verdict, style, report.metadata, _lead(report), [*_sections(report)], data)


def _lead(report: NodeLossReport) -> str:
    return " ".join(filter(None, (_worst_in_words(report), _pending_before(report))))


def _pending_before(report: NodeLossReport) -> str:
    """Return which pods were pending before anything was lost."""
    pods = report.pending_before
    are = "is" if len(pods) == 1 else "are"
    return f"Not counted: {notices.few(pods, _NAMED)}, which {are} pending already." if pods else ""


def _worst_in_words(report: NodeLossReport) -> str:
    worst = _worst(report)
    if worst is None:
        return "Controllers make the pods of lost nodes again, and each would find another node."
    tied = [_name(each) for each in report.results if each.pending == worst.pending]
    if len(tied) > 1:
        names = " and ".join((", ".join(tied[:-1]), tied[-1])) if len(tied) <= _NAMED else notices.few(tied, _NAMED)
        return f"The worst are the losses of {names}: after each {counts.of(worst.pending, 'pod')} would be pending."
    preempted = _pending_and_preempted(worst)
    again = f"{worst.pending - preempted} of the {counts.of(worst.displaced, 'pod')} that controllers make again"
    others = f", nor would {counts.of(preempted, 'pod')} that had to make room" if preempted else ""
    return f"The worst is the loss of {_name(worst)}: {again} would find no node{others}."


def _sections(report: NodeLossReport) -> Iterator[Section]:
    known = doubt(report.guesses)
    if known:
        yield Section("Not certain", known)
    harmful = [each for each in report.results if each.pending or each.lost or each.preempted or each.error]
    if harmful:
        rest = len(report.results) - len(harmful)
        lead = f"{rest} of {len(report.results)} losses would do no harm." if rest else ""
        yield Section("Losses that would do harm, the worst first", [_legend(harmful), _losses(harmful)], lead)
    worst = _worst(report)
    if worst is not None:
        title = f"Which pods would be pending if {_name(worst)} were lost"
        yield Section(title, [_groups(worst.groups, title), command(worst.command)])
    if report.node_map is not None and any(each.by == _NODE for each in report.results):
        figure = node_maps.figure(report.node_map, _answers(report.results))
        yield Section("Nodes", [figure, node_maps.node_list(0)], "What the loss of each node alone would do.")
    others = [each for each in harmful if each is not worst and (each.pending or each.lost)]
    if others:
        yield Section("Which pods, loss by loss", _every(others), folded=True)
    yield Section("The same as text", as_text(texts.lines(report, limit=_SHOWN)), folded=True)


def _worst(report: NodeLossReport) -> LossResult | None:
    return next((each for each in report.results if each.pending), None)


def _name(loss: LossResult) -> str:
    return f"{loss.by.rpartition('/')[2]} {loss.name}"


def _pending_and_preempted(loss: LossResult) -> int:
    """Return how many of the pending pods were on other nodes, and had to make room."""
    return sum(group.preempted for group in loss.groups)


def _legend(losses: Sequence[LossResult]) -> Markup:
    preempted = [("freed", "of other nodes: would be preempted, and find no node")]
    keys = [("c1", "find no node"), *(preempted if any(map(_pending_and_preempted, losses)) else [])]
    keys.append(("feasible", "find another node"))
    return element(
        "ul", [element("li", element("span", class_=f"key {key}"), text) for key, text in keys], class_="legend"
    )


def _losses(losses: Sequence[LossResult]) -> Markup:
    most = max(each.displaced + _pending_and_preempted(each) for each in losses)
    preempting = any(each.preempted for each in losses)
    losing = any(each.lost or each.error for each in losses)
    rows: list[Sequence[Content | Value]] = []
    for each in losses:
        preempted = _pending_and_preempted(each)
        stranded = each.pending - preempted
        note: Content = element("span", each.error, class_="tag unsure") if each.error else None
        further = [Value(each.preempted, each.preempted)] if preempting else []
        if losing:
            further.append(Value([len(each.lost), note] if note else len(each.lost), len(each.lost)))
        rows.append(
            [
                Value(each.rank, each.rank),
                _name(each),
                Value(each.nodes, each.nodes),
                stack([(stranded, "bad"), (preempted, "freed"), (each.displaced - stranded, "good")], most),
                Value(each.displaced, each.displaced),
                Value(element("b", str(each.pending)) if each.pending else 0, each.pending),
                *further,
            ]
        )
    columns = [
        Column("Rank", "number"),
        Column("Loss of", "name"),
        Column("Nodes", "number"),
        Column("What becomes of pods", "picture"),
        Column("Made again", "number"),
        Column("Pending", "number"),
        *([Column("Preempted", "number")] if preempting else []),
        *([Column("Lost for good", "number")] if losing else []),
    ]
    return table("Losses that would do harm", columns, rows, shown=_SHOWN)


def _groups(groups: Sequence[PendingAfterLoss], caption: str) -> Markup:
    rows: list[Sequence[Content | Value]] = [
        [each.owner or "no controller", Value(len(each.pods), len(each.pods)), _preempted(each), each.message]
        for each in groups
    ]
    columns = (
        Column("Owner", "name"),
        Column("Pods", "number"),
        Column("Preempted", "number"),
        Column("What kube-scheduler would say"),
    )
    return table(caption, columns, rows, shown=_SHOWN)


def _preempted(group: PendingAfterLoss) -> Value:
    return Value(group.preempted, group.preempted)


def _every(losses: Sequence[LossResult]) -> Markup:
    rows: list[Sequence[Content | Value]] = []
    for each in losses:
        for group in each.groups:
            pods = [element("p", pod) for pod in group.pods[:10]]
            rest = element("p", f"{len(group.pods) - 10} more", class_="rest") if len(group.pods) > 10 else None
            rows.append([_name(each), group.owner or "no controller", [pods, rest], group.message])
        if each.lost:
            pods = [element("p", pod) for pod in each.lost[:10]]
            rows.append([_name(each), "no controller", pods, "lost: no controller makes it again"])
    columns = (Column("Loss of", "name"), Column("Owner", "name"), Column("Pods", "name"), Column("Why"))
    return table("Which pods, loss by loss", columns, rows, shown=_SHOWN)


def _answers(results: Sequence[LossResult]) -> NodeAnswers:
    """Return what the loss of each node alone would do."""
    categories = [
        Category("would leave pods pending", "c1"),
        Category("would preempt or lose pods", "c4"),
        Category("no harm", "feasible"),
        Category("no answer", "c7"),
        Category("not tried", "unseen"),
    ]
    category_of, details = {}, {}
    for each in results:
        if each.by != _NODE:
            continue
        harm = 1 if each.preempted or each.lost else 2
        category_of[each.name] = 3 if each.error else 0 if each.pending else harm
        parts = [f"{counts.of(each.displaced, 'pod')} made again, {each.pending} pending"]
        if each.preempted:
            parts.append(f"{each.preempted} preempted")
        if each.lost:
            parts.append(f"{len(each.lost)} lost for good")
        details[each.name] = each.error or ", ".join(parts)
    return NodeAnswers(categories, category_of, details)

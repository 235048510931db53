"""``schedctl explain node`` as a page: what is free on a node, which pending pods fit there, and why others do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.api.amounts import amount
from schedctl.render import node_explanations as texts
from schedctl.render import notices
from schedctl.render.html import fixes
from schedctl.render.html.markup import Content, Markup, element
from schedctl.render.html.page import Page, Section
from schedctl.render.html.plain_text import as_text
from schedctl.render.html.svg.bars import bar
from schedctl.render.html.tables import Column, Value, table
from schedctl.reports import counts
from schedctl.reports.explanations import OwnerPods
from schedctl.reports.node_explanations import NodeExplainReport, NodeExplanation

_SHOWN = 100
_NAMED = 5


def page(report: NodeExplainReport) -> Page:
    """Return the page of a report."""
    results, pending = report.results, report.summary.pending
    one = results[0] if len(results) == 1 else None
    if one is not None:
        fitting = sum(len(each.pods) for each in one.fitting)
        verdict = (
            f"{fitting} of {counts.of(pending, 'pending pod')} would fit now" if pending else "no pods are pending"
        )
        style = "good" if fitting == pending else "" if _is_healthy(one) else "unsure"
        sections = [*_sections(one)]
        subject, lead = f"node {one.node}", f"{'; '.join((_status(one), *_circumstances(one)))}."
    else:
        verdict, style = "no pods are pending", ""
        subject = f"nodes {notices.few([each.node for each in results], _NAMED)}"
        lead = f"{counts.of(pending, 'pod')} pending, each judged alone." if pending else ""
        if pending:
            taking = sum(bool(each.fitting) for each in results)
            verdict = f"{taking or 'none'} of {counts.nodes(len(results))} would take a pending pod"
        sections = [Section("Nodes", _nodes(results, pending)), *(_part(each) for each in results[:_SHOWN])]
    text = Section("The same as text", as_text(texts.lines(report)), folded=True)
    return Page("explain node", subject, verdict, style, report.metadata, lead, [*sections, text])


def _is_healthy(result: NodeExplanation) -> bool:
    return result.ready in ("True", "") and not result.unschedulable and not result.conditions


def _status(result: NodeExplanation) -> str:
    """Return whether a node is Ready and takes pods."""
    ready = {"True": "Ready", "": "whether it is Ready is not known"}.get(result.ready, "not Ready")
    return f"{ready}, {'' if result.unschedulable else 'not '}cordoned"


def _circumstances(result: NodeExplanation) -> Iterator[str]:
    place = ", ".join(part for part in (result.zone, result.pool, result.instance_type) if part)
    if place:
        yield place
    yield f"{counts.of(result.pods, 'pod')} there"
    yield from (f"taint {taint}" for taint in result.taints)
    yield from (f"{each.type} is {each.status}" for each in result.conditions if each.type != "Ready")


def _part(result: NodeExplanation) -> Section:
    inner = [element("div", element("h3", each.title), each.content, class_="part") for each in _sections(result)]
    return Section(result.node, [element("p", "; ".join(_circumstances(result))), inner], folded=True)


def _sections(result: NodeExplanation) -> Iterator[Section]:
    yield Section("What is free", _resources(result))
    if result.fitting:
        rows: list[Sequence[Content]] = [
            [_owners(each.owners, each.pods), str(len(each.pods)), each.chosen or each.nominated_elsewhere]
            for each in result.fitting
        ]
        columns = (Column("Pods of", "name"), Column("Pods", "number"), Column("kube-scheduler would choose", "name"))
        together = f"{counts.of(len(result.together), 'pod')} of them fit together." if result.together else ""
        yield Section(
            "Pending pods that would fit", table("Pending pods that fit", columns, rows, shown=_SHOWN), together
        )
    if result.rejected:
        yield Section("Pending pods that would not fit", _rejected(result))
    if result.running:
        running: list[Sequence[Content | Value]] = [
            [
                each.owner or "no controller",
                Value(each.pods, each.pods),
                Value(amount("cpu", each.cpu), each.cpu),
                Value(amount("memory", each.memory), each.memory),
            ]
            for each in result.running
        ]
        heads = (Column("Owner", "name"), Column("Pods", "number"), Column("CPU", "number"), Column("Memory", "number"))
        yield Section("Pods that run there", table("Pods that run there", heads, running, shown=_SHOWN))


def _resources(result: NodeExplanation) -> Markup:
    rows: list[Sequence[Content | Value]] = []
    for each in result.resources:
        amounts = (amount(each.resource, number) for number in (each.used, each.free, each.allocatable))
        rows.append(
            [each.resource, bar(each.used, max(each.allocatable, each.used, 1), mark=each.allocatable), *amounts]
        )
    columns = (
        Column("Resource", "name"),
        Column("Requested", "picture"),
        Column("Requested", "number"),
        Column("Free", "number"),
        Column("Allocatable", "number"),
    )
    return table("What is requested and free", columns, rows)


def _rejected(result: NodeExplanation) -> Markup:
    rows: list[Sequence[Content | Value]] = []
    for each in result.rejected:
        causes = [element("p", reason.detail or reason.text) for reason in each.reasons]
        fix = fixes.fixes([each.fix]) if each.fix is not None else None
        rows.append([_owners(each.owners, each.pods), Value(len(each.pods), len(each.pods)), causes, fix])
    columns = (Column("Pods of", "name"), Column("Pods", "number"), Column("Cause"), Column("What would help"))
    return table("Pending pods that do not fit, the nearest first", columns, rows, shown=_SHOWN)


def _nodes(results: Sequence[NodeExplanation], pending: int) -> Markup:
    rows: list[Sequence[Content | Value]] = []
    for each in results:
        fitting = sum(len(one.pods) for one in each.fitting)
        free = {one.resource: amount(one.resource, one.free) for one in each.resources}
        taints = [element("p", f"taint {taint}") for taint in each.taints]
        amounts = (free.get(name, "0") for name in ("cpu", "memory", "pods"))
        fit = Value(f"{fitting} of {pending}", fitting)
        rows.append([each.node, [element("p", _status(each)), taints], fit, *amounts, _causes(each)])
    columns = (
        Column("Node", "name"),
        Column("Status"),
        Column("Would fit", "number"),
        Column("CPU free", "number"),
        Column("Memory free", "number"),
        Column("Pods free", "number"),
        Column("Why the others would not"),
    )
    return table("Nodes and the pending pods that fit there", columns, rows, shown=_SHOWN * 5)


def _causes(result: NodeExplanation) -> Content:
    """Return why each group of pending pods would not fit, in its nearest cause."""
    causes = []
    for each in result.rejected[:_NAMED]:
        nearest, *others = each.reasons
        more = f" (and {counts.of(len(others), 'more cause')})" if others else ""
        why = nearest.detail or nearest.text
        causes.append(element("p", element("b", _owners(each.owners, each.pods)), f": {why}{more}"))
    rest = len(result.rejected) - _NAMED
    return [causes, element("p", f"and {rest} more", class_="rest") if rest > 0 else None]


def _owners(owners: Sequence[OwnerPods], pods: Sequence[str]) -> str:
    names = [each.owner for each in owners if each.owner]
    return ", ".join(names[:5]) or ", ".join(pods[:5])

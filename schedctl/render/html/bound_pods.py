"""Pods whose scheduling is done, on a page: where each is, what the kubelet says of it, and where to look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.render import bound_pods as texts
from schedctl.render.html import fixes
from schedctl.render.html.markup import Content, element
from schedctl.render.html.page import Section
from schedctl.render.html.plain_text import of_line
from schedctl.render.html.tables import Column, table
from schedctl.render.layout import Line
from schedctl.reports import counts
from schedctl.reports.bound_pods import BoundPod
from schedctl.reports.explanations import Explanation

_SHOWN = 200


def verdict(result: Explanation, bound: BoundPod) -> tuple[str, str]:
    """Return where the pods of an answer are, and how that is shown."""
    style = "bad" if bound.cause else "good"
    if len(result.pods) < 2:
        return f"is bound to {bound.node}", style
    nodes = len(set(bound.nodes))
    return f"are all bound, {f'on {counts.nodes(nodes)}' if nodes > 1 else f'to {bound.node}'}", style


def lead(result: Explanation, bound: BoundPod) -> str:
    """Return whether they run, and where to look if something is wrong."""
    several = len(result.pods) > 1
    their, them = ("their", "them") if several else ("its", "it")
    if bound.cause:
        state = f"{texts.state(bound, owners=2 if several else 1)}."
        return f"{state[:1].upper()}{state[1:]} This is not a scheduling problem: see {their} status and logs."
    runs = f"{'They run' if several else 'It runs'}. " if bound.running else ""
    return f"{runs}If something is wrong with {them}, it is not scheduling: see {their} status and logs."


def sections(result: Explanation, bound: BoundPod) -> Iterator[Section]:
    """Yield where each pod is, what the kubelet says, and what to type next."""
    content: list[Content] = [element("p", of_line(texts.node_state(bound, _SHOWN)))]
    if len(result.pods) > 1:
        rows: Sequence[Sequence[Content]] = list(zip(result.pods, bound.nodes, strict=False))
        columns = (Column("Pod", "name"), Column("Node", "name"))
        content.append(table("Where each pod is", columns, rows, shown=_SHOWN))
    yield Section("Where they are" if len(result.pods) > 1 else "Where it is", content)
    lines = [of_line(each) for each in texts.kubelet(bound, _SHOWN, wide=True) if isinstance(each, Line)]
    if lines:
        yield Section("What the kubelet says", element("ul", [element("li", each) for each in lines]))
    if result.hints:
        yield Section("Where to look", fixes.fixes(result.hints))

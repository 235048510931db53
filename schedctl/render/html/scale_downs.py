"""``schedctl nodes --shrink`` on its page: the nodes that can go, where their pods would go, and what keeps others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from schedctl.api.amounts import quantity
from schedctl.api.resources import CPU, MEMORY
from schedctl.render.html.markup import Content, Markup, element
from schedctl.render.html.node_maps import Category, NodeAnswers
from schedctl.render.html.page import Section
from schedctl.render.html.svg.bars import bar
from schedctl.render.html.tables import Column, Value, remainder, table
from schedctl.reports import counts
from schedctl.reports.nodes import Keeper, KeptNode, NodesReport, RemovedNode

_SHOWN = 200
_FEW = 20
"""Longer lists are folded, so that the pictures are near the answer."""
_KEEPERS = {
    Keeper.NO_ROOM: "no room for its pods elsewhere",
    Keeper.BUDGET: "a disruption budget",
    Keeper.GROUP_SIZE: "the least size of its group",
    Keeper.CONTROL_PLANE: "it is of the control plane",
    Keeper.ANNOTATION: "an annotation",
    Keeper.DISRUPTION: "a disruption budget of its NodePool",
    Keeper.LOCAL_STORAGE: "pods with local storage",
    Keeper.UNMANAGED: "pods without a controller",
    Keeper.PREEMPTION: "other pods would be preempted",
    Keeper.INTERRUPTED: "not known, since interrupted",
}
_STYLES = ("c1", "c2", "c3", "c4", "c5", "c6", "c7")


def answer(report: NodesReport) -> Iterator[Section]:
    """Yield the nodes that can go, in order, and what keeps the others."""
    if report.nodes:
        title = "Nodes that can go, in the order in which they would be drained"
        yield Section(title, _removed(report.nodes), folded=len(report.nodes) > _FEW)
    if report.kept:
        yield Section("What keeps the others" if report.nodes else "What keeps the nodes", _kept(report.kept))


def answers(report: NodesReport) -> NodeAnswers:
    """Return which nodes can go, which take their pods, and what keeps each of the others."""
    keepers = _by_keeper(report.kept)
    categories = [
        Category("can go", "chosen"),
        Category("kept, and takes their pods", "feasible"),
        *(
            Category(f"kept: {_KEEPERS[keeper]}", style)
            for keeper, style in zip(keepers, (*_STYLES, *["c7"] * len(Keeper)), strict=False)
        ),
        Category("not considered", "unseen"),
    ]
    arrivals = Counter(pod.node for node in report.nodes for pod in node.moved)
    category_of, details = {}, {}
    for number, nodes in enumerate(keepers.values()):
        for node in nodes:
            category_of[node.name] = 1 if arrivals[node.name] else 2 + number
            takes = f"+{counts.of(arrivals[node.name], 'pod')}; " if arrivals[node.name] else ""
            details[node.name] = f"{takes}{node.text}"
    for gone in report.nodes:
        category_of[gone.name] = 0
        details[gone.name] = f"{counts.of(len(gone.moved), 'pod')} would move"
    return NodeAnswers(categories, category_of, details)


def details(report: NodesReport) -> Iterator[Section]:
    """Yield where each pod would go."""
    rows: list[Sequence[Content]] = [[pod.pod, node.name, pod.node] for node in report.nodes for pod in node.moved]
    rows += [
        [pod, node.name, element("span", "lost: no controller recreates it", class_="tag bad")]
        for node in report.nodes
        for pod in node.lost
    ]
    rows += [[pod, "", element("span", "preempted", class_="tag bad")] for pod in report.preempted]
    if rows:
        columns = (Column("Pod", "name"), Column("From", "name"), Column("To", "name"))
        yield Section(
            "Where the pods would go",
            table("Where the pods would go", columns, rows, shown=_SHOWN),
            folded=len(rows) > _FEW,
        )


def _removed(removed: Sequence[RemovedNode]) -> Markup:
    priced = any(each.price_per_hour is not None for each in removed)
    most = max(len(each.moved) for each in removed)
    rows: list[Sequence[Content | Value]] = []
    for number, each in enumerate(removed, 1):
        lost = Value(element("span", str(len(each.lost)), class_="tag bad") if each.lost else 0, len(each.lost))
        cpu, memory = (each.frees.get(name, 0) for name in (CPU, MEMORY))
        row: list[Content | Value] = [
            number,
            element("b", each.name),
            each.group,
            bar(len(each.moved), most),
            Value(len(each.moved), len(each.moved)),
            lost,
            Value(quantity(CPU, cpu), cpu),
            Value(quantity(MEMORY, memory), memory),
        ]
        price = counts.price(each.price_per_hour)
        rows.append([*row, Value(price, each.price_per_hour or 0)] if priced else row)
    columns = (
        Column("Order", "number"),
        Column("Node", "name"),
        Column("Group", "name"),
        Column("Pods that would move", "picture"),
        Column("Move", "number"),
        Column("Lost", "number"),
        Column("CPU it frees", "number"),
        Column("Memory it frees", "number"),
        *([Column("Per hour", "number")] if priced else []),
    )
    return table("Nodes that can go", columns, rows, shown=_SHOWN)


def _kept(kept: Sequence[KeptNode]) -> Markup:
    most = max(len(nodes) for nodes in _by_keeper(kept).values())
    rows: list[Sequence[Content | Value]] = []
    for keeper, nodes in _by_keeper(kept).items():
        rows.append(
            [
                _KEEPERS[keeper],
                bar(len(nodes), most, "bad"),
                Value(f"{len(nodes):,}", len(nodes)),
                element(
                    "details",
                    element("summary", f"{nodes[0].name}{' and others' if len(nodes) > 1 else ''}"),
                    _each(nodes),
                ),
            ]
        )
    columns = (
        Column("What keeps them"),
        Column("Nodes", "picture"),
        Column("Nodes", "number"),
        Column("Which, and why"),
    )
    return table("What keeps nodes", columns, rows)


def _each(nodes: Sequence[KeptNode]) -> Content:
    items = [
        element(
            "p",
            element("b", each.name),
            f": {each.text}",
            element("span", each.message, class_="words") if each.message else None,
        )
        for each in nodes[:_SHOWN]
    ]
    return [*items, remainder(len(nodes) - _SHOWN)]


def _by_keeper(kept: Sequence[KeptNode]) -> dict[Keeper, list[KeptNode]]:
    """Return nodes by what keeps them, what keeps most first."""
    found: dict[Keeper, list[KeptNode]] = {}
    for node in kept:
        found.setdefault(node.keeper, []).append(node)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))

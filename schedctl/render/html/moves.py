"""Moves between nodes on the page of a comparison: from which zone to which, and the nodes that gain and lose most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from schedctl.render.html.markup import Content, Markup, element
from schedctl.render.html.node_maps import Category, NodeAnswers
from schedctl.render.html.svg.bars import difference
from schedctl.render.html.tables import Column, Value, table
from schedctl.reports import counts
from schedctl.reports.node_maps import NodeMap

_SHOWN = 30


def zones_of(nodes: NodeMap | None) -> dict[str, str]:
    """Return the zone of each node by name."""
    return {node.name: node.zone for node in nodes.nodes} if nodes is not None else {}


def between_zones(moves: Sequence[tuple[str, str]], zones: Mapping[str, str]) -> Content:
    """Return a table of how many pods go from which zone to which, nothing where there is but one zone.

    Args:
        moves: the node of each pod before and after, "" for none.
        zones: by node.
    """
    tally = Counter((_zone(before, zones), _zone(after, zones)) for before, after in moves)
    names = sorted({name for pair in tally for name in pair}, key=lambda name: (name == "none", name))
    if len(names) < 2:
        return None
    rows: list[Sequence[Content | Value]] = []
    for before in names:
        cells = [_cell(tally[before, after], stays=before == after) for after in names]
        rows.append([before, *cells])
    columns = [Column("From \\ to", "name"), *(Column(name, "number") for name in names)]
    title = "From zone to zone"
    return [element("h3", title), table("Pods by the zone they were in and the zone they would be in", columns, rows)]


def by_node(before: Mapping[str, int], after: Mapping[str, int], first: str, other: str) -> Content:
    """Return the nodes whose number of pods differs most, as a table of bars to either side."""
    changed = {name: after.get(name, 0) - before.get(name, 0) for name in {*before, *after}}
    ordered = sorted((item for item in changed.items() if item[1]), key=lambda item: (-abs(item[1]), item[0]))
    if not ordered:
        return element("p", "Every node has as many pods under both.")
    most = abs(ordered[0][1])
    rows: list[Sequence[Content | Value]] = [
        [
            name,
            difference(number, most),
            Value(f"{number:+d}", number),
            Value(before.get(name, 0), before.get(name, 0)),
            Value(after.get(name, 0), after.get(name, 0)),
        ]
        for name, number in ordered
    ]
    columns = (
        Column("Node", "name"),
        Column("Fewer or more pods", "picture"),
        Column("Change", "number"),
        Column(f"Under {first}", "number"),
        Column(f"Under {other}", "number"),
    )
    title = f"Pods by node under {first} and {other}"
    return [element("h3", title), table(title, columns, rows, shown=_SHOWN)]


def answers(before: Mapping[str, int], after: Mapping[str, int], first: str, other: str) -> NodeAnswers:
    """Return which nodes have more pods under the other side, and which fewer."""
    categories = [
        Category(f"more pods under {other}", "feasible"),
        Category(f"fewer pods under {other}", "c4"),
        Category("the same", "unseen"),
    ]
    category_of, details = {}, {}
    for name in {*before, *after}:
        change = after.get(name, 0) - before.get(name, 0)
        if change:
            category_of[name] = 0 if change > 0 else 1
            details[name] = f"{before.get(name, 0)} under {first}, {counts.of(after.get(name, 0), 'pod')} under {other}"
    return NodeAnswers(categories, category_of, details)


def _zone(node: str, zones: Mapping[str, str]) -> str:
    return zones.get(node) or "no zone" if node else "none"


def _cell(number: int, *, stays: bool) -> Value:
    content: Markup | str = str(number) if number else ""
    if number and not stays:
        content = element("b", str(number))
    return Value(content, number)

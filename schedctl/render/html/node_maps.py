"""The map of nodes on a page: a block for each zone and pool, coloured by the answer or by how full a node is.

The squares are in the order of the data, so that the script finds a node by the place of its square. Without the script
the legend and the table of zones and pools say the same in numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec

from schedctl.render.html.markup import Content, Markup, element
from schedctl.render.html.svg.node_grids import cell_size, grid
from schedctl.render.html.tables import Column, table
from schedctl.reports import counts
from schedctl.reports.node_maps import MappedNode, NodeMap

_LEVELS = (20, 40, 60, 80, 95)
"""Up to how many percent a node is of which level of fullness; fuller ones are of the last."""
_LEVEL_TEXTS = ("under 20 %", "20 to 40 %", "40 to 60 %", "60 to 80 %", "80 to 95 %", "95 % or more")
_MOST_BLOCKS = 60
"""A cluster with more zones and pools is drawn in one block for each zone."""


class Category(msgspec.Struct, frozen=True):
    """An answer that nodes share.

    Attributes:
        title: in a few words, e.g. ``refused by NodeResourcesFit``.
        style: the class of the squares: ``chosen``, ``feasible``, ``c1`` to ``c7``, or ``unseen``.
    """

    title: str
    style: str


class NodeAnswers(msgspec.Struct, frozen=True):
    """What a map shows of each node.

    Attributes:
        categories: in the order of the legend.
        category_of: by node, the place of its category; nodes that are not in it have the last.
        details: by node, more about it in words.
    """

    categories: Sequence[Category]
    category_of: Mapping[str, int]
    details: Mapping[str, str] = msgspec.field(default_factory=dict)


def drawing_order(nodes: NodeMap) -> list[MappedNode]:
    """Return the nodes in the order in which they are drawn: by zone, pool and name."""
    return sorted(nodes.nodes, key=lambda node: (node.zone, node.pool, node.name))


def data(nodes: NodeMap) -> dict[str, Any]:
    """Return the nodes as columns, for the script."""
    places = drawing_order(nodes)
    zones = [*dict.fromkeys(node.zone for node in places)]
    pools = [*dict.fromkeys(node.pool for node in places)]
    zone_codes, pool_codes = ({name: code for code, name in enumerate(names)} for names in (zones, pools))
    moved = any((node.cpu, node.pods) != (node.cpu_before, node.pods_before) for node in places)
    columns: dict[str, Any] = {
        "names": [node.name for node in places],
        "zones": zones,
        "pools": pools,
        "zone": [zone_codes[node.zone] for node in places],
        "pool": [pool_codes[node.pool] for node in places],
        "cpu": [node.cpu for node in places],
        "cpuOf": [node.cpu_allocatable for node in places],
        "memory": [node.memory for node in places],
        "memoryOf": [node.memory_allocatable for node in places],
        "pods": [node.pods for node in places],
        "podsOf": [node.pods_allocatable for node in places],
        "cordoned": [index for index, node in enumerate(places) if node.unschedulable],
    }
    if moved:
        columns["podsBefore"] = [node.pods_before for node in places]
    return columns


def answers_data(nodes: NodeMap, answers: NodeAnswers) -> dict[str, Any]:
    """Return what a map says of each node, for the script; texts that nodes share are there once."""
    places = drawing_order(nodes)
    last = len(answers.categories) - 1
    texts = {"": 0}
    codes = [texts.setdefault(answers.details.get(node.name, ""), len(texts)) for node in places]
    return {
        "categories": [each.title for each in answers.categories],
        "category": [answers.category_of.get(node.name, last) for node in places],
        "texts": [*texts],
        "text": codes,
    }


def figure(nodes: NodeMap, answers: NodeAnswers, number: int = 0) -> Content:
    """Return the map with its legend, the line that the script writes to, and the table behind it.

    Args:
        nodes: all nodes.
        answers: what is said of them.
        number: which of the maps of the page it is.
    """
    places = drawing_order(nodes)
    if not places:
        return element("p", "The cluster has no nodes.")
    tally = Counter(answers.category_of.get(node.name, len(answers.categories) - 1) for node in places)
    legend = [
        element("li", element("span", class_=f"key {each.style}"), f"{each.title} ", element("b", f"{tally[code]:,}"))
        for code, each in enumerate(answers.categories)
        if tally[code]
    ]
    levels = Counter(map(_level, places))
    full = [
        element("li", element("span", class_=f"key f{level}"), f"{text} ", element("b", f"{levels[level]:,}"))
        for level, text in enumerate(_LEVEL_TEXTS)
    ]
    name = f"colour-{number}"
    choice = element(
        "fieldset",
        element("legend", "Colour by"),
        element("label", element("input", type="radio", name=name, class_="by-answer", checked=True), " result"),
        element("label", element("input", type="radio", name=name, class_="by-full"), " how full"),
        class_="choice",
    )
    return element(
        "div",
        choice,
        element("ul", legend, class_="legend of-answers"),
        element("ul", full, class_="legend of-levels"),
        element("div", _zones(places, answers), class_="zones"),
        element("p", "Point at a node for its numbers.", class_="probe", role="status", hidden=True),
        element("details", element("summary", "The same in numbers"), _table(nodes, places, answers)),
        class_="map",
        data_map=number,
    )


def node_list(number: int) -> Markup:
    """Return the place where the script lists all nodes of a map."""
    return element("div", class_="node-list", data_nodes=number, hidden=True)


def _level(node: MappedNode) -> int:
    """Return how full a node is of what it has least of, as a level."""
    shares = [
        100 * used / offered
        for used, offered in ((node.cpu, node.cpu_allocatable), (node.memory, node.memory_allocatable))
        if offered > 0
    ]
    most = max(shares, default=0)
    return next((level for level, limit in enumerate(_LEVELS) if most < limit), len(_LEVELS))


def _zones(places: Sequence[MappedNode], answers: NodeAnswers) -> list[Markup]:
    blocks = len({(node.zone, node.pool) for node in places})
    by_pool = blocks <= _MOST_BLOCKS
    size, gap = cell_size(len(places))
    last = len(answers.categories) - 1
    made, first = [], 0
    for zone, in_zone in groupby(places, lambda node: node.zone):
        drawn: list[Markup] = []
        pools = [(pool, [*group]) for pool, group in groupby(in_zone, lambda node: node.pool if by_pool else "")]
        unnamed = "" if not by_pool else "no pool" if len(pools) > 1 else "all nodes"
        for pool, inside in pools:
            codes = [answers.category_of.get(node.name, last) for node in inside]
            styles = [
                f"{answers.categories[code].style} f{_level(node)}" for code, node in zip(codes, inside, strict=True)
            ]
            numbers = Counter(codes)
            label = f"{zone or 'no zone'}{f', {pool}' if pool else ''}: " + ", ".join(
                f"{number} {answers.categories[code].title}" for code, number in numbers.most_common()
            )
            picture = grid(styles, label, size, gap)
            head = element("span", pool or unnamed, class_="pool")
            drawn.append(
                element("div", element("p", head, f" {len(inside):,}"), picture, class_="block", data_first=first)
            )
            first += len(inside)
        made.append(
            element("div", element("h3", zone or "no zone"), element("div", drawn, class_="blocks"), class_="zone")
        )
    return made


def _table(nodes: NodeMap, places: Sequence[MappedNode], answers: NodeAnswers) -> Markup:
    last = len(answers.categories) - 1
    used = sorted({answers.category_of.get(node.name, last) for node in places})
    rows: list[list[Content]] = []
    for (zone, pool), group in groupby(places, lambda node: (node.zone, node.pool)):
        inside = list(group)
        tally = Counter(answers.category_of.get(node.name, last) for node in inside)
        rows.append(
            [
                zone or "none",
                pool or "none",
                len(inside),
                *(tally[code] or "" for code in used),
                _percent(sum(node.cpu for node in inside), sum(node.cpu_allocatable for node in inside)),
                _percent(sum(node.memory for node in inside), sum(node.memory_allocatable for node in inside)),
            ]
        )
    columns = [
        Column("Zone", "name"),
        Column("Pool", "name"),
        Column("Nodes", "number"),
        *(Column(answers.categories[code].title.capitalize(), "number") for code in used),
        Column("CPU requested", "number"),
        Column("Memory requested", "number"),
    ]
    where = f" Pools are told by the label {nodes.pool_label}." if nodes.pool_label else ""
    return element(
        "div",
        table(f"{counts.nodes(len(places)).capitalize()} by zone and pool", columns, rows),
        element("p", f"How full a node is goes by what it has least left of, cpu or memory.{where}", class_="rest"),
    )


def _percent(used: int, offered: int) -> str:
    return f"{100 * used / offered:.0f} %" if offered > 0 else "–"

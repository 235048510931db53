"""A plan of ``schedctl nodes`` on its page: the nodes to add, pods that none of them helps, and what was tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from schedctl.api.resources import CPU, MEMORY
from schedctl.render.html.markup import Content, Markup, element
from schedctl.render.html.node_maps import Category, NodeAnswers
from schedctl.render.html.page import Section
from schedctl.render.html.svg.bars import bar
from schedctl.render.html.tables import Column, Value, table
from schedctl.reports import counts
from schedctl.reports.nodes import GroupResult, NewNodes, NodesReport, UnplacedPods

_SHOWN = 200


def answer(report: NodesReport) -> Iterator[Section]:
    """Yield the nodes to add, and why others would not help the pods that stay pending."""
    new = [(group, each) for group in report.groups for each in group.new]
    if new:
        yield Section("Nodes to add", _new_nodes(new))
    if report.pending:
        yield Section("Why no new node would help the others", [_unplaced(each) for each in report.pending[:_SHOWN]])


def answers(report: NodesReport) -> NodeAnswers:
    """Return which nodes are new, and which others take pods that wait."""
    categories = [
        Category("new", "chosen"),
        Category("takes waiting pods", "feasible"),
        Category("unchanged", "unseen"),
    ]
    taken = Counter(each.node for each in report.placements)
    category_of = dict.fromkeys(taken, 1)
    details = {name: f"+{counts.of(number, 'pod')}" for name, number in taken.items()}
    for group in report.groups:
        for name in (name for new in group.new for name in new.nodes):
            category_of[name] = 0
            details[name] = f"of group {group.name}, {details.get(name, 'no waiting pods')}"
    return NodeAnswers(categories, category_of, details)


def details(report: NodesReport) -> Iterator[Section]:
    """Yield where each pod would go, what a new node is like, and the plans that were tried."""
    if report.placements:
        rows = [
            [each.pod, each.node, element("span", "new", class_="tag good") if each.new else "there already"]
            for each in report.placements
        ]
        columns = (Column("Pod", "name"), Column("Node", "name"), Column("The node is"))
        made = table("Where the pods would go", columns, rows, shown=_SHOWN)
        yield Section("Where the pods would go", made, folded=len(rows) > 20)
    if report.groups:
        yield Section("A new node of each group", [_template(each) for each in report.groups[:_SHOWN]], folded=True)
    if report.search:
        yield Section("Plans that were tried", _search(report), folded=True)


def _new_nodes(new: Sequence[tuple[GroupResult, NewNodes]]) -> Markup:
    priced = any(each.price_per_hour is not None for _, each in new)
    rows: list[Sequence[Content | Value]] = []
    for group, each in new:
        sort = f"{each.instance_type}{' (spot)' if each.spot else ''}"
        cpu, memory = (each.requests.get(name, 0.0) for name in (CPU, MEMORY))
        row: list[Content | Value] = [
            group.name,
            Value(element("b", f"+{each.count}"), each.count),
            each.zone,
            sort,
            Value(each.pods, each.pods),
            Value([bar(cpu, 100), f"{cpu:.0f} %"], cpu),
            Value([bar(memory, 100), f"{memory:.0f} %"], memory),
        ]
        price = counts.price(each.price_per_hour)
        rows.append([*row, Value(price, each.price_per_hour or 0)] if priced else row)
    columns = (
        Column("Group", "name"),
        Column("Add", "number"),
        Column("Zone", "name"),
        Column("Type", "name"),
        Column("Pods they take", "number"),
        Column("CPU requested", "share"),
        Column("Memory requested", "share"),
        *([Column("Per hour, each", "number")] if priced else []),
    )
    return table("Nodes to add", columns, rows, shown=_SHOWN)


def _unplaced(pods: UnplacedPods) -> Markup:
    number = "" if pods.owner.startswith("Pod ") else f"{counts.of(len(pods.pods), 'pod')} of "
    rows = [
        [each.group, element("span", _words(each.obstacle.value), class_="tag bad"), each.text] for each in pods.groups
    ]
    columns = (Column("Group", "name"), Column("In the way"), Column("Why"))
    made = table(f"Why a new node would not help {pods.owner}", columns, rows, shown=_SHOWN) if rows else None
    return element("div", element("h3", f"{number}{pods.owner}"), made, class_="part")


def _template(group: GroupResult) -> Markup:
    facts = [(each.part, each.origin) for each in group.template]
    if group.allocatable:
        facts.append(("offers", ", ".join(f"{name} {amount}" for name, amount in group.allocatable.items())))
    facts += [(name, ", ".join(taints)) for name, taints in _taints(group) if taints]
    columns = (Column("Of a new node"), Column("What, or where it is known from"))
    rows = [[name, value] for name, value in facts]
    made = (
        table(f"A new node of {group.name}", columns, rows) if rows else element("p", "Nothing says what it is like.")
    )
    return element("div", element("h3", group.name), made, class_="part")


def _taints(group: GroupResult) -> tuple[tuple[str, list[str]], ...]:
    return ("taints", group.taints), ("taints while it starts", group.startup_taints)


def _search(report: NodesReport) -> Markup:
    rows: list[Sequence[Content | Value]] = []
    for each in report.search:
        plan = ", ".join(f"{count} {name}" for name, count in each.groups.items()) or "none"
        result, style = ("every pod is placed", "good") if each.complete else ("pods stay pending", "bad")
        rows.append(
            [each.by, plan, Value(counts.price(each.cost), each.cost), element("span", result, class_=f"tag {style}")]
        )
    what = "Nodes" if report.minimize == "count" else "Cost"
    columns = (Column("Proposed by"), Column("Nodes"), Column(f"{what} in all", "number"), Column("A run with it"))
    return table("Plans that were tried", columns, rows, shown=_SHOWN)


def _words(name: str) -> str:
    """Return the words of a name in camel case: ``larger than node``."""
    return "".join(f" {each.lower()}" if each.isupper() else each for each in name).strip()

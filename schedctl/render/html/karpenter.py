"""What Karpenter would launch or consolidate, on the page of ``schedctl nodes``: the answer, and step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.render import karpenter as texts
from schedctl.render.html.markup import Content, Markup, element, whole_words
from schedctl.render.html.page import Section
from schedctl.render.html.tables import Column, Value, remainder, table
from schedctl.reports import counts
from schedctl.reports.nodes import KarpenterAnswer, KarpenterCommand, KarpenterStep, KeptNode, LaunchedNode

_SHOWN = 200


def answer(found: KarpenterAnswer | None) -> Iterator[Section]:
    """Yield what Karpenter would do, and what kube-scheduler would make of that."""
    if found is None:
        return
    lead = found.text
    if found.launched or found.commands:
        verified = texts.verification(found)
        lead = f"{lead}. {verified[:1].upper()}{verified[1:]}"
    content: list[Content] = []
    if found.launched:
        content.append(_launch_table(found.launched))
    if found.commands:
        content.append(_command_table(found.commands))
    if found.pending:
        content += [element("h3", "Pods for which Karpenter would launch nothing"), _pending_table(found.pending)]
    yield Section("What Karpenter would do", content, f"{lead}.")


def details(found: KarpenterAnswer | None) -> Iterator[Section]:
    """Yield what Karpenter makes of each pod in its turn, where it expects the pods, and what keeps it from nodes."""
    if found is None:
        return
    if found.steps:
        yield Section("Karpenter's steps, the largest pod first", _step_table(found.steps), folded=True)
    moves = [[each.pod, each.node] for command in found.commands for each in command.moved]
    moves += [[each.pod, each.node] for each in found.existing]
    if moves:
        columns = (Column("Pod", "name"), Column("Node", "name"))
        title = "Where Karpenter expects the pods"
        yield Section(title, table(title, columns, moves, shown=_SHOWN), folded=True)
    if found.kept:
        yield Section("What keeps Karpenter from the other nodes", _keeper_table(found.kept), folded=True)


def _launch_table(launched: Sequence[LaunchedNode]) -> Markup:
    priced = any(each.price_per_hour is not None for each in launched)
    rows: list[Sequence[Content | Value]] = []
    for each in launched:
        row: list[Content | Value] = [
            each.name,
            _type(each),
            each.zone,
            Value(_disclosure(counts.of(len(each.pods), "pod"), each.pods), len(each.pods)),
            _disclosure(counts.of(len(each.instance_types), "type"), [*each.instance_types, *each.requirements]),
        ]
        price = Value(counts.price(each.price_per_hour), each.price_per_hour or 0)
        rows.append([*row, price] if priced else row)
    columns = (
        Column("Node", "name"),
        Column("Cheapest type", "name"),
        Column("Zone", "name"),
        Column("Pods it expects there"),
        Column("The cloud may choose from"),
        *([Column("Per hour", "number")] if priced else []),
    )
    return table("Nodes that Karpenter would launch", columns, rows, shown=_SHOWN)


def _command_table(commands: Sequence[KarpenterCommand]) -> Markup:
    priced = any(each.saved_per_hour is not None for each in commands)
    rows: list[Sequence[Content | Value]] = []
    for number, each in enumerate(commands, 1):
        new = each.replacement
        row: list[Content | Value] = [
            Value(number, number),
            each.method,
            Value(_disclosure(counts.nodes(len(each.nodes)), each.nodes), len(each.nodes)),
            f"{_type(new)} in {new.zone}" if new and new.zone else _type(new) if new else "nothing",
            Value(len(each.moved), len(each.moved)),
        ]
        price = Value(counts.price(each.saved_per_hour), each.saved_per_hour or 0)
        rows.append([*row, price] if priced else row)
    columns = (
        Column("Step", "number"),
        Column("Method"),
        Column("Nodes that go"),
        Column("Launched instead", "name"),
        Column("Pods that move", "number"),
        *([Column("Saves per hour", "number")] if priced else []),
    )
    return table("What Karpenter would do, one after another", columns, rows, shown=_SHOWN)


def _pending_table(pending: Sequence[KarpenterStep]) -> Markup:
    rows = [[each.pod, pool, text] for each in pending for pool, text in (each.refusals or {"": ""}).items()]
    columns = (Column("Pod", "name"), Column("NodePool", "name"), Column("Why not"))
    return table("Pods for which Karpenter would launch nothing", columns, rows, shown=_SHOWN)


def _step_table(steps: Sequence[KarpenterStep]) -> Markup:
    rows: list[Sequence[Content | Value]] = []
    for number, each in enumerate(steps, 1):
        what = ("launches" if each.launches else "joins") if each.node else "finds no node"
        given_up = ", ".join(each.relaxed)
        left = Value(each.instance_types or "", each.instance_types)
        rows.append([Value(number, number), each.pod, what, each.node, left, given_up])
    columns = (
        Column("Turn", "number"),
        Column("Pod", "name"),
        Column("It"),
        Column("Node", "name"),
        Column("Types left", "number"),
        Column("Preferences given up"),
    )
    return table("What Karpenter makes of each pod", columns, rows, shown=_SHOWN)


def _keeper_table(kept: Sequence[KeptNode]) -> Markup:
    rows: list[Sequence[Content]] = [[each.name, each.group, each.text] for each in kept]
    columns = (Column("Node", "name"), Column("Group", "name"), Column("What keeps it"))
    return table("What keeps Karpenter from the other nodes", columns, rows, shown=_SHOWN)


def _type(node: LaunchedNode) -> str:
    return f"{node.instance_type or 'any'}{' (spot)' if node.spot else ''}"


def _disclosure(summary: str, names: Sequence[str]) -> Content:
    """Return a number of things that opens to their names."""
    if not names:
        return summary
    items = [element("li", whole_words(each)) for each in names[:_SHOWN]]
    return element("details", element("summary", summary), element("ul", items), remainder(len(names) - _SHOWN))

"""``schedctl simulate --compare`` as a page: which pods would move between nodes, and how full the nodes become."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from schedctl.render import run_comparisons as texts
from schedctl.render.html import moves, node_maps
from schedctl.render.html.markup import Content, element
from schedctl.render.html.page import Page, Section
from schedctl.render.html.plain_text import as_text
from schedctl.render.html.sides import sides
from schedctl.render.html.simulations import utilisation
from schedctl.render.html.tables import Column, Value, table
from schedctl.reports import counts
from schedctl.reports.run_comparisons import PlacementDifference, SimulationComparison, WorkloadComparison

_SHOWN = 200


def page(report: SimulationComparison) -> Page:
    """Return the page of a report."""
    summary = report.summary
    verdict, style = _verdict(report)
    data = {}
    if report.node_map is not None:
        maps = [
            node_maps.answers_data(report.node_map, moves.answers(*_pods(report, index)))
            for index in range(1, len(report.sides))
        ]
        data = {"nodes": node_maps.data(report.node_map), "maps": maps}
    whose = f"{counts.of(summary.pods, 'pod')} of {counts.of(summary.workloads, 'workload')}"
    subject = f"{whose} under {len(report.sides)} configurations"
    return Page(
        "simulate --compare",
        subject,
        verdict,
        style,
        report.metadata,
        _lead(report),
        [*_sections(report)],
        data,
        [each.side for each in report.sides],
    )


def _verdict(report: SimulationComparison) -> tuple[str, str]:
    """Return what the other sides do to pods, and how that is shown: in red only what gets worse."""
    summary = report.summary
    differences = [*summary.workload_pods, *summary.other_pods]
    breaks, mends = (sum(getattr(each, name) for each in differences) for name in ("breaks", "mends"))
    moves = sum(each.moves for each in summary.workload_pods)
    parts = [
        (breaks, f"{counts.of(breaks, 'pod')} would become unschedulable"),
        (mends, f"{counts.of(mends, 'pod')} would become schedulable"),
        (moves, f"{moves} of {counts.of(summary.pods, 'pod')} would go to other nodes"),
    ]
    preempted = {each.side.name: each.summary.preempted for each in report.sides}
    first, *others = preempted.values()
    if any(number != first for number in others):
        numbers = ", ".join(f"{number} under {name}" for name, number in preempted.items())
        parts.append((1, f"running pods preempted: {numbers}"))
    phrases = [text for number, text in parts if number]
    style = "bad" if breaks else "unsure" if max(others, default=0) > first else "good" if mends or not moves else ""
    return "; ".join(phrases) or "no pod would move", style


def _lead(report: SimulationComparison) -> str:
    """Return what becomes of pods that are not of the workloads, of which only those that make room move."""
    moves = sum(each.moves for each in report.summary.other_pods)
    pods = f"{counts.of(moves, 'other pod')} would end on other nodes. " if moves else ""
    return f"{pods}No running pod is moved, unless it is preempted: then its controller creates it again."


def _pods(report: SimulationComparison, index: int) -> tuple[Counter[str], Counter[str], str, str]:
    """Return how many pods are on which node under the first side and another; others count where they differ."""
    first, other = Counter[str](), Counter[str]()
    for result in report.results:
        first.update(result.outcomes[0].nodes)
        other.update(result.outcomes[index].nodes)
    for pod in report.others:
        first.update([pod.whereabouts[0].node])
        other.update([pod.whereabouts[index].node])
    del first[""], other[""]
    return first, other, report.sides[0].side.name, report.sides[index].side.name


def _sections(report: SimulationComparison) -> Iterator[Section]:
    yield Section("Configurations", sides([each.side for each in report.sides]))
    letters = [each.side.name for each in report.sides]
    rows = [_row(each) for each in report.results]
    columns = [
        Column("Workload", "name"),
        *(Column(f"Under {name}") for name in letters),
        *(Column(f"Effect of {name}") for name in letters[1:]),
    ]
    yield Section("Workloads", table("Workloads under each configuration", columns, rows, shown=_SHOWN))
    for number, index in enumerate(range(1, len(report.sides))):
        first, other, letter, against = _pods(report, index)
        figure = None
        if report.node_map is not None:
            figure = node_maps.figure(report.node_map, moves.answers(first, other, letter, against), number)
        lead = "Nodes are compared by how many pods of the workloads they have, and other pods that differ."
        yield Section(
            f"Moves between nodes, {letter} to {against}", [figure, moves.by_node(first, other, letter, against)], lead
        )
    for each in report.sides:
        title = f"How full the nodes are under {each.side.name}"
        yield Section(title, utilisation(each.utilisation), each.ending.text, folded=True)
    if report.owners:
        owned: list[Sequence[Content | Value]] = [
            [
                each.owner,
                *(texts.placed_and_preempted(outcome, len(each.pods)) for outcome in each.outcomes),
                *map(_effect, each.differences),
            ]
            for each in report.owners
        ]
        lead = "Pods that were pending before, or that are preempted under one of the configurations."
        yield Section(
            "Other pods", table("Other pods by owner", [Column("Pods of", "name"), *columns[1:]], owned), lead
        )
    if report.others:
        others = [
            [each.pod, *(where.node or where.message or "none" for where in each.whereabouts)] for each in report.others
        ]
        heads = [Column("Pod", "name"), *(Column(f"Under {name}", "name") for name in letters)]
        title = "Other pods one by one"
        yield Section(title, table(title, heads, others, shown=_SHOWN), folded=True)
    yield Section("The same as text", as_text(texts.lines(report)), folded=True)


def _row(result: WorkloadComparison) -> Sequence[Content | Value]:
    placed: list[Content | Value] = []
    for outcome in result.outcomes:
        skew = f"zone skew {outcome.zone_skew}" if outcome.zone_skew is not None else ""
        style = "good" if outcome.placed == result.wanted else "bad"
        tag = element("span", f"{outcome.placed} of {result.wanted}", class_=f"tag {style}")
        placed.append(Value([tag, skew], outcome.placed))
    return [f"{result.kind} {result.namespace}/{result.name}", *placed, *map(_effect, result.differences)]


def _effect(difference: PlacementDifference) -> Value:
    zones = f" ({difference.between_zones} to another zone)" if difference.between_zones else ""
    parts = (
        (difference.breaks, "unschedulable"),
        (difference.mends, "become schedulable"),
        (difference.moves, f"on another node{zones}"),
    )
    effect = ", ".join(f"{number} {what}" for number, what in parts if number)
    return Value(effect or "none", difference.breaks * 1_000_000 + difference.moves)

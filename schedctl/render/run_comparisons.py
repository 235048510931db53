"""Runs under several configurations for people: which pods would move or become unschedulable, and the balance.

Where a workload has as many pods on each node under all sides, it is left out, unless everything is asked for. The
cluster comes last: who had to make room, and how full and even the nodes are under each side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.render import comparisons, notices
from schedctl.render.layout import ALL, BLANK, Block, Cell, Line, Span, Table, line, separate
from schedctl.render.simulations import percent
from schedctl.reports import counts, run_comparisons
from schedctl.reports.metadata import Side
from schedctl.reports.simulations import EndReason, Fate, Use

_WORDS = {
    run_comparisons.PlacementEffect.SAME: ("same", ""),
    run_comparisons.PlacementEffect.MOVES: ("moves", "strong"),
    run_comparisons.PlacementEffect.BREAKS: ("becomes unschedulable", "bad"),
    run_comparisons.PlacementEffect.MENDS: ("becomes schedulable", "good"),
}
_RESOURCES = ("cpu", "memory")


def lines(report: run_comparisons.SimulationComparison, *, wide: bool = False, limit: int = 0) -> Iterator[Block]:
    """Yield the comparison of simulations as lines and tables.

    Args:
        report: what to tell.
        wide: show every workload and its nodes, also where nothing differs.
        limit: show so many entries of a list, 0 for what suits.
    """
    entries = limit or (ALL if wide else comparisons.FEW)
    sides = [each.side for each in report.sides]
    yield from comparisons.sides(sides)
    yield from notices.what_if(report.metadata.what_if)
    yield BLANK
    for difference, others in zip(report.summary.workload_pods, report.summary.other_pods, strict=True):
        yield _summary(difference, others, sides[0].name, report.summary.pods)
    sections = (
        _workloads(report, wide, entries),
        *(_workload(result, entries) for result in report.results if wide or _differs(result)),
        _owners(report.owners, sides, entries),
        *((_others(report.others, sides, entries),) if wide else ()),
        _preemptions(report.sides),
        _balance(report.sides),
        _utilisation(report.sides),
    )
    yield from separate(sections)
    yield BLANK
    yield from notices.assumed_volumes(report.assumed_volumes)
    yield from notices.not_known(report.metadata.missing)
    for each in report.sides:
        if each.ending.reason not in (EndReason.SETTLED, EndReason.STUCK):
            yield notices.note(f"the run under {each.side.name} stopped: {each.ending.text}")
    yield notices.note("pods of one owner are compared by how many of them are on which node")
    if report.owners:
        yield notices.note("no running pod is moved unless it is preempted; then its controller creates it again")
    yield notices.end(report.metadata, several=True, versions=_versions(sides), wide=wide)


def _versions(sides: Sequence[Side]) -> str:
    """Return the kube-schedulers that are compared besides the one in force, "" where versions are not compared."""
    others = [f"{each.name} {each.kubernetes_version}" for each in sides[1:] if each.kubernetes_version]
    return ", ".join(others)


def _summary(
    difference: run_comparisons.PlacementDifference, others: run_comparisons.PlacementDifference, first: str, pods: int
) -> Line:
    if not any((difference.moves, difference.breaks, difference.mends, others.moves, others.breaks, others.mends)):
        return comparisons.no_moves(difference.side, first, pods, pods - difference.same)
    nowhere = pods - difference.same - difference.moves - difference.breaks - difference.mends
    parts = (
        (difference.same, f"{difference.same} of {counts.of(pods, 'pod')} the same", ""),
        *_effects(difference),
        (nowhere, f"{nowhere} pending under both", ""),
    )
    more = _effects(others, zones=False)
    other = (Span("; other pods: "), *comparisons.tally(more)) if any(number for number, *_ in more) else ()
    return Line((comparisons.against(difference.side, first), *comparisons.tally(parts), *other))


def _effects(
    difference: run_comparisons.PlacementDifference, *, zones: bool = True
) -> tuple[tuple[int, str, str], ...]:
    """Return how many pods move (and of these, to another zone) or become (un)schedulable, with a style."""
    to_another = f" ({difference.between_zones} to another zone)" if zones and difference.between_zones else ""
    return (
        (difference.moves, f"{comparisons.plural(difference.moves, 'moves', 'move')}{to_another}", "strong"),
        (
            difference.breaks,
            comparisons.plural(difference.breaks, "becomes unschedulable", "become unschedulable"),
            "bad",
        ),
        (difference.mends, comparisons.plural(difference.mends, "becomes schedulable", "become schedulable"), "good"),
    )


def _differs(result: run_comparisons.WorkloadComparison) -> bool:
    return any(each.moves or each.breaks or each.mends for each in result.differences)


def _workloads(report: run_comparisons.SimulationComparison, wide: bool, entries: int) -> Iterator[Block]:
    differing = [result for result in report.results if wide or _differs(result)]
    if not differing:
        return
    sides = [each.side.name for each in report.sides]
    heads = ("WORKLOAD", *sides, *(f"EFFECT OF {side}" for side in sides[1:]))
    rows: list[Sequence[Cell]] = []
    for result in differing[:entries]:
        places: list[Cell] = []
        for outcome in result.outcomes:
            skew = f", zone skew {outcome.zone_skew}" if outcome.zone_skew is not None else ""
            style = "" if outcome.placed == result.wanted else "bad"
            places.append((Span(f"{outcome.placed} of {result.wanted}{skew}", style),))
        effects = [_effect(difference) for difference in result.differences]
        rows.append(((Span(f"{result.kind} {result.namespace}/{result.name}"),), *places, *effects))
    yield Table(rows, 0, heads)
    yield from notices.rest(len(differing) - entries)


def _effect(difference: run_comparisons.PlacementDifference) -> Cell:
    parts = _effects(difference)
    return comparisons.tally(parts) if any(number for number, *_ in parts) else (Span("same"),)


def _workload(result: run_comparisons.WorkloadComparison, entries: int) -> Iterator[Block]:
    """The nodes of one workload, those with as many pods under all sides left out, and why pods are pending."""
    yield line(f"{result.kind} {result.namespace}/{result.name}", "strong")
    names = sorted(set().union(*(outcome.nodes for outcome in result.outcomes)))
    pods = {name: [outcome.nodes.get(name, 0) for outcome in result.outcomes] for name in names}
    differing = {name: numbers for name, numbers in pods.items() if len(set(numbers)) > 1}
    rows = [
        ((Span(name),), *((Span(str(number)),) for number in numbers))
        for name, numbers in list(differing.items())[:entries]
    ]
    if rows:
        yield Table(
            rows, 2, ("NODE", *(outcome.side for outcome in result.outcomes)), frozenset(range(1, len(rows[0])))
        )
    if len(differing) > entries:
        yield line(f"+{counts.nodes(len(differing) - entries, 'more ')}", "faint", indent=2)
    messages = [outcome.messages for outcome in result.outcomes]
    for outcome in result.outcomes if any(each != messages[0] for each in messages) else ():
        for message in outcome.messages:
            yield notices.message_of_side(f"{outcome.side}: ", message)


def _owners(owners: Sequence[run_comparisons.OwnerComparison], sides: Sequence[Side], entries: int) -> Iterator[Block]:
    """Yield what becomes of other pods by owner; the change of places of two of one owner comes to nothing."""
    if not owners:
        return
    heads = ("OTHER PODS", *(side.name for side in sides), *(f"EFFECT OF {side.name}" for side in sides[1:]))
    rows: list[Sequence[Cell]] = []
    for each in owners[:entries]:
        places = [(Span(placed_and_preempted(outcome, len(each.pods))),) for outcome in each.outcomes]
        rows.append(((Span(each.owner),), *places, *map(_effect, each.differences)))
    yield Table(rows, 0, heads)
    yield from notices.rest(len(owners) - entries)


def placed_and_preempted(outcome: run_comparisons.OwnerOutcome, pods: int) -> str:
    """Return how many of an owner's pods have a node in the end, and how many of them had to make room before."""
    preempted = f", {outcome.preempted} preempted" if outcome.preempted else ""
    return f"{outcome.placed} of {pods} placed{preempted}"


def _others(others: Sequence[run_comparisons.OtherComparison], sides: Sequence[Side], entries: int) -> Iterator[Block]:
    if not others:
        return
    heads = ("OTHER POD", *(side.name for side in sides), *(f"EFFECT OF {side.name}" for side in sides[1:]))
    rows: list[Sequence[Cell]] = []
    for other in others[:entries]:
        places = [(Span(_whereabouts(each)),) for each in other.whereabouts]
        effects = [(Span(*_WORDS[effect]),) for effect in other.effects]
        rows.append(((Span(other.pod),), *places, *effects))
    yield Table(rows, 0, heads)
    yield from notices.rest(len(others) - entries)


def _whereabouts(each: run_comparisons.Whereabouts) -> str:
    gone = "lost" if each.fate is Fate.EVICTED else "pending"
    place = each.node or ("of another scheduler" if each.fate is Fate.FOREIGN_SCHEDULER else gone)
    return f"{place}, preempted" if each.preempted_by else place


def _preemptions(sides: Sequence[run_comparisons.SideResult]) -> Iterator[Block]:
    if not any(each.preemptions for each in sides):
        return
    numbers = "; ".join(
        f"{each.side.name} {each.summary.preempted}"
        + (f" ({each.summary.not_returned} of them would not be placed again)" if each.summary.not_returned else "")
        for each in sides
    )
    yield Line((Span("pods that would be preempted: ", "strong"), Span(numbers)))


def _balance(sides: Sequence[run_comparisons.SideResult]) -> Iterator[Block]:
    heads = ("BALANCE OF NODES", "", "AVERAGE", "DEVIATION", "LOWEST", "HIGHEST")
    rows: list[Sequence[Cell]] = []
    for number, each in enumerate(sides[0].balance):
        known = [("before", each.before), *((side.side.name, side.balance[number].after) for side in sides)]
        for name, even in known:
            shares = (even.mean, even.deviation, even.lowest, even.highest)
            label = each.resource if name == "before" else ""
            rows.append(((Span(label),), (Span(name),), *((Span(f"{share:.1f}%"),) for share in shares)))
    yield Table(rows, 0, heads, frozenset(range(2, 6)))


def _utilisation(sides: Sequence[run_comparisons.SideResult]) -> Iterator[Block]:
    """How full each group of nodes is before and under each side, of cpu and memory."""
    first = sides[0].utilisation
    label = first.label.rpartition("/")[2] or "group"
    columns = ("before", *(each.side.name for each in sides))
    heads = [label.upper(), "NODES", *(f"{resource.upper()} {name}" for resource in _RESOURCES for name in columns)]
    rows: list[Sequence[Cell]] = []
    for number, group in enumerate(first.groups):
        cells: list[Cell] = []
        for resource in _RESOURCES:
            uses = [_use(each.utilisation.groups[number].uses, resource) for each in sides]
            before = uses[0]
            cells.append((Span(_percent(before.before, before.allocatable_before) if before else "-"),))
            cells += [(Span(_percent(use.after, use.allocatable) if use else "-"),) for use in uses]
        rows.append(((Span(group.name or "none"),), (Span(str(group.nodes)),), *cells))
    yield Table(rows, 0, heads, frozenset(range(1, len(heads))))


def _use(uses: Sequence[Use], resource: str) -> Use | None:
    return next((use for use in uses if use.resource == resource), None)


def _percent(taken: int, offered: int) -> str:
    return f"{percent(taken, offered)}%" if offered > 0 else "-"

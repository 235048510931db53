"""Pods under several configurations for people: how many would move or become unschedulable, which, and why.

What is the same under all sides is counted and not shown, unless everything is asked for. The sides stand next to each
other in columns; why something differs is said below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from schedctl.render import comparisons, notices
from schedctl.render.layout import ALL, BLANK, Block, Cell, Line, Span, Table
from schedctl.reports import counts, pod_comparisons
from schedctl.reports.explanations import Verdict

_WORDS = {
    pod_comparisons.PodEffect.SAME: ("same", ""),
    pod_comparisons.PodEffect.MOVES: ("moves", "strong"),
    pod_comparisons.PodEffect.MAY_MOVE: ("may move", "strong"),
    pod_comparisons.PodEffect.BREAKS: ("becomes unschedulable", "bad"),
    pod_comparisons.PodEffect.MENDS: ("becomes schedulable", "good"),
    pod_comparisons.PodEffect.OTHERWISE: ("pending for other reasons", "strong"),
    pod_comparisons.PodEffect.UNCLEAR: ("inconclusive", "bad"),
}
_VERDICTS = {
    Verdict.UNSCHEDULABLE: "unschedulable",
    Verdict.GATED: "gated",
    Verdict.DELETING: "terminating",
    Verdict.FOREIGN_SCHEDULER: "of another scheduler",
    Verdict.ERROR: "error",
    Verdict.REJECTED: "rejected by the API server",
    Verdict.INCONCLUSIVE: "inconclusive",
}


def lines(report: pod_comparisons.ExplainComparison, *, wide: bool = False, limit: int = 0) -> Iterator[Block]:
    """Yield the comparison of explanations as lines and tables.

    Args:
        report: what to tell.
        wide: show every pod, also those that are the same.
        limit: show so many pods, 0 for what suits.
    """
    entries = limit or (ALL if wide else comparisons.FEW)
    yield from comparisons.sides([each.side for each in report.sides])
    yield from notices.what_if(report.metadata.what_if)
    yield BLANK
    for tally in report.summary.tallies:
        yield _tally(tally, report.sides[0], report.summary.pods)
    differing = [
        pod
        for pod in report.results
        if wide or any(each.effect is not pod_comparisons.PodEffect.SAME for each in pod.differences)
    ]
    if differing:
        yield BLANK
        yield from _pods(differing[:entries], report.sides)
        yield from notices.rest(len(differing) - entries)
    yield BLANK
    if report.summary.pods > 1:
        if any(each.scheduled for each in report.sides):
            yield from _spread(report.sides)
            yield BLANK
        yield notices.note(
            "each pod is judged alone on the cluster as it is; `schedctl simulate` places one after another"
        )
    yield from notices.not_known(report.metadata.missing)
    yield notices.end(report.metadata, several=True, wide=wide)


def _tally(tally: pod_comparisons.Tally, first: pod_comparisons.SideSummary, pods: int) -> Line:
    if tally.same == pods:
        return comparisons.no_moves(tally.side, first.side.name, pods, pods - first.scheduled)
    parts = (
        (tally.same, f"{tally.same} the same", ""),
        (tally.moves, comparisons.plural(tally.moves, "moves", "move"), "strong"),
        (tally.may_move, f"{tally.may_move} may move", "strong"),
        (tally.breaks, comparisons.plural(tally.breaks, "becomes unschedulable", "become unschedulable"), "bad"),
        (tally.mends, comparisons.plural(tally.mends, "becomes schedulable", "become schedulable"), "good"),
        (tally.otherwise, f"{tally.otherwise} pending for other reasons", ""),
        (tally.unclear, f"{tally.unclear} inconclusive", "bad"),
    )
    return Line((comparisons.against(tally.side, first.side.name), *comparisons.tally(parts)))


def _pods(
    pods: Sequence[pod_comparisons.PodComparison], sides: Sequence[pod_comparisons.SideSummary]
) -> Iterator[Block]:
    heads = ("POD", *(each.side.name for each in sides), *(f"EFFECT OF {each.side.name}" for each in sides[1:]))
    rows: list[Sequence[Cell]] = []
    for pod in pods:
        places = [(Span(_place(outcome)),) for outcome in pod.outcomes]
        effects = [(Span(*_WORDS[each.effect]),) for each in pod.differences]
        rows.append(((Span(f"{pod.pod.namespace}/{pod.pod.name}"),), *places, *effects))
    yield Table(rows, 0, heads)
    why = [(pod, each) for pod in pods for each in pod.differences if each.text]
    if why:
        yield BLANK
    for pod, difference in why:
        yield _why(pod, difference)


def _place(outcome: pod_comparisons.PodAnswer) -> str:
    if outcome.verdict is Verdict.SCHEDULED:
        tied = f" ({len(outcome.ties)} tied)" if len(outcome.ties) > 1 else ""
        return f"{outcome.node}{tied}"
    return _VERDICTS[outcome.verdict]


def _why(pod: pod_comparisons.PodComparison, difference: pod_comparisons.PodDifference) -> Line:
    word, style = _WORDS[difference.effect]
    before = pod.outcomes[0].node
    after = next(outcome.node for outcome in pod.outcomes if outcome.side == difference.side)
    route = (
        f" {before} → {after}"
        if difference.effect in (pod_comparisons.PodEffect.MOVES, pod_comparisons.PodEffect.MAY_MOVE)
        and before != after
        else ""
    )
    name = Span(f"{pod.pod.namespace}/{pod.pod.name} ", "strong")
    return Line((name, Span(f"{word}{route}", style), Span(f": {difference.text}")), hang=2)


def _spread(sides: Sequence[pod_comparisons.SideSummary]) -> Iterator[Block]:
    heads = ("SIDE", "SCHEDULED", "BY PREEMPTION", "NODES", "MOST ON ONE", "ZONES")
    rows: list[Sequence[Cell]] = []
    for each in sides:
        numbers = (each.scheduled, each.preempting, each.nodes, each.fullest)
        cells = [(Span(str(number)),) for number in numbers]
        rows.append(((Span(each.side.name),), *cells, (Span(_zones(each.zones)),)))
    yield Table(rows, 0, heads, frozenset(range(1, 5)))


def _zones(zones: Mapping[str, int]) -> str:
    return counts.by_zone(zones) if any(zones) else "-"


def word(effect: pod_comparisons.PodEffect) -> str:
    """Return what another configuration does to a pod, in words."""
    return _WORDS[effect][0]

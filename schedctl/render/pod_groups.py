"""A pod group in text: the verdict on the group, how far each placement got, who fails and why, and what would help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.render import notices
from schedctl.render.layout import ALL, Block, Line, Span, Table, line, separate
from schedctl.reports import counts
from schedctl.reports.pod_groups import GroupTrial, GroupVerdict, MemberCause, PodGroupResult

_FEW = 5


def blocks(result: PodGroupResult, *, wide: bool = False, limit: int = 0) -> Iterator[Block]:
    """Yield what is told of a group.

    Args:
        result: the group.
        wide: every entry of a list.
        limit: so many entries, 0 for what suits.
    """
    entries = limit or (ALL if wide else _FEW)
    yield headline(result)
    sections = (
        _placements(result, entries),
        _nodes(result, entries),
        *(_cause(cause, result, entries) for cause in result.causes[:entries]),
        _missing(result),
        (*notices.fixes(result.hints, commands=wide), *map(notices.note, result.notes)),
        tuple(_condition(result)),
        tuple(_behind(result, entries)),
    )
    yield from separate(sections)


def headline(result: PodGroupResult) -> Line:
    """Return the verdict on a group."""
    return Line((Span(f"podgroup {result.namespace}/{result.name}: ", "strong"), Span(result.text, _style(result))))


def _style(result: PodGroupResult) -> str:
    return "good" if result.starts else "bad"


def _placements(result: PodGroupResult, entries: int) -> Sequence[Block]:
    """Return how far the group got in each placement, where there is a choice."""
    trials = [trial for trial in result.trials if trial.placement]
    if not trials:
        return ()
    ordered = sorted(trials, key=lambda trial: (not trial.chosen, not trial.feasible, -trial.placed))
    rows = [
        [
            (Span(f"{result.topology_key}={trial.placement}"),),
            (Span(str(trial.nodes)),),
            (Span(f"{trial.placed} of {trial.tried} tried", "good" if trial.feasible else "bad"),),
            (Span(_word(trial)),),
        ]
        for trial in ordered[:entries]
    ]
    table = Table(rows, 2, ("PLACEMENT", "NODES", "PODS PLACED", ""), frozenset((1,)), folding=1)
    return (table, *notices.rest(len(ordered) - entries))


def _word(trial: GroupTrial) -> str:
    if trial.chosen:
        scores = ", ".join(f"{plugin} {score}" for plugin, score in trial.scores.items())
        return f"taken ({scores})" if scores else "taken"
    if trial.feasible:
        return "would do" + (f" ({sum(trial.scores.values())})" if trial.scores else "")
    return trial.message


def _nodes(result: PodGroupResult, entries: int) -> Sequence[Block]:
    """Return which nodes its pods would go to, or run on."""
    if not result.nodes:
        return ()
    names = [f"{node} ×{pods}" if pods > 1 else node for node, pods in result.nodes.items()]
    where = "would run on" if result.placed else "runs on"
    return (Line((Span(f"{where}: ", "faint"), Span(notices.few(names, entries))), 2),)


def _cause(cause: MemberCause, result: PodGroupResult, entries: int) -> Sequence[Block]:
    """Return why pods found no node; kube-scheduler's own pass and the second one are told apart."""
    pods = counts.of(len(cause.pods), "pod")
    if cause.reached:
        what = f"{pods} tried without finding a node"
    else:
        what = f"second pass: {pods} that kube-scheduler no longer tries would find no node either"
    found: list[Block] = [Line((Span(what, "strong"), Span(f": {notices.few(cause.pods, min(entries, 2))}", "faint")))]
    for reason in cause.reasons[:entries]:
        found.extend(notices.cause_and_diagnosis(reason, 2))
        if reason.detail:
            found.extend(line(part, indent=4) for part in notices.parts(reason.detail)[:2])
    found.extend(notices.kubernetes_line(cause.message, 2))
    return found


def _missing(result: PodGroupResult) -> Sequence[Block]:
    return [Line((Span("missing: ", "bad"), Span(each.text)), hang=9) for each in result.missing]


def _condition(result: PodGroupResult) -> Iterator[Block]:
    """Yield kube-scheduler's own words about the group."""
    if result.message and result.verdict is not GroupVerdict.GATED:
        yield Line((Span("PodGroupInitiallyScheduled: ", "faint"), Span(result.reason)), hang=0)
        yield from notices.kubernetes_line(result.message)


def _behind(result: PodGroupResult, entries: int) -> Iterator[Block]:
    if result.waiting and not result.starts:
        yield Line((Span("behind it in the queue: ", "faint"), Span(notices.few(result.waiting, entries))), hang=2)

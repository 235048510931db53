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
        *_causes(result, entries),
        _missing(result),
        (*notices.fixes(result.hints, commands=wide), *map(notices.note, result.notes)),
        _scale_up(result, entries),
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
            (Span(trial.placement),),
            (Span(str(trial.nodes)),),
            (Span(str(trial.placed), "good" if trial.feasible else "bad"),),
            (Span(_word(trial)),),
        ]
        for trial in ordered[:entries]
    ]
    heads = (result.topology_key.rpartition("/")[2].upper(), "NODES", "PLACED", "")
    return (Table(rows, 2, heads, frozenset((1, 2)), folding=1), *notices.rest(len(ordered) - entries))


def _word(trial: GroupTrial) -> str:
    if trial.chosen:
        scores = ", ".join(f"{plugin} {score}" for plugin, score in trial.scores.items())
        return f"taken ({scores})" if scores else "taken"
    if trial.feasible:
        return "feasible" + (f" (score {sum(trial.scores.values())})" if trial.scores else "")
    # that too few found a node is what the numbers say
    return f"stopped after {counts.of(trial.tried, 'pod')}" if trial.message.startswith("minCount") else trial.message


def _nodes(result: PodGroupResult, entries: int) -> Sequence[Block]:
    """Return which nodes its pods would go to, or run on."""
    if not result.nodes:
        return ()
    names = [f"{node} ×{pods}" if pods > 1 else node for node, pods in result.nodes.items()]
    where = "would run on" if result.placed or result.attempts else "runs on"
    return (Line((Span(f"{where}: ", "faint"), Span(notices.few(names, entries))), 2),)


def _causes(result: PodGroupResult, entries: int) -> Iterator[Sequence[Block]]:
    """Yield why pods found no node; those of kube-scheduler's pass and of the second one are told apart."""
    together: dict[tuple[str, ...], list[MemberCause]] = {}
    for cause in result.causes:
        words = tuple(reason.text for reason in cause.reasons) or (cause.message,)
        together.setdefault(words, []).append(cause)
    for causes in list(together.values())[:entries]:
        pods = [pod for cause in causes for pod in cause.pods]
        later = sum(len(cause.pods) for cause in causes if not cause.reached)
        found: list[Block] = [
            Line(
                (
                    Span(f"{counts.of(len(pods), 'pod')} without a node: ", "strong"),
                    Span(notices.few(pods, min(entries, 2)), "faint"),
                )
            )
        ]
        if later:
            text = f"second pass: kube-scheduler no longer tries {later} of them"
            found.append(line(text, "faint", indent=2))
        for reason in causes[0].reasons[:entries]:
            found.extend(notices.cause_and_diagnosis(reason, 2))
            found.extend(line(part, indent=4) for part in notices.parts(reason.detail) if part)
        found.extend(notices.kubernetes_line(causes[0].message, 2))
        yield found


def _missing(result: PodGroupResult) -> Sequence[Block]:
    return [Line((Span("missing: ", "bad"), Span(each.text)), hang=9) for each in result.missing]


def _scale_up(result: PodGroupResult, entries: int) -> Sequence[Block]:
    """Return what new nodes would change: the group of nodes that would be taken, then the others."""
    if not result.scale_up:
        return ()
    best = next((each for each in result.scale_up if each.new_nodes), None)
    others = [each for each in result.scale_up if each is not best]
    text = best.text if best is not None else "no new nodes of any group would let it start"
    return (
        Line((Span("scale-up: ", "hint"), Span(text, "" if best is not None else "bad")), hang=10),
        *(Line((Span(f"{each.group}: ", "strong"), Span(each.text)), 2, hang=2) for each in others[:entries]),
        *notices.rest(len(others) - entries, 2),
    )


def _condition(result: PodGroupResult) -> Iterator[Block]:
    """Yield kube-scheduler's own words about the group."""
    if result.message and result.verdict is not GroupVerdict.GATED:
        yield Line((Span("PodGroupInitiallyScheduled: ", "faint"), Span(result.reason)), hang=0)
        yield from notices.kubernetes_line(result.message)


def _behind(result: PodGroupResult, entries: int) -> Iterator[Block]:
    if result.waiting and not result.starts:
        yield Line((Span("behind it in the queue: ", "faint"), Span(notices.few(result.waiting, entries))), hang=2)

"""The same pods explained under several configurations, side by side: who moves, who breaks, and which plugin it is.

Why a pod moves is told by the two nodes alone: who refuses one of them, or by how much, in which plugin's score, the
one leads over the other. All of this reads explanations, and runs no plugin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from schedctl.framework import wording
from schedctl.reports import exit_codes, pod_comparisons
from schedctl.reports.explanations import Explanation, Verdict
from schedctl.reports.metadata import Metadata, Side
from schedctl.reports.pod_comparisons import NodeRefusal, PodEffect

_SHOWN = 3
"""How many plugins a sentence names."""


def compare(
    sides: Sequence[Side],
    answers: Sequence[Sequence[Explanation]],
    *,
    metadata: Metadata,
    zones: Mapping[str, str],
    fail: bool = False,
) -> pod_comparisons.ExplainComparison:
    """Return the comparison of explanations.

    Args:
        sides: the configurations; the others are compared with the first.
        answers: the explanations under each, of the same pods in the same order.
        metadata: under which conditions they were made.
        zones: the zone of each node by name, "" for none.
        fail: whether a pod that breaks makes the exit code 1 (``--exit-code``).
    """
    results = [_pod(sides, under_each) for under_each in zip(*answers, strict=True)]
    tallies = []
    for number, side in enumerate(sides[1:]):
        counts = Counter(result.differences[number].effect for result in results)
        tallies.append(
            pod_comparisons.Tally(
                side=side.name,
                same=counts[PodEffect.SAME],
                moves=counts[PodEffect.MOVES],
                may_move=counts[PodEffect.MAY_MOVE],
                breaks=counts[PodEffect.BREAKS],
                mends=counts[PodEffect.MENDS],
                otherwise=counts[PodEffect.OTHERWISE],
                unclear=counts[PodEffect.UNCLEAR],
            )
        )
    broken = fail and any(tally.breaks for tally in tallies)
    unclear = any(tally.unclear for tally in tallies)
    return pod_comparisons.ExplainComparison(
        metadata=metadata,
        summary=pod_comparisons.ExplainComparisonSummary(
            exit_code=exit_codes.of_answer(failed=broken, inconclusive=unclear), pods=len(results), tallies=tallies
        ),
        sides=[_side(side, explained, zones) for side, explained in zip(sides, answers, strict=True)],
        results=results,
    )


def _side(side: Side, answers: Sequence[Explanation], zones: Mapping[str, str]) -> pod_comparisons.SideSummary:
    nodes = Counter(answer.chosen for answer in answers if answer.verdict is Verdict.SCHEDULED)
    by_zone: Counter[str] = Counter()
    for node, number in nodes.items():
        by_zone[zones.get(node, "")] += number
    return pod_comparisons.SideSummary(
        side=side,
        scheduled=nodes.total(),
        preempting=sum(bool(answer.preemption.nominated_node) for answer in answers),
        nodes=len(nodes),
        fullest=max(nodes.values(), default=0),
        zones=dict(sorted(by_zone.items())),
    )


def _pod(sides: Sequence[Side], answers: Sequence[Explanation]) -> pod_comparisons.PodComparison:
    return pod_comparisons.PodComparison(
        pod=answers[0].pod,
        outcomes=[_outcome(side, answer) for side, answer in zip(sides, answers, strict=True)],
        differences=[
            _difference(sides[0], answers[0], side, answer) for side, answer in zip(sides[1:], answers[1:], strict=True)
        ],
    )


def _outcome(side: Side, answer: Explanation) -> pod_comparisons.PodAnswer:
    scheduled = answer.verdict is Verdict.SCHEDULED
    return pod_comparisons.PodAnswer(
        side=side.name,
        verdict=answer.verdict,
        profile=answer.profile,
        node=answer.chosen if scheduled else "",
        ties=answer.ties if scheduled else [],
        score=answer.score if scheduled else None,
        plugins=answer.unschedulable_plugins,
        message=answer.message,
        error=answer.error,
        nominated_node=answer.preemption.nominated_node,
        victims=answer.preemption.victims,
    )


# -- one pod, two sides ------------------------------------------------------------


def _difference(first: Side, before: Explanation, other: Side, after: Explanation) -> pod_comparisons.PodDifference:
    effect = _effect(before, after)
    text, shifts, refusals = "", list[pod_comparisons.Shift](), list[NodeRefusal]()
    match effect:
        case PodEffect.MOVES | PodEffect.MAY_MOVE:
            refusals = [
                *_refusals(other, after, before.chosen),
                *_refusals(first, before, after.chosen),
            ]
            shifts = _shifts(before, after)
            text = _mover_text(effect, first, before, other, after, shifts, refusals)
        case PodEffect.BREAKS:
            refusals = _refusals(other, after, before.chosen)
            text = _unplaced_text(other, after, refusals)
        case PodEffect.MENDS:
            refusals = _refusals(first, before, after.chosen)
            text = _unplaced_text(first, before, refusals)
        case PodEffect.OTHERWISE:
            text = f"{_unplaced_text(first, before, [])}; {_unplaced_text(other, after, [])}"
        case PodEffect.UNCLEAR:
            text = _inconclusive_text(first, before) or _inconclusive_text(other, after)
    return pod_comparisons.PodDifference(side=other.name, effect=effect, text=text, shifts=shifts, refusals=refusals)


def _effect(before: Explanation, after: Explanation) -> PodEffect:
    if Verdict.INCONCLUSIVE in (before.verdict, after.verdict):
        return PodEffect.UNCLEAR
    had, has = before.verdict is Verdict.SCHEDULED, after.verdict is Verdict.SCHEDULED
    if had and has:
        old, new = set(before.ties), set(after.ties)  # where they overlap, kube-scheduler may take the same node
        return PodEffect.SAME if old == new else PodEffect.MAY_MOVE if old & new else PodEffect.MOVES
    if had or has:
        return PodEffect.BREAKS if had else PodEffect.MENDS
    alike = before.verdict is after.verdict and _room(before) == _room(after)
    return PodEffect.SAME if alike else PodEffect.OTHERWISE


def _room(answer: Explanation) -> tuple[str, list[str]]:
    return answer.preemption.nominated_node, answer.preemption.victims


def _inconclusive_text(side: Side, answer: Explanation) -> str:
    if answer.verdict is not Verdict.INCONCLUSIVE:
        return ""
    why = answer.error or next((guess.text for guess in answer.guesses if guess.decides), "")
    return f"under {side.name} schedctl cannot tell: {why}" if why else f"under {side.name} schedctl cannot tell"


def _mover_text(
    effect: PodEffect,
    first: Side,
    before: Explanation,
    other: Side,
    after: Explanation,
    shifts: Sequence[pod_comparisons.Shift],
    refusals: Sequence[NodeRefusal],
) -> str:
    parts = [_rejection_text(refusal) for refusal in refusals]
    if effect is PodEffect.MAY_MOVE:
        parts.append(
            f"kube-scheduler would choose any of {wording.few(before.ties)} under {first.name},"
            f" any of {wording.few(after.ties)} under {other.name}"
        )
    if shifts:
        parts.append(f"lead of {before.chosen} over {after.chosen}: {_shifts_text(shifts)}")
    return "; ".join(parts)


def _shifts_text(shifts: Sequence[pod_comparisons.Shift]) -> str:
    named = [f"{shift.plugin} {_with_sign(shift.before)} → {_with_sign(shift.after)}" for shift in shifts[:_SHOWN]]
    more = [f"+{len(shifts) - _SHOWN} more"] if len(shifts) > _SHOWN else []
    return ", ".join([*named, *more])


def _with_sign(lead: int | None) -> str:
    return "no score" if lead is None else f"{lead:+}" if lead else "0"


def _unplaced_text(side: Side, answer: Explanation, refusals: Sequence[NodeRefusal]) -> str:
    """Return in words why a pod has no node under a side."""
    match answer.verdict:
        case Verdict.FOREIGN_SCHEDULER:
            return f"no profile of {side.name} has schedulerName {answer.pod.scheduler_name}"
        case Verdict.GATED:
            held = f": waits for {', '.join(answer.gates)}" if answer.gates else ""
            return f"gated under {side.name}{held}"
        case Verdict.DELETING:
            return f"terminating under {side.name}"
        case Verdict.REJECTED:
            return f"rejected by the API server: {answer.error}"
        case Verdict.ERROR:
            return f"under {side.name} the cycle fails: {answer.error}"
    parts = [_rejection_text(refusal) for refusal in refusals] or [f"no node is feasible under {side.name}"]
    if answer.reservation is not None and answer.reservation.text:
        parts = [f"under {side.name} {answer.reservation.text}"]
    if answer.preemption.nominated_node:
        victims = len(answer.preemption.victims)
        pods = "1 pod" if victims == 1 else f"{victims} pods"
        parts.append(f"preemption makes room on {answer.preemption.nominated_node} by evicting {pods}")
    return ", ".join(parts)


def _rejection_text(refusal: NodeRefusal) -> str:
    by = f" [{refusal.plugin}]" if refusal.plugin else ""
    return f"{refusal.node} is rejected under {refusal.side}: {refusal.text}{by}"


def _refusals(side: Side, answer: Explanation, node: str) -> list[NodeRefusal]:
    """Return why a side rejects a node; nothing where it does not, or where nobody was asked about it."""
    return [
        NodeRefusal(side=side.name, node=node, plugin=reason.plugin, text=reason.text)
        for reason in answer.reasons
        if reason.whole_pod or any(node in group.nodes for group in reason.groups)
    ]


# -- scores ------------------------------------------------------------------------


def _shifts(before: Explanation, after: Explanation) -> list[pod_comparisons.Shift]:
    """Return the plugins in whose scores the lead of the one node over the other differs, the largest first."""
    leads = _leads(before, before.chosen, after.chosen), _leads(after, before.chosen, after.chosen)
    names = dict.fromkeys((*leads[0], *leads[1])) if all(leads) else ()
    found = [pod_comparisons.Shift(plugin=name, before=leads[0].get(name), after=leads[1].get(name)) for name in names]
    return sorted(filter(_swing, found), key=_swing, reverse=True)


def _swing(shift: pod_comparisons.Shift) -> int:
    return abs((shift.after or 0) - (shift.before or 0))


def _leads(answer: Explanation, node: str, other: str) -> dict[str, int]:
    """Return by plugin by how much a node leads over another in the weighted score; nothing where one has none."""
    scores = {score.node: score.plugins for score in answer.scores if score.node in (node, other)}
    if node not in scores or other not in scores:
        return {}
    ours, theirs = ({each.plugin: each.weighted for each in scores[name]} for name in (node, other))
    return {plugin: score - theirs[plugin] for plugin, score in ours.items()}

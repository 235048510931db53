"""What preemption would cost: the nodes where it makes room, why one of them, who would be evicted, and what then.

Candidates and victims are read off the attempt, and must be before the cluster changes. What becomes of the victims
nobody else tells: kube-scheduler evicts them and lets their controllers see. `rehomed` plays it through on a fork.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from schedctl.cache.pod_info import PodInfo
from schedctl.engine.assumptions import FILTERING
from schedctl.engine.attempts import Attempt
from schedctl.engine.certainty import assumptions_affecting_verdict
from schedctl.engine.filtering import Filtering, filter_column
from schedctl.errors import NotModelled
from schedctl.explain.evidence import rejections_by
from schedctl.framework import wording
from schedctl.framework.pod_edits import as_pending
from schedctl.framework.points import PostFilterResult
from schedctl.plugins.default_preemption import plugin
from schedctl.plugins.default_preemption.candidates import Candidates, Criterion
from schedctl.plugins.default_preemption.victims import budgets_of
from schedctl.reports.explanations import Candidate, Outlook, Preemption, Victim
from schedctl.scheduler.schedulers import Scheduler

_KEEPS_DEVICES, _KEEPS_VOLUMES = "DynamicResources", "NodeVolumeLimits"
"""The plugins to which an eviction may free nothing: devices are their claims', volumes stay attached."""


def outlook(outcome: Attempt) -> tuple[Outlook | None, str]:
    """Return what it would take for the pod to run, and the same in words where that is news.

    Nothing is said where filters guess, or extenders refuse: what they would say of empty nodes nobody knows.
    """
    if any(each.point in FILTERING for each in outcome.assumptions):
        return None, ""
    if outcome.chosen:
        return Outlook.FITS, ""
    if outcome.filtering is None or outcome.judged is None or outcome.error:
        return None, ""
    if outcome.post_filter is not None and outcome.post_filter.nominated_node:
        return Outlook.FITS_AFTER_PREEMPTION, ""
    if outcome.consultation is not None and outcome.consultation.rejected:
        return None, ""
    empty = outcome.judged.without_pods()
    found = filter_column(outcome.profile, outcome.cycle, empty)
    names = [name for name, fit in zip(empty.names, found.feasible.tolist(), strict=True) if fit]
    if not names:
        told = ["the pod would fit on no node of the cluster, even if no pod ran there", *_left(found)]
        return Outlook.FITS_NOWHERE, "; ".join(told)
    return Outlook.FITS_EMPTY_NODE, f"the pod would fit on {wording.few(sorted(names))} if no pod ran there"


def _left(found: Filtering) -> list[str]:
    """What evictions would leave behind on nodes that are refused because of it."""
    told = []
    if any(refusal.plugin == _KEEPS_DEVICES for refusal in found.refusals):
        told.append("devices would stay with their claims")
    if any(refused.evidence.get("used") for refused in rejections_by(found, _KEEPS_VOLUMES)):
        told.append("volumes would stay attached until they are detached")
    return told


def preemption(outcome: Attempt) -> Preemption:
    """Return what PostFilter achieved; what becomes of the victims is left open."""
    result = outcome.post_filter
    if result is None:
        return Preemption()
    answer = Preemption(
        tried=True,
        code=result.status.code.label,
        plugin=result.status.plugin,
        message=result.status.message,
        nominated_node=result.nominated_node or "",
        victims=sorted(info.key for info in result.victims),
    )
    found = result.findings
    if not isinstance(found, plugin.Preemption) or found.candidates is None:
        return answer
    answer = msgspec.structs.replace(
        answer,
        potential_nodes=found.potential,
        tried_nodes=found.tried,
        enough=found.enough,
        candidates=_candidates(found.candidates),
    )
    if found.choice is None:
        return answer
    names = found.candidates.nodes.names
    return msgspec.structs.replace(
        answer,
        criterion=found.choice.criterion.value if found.choice.criterion is not None else "",
        ties=[names[i] for i in found.choice.ties.tolist()],
        evictions=list(_evictions(outcome, result, found.candidates, found.choice.candidate)),
        text=_reason(found),
    )


def rehomed(scheduler: Scheduler, outcome: Attempt, answer: Preemption) -> Preemption:
    """Return the answer with the places the victims would find: the pod is placed first, then they are in turn.

    Args:
        scheduler: to play it through with; as before when the answer is there.
        outcome: the attempt; must be read out already.
        answer: what was read off it.
    """
    if outcome.post_filter is None or not answer.evictions:
        return answer
    with scheduler.fork():
        scheduler.make_room(outcome)
        again = scheduler.attempt(outcome.pod)
        if again.chosen:
            scheduler.place(again)
        evictions = [
            _rehomed(scheduler, victim, info)
            for victim, info in zip(answer.evictions, outcome.post_filter.victims, strict=True)
        ]
    return msgspec.structs.replace(answer, evictions=evictions)


def _rehomed(scheduler: Scheduler, victim: Victim, info: PodInfo) -> Victim:
    if victim.terminating:
        return victim
    pod = PodInfo(as_pending(info.pod))
    if scheduler.profile_of(pod) is None:
        return victim
    try:
        outcome = scheduler.attempt(pod)
    except NotModelled:
        return victim
    if outcome.chosen:
        scheduler.place(outcome)
    if assumptions_affecting_verdict(outcome):
        return victim
    where = f"one like it would find room on {outcome.chosen}" if outcome.chosen else "one like it would find no room"
    return msgspec.structs.replace(victim, elsewhere=outcome.chosen, text=f"{victim.text}; {where}")


def _candidates(found: Candidates) -> list[Candidate]:
    """Return the candidates, the best first."""
    costs = zip(*(found.values(criterion).tolist() for criterion in Criterion), strict=True)
    violations = found.violations.tolist()
    candidates = (
        Candidate(
            node=node,
            violations=broken,
            highest_priority=victims[0].priority,
            priority_sum=sum(info.priority for info in victims),
            victims=[info.key for info in victims],
            started=victims[0].pod.status.start_time or "",
        )
        for node, broken, victims in zip(found.nodes.names, violations, found.every_victim(), strict=True)
    )
    ordered = sorted(zip(costs, candidates, strict=True), key=lambda costed: costed[0])
    return [candidate for _, candidate in ordered]


def _evictions(outcome: Attempt, result: PostFilterResult, found: Candidates, chosen: int) -> Iterator[Victim]:
    begin, end = found.begin[chosen : chosen + 2].tolist()
    breaking = found.violating[begin:end].tolist()
    budgets = budgets_of(outcome.cluster, result.victims)
    for info, breaks, keys in zip(result.victims, breaking, budgets, strict=True):
        yield Victim(
            pod=info.key,
            priority=info.priority,
            start_time=info.pod.status.start_time or "",
            terminating=info.terminating,
            budgets=keys,
            breaks_budget=breaks,
            text=", ".join([f"priority {info.priority}", *_effects(info, breaks, keys)]),
        )


def _effects(info: PodInfo, breaks: bool, budgets: Sequence[str]) -> Iterator[str]:
    if budgets:
        yield f"{'breaks' if breaks else 'is within'} budget {wording.few(budgets)}"
    if info.terminating:
        yield "is on its way out already"


def _reason(found: plugin.Preemption) -> str:
    """Return why this node was chosen, and among how many."""
    assert found.candidates is not None
    assert found.choice is not None
    number, name = len(found.candidates), found.candidates.name(found.choice.candidate)
    others = len(found.choice.ties) - 1
    if number == 1:
        why = f"{name} is the only node found where evictions make room"
    elif found.choice.criterion is not None:
        why = f"of {number} nodes where evictions make room, {name} has the {found.choice.criterion.value}"
    else:
        as_good = f"{others} other{' is' if others == 1 else 's are'} as good"
        why = f"of {number} nodes where evictions make room, {name} is taken, the first by name: {as_good}"
    if found.tried == found.potential:
        return why
    where = "kube-scheduler begins at a random node, schedctl with the first by name"
    return f"{why}; the search ended after {found.tried} of {found.potential} nodes ({where})"

"""How a preemption by DefaultPreemption reads: the candidates, why one of them was chosen, and what evictions break."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from schedctl.cache.pod_info import PodInfo
from schedctl.framework.points import PostFilterResult
from schedctl.framework.wording import few
from schedctl.plugins.default_preemption import candidates
from schedctl.plugins.default_preemption.candidates import Candidates, Criterion
from schedctl.plugins.default_preemption.victims import budgets_of
from schedctl.reports.explanations import Candidate, Preemption, Victim


def explain(found: candidates.Preemption, result: PostFilterResult, answer: Preemption) -> Preemption:
    """Return an answer with the candidates, and with the victims on the one that was chosen."""
    if found.candidates is None:
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
        evictions=list(_evictions(result, found.candidates, found.choice.candidate)),
        text=_reason(found),
    )


def _candidates(found: Candidates) -> list[Candidate]:
    """Return the candidates, the best first."""
    costs = zip(*(found.values(criterion).tolist() for criterion in Criterion), strict=True)
    violations = found.violations.tolist()
    answers = (
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
    ordered = sorted(zip(costs, answers, strict=True), key=lambda costed: costed[0])
    return [candidate for _, candidate in ordered]


def _evictions(result: PostFilterResult, found: Candidates, chosen: int) -> Iterator[Victim]:
    begin, end = found.begin[chosen : chosen + 2].tolist()
    breaking = found.violating[begin:end].tolist()
    budgets = budgets_of(found.nodes.cluster, result.victims)
    for info, breaks, keys in zip(result.victims, breaking, budgets, strict=True):
        yield Victim(
            pod=info.key,
            priority=info.priority,
            start_time=info.pod.status.start_time or "",
            terminating=info.is_terminating,
            budgets=keys,
            breaks_budget=breaks,
            text=", ".join([f"priority {info.priority}", *_effects(info, breaks, keys)]),
        )


def _effects(info: PodInfo, breaks: bool, budgets: Sequence[str]) -> Iterator[str]:
    if budgets:
        yield f"{'violates' if breaks else 'within'} PDB {few(budgets)}"
    if info.is_terminating:
        yield "already terminating"


def _reason(found: candidates.Preemption) -> str:
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
        as_good = f"{others} other{' is' if others == 1 else 's are'} equally good"
        why = f"of {number} nodes where evictions make room, {name} is chosen as the first by name: {as_good}"
    if found.tried == found.potential:
        return why
    where = "kube-scheduler begins at a random node, schedctl with the first by name"
    return f"{why}; the search ended after {found.tried} of {found.potential} nodes ({where})"

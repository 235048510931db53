"""``no-preemption``: nothing is evicted for the pods of a workload."""

from __future__ import annotations

from collections.abc import Iterable

from schedctl.policy import fields, findings
from schedctl.policy.documents import NoPreemption
from schedctl.policy.identities import owners
from schedctl.policy.situations import JudgedWorkload, Situation
from schedctl.reports import counts
from schedctl.simulation.outcomes import Eviction

_SHOWN = 5


def judge(view: findings.View, arguments: NoPreemption, about: findings.Judged) -> Iterable[findings.Finding]:
    """Judge a workload: no more than so many pods have to go for its pods."""
    judged = about.workload
    assert judged is not None
    floor = arguments.below_priority
    victims = [
        eviction
        for eviction in view.situation.evictions_for(judged.keys)
        if floor is None or eviction.pod.priority >= floor
    ]
    message = f"would preempt {counts.of(len(victims), 'pod')}, {counts.at_most(arguments.max)} allowed"
    if len(victims) > arguments.max:
        reasons = describe_victims(victims, view.situation)
        violates = preempted(victims, view.situation)
        yield findings.violation(message, reasons, path=_priority(judged), violates=violates)
    elif judged.unclear_pods:
        yield findings.inconclusive(f"{message}; {counts.of(len(judged.unclear_pods), 'pod')} inconclusive").because(
            view.causes.explain_pending(judged.unclear_pods)
        )
    else:
        yield findings.pass_finding(message)


def describe_victims(victims: list[Eviction], situation: Situation) -> list[str]:
    """Return who had to go for whom, a line each."""
    lines = []
    for eviction in victims[:_SHOWN]:
        after = situation.latest_key(eviction.pod.key)
        node = situation.node_of(after) if after else ""
        pending = "recreated, but pending" if after != eviction.pod.key else "lost: no controller recreates it"
        then = f"recreated on {node}" if node else pending
        victim = f"{eviction.pod.key} (priority {eviction.pod.priority}, on {eviction.node})"
        lines.append(f"{victim} would be preempted by {eviction.by}; {then}")
    if len(victims) > _SHOWN:
        lines.append(f"and {len(victims) - _SHOWN} more")
    return lines


def preempted(victims: Iterable[Eviction], situation: Situation) -> dict[str, int]:
    """Return how many pods of each workload would be preempted, as what a finding violates."""
    pods = (eviction.pod for eviction in victims)
    return {f"preempts {name}": count for name, count in owners(pods, situation.cluster).items()}


def _priority(judged: JudgedWorkload) -> fields.Path:
    return fields.first(judged.pods[0].info.pod.spec, fields.PRIORITY) if judged.pods else ()

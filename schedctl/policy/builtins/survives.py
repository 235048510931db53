"""``survives``: in each case of a scenario the pods of each workload still find nodes."""

from __future__ import annotations

from collections.abc import Iterable

from schedctl.policy import findings
from schedctl.policy.builtins.no_preemption import describe_victims, preempted
from schedctl.policy.documents import BASELINE, Survives
from schedctl.policy.pod_groups import group_names
from schedctl.policy.situations import JudgedPod, JudgedWorkload
from schedctl.reports import counts
from schedctl.simulation.what_ifs import abbreviate

_SHOWN_CHANGES = 1


def judge(view: findings.View, arguments: Survives, about: findings.Judged) -> Iterable[findings.Finding]:
    """Judge a workload: of the pods that may not be pending no more are than may be, and nobody is evicted for them."""
    judged = about.workload
    assert judged is not None
    counted_pods = [pod for pod in judged.pods if not may_be_pending(pod, arguments)]
    pending = [pod for pod in counted_pods if pod.is_pending]
    unclear = [pod for pod in counted_pods if pod.is_unclear]
    allowed = arguments.most_pending
    message = f"{counts.of(len(pending), 'pod')} of {len(counted_pods)} pending, {counts.at_most(allowed)} allowed"
    if not counted_pods:
        message = "all of its pods may be pending" if judged.pods else judged.wants_none
    keys, victims = judged.keys, []
    # Whom the release evicted before the scenario is no-preemption's concern.
    if not arguments.allow_preemption and view.situation.name != BASELINE:
        victims = [eviction for eviction in view.situation.run.evictions if eviction.by in keys]
    if len(pending) > allowed:
        violates = {"pods pending": len(pending)}
        yield findings.violation(message, _changes(view), violates=violates).because(
            view.causes.explain_pending(pending)
        )
    elif victims:
        text = f"survives only by preempting {counts.of(len(victims), 'pod')}"
        reasons = [*_changes(view), *describe_victims(victims, view.situation)]
        yield findings.violation(text, reasons, violates=preempted(victims, view.situation))
    elif len(pending) + len(unclear) > allowed:
        names = abbreviate(group_names(pod.name for pod in unclear))
        yield findings.inconclusive(f"{message}; inconclusive: {names}").because(view.causes.explain_pending(unclear))
    else:
        yield findings.pass_finding(message)


def may_be_pending(pod: JudgedPod, arguments: Survives) -> bool:
    """Return whether a pod may be pending for its priority."""
    bound = arguments.allowed_priority_below
    return bound is not None and pod.info.priority < bound


def decisive_pods(judged: JudgedWorkload, arguments: Survives) -> Iterable[str]:
    """Yield the keys of the pods whose fates decide; the others need not be placed."""
    for pod in judged.pods:
        if pod.keys and not (arguments.allow_preemption and may_be_pending(pod, arguments)):
            yield pod.keys[-1]


def _changes(view: findings.View) -> list[str]:
    return view.situation.changes[:_SHOWN_CHANGES]

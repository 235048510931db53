"""What a pod group's cycle came to, for reports: `explain` and `simulation` say the same of a group."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from schedctl.api.pod_groups import PodGroup
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.groups.cycles import GroupAttempt
from schedctl.engine.groups.trials import Trial
from schedctl.framework.pod_groups import group_key, scheduled_members
from schedctl.framework.statuses import Code
from schedctl.reports import counts
from schedctl.reports.pod_groups import GroupTrial, GroupVerdict, PodGroupResult

_replace = msgspec.structs.replace
GANG, BASIC = "Gang", "Basic"


def waiting_members(cluster: Cluster, key: str) -> list[PodInfo]:
    """Return the pods of a group that have no node, in the order in which they came."""
    return [info for info in cluster.pending.values() if group_key(info) == key]


def best_trial(attempt: GroupAttempt) -> Trial | None:
    """Return the placement in which the group got furthest: the one it takes, else that with most pods placed."""
    if attempt.status.successful:
        return attempt.chosen
    trials = attempt.trials or ([attempt.chosen] if attempt.chosen is not None else [])
    return max(trials, key=lambda trial: len(trial.assignments), default=None)


def of_attempt(attempt: GroupAttempt) -> PodGroupResult:
    """Return what becomes of a group that was tried; its pods are not placed yet."""
    cycle, best = attempt.cycle, best_trial(attempt)
    placed = len(best.assignments) if best is not None else 0
    scheduled = len(cycle.scheduled)
    condition = attempt.condition
    result = _bare(cycle.group, len(cycle.pods) + scheduled, scheduled)
    result = _replace(
        result,
        placed=placed,
        verdict=_verdict(attempt, placed),
        reason=condition.reason,
        message=condition.message,
        trials=[_trial(attempt, trial) for trial in attempt.trials],
        victims=[victim.key for victim in attempt.post_filter.victims] if attempt.post_filter is not None else [],
    )
    return _replace(result, text=describe(result))


def of_waiting(group: PodGroup, cluster: Cluster, gate: str) -> PodGroupResult:
    """Return what becomes of a group that is not tried.

    Args:
        group: the group.
        cluster: where its pods are.
        gate: what keeps it out of the queue, "" where it has no pods to place.
    """
    scheduled, waiting = scheduled_members(cluster, group.key), waiting_members(cluster, group.key)
    result = _bare(group, len(scheduled) + len(waiting), len(scheduled))
    if waiting:
        result = _replace(result, verdict=GroupVerdict.GATED, message=gate)
    elif len(scheduled) < group.min_count:
        result = _replace(result, verdict=GroupVerdict.WAITS)
    return _replace(result, text=describe(result))


def after_run(
    group: PodGroup, cluster: Cluster, attempt: GroupAttempt | None, gate: str, attempts: int
) -> PodGroupResult:
    """Return what has become of a group at the end of a run.

    Args:
        group: the group.
        cluster: as the run left it.
        attempt: its last attempt, None if it was never tried.
        gate: what keeps its pods out of the queue, "" for nothing.
        attempts: how often it was tried.
    """
    scheduled = len(scheduled_members(cluster, group.key))
    waiting = len(waiting_members(cluster, group.key))
    if attempt is None or (gate and waiting) or not waiting:
        result = of_waiting(group, cluster, gate)
        if attempt is not None:
            result = _replace(result, reason=attempt.condition.reason, message=gate or attempt.condition.message)
        return _replace(result, attempts=attempts)
    result = of_attempt(attempt)
    started = scheduled >= group.min_count and scheduled > 0
    placed = 0 if started else result.placed
    verdict = GroupVerdict.STARTS if started else result.verdict
    result = _replace(
        result, pods=scheduled + waiting, scheduled=scheduled, placed=placed, verdict=verdict, attempts=attempts
    )
    return _replace(result, text=describe(result))


def describe(result: PodGroupResult) -> str:
    """Return the verdict in words, such as ``GANG WAITS: 48 of 64 placed, needs 64``."""
    what = "GANG" if result.policy == GANG else "GROUP"
    running = result.scheduled + result.placed
    reached = f"{running} of {counts.of(result.pods, 'pod')}"
    needs = f", needs {result.min_count}" if result.policy == GANG else ""
    match result.verdict:
        case GroupVerdict.PLACED:
            return f"{what} {'RUNS' if not result.placed else 'STARTS'}: {reached} placed{needs}"
        case GroupVerdict.STARTS:
            return f"{what} {'RUNS' if not result.placed else 'STARTS'}: {reached} placed{needs}"
        case GroupVerdict.WAITS if not result.pods:
            return f"{what} WAITS: it has no pods{needs}"
        case GroupVerdict.WAITS:
            return f"{what} WAITS: {reached} placed{needs}"
        case GroupVerdict.PREEMPTS:
            victims = counts.of(len(result.victims), "pod")
            return f"{what} WAITS for preemption: {reached} placed{needs}, would evict {victims}"
        case GroupVerdict.GATED:
            return f"{what} GATED: {result.message or 'kept out of the queue'}"
        case GroupVerdict.ERROR:
            return f"{what} NOT TRIED: {result.message}"


def unstarted(results: Collection[PodGroupResult]) -> list[PodGroupResult]:
    """Return the groups that do not start."""
    return [result for result in results if not result.starts]


def placement_names(result: PodGroupResult) -> Sequence[str]:
    """Return what the placements of a group are called, for tables."""
    return [trial.placement or "all nodes" for trial in result.trials]


def _bare(group: PodGroup, pods: int, scheduled: int) -> PodGroupResult:
    return PodGroupResult(
        namespace=group.metadata.namespace,
        name=group.metadata.name,
        policy=GANG if group.is_gang else BASIC,
        min_count=group.min_count,
        topology_key=group.topology_key,
        priority=group.priority,
        pods=pods,
        scheduled=scheduled,
        verdict=GroupVerdict.PLACED,
    )


def _verdict(attempt: GroupAttempt, placed: int) -> GroupVerdict:
    if attempt.status.successful:
        return GroupVerdict.PLACED if placed == len(attempt.cycle.pods) else GroupVerdict.STARTS
    if attempt.status.code is Code.ERROR:
        return GroupVerdict.ERROR
    if attempt.awaits_preemption:
        return GroupVerdict.PREEMPTS
    running = len(attempt.cycle.scheduled)
    started = running > 0 and running >= attempt.cycle.group.min_count
    return GroupVerdict.STARTS if started else GroupVerdict.WAITS


def _trial(attempt: GroupAttempt, trial: Trial) -> GroupTrial:
    name = trial.placement.name
    return GroupTrial(
        placement=name,
        nodes=len(trial.placement.nodes),
        placed=len(trial.assignments),
        tried=len(trial.members),
        feasible=trial.status.successful,
        chosen=attempt.status.successful and trial is attempt.chosen,
        scores=attempt.scores.get(name, {}),
        message="" if trial.status.successful else trial.feasible.message or trial.status.message,
    )

"""What a pod group's cycle came to, for reports: `explain` and `simulation` say the same of a group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from schedctl.api.pod_groups import PodGroup, PodGroupCondition
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
    condition = attempt.condition
    verdict = _verdict(attempt, placed)
    if verdict is GroupVerdict.STARTS and not attempt.status.successful:
        placed = 0  # those that found a node among others that did not are not bound
    result = _bare(attempt.cluster, cycle.group, cycle.pods)
    if attempt.status.successful and best is not None:
        taken = Counter(each.node_name for each in best.assignments)
        result = _replace(result, nodes=dict(sorted((Counter(result.nodes) + taken).items())))
    result = _replace(
        result,
        placed=placed,
        verdict=verdict,
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
    waiting = waiting_members(cluster, group.key)
    result = _bare(cluster, group, waiting)
    if waiting:
        result = _replace(result, verdict=GroupVerdict.GATED, message=gate)
    elif result.scheduled < group.min_count:
        result = _replace(result, verdict=GroupVerdict.WAITS)
    return _replace(result, text=describe(result))


def after_run(
    group: PodGroup,
    cluster: Cluster,
    attempt: GroupAttempt | None,
    gate: str,
    attempts: int,
    condition: PodGroupCondition | None,
) -> PodGroupResult:
    """Return what has become of a group at the end of a run.

    Args:
        group: the group.
        cluster: as the run left it.
        attempt: its last attempt, None if it was never tried.
        gate: what keeps its pods out of the queue, "" for nothing.
        attempts: how often it was tried.
        condition: what kube-scheduler has written into its status, None if nothing.
    """
    written = condition or PodGroupCondition()
    waiting = waiting_members(cluster, group.key)
    if attempt is None or (gate and waiting) or not waiting:
        result = of_waiting(group, cluster, gate)
        result = _replace(result, attempts=attempts, reason=written.reason, message=gate or written.message)
        return _replace(result, text=describe(result))
    now, result = _bare(cluster, group, waiting), of_attempt(attempt)
    started = now.scheduled >= max(1, group.min_count)
    result = _replace(
        result,
        pods=now.pods,
        scheduled=now.scheduled,
        members=now.members,
        nodes=now.nodes,
        placed=0 if started else result.placed,
        verdict=GroupVerdict.STARTS if started else result.verdict,
        attempts=attempts,
        reason=written.reason,
        message=written.message,
    )
    return _replace(result, text=describe(result))


def describe(result: PodGroupResult) -> str:
    """Return the verdict in words, such as ``GANG WAITS: 48 of 64 placed, needs 64``."""
    what = "GANG" if result.policy == GANG else "GROUP"
    running = result.scheduled + result.placed
    reached = f"{running} of {result.pods}"
    starts = "WOULD START" if result.placed or result.attempts else "RUNS"
    needs = f", needs {result.min_count}" if result.policy == GANG else ""
    match result.verdict:
        case GroupVerdict.PLACED | GroupVerdict.STARTS:
            return f"{what} {starts}: {reached} placed{needs}"
        case GroupVerdict.WAITS if not result.pods:
            return f"{what} WAITS: it has no pods{needs}"
        case GroupVerdict.WAITS:
            return f"{what} WAITS: {reached} placed{needs}"
        case GroupVerdict.PREEMPTS:
            victims = counts.of(len(result.victims), "pod")
            return f"{what} WAITS for preemption: {reached} placed{needs}, would evict {victims}"
        case GroupVerdict.GATED:
            return f"{what} GATED: {result.message or 'kept out of the queue'}"
        case GroupVerdict.OFF:
            return f"{what} OFF"
        case GroupVerdict.ERROR:
            return f"{what} NOT TRIED: {result.message}"


def _bare(cluster: Cluster, group: PodGroup, waiting: Sequence[PodInfo]) -> PodGroupResult:
    """Return what is known of a group without trying it."""
    scheduled, table = scheduled_members(cluster, group.key), cluster.pod_table
    rows = (int(table.node[table.row_of[info.key]]) for info in scheduled if info.key in table.row_of)
    nodes = Counter(cluster.node_table.names[row] for row in rows)
    return PodGroupResult(
        namespace=group.metadata.namespace,
        name=group.metadata.name,
        policy=GANG if group.is_gang else BASIC,
        min_count=group.min_count,
        topology_key=group.topology_key,
        priority=group.priority,
        pods=len(scheduled) + len(waiting),
        scheduled=len(scheduled),
        members=[info.key for info in (*scheduled, *waiting)],
        nodes=dict(sorted(nodes.items())),
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

"""How many more pod groups like one start: each is placed as a group, until one does not start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from schedctl.api.pod_groups import PodGroup
from schedctl.api.pods import PodSchedulingGroup
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.groups.cycles import GroupAttempt
from schedctl.errors import NotModelled
from schedctl.framework.pod_edits import as_pending
from schedctl.framework.pod_groups import scheduled_members
from schedctl.scheduler import Scheduler, group_reports
from schedctl.simulation.capacities import CapacityFacts, PlacementCallback, ReasonReader

_replace = msgspec.structs.replace


def members_of(group: PodGroup, cluster: Cluster) -> list[PodInfo]:
    """Return the pods of a group, with and without a node."""
    return [*scheduled_members(cluster, group.key), *group_reports.waiting_members(cluster, group.key)]


def fill(
    scheduler: Scheduler,
    group: PodGroup,
    members: Sequence[PodInfo],
    *,
    most: int,
    read_reasons: ReasonReader,
    on_placed: PlacementCallback = lambda placed: None,
) -> tuple[CapacityFacts, int]:
    """Place copies of a group until one does not start; return the facts, and how many started.

    The cluster is as before.

    Args:
        scheduler: whose cluster and profiles are used; one of them serves the pods.
        group: the group.
        members: its pods, at least one.
        most: stop after so many groups.
        read_reasons: reads off why a pod of the last one does not fit.
        on_placed: told after each group.
    """
    facts, placed = CapacityFacts(members[0]), Counter[str]()
    number = 0
    with scheduler.fork():
        try:
            for number in range(most + 1):
                if number == most:
                    facts.limited = True
                    break
                attempt = _place_copy(scheduler, group, members, number + 1)
                if not attempt.status.successful:
                    _explain_stop(facts, attempt, read_reasons)
                    break
                placed.update(each.node_name for each in attempt.assignments)
                on_placed(number + 1)
        except NotModelled as missing:
            facts.not_modelled = str(missing)
        except KeyboardInterrupt:
            facts.interrupted = facts.limited = True
    facts.placed = dict(placed)
    return facts, number


def _place_copy(scheduler: Scheduler, group: PodGroup, members: Sequence[PodInfo], number: int) -> GroupAttempt:
    """Create another group like one with its pods, and place those that would get nodes if it starts."""
    cluster, name = scheduler.cluster, f"{group.metadata.name}-copy-{number}"
    copy = _replace(group, metadata=_replace(group.metadata, name=name, uid=f"copy {name}"))
    cluster.put(copy)
    pods = [_copy_of(info, name, number) for info in members]
    for info in pods:
        cluster.add_pod(info)
    attempt = scheduler.attempt_group(copy, pods, make_room=False)
    if attempt.status.successful:
        for member in attempt.members:
            if member.node_name:
                scheduler.place(member.outcome, member.node_name)
    for info in pods:
        if info.key in cluster.pending:
            cluster.remove_pod(info)
    return attempt


def _copy_of(info: PodInfo, group: str, number: int) -> PodInfo:
    pod = as_pending(info.pod)
    name = f"{pod.metadata.name}-copy-{number}"
    spec = _replace(pod.spec, scheduling_group=PodSchedulingGroup(pod_group_name=group), scheduling_gates=None)
    return PodInfo(_replace(pod, metadata=_replace(pod.metadata, name=name, uid=f"copy {name}"), spec=spec))


def _explain_stop(facts: CapacityFacts, attempt: GroupAttempt, read_reasons: ReasonReader) -> None:
    """Take down why a group does not start, and why the first of its pods without a node has none."""
    facts.message = attempt.condition.message
    best = group_reports.best_trial(attempt)
    failed = next((each for each in best.members if not each.status.successful), None) if best is not None else None
    if failed is not None and failed.outcome.is_unschedulable:
        facts.reasons = read_reasons(failed.outcome)
        facts.plugins = tuple(sorted(failed.outcome.unschedulable_plugins))

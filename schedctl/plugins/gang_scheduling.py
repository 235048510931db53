"""GangScheduling: pods of a gang wait for each other, before the queue, in a placement and at Permit (KEP-4671)."""

from __future__ import annotations

from collections.abc import Hashable

from schedctl.api.pod_groups import PodGroup
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.cycles import Cycle
from schedctl.framework.events import Action, Hint, Registration, Resource, registers
from schedctl.framework.group_points import GroupCycle, PlacementFeasiblePlugin, PlacementProgress
from schedctl.framework.pod_groups import count_members, group_key, group_of, scheduled_members
from schedctl.framework.points import PermitPlugin, PreEnqueuePlugin
from schedctl.framework.reasons import Reason
from schedctl.framework.statuses import SUCCESS, Code, Status

_PATIENCE = 5 * 60.0
"""For how many seconds a pod waits at Permit for the rest of its gang."""


class GangScheduling(PreEnqueuePlugin, PermitPlugin, PlacementFeasiblePlugin):
    """Lets a gang run only when at least ``minCount`` of its pods can."""

    reads = (PodGroup,)
    memory_only = True
    no_group = Reason('waiting for pods\'s pod group "{group}" to appear in scheduling queue', unresolvable=True)
    too_few = Reason("waiting for minCount pods from a gang to appear in scheduling queue", unresolvable=True)

    def signature(self, pod: PodInfo) -> Hashable:
        """Its group."""
        return group_key(pod)

    def events_to_register(self) -> tuple[Registration, ...]:
        """Another pod of the group, the group itself, or a smaller ``minCount``."""
        return (
            registers(Resource.UNSCHEDULED_POD, Action.ADD, _after_pod),
            registers(Resource.ASSIGNED_POD, Action.ADD, _after_pod),
            registers(Resource.POD_GROUP, Action.ADD, _after_group),
            registers(Resource.POD_GROUP, Action.UPDATE, _after_update),
        )

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Keep a pod out until its group is there, and of a gang enough pods."""
        key = group_key(pod)
        if not key:
            return SUCCESS
        cluster = self.handle.cluster
        group = group_of(pod, cluster)
        if group is None:
            return self.no_group.status(group=key.partition("/")[2])
        if group.is_gang and count_members(cluster, key, self.handle.serves) < group.min_count:
            return self.too_few.status()
        return SUCCESS

    def placement_feasible(self, cycle: GroupCycle, progress: PlacementProgress) -> Status:
        """Compare ``minCount`` with the pods that have a node, and with those that still may find one."""
        least = cycle.group.min_count
        counts = f"{progress.scheduled} scheduled, {progress.remaining} remaining"
        if progress.scheduled + progress.remaining < least:
            return Status(Code.UNSCHEDULABLE, (f"minCount ({least}) cannot be satisfied: {counts}",))
        if progress.scheduled < least:
            return Status(Code.WAIT, (f"minCount ({least}) is not yet satisfied: {counts}",))
        return SUCCESS

    def permit(self, cycle: Cycle, node_name: str) -> Status:
        """Hold a pod of a gang until ``minCount`` of them have nodes, then let all go."""
        cluster = self.handle.cluster
        group = group_of(cycle.pod, cluster)
        if group is None or not group.is_gang:
            return SUCCESS
        key = group.key
        if len(scheduled_members(cluster, key)) < group.min_count:
            waiting = [pod for pod in cluster.pending.values() if group_key(pod) == key]
            self.handle.activate(waiting)
            return Status(Code.WAIT, ("waiting for minCount pods from a gang to be scheduled",), timeout=_PATIENCE)
        for waiting_pod in self.handle.waiting_pods():
            if group_key(waiting_pod.pod) == key:
                waiting_pod.allow(self.name)
        return SUCCESS


def _after_pod(pod: PodInfo, before: PodInfo | None, after: PodInfo) -> Hint:
    key = group_key(pod)
    return Hint.QUEUE if key and key == group_key(after) else Hint.SKIP


def _after_group(pod: PodInfo, before: PodGroup | None, after: PodGroup) -> Hint:
    return Hint.QUEUE if group_key(pod) == after.key else Hint.SKIP


def _after_update(pod: PodInfo, before: PodGroup, after: PodGroup) -> Hint:
    of_gangs = before.is_gang and after.is_gang
    return Hint.QUEUE if of_gangs and group_key(pod) == after.key and after.min_count < before.min_count else Hint.SKIP

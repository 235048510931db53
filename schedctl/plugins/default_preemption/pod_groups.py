"""Preemption for a pod group: all of lower priority go, the group is placed, and who still fits comes back (KEP-5710).

The whole cluster is one domain, and a group that is disrupted whole is one victim. The dry run for single pods is in
`dry_run`, the rules of disruption budgets they share in `victims`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from schedctl.api.times import unix_nanoseconds
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.cache.pod_table import NOT_STARTED
from schedctl.framework.group_points import Assignment, GroupCycle, GroupOutcome, PodGroupPostFilterResult
from schedctl.framework.handles import Handle
from schedctl.framework.pod_groups import group_key, group_of, priority_of, scheduled_members
from schedctl.framework.statuses import Code, Status
from schedctl.plugins.default_preemption.victims import BudgetCount, is_preempted

NO_VICTIMS = "No preemption victims found for incoming preemptor"
NEVER = "not eligible due to preemptionPolicy=Never."
ONGOING = "ongoing preemption on nominated nodes"


@dataclass(frozen=True, slots=True)
class Victim:
    """Pods that go together.

    Attributes:
        pods: the pods.
        node_names: the node of each.
        priority: of their group, if they have one.
        of_group: whether they are of a group.
        started: when the first of them started, in nanoseconds since 1970.
    """

    pods: tuple[PodInfo, ...]
    node_names: tuple[str, ...]
    priority: int
    of_group: bool
    started: int

    @property
    def importance(self) -> tuple[int, bool, int, int]:
        """What victims are ordered by, the most important first."""
        return -self.priority, not self.of_group, -len(self.pods), self.started


@dataclass(frozen=True, slots=True)
class GroupPreemption:
    """What PodGroupPostFilter found out, as far as it got.

    Attributes:
        possible: the victims there could be.
        chosen: those that have to go.
        violations: how many of their pods violate a disruption budget.
    """

    possible: Sequence[Victim] = ()
    chosen: Sequence[Victim] = ()
    violations: int = 0


@dataclass(slots=True)
class _Search:
    """Who may come back, with the group on the nodes it found."""

    handle: Handle
    assignments: Sequence[Assignment]
    chosen: list[Victim] = field(default_factory=list)
    violations: int = 0

    def spare(self, victim: Victim, violations: int) -> None:
        """Let a victim come back if every pod of the group still fits where it is."""
        cluster = self.handle.cluster
        for pod, node_name in zip(victim.pods, victim.node_names, strict=True):
            cluster.assume(pod, node_name)
        if not self._fits():
            for pod in victim.pods:
                cluster.remove_pod(pod)
            self.chosen.append(victim)
            self.violations += violations

    def _fits(self) -> bool:
        """Return whether the pods of the group still fit, each beside those before it."""
        with self.handle.cluster.fork():
            return all(self.handle.place_again(each.cycle, each.node_name) for each in self.assignments)


def preempt(
    handle: Handle, cycle: GroupCycle, never: bool, try_again: Callable[[], GroupOutcome]
) -> PodGroupPostFilterResult:
    """Return whom a group would evict and where its pods would go, or why that does not help.

    Args:
        handle: to run filters with.
        cycle: the failed cycle.
        never: whether the group may not preempt.
        try_again: tries the group on the cluster as it is then.
    """
    cluster = handle.cluster
    if never:
        return PodGroupPostFilterResult(_status(Code.UNSCHEDULABLE, NEVER))
    if _is_ongoing(cluster, cycle):
        nominations = {pod.key: pod.pod.status.nominated_node_name for pod in cycle.pods}
        return PodGroupPostFilterResult(_status(Code.SUCCESS, ONGOING), nominations)
    possible = sorted(_victims(cluster, cycle.group.priority), key=lambda victim: victim.importance)
    if not possible:
        return PodGroupPostFilterResult(_status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, NO_VICTIMS))
    budgets = BudgetCount(cluster)
    violations = [sum(budgets.violates(pod) for pod in victim.pods) for victim in possible]
    with cluster.fork():
        for victim in possible:
            for pod in victim.pods:
                cluster.remove_pod(pod)
        again = try_again()
        if not again.status.successful:
            status = _status(again.status.code, again.status.message)
            return PodGroupPostFilterResult(status, findings=GroupPreemption(possible))
        search = _Search(handle, again.assignments)
        # those whose eviction breaks a budget come back first, and of either kind the most important
        for violating in (True, False):
            for victim, count in zip(possible, violations, strict=True):
                if bool(count) is violating:
                    search.spare(victim, count)
        nominations = {each.pod.key: each.node_name for each in again.assignments}
    chosen = sorted(search.chosen, key=lambda victim: victim.importance)
    victims = tuple(pod for victim in chosen for pod in victim.pods)
    text = f"found a placement for podgroup, preempting {len(victims)} victims"
    findings = GroupPreemption(possible, chosen, search.violations)
    return PodGroupPostFilterResult(_status(Code.SUCCESS, text), nominations, victims, findings=findings)


def _victims(cluster: Cluster, priority: int) -> list[Victim]:
    """Return what could be evicted for a group of a priority, in the order of nodes."""
    found: list[Victim] = []
    whole: set[str] = set()
    for row in cluster.nodes_by_zone.rows.tolist():
        for pod in cluster.pod_table.on(row):
            group = group_of(pod, cluster)
            if group is None or not group.is_disrupted_whole:
                found.append(_victim(cluster, (pod,), priority_of(pod, cluster), bool(group_key(pod))))
            elif group.key not in whole:
                whole.add(group.key)
                members = (pod for pod in scheduled_members(cluster, group.key) if pod.key in cluster.pod_table.row_of)
                found.append(_victim(cluster, tuple(members), group.priority, True))
    return [victim for victim in found if victim.priority < priority]


def _victim(cluster: Cluster, pods: tuple[PodInfo, ...], priority: int, of_group: bool) -> Victim:
    table = cluster.pod_table
    nodes = tuple(cluster.node_table.names[int(table.node[table.row_of[pod.key]])] for pod in pods)
    started = (pod.pod.status.start_time for pod in pods)
    times = (unix_nanoseconds(time) if time else NOT_STARTED for time in started)
    return Victim(pods, nodes, priority, of_group, min(times))


def _is_ongoing(cluster: Cluster, cycle: GroupCycle) -> bool:
    """Return whether victims are on their way out on the nodes to which the group's pods are nominated."""
    names = {pod.pod.status.nominated_node_name for pod in cycle.pods}
    rows = (cluster.node_table.row_of[name] for name in names if name in cluster.node_table.row_of)
    return any(
        priority_of(pod, cluster) < cycle.group.priority and is_preempted(pod)
        for row in rows
        for pod in cluster.pod_table.on(row)
    )


def _status(code: Code, text: str) -> Status:
    return Status(code, (f"pod group preemption: {text}",) if text else ())

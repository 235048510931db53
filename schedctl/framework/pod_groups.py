"""Which pods are of which pod group, as plugins and the engine read it off the cluster.

Groups are objects of the cluster (`schedctl.api.pod_groups`); their members are found by ``schedulingGroup``, running
ones through an index that follows the cluster. The contracts of group cycles are in
`schedctl.framework.group_points`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from schedctl.api.pod_groups import PodGroup
from schedctl.api.pods import Pod
from schedctl.cache.changes import ChangeKind
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo


def group_key(pod: PodInfo) -> str:
    """Return ``namespace/name`` of the group a pod says it is of, "" for none."""
    return pod.pod_group if pod.pod.spec.scheduling_group is not None else ""


def group_of(pod: PodInfo, cluster: ClusterView) -> PodGroup | None:
    """Return the group of a pod, None where it is of none or the group is not there."""
    key = group_key(pod)
    return cluster.get(PodGroup, key) if key else None


def scheduled_members(cluster: ClusterView, key: str) -> Sequence[PodInfo]:
    """Return the pods of a group that are on nodes, assumed ones included, those on nodes that are gone too."""
    cluster.note_reads(Pod)
    strays = [info for info in cluster.strays.values() if group_key(info) == key]
    return (*cluster.derive(_MembersByGroup).of(key), *strays)


def count_members(cluster: ClusterView, key: str, serves: Callable[[PodInfo], bool] | None = None) -> int:
    """Return how many pods of a group there are, with and without a node.

    Args:
        cluster: the cluster.
        key: ``namespace/name`` of the group.
        serves: whether the scheduler serves a pod; of those without a node, no others count. None for all.
    """
    members = (info for info in cluster.pending.values() if group_key(info) == key)
    waiting = sum(1 for info in members if serves is None or serves(info))
    return waiting + len(scheduled_members(cluster, key))


def priority_of(pod: PodInfo, cluster: ClusterView) -> int:
    """Return the priority a pod is preempted by: that of its group, if it has one."""
    group = group_of(pod, cluster)
    return pod.priority if group is None else group.priority


class _MembersByGroup:
    """The pods of each group that are on nodes, brought up to date by the changes of the cluster when it is asked."""

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self._generation = -1
        self._members: dict[str, dict[str, PodInfo]] = {}

    def of(self, key: str) -> Iterable[PodInfo]:
        """Return the pods of a group, in the order in which they came to their nodes."""
        self._catch_up()
        return self._members.get(key, {}).values()

    def _catch_up(self) -> None:
        cluster = self._cluster
        if self._generation == cluster.generation:
            return
        changes = cluster.pod_log(self._generation) if self._generation >= 0 else None
        self._generation = cluster.generation
        if changes is None:
            self._members.clear()
            for info in cluster.pod_table:
                self._add(info)
            return
        for change in changes:
            if change.kind is ChangeKind.POD_ADDED:
                self._add(change.subject)
            elif change.kind is ChangeKind.POD_REMOVED and (key := group_key(change.subject)):
                self._members.get(key, {}).pop(change.subject.key, None)

    def _add(self, info: PodInfo) -> None:
        if key := group_key(info):
            self._members.setdefault(key, {})[info.key] = info

"""Which pods are of which pod group, as plugins and the engine read it off the cluster.

Groups are objects of the cluster (`schedctl.api.pod_groups`); their members are found by ``schedulingGroup``, running
ones through a derivation that is made anew when a pod comes or goes. The contracts of group cycles are in
`schedctl.framework.group_points`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schedctl.api.pod_groups import PodGroup
from schedctl.api.pods import Pod
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo


def group_key(pod: PodInfo) -> str:
    """Return ``namespace/name`` of the group a pod says it is of, "" for none."""
    group = pod.pod.spec.scheduling_group
    return f"{pod.namespace}/{group.pod_group_name}" if group is not None and group.pod_group_name else ""


def group_of(pod: PodInfo, cluster: ClusterView) -> PodGroup | None:
    """Return the group of a pod, None where it is of none or the group is not there."""
    key = group_key(pod)
    return cluster.get(PodGroup, key) if key else None


def scheduled_members(cluster: ClusterView, key: str) -> Sequence[PodInfo]:
    """Return the pods of a group that are on nodes, assumed ones included, those on nodes that are gone too."""
    strays = [info for info in cluster.strays.values() if group_key(info) == key]
    return (*cluster.derive(_members_by_group, Pod).get(key, ()), *strays)


def count_members(cluster: ClusterView, key: str) -> int:
    """Return how many pods of a group there are, with and without a node."""
    waiting = sum(group_key(info) == key for info in cluster.pending.values())
    return waiting + len(scheduled_members(cluster, key))


def priority_of(pod: PodInfo, cluster: ClusterView) -> int:
    """Return the priority a pod is preempted by: that of its group, if it has one."""
    group = group_of(pod, cluster)
    return pod.priority if group is None else group.priority


def _members_by_group(cluster: ClusterView) -> Mapping[str, Sequence[PodInfo]]:
    members: dict[str, list[PodInfo]] = {}
    for info in cluster.pod_table:
        if info.pod.spec.scheduling_group is not None:
            members.setdefault(group_key(info), []).append(info)
    return members

"""Pod groups in a question about pods: which groups it is about, and the answers about their pods.

A group is explained once, however many of its pods are asked about. Where groups are off (GenericWorkload), pods are
judged one by one, as kube-scheduler does, and the gate is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from schedctl.api.pod_groups import PodGroup
from schedctl.api.pods import Pod
from schedctl.api.policies import PriorityClass
from schedctl.autoscaling.detection import NodeGroups
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.explain import explanations, group_remedies
from schedctl.explain.pod_groups import ExplainedGroup, explain_group
from schedctl.framework.pod_groups import group_key
from schedctl.releases import GENERIC_WORKLOAD
from schedctl.reports import counts
from schedctl.reports.explanations import Explanation, Verdict
from schedctl.reports.pod_groups import GroupVerdict, PodGroupResult
from schedctl.reports.reasons import Hint
from schedctl.scheduler import Scheduler, group_reports
from schedctl.workloads import admission, ownership
from schedctl.workloads.clusters import find_pod
from schedctl.workloads.expansion import UnsourcedObject, expand
from schedctl.workloads.pod_groups import admit_group

_replace = msgspec.structs.replace


class GroupAnswers:
    """The groups that a question turns out to be about, each explained once."""

    def __init__(self, scheduler: Scheduler, *, hints: bool = True, node_groups: NodeGroups | None = None) -> None:
        self._scheduler = scheduler
        self._hints = hints
        self._node_groups = node_groups
        self._explained: dict[tuple[str, str], ExplainedGroup] = {}
        self.enabled = scheduler.cluster.release.enabled(GENERIC_WORKLOAD)

    @property
    def results(self) -> list[PodGroupResult]:
        """What becomes of each group, in the order in which they came up."""
        return [each.result for each in self._explained.values()]

    def of_pod(self, pod: Pod) -> Explanation | None:
        """Return what becomes of a pending pod of a group; None for a pod that is judged by itself."""
        info = self._scheduler.cluster.pending.get(pod.key)
        key = group_key(info) if info is not None else ""
        if not self.enabled or info is None or not key or self._scheduler.profile_of(info) is None:
            return None
        group = self._scheduler.cluster.get(PodGroup, key)
        if group is None:
            return _without_group(self._scheduler, info, key)
        return self._explain(group).members.get(pod.key)

    def of_group(self, group: PodGroup) -> Iterator[Explanation]:
        """Yield what becomes of each pod of a group that has no node."""
        if self.enabled:
            yield from self._explain(group).members.values()
        else:
            self._explained[group.key, ""] = ExplainedGroup(_off(group, self._scheduler.cluster))

    def of_workload(self, obj: Any) -> list[Explanation] | None:
        """Return what becomes of the pending pods of a workload as pods of groups; None where it has none in groups.

        One whose pods are there, on nodes or not, makes no others; of another they are those that it would make.
        """
        if not self.enabled:
            return None
        cluster = self._scheduler.cluster
        kind, metadata = type(obj).__name__, obj.metadata
        keys: dict[str, None] = {}
        for info in (*cluster.pending.values(), *cluster.pod_table):
            key = group_key(info)
            if key and ownership.workload_of(info, cluster) == (kind, metadata.namespace, metadata.name):
                keys[key] = None
        if not keys:
            return list(self._of_new_pods(obj)) or None
        groups = [group for key in keys if (group := cluster.get(PodGroup, key)) is not None]
        if not groups:
            return None
        return [each for group in groups for each in self._explain(group).members.values()]

    def _of_new_pods(self, obj: Any) -> Iterator[Explanation]:
        """Yield what would become of the pods that a workload would make, if they are pods of a group.

        The group is there, or is made with them.
        """
        cluster = self._scheduler.cluster
        expansion = expand([UnsourcedObject(obj)], cluster)
        pods = [pod for workload in expansion.groups for pod in workload.pods]
        key = group_key(PodInfo(pods[0])) if pods else ""
        groups = {group.key: group for group in expansion.joined if isinstance(group, PodGroup)}
        new = groups.get(key)
        group = admit_group(new, cluster.every(PriorityClass), cluster.release) if new is not None else None
        group = group or (cluster.get(PodGroup, key) if key else None)
        if group is None:
            return
        made = [PodInfo(admission.admit(pod, cluster).pod) for pod in pods]
        made = [info for info in made if find_pod(info.key, cluster) is None]
        metadata = obj.metadata
        of_whom = f"{type(obj).__name__} {metadata.namespace}/{metadata.name}"
        with cluster.fork():
            if new is not None:
                cluster.put(group)
            for info in made:
                cluster.add_pod(info)
            explained = self._explain(group, f"with the {counts.of(len(made), 'pod')} that {of_whom} would make")
        yield from (explained.members[info.key] for info in made if info.key in explained.members)

    def _explain(self, group: PodGroup, supposition: str = "") -> ExplainedGroup:
        """Return what becomes of a group in the cluster as it is now.

        Args:
            group: the group.
            supposition: what the cluster has that is not there, in words; "" where it is as it was read.
        """
        known = self._explained.get((group.key, supposition))
        if known is None:
            known = explain_group(self._scheduler, group, hints=self._hints, node_groups=self._node_groups)
            if supposition:
                known.result = _replace(known.result, notes=[supposition, *known.result.notes])
            self._explained[group.key, supposition] = known
        return known


def _off(group: PodGroup, cluster: Cluster) -> PodGroupResult:
    """Return that groups are off, so that nothing becomes of a group."""
    release = cluster.release
    result = _replace(group_reports.of_waiting(group, cluster, ""), verdict=GroupVerdict.OFF)
    if release.has_groups:
        how = f"schedules its pods one by one while {GENERIC_WORKLOAD} is off"
        text = f"GROUPS ARE OFF: kube-scheduler {release.version} {how}"
        switch = f"--feature-gates {GENERIC_WORKLOAD}=true"
        hints = [Hint("set-gate", switch, command=switch)]
    else:
        text = f"NO GROUPS: kube-scheduler {release.version} does not read PodGroups of scheduling.k8s.io/v1beta1"
        hints = [Hint("set-version", "--kube-version 1.37 is the first version that does")]
    return _replace(result, text=text, hints=hints)


def _without_group(scheduler: Scheduler, info: PodInfo, key: str) -> Explanation:
    """Return the explanation of a pod whose group is not there: it is in no queue."""
    profile = scheduler.profile_of(info)
    message = ""
    for plugin in profile.pre_enqueue if profile is not None else ():
        status = plugin.pre_enqueue(info)
        if not status.successful:
            message = f"{plugin.name}: {status.message}"
            break
    return Explanation(
        pod=explanations.reference(info),
        verdict=Verdict.GATED,
        profile=info.pod.spec.scheduler_name,
        gates=[gate.name for gate in info.pod.spec.scheduling_gates or ()],
        pod_group=key,
        pod_group_text=f"PodGroup {key} does not exist",
        notes=[message] if message else [],
        hints=[group_remedies.of_missing(key, scheduler.cluster)],
    )

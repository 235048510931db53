"""Pods of pod groups that are to be bound: where their group puts them, and why not, since none is bound without it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from schedctl.api.pod_groups import PodGroup
from schedctl.api.pods import Pod
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.explain.pod_groups import explain_group
from schedctl.framework.pod_groups import group_key
from schedctl.releases import GENERIC_WORKLOAD
from schedctl.reports import counts
from schedctl.reports.explanations import Explanation, Verdict
from schedctl.scheduler import Scheduler, group_reports


class GroupDecisions(msgspec.Struct):
    """What groups decide about pods, by key.

    Attributes:
        nodes: the node of a pod that is placed with its group.
        refusals: why a pod is not bound.
        explanations: what becomes of a pod that is not bound, where its group was tried.
        rest: pods that stay pending while their group starts; they hold up none of the others.
        warnings: what is to be said of the groups.
    """

    nodes: dict[str, str] = msgspec.field(default_factory=dict)
    refusals: dict[str, str] = msgspec.field(default_factory=dict)
    explanations: dict[str, Explanation] = msgspec.field(default_factory=dict)
    rest: set[str] = msgspec.field(default_factory=set)
    warnings: list[str] = msgspec.field(default_factory=list)


def decide_groups(pods: Sequence[Pod], scheduler: Scheduler) -> GroupDecisions:
    """Return where the groups of some pods put them; nothing for pods without one, and while groups are off."""
    decisions, cluster = GroupDecisions(), scheduler.cluster
    members: dict[str, list[Pod]] = {}
    for pod in pods:
        if (
            (key := group_key(PodInfo(pod)))
            and pod.key in cluster.pending
            and cluster.release.enabled(GENERIC_WORKLOAD)
        ):
            members.setdefault(key, []).append(pod)
    for key, named in members.items():
        _decide(decisions, key, named, scheduler)
    return decisions


def pending_pods(group: PodGroup, cluster: Cluster) -> list[Pod]:
    """Return the pods of a group that have no node."""
    return [info.pod for info in group_reports.waiting_members(cluster, group.key)]


def _decide(decisions: GroupDecisions, key: str, named: Sequence[Pod], scheduler: Scheduler) -> None:
    cluster, names = scheduler.cluster, [pod.key for pod in named]
    group = cluster.get(PodGroup, key)
    if group is None:
        decisions.refusals |= dict.fromkeys(names, f"PodGroup {key} does not exist, and its pods wait for it")
        return
    others = len(group_reports.waiting_members(cluster, key)) - len(named)
    if others:
        text = f"PodGroup {key} is bound as a whole, and {counts.of(others, 'other pod')} of it would be left behind"
        bind = f"`schedctl bind podgroup/{group.metadata.name} -n {group.metadata.namespace}`"
        decisions.refusals |= dict.fromkeys(names, f"{text}; {bind} binds the group")
        return
    explained = explain_group(scheduler, group, hints=False)
    decisions.explanations |= explained.members
    if not explained.result.starts:
        decisions.refusals |= dict.fromkeys(names, explained.result.text)
        return
    for name, answer in explained.members.items():
        if answer.verdict is Verdict.SCHEDULED:
            decisions.nodes[name] = answer.chosen
        else:
            decisions.rest.add(name)
    if decisions.rest:
        decisions.warnings.append(f"{counts.of(len(decisions.rest), 'pod')} of PodGroup {key} would stay pending")

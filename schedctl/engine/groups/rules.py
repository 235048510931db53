"""What all pods of a group must have in common, in the words in which kube-scheduler objects to a group."""

from __future__ import annotations

import json
from collections.abc import Collection

from schedctl.cache.pod_info import PodInfo
from schedctl.framework.group_points import GroupCycle
from schedctl.releases import Release

_DEFAULT_POLICY = "PreemptLowerPriority"


def objection(cycle: GroupCycle, profiles: Collection[str], release: Release) -> str:
    """Return why a group is not tried at all, "" where it is.

    Args:
        cycle: the group; its pods are those to be placed, and those that run already.
        profiles: the scheduler names there are.
        release: the kube-scheduler whose rules hold.
    """
    scheduler = cycle.pods[0].pod.spec.scheduler_name
    shared = cycle.group.spec.preemption_policy or _DEFAULT_POLICY
    of_group = release.enabled("PodGroupPreemptionPolicy")
    if not of_group:
        shared = _policy(cycle.pods[0])
    for pod in (*cycle.pods, *cycle.scheduled):
        name = pod.pod.spec.scheduler_name
        if name != scheduler:
            return (
                "all pods in a single pod group should have the same .spec.schedulerName set, "
                f"got: {json.dumps(name)} and {json.dumps(scheduler)}"
            )
        if pod.priority != cycle.group.priority:
            return (
                "all pods in a single pod group should have the same priority as the pod group's priority, "
                f"got {pod.priority} and {cycle.group.priority}"
            )
        if _policy(pod) != shared:
            like = (
                "same preemption policy as the pod group's preemption policy" if of_group else "same preemption policy"
            )
            return f"all pods in a single pod group should have the {like}, got {_policy(pod)} and {shared}"
    return "" if scheduler in profiles else f"profile not found for scheduler name {json.dumps(scheduler)}"


def _policy(pod: PodInfo) -> str:
    return pod.pod.spec.preemption_policy or _DEFAULT_POLICY

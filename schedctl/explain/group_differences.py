"""What pods of a group do not have in common, though kube-scheduler wants them to, and what makes them alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from schedctl.api.pod_groups import PodGroup
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.group_points import GroupCycle
from schedctl.releases import Release
from schedctl.reports import counts
from schedctl.reports.reasons import Hint

_DEFAULT_POLICY = "PreemptLowerPriority"
_MOST_NAMED = 3


def hints(cycle: GroupCycle, release: Release) -> Iterator[Hint]:
    """Yield what makes the pods of a group alike that kube-scheduler does not try for their differences.

    Args:
        cycle: the group, with the pods to be placed and those that run already.
        release: the kube-scheduler whose rules hold.
    """
    pods, group = (*cycle.pods, *cycle.scheduled), cycle.group
    scheduler = _most_common(pods, lambda info: info.pod.spec.scheduler_name)
    if others := [info for info in pods if info.pod.spec.scheduler_name != scheduler]:
        yield same_scheduler(scheduler, others)
    if others := [info for info in pods if info.priority != group.priority]:
        yield Hint(
            "same-priority", f"priority {group.priority}{_class(group)} for {_pods(others)}, or theirs for the group"
        )
    policy = group.spec.preemption_policy or _DEFAULT_POLICY
    if not release.enabled("PodGroupPreemptionPolicy"):
        policy = _most_common(pods, _policy)
    if others := [info for info in pods if _policy(info) != policy]:
        yield Hint("same-preemption-policy", f"preemptionPolicy {policy} for {_pods(others)}")


def same_scheduler(scheduler: str, others: Sequence[PodInfo]) -> Hint:
    """Return that pods of a group would have to name another scheduler."""
    named = _schedulers(others)
    return Hint("same-scheduler", f"schedulerName {scheduler} for {_pods(others)}, which {_have(others)} {named}")


def left_out(others: Sequence[PodInfo]) -> str:
    """Return that pods of a group belong to another scheduler, so that this one knows nothing of them."""
    belong = "belongs" if len(others) == 1 else "belong"
    return f"{_pods(others)} {belong} to scheduler {_schedulers(others)}, and kube-scheduler counts its own pods alone"


def _schedulers(pods: Sequence[PodInfo]) -> str:
    return " and ".join(sorted({info.pod.spec.scheduler_name for info in pods}))


def _policy(info: PodInfo) -> str:
    return info.pod.spec.preemption_policy or _DEFAULT_POLICY


def _most_common(pods: Sequence[PodInfo], read: Callable[[PodInfo], str]) -> str:
    ((value, _),) = Counter(map(read, pods)).most_common(1)
    return value


def _class(group: PodGroup) -> str:
    name = group.spec.priority_class_name
    return f" (priorityClassName {name})" if name else ""


def _pods(pods: Sequence[PodInfo]) -> str:
    if len(pods) > _MOST_NAMED:
        return f"{counts.of(len(pods), 'pod')} such as {pods[0].key}"
    return " and ".join(f"pod {info.key}" for info in pods)


def _have(pods: Sequence[PodInfo]) -> str:
    return "has" if len(pods) == 1 else "have"

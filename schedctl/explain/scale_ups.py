"""Whether a new node would help a pending pod: which groups of nodes, how many of them, and why not the others."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from schedctl.autoscaling.detection import NodeGroups
from schedctl.autoscaling.groups import NodeGroup, NodeTemplate
from schedctl.autoscaling.joining import Joining
from schedctl.autoscaling.judgements import GroupJudgement, judge_groups
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import NotModelled
from schedctl.reports import counts
from schedctl.reports.explanations import Explanation, Outlook, ScaleUp, ScaleUpGroup, Verdict
from schedctl.scheduler.schedulers import Scheduler
from schedctl.workloads import ownership

_COMPANIONS = 100
"""How many companions are placed at most, to count the nodes for them."""


def with_scale_up(scheduler: Scheduler, pod: PodInfo, explanation: Explanation, groups: NodeGroups) -> Explanation:
    """Return the explanation of an unschedulable pod with what new nodes would change; the cluster is as before.

    Args:
        scheduler: the profiles and the cluster.
        pod: the pod.
        explanation: without it.
        groups: the groups of nodes.
    """
    if explanation.verdict is not Verdict.UNSCHEDULABLE or scheduler.profile_of(pod) is None:
        return explanation
    judged = judge_groups(scheduler, pod, groups.groups)
    found = _scale_up(scheduler, pod, judged)
    helps = any(each.helps for each in judged)
    better = helps and explanation.outlook not in (Outlook.FITS, Outlook.FITS_AFTER_PREEMPTION)
    outlook = Outlook.FITS_AFTER_SCALE_UP if better else explanation.outlook
    return msgspec.structs.replace(explanation, scale_up=found, outlook=outlook)


def _scale_up(scheduler: Scheduler, pod: PodInfo, judged: Sequence[GroupJudgement]) -> ScaleUp:
    groups = [
        ScaleUpGroup(group=each.group.name, helps=each.helps, obstacle=each.obstacle, text=_text(each))
        for each in judged
    ]
    helping = [each for each in judged if each.helps]
    if not helping:
        return ScaleUp(groups=groups, text="no new node of any group would take the pod")
    best = max(helping, key=lambda each: each.group.priority)  # of equal ones the first by name
    companions = _companions(scheduler, pod)
    nodes, left = _nodes_for(scheduler, [pod, *companions], best.group, best.templates)
    with_them = f" and {counts.of(len(companions), 'waiting companion')}" if companions else ""
    short = f"; {counts.of(left, 'pod')} of them would stay pending" if left else ""
    return ScaleUp(
        groups=groups,
        group=best.group.name,
        new_nodes=nodes,
        companions=len(companions),
        left=left,
        text=f"{counts.nodes(nodes, 'new ')} of group {best.group.name} would take the pod{with_them}{short}",
    )


def _text(judgement: GroupJudgement) -> str:
    return judgement.text or "would fit on a new node"


def _companions(scheduler: Scheduler, pod: PodInfo) -> list[PodInfo]:
    """Return the pending pods of the same workload."""
    cluster = scheduler.cluster
    owner = ownership.workload_of(pod, cluster)
    if owner is None:
        return []
    others = (info for info in cluster.pending.values() if info.key != pod.key and not info.is_terminating)
    same = [info for info in others if ownership.workload_of(info, cluster) == owner]
    return same[:_COMPANIONS]


def _nodes_for(
    scheduler: Scheduler, pods: Sequence[PodInfo], group: NodeGroup, templates: Sequence[NodeTemplate]
) -> tuple[int, int]:
    """Return how many nodes of a group take pods one after another, and how many pods have no place then."""
    added = left = 0
    with scheduler.fork():
        joining = Joining(scheduler.cluster)
        for info in pods:
            if _place(scheduler, info):
                continue
            for template in templates:
                if group.limit_reached(added + 1, {}):
                    continue
                (name,) = joining.add(template)
                if _place(scheduler, info):
                    added += 1
                    break
                joining.remove(name)
            else:
                left += 1
    return added, left


def _place(scheduler: Scheduler, info: PodInfo) -> bool:
    try:
        outcome = scheduler.attempt(info, make_room=False, admitted=True)
    except NotModelled:
        return False
    return outcome.fits and scheduler.place(outcome).status.successful

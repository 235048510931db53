"""Whether new nodes would let a pod group start: how many of each group of nodes, tried on the whole pod group."""

from __future__ import annotations

from schedctl.api.pod_groups import PodGroup
from schedctl.api.resources import allocatable
from schedctl.autoscaling.detection import NodeGroups
from schedctl.autoscaling.groups import NodeGroup, NodeTemplate
from schedctl.autoscaling.joining import Joining
from schedctl.engine.groups.cycles import GroupAttempt
from schedctl.reports import counts
from schedctl.reports.pod_groups import GroupScaleUp
from schedctl.scheduler.schedulers import Scheduler

_MOST_NODES = 1024
"""More new nodes of a group than this are not tried."""


def scale_ups(
    scheduler: Scheduler, group: PodGroup, attempt: GroupAttempt, node_groups: NodeGroups
) -> list[GroupScaleUp]:
    """Return what new nodes of each group of nodes would change for a pod group; the cluster is as before.

    A pod group that does not start is to start; one that starts without some of its pods is to place them all.

    Args:
        scheduler: the profiles and the cluster.
        group: the pod group.
        attempt: how far it got without new nodes.
        node_groups: the groups of nodes, of which those of a higher priority are tried first.
    """
    ordered = sorted(node_groups.groups, key=lambda each: -each.priority)
    return [_scale_up(scheduler, group, attempt, each) for each in ordered]


def _scale_up(scheduler: Scheduler, group: PodGroup, attempt: GroupAttempt, node_group: NodeGroup) -> GroupScaleUp:
    name = node_group.name
    if not node_group.templates:
        return GroupScaleUp(name, text=next(iter(node_group.notes), "nothing says what a new node is like"))
    best, limited = 0, ""
    for template in node_group.templates:
        most, limit = _most(node_group, template, len(attempt.cycle.pods))
        found = _fewest(scheduler, group, attempt, template, most)
        best = min(best or found, found) if found else best
        limited = limited or limit
    if best:
        goal = "place all its pods" if attempt.status.successful else "let it start"
        return GroupScaleUp(name, best, f"{counts.nodes(best, 'new ')} of group {name} would {goal}")
    so_many = f" ({limited})" if limited else ""
    return GroupScaleUp(name, text=f"no number of new nodes of group {name} is enough{so_many}")


def _most(group: NodeGroup, template: NodeTemplate, pods: int) -> tuple[int, str]:
    """Return how many new nodes are tried at most, and the limit of the group if that is lower than the pods need."""
    amounts = {**allocatable(template.node.status.capacity or template.node.status.allocatable), "nodes": 1}
    needed = min(pods, _MOST_NODES)
    for number in range(1, needed + 1):
        limit = group.limit_reached(number, {name: amount * number for name, amount in amounts.items()})
        if limit:
            return number - 1, f"limit reached: {limit}"
    return needed, ""


def _fewest(scheduler: Scheduler, group: PodGroup, attempt: GroupAttempt, template: NodeTemplate, most: int) -> int:
    """Return the smallest number of new nodes that is enough, found by halving; 0 if not even the most are."""
    if not most or not _is_enough(scheduler, group, attempt, template, most):
        return 0
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        if _is_enough(scheduler, group, attempt, template, middle):
            high = middle
        else:
            low = middle
    return high


def _is_enough(
    scheduler: Scheduler, group: PodGroup, attempt: GroupAttempt, template: NodeTemplate, number: int
) -> bool:
    pods = attempt.cycle.pods
    with scheduler.fork():
        Joining(scheduler.cluster).add(template, number)
        again = scheduler.attempt_group(group, pods, make_room=False)
        return again.status.successful and (not attempt.status.successful or len(again.assignments) == len(pods))

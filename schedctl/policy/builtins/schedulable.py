"""``schedulable``: the pods of each workload find a node, or would on new nodes of some groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from schedctl.autoscaling.groups import NodeGroup
from schedctl.errors import InputError
from schedctl.framework.pod_groups import group_key
from schedctl.policy import findings
from schedctl.policy.documents import Schedulable
from schedctl.policy.situations import JudgedPod
from schedctl.releases import GENERIC_WORKLOAD
from schedctl.reports import counts
from schedctl.simulation.scale_ups.options import options_of
from schedctl.simulation.scale_ups.planning import ScaleUp, plan

_EFFORT = 8
"""How many plans are tried for a workload: whether few nodes are enough is the question, not which are the fewest."""


def judge(view: findings.View, arguments: Schedulable, about: findings.Judged) -> Iterable[findings.Finding]:
    """Judge a workload: so many of a hundred pods can be scheduled."""
    assert about.workload is not None
    judged = about.workload.as_admitted()
    total, placed, unclear = len(judged.pods), len(judged.placed_pods), len(judged.unclear_pods)
    if not total:
        yield findings.pass_finding(judged.wants_none)
        return
    needed = arguments.min_percent * total / 100
    percent = f", needs {arguments.min_percent:g} %" if arguments.min_percent < 100 else ""
    only = "only " if 0 < placed < total else ""
    message = f"{only}{placed} of {counts.of(total, 'pod')} can be scheduled{percent}"
    if placed >= needed:
        yield findings.pass_finding(message)
        return
    if arguments.after:
        try:
            groups, unknown = _groups(view, arguments)
        except InputError as error:  # what a new node is to be like is among the nodes that the scenario takes away
            missing = "; ".join(f"{each.path}: {each.message}" for each in error.problems)
            yield findings.inconclusive(f"{message}; {missing}")
            return
        if unknown:
            yield findings.inconclusive(f"{message}; no group of nodes is called {', '.join(unknown)}")
            return
        planned = _plan(view, groups, judged.pending_pods)
        message = f"{message}; {_describe(planned, judged.pending_pods, groups)}"
        most = arguments.max_new_nodes
        exceeded = "" if most is None or sum(planned.counts) <= most else f", {counts.at_most(most)} allowed"
        if not exceeded and placed + _count_placed(planned, judged.pending_pods) >= needed:
            yield findings.pass_finding(message)
            return
        message += exceeded
    if placed + unclear < needed:
        violates = {"pods pending": len(judged.pending_pods)}
        yield findings.violation(message, violates=violates).because(view.causes.explain_pending(judged.pending_pods))
    else:
        yield findings.inconclusive(f"{message}; {unclear} inconclusive").because(
            view.causes.explain_pending(judged.unclear_pods)
        )


def _groups(view: findings.View, arguments: Schedulable) -> tuple[list[NodeGroup], list[str]]:
    """Return the groups that may grow, and the names that no group has.

    Raises:
        InputError: a group is described by a node that is not there.
    """
    found = {group.name: group for group in view.group_files.groups(view.situation.scheduler.cluster).groups}
    if not arguments.groups:
        return list(found.values()), []
    return [found[name] for name in arguments.groups if name in found], [
        name for name in arguments.groups if name not in found
    ]


def _plan(view: findings.View, groups: Sequence[NodeGroup], pods: Sequence[JudgedPod]) -> ScaleUp:
    """Return the fewest nodes that would place the pending pods of a workload."""
    scheduler = view.situation.scheduler
    pending = scheduler.cluster.pending
    keys = {pod.info.key for pod in pods}
    grouped = scheduler.cluster.release.enabled(GENERIC_WORKLOAD)
    gangs = {group_key(pod.info) for pod in pods} - {""} if grouped else set()
    # a gang starts as one, whoever made its pods
    waiting = [info for info in pending.values() if info.key in keys or group_key(info) in gangs]
    options, _ = options_of(groups, "count")
    return plan(scheduler, waiting, options, effort=_EFFORT)


def _count_placed(planned: ScaleUp, pods: Sequence[JudgedPod]) -> int:
    placed = planned.placement.placed if planned.placement is not None else {}
    return sum(pod.info.key in placed for pod in pods)


def _describe(planned: ScaleUp, pods: Sequence[JudgedPod], groups: Sequence[NodeGroup]) -> str:
    """Return in words what new nodes come to."""
    numbers: Counter[str] = Counter()
    for option, count in zip(planned.options, planned.counts, strict=True):
        if count:
            numbers[option.group.name] += count
    placed = _count_placed(planned, pods)
    if not numbers:
        unknown = ", ".join(group.name for group in groups if not group.templates)
        return f"new nodes would not help{f' (what one of {unknown} is like is not known)' if unknown else ''}"
    nodes = counts.nodes(numbers.total(), "new ")
    return (
        f"{nodes} ({', '.join(f'{count} {name}' for name, count in sorted(numbers.items()))}) would take {placed} more"
    )

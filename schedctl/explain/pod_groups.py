"""A pod group explained: how far it gets, which of its pods fail and why, what it lacks, and what would let it start.

The cycle is kube-scheduler's; pods that it no longer tries, because too few are left, are tried in a second pass, which
is told apart. Fixes are in `group_remedies`, what is said of one pod outside of its group in `explanations`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from schedctl.api.amounts import on_one_scale
from schedctl.api.pod_groups import PodGroup
from schedctl.autoscaling.detection import NodeGroups
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.groups.cycles import GroupAttempt
from schedctl.engine.groups.trials import Member, Trial
from schedctl.explain import facts, group_differences, group_remedies, group_scale_ups, scores
from schedctl.explain.explanations import reference
from schedctl.explain.typos import typos
from schedctl.framework.pod_groups import count_members, group_key
from schedctl.framework.similar import did_you_mean
from schedctl.framework.statuses import Code, Status
from schedctl.reports import counts
from schedctl.reports.explanations import Explanation, NodeCounts, NodeScore, Verdict
from schedctl.reports.pod_groups import GroupVerdict, MemberCause, MissingResource, PodGroupResult
from schedctl.scheduler import group_reports
from schedctl.scheduler.schedulers import Scheduler

_replace = msgspec.structs.replace
_MOST_WAITING = 20
_MOST_CAUSES = 5
"""Of so many causes at most the names that a pod requires are looked up."""
_OF_CLAIMS = "DRAWorkloadResourceClaims"


class ExplainedGroup(msgspec.Struct):
    """A group and its pods.

    Attributes:
        result: what becomes of the group.
        members: what becomes of its pods without a node, by ``namespace/name``.
    """

    result: PodGroupResult
    members: dict[str, Explanation] = msgspec.field(default_factory=dict)


def explain_group(
    scheduler: Scheduler, group: PodGroup, *, hints: bool = True, node_groups: NodeGroups | None = None
) -> ExplainedGroup:
    """Return why a group starts where it starts, or why it waits; the cluster is as before.

    Args:
        scheduler: the profiles and the cluster, which has the pods of the group.
        group: the group.
        hints: whether to look for what would let it start, which tries changed clusters.
        node_groups: the groups of nodes of which new nodes might help; None where that is not asked.
    """
    waiting = group_reports.waiting_members(scheduler.cluster, group.key)
    others = [info for info in waiting if scheduler.profile_of(info) is None]
    if not others:
        return _explain(scheduler, group, hints=hints, node_groups=node_groups)
    with scheduler.cluster.fork():
        for info in others:
            scheduler.cluster.remove_pod(info)
        explained = _explain(scheduler, group, hints=hints, node_groups=node_groups)
    result, mine = explained.result, next(iter(scheduler.profiles))
    more = [group_differences.same_scheduler(mine, others)] if hints and not result.starts else []
    explained.result = _replace(
        result,
        notes=[group_differences.left_out(others), *result.notes],
        hints=[*more, *result.hints],
    )
    return explained


def _explain(scheduler: Scheduler, group: PodGroup, *, hints: bool, node_groups: NodeGroups | None) -> ExplainedGroup:
    """Return what becomes of a group all of whose pods the scheduler serves."""
    cluster = scheduler.cluster
    waiting = sorted(group_reports.waiting_members(cluster, group.key), key=lambda info: -info.priority)
    gate = _gate(scheduler, waiting)
    if gate is not None or not waiting:
        return _not_tried(scheduler, group, waiting, gate, hints=hints)
    attempt = scheduler.attempt_group(group, waiting)
    result = group_reports.of_attempt(attempt)
    best = group_reports.best_trial(attempt)
    members = {info.key: _member(attempt, info, result) for info in waiting}
    if best is not None and len(best.assignments) < len(waiting) and result.verdict is not GroupVerdict.ERROR:
        beyond = _second_pass(scheduler, attempt, best)
        result = _replace(
            result,
            causes=_causes(best.members, beyond),
            missing=_missing(cluster, attempt, best, beyond),
        )
    notes = [*_notes(attempt, result), *_facts_of_pods(result, waiting, cluster)]
    result = _replace(result, waiting=_waiting_behind(cluster, group), notes=notes)
    if hints and result.verdict is not GroupVerdict.PLACED:
        result = _replace(result, hints=group_remedies.find(scheduler, group, attempt))
        if node_groups is not None and result.verdict is not GroupVerdict.ERROR:
            found = group_scale_ups.scale_ups(scheduler, group, attempt, node_groups)
            result = _replace(result, scale_up=found)
    return ExplainedGroup(result, members)


def _gate(scheduler: Scheduler, waiting: Iterable[PodInfo]) -> tuple[PodInfo, Status] | None:
    """Return which of the pods is kept out of the queue, and by whom; None where none is."""
    for info in waiting:
        profile = scheduler.profile_of(info)
        for plugin in profile.pre_enqueue if profile is not None else ():
            status = plugin.pre_enqueue(info)
            if not status.successful:
                return info, status.by(plugin.name)
    return None


def _not_tried(
    scheduler: Scheduler,
    group: PodGroup,
    waiting: Sequence[PodInfo],
    gate: tuple[PodInfo, Status] | None,
    *,
    hints: bool,
) -> ExplainedGroup:
    """Return what becomes of a group that has no pods to place, or that is kept out of the queue."""
    cluster = scheduler.cluster
    text = gate[1].message if gate is not None else ""
    result = group_reports.of_waiting(group, cluster, text)
    notes = []
    if gate is not None and len(waiting) > 1:
        notes.append(f"{gate[1].plugin} keeps pod {gate[0].key} out of the queue, and with it its whole group")
    there = count_members(cluster, group.key)
    if there < group.min_count:
        more = group.min_count - there
        exist = "exists" if there == 1 else "exist"
        notes.append(f"{counts.of(there, 'pod')} of {group.min_count} {exist}: {more} more would have to be created")
    result = _replace(result, notes=notes, hints=group_remedies.of_untried(group, there) if hints else [])
    members = {
        info.key: Explanation(
            pod=reference(info),
            verdict=Verdict.GATED,
            profile=info.pod.spec.scheduler_name,
            gates=[each.name for each in info.pod.spec.scheduling_gates or ()],
            pod_group=group.key,
            pod_group_text=result.text,
        )
        for info in waiting
    }
    return ExplainedGroup(result, members)


def _member(attempt: GroupAttempt, info: PodInfo, result: PodGroupResult) -> Explanation:
    """Return what becomes of one pod in the cycle of its group."""
    member, status = attempt.member_of(info), attempt.message_of(info)
    explanation = Explanation(
        pod=reference(info),
        verdict=_verdict(attempt, status),
        profile=info.pod.spec.scheduler_name,
        message=status.message if status.is_rejected else "",
        error="" if status.successful or status.is_rejected else status.message,
        pod_group=result.namespace + "/" + result.name,
        pod_group_text=result.text,
    )
    if member is None:
        return explanation
    outcome = member.outcome
    if status.successful:
        ranking = _ranking(member)
        return _replace(
            explanation,
            nodes=_node_counts(member),
            chosen=member.node_name,
            ties=[member.node_name],
            score=ranking[0].total if ranking else None,
            scores=ranking,
        )
    if not member.status.successful and outcome.is_unschedulable:
        return _replace(
            explanation,
            nodes=facts.counts(outcome),
            reasons=facts.reasons(outcome),
            unschedulable_plugins=sorted(outcome.unschedulable_plugins),
        )
    return explanation


def _verdict(attempt: GroupAttempt, status: Status) -> Verdict:
    if status.successful:
        return Verdict.SCHEDULED
    return Verdict.UNSCHEDULABLE if status.is_rejected and attempt.status.code is not Code.ERROR else Verdict.ERROR


def _ranking(member: Member) -> list[NodeScore]:
    """Return the scores of the nodes that were feasible, none where the choice was read from memory."""
    outcome = member.outcome
    if outcome.equivalence_class is not None or outcome.scoring is None:
        return []
    return scores.ranking(outcome.scoring)


def _node_counts(member: Member) -> NodeCounts:
    outcome = member.outcome
    if outcome.equivalence_class is not None:
        return NodeCounts(total=outcome.total_nodes, feasible=outcome.feasible)
    return facts.counts(outcome)


def _second_pass(scheduler: Scheduler, attempt: GroupAttempt, best: Trial) -> Sequence[Member]:
    """Return what the pods would have met that kube-scheduler did not try in a placement."""
    if len(best.members) == len(attempt.cycle.pods):
        return ()
    whole = scheduler.place_whole_group(attempt.cycle.group, attempt.cycle.pods, best.placement)
    return whole.members[len(best.members) :]


def _causes(tried: Iterable[Member], beyond: Iterable[Member]) -> list[MemberCause]:
    """Return the pods that found no node, those of one message together, those of most pods first."""
    found: dict[tuple[bool, str], list[Member]] = {}
    for reached, members in ((True, tried), (False, beyond)):
        for member in members:
            if not member.status.successful:
                found.setdefault((reached, member.status.message), []).append(member)
    causes = [
        MemberCause(
            pods=[member.outcome.pod.key for member in members],
            message=message,
            reached=reached,
            reasons=facts.reasons(members[0].outcome) if members[0].outcome.is_unschedulable else [],
        )
        for (reached, message), members in found.items()
    ]
    return sorted(causes, key=lambda cause: (not cause.reached, -len(cause.pods)))


def _missing(cluster: Cluster, attempt: GroupAttempt, best: Trial, beyond: Sequence[Member]) -> list[MissingResource]:
    """Return what the pods lack in total that the group still needs to start, of resources that some node lacks."""
    group = attempt.cycle.group
    placed = {each.pod.key for each in best.assignments} | {m.outcome.pod.key for m in beyond if m.status.successful}
    still = group.min_count - len(attempt.cycle.scheduled)
    needed = still if group.is_gang and still > 0 and not attempt.status.successful else len(attempt.cycle.pods)
    unplaced = [info for info in attempt.cycle.pods if info.key not in placed][: max(0, needed - len(placed))]
    failed = [member for member in (*best.members, *beyond) if not member.status.successful]
    lacking = dict.fromkeys(resource for member in failed for resource in _insufficient(member))
    found = []
    for resource in lacking:
        requested = sum(info.demand.fit_requests.get(resource, 0) for info in unplaced)
        taken = sum(info.demand.fit_requests.get(resource, 0) for info in attempt.cycle.pods if info.key in placed)
        nodes = best.placement.nodes
        free = int((nodes.allocatable(resource) - nodes.requested(resource)).sum()) - taken
        if requested:
            found.append(_missing_resource(resource, requested, free, len(unplaced), group, best.placement.name))
    return found


def _missing_resource(
    resource: str, requested: int, free: int, pods: int, group: PodGroup, placement: str
) -> MissingResource:
    amount = on_one_scale(resource, (requested, free))
    where = f" in {group.topology_key}={placement}" if placement else ""
    short = requested - free
    text = f"{amount(requested)} {resource} for {counts.of(pods, 'pod')}{where}, {amount(max(0, free))} left there"
    if free >= requested:
        text += ", but in pieces too small for a pod"
    elif free > 0:
        text += f": {amount(short)} more"
    return MissingResource(resource, requested, max(0, free), text)


def _insufficient(member: Member) -> list[str]:
    """Return the resources of which a node had too little for a pod."""
    return [
        str(group.evidence["resource"])
        for reason in (facts.reasons(member.outcome) if member.outcome.is_unschedulable else ())
        for group in reason.groups
        if reason.reference.startswith("node-resources-fit/insufficient") and "resource" in group.evidence
    ]


def _waiting_behind(cluster: Cluster, group: PodGroup) -> list[str]:
    """Return what else is pending and not before the group in the queue: groups once, and pods."""
    names: dict[str, None] = {}
    for info in cluster.pending.values():
        key = group_key(info)
        if key == group.key or info.priority > group.priority:
            continue
        names[f"PodGroup {key}" if key else f"Pod {info.key}"] = None
        if len(names) > _MOST_WAITING:
            break
    return list(names)


def _facts_of_pods(result: PodGroupResult, waiting: Sequence[PodInfo], cluster: Cluster) -> list[str]:
    """Return what is wrong with pods of a group whatever room there is: names that nothing has, deleted pods."""
    pods = {info.key: info for info in waiting}
    failing = [pods[cause.pods[0]] for cause in result.causes[:_MOST_CAUSES] if cause.pods and cause.pods[0] in pods]
    found = [typo.fact for info in failing for typo in typos(info, cluster)]
    leaving = sum(info.is_terminating for info in waiting)
    if leaving and not result.starts:
        are = "is" if leaving == 1 else "are"
        found.append(f"{counts.of(leaving, 'pod')} of it {are} being deleted and not tried any more")
    return list(dict.fromkeys(found))


def _notes(attempt: GroupAttempt, result: PodGroupResult) -> list[str]:
    notes = []
    group, release = attempt.cycle.group, attempt.cluster.release
    if group.spec.resource_claims and not release.enabled(_OF_CLAIMS):
        notes.append(f"the API server drops spec.resourceClaims of the group while {_OF_CLAIMS} is off")
    if result.topology_key and not result.trials:
        meant = did_you_mean(group_remedies.similar_topology_key(group, attempt.cluster))
        key = f"{result.topology_key}{meant}"
        notes.append(f"no node has the label {key}, of which all nodes of the group need one value")
    if result.verdict is GroupVerdict.STARTS:
        rest = result.pods - result.scheduled - result.placed
        notes.append(f"{counts.of(rest, 'pod')} would stay pending and be tried again as the rest of the group")
    if attempt.awaits_preemption:
        notes.append("no pod is placed before the victims are gone; the group is then tried again")
    return notes

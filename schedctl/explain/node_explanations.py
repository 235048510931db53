"""The `NodeExplanation` of a node: what is free there, which pending pods fit there now, and why the others do not.

It is put together from the explanations of the pending pods, each with this node in depth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec

from schedctl.api import resources, topology
from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import NodeInfo
from schedctl.cache.pod_info import PodInfo
from schedctl.explain import evidence
from schedctl.explain.bound_pods import ready_status
from schedctl.explain.groups import first_details
from schedctl.framework import wording
from schedctl.framework.statuses import Code
from schedctl.reports.explanations import Explanation, NodeVerdict, OwnerPods, PodReference, Verdict
from schedctl.reports.metadata import describe_unknown
from schedctl.reports.node_explanations import (
    FittingPods,
    NodeExplanation,
    NodeResource,
    NotJudgedPods,
    RejectedPods,
    RejectionCause,
    ReportedCondition,
    RunningPods,
)
from schedctl.reports.reasons import Hint, Reason

OwnerOf = Callable[[PodReference], str]
"""The workload of a pod, such as ``Deployment shop/web``; "" for a pod without a controller."""
_INSTANCE_TYPE = "node.kubernetes.io/instance-type"
_NOT_JUDGED = (
    Verdict.GATED,
    Verdict.DELETING,
    Verdict.FOREIGN_SCHEDULER,
    Verdict.ERROR,
    Verdict.INCONCLUSIVE,
    Verdict.REJECTED,
)
_replace = msgspec.structs.replace


class RejectedGroup(msgspec.Struct):
    """Pending pods that a node rejects for the same reasons.

    Attributes:
        reasons: everything the node has against them.
        victims: the pods that preemption would evict from it.
        answers: the explanation of each pod.
    """

    reasons: list[Reason]
    victims: list[str]
    answers: list[Explanation] = msgspec.field(default_factory=list)

    @property
    def distance(self) -> tuple[int, int, int]:
        """How far the pods are from fitting, for sorting: causes that evictions cannot undo, causes, pods."""
        unresolvable = Code.UNSCHEDULABLE_AND_UNRESOLVABLE.label
        return sum(each.code == unresolvable for each in self.reasons), len(self.reasons), -len(self.answers)


class PendingAnswers(msgspec.Struct):
    """The explanations of all pending pods by what they say of one node."""

    fitting: dict[tuple[str, str, str], list[Explanation]] = msgspec.field(default_factory=dict)
    rejected: list[RejectedGroup] = msgspec.field(default_factory=list)
    not_judged: dict[tuple[Verdict, str], list[Explanation]] = msgspec.field(default_factory=dict)


def sort_out(node: str, answers: Iterable[Explanation], owner_of: OwnerOf) -> PendingAnswers:
    """Return explanations by what they say of a node; of the rejected groups the nearest to fitting comes first."""
    found = PendingAnswers()
    rejected: dict[bytes, RejectedGroup] = {}
    for answer in answers:
        if answer.verdict in _NOT_JUDGED:
            found.not_judged.setdefault((answer.verdict, _why_not_judged(answer)), []).append(answer)
            continue
        reasons = _reasons(node, answer)
        if not reasons:
            promised = answer.pod.nominated_node_name if answer.chosen == answer.pod.nominated_node_name else ""
            elsewhere = "" if promised == node else promised
            found.fitting.setdefault((owner_of(answer.pod), answer.chosen, elsewhere), []).append(answer)
            continue
        victims = next((each.victims for each in answer.preemption.candidates if each.node == node), [])
        identity = msgspec.json.encode((reasons, victims))
        rejected.setdefault(identity, RejectedGroup(reasons, victims)).answers.append(answer)
    found.rejected = sorted(rejected.values(), key=lambda group: group.distance)
    return found


def explain_node(
    cluster: Cluster,
    name: str,
    found: PendingAnswers,
    hints: Sequence[Sequence[Hint] | None],
    *,
    owner_of: OwnerOf,
    pool_labels: Sequence[str],
) -> NodeExplanation:
    """Return the explanation of a node.

    Args:
        cluster: the cluster.
        name: of the node.
        found: what the explanations of the pending pods say of it.
        hints: the next steps for the rejected groups in their order, None where none were looked for.
        owner_of: the workload of a pod.
        pool_labels: labels by which clusters tell their node pools apart, the first of a node counts.
    """
    info = NodeInfo(cluster.nodes_named([name]), 0)
    labels = info.labels
    rejected = [
        _rejected_pods(name, group, next_steps, owner_of)
        for group, next_steps in zip(found.rejected, hints, strict=True)
    ]
    return NodeExplanation(
        node=name,
        zone=topology.zone_of(labels),
        pool=next((labels[label] for label in pool_labels if labels.get(label)), ""),
        instance_type=labels.get(_INSTANCE_TYPE, ""),
        labels=dict(sorted(labels.items())),
        taints=[wording.taint(evidence.plain(taint)) for taint in info.taints],
        unschedulable=info.object.spec.unschedulable,
        ready=ready_status(info.object),
        conditions=_conditions(info),
        pods=len(info.pods),
        resources=_resources(info),
        running=_running_pods(info, owner_of),
        nominated=[key for key, pod in cluster.pending.items() if pod.pod.status.nominated_node_name == name],
        fitting=[
            FittingPods(_keys(answers), _owners(answers, owner_of), chosen, elsewhere)
            for (_, chosen, elsewhere), answers in sorted(found.fitting.items(), key=lambda item: -len(item[1]))
        ],
        # The sort is stable: groups that something helps are nearer than the others, and otherwise as they were.
        rejected=sorted(rejected, key=lambda each: (not each.preempts, each.fix is None)),
        causes=_causes(found.rejected),
        not_judged=[
            NotJudgedPods(verdict, _keys(answers), _owners(answers, owner_of), text)
            for (verdict, text), answers in found.not_judged.items()
        ],
    )


def _reasons(node: str, answer: Explanation) -> list[Reason]:
    """Return everything a node has against a pod, nothing where the pod fits there."""
    detail = answer.node
    if detail is None or detail.verdict is NodeVerdict.FEASIBLE:
        return []
    filters = [reason for each in detail.filters for reason in each.reasons]
    if filters:
        return filters
    if detail.verdict is NodeVerdict.LEFT_OUT:
        return [_of_one_node(reason, node) for reason in answer.reasons if any(node in g.nodes for g in reason.groups)]
    return [reason for reason in answer.reasons if reason.whole_pod]


def _of_one_node(reason: Reason, node: str) -> Reason:
    groups = [_replace(group, nodes=[node], zones={}) for group in reason.groups if node in group.nodes]
    return _replace(
        reason, count=1, zones={}, groups=groups, detail=reason.summary or first_details(groups), details=[]
    )


def _why_not_judged(answer: Explanation) -> str:
    match answer.verdict:
        case Verdict.GATED:
            return f"waits for {', '.join(answer.gates)}" if answer.gates else "kept out of the queue"
        case Verdict.DELETING:
            return "is not scheduled any more"
        case Verdict.FOREIGN_SCHEDULER:
            return f'schedulerName "{answer.pod.scheduler_name}" belongs to another scheduler'
        case Verdict.INCONCLUSIVE if not answer.error:
            return describe_unknown(answer.guesses)
    return answer.error


def _rejected_pods(node: str, group: RejectedGroup, hints: Sequence[Hint] | None, owner_of: OwnerOf) -> RejectedPods:
    return RejectedPods(
        pods=_keys(group.answers),
        owners=_owners(group.answers, owner_of),
        reasons=group.reasons,
        elsewhere=dict(Counter(each.chosen for each in group.answers if each.chosen).most_common()),
        victims=group.victims,
        preempts=bool(group.victims) and group.answers[0].preemption.nominated_node == node,
        fix=next((hint for hint in hints or () if hint.fits), None),
        fix_tried=hints is not None,
    )


def _causes(rejected: Iterable[RejectedGroup]) -> list[RejectionCause]:
    pods: Counter[tuple[str, str]] = Counter()
    alone: Counter[tuple[str, str]] = Counter()
    for group in rejected:
        causes = {(reason.plugin, reason.text) for reason in group.reasons}
        for cause in causes:
            pods[cause] += len(group.answers)
            alone[cause] += len(group.answers) if len(causes) == 1 else 0
    ordered = sorted(pods.items(), key=lambda item: (-item[1], item[0]))
    return [RejectionCause(plugin, text, count, alone[plugin, text]) for (plugin, text), count in ordered]


def _keys(answers: Iterable[Explanation]) -> list[str]:
    return [f"{answer.pod.namespace}/{answer.pod.name}" for answer in answers]


def _owners(answers: Iterable[Explanation], owner_of: OwnerOf) -> list[OwnerPods]:
    return [OwnerPods(owner, pods) for owner, pods in Counter(owner_of(each.pod) for each in answers).most_common()]


def _conditions(info: NodeInfo) -> list[ReportedCondition]:
    """Return the conditions of a node in which it differs from a healthy one."""
    return [
        ReportedCondition(each.type, each.status, each.reason)
        for each in info.object.status.conditions or ()
        # Besides Ready, agents of providers report KernelReady and the like; all others, as DiskPressure, name a fault.
        if (each.status != "True" if each.type.endswith("Ready") else each.status == "True")
    ]


def _resources(info: NodeInfo) -> list[NodeResource]:
    offered = info.object.status.allocatable or {}
    used_by_pods = {resource for pod in info.pods for resource in pod.demand.fit_requests}
    first = (resources.CPU, resources.MEMORY, resources.PODS)
    found = []
    for resource in dict.fromkeys((*first, *sorted({*offered, *used_by_pods}))):
        allocatable = info.allocatable(resource)
        used = len(info.pods) if resource == resources.PODS else info.requested(resource)
        if resource in first or allocatable or used:
            found.append(NodeResource(resource, allocatable, used, allocatable - used))
    return found


def _running_pods(info: NodeInfo, owner_of: OwnerOf) -> list[RunningPods]:
    by_owner: dict[str, list[PodInfo]] = {}
    for pod in info.pods:
        metadata = pod.pod.metadata
        by_owner.setdefault(owner_of(PodReference(metadata.namespace, metadata.name)), []).append(pod)
    found = [
        RunningPods(owner, len(pods), *(sum(p.demand.fit_requests.get(r, 0) for p in pods) for r in ("cpu", "memory")))
        for owner, pods in by_owner.items()
    ]
    return sorted(found, key=lambda each: (-each.cpu, -each.memory, each.owner))

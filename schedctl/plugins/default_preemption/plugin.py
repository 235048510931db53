"""DefaultPreemption: makes room for a pod by evicting others of lower priority.

The plugin decides whether the pod may preempt at all and on how many nodes to try it; `victims` says who could be
evicted, `dry_run` tries it, and `candidates` chooses between the nodes, after `extenders` have had their say.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from typing_extensions import override

from schedctl.api import field_errors, policies
from schedctl.cache.arrays import BoolArray
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.config.args import DefaultPreemptionArgs
from schedctl.framework.cycles import Cycle
from schedctl.framework.events import Action, Hint, Registration, Resource, registers
from schedctl.framework.group_points import (
    GroupCycle,
    GroupOutcome,
    PodGroupPostFilterPlugin,
    PodGroupPostFilterResult,
)
from schedctl.framework.points import PostFilterPlugin, PostFilterResult, PreEnqueuePlugin
from schedctl.framework.reasons import CodeColumn, Reason
from schedctl.framework.statuses import SUCCESS, Code, Status, none_available
from schedctl.plugins.default_preemption.candidates import Preemption, choose
from schedctl.plugins.default_preemption.dry_run import search
from schedctl.plugins.default_preemption.extenders import ask_extenders
from schedctl.plugins.default_preemption.pod_groups import preempt
from schedctl.plugins.default_preemption.victims import is_preempted
from schedctl.releases import ReleaseChange

if TYPE_CHECKING:
    from schedctl.reports import explanations as reports

NOT_HELPFUL = "Preemption is not helpful for scheduling"
NEVER = "not eligible due to preemptionPolicy=Never."
NO_CANDIDATE = "no candidate node for preemption"
AWAITED = "not eligible due to a terminating pod on the nominated node."


class DefaultPreemption(PreEnqueuePlugin, PostFilterPlugin, PodGroupPostFilterPlugin):
    """Makes room by evicting pods of lower priority, the fewest and least important.

    Not every node need be tried: with enough candidates, by ``minCandidateNodesPercentage`` and
    ``minCandidateNodesAbsolute``, one of which violates no budget, the search ends. kube-scheduler begins it at a
    random node; here it goes through the nodes in order of their names.
    """

    reads = (policies.PodDisruptionBudget,)

    underway = Reason("waiting for the preemption for this pod to be finished", unresolvable=True)

    def signature(self, pod: PodInfo) -> Hashable:
        """What it could evict, and whether it may."""
        return pod.priority, pod.pod.spec.preemption_policy, pod.pod.status.nominated_node_name

    def events_to_register(self) -> tuple[Registration, ...]:
        """A pod gone, so that a pod kept out is looked at again.

        Whether to try it is for those to say whose refusal the evictions were to remedy. Without
        SchedulerAsyncPreemption no pod is kept out.
        """
        if not self.release.enabled("SchedulerAsyncPreemption"):
            return ()
        return (registers(Resource.ASSIGNED_POD, Action.DELETE, _after_deletion),)

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Keep a pod out while the evictions it asked for are being carried out (SchedulerAsyncPreemption)."""
        return self.underway.status() if self.handle.has_preemption_underway(pod) else SUCCESS

    def post_filter(self, cycle: Cycle, nodes: Nodes, codes: CodeColumn) -> PostFilterResult:
        """Nominate the pod to the node where evictions cost least."""
        ineligible = _ineligible(cycle.pod, nodes, codes)
        if ineligible:
            return PostFilterResult(_status(Code.UNSCHEDULABLE, ineligible), findings=Preemption(ineligible))
        potential = _by_name(nodes, codes == Code.UNSCHEDULABLE)
        if not len(potential):
            return _fruitless(len(nodes), 0, {}, Preemption())
        enough = self._enough(len(potential))
        found = search(self.handle, cycle, potential, enough)
        candidates = found.candidates
        if not len(candidates):
            preemption = Preemption("", len(potential), found.tried, enough, candidates)
            if found.faults:
                return PostFilterResult(_status(Code.ERROR, field_errors.aggregate(found.faults)), findings=preemption)
            return _fruitless(len(nodes), found.refused, found.reasons, preemption)
        preemption = Preemption("", len(potential), found.tried, enough, candidates)
        if self.handle.extenders:
            answer = ask_extenders(self.handle, cycle.pod, candidates, nodes)
            candidates = answer.candidates
            preemption = replace(preemption, candidates=candidates, passed_over=answer.passed_over)
            if answer.fault:
                return PostFilterResult(_status(Code.ERROR, answer.fault), findings=preemption)
            if not len(candidates):
                return PostFilterResult(_status(Code.UNSCHEDULABLE, NO_CANDIDATE), findings=preemption)
        choice = choose(candidates)
        node, victims = candidates.name(choice.candidate), candidates.victims(choice.candidate)
        status = SUCCESS
        if self.release.includes(ReleaseChange.PREEMPTION_MESSAGE):
            text = f"found a potential placement for pod on node {node}, preempting {len(victims)} victims"
            status = _status(Code.SUCCESS, text)
        preemption = replace(preemption, choice=choice)
        return PostFilterResult(status, node, tuple(victims), preemption)

    def pod_group_post_filter(
        self, cycle: GroupCycle, try_again: Callable[[], GroupOutcome]
    ) -> PodGroupPostFilterResult:
        """Nominate the pods of a group to the nodes they find once all of lower priority in their way are gone."""
        if self.release.enabled("PodGroupPreemptionPolicy"):
            never = cycle.group.spec.preemption_policy == "Never"
        else:
            never = any(pod.pod.spec.preemption_policy == "Never" for pod in cycle.pods)
        return preempt(self.handle, cycle, never, try_again)

    @override
    def explain_preemption(self, result: PostFilterResult, answer: reports.Preemption) -> reports.Preemption:
        from schedctl.plugins.default_preemption.wording import explain

        return explain(result.findings, result, answer) if isinstance(result.findings, Preemption) else answer

    @override
    def preemption_notes(self, result: PostFilterResult) -> Iterable[str]:
        for extender, text in result.findings.passed_over if isinstance(result.findings, Preemption) else ():
            yield f"{extender} failed over preemption and is ignorable, so it was passed over: {text}"

    def _enough(self, potential: int) -> int:
        args: DefaultPreemptionArgs = self.args
        share = potential * args.min_candidate_nodes_percentage // 100
        return min(max(share, args.min_candidate_nodes_absolute), potential)


def _after_deletion(pod: PodInfo, before: PodInfo, after: None) -> Hint:
    return Hint.SKIP


def _ineligible(pod: PodInfo, nodes: Nodes, codes: CodeColumn) -> str:
    """Return why the pod may not preempt, "" where it may.

    A pod waits for the victims it has on its nominated node, unless that node has become one no eviction can help.
    """
    if pod.pod.spec.preemption_policy == "Never":
        return NEVER
    promised = nodes.cluster.node_table.row_of.get(pod.pod.status.nominated_node_name)
    if promised is None or codes[nodes.rows == promised] == Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
        return ""
    there = nodes.cluster.pod_table.on(promised)
    return AWAITED if any(other.priority < pod.priority and is_preempted(other) for other in there) else ""


def _by_name(nodes: Nodes, chosen: BoolArray) -> Nodes:
    """Return the chosen nodes of a column in order of their names."""
    by_row = np.zeros(len(nodes.cluster.node_table), np.bool_)
    by_row[nodes.rows[chosen]] = True
    every = nodes.cluster.nodes_by_name  # sorted once, until a node comes or goes
    return every.take(by_row[every.rows])


def _fruitless(total: int, refused: int, reasons: Mapping[str, int], preemption: Preemption) -> PostFilterResult:
    """Return the answer that no eviction helps; the pod loses the nomination it may have."""
    counts = dict(reasons)
    if refused < total:
        counts[NOT_HELPFUL] = total - refused
    return PostFilterResult(_status(Code.UNSCHEDULABLE, none_available(total, counts)), "", (), preemption)


def _status(code: Code, text: str) -> Status:
    return Status(code, (f"preemption: {text}",))

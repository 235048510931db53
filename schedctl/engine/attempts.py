"""One pod's scheduling cycle, from PreEnqueue to the choice of a node, as facts.

`attempt` runs a profile for a pod over the cluster and leaves an `Attempt`. It never words anything: the
FailedScheduling line and every explanation are read off the attempt by ``explain``. The full matrix, every filter
about every node, is asked for separately (`matrix`), after the cycle and on a scratch copy of it, because only a
person reads it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from schedctl.cache.arrays import IndexArray
from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.engine import sampling
from schedctl.engine.asking import DIRECTLY, Asking
from schedctl.engine.faults import CycleError, failure
from schedctl.engine.filtering import FilterError, Filtering, filter_nodes
from schedctl.engine.nominators import Nominator
from schedctl.engine.reuse import Templates
from schedctl.engine.scoring import Scoring, score_nodes
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import NodeSet, PostFilterResult
from schedctl.framework.profiles import Profile
from schedctl.framework.reasons import CodeColumn, Verdicts
from schedctl.framework.statuses import SUCCESS, Code, Status


@dataclass(slots=True)
class Attempt:
    """What happened in one pod's cycle. Fields after the step at which it ended keep their defaults.

    Attributes:
        cycle: the pod and the state its plugins left.
        profile: the profile that was run.
        cluster: the cluster it was run on.
        generation: of the cluster; `matrix` refuses to ask about a later one.
        total_nodes: how many nodes the cluster has.
        deleted: the pod is on its way out and is not scheduled.
        gated: the refusal of PreEnqueue.
        pre_filter: Success, or the refusal of the pod as a whole.
        pre_filter_nodes: the nodes PreFilter narrowed the search to, by name, or None.
        narrowing_plugins: who narrowed it.
        judged: the column Filter was run on, None when it was not.
        filtering: its outcome.
        nominated_first: the pod's nominated node fitted, so no other was looked at.
        sampled: how many feasible nodes were enough, None when every node was judged.
        scoring: the outcome over the feasible nodes.
        post_filter: what PostFilter achieved, None when it was not run.
        error: the fault the cycle was abandoned with, "" for none.
        failed_on: the node a filter failed on, "" for none; `filtering` then holds for the nodes before it by name.
        tie_rows: the node rows with the best score, intp; empty when no node will do.
    """

    cycle: Cycle
    profile: Profile
    cluster: Cluster
    generation: int
    total_nodes: int = 0
    deleted: bool = False
    gated: Status | None = None
    pre_filter: Status = SUCCESS
    pre_filter_nodes: frozenset[str] | None = None
    narrowing_plugins: frozenset[str] = frozenset()
    judged: Nodes | None = None
    filtering: Filtering | None = None
    nominated_first: bool = False
    sampled: int | None = None
    scoring: Scoring | None = None
    post_filter: PostFilterResult | None = None
    error: str = ""
    failed_on: str = ""
    tie_rows: IndexArray = field(default_factory=lambda: np.empty(0, np.intp))

    @property
    def pod(self) -> PodInfo:
        """The pod."""
        return self.cycle.pod

    @property
    def ties(self) -> list[str]:
        """The nodes with the best score, by name; kube-scheduler takes any one of them."""
        names = self.cluster.node_table.names
        return sorted(names[row] for row in self.tie_rows.tolist())

    @property
    def chosen(self) -> str:
        """The first by name of the nodes with the best score, "" when no node will do."""
        if not len(self.tie_rows):
            return ""
        first = self.tie_rows[np.argmin(self.cluster.name_rank[self.tie_rows])]
        return self.cluster.node_table.names[int(first)]

    @property
    def refused_everywhere(self) -> bool:
        """Whether the cycle was run and no node will do."""
        return bool(self.total_nodes) and not self.deleted and self.gated is None and self.scoring is None

    @property
    def unschedulable_plugins(self) -> frozenset[str]:
        """Who refused, when no node will do."""
        names = set(self.narrowing_plugins)
        if self.pre_filter.rejected and self.pre_filter.plugin:
            names.add(self.pre_filter.plugin)
        if self.filtering is not None:
            names |= self.filtering.refusing_plugins()
        return frozenset(names)

    @property
    def pending_plugins(self) -> frozenset[str]:
        """Who of them said Pending of a node: what they wait for lets the pod skip its backoff."""
        return frozenset(self.filtering.pending_plugins() if self.filtering is not None else ())


def attempt(
    profile: Profile,
    cluster: Cluster,
    pod: PodInfo,
    nominator: Nominator,
    *,
    percentage: int | None = None,
    templates: Templates | None = None,
    make_room: bool = True,
    admitted: bool = False,
) -> Attempt:
    """Run one scheduling cycle and return its facts; the cluster is as before.

    Args:
        profile: the plugins to run.
        cluster: what to place the pod on.
        pod: the pod; if it stands in the cluster, its own usage counts.
        nominator: the pods promised to nodes.
        percentage: sample the nodes as kube-scheduler does with this ``percentageOfNodesToScore``; None judges all.
        templates: the memory of pods alike; None asks everything anew.
        make_room: whether to run PostFilter when no node will do.
        admitted: whether PreEnqueue has let the pod in already, as it has all pods that come out of a queue.
    """
    outcome = Attempt(Cycle(pod), profile, cluster, cluster.generation, len(cluster.rows))
    try:
        if not admitted:
            _pre_enqueue(outcome)
        if outcome.gated is None:
            _run(outcome, nominator, percentage, templates)
        if make_room and outcome.refused_everywhere:
            outcome.post_filter = post_filter(outcome)
    except CycleError as fault:
        outcome.error = str(fault)
        if isinstance(fault, FilterError):
            outcome.filtering, outcome.failed_on = fault.filtering, fault.node
    return outcome


def matrix(outcome: Attempt, nodes: Nodes | None = None) -> dict[str, Verdicts]:
    """Return what every filter says of every node that was judged, refusals by plugin in profile order.

    Args:
        outcome: an attempt that got as far as Filter; of another nothing is said.
        nodes: the nodes to ask about instead, of the same cluster.

    Raises:
        ValueError: the cluster has changed since the attempt.
    """
    if outcome.judged is None:
        return {}
    if outcome.cluster.generation != outcome.generation:
        raise ValueError("the cluster has changed since this attempt: run it again")
    scratch = outcome.cycle.scratch()
    asked = (p for p in outcome.profile.filter if p.name not in scratch.skip_filter)
    column = outcome.judged if nodes is None else nodes
    answers = ((plugin.name, plugin.filter(scratch, column)) for plugin in asked)
    return {name: verdicts for name, verdicts in answers if verdicts.parts}


def _pre_enqueue(outcome: Attempt) -> None:
    """Ask whether the pod may enter the queue; one that is on its way out never does, and is not asked about."""
    if outcome.pod.terminating:
        return
    for plugin in outcome.profile.pre_enqueue:
        status = plugin.pre_enqueue(outcome.pod)
        if not status.successful:
            outcome.gated = status.by(plugin.name)
            return


def _run(outcome: Attempt, nominator: Nominator, percentage: int | None, templates: Templates | None) -> None:
    profile, cluster, pod = outcome.profile, outcome.cluster, outcome.pod
    if pod.terminating:
        outcome.deleted = True
        return
    if not outcome.total_nodes:
        return
    asking = templates.recall(profile, outcome.cycle) if templates is not None else DIRECTLY
    every = cluster.nodes if percentage is None else sampling.rotated(cluster.nodes_by_zone, cluster.next_start)
    _pre_filter(outcome, every, asking)
    if outcome.pre_filter.successful:
        feasible = _filter(outcome, every, nominator, percentage, asking)
        if len(feasible):
            assert outcome.judged is not None
            chosen_from = outcome.judged if len(feasible) == len(outcome.judged) else outcome.judged.take(feasible)
            outcome.scoring = score_nodes(profile, outcome.cycle, chosen_from, asking)
            outcome.tie_rows = chosen_from.rows[outcome.scoring.ties]


def _pre_filter(outcome: Attempt, nodes: Nodes, asking: Asking) -> None:
    """Run the PreFilter plugins; node sets are intersected, and an empty intersection refuses the pod."""
    narrowed: frozenset[str] | None = None
    plugins: list[str] = []
    refusal: Status | None = None
    for plugin in outcome.profile.pre_filter:
        answer = asking.pre_filter(plugin, outcome.cycle, nodes)
        if answer is None:
            continue
        if isinstance(answer, NodeSet):
            plugins.append(plugin.name)
            narrowed = answer.names if narrowed is None else narrowed & answer.names
            if not narrowed:
                named = f"plugin {plugins[0]}"
                if len(plugins) > 1:
                    named = f"plugin(s) [{' '.join(sorted(plugins))}] simultaneously"
                text = f"node(s) didn't satisfy {named}"
                outcome.pre_filter = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (text,))
                outcome.pre_filter_nodes, outcome.narrowing_plugins = narrowed, frozenset(plugins)
                return
        elif answer.code is Code.SKIP:
            outcome.cycle.skip_filter.add(plugin.name)
        elif answer.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            outcome.pre_filter = answer.by(plugin.name)
            return
        elif answer.code is Code.UNSCHEDULABLE:
            refusal = answer.by(plugin.name)
        elif not answer.successful:
            fault = failure(f'running PreFilter plugin "{plugin.name}"', answer)
            outcome.pre_filter = Status(Code.ERROR, (str(fault),), plugin.name)
            raise fault
    outcome.pre_filter_nodes, outcome.narrowing_plugins = narrowed, frozenset(plugins)
    if refusal is not None:
        outcome.pre_filter = refusal


def _filter(outcome: Attempt, every: Nodes, nominator: Nominator, percentage: int | None, asking: Asking) -> IndexArray:
    """Run Filter and return the positions of feasible nodes; a nominated node that fits is the only one looked at."""
    profile, cluster, cycle = outcome.profile, outcome.cluster, outcome.cycle
    promised = outcome.pod.pod.status.nominated_node_name
    if promised and promised in cluster.node_table.row_of:
        alone = cluster.named([promised])
        filtering = filter_nodes(profile, cycle, alone, nominator)
        cycle.findings = filtering.findings
        if filtering.feasible[0]:  # a fault is not the end yet: it is met again among all nodes
            outcome.judged, outcome.filtering, outcome.nominated_first = alone, filtering, True
            return np.zeros(1, np.intp)
    nodes = every
    if outcome.pre_filter_nodes is not None:
        row_of = cluster.node_table.row_of
        rows = [row_of[name] for name in outcome.pre_filter_nodes if name in row_of]
        nodes = every.take(np.isin(every.rows, rows))
    outcome.judged = nodes
    filtering = filter_nodes(profile, cycle, nodes, nominator, asking)
    filtering.raise_faults()
    cycle.findings = filtering.findings
    if percentage is not None:
        outcome.sampled = sampling.nodes_to_find(percentage, len(nodes))
        filtering = sampling.cut(filtering, outcome.sampled)
    outcome.filtering = filtering
    return np.flatnonzero(filtering.feasible)


def post_filter(outcome: Attempt) -> PostFilterResult | None:
    """Run PostFilter plugins until one succeeds or gives up for good; otherwise all their reasons stand together."""
    if not outcome.profile.post_filter:
        return None
    nodes = outcome.cluster.nodes
    codes = _codes_of_all(outcome, nodes)
    reasons: list[str] = []
    first = ""
    nominated_node: str | None = None
    findings: Any = None
    objects: tuple[Any, ...] = ()
    removed: tuple[Any, ...] = ()
    for plugin in outcome.profile.post_filter:
        result = plugin.post_filter(outcome.cycle, nodes, codes)
        objects, removed = objects + result.objects, removed + result.removed
        result = replace(result, objects=objects, removed=removed)
        status = result.status
        if status.successful:
            return result
        if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return replace(result, status=status.by(plugin.name))
        if not status.rejected:
            return PostFilterResult(status.by(plugin.name), objects=objects, removed=removed)
        if result.nominated_node is not None:
            nominated_node = result.nominated_node
        findings = result.findings or findings
        reasons += status.reasons
        first = first or plugin.name
    status = Status(Code.UNSCHEDULABLE, tuple(reasons), first)
    return PostFilterResult(status, nominated_node, findings=findings, objects=objects, removed=removed)


def _codes_of_all(outcome: Attempt, nodes: Nodes) -> CodeColumn:
    """Why each node of the cluster was refused, int8 (nodes,): those not judged carry PreFilter's verdict."""
    if outcome.filtering is None or outcome.judged is None:
        return np.full(len(nodes), outcome.pre_filter.code, np.int8)
    by_row = np.full(len(outcome.cluster.node_table), Code.UNSCHEDULABLE_AND_UNRESOLVABLE, np.int8)
    by_row[outcome.judged.rows] = outcome.filtering.codes
    codes: CodeColumn = by_row[nodes.rows]
    return codes

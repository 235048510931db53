"""One pod's scheduling cycle, from PreEnqueue to the choice of a node, as facts.

`attempt` runs a profile for a pod over the cluster and leaves an `Attempt`, which words nothing: the FailedScheduling
line and every explanation are read off it by ``fit_error`` and ``explain``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import msgspec
import numpy as np

from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.cache.arrays import NO_ROWS, BoolArray, IndexArray
from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import Nodes, ReadObserver
from schedctl.cache.pod_info import PodInfo
from schedctl.cache.pod_table import NO_NODE
from schedctl.engine import extenders, sampling
from schedctl.engine.assumptions import AbsentPlugin, Assumption, ForeignGroup
from schedctl.engine.batching.answer_columns import CannotUpdate
from schedctl.engine.batching.choosing import best_nodes
from schedctl.engine.batching.equivalence_classes import EquivalenceClass
from schedctl.engine.batching.signature_cache import SignatureCache
from schedctl.engine.calls import DIRECT, PluginRunner, TracingRunner, runner_of
from schedctl.engine.extenders import Consultation
from schedctl.engine.faults import CycleError, failure
from schedctl.engine.filtering import FilterError, Filtering, filter_nodes
from schedctl.engine.nominators import Nominator
from schedctl.engine.scoring import Scoring, score_nodes
from schedctl.framework.cycles import Cycle
from schedctl.framework.extenders import EXTENDER_PLUGIN
from schedctl.framework.foreign_groups import foreign_group
from schedctl.framework.points import FilterPlugin, NodeSet, PostFilterResult
from schedctl.framework.profiles import Profile
from schedctl.framework.reasons import CodeColumn, Reason, Verdicts
from schedctl.framework.statuses import SUCCESS, Code, Status

_CHANGED = "the cluster has changed since this attempt: run it again"


class _Details(msgspec.Struct):
    """What Filter and Score found, see `Attempt`."""

    evaluated_column: Nodes | None = None
    filtering: Filtering | None = None
    scoring: Scoring | None = None


class Attempt(msgspec.Struct):
    """What happened in one pod's cycle. Fields after the step at which it ended keep their defaults.

    Where the choice was known already (`schedctl.engine.batching`), what Filter and Score say is worked out
    when it is first read, by running the cycle in full; until then `cycle` has no findings.

    Attributes:
        cycle: the pod and the state its plugins left.
        profile: the profile that was run.
        cluster: the cluster it was run on.
        generation: of the cluster; `matrix` refuses to ask about a later one.
        total_nodes: how many nodes the cluster has, or the placement of the pod's group.
        among: that placement, None for all nodes.
        deleted: the pod is on its way out and is not scheduled.
        gated: the refusal of PreEnqueue.
        pre_filter: Success, or the refusal of the pod as a whole.
        pre_filter_nodes: the nodes PreFilter narrowed the search to, by name, or None.
        narrowing_plugins: who narrowed it.
        nominated_first: the pod's nominated node fitted, so no other was looked at.
        sampled: how many feasible nodes were enough, None when every node was judged.
        feasible: how many nodes are feasible.
        post_filter: what PostFilter achieved, None when it was not run.
        error: the fault the cycle was abandoned with, "" for none.
        failed_on: the node a filter failed on, "" for none; `filtering` then holds for the nodes before it by name.
        equivalence_class: what the choice was read off, None where the cycle was run.
        assumptions: which missing kinds were read, which extenders gave no answer; see `schedctl.engine.assumptions`.
        consultation: what came of asking extenders, None where the profile has none.
    """

    cycle: Cycle
    profile: Profile
    cluster: Cluster
    generation: int
    total_nodes: int = 0
    among: Nodes | None = None
    deleted: bool = False
    gated: Status | None = None
    pre_filter: Status = SUCCESS
    pre_filter_nodes: frozenset[str] | None = None
    narrowing_plugins: frozenset[str] = frozenset()
    nominated_first: bool = False
    sampled: int | None = None
    feasible: int = 0
    post_filter: PostFilterResult | None = None
    error: str = ""
    failed_on: str = ""
    assumptions: frozenset[Assumption] = frozenset()
    consultation: Consultation | None = None
    equivalence_class: EquivalenceClass | None = None
    _details: _Details = msgspec.field(default_factory=_Details)
    _best: BoolArray | None = None
    _tie_rows: IndexArray = msgspec.field(default_factory=lambda: NO_ROWS)
    _chosen: int = NO_NODE

    @property
    def pod(self) -> PodInfo:
        """The pod."""
        return self.cycle.pod

    @property
    def evaluated_column(self) -> Nodes | None:
        """The column Filter was run on, None when it was not."""
        return self._full_details().evaluated_column

    @property
    def filtering(self) -> Filtering | None:
        """The outcome of Filter.

        Raises:
            ValueError: it was not worked out yet, and the cluster has changed since the attempt.
        """
        return self._full_details().filtering

    @property
    def scoring(self) -> Scoring | None:
        """The outcome of Score over the feasible nodes, None when no node is feasible.

        Raises:
            ValueError: it was not worked out yet, and the cluster has changed since the attempt.
        """
        return self._full_details().scoring

    @property
    def fits(self) -> bool:
        """Whether a node is feasible."""
        return self._chosen != NO_NODE

    @property
    def tie_rows(self) -> IndexArray:
        """The node rows with the best score, intp; empty when no node is feasible."""
        if self._best is not None:
            assert self.equivalence_class is not None
            self._tie_rows, self._best = self.equivalence_class.nodes.rows[self._best], None
        return self._tie_rows

    @property
    def tie_count(self) -> int:
        """How many nodes have the best score."""
        return len(self._tie_rows) if self._best is None else int(np.count_nonzero(self._best))

    @property
    def ties(self) -> list[str]:
        """The nodes with the best score, by name; kube-scheduler takes any one of them."""
        names = self.cluster.node_table.names
        return sorted(names[row] for row in self.tie_rows.tolist())

    @property
    def chosen(self) -> str:
        """The first by name of the nodes with the best score, "" when no node is feasible."""
        return self.cluster.node_table.names[self._chosen] if self.fits else ""

    @property
    def is_unschedulable(self) -> bool:
        """Whether the cycle was run and no node is feasible."""
        return not self.fits and bool(self.total_nodes) and not self.deleted and self.gated is None

    @property
    def unschedulable_plugins(self) -> frozenset[str]:
        """Who refused, when no node is feasible."""
        names = set(self.narrowing_plugins)
        if self.pre_filter.is_rejected and self.pre_filter.plugin:
            names.add(self.pre_filter.plugin)
        if self.filtering is not None:
            names |= self.filtering.rejecting_plugins()
        if self.consultation is not None:
            names -= {extender.name for extender in self.profile.extenders}
            if self.consultation.rejected:
                names.add(EXTENDER_PLUGIN)
        return frozenset(names)

    def _full_details(self) -> _Details:
        """Return what Filter and Score say, run now if the choice alone is known."""
        if self.equivalence_class is not None and self._details.evaluated_column is None:
            if self.cluster.generation != self.generation:
                raise ValueError(_CHANGED)
            again = Attempt(
                Cycle(self.pod), self.profile, self.cluster, self.generation, self.total_nodes, among=self.among
            )
            _run(again, Nominator(), None, None)  # a class answered, so that nobody was nominated who matters
            self._details, ran = again._details, again.cycle
            cycle = self.cycle
            cycle.state, cycle.findings, cycle.skip_filter = ran.state, ran.findings, ran.skip_filter
            cycle.skip_score = ran.skip_score
        return self._details

    def _choose(self, rows: IndexArray) -> None:
        """Take the first by name of the rows with the best score."""
        self._tie_rows = rows
        self._chosen = int(rows[np.argmin(self.cluster.name_rank[rows])])

    @property
    def pending_plugins(self) -> frozenset[str]:
        """Who of them said Pending of a node: what they wait for lets the pod skip its backoff."""
        return frozenset(self.filtering.pending_plugins() if self.filtering is not None else ())


@runtime_checkable
class AttemptObserver(ReadObserver, Protocol):
    """An observer of the cluster that wants to know of attempts that assumed something."""

    def after_attempt(self, outcome: Attempt) -> None:
        """Called after each attempt on a cluster with missing kinds, or with extenders or absent plugins."""


def attempt(
    profile: Profile,
    cluster: Cluster,
    pod: PodInfo,
    nominator: Nominator,
    *,
    percentage: int | None = None,
    cache: SignatureCache | None = None,
    make_room: bool = True,
    admitted: bool = False,
    among: Nodes | None = None,
    lazy: bool = False,
) -> Attempt:
    """Run one scheduling cycle and return its facts; the cluster is as before.

    Args:
        profile: the plugins to run.
        cluster: what to place the pod on.
        pod: the pod; if it stands in the cluster, its own usage counts.
        nominator: the pods promised to nodes.
        percentage: sample the nodes as kube-scheduler does with this ``percentageOfNodesToScore``; None judges all.
        cache: what is known of earlier pods; None asks everything anew, as is always done where something is assumed.
        make_room: whether to run PostFilter when no node is feasible.
        admitted: whether PreEnqueue has let the pod in already, as it has all pods that come out of a queue.
        among: the placement of the pod's group, beyond which Filter does not look; None for all nodes.
        lazy: where no node is feasible, work out why only when it is read, as long as the cluster stays as it is.
    """
    nodes = len(cluster.rows if among is None else among)
    outcome = Attempt(Cycle(pod), profile, cluster, cluster.generation, nodes, among=among)
    foreign = foreign_group(pod, profile, cluster)
    if not (cluster.missing or profile.extenders or profile.absent or foreign):
        _run_points(outcome, nominator, percentage, cache, make_room, admitted, lazy=lazy)
        return outcome
    if profile.extenders:
        outcome.consultation = Consultation()
    runner, observer = TracingRunner(), cluster.observer
    with cluster.observe_reads(runner):
        _run_points(outcome, nominator, percentage, None, make_room, admitted)
    of_all_plugins = (Assumption("filter", "", kind) for kind in (Node, Pod) if kind in cluster.missing)
    of_absent = (Assumption(point, name, AbsentPlugin) for name, points in profile.absent.items() for point in points)
    of_group = (Assumption("preFilter", foreign, ForeignGroup),) if foreign else ()
    outcome.assumptions = frozenset((*runner.assumptions, *of_all_plugins, *of_absent, *of_group))
    if isinstance(observer, AttemptObserver):
        observer.after_attempt(outcome)
    return outcome


def filter_only(profile: Profile, cluster: Cluster, pod: PodInfo, nominator: Nominator, among: Nodes) -> Attempt:
    """Run PreFilter, and Filter on some of the nodes, and return the facts of that; nothing else is run.

    A filter that fails on a node fails there alone, and what fails altogether is PreFilter's answer.
    """
    outcome = Attempt(Cycle(pod), profile, cluster, cluster.generation, len(cluster.rows))
    runner = runner_of(cluster)
    try:
        with cluster.seal():
            _pre_filter(outcome, cluster.nodes, runner)
            if outcome.pre_filter.successful:
                details = outcome._details
                details.evaluated_column = _narrow(outcome, among)
                details.filtering = filter_nodes(profile, outcome.cycle, details.evaluated_column, nominator, runner)
    except CycleError as fault:
        outcome.error = str(fault)
        outcome.pre_filter = Status(Code.ERROR, (outcome.error,), fault.plugin)
    return outcome


def matrix(outcome: Attempt, nodes: Nodes | None = None) -> dict[str, Verdicts]:
    """Return what every filter says of every node that was judged, refusals by plugin in profile order.

    Args:
        outcome: an attempt that got as far as Filter; of another nothing is said.
        nodes: the nodes to ask about instead, of the same cluster.

    Raises:
        ValueError: the cluster has changed since the attempt.
    """
    if outcome.evaluated_column is None:
        return {}
    if outcome.cluster.generation != outcome.generation:
        raise ValueError(_CHANGED)
    # after the cycle and on a scratch copy of it: only a person reads the full matrix, so no cycle pays for it
    scratch = outcome.cycle.scratch()
    filters = (p for p in outcome.profile.filter if p.name not in scratch.skip_filter)
    column = outcome.evaluated_column if nodes is None else nodes
    with outcome.cluster.seal():
        answers = [(plugin.name, _of_each(plugin, scratch, column)) for plugin in filters]
    return {name: verdicts for name, verdicts in answers if verdicts.parts} | _of_extenders(outcome, column)


def _of_extenders(outcome: Attempt, nodes: Nodes) -> dict[str, Verdicts]:
    """Return what extenders said; they are not asked again, and are never asked about nodes that plugins refuse."""
    if outcome.consultation is None or outcome.filtering is None:
        return {}
    names = {extender.name for extender in outcome.profile.extenders}
    return {
        refusal.plugin: extenders.about(refusal.verdicts, outcome.filtering.nodes, nodes)
        for refusal in outcome.filtering.refusals
        if refusal.plugin in names
    }


def _of_each(plugin: FilterPlugin, cycle: Cycle, nodes: Nodes) -> Verdicts:
    """Return what a filter says of each node; one that fails says so of all."""
    try:
        return DIRECT.filter(plugin, cycle, nodes)
    except CycleError as fault:
        failed = Reason("{fault}", code=Code.ERROR)
        return failed.where(np.ones(len(nodes), np.bool_), fault=str(fault))


def _run_points(
    outcome: Attempt,
    nominator: Nominator,
    percentage: int | None,
    cache: SignatureCache | None,
    make_room: bool,
    admitted: bool,
    *,
    lazy: bool = False,
) -> None:
    cluster, pod = outcome.cluster, outcome.cycle.pod
    try:
        with cluster.seal():
            # a pod that is on its way out never enters the queue, and is not asked about
            if not (admitted or pod.is_terminating):
                outcome.gated = runner_of(cluster).gate(outcome.profile.pre_enqueue, pod)
            if outcome.gated is None:
                _run(outcome, nominator, percentage, cache, lazy=lazy)
            if make_room and outcome.is_unschedulable:
                outcome.post_filter = post_filter(outcome)
    except CycleError as fault:
        outcome.error = str(fault)
        if isinstance(fault, FilterError):
            outcome._details.filtering, outcome.failed_on = fault.filtering, fault.node


def _run(
    outcome: Attempt,
    nominator: Nominator,
    percentage: int | None,
    cache: SignatureCache | None,
    *,
    lazy: bool = False,
) -> None:
    profile, cluster, pod = outcome.profile, outcome.cluster, outcome.cycle.pod
    if pod.is_terminating:
        outcome.deleted = True
        return
    if not outcome.total_nodes:
        return
    resizing = cluster.tries_resize(pod)
    if resizing:  # of which no memory knows: its answer lies in the status, and rests on the pod's own place
        cache = None
    # sampling and nominated pods are a matter of this one cycle, of which a class knows nothing
    plain = percentage is None and not pod.pod.status.nominated_node_name and not nominator.rivals(pod)
    if cache is not None and plain:
        if _choose_from_class(outcome, cache):
            return
        if lazy and (refusing := cache.refusing_class(profile, pod)) is not None:
            outcome.equivalence_class = refusing
            return
    runner = runner_of(cluster) if cache is None else cache.runner(profile, pod)
    every = cluster.nodes if percentage is None else sampling.rotate(cluster.nodes_by_zone, cluster.next_start)
    _pre_filter(outcome, every, runner)
    if outcome.pre_filter.successful:
        feasible = _filter(outcome, outcome.among or every, nominator, percentage, runner)
        if len(feasible):
            column = outcome._details.evaluated_column
            assert column is not None
            chosen_from = column if len(feasible) == len(column) else column.take(feasible)
            if resizing and len(feasible) == 1:  # nothing is scored: what skipped PreFilter has no state to score by
                outcome.feasible = 1
                outcome._choose(chosen_from.rows)
                return
            consultation = outcome.consultation
            # kube-scheduler scores the node objects that the extender sent back, and no pod is on those
            if consultation is not None and consultation.described:
                chosen_from = chosen_from.as_bare_objects()
            scoring = score_nodes(profile, outcome.cycle, chosen_from, runner)
            if consultation is not None:
                scoring = extenders.score_on(profile, pod, scoring, runner, consultation)
            outcome._details.scoring, outcome.feasible = scoring, len(feasible)
            outcome._choose(chosen_from.rows[scoring.ties])


def _choose_from_class(outcome: Attempt, cache: SignatureCache) -> bool:
    """Read the choice off the pod's equivalence class, if that can answer for this pod."""
    known = cache.update(outcome.profile, outcome.pod)
    if known is None:
        return False
    try:
        first, best = best_nodes(known, outcome.cycle)
    except CannotUpdate:
        outcome.cycle = Cycle(outcome.pod)  # the other one holds what plugins wrote before one of them objected
        return False
    outcome.equivalence_class = known
    outcome.feasible = known.feasible_nodes
    outcome.pre_filter_nodes, outcome.narrowing_plugins = known.pre_filter_nodes, known.narrowing_plugins
    rows = known.nodes.rows
    if outcome.cluster.in_name_order:  # the first best position is the first by name; the other ties wait to be read
        outcome._best, outcome._chosen = best, rows.item(first)
    else:
        outcome._choose(rows[best])
    return True


def _pre_filter(outcome: Attempt, nodes: Nodes, runner: PluginRunner) -> None:
    """Run the PreFilter plugins; node sets are intersected, and an empty intersection refuses the pod."""
    resizing = outcome.cluster.tries_resize(outcome.pod)
    if resizing:
        outcome.cycle.skip_filter.update(plugin.name for plugin in outcome.profile.filter if plugin.skips_resizes)
    narrowed: frozenset[str] | None = None
    plugins: list[str] = []
    refusal: Status | None = None
    for plugin in outcome.profile.pre_filter:
        if resizing and plugin.skips_resizes:
            outcome.cycle.skip_filter.add(plugin.name)
            continue
        answer = runner.pre_filter(plugin, outcome.cycle, nodes)
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
        elif answer.code is Code.UNSCHEDULABLE:  # the others are still asked, and the last of such refusals counts
            refusal = answer.by(plugin.name)
        elif not answer.successful:
            fault = failure(f'running PreFilter plugin "{plugin.name}"', answer)
            outcome.pre_filter = Status(Code.ERROR, (str(fault),), plugin.name)
            raise fault
    outcome.pre_filter_nodes, outcome.narrowing_plugins = narrowed, frozenset(plugins)
    if refusal is not None:
        outcome.pre_filter = refusal


def _filter(
    outcome: Attempt, every: Nodes, nominator: Nominator, percentage: int | None, runner: PluginRunner
) -> IndexArray:
    """Run Filter and return the positions of feasible nodes; a nominated node that fits is the only one looked at."""
    profile, cluster, cycle = outcome.profile, outcome.cluster, outcome.cycle
    promised = outcome.pod.pod.status.nominated_node_name
    if outcome.among is not None and promised not in outcome.among.names:
        promised = ""
    # before, and regardless of, what PreFilter has left: upstream's evaluateNominatedNode
    if promised and promised in cluster.node_table.row_of:
        alone = cluster.nodes_named([promised])
        filtering = _ask_extenders(outcome, filter_nodes(profile, cycle, alone, nominator), runner, forgiving=True)
        cycle.findings = filtering.findings
        if filtering.feasible[0]:  # a fault is not the end yet: it is met again among all nodes
            outcome._details.evaluated_column, outcome._details.filtering = alone, filtering
            outcome.nominated_first = True
            return np.zeros(1, np.intp)
    nodes = outcome._details.evaluated_column = _narrow(outcome, every)
    filtering = filter_nodes(profile, cycle, nodes, nominator, runner)
    filtering.raise_faults()
    if percentage is not None:
        # where nothing is going to tell feasible nodes apart, kube-scheduler stops at the first
        choosy = profile.score or any(extender.filters or extender.prioritizes for extender in profile.extenders)
        outcome.sampled = sampling.nodes_to_find(percentage, len(nodes)) if choosy else 1
        filtering = sampling.keep_first_feasible(filtering, outcome.sampled)
    cycle.findings = filtering.findings
    outcome._details.filtering = filtering
    outcome._details.filtering = filtering = _ask_extenders(outcome, filtering, runner)
    return np.flatnonzero(filtering.feasible)


def _narrow(outcome: Attempt, nodes: Nodes) -> Nodes:
    """Return the nodes that PreFilter has left of a column."""
    if outcome.pre_filter_nodes is None:
        return nodes
    row_of = outcome.cluster.node_table.row_of
    rows = [row_of[name] for name in outcome.pre_filter_nodes if name in row_of]
    return nodes.take(np.isin(nodes.rows, rows))


def _ask_extenders(
    outcome: Attempt, filtering: Filtering, runner: PluginRunner, *, forgiving: bool = False
) -> Filtering:
    """Return what filters and extenders say together; forgiving, an extender that fails lets no node pass instead."""
    if outcome.consultation is None:
        return filtering
    try:
        return extenders.filter_on(outcome.profile, outcome.pod, filtering, runner, outcome.consultation)
    except CycleError:
        if not forgiving:
            raise
        return msgspec.structs.replace(filtering, feasible=np.zeros(len(filtering.nodes), np.bool_))


def post_filter(outcome: Attempt) -> PostFilterResult | None:
    """Run PostFilter plugins until one succeeds or gives up for good; otherwise all their reasons stand together."""
    if not outcome.profile.post_filter:
        return None
    nodes = outcome.cluster.nodes
    codes = _codes_of_all(outcome, nodes)
    # as upstream merges them: the reasons of all plugins, the name of the first, the last nomination that says anything
    reasons: list[str] = []
    first = ""
    nominated_node: str | None = None
    findings: Any = None
    objects: tuple[Any, ...] = ()
    removed: tuple[Any, ...] = ()
    runner = runner_of(outcome.cluster)
    for plugin in outcome.profile.post_filter:
        if plugin.skips_resizes and outcome.cluster.tries_resize(outcome.pod):
            first = first or plugin.name
            continue
        result = runner.post_filter(plugin, outcome.cycle, nodes, codes)
        objects, removed = objects + result.objects, removed + result.removed
        result = replace(result, objects=objects, removed=removed)
        status = result.status
        if status.successful:
            return result
        if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return replace(result, status=status.by(plugin.name))
        if not status.is_rejected:
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
    if outcome.filtering is None or outcome.evaluated_column is None:
        return np.full(len(nodes), outcome.pre_filter.code, np.int8)
    by_row = np.full(len(outcome.cluster.node_table), Code.UNSCHEDULABLE_AND_UNRESOLVABLE, np.int8)
    by_row[outcome.evaluated_column.rows] = outcome.filtering.codes
    codes: CodeColumn = by_row[nodes.rows]
    return codes

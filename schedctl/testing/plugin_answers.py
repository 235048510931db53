"""What a plugin replies about a column of nodes, in a form in which replies can be compared.

A plugin is asked as the engine asks it, at PreFilter, Filter, PreScore, Score and NormalizeScore, with all nodes
feasible. `LawBroken` says in words where two replies differ that must not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.cache.reads import Reads
from schedctl.engine.batching.reading import ReadingRunner
from schedctl.engine.calls import DIRECT, PluginRunner
from schedctl.engine.faults import PASSING, plugin_fault
from schedctl.framework.cycles import Cycle
from schedctl.framework.faults import ESCAPING
from schedctl.framework.points import FilterPlugin, NodeSet, Plugin, PreFilterPlugin, PreScorePlugin, ScorePlugin
from schedctl.framework.statuses import SUCCESS, Code, Status

T = TypeVar("T")


class LawBroken(AssertionError):
    """A plugin breaks a law; the message says which, where, and what it answered."""


@dataclass(frozen=True)
class PluginAnswers:
    """Everything a plugin says of a column.

    Attributes:
        pre_filter: what PreFilter says of the pod.
        pre_score: what PreScore says of it, None also where it was not asked.
        statuses: by node name; empty where Filter is not asked.
        scores: raw scores by node name; empty where Score is not asked.
        normalized: the normalised scores, likewise.
    """

    pre_filter: Status | NodeSet | None = None
    pre_score: Status | None = None
    statuses: dict[str, Status] = field(default_factory=dict)
    scores: dict[str, int] = field(default_factory=dict)
    normalized: dict[str, int] = field(default_factory=dict)

    @property
    def is_rejected(self) -> bool:
        """Whether PreFilter refuses the pod, so that nothing more is asked."""
        answer = self.pre_filter
        return isinstance(answer, Status) and not answer.successful and answer.code is not Code.SKIP

    def expand_skip(self, nodes: Nodes) -> PluginAnswers:
        """Return these replies with a Skip of PreFilter as what it comes to: that all nodes are feasible."""
        answer = self.pre_filter
        if not (isinstance(answer, Status) and answer.code is Code.SKIP):
            return self
        return replace(self, pre_filter=None, statuses=dict.fromkeys(nodes.names, SUCCESS))

    def accepts(self, name: str) -> bool:
        """Return whether Filter accepts a node, or is not asked."""
        status = self.statuses.get(name)
        return status is None or status.successful

    def feasible(self, nodes: Nodes) -> list[str]:
        """Return the names of the nodes of a column that are not rejected."""
        return [] if self.is_rejected else [name for name in nodes.names if self.accepts(name)]

    def without_scores(self) -> PluginAnswers:
        """Return what these replies say before PreScore."""
        return replace(self, pre_score=None, scores={}, normalized={})

    def ask_again(
        self, plugin: Plugin, cycle: Cycle, nodes: Nodes, runner: PluginRunner = DIRECT, *, feasible_only: bool = False
    ) -> PluginAnswers:
        """Return these replies with those about nodes asked for again, under the state that a cycle has."""
        return self if self.is_rejected else replace(self, **_about_nodes(plugin, cycle, nodes, runner, feasible_only))

    def differing_nodes(self, other: PluginAnswers, names: Collection[str]) -> Iterator[str]:
        """Yield the names of the nodes, among some, whose verdict or raw score is another."""
        for name in names:
            before, after = ((each.statuses.get(name), each.scores.get(name)) for each in (self, other))
            if before != after:
                yield name


def ask_plugin(
    plugin: Plugin, cycle: Cycle, nodes: Nodes, runner: PluginRunner = DIRECT, *, feasible_only: bool = False
) -> PluginAnswers:
    """Ask a plugin about a pod from PreFilter on; the cycle is left as the engine would leave it.

    Args:
        plugin: the plugin.
        cycle: the cycle.
        nodes: the nodes.
        runner: calls it.
        feasible_only: whether PreScore and Score are asked about the nodes alone that the plugin's own Filter accepts,
            as in a cycle. Whose answers are kept is asked about all.
    """
    answer = runner.pre_filter(plugin, cycle, nodes) if isinstance(plugin, PreFilterPlugin) else None
    if isinstance(answer, Status) and answer.code is Code.SKIP:
        cycle.skip_filter.add(plugin.name)
    plugin_answers = PluginAnswers(answer)
    if plugin_answers.is_rejected:
        return plugin_answers
    if isinstance(plugin, PreScorePlugin):
        # asked only for PreScore: a filter that remembers what it was asked must not be asked once more in secret
        scored = _feasible(nodes, statuses(plugin, cycle, nodes, runner)) if feasible_only else nodes
        status = runner.pre_score(plugin, cycle, scored) if len(scored) else None
        if status is not None and not status.successful:
            cycle.skip_score.add(plugin.name)
        plugin_answers = replace(plugin_answers, pre_score=status)
    return plugin_answers.ask_again(plugin, cycle, nodes, runner, feasible_only=feasible_only)


def call_plugin(plugin: Plugin, ask: Callable[[], T]) -> T:
    """Ask a plugin something; what it lets out is a fault in its name, as in the engine."""
    try:
        return ask()
    except PASSING:
        raise
    except ESCAPING as fault:
        raise plugin_fault(plugin, fault) from fault


def _feasible(nodes: Nodes, verdicts: Mapping[str, Status]) -> Nodes:
    """Return the nodes that no verdict rejects."""
    return nodes.take([i for i, name in enumerate(nodes.names) if name not in verdicts or verdicts[name].successful])


def statuses(plugin: Plugin, cycle: Cycle, nodes: Nodes, runner: PluginRunner = DIRECT) -> dict[str, Status]:
    """Ask a plugin for its verdicts under the state that a cycle has, by node name."""
    if not isinstance(plugin, FilterPlugin) or plugin.name in cycle.skip_filter:
        return {}
    verdicts = runner.filter(plugin, cycle, nodes)
    return {name: verdicts.status(position) for position, name in enumerate(nodes.names)}


def _about_nodes(
    plugin: Plugin, cycle: Cycle, nodes: Nodes, runner: PluginRunner, feasible_only: bool
) -> dict[str, Any]:
    """Ask a plugin about a column under the state that a cycle has; see `PluginAnswers`."""
    verdicts = statuses(plugin, cycle, nodes, runner)
    answers: dict[str, Any] = {"statuses": verdicts, "scores": {}, "normalized": {}}
    if feasible_only:
        nodes = _feasible(nodes, verdicts)
    if isinstance(plugin, ScorePlugin) and plugin.name not in cycle.skip_score and len(nodes):
        raw = runner.score(plugin, cycle, nodes)
        answers["scores"] = dict(zip(nodes.names, raw.tolist(), strict=True))
        scaled = runner.normalize(plugin, cycle, nodes, raw)
        answers["normalized"] = dict(zip(nodes.names, scaled.tolist(), strict=True))
    return answers


def require_equal(
    law: str,
    expected: PluginAnswers,
    found: PluginAnswers,
    between: str = "in one column and {} in another",
    *,
    scaled: bool = False,
) -> None:
    """Compare two replies.

    Args:
        law: the law by which they are the same.
        expected: one of them.
        found: the other.
        between: what sets them apart, in words, with a place for what the other says.
        scaled: whether to compare normalised scores as well.

    Raises:
        LawBroken: they differ.
    """
    points = [("PreFilter", expected.pre_filter, found.pre_filter), ("PreScore", expected.pre_score, found.pre_score)]
    for point, one, other in points:
        if one != other:
            raise LawBroken(f"{law}: {point} answers {one} {between.format(other)}")
    columns: list[tuple[str, Mapping[str, Any], Mapping[str, Any]]] = [
        ("verdict", expected.statuses, found.statuses),
        ("score", expected.scores, found.scores),
        ("normalised score", expected.normalized, found.normalized),
    ]
    for what, of_one, of_other in columns if scaled else columns[:2]:
        for name in of_one.keys() | of_other.keys():
            one, other = of_one.get(name), of_other.get(name)
            if one != other:
                raise LawBroken(f"{law}: the {what} of {name} is {one} {between.format(other)}")


def reads_of(plugin: Plugin, pod: PodInfo, nodes: Nodes) -> Reads:
    """Return what a plugin's answers about a pod rest on; see `schedctl.cache.reads`."""
    runner = ReadingRunner(nodes.cluster)
    ask_plugin(plugin, Cycle(pod), nodes, runner)
    reads = Reads()
    reads.add(runner.before)
    reads.add(runner.rows)
    return reads


def parts_read(plugin: Plugin, pod: PodInfo, nodes: Nodes) -> set[str]:
    """Return the attributes of `Reads` in which a plugin's answers about a pod have left anything."""
    reads = reads_of(plugin, pod, nodes)
    return {part for part in Reads.__slots__ if getattr(reads, part)}


def nodes_affected(
    plugin: Plugin, pod: PodInfo, cluster: Cluster, happens: Callable[[Cluster], object]
) -> set[str] | None:
    """Return the names of the nodes about which a plugin is asked again when something happens; None for all of them.

    Args:
        plugin: the plugin.
        pod: the pod about which it has answered.
        cluster: the cluster; it is left as it is then.
        happens: changes it.
    """
    runner = ReadingRunner(cluster)
    ask_plugin(plugin, Cycle(pod), cluster.nodes, runner)
    generation = cluster.generation
    happens(cluster)
    rows = runner.rows_changed(generation)
    return None if rows is None else {cluster.node_table.names[row] for row in rows.tolist()}

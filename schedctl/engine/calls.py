"""How a cycle calls plugins: directly, unless the answers are known already (``batching.reuse``).

An exception that a plugin lets out, and an answer that is none (``answers``), is a fault of that plugin and ends the
cycle with an Error in its name. Where kinds are missing or extenders have a say, plugins are called by a
`TracingRunner`, which takes down what their answers rest on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from typing_extensions import override

from schedctl.cache.arrays import IntArray, read_only
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.engine import answers
from schedctl.engine.assumptions import Assumption
from schedctl.engine.faults import PASSING, CycleError, plugin_fault
from schedctl.errors import PluginError
from schedctl.framework import points
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import NodeSet, Plugin, PostFilterResult
from schedctl.framework.reasons import CodeColumn, Verdicts
from schedctl.framework.statuses import SUCCESS, Status, error


class PluginRunner:
    """Calls plugins, and holds the answers to what they must be like; one that keeps something serves one cycle."""

    __slots__ = ()

    def gate(self, plugins: Iterable[points.PreEnqueuePlugin], pod: PodInfo) -> Status | None:
        """Return the first refusal of PreEnqueue, in the name of its plugin; None where all let the pod in.

        A fault is an answer here, which keeps the pod out.
        """
        for plugin in plugins:
            try:
                answer = plugin.pre_enqueue(pod)
                if answer is SUCCESS:
                    continue
                status = answers.status(plugin, "pre_enqueue", answer)
            except CycleError as fault:
                status = error(str(fault))
            except PASSING:
                raise
            except BaseException as fault:
                status = error(str(plugin_fault(plugin, fault)))
            if not status.successful:
                return status.by(plugin.name)
        return None

    def sort_key(self, plugin: points.QueueSortPlugin, pod: PodInfo, arrival: float) -> tuple[Any, Any]:
        """Return what a queued pod is sorted by, and what keys must have in common with it to be compared."""
        try:
            return answers.sort_key(plugin, plugin.sort_key(pod, arrival))
        except PASSING:
            raise
        except BaseException as fault:
            raise plugin_fault(plugin, fault) from fault

    def pre_filter(self, plugin: points.PreFilterPlugin, cycle: Cycle, nodes: Nodes) -> Status | NodeSet | None:
        """Return what PreFilter says of the pod."""
        try:
            answer = plugin.pre_filter(cycle, nodes)
            answers.require_state(plugin, cycle)
            return answers.pre_filter(plugin, answer)
        except PASSING:
            raise
        except BaseException as fault:
            raise plugin_fault(plugin, fault) from fault

    def with_pods(self, plugin: points.PreFilterPlugin, cycle: Cycle, nodes: Nodes) -> None:
        """Make the plugin's state fit a supposed column."""
        try:
            plugin.with_pods(cycle, nodes)
        except PASSING:
            raise
        except BaseException as fault:
            raise plugin_fault(plugin, fault) from fault

    def filter(self, plugin: points.FilterPlugin, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Return what Filter says of a column."""
        try:
            answer = plugin.filter(cycle, nodes)
            answers.require_state(plugin, cycle)
            return answers.verdicts(plugin, answer, len(nodes))
        except PASSING:
            raise
        except BaseException as fault:
            raise plugin_fault(plugin, fault) from fault

    def post_filter(
        self, plugin: points.PostFilterPlugin, cycle: Cycle, nodes: Nodes, codes: CodeColumn
    ) -> PostFilterResult:
        """Return what PostFilter achieves; a fault is an answer here, beside the refusals that led there."""
        try:
            return answers.post_filter(plugin, plugin.post_filter(cycle, nodes, read_only(codes)), nodes)
        except CycleError as fault:
            return PostFilterResult(error(str(fault)))
        except PASSING:
            raise
        except BaseException as fault:
            return PostFilterResult(error(str(plugin_fault(plugin, fault))))

    def note_silence(self, assumption: Assumption) -> None:
        """Called when an extender gave no answer; cycles that have extenders have a `TracingRunner`."""

    def pre_score(self, plugin: points.PreScorePlugin, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Return what PreScore says of the feasible nodes."""
        try:
            answer = plugin.pre_score(cycle, nodes)
            answers.require_state(plugin, cycle)
            return None if answer is None else answers.status(plugin, "pre_score", answer, " or None")
        except PASSING:
            raise
        except BaseException as fault:
            raise plugin_fault(plugin, fault) from fault

    def score(self, plugin: points.ScorePlugin, cycle: Cycle, nodes: Nodes) -> IntArray:
        """Return the raw scores of the feasible nodes, int64 (n,).

        Raises:
            PluginError: the plugin says that it cannot answer.
        """
        try:
            answer = plugin.score(cycle, nodes)
            answers.require_state(plugin, cycle)
            return answers.scores(plugin, "score", answer, len(nodes))
        except (*PASSING, PluginError):
            raise
        except BaseException as fault:
            raise plugin_fault(plugin, fault) from fault

    def normalize(self, plugin: points.ScorePlugin, cycle: Cycle, nodes: Nodes, scores: IntArray) -> IntArray:
        """Return the normalised scores of the feasible nodes, int64 (n,)."""
        try:
            answer = plugin.normalize(cycle, nodes, read_only(scores))
            answers.require_state(plugin, cycle)
            return answers.scores(plugin, "normalize", answer, len(nodes))
        except PASSING:
            raise
        except BaseException as fault:
            raise plugin_fault(plugin, fault) from fault


DIRECT = PluginRunner()


class TracingRunner(PluginRunner):
    """Asks directly, and takes down which plugin reads which missing kind at which point.

    Filters that PostFilter runs again are heard at ``postFilter``; what they or the states they start from rest on
    already is taken down once more there, for then it decides about preemption, too.

    Attributes:
        assumptions: what was read or not answered.
    """

    def __init__(self) -> None:
        self.assumptions: set[Assumption] = set()
        self._point = self._plugin = ""

    def read(self, kind: type) -> None:
        """Take down what a cluster tells of; see `schedctl.cache.nodes.ReadObserver`."""
        self.assumptions.add(Assumption(self._point, self._plugin, kind))

    @override
    def gate(self, plugins: Iterable[points.PreEnqueuePlugin], pod: PodInfo) -> Status | None:
        for plugin in plugins:
            with self._attribute_to("preEnqueue", plugin):
                gate = super().gate((plugin,), pod)
            if gate is not None:
                return gate
        return None

    @override
    def pre_filter(self, plugin: points.PreFilterPlugin, cycle: Cycle, nodes: Nodes) -> Status | NodeSet | None:
        with self._attribute_to("preFilter", plugin):
            return super().pre_filter(plugin, cycle, nodes)

    @override
    def with_pods(self, plugin: points.PreFilterPlugin, cycle: Cycle, nodes: Nodes) -> None:
        with self._attribute_to("filter", plugin):
            super().with_pods(plugin, cycle, nodes)

    @override
    def filter(self, plugin: points.FilterPlugin, cycle: Cycle, nodes: Nodes) -> Verdicts:
        with self._attribute_to("filter", plugin):
            if self._point == "postFilter":
                self._repeat_for_preemption()
            return super().filter(plugin, cycle, nodes)

    @override
    def post_filter(
        self, plugin: points.PostFilterPlugin, cycle: Cycle, nodes: Nodes, codes: CodeColumn
    ) -> PostFilterResult:
        with self._attribute_to("postFilter", plugin):
            self._repeat_for_preemption(plugin.name)
            return super().post_filter(plugin, cycle, nodes, codes)

    @override
    def note_silence(self, assumption: Assumption) -> None:
        self.assumptions.add(assumption)

    @override
    def pre_score(self, plugin: points.PreScorePlugin, cycle: Cycle, nodes: Nodes) -> Status | None:
        with self._attribute_to("preScore", plugin):
            return super().pre_score(plugin, cycle, nodes)

    @override
    def score(self, plugin: points.ScorePlugin, cycle: Cycle, nodes: Nodes) -> IntArray:
        with self._attribute_to("score", plugin):
            return super().score(plugin, cycle, nodes)

    @override
    def normalize(self, plugin: points.ScorePlugin, cycle: Cycle, nodes: Nodes, scores: IntArray) -> IntArray:
        with self._attribute_to("score", plugin):
            return super().normalize(plugin, cycle, nodes, scores)

    @contextmanager
    def _attribute_to(self, point: str, plugin: Plugin) -> Iterator[None]:
        """Take down what is read in the name of a plugin, at the point that was reached first."""
        before = self._point, self._plugin
        self._point, self._plugin = self._point or point, plugin.name
        try:
            yield
        finally:
            self._point, self._plugin = before

    def _repeat_for_preemption(self, plugin: str = "") -> None:
        """Take down again what filters, or one plugin, rest on already."""
        earlier = [assumption for assumption in self.assumptions if assumption.point in ("preFilter", "filter")]
        self.assumptions.update(
            assumption._replace(point="postFilter") for assumption in earlier if plugin in ("", assumption.plugin)
        )


def runner_of(cluster: ClusterView) -> PluginRunner:
    """Return what to ask plugins through that look at a cluster: whoever listens there."""
    return cluster.observer if isinstance(cluster.observer, TracingRunner) else DIRECT

"""`CachedRunner`: a cycle run in full, with the answers that columns know already.

Cycles whose pod has no feasible node, a nominated one or rivals for one, or that look at a sample of the nodes.
"""

from __future__ import annotations

from contextlib import suppress

from typing_extensions import override

from schedctl.cache.arrays import IntArray
from schedctl.cache.nodes import Nodes
from schedctl.engine.batching.answer_columns import AnswerColumn, CannotUpdate
from schedctl.engine.batching.equivalence_classes import EquivalenceClass
from schedctl.engine.calls import PluginRunner
from schedctl.engine.faults import CycleError
from schedctl.errors import NotModelled, PluginError
from schedctl.framework import points
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import NodeSet, Plugin
from schedctl.framework.reasons import Verdicts
from schedctl.framework.statuses import Status


class CachedRunner(PluginRunner):
    """Calls a plugin for what its column does not know.

    Verdicts are kept for the column of all nodes in question alone; a cycle that looks at other columns calls directly.
    """

    __slots__ = ("_columns", "_rows")

    def __init__(self, equivalence_class: EquivalenceClass) -> None:
        self._columns = equivalence_class.columns
        self._rows = equivalence_class.nodes.rows

    @override
    def pre_filter(self, plugin: points.PreFilterPlugin, cycle: Cycle, nodes: Nodes) -> Status | NodeSet | None:
        """Call once for each signature; what a filter finds is the pod's own, and rests on its own PreFilter."""
        column = self._columns.get(plugin.name)
        if column is None or column.has_findings:
            return super().pre_filter(plugin, cycle, nodes)
        self._update(column, cycle)
        column.ask_pre_filter()
        cycle.state.take(column.cycle.state)
        return column.pre_filter

    @override
    def filter(self, plugin: points.FilterPlugin, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Call again only where a verdict has changed; what filters find besides is never kept."""
        column = self._columns.get(plugin.name)
        if column is None or column.has_findings:
            return super().filter(plugin, cycle, nodes)
        # the very array, not an equal one, so that comparing costs nothing
        if nodes.changes is None and nodes.rows is self._rows:
            self._update(column, cycle)
            verdicts = column.judge_whole(cycle, nodes)
        else:
            verdicts = super().filter(plugin, cycle, nodes)
        if verdicts.findings is None:
            return verdicts
        # only now it shows that its state is to be the pod's own, and what the cycle has may be that of an equal one
        column.has_findings = True
        if isinstance(plugin, points.PreFilterPlugin):
            super().pre_filter(plugin, cycle, nodes.cluster.nodes)
        return super().filter(plugin, cycle, nodes)

    @override
    def pre_score(self, plugin: points.PreScorePlugin, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Call again where the answer may rest on other feasible nodes."""
        column = self._shared(plugin, cycle)
        if column is None:
            return super().pre_score(plugin, cycle, nodes)
        with suppress(CannotUpdate):  # of a refusal, which is what the cycle wants to know
            column.ask_pre_score(nodes)
        cycle.state.take(column.cycle.state)
        return column.pre_score

    @override
    def score(self, plugin: points.ScorePlugin, cycle: Cycle, nodes: Nodes) -> IntArray:
        """Call about the rows alone that are not known."""
        column = self._shared(plugin, cycle)
        if column is None or nodes.changes is not None:
            return super().score(plugin, cycle, nodes)
        return column.raw_scores(nodes)

    def _shared(self, plugin: Plugin, cycle: Cycle) -> AnswerColumn | None:
        """Return the column of a plugin whose scores do not rest on the feasible nodes, up to date."""
        column = self._columns.get(plugin.name)
        if column is None or plugin.reads_feasible_set or column.has_findings or column.asked_at < 0:
            return None
        self._update(column, cycle)
        return column if column.asked_at >= 0 else None

    @staticmethod
    def _update(column: AnswerColumn, cycle: Cycle) -> None:
        column.cycle.pod = cycle.pod
        with suppress(CannotUpdate, CycleError, PluginError, NotModelled):  # it is blank then, and met again in turn
            column.update()

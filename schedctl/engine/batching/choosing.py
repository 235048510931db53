"""The choice of a node read off an equivalence class, with the plugins that are asked about every pod."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from schedctl.cache.arrays import BoolArray, IntArray
from schedctl.cache.nodes import Nodes
from schedctl.engine.batching.answer_columns import AnswerColumn, CannotUpdate
from schedctl.engine.batching.equivalence_classes import EquivalenceClass
from schedctl.engine.calls import DIRECT
from schedctl.engine.faults import CycleError
from schedctl.errors import NotModelled, PluginError
from schedctl.framework.arithmetic import MAX_NODE_SCORE
from schedctl.framework.cycles import Cycle, Found
from schedctl.framework.points import FilterPlugin, NodeSet, PreFilterPlugin
from schedctl.framework.statuses import Code, Status


def best_nodes(of: EquivalenceClass, cycle: Cycle) -> tuple[int, BoolArray]:
    """Return the first position with the best total for a pod of a class that is up to date, and which have it, (n,).

    The cycle gets the state of the class. Plugins that are asked about every pod are asked here, and leave their state
    and findings in it, too.

    Raises:
        CannotUpdate: they narrow, refuse or fail, so that the cycle is to be run in full.
    """
    of.prepare(cycle)
    totals = of.totals
    try:
        for column in of.finders:
            _find_again(column, of, cycle)
        if of.anew:
            totals = totals + _ask_anew(of, cycle)
    except (CycleError, PluginError, NotModelled) as fault:
        raise CannotUpdate from fault
    first = int(totals.argmax())
    return first, totals == totals[first]


@dataclass(frozen=True, slots=True)
class _Findings:
    """What a filter finds out about each node for one pod, asked for when it is read."""

    plugin: FilterPlugin
    cycle: Cycle
    nodes: Nodes

    def at(self, row: int) -> Any:
        findings = DIRECT.filter(self.plugin, self.cycle.scratch(), self.nodes.take([row])).findings
        return None if findings is None else findings.at(0)


def _find_again(column: AnswerColumn, of: EquivalenceClass, cycle: Cycle) -> None:
    """Give a cycle the pod's own state and findings of a filter that has some."""
    plugin, nodes = column.plugin, of.nodes
    if isinstance(plugin, PreFilterPlugin):
        answer = DIRECT.pre_filter(plugin, cycle, of.every)
        if answer is not None and not (isinstance(answer, Status) and answer.successful):
            raise CannotUpdate
    assert isinstance(plugin, FilterPlugin)
    everywhere = np.ones(len(nodes), np.bool_)
    cycle.findings[plugin.name] = Found([(nodes.rows, everywhere, _Findings(plugin, cycle, nodes))])


def _ask_anew(of: EquivalenceClass, cycle: Cycle) -> IntArray:
    """Return what plugins that are asked about every pod add, int64 (n,); all feasible nodes must pass them."""
    profile, more = of.profile, np.zeros(len(of.nodes), np.int64)
    for pre_filter in profile.pre_filter:
        if pre_filter.name in of.anew:
            _pre_filter(pre_filter, of.every, cycle)
    column = of.column
    for plugin in profile.filter:
        if plugin.name in of.anew and plugin.name not in cycle.skip_filter:
            verdicts = DIRECT.filter(plugin, cycle, column)
            if verdicts.parts and verdicts.mask.any():
                raise CannotUpdate
            if verdicts.findings is not None:
                reached = np.ones(len(column), np.bool_)
                cycle.findings[plugin.name] = Found([(column.rows, reached, verdicts.findings)])
    for pre_score in profile.pre_score:
        if pre_score.name in of.anew:
            status = DIRECT.pre_score(pre_score, cycle, column)
            if status is not None and status.code is Code.SKIP:
                cycle.skip_score.add(pre_score.name)
            elif status is not None and not status.successful:
                raise CannotUpdate
    for scorer in profile.score:
        if scorer.name in of.anew and scorer.name not in cycle.skip_score:
            raw = DIRECT.score(scorer, cycle, column)
            normalized = DIRECT.normalize(scorer, cycle, column, raw)
            if not 0 <= int(normalized.min()) <= int(normalized.max()) <= MAX_NODE_SCORE:
                raise CannotUpdate  # a fault of the plugin
            more[of.feasible] += normalized * profile.weights[scorer.name]
    return more


def _pre_filter(plugin: PreFilterPlugin, nodes: Nodes, cycle: Cycle) -> None:
    answer = DIRECT.pre_filter(plugin, cycle, nodes)
    if isinstance(answer, Status) and answer.code is Code.SKIP:
        cycle.skip_filter.add(plugin.name)
    elif isinstance(answer, NodeSet) or (answer is not None and not answer.successful):
        raise CannotUpdate

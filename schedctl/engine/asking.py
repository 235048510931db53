"""How a cycle puts its questions to plugins: directly, unless the answers are known already (``reuse``)."""

from __future__ import annotations

from schedctl.cache.arrays import IntArray
from schedctl.cache.nodes import Nodes
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import FilterPlugin, NodeSet, PreFilterPlugin, PreScorePlugin, ScorePlugin
from schedctl.framework.reasons import Verdicts
from schedctl.framework.statuses import Status


class Asking:
    """Asks plugins. One object serves one cycle; every node of the cluster is its column, `nodes` a part of it."""

    def pre_filter(self, plugin: PreFilterPlugin, cycle: Cycle, nodes: Nodes) -> Status | NodeSet | None:
        """Return what PreFilter says of the pod."""
        return plugin.pre_filter(cycle, nodes)

    def filter(self, plugin: FilterPlugin, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Return what Filter says of a column."""
        return plugin.filter(cycle, nodes)

    def pre_score(self, plugin: PreScorePlugin, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Return what PreScore says of the feasible nodes."""
        return plugin.pre_score(cycle, nodes)

    def score(self, plugin: ScorePlugin, cycle: Cycle, nodes: Nodes) -> IntArray:
        """Return the raw scores of the feasible nodes, int64 (n,)."""
        return plugin.score(cycle, nodes)


DIRECTLY = Asking()

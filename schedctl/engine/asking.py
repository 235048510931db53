"""How a cycle puts its questions to plugins: directly, unless the answers are known already (``reuse``).

An exception that a plugin lets out is a fault of that plugin and ends the cycle with an Error in its name; faults
schedctl raises on purpose (`SchedctlError`) pass.
"""

from __future__ import annotations

from schedctl.cache.arrays import IntArray
from schedctl.cache.nodes import Nodes
from schedctl.engine.faults import CycleError
from schedctl.errors import SchedctlError
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import FilterPlugin, NodeSet, Plugin, PreFilterPlugin, PreScorePlugin, ScorePlugin
from schedctl.framework.reasons import Verdicts
from schedctl.framework.statuses import Status


class Asking:
    """Asks plugins. One object serves one cycle; every node of the cluster is its column, `nodes` a part of it."""

    def pre_filter(self, plugin: PreFilterPlugin, cycle: Cycle, nodes: Nodes) -> Status | NodeSet | None:
        """Return what PreFilter says of the pod."""
        try:
            return plugin.pre_filter(cycle, nodes)
        except SchedctlError:
            raise
        except Exception as fault:
            raise _blamed(plugin, fault) from fault

    def filter(self, plugin: FilterPlugin, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Return what Filter says of a column."""
        try:
            return plugin.filter(cycle, nodes)
        except SchedctlError:
            raise
        except Exception as fault:
            raise _blamed(plugin, fault) from fault

    def pre_score(self, plugin: PreScorePlugin, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Return what PreScore says of the feasible nodes."""
        try:
            return plugin.pre_score(cycle, nodes)
        except SchedctlError:
            raise
        except Exception as fault:
            raise _blamed(plugin, fault) from fault

    def score(self, plugin: ScorePlugin, cycle: Cycle, nodes: Nodes) -> IntArray:
        """Return the raw scores of the feasible nodes, int64 (n,)."""
        try:
            return plugin.score(cycle, nodes)
        except SchedctlError:
            raise
        except Exception as fault:
            raise _blamed(plugin, fault) from fault


DIRECTLY = Asking()


def _blamed(plugin: Plugin, fault: Exception) -> CycleError:
    return CycleError(f'plugin "{plugin.name}" failed: {type(fault).__name__}: {fault}', plugin.name)

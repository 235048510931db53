"""TaintToleration: taints keep pods off a node, or make it a second choice.

Nodes share few distinct sets of taints, so each set is judged once and the answer is gathered by node.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from schedctl.api.nodes import Node
from schedctl.api.tolerations import PREFER_NO_SCHEDULE, first_untolerated, is_tolerated
from schedctl.cache.arrays import IntArray
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import PluginError
from schedctl.framework.arithmetic import default_normalize
from schedctl.framework.cycles import Cycle, StateKey
from schedctl.framework.events import Action, Hint, Registration, Resource, registers
from schedctl.framework.points import FilterPlugin, PreFilterPlugin, PreScorePlugin, ScorePlugin
from schedctl.framework.reasons import ACCEPT, Lookup, Reason, Verdicts
from schedctl.plugins.taint_toleration.near_misses import NearMisses, may_miss

if TYPE_CHECKING:
    from schedctl.framework.remedies import Rejection, Remedies
    from schedctl.framework.wording import Wording


PREPARED = StateKey[bool]("PreScoreTaintToleration")


class TaintToleration(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    """Rejects nodes with a NoSchedule or NoExecute taint the pod does not tolerate, and avoids PreferNoSchedule."""

    skips_resizes = True
    filters_all_nodes = True
    reads_feasible_set = False
    foreseeable = True
    normalizes_by_extremes = True
    untolerated = Reason("node(s) had untolerated taint(s)", unresolvable=True)

    def signature(self, pod: PodInfo) -> Hashable:
        """Its tolerations."""
        return tuple((t.key, t.operator, t.value, t.effect) for t in pod.pod.spec.tolerations or ())

    def events_to_register(self) -> tuple[Registration, ...]:
        """A node whose taints are all tolerated now, and any new toleration."""
        return (
            registers(Resource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT, self._after_node),
            registers(Resource.TARGET_POD, Action.UPDATE_POD_TOLERATION),
        )

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> None:
        """Has nothing to prepare; kube-scheduler skips pods here that wait for a resize."""

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Refuse nodes by their first taint that is not tolerated; it and a toleration that misses it are evidence."""
        tolerations = cycle.pod.pod.spec.tolerations or ()
        table = nodes.descriptions
        compares = nodes.cluster.compares_taints
        first = [first_untolerated(taints, tolerations, compares) for taints in table.taint_sets.values]
        refused = np.array([taint is not None for taint in first], np.bool_)
        if not refused.any():
            return ACCEPT
        sets = nodes.gather(table.taints).astype(np.intp)
        evidence: dict[str, Any] = {"taint": Lookup(first, sets)}
        if tolerations and (written := may_miss(tolerations)):
            evidence["near_miss"] = NearMisses(nodes.cluster, written, first, sets)
        return self.untolerated.where(refused[sets], **evidence)

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> None:
        """Mark that PreScore ran, which kube-scheduler's Score insists on."""
        cycle.state[PREPARED] = True

    def score(self, cycle: Cycle, nodes: Nodes) -> IntArray:
        """Count the PreferNoSchedule taints of each node that the pod does not tolerate.

        Raises:
            PluginError: PreScore did not run.
        """
        if PREPARED not in cycle.state:
            raise PluginError(f'failed to read "{PREPARED.name}" from cycleState: not found')
        tolerations, compares = cycle.pod.pod.spec.tolerations or (), nodes.cluster.compares_taints
        table = nodes.descriptions
        counts = [
            sum(
                taint.effect == PREFER_NO_SCHEDULE and not is_tolerated(taint, tolerations, compares)
                for taint in taints
            )
            for taints in table.taint_sets.values
        ]
        if not any(counts):
            return np.zeros(len(nodes), np.int64)
        scores: IntArray = np.array(counts, np.int64)[nodes.gather(table.taints)]
        return scores

    def normalize(self, cycle: Cycle, nodes: Nodes, scores: IntArray) -> IntArray:
        """Give nodes without such taints 100 and the one with the most 0."""
        return default_normalize(scores, reverse=True)

    @override
    def wording(self) -> Mapping[str, Wording]:
        from schedctl.plugins.taint_toleration.wording import WORDING

        return WORDING

    @override
    def remedies(self, pod: PodInfo, rejection: Rejection) -> Remedies:
        from schedctl.plugins.taint_toleration.remedies import remedies

        return remedies(pod, rejection, self.handle.cluster)

    def _after_node(self, pod: PodInfo, before: Node | None, after: Node) -> Hint:
        tolerations, compares = pod.pod.spec.tolerations or (), self.handle.cluster.compares_taints
        kept_off = before is None or first_untolerated(before.spec.taints or (), tolerations, compares) is not None
        let_in = first_untolerated(after.spec.taints or (), tolerations, compares) is None
        return Hint.QUEUE if kept_off and let_in else Hint.SKIP

"""NodeAffinity: node selectors, required and preferred node affinity, and the affinity a profile adds to every pod."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from typing_extensions import override

from schedctl.api import node_selectors, pods, selectors
from schedctl.api.nodes import Node
from schedctl.cache.arrays import IntArray
from schedctl.cache.node_matching import nodes_matching, nodes_matching_term, nodes_meeting
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import PluginError
from schedctl.framework.arithmetic import default_normalize
from schedctl.framework.cycles import Cycle, StateKey
from schedctl.framework.events import Action, Hint, Registration, Resource, registers
from schedctl.framework.handles import Handle
from schedctl.framework.points import FilterPlugin, NodeSet, PreFilterPlugin, PreScorePlugin, ScorePlugin
from schedctl.framework.reasons import ACCEPT, Reason, Verdicts
from schedctl.framework.statuses import SKIP, Status, error

if TYPE_CHECKING:
    from schedctl.framework.remedies import Rejection, Remedies
    from schedctl.framework.wording import Wording


REQUIRED = StateKey[node_selectors.RequiredNodeAffinity]("PreFilterNodeAffinity")
PREFERRED = StateKey[tuple[node_selectors.PreferredTerm, ...]]("PreScoreNodeAffinity")


class NodeAffinity(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    """Rejects nodes the pod's selector or required affinity does not match, and ranks by the preferred terms."""

    skips_resizes = True
    filters_all_nodes = True
    reads_feasible_set = False
    foreseeable = True
    normalizes_by_extremes = True
    unmatched = Reason("node(s) didn't match Pod's node affinity/selector", unresolvable=True)
    enforced = Reason("node(s) didn't match scheduler-enforced node affinity", unresolvable=True)
    conflict = Reason("pod affinity terms conflict", unresolvable=True)

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        added = args.added_affinity or pods.NodeAffinity()
        required = added.required_during_scheduling_ignored_during_execution
        preferred = added.preferred_during_scheduling_ignored_during_execution
        self._added_required = (
            node_selectors.compile_node_selector(required).require_valid() if required is not None else None
        )
        self._added_preferred = node_selectors.compile_preferred(preferred) if preferred else None

    def signature(self, pod: PodInfo) -> Hashable:
        """Its node selector and node affinity."""
        spec = pod.pod.spec
        if spec.node_selector is None and not (spec.affinity and spec.affinity.node_affinity):
            return ()
        selector = frozenset(spec.node_selector.items()) if spec.node_selector is not None else None
        return selector, msgspec.json.encode(spec.affinity and spec.affinity.node_affinity)

    def events_to_register(self) -> tuple[Registration, ...]:
        """A node that matches now and did not before."""
        return (registers(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL, self._after_node),)

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | NodeSet | None:
        """Narrow the search where every term names its nodes; Skip a pod that does not care."""
        pod = cycle.pod.pod
        terms = _required_terms(pod)
        if terms is None and pod.spec.node_selector is None and self._added_required is None:
            return SKIP
        cycle.state[REQUIRED] = node_selectors.required_node_affinity(pod)
        names = _node_names(terms) if terms else None
        if names is None:  # some term leaves the node open: all have to be asked
            return None
        return NodeSet(names) if names else self.conflict.status()

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Ask the profile's affinity first, then the pod's."""
        table = nodes.descriptions
        verdicts = ACCEPT
        if self._added_required is not None:
            refused = ~nodes.gather(nodes_matching(table, self._added_required))
            unmet = _Unmet(nodes, node_selectors.RequiredNodeAffinity(terms=self._added_required))
            verdicts = self.enforced.where(refused, unmet=unmet)
        required = (
            cycle.state[REQUIRED] if REQUIRED in cycle.state else node_selectors.required_node_affinity(cycle.pod.pod)
        )
        if required.everywhere:
            return verdicts
        refused = ~nodes.gather(nodes_meeting(table, required))
        return verdicts.then(self.unmatched.where(refused, unmet=_Unmet(nodes, required)))

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Parse the preferred terms; a pod whose terms do not parse is not scored at all."""
        try:
            preferred = _preferred_terms(cycle.pod.pod)
        except selectors.SelectorError as malformed:
            return error(str(malformed))
        if preferred is None and self._added_preferred is None:
            return SKIP
        cycle.state[PREFERRED] = preferred or ()
        return None

    def score(self, cycle: Cycle, nodes: Nodes) -> IntArray:
        """Add up the weights of the terms that match.

        Raises:
            PluginError: PreScore did not run, and a preferred term does not parse.
        """
        try:
            preferred = cycle.state[PREFERRED] if PREFERRED in cycle.state else _preferred_terms(cycle.pod.pod) or ()
        except selectors.SelectorError as malformed:
            raise PluginError(str(malformed)) from malformed
        table = nodes.descriptions
        scores = np.zeros(len(table), np.int64)
        for each in (*(self._added_preferred or ()), *preferred):
            scores[nodes_matching_term(table, each.term)] += each.weight
        return scores[nodes.rows]

    def normalize(self, cycle: Cycle, nodes: Nodes, scores: IntArray) -> IntArray:
        """Give the best node 100 and the others in proportion."""
        return default_normalize(scores)

    def _after_node(self, pod: PodInfo, before: Node | None, after: Node) -> Hint:
        added = self._added_required
        if added is not None and not added.matches(after.metadata.name, after.metadata.labels):
            return Hint.SKIP
        required = node_selectors.required_node_affinity(pod.pod)
        if not required.matches(after.metadata.name, after.metadata.labels):
            # terms that do not parse are an error of the hint upstream, which queues, if nodeSelector was met
            unread = required.terms is not None and required.terms.problems
            return Hint.QUEUE if unread and required.labels.matches(after.metadata.labels) else Hint.SKIP
        if before is not None and required.matches(before.metadata.name, before.metadata.labels):
            return Hint.SKIP
        return Hint.QUEUE

    @override
    def wording(self) -> Mapping[str, Wording]:
        from schedctl.plugins.node_affinity.wording import WORDING

        return WORDING

    @override
    def remedies(self, pod: PodInfo, rejection: Rejection) -> Remedies:
        from schedctl.plugins.node_affinity.remedies import remedies

        return remedies(pod, rejection, self.handle.cluster)


@dataclass(frozen=True, slots=True)
class _Unmet:
    """Which requirements a node does not meet, found out when asked for.

    The requirements of the node selector come first, then those of each term.
    """

    nodes: Nodes
    required: node_selectors.RequiredNodeAffinity

    def at(self, position: int) -> tuple[tuple[selectors.Requirement | node_selectors.FieldRequirement, ...], ...]:
        metadata = self.nodes.object(position).metadata
        terms = self.required.terms or node_selectors.NodeQuery(())
        return tuple(
            _unmet(term, metadata.name, metadata.labels or {})
            for term in (node_selectors.NodeTerm(self.required.labels), *terms.terms)
        )


def _unmet(
    term: node_selectors.NodeTerm, name: str, labels: Mapping[str, str]
) -> tuple[selectors.Requirement | node_selectors.FieldRequirement, ...]:
    unmet: list[selectors.Requirement | node_selectors.FieldRequirement] = [
        r for r in term.labels.requirements if not r.matches(labels)
    ]
    unmet += (field for field in term.fields if not field.matches(name))
    return tuple(unmet)


def _required_terms(pod: pods.Pod) -> list[pods.NodeSelectorTerm] | None:
    """Return the terms of the required affinity, None where the pod has none."""
    affinity = pod.spec.affinity and pod.spec.affinity.node_affinity
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    return (required.node_selector_terms or []) if required is not None else None


def _node_names(terms: list[pods.NodeSelectorTerm]) -> frozenset[str] | None:
    """Return the nodes the terms name, None if one of them does not name any."""
    names: frozenset[str] = frozenset()
    for term in terms:
        sets = [
            frozenset(field.values or ())
            for field in term.match_fields or ()
            if field.key == node_selectors.NAME_FIELD and field.operator == "In"
        ]
        if not sets:
            return None
        names |= frozenset.intersection(*sets)
    return names


def _preferred_terms(pod: pods.Pod) -> tuple[node_selectors.PreferredTerm, ...] | None:
    affinity = pod.spec.affinity and pod.spec.affinity.node_affinity
    preferred = affinity.preferred_during_scheduling_ignored_during_execution if affinity else None
    return node_selectors.compile_preferred(preferred) if preferred is not None else None

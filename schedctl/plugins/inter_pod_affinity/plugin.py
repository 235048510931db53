"""InterPodAffinity: with which pods a pod may, must or would rather share a zone, a rack or a node.

The rules go both ways: the pod's terms are about running pods, and theirs about the pod. Nothing here looks at nodes or
running pods one by one: `state` counts pods by topology domain, `schedctl.cache.affinity_terms` has the distinct terms
of running pods, and `evidence` finds the pods behind a refusal when somebody reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from schedctl.api import field_errors, meta, selectors
from schedctl.cache.affinity_terms import CarriedTerms, carried_terms
from schedctl.cache.arrays import BoolArray, IntArray
from schedctl.cache.changes import Change, ChangeKind
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.pod_info import AffinityTerm, PodInfo
from schedctl.config.args import InterPodAffinityArgs
from schedctl.errors import PluginError
from schedctl.framework.arithmetic import MAX_NODE_SCORE
from schedctl.framework.cycles import Cycle, StateKey
from schedctl.framework.events import Registration
from schedctl.framework.points import FilterPlugin, PreFilterPlugin, PreScorePlugin, Scope, ScorePlugin
from schedctl.framework.reasons import ACCEPT, Reason, Verdicts
from schedctl.framework.statuses import SKIP, Code, Status, error, unresolvable
from schedctl.plugins.inter_pod_affinity.events import registrations
from schedctl.plugins.inter_pod_affinity.evidence import CauseColumn, missing_company, repelling_pods, unwanted_company
from schedctl.plugins.inter_pod_affinity.state import (
    NO_DOMAIN,
    AffinityState,
    DomainCounts,
    ScoreState,
    domains_of,
    nodes_selected,
    resolve_namespaces,
    term_matcher,
)

if TYPE_CHECKING:
    from schedctl.framework.remarks import Remark
    from schedctl.framework.remedies import Rejection, Remedies
    from schedctl.framework.wording import Wording


STATE = StateKey[AffinityState]("PreFilterInterPodAffinity")
SCORES = StateKey[ScoreState]("PreScoreInterPodAffinity")


class InterPodAffinity(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    """Keeps pods together or apart, by required and preferred inter-pod (anti-)affinity, in both directions."""

    filters_all_nodes = True

    unmatched = Reason("node(s) didn't match pod affinity rules", unresolvable=True)
    unwanted = Reason("node(s) didn't match pod anti-affinity rules")
    repelled = Reason("node(s) didn't satisfy existing pods anti-affinity rules")
    unread = Reason('error reading "PreFilterInterPodAffinity" from cycleState: not found', code=Code.ERROR)

    reads = (meta.Namespace,)
    reads_feasible_set = False
    reads_template_only = True
    normalizes_by_extremes = True
    args: InterPodAffinityArgs

    # -- filtering ---------------------------------------------------------------

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Count pods by domain; Skip when the pod has no required term and meets no running pod's anti-affinity."""
        pod, cluster = cycle.pod, nodes.cluster
        if malformed := _selector_error(pod):
            return unresolvable(f"parsing pod: {malformed}")
        labels = cluster.table_of_nodes().labels
        repelling = DomainCounts(labels)
        for carriers in cluster.terms_about(pod.labels).required_anti.about(pod.labels, term_matcher(pod, cluster)):
            repelling.add(carriers.term.topology_key, carriers.nodes, carriers.counts)
        required = resolve_namespaces(pod.required_affinity, cluster)
        anti = resolve_namespaces(pod.required_anti_affinity, cluster)
        if not (required or anti or repelling.pairs):
            return SKIP
        attracting, unwanted = DomainCounts(labels), DomainCounts(labels)
        state = AffinityState(pod, required, anti, attracting, unwanted, repelling)
        if required:
            company = nodes_selected(cluster, required)
            for key in state.required_keys:
                attracting.add(key, company)
        for term in anti:
            unwanted.add(term.topology_key, nodes_selected(cluster, (term,)))
        cycle.state[STATE] = state
        return None

    def with_pods(self, cycle: Cycle, nodes: Nodes) -> None:
        """Count pods gained and lost at each position into that position's own domains."""
        if nodes.changes is not None:
            cycle.state[STATE] = cycle.state[STATE].hypothetical(nodes, nodes.changes)

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Refuse nodes whose domains lack the company required, or have company that either side forbids."""
        if STATE not in cycle.state:
            return self.unread.where(np.ones(len(nodes), np.bool_))
        state = cycle.state[STATE]
        supposed = state.supposed
        verdicts = ACCEPT
        if state.required:
            lonely = _lacks_company(state, nodes)
            if lonely.any():
                verdicts = self.unmatched.where(lonely, cause=CauseColumn(missing_company, state, nodes))
        for reason, counts, more, cause in (  # kube-scheduler's order, of which a node is told the first
            (self.unwanted, state.unwanted, supposed and supposed.unwanted, unwanted_company),
            (self.repelled, state.repelling, supposed and supposed.repelling, repelling_pods),
        ):
            met = _matches_any_domain(counts, more or {}, nodes)
            if met is not None and met.any():
                verdicts = verdicts.then(reason.where(met, cause=CauseColumn(cause, state, nodes)))
        return verdicts

    # -- scoring -----------------------------------------------------------------

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Weigh domains by preferred terms, the pod's own and others'; Skip when no term is met on any node."""
        pod, cluster = cycle.pod, nodes.cluster
        if malformed := _selector_error(pod):
            return error(f"failed to parse pod: {malformed}")
        preferences = _preferences(pod, cluster)
        if self.args.ignore_preferred_terms_of_existing_pods and not preferences:
            return SKIP  # with it what required terms of running pods would add, as upstream does
        sums = DomainCounts(cluster.table_of_nodes().labels)
        for term, weight in preferences:
            sums.add(term.topology_key, nodes_selected(cluster, (term,)), factor=weight)
        carried = cluster.terms_about(pod.labels)
        is_about_pod = term_matcher(pod, cluster)
        for table, factor in (
            (carried.required, self.args.hard_pod_affinity_weight),
            (carried.preferred, 1),
            (carried.preferred_anti, -1),
        ):
            for carriers in table.about(pod.labels, is_about_pod) if factor else ():
                sums.add(carriers.term.topology_key, carriers.nodes, carriers.counts, carriers.weights, factor)
        if not sums.pairs:
            return SKIP
        cycle.state[SCORES] = ScoreState(preferences, sums)
        return None

    def score(self, cycle: Cycle, nodes: Nodes) -> IntArray:
        """Return the sum of the weights of each node's domains, int64 (n,).

        Raises:
            PluginError: PreScore did not run.
        """
        if SCORES not in cycle.state:
            raise PluginError('failed to read "PreScoreInterPodAffinity" from cycleState: not found')
        sums = cycle.state[SCORES].sums
        total, *others = (sums.at(key, domains_of(nodes, key)) for key in sums.keys)
        for scores in others:
            total += scores  # a gather made it, so it is no array of the state
        return total

    def normalize(self, cycle: Cycle, nodes: Nodes, scores: IntArray) -> IntArray:
        """Stretch the scores so that the least becomes 0 and the largest 100; all 0 where they are equal."""
        least = scores.min()
        spread = int(scores.max() - least)
        if spread <= 0:
            return np.zeros_like(scores)
        # int64(100 * (float64(score - least) / float64(spread))), in this order
        normalized: IntArray = (MAX_NODE_SCORE * ((scores - least) / float(spread))).astype(np.int64)
        return normalized

    # -- queueing ----------------------------------------------------------------

    def events_to_register(self) -> tuple[Registration, ...]:
        """Pods that come, go or are relabelled, and nodes that bring or change a domain."""
        return registrations(self.release)

    # -- reuse -------------------------------------------------------------------

    def signature(self, pod: PodInfo) -> Hashable | None:
        """Namespace, labels and all terms; nothing is reused for a pod with a malformed term."""
        if _selector_error(pod):
            return None
        return (pod.namespace, frozenset(pod.labels.items()), _terms_of(pod))

    def moved_by(self, cycle: Cycle, change: Change) -> Scope:
        """A pod counts where a term of either side is about the other; nodes and namespaces, where there are terms."""
        pod, cluster = cycle.pod, self.handle.cluster
        if change.kind is ChangeKind.OBJECT:
            affects = isinstance(change.subject, meta.Namespace)
        elif change.kind in (ChangeKind.POD_ADDED, ChangeKind.POD_REMOVED):
            return Scope.DOMAINS if _concern_each_other(cluster, pod, change.subject) else Scope.NOTHING
        else:
            counted = STATE in cycle.state or SCORES in cycle.state  # if only of pods that have gone since
            affects = counted or bool(cluster.affinity_terms or any(_terms_of(pod)))
        return Scope.EVERYTHING if affects else Scope.NOTHING

    def follow(self, cycle: Cycle, change: Change) -> Scope | frozenset[int]:
        """Count a pod in its node's domains, unless that begins or ends a Skip; a domain of one node is a row."""
        other, node, sign = change.subject, change.row, 1 if change.kind is ChangeKind.POD_ADDED else -1
        cluster = self.handle.cluster
        is_about_pod, carried = term_matcher(cycle.pod, cluster), carried_terms(other)
        repelling = [term.topology_key for term in carried.required_anti if is_about_pod(term)]
        keys = {*repelling}
        if STATE in cycle.state:
            before = cycle.state[STATE]
            attracting, unwanted = before.matching_keys(other)
            keys.update(attracting, unwanted)
            state = cycle.state[STATE] = before.with_pod(attracting, unwanted, repelling, node, sign)
            if not (state.required or state.anti or state.repelling.pairs):
                return Scope.EVERYTHING
            # while no company is anywhere, a pod that is its own company may go to any node: that ends or begins
            first = bool(state.attracting.pairs) != bool(before.attracting.pairs)
        else:
            first = False
            none = DomainCounts(cluster.node_table.labels)
            if none.with_amounts(node, [(key, sign, sign) for key in repelling]).pairs:
                return Scope.EVERYTHING
        weights = list(self._weights(cycle, carried, is_about_pod, other, sign))
        keys.update(key for key, *_ in weights)
        scored = (
            cycle.state[SCORES] if SCORES in cycle.state else ScoreState((), DomainCounts(cluster.node_table.labels))
        )
        sums = scored.sums.with_amounts(node, weights)
        if bool(sums.pairs) != (SCORES in cycle.state):
            return Scope.EVERYTHING
        if SCORES in cycle.state:
            cycle.state[SCORES] = ScoreState(scored.preferences, sums)
        domains = [cluster.node_table.labels.domains(key) for key in keys]
        wide = first or any(each.codes[node] != NO_DOMAIN and not each.alone(node) for each in domains)
        return Scope.DOMAINS if wide else frozenset((node,))

    def _weights(
        self,
        cycle: Cycle,
        carried: CarriedTerms,
        is_about_pod: Callable[[AffinityTerm], bool],
        other: PodInfo,
        sign: int,
    ) -> Iterator[tuple[str, int, int]]:
        """Yield what a pod that came or went adds to which topology key, and how many pods that counts for."""
        scored = SCORES in cycle.state
        preferences = cycle.state[SCORES].preferences if scored else _preferences(cycle.pod, self.handle.cluster)
        if self.args.ignore_preferred_terms_of_existing_pods and not preferences:
            return
        for term, weight in preferences:
            if term.matches(other.namespace, None, other.labels):
                yield term.topology_key, sign * weight, sign
        hard = self.args.hard_pod_affinity_weight
        theirs = (
            *((term, hard) for term in (carried.required if hard else ())),
            *carried.preferred,
            *((term, -weight) for term, weight in carried.preferred_anti),
        )
        for term, weight in theirs:
            if is_about_pod(term):
                yield term.topology_key, sign * weight, sign

    @override
    def wording(self) -> Mapping[str, Wording]:
        from schedctl.plugins.inter_pod_affinity.wording import WORDING

        return WORDING

    @override
    def warnings(self, pod: PodInfo, replicas: int) -> Sequence[Remark]:
        from schedctl.plugins.inter_pod_affinity.warnings import warnings

        return warnings(pod, replicas, self.handle.cluster)

    @override
    def remedies(self, pod: PodInfo, rejection: Rejection) -> Remedies:
        from schedctl.plugins.inter_pod_affinity.remedies import remedies

        return remedies(pod, rejection)


def _preferences(pod: PodInfo, cluster: ClusterView) -> tuple[tuple[AffinityTerm, int], ...]:
    """Return the preferred terms of an incoming pod, resolved, with their signed weights."""
    weighted = (*pod.preferred_affinity, *((term, -weight) for term, weight in pod.preferred_anti_affinity))
    terms = resolve_namespaces((term for term, _ in weighted), cluster)
    return tuple(zip(terms, (weight for _, weight in weighted), strict=True))


def _lacks_company(state: AffinityState, nodes: Nodes) -> BoolArray:
    """Which nodes lack, in one of the domains, a pod that matches all required terms, bool (n,).

    The first of a series of pods that want each other's company is let in wherever the node has all topology keys.
    """
    if state.supposed is None:
        first = state.attracts_itself and not state.attracting.pairs
        lonely = np.zeros(len(nodes), np.bool_)
        for key in state.required_keys:
            domains = domains_of(nodes, key)
            lonely |= domains == NO_DOMAIN if first else ~state.attracting.any_at(key, domains)
        return lonely
    together = np.ones(len(nodes), np.bool_)
    everywhere = np.ones(len(nodes), np.bool_)
    pairs: IntArray | int = state.attracting.pairs
    for key in state.required_keys:
        domains = domains_of(nodes, key)
        present = domains != NO_DOMAIN  # a pod supposed on a node without the label is in no domain
        everywhere &= present
        together &= (state.attracting.at(key, domains) + state.supposed.attracting) * present > 0
        pairs = pairs + state.supposed.attracting * present
    return ~(np.where(pairs != 0, together, everywhere) if state.attracts_itself else together)


def _matches_any_domain(counts: DomainCounts, more: Mapping[str, IntArray], nodes: Nodes) -> BoolArray | None:
    """Which nodes have, in any domain, a pod that was counted, bool (n,); None where nothing was counted."""
    met: BoolArray | None = None
    for key in dict.fromkeys((*counts.keys, *more)):
        domains = domains_of(nodes, key)
        if key in more:
            found = counts.at(key, domains) if key in counts else np.zeros(len(nodes), np.int64)
            here = (found + more[key]) * (domains != NO_DOMAIN) > 0  # a supposed pod, too, needs the label
        else:
            here = counts.any_at(key, domains)
        met = here if met is None else met | here
    return met


def _selector_error(pod: PodInfo) -> str:
    """Return what is wrong with the selectors of the pod's terms, as upstream words it; "" when nothing is."""
    if pod.pod.spec.affinity is None:
        return ""
    wrong = []
    for name, terms in _TERMS.items():
        try:
            terms(pod)
        except selectors.SelectorError as fault:
            wrong.append(f"{name}: {fault}")
    return field_errors.aggregate(wrong) if wrong else ""


_TERMS: Mapping[str, Callable[[PodInfo], tuple[Any, ...]]] = {
    "requiredAffinityTerms": lambda pod: pod.required_affinity,
    "requiredAntiAffinityTerms": lambda pod: pod.required_anti_affinity,
    "preferredAffinityTerms": lambda pod: pod.preferred_affinity,
    "preferredAntiAffinityTerms": lambda pod: pod.preferred_anti_affinity,
}
"""The four lists of terms of a pod, by the names upstream's errors give them."""


def _terms_of(pod: PodInfo) -> tuple[tuple[Any, ...], ...]:
    return tuple(terms(pod) for terms in _TERMS.values())


def _concern_each_other(cluster: ClusterView, pod: PodInfo, other: PodInfo) -> bool:
    """Whether any term of one pod is about the other."""
    carried = carried_terms(other)
    theirs = (
        *carried.required,
        *carried.required_anti,
        *(t.term for t in (*carried.preferred, *carried.preferred_anti)),
    )
    if any(map(term_matcher(pod, cluster), theirs)):
        return True
    required, anti, preferred, preferred_anti = _terms_of(pod)
    ours = resolve_namespaces((*required, *anti, *(t.term for t in (*preferred, *preferred_anti))), cluster)
    return any(term.matches(other.namespace, None, other.labels) for term in ours)

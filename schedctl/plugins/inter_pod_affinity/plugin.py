"""InterPodAffinity: with which pods a pod may, must or would rather share a zone, a rack or a node.

The rules go both ways: the pod's terms are about running pods, and theirs about the pod. Nothing here looks at nodes or
running pods one by one: `schedctl.cache.counters` keeps the counts by topology domain and
the sums of the terms of running pods, and `evidence` finds the pods behind a refusal when somebody reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from schedctl.api import field_errors, meta, selectors
from schedctl.cache.arrays import BoolArray, IntArray
from schedctl.cache.domain_sums import NO_DOMAIN
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.pod_info import AffinityTerm, PodInfo
from schedctl.config.args import InterPodAffinityArgs
from schedctl.errors import PluginError
from schedctl.framework.arithmetic import MAX_NODE_SCORE
from schedctl.framework.cycles import Cycle, StateKey
from schedctl.framework.events import Registration
from schedctl.framework.points import FilterPlugin, PreFilterPlugin, PreScorePlugin, ScorePlugin
from schedctl.framework.reasons import ACCEPT, Reason, Verdicts
from schedctl.framework.statuses import SKIP, Code, Status, error, unresolvable
from schedctl.plugins.inter_pod_affinity.events import registrations
from schedctl.plugins.inter_pod_affinity.evidence import CauseColumn, missing_company, repelling_pods, unwanted_company
from schedctl.plugins.inter_pod_affinity.state import (
    AffinityState,
    ScoreState,
    count_pods,
    domains_of,
    resolve_namespaces,
)

if TYPE_CHECKING:
    from schedctl.framework.remarks import Remark
    from schedctl.framework.remedies import Rejection, Remedies
    from schedctl.framework.wording import Wording


STATE = StateKey[AffinityState]("PreFilterInterPodAffinity")
SCORES = StateKey[ScoreState]("PreScoreInterPodAffinity")


class InterPodAffinity(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    """Keeps pods together or apart, by required and preferred inter-pod (anti-)affinity, in both directions."""

    skips_resizes = True
    filters_all_nodes = True

    unmatched = Reason("node(s) didn't match pod affinity rules", unresolvable=True)
    unwanted = Reason("node(s) didn't match pod anti-affinity rules")
    repelled = Reason("node(s) didn't satisfy existing pods anti-affinity rules")
    unread = Reason('error reading "PreFilterInterPodAffinity" from cycleState: not found', code=Code.ERROR)

    reads = (meta.Namespace,)
    reads_feasible_set = False
    foreseeable = True
    normalizes_by_extremes = True
    args: InterPodAffinityArgs

    # -- filtering ---------------------------------------------------------------

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Count pods by domain; Skip when the pod has no required term and meets no running pod's anti-affinity."""
        pod, cluster = cycle.pod, nodes.cluster
        if malformed := _selector_error(pod):
            return unresolvable(f"parsing pod: {malformed}")
        has_terms = pod.pod.spec.affinity is not None
        repelling = cluster.term_counter(("required_anti",), pod.labels, pod.namespace)
        required = resolve_namespaces(pod.required_affinity, cluster) if has_terms else ()
        anti = resolve_namespaces(pod.required_anti_affinity, cluster) if has_terms else ()
        if not (required or anti) and repelling.is_empty:
            return SKIP
        keys = dict.fromkeys(term.topology_key for term in required)
        company = count_pods(cluster, required) if required else None
        attracting = {key: company.by_domain(key) for key in keys} if company is not None else {}
        unwanted = tuple(count_pods(cluster, (term,)).by_domain(term.topology_key) for term in anti)
        cycle.state[STATE] = AffinityState(pod, required, anti, attracting, unwanted, repelling)
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
        verdicts = ACCEPT
        if state.required:
            lonely = _lacks_company(state, nodes)
            if lonely.any():
                verdicts = self.unmatched.where(lonely, cause=CauseColumn(missing_company, state, nodes))
        for reason, meets, cause in (  # kube-scheduler's order, of which a node is told the first
            (self.unwanted, _meets_unwanted, unwanted_company),
            (self.repelled, _is_repelled, repelling_pods),
        ):
            if verdicts.parts and verdicts.mask.all():  # as where a pod like this one has just come
                break
            met = meets(state, nodes)
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
        counters = [(count_pods(cluster, (t,)).by_domain(t.topology_key), weight) for t, weight in preferences]
        weight = self.args.hard_pod_affinity_weight
        factors = {"preferred": 1, "preferred_anti": -1, **({"required": weight} if weight else {})}
        state = ScoreState(tuple(counters), cluster.term_counter(tuple(factors), pod.labels, pod.namespace), factors)
        if state.is_empty:
            return SKIP
        cycle.state[SCORES] = state
        return None

    def score(self, cycle: Cycle, nodes: Nodes) -> IntArray:
        """Return the sum of the weights of each node's domains, int64 (n,).

        Raises:
            PluginError: PreScore did not run.
        """
        if SCORES not in cycle.state:
            raise PluginError('failed to read "PreScoreInterPodAffinity" from cycleState: not found')
        return cycle.state[SCORES].sums(nodes)

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
        try:
            terms = _terms_of(pod) if pod.pod.spec.affinity is not None else ()
        except selectors.SelectorError:
            return None
        return (pod.namespace, frozenset(pod.labels.items()), terms)

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
    if pod.pod.spec.affinity is None:
        return ()
    weighted = (*pod.preferred_affinity, *((term, -weight) for term, weight in pod.preferred_anti_affinity))
    terms = resolve_namespaces((term for term, _ in weighted), cluster)
    return tuple(zip(terms, (weight for _, weight in weighted), strict=True))


def _lacks_company(state: AffinityState, nodes: Nodes) -> BoolArray:
    """Which nodes lack, in one of the domains, a pod that matches all required terms, bool (n,).

    The first of a series of pods that want each other's company is let in wherever the node has all topology keys.
    """
    if state.supposed is None:
        first = state.attracts_itself and _has_no_company(state)
        lonely = np.zeros(len(nodes), np.bool_)
        for key, pods in state.attracting.items():
            domains = domains_of(nodes, key)
            lonely |= domains == NO_DOMAIN if first else ~pods.positive_at(domains)
        return lonely
    together = np.ones(len(nodes), np.bool_)
    everywhere = np.ones(len(nodes), np.bool_)
    pairs: IntArray | int = sum(pods.pairs for pods in state.attracting.values())
    for key, pods in state.attracting.items():
        domains = domains_of(nodes, key)
        present = domains != NO_DOMAIN  # a pod supposed on a node without the label is in no domain
        everywhere &= present
        together &= (pods.at(domains) + state.supposed.attracting) * present > 0
        pairs = pairs + state.supposed.attracting * present
    return ~(np.where(pairs != 0, together, everywhere) if state.attracts_itself else together)


def _has_no_company(state: AffinityState) -> bool:
    """Whether nowhere a running pod matches all required terms."""
    empty = [pods.is_empty for pods in state.attracting.values()]  # no generator: each is read, and known to be
    return all(empty)


def _meets_unwanted(state: AffinityState, nodes: Nodes) -> BoolArray | None:
    """Which nodes have, in any domain, a pod that one of the pod's anti-affinity terms is about; None for none."""
    met: BoolArray | None = None
    if state.supposed is None:
        if len(nodes) == 1:  # as after a placement
            row = nodes.rows.item(0)
            present = [pods.is_positive_on(row) for pods in state.unwanted]  # a list: each is read
            return np.ones(1, np.bool_) if any(present) else None
        for pods in state.unwanted:
            here = pods.positive_at(nodes.gather(pods.domains.codes))
            met = here if met is None else met | here
        return met
    supposed = state.supposed.unwanted
    keys = dict.fromkeys((*(pods.key for pods in state.unwanted), *supposed))
    for key in keys:
        domains = domains_of(nodes, key)
        of_key = [pods for pods in state.unwanted if pods.key == key]
        if key in supposed:
            found = sum((pods.at(domains) for pods in of_key), supposed[key])
            here = found * (domains != NO_DOMAIN) > 0  # a supposed pod, too, needs the label
            met = here if met is None else met | here
            continue
        for pods in of_key:
            here = pods.positive_at(domains)
            met = here if met is None else met | here
    return met


def _is_repelled(state: AffinityState, nodes: Nodes) -> BoolArray | None:
    """Which nodes have, in any domain, a pod with an anti-affinity term about the pod; None for none."""
    met: BoolArray | None = None
    supposed = state.supposed.repelling if state.supposed is not None else {}
    running = {key: sums for _, key, sums in state.repelling.sums}
    for key in dict.fromkeys((*running, *supposed)):
        domains = domains_of(nodes, key)
        if key in supposed:
            found = running[key].at(domains) if key in running else np.zeros(len(nodes), np.int64)
            here = (found + supposed[key]) * (domains != NO_DOMAIN) > 0
        else:
            here = running[key].positive_at(domains)
        met = here if met is None else met | here
    return met


def _selector_error(pod: PodInfo) -> str:
    """Return what is wrong with the selectors of the pod's terms, as upstream words it; "" when nothing is."""
    if pod.pod.spec.affinity is None:
        return ""
    try:
        _terms_of(pod)
    except selectors.SelectorError:
        return field_errors.aggregate(_selector_errors(pod))
    return ""


def _selector_errors(pod: PodInfo) -> Iterator[str]:
    for name, terms in _TERMS.items():
        try:
            terms(pod)
        except selectors.SelectorError as fault:
            yield f"{name}: {fault}"


_TERMS: Mapping[str, Callable[[PodInfo], tuple[Any, ...]]] = {
    "requiredAffinityTerms": lambda pod: pod.required_affinity,
    "requiredAntiAffinityTerms": lambda pod: pod.required_anti_affinity,
    "preferredAffinityTerms": lambda pod: pod.preferred_affinity,
    "preferredAntiAffinityTerms": lambda pod: pod.preferred_anti_affinity,
}
"""The four lists of terms of a pod, by the names upstream's errors give them."""


def _terms_of(pod: PodInfo) -> tuple[tuple[Any, ...], ...]:
    return pod.required_affinity, pod.required_anti_affinity, pod.preferred_affinity, pod.preferred_anti_affinity

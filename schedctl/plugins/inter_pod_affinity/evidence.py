"""The pods behind a refusal by InterPodAffinity, looked for when somebody reads the evidence and not before.

A verdict carries a `CauseColumn`. Reading a row of it goes over the running pods of the domain and names the term, the
domain and the pods, as the cluster has them then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from schedctl.cache.affinity_terms import carried_terms
from schedctl.cache.domain_sums import NO_DOMAIN
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import AffinityTerm, PodInfo
from schedctl.framework.selector_wording import describe_selector
from schedctl.plugins.inter_pod_affinity.state import AffinityState, matches_all, term_matcher

NAMED = 10
"""How many pods a cause names; it counts them all."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why InterPodAffinity refuses a node.

    Attributes:
        topology_key: of the term.
        domain: the node's value of that label, None where it has none.
        selector: the labels the term is about, as kubectl writes selectors.
        namespaces: the namespaces it is about, sorted; None for all.
        pods: ``namespace/name`` of pods, the first `NAMED`. Where company lacks, the running pods that would do, all
            of them elsewhere; where company is forbidden, the pods in the domain that are in the way.
        number: how many pods there are.
        elsewhere: where company lacks and no running pod would do, how many would if the terms were about these
            namespaces, most pods first.
    """

    topology_key: str
    domain: str | None
    selector: str
    namespaces: tuple[str, ...] | None
    pods: tuple[str, ...]
    number: int
    elsewhere: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CauseColumn:
    """The cause for each row of a column; a `schedctl.framework.reasons.OnDemand`.

    Attributes:
        find: finds the cause for one row.
        state: what PreFilter found.
        nodes: the column the verdict is about.
    """

    find: Callable[[AffinityState, Nodes, int], Cause]
    state: AffinityState
    nodes: Nodes

    def at(self, row: int) -> Cause:
        """Return the cause for a row.

        Raises:
            LookupError: the cluster has changed so that nothing is in the way any more.
        """
        return self.find(self.state, self.nodes, row)


def missing_company(state: AffinityState, nodes: Nodes, row: int) -> Cause:
    """Return the first required term whose label the node lacks, else the first whose domain lacks company."""
    matching = _matching_pods(state, nodes, row)
    # a node without the key is in no domain of it: that is told before a domain that lacks company
    unlabelled = [term for term in state.required if _domain(nodes, row, term) is None]
    lacking = unlabelled or [
        term
        for term in state.required
        if not any(matches_all(state.required, info) for info in _neighbours(nodes, row, term.topology_key))
    ]
    if not lacking:
        raise LookupError("all required terms are met on this row")
    cause = _cause(lacking[0], nodes, row, matching)
    return cause if matching else replace(cause, elsewhere=_namespaces_with_company(state, nodes))


def unwanted_company(state: AffinityState, nodes: Nodes, row: int) -> Cause:
    """Return the first anti-affinity term of the pod that pods in the node's domain match."""
    for term in state.anti:
        neighbours = _neighbours(nodes, row, term.topology_key)
        met = [info for info in neighbours if term.matches(info.namespace, None, info.labels)]
        if met:
            return _cause(term, nodes, row, met)
    raise LookupError("no anti-affinity term is met on this row")


def repelling_pods(state: AffinityState, nodes: Nodes, row: int) -> Cause:
    """Return the first anti-affinity term about the pod that pods in the node's domain carry."""
    pod, is_about_pod = state.pod, term_matcher(state.pod, nodes.cluster)
    terms = [carriers.term for carriers in nodes.cluster.affinity_terms.required_anti.about(pod.labels, is_about_pod)]
    for info in _apply_changes([], nodes, row):  # terms of supposed pods, which the cluster does not list
        terms += (term for term in carried_terms(info).required_anti if is_about_pod(term))
    for term in dict.fromkeys(terms):
        neighbours = _neighbours(nodes, row, term.topology_key)
        met = [info for info in neighbours if term in carried_terms(info).required_anti]
        if met:
            return _cause(term, nodes, row, met)
    raise LookupError("no pod in reach of this row has an anti-affinity term about the pod")


def _cause(term: AffinityTerm, nodes: Nodes, row: int, pods: Iterable[PodInfo]) -> Cause:
    keys = tuple(dict.fromkeys(info.key for info in pods))
    return Cause(
        term.topology_key,
        _domain(nodes, row, term),
        describe_selector(term.selector),
        None if term.namespace_selector.everything else tuple(sorted(term.namespaces)),
        keys[:NAMED],
        len(keys),
    )


def _domain(nodes: Nodes, row: int, term: AffinityTerm) -> str | None:
    return nodes.labels.maps[int(nodes.rows[row])].get(term.topology_key)


def _matching_pods(state: AffinityState, nodes: Nodes, row: int) -> list[PodInfo]:
    """The running pods that match all required terms, as supposed at a row, in the order of the pod table."""
    table = nodes.cluster.pod_table
    selected = table.alive.copy()
    for term in state.required:
        selected &= table.select(term.selector, None if term.namespace_selector.everything else term.namespaces)
    found = (table.infos[pod_row] for pod_row in np.flatnonzero(selected).tolist())
    running = [info for info in found if info is not None]
    return [info for info in _apply_changes(running, nodes, row) if matches_all(state.required, info)]


def _namespaces_with_company(state: AffinityState, nodes: Nodes) -> dict[str, int]:
    """How many running pods have the labels that all required terms ask for, by namespace, most pods first."""
    table = nodes.cluster.pod_table
    selected = table.alive.copy()
    for term in state.required:
        selected &= table.select(term.selector, None)
    found = (table.infos[pod_row] for pod_row in np.flatnonzero(selected).tolist())
    return dict(Counter(info.namespace for info in found if info is not None).most_common())


def _neighbours(nodes: Nodes, row: int, key: str) -> list[PodInfo]:
    """The pods in the node's domain, as supposed at the row; none where the node has no such label."""
    table = nodes.cluster.pod_table
    domains = nodes.labels.domains(key).codes
    domain = domains[nodes.rows[row]]
    if domain == NO_DOMAIN:
        return []
    near = np.flatnonzero((domains[table.node] == domain) & table.alive)
    infos = (table.infos[pod_row] for pod_row in near.tolist())
    return _apply_changes([info for info in infos if info is not None], nodes, row)


def _apply_changes(infos: list[PodInfo], nodes: Nodes, row: int) -> list[PodInfo]:
    for info, sign in nodes.changes.at(row) if nodes.changes is not None else ():
        infos = [*infos, info] if sign > 0 else [other for other in infos if other.key != info.key]
    return infos

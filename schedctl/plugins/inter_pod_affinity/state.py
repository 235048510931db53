"""What InterPodAffinity knows of a cycle: the pod's terms, and pods counted by topology domain.

A topology domain is a value of a node label; the cluster keeps the counts by domain current, and they are read for all
nodes by one gather.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from schedctl.api import meta, selectors
from schedctl.cache.arrays import BoolArray, IndexArray, IntArray
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.pod_changes import PodChanges
from schedctl.cache.pod_counters import DomainCounter, PodCounter
from schedctl.cache.pod_info import AffinityTerm, PodInfo
from schedctl.cache.pod_table import NO_NODE
from schedctl.cache.term_counters import TermCounter


def domains_of(nodes: Nodes, key: str) -> IndexArray:
    """Return the domain of each node of a column under a topology key, intp (n,)."""
    return nodes.gather(nodes.labels.domains(key).codes)


@dataclass(frozen=True, slots=True)
class HypotheticalCounts:
    """What pods gained and lost at each position add to the counts in that position's own domains, int64 (n,) each.

    Attributes:
        attracting: pods that match all of the pod's required terms.
        unwanted: by topology key, matches of the pod's anti-affinity terms.
        repelling: by topology key, anti-affinity terms of others that match the pod.
    """

    attracting: IntArray
    unwanted: Mapping[str, IntArray]
    repelling: Mapping[str, IntArray]


@dataclass(frozen=True, slots=True)
class ScoreState:
    """What PreScore found; what is counted is counted live.

    Attributes:
        preferences: running pods that match one of the pod's preferred terms, with its signed weight.
        others: terms of running pods about the pod.
        factors: by kind of these terms what their weights are multiplied with.
    """

    preferences: tuple[tuple[DomainCounter, int], ...]
    others: TermCounter
    factors: Mapping[str, int]

    @property
    def is_empty(self) -> bool:
        """Whether nothing is counted; weights that cancel out are something."""
        # a list, no generator, and no short cut: each is read, so that it is known of each that it was
        empty = [self.others.is_empty, *[pods.is_empty for pods, _ in self.preferences]]
        return all(empty)

    def sums(self, nodes: Nodes) -> IntArray:
        """Return the weights that each node's domains add up to, int64 (n,)."""
        if len(nodes) == 1:  # as after a placement
            return np.array([self._sum_on(nodes.rows.item(0))], np.int64)
        total: IntArray | None = None
        for pods, weight in self.preferences:
            found = pods.at(nodes.gather(pods.domains.codes))
            found *= weight
            total = found if total is None else total + found
        for kind, key, sums in self.others.sums:
            found = sums.at(domains_of(nodes, key))
            if (factor := self.factors[kind]) != 1:
                found *= factor
            total = found if total is None else total + found
        return np.zeros(len(nodes), np.int64) if total is None else total

    def _sum_on(self, row: int) -> int:
        total = 0
        for pods, weight in self.preferences:
            total += pods.on(row) * weight
        for kind, sums in self.others.on(row):
            total += sums * self.factors[kind]
        return total


@dataclass(frozen=True)
class AffinityState:
    """What PreFilter found; what is counted is counted live.

    Attributes:
        pod: the pod to be placed.
        required, anti: its required terms, their namespace selectors resolved to names.
        attracting: by topology key of a required term, running pods that match all required terms.
        unwanted: running pods that match an anti-affinity term, one for each.
        repelling: the anti-affinity terms of running pods about the pod.
        supposed: what a supposed column adds, None when the column is as the cluster is.
    """

    pod: PodInfo
    required: tuple[AffinityTerm, ...]
    anti: tuple[AffinityTerm, ...]
    attracting: Mapping[str, DomainCounter]
    unwanted: tuple[DomainCounter, ...]
    repelling: TermCounter
    supposed: HypotheticalCounts | None = None

    @cached_property
    def attracts_itself(self) -> bool:
        """Whether the pod matches all its own required terms."""
        return matches_all(self.required, self.pod)

    def hypothetical(self, nodes: Nodes, changes: PodChanges) -> AffinityState:
        """Return the state that fits a supposed column, whose changes these are."""

        def by_position(amounts: IntArray) -> IntArray:
            column, some = np.zeros(len(nodes), np.int64), np.flatnonzero(amounts)
            np.add.at(column, changes.positions[some], amounts[some])
            return column

        attracting = by_position(changes.signs * _changes_selected(nodes.cluster, changes, self.required))
        unwanted: dict[str, IntArray] = {}
        for term in self.anti:
            matching = by_position(changes.signs * _changes_selected(nodes.cluster, changes, (term,)))
            unwanted[term.topology_key] = unwanted.get(term.topology_key, 0) + matching
        about_pod = nodes.cluster.pod_table.footprints.repelling_terms(term_matcher(self.pod, nodes.cluster))
        repelling = {
            key: by_position(changes.signs * numbers[changes.footprints]) for key, numbers in about_pod.items()
        }
        return replace(self, supposed=HypotheticalCounts(attracting, unwanted, repelling))


def _changes_selected(cluster: ClusterView, changes: PodChanges, terms: tuple[AffinityTerm, ...]) -> BoolArray:
    """Return which changes are of pods that match all of the (resolved) terms, bool (changes,); none without terms."""
    if not terms:
        return np.zeros(len(changes), np.bool_)
    by_row = np.zeros(len(cluster.pod_table) + 1, np.bool_)  # the last entry is for pods that do not run
    by_row[_pods_selected(cluster, terms)] = True
    selected: BoolArray = by_row[changes.rows]  # row -1, a pod that does not run, is that last entry
    strangers = np.flatnonzero(changes.rows < 0)
    if len(strangers):
        selected[strangers] = [matches_all(terms, info) for info in changes.pods[strangers]]
    return selected


def matches_all(terms: Sequence[AffinityTerm], info: PodInfo) -> bool:
    """Return whether a pod matches all of another's (resolved) terms, of which there is at least one."""
    return bool(terms) and all(term.matches(info.namespace, None, info.labels) for term in terms)


def term_matcher(pod: PodInfo, cluster: ClusterView) -> Callable[[AffinityTerm], bool]:
    """Return what tells whether a term of another pod is about a pod."""

    def labels_of_namespace() -> Mapping[str, str] | None:
        namespace = cluster.get(meta.Namespace, pod.namespace)
        return namespace.metadata.labels if namespace is not None else None

    return lambda term: term.concerns(pod.namespace, pod.labels, labels_of_namespace)


def resolve_namespaces(terms: Iterable[AffinityTerm], cluster: ClusterView) -> tuple[AffinityTerm, ...]:
    """Return the terms of an incoming pod with the namespaces that exist and are selected by label added by name.

    A selector of all namespaces stays as it is: it covers namespaces of which there is no object, too.
    """
    return tuple(_resolve_term(term, cluster) for term in terms)


def _resolve_term(term: AffinityTerm, cluster: ClusterView) -> AffinityTerm:
    selector = term.namespace_selector
    if selector.nothing or selector.everything:
        return term
    every = cluster.every(meta.Namespace).values()
    selected = frozenset(n.metadata.name for n in every if selector.matches(n.metadata.labels))
    return term._replace(namespaces=term.namespaces | selected, namespace_selector=selectors.NOTHING)


def count_pods(cluster: ClusterView, terms: Sequence[AffinityTerm]) -> PodCounter:
    """Return the count of the running pods that match all of the (resolved) terms, one at least."""
    (selector, namespaces), *more = [
        (term.selector, None if term.namespace_selector.everything else term.namespaces) for term in terms
    ]
    return cluster.counter(selector, namespaces, *more)


def _pods_selected(cluster: ClusterView, terms: tuple[AffinityTerm, ...]) -> IndexArray:
    """Return the pod rows of the running pods that match all of the (resolved) terms, one at least, intp (pods,)."""
    table = cluster.pod_table
    labelled = table.labels.select(terms[0].selector)
    for term in terms[1:]:
        labelled &= table.labels.select(term.selector)
    rows = np.flatnonzero(labelled)
    selected: BoolArray = table.node[rows] != NO_NODE
    for term in terms:
        if not term.namespace_selector.everything:
            codes = [table.strings.find_code(name) for name in term.namespaces]
            namespaces = table.namespace[rows]
            selected &= namespaces == codes[0] if len(codes) == 1 else np.isin(namespaces, codes)
    return rows[selected]

"""What InterPodAffinity knows of a cycle: the pod's terms, and pods counted by topology domain.

A topology domain is a value of a node label; counts by domain (`DomainCounts`) are one ``bincount`` for each topology
key, read for all nodes by one gather.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from schedctl.api import meta, selectors
from schedctl.cache.arrays import BoolArray, IndexArray, IntArray
from schedctl.cache.labels import LabelColumns
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.pod_changes import PodChanges
from schedctl.cache.pod_info import AffinityTerm, PodInfo
from schedctl.cache.pod_table import NO_NODE

NO_DOMAIN = 0
"""The domain of a node without the label."""


def domains_of(nodes: Nodes, key: str) -> IndexArray:
    """Return the domain of each node of a column under a topology key, intp (n,)."""
    return nodes.gather(nodes.labels.domains(key).codes)


class DomainCounts:
    """Sums over running pods for each domain of a few topology keys.

    Attributes:
        pairs: how many times a pod was counted under a key its node has; 0 when nothing was.
    """

    __slots__ = ("_labels", "_sums", "pairs")

    def __init__(self, labels: LabelColumns) -> None:
        self._labels = labels
        self.pairs = 0
        self._sums: dict[str, IntArray] = {}

    @property
    def keys(self) -> Iterable[str]:
        """The topology keys under which something was counted."""
        return self._sums

    def add(
        self,
        key: str,
        nodes: IndexArray,
        counts: IntArray | None = None,
        amounts: IntArray | None = None,
        factor: int = 1,
    ) -> None:
        """Count pods under a topology key.

        Args:
            key: the node label; pods on nodes without it are not counted.
            nodes: intp (m,), node rows.
            counts: int64 (m,), how many pods on each; one if None.
            amounts: int64 (m,), what they add on each node; `counts` if None.
            factor: what amounts are multiplied with.
        """
        domains = self._labels.domains(key)
        at = domains.codes[nodes]
        sums = np.bincount(at, counts if amounts is None else amounts, minlength=len(domains)).astype(np.int64)
        # pods are counted, not what they add: upstream skips when nothing was counted, not when weights cancel out
        self.pairs += len(nodes) - int(sums[0]) if counts is None else int(counts[at != NO_DOMAIN].sum())
        sums[NO_DOMAIN] = 0
        if factor != 1:
            sums *= factor
        if key in self._sums:
            sums += self._sums[key]
        self._sums[key] = sums

    def domain(self, key: str, node: int) -> int:
        """Return the domain of a node row under a topology key."""
        return int(self._labels.domains(key).codes[node])

    def with_amounts(self, node: int, amounts: Sequence[tuple[str, int, int]]) -> DomainCounts:
        """Return the sums with pods come to a node, or gone from it, counted too.

        Args:
            node: the node row.
            amounts: (topology key, what to add, how many pods that is), negative for pods that have gone.
        """
        if not amounts:
            return self
        counts = DomainCounts(self._labels)
        counts.pairs, counts._sums = self.pairs, dict(self._sums)
        for key, amount, pods in amounts:
            domain = self.domain(key, node)
            sums = counts._sums.get(key)
            if sums is None:
                sums = counts._sums[key] = np.zeros(len(self._labels.domains(key)), np.int64)
            elif sums is self._sums.get(key):  # shared with the state before; another amount may have copied it
                sums = counts._sums[key] = sums.copy()
            if domain != NO_DOMAIN:
                sums[domain] += amount
                counts.pairs += pods
        return counts

    def at(self, key: str, domains: IndexArray) -> IntArray:
        """Return the sum in each of some domains, int64 (n,); 0 for `NO_DOMAIN`."""
        sums: IntArray = self._sums[key][domains]
        return sums

    def any_at(self, key: str, domains: IndexArray) -> BoolArray:
        """Return in which of some domains the sum is above 0, bool (n,)."""
        above: BoolArray = (self._sums[key] > 0)[domains]
        return above

    def __contains__(self, key: str) -> bool:
        return key in self._sums


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
    """What PreScore found.

    Attributes:
        preferences: the pod's preferred terms, their namespace selectors resolved to names, with signed weights.
        sums: weights of the terms of either side that are about the other, by domain.
    """

    preferences: tuple[tuple[AffinityTerm, int], ...]
    sums: DomainCounts


@dataclass(frozen=True)
class AffinityState:
    """What PreFilter found; see `DomainCounts` for the counts.

    Attributes:
        pod: the pod to be placed.
        required, anti: its required terms, their namespace selectors resolved to names.
        attracting: running pods that match all required terms, under the key of each.
        unwanted: running pods that match an anti-affinity term, under its key.
        repelling: running pods with an anti-affinity term that matches the pod, under its key.
        supposed: what a supposed column adds, None when the column is as the cluster is.
    """

    pod: PodInfo
    required: tuple[AffinityTerm, ...]
    anti: tuple[AffinityTerm, ...]
    attracting: DomainCounts
    unwanted: DomainCounts
    repelling: DomainCounts
    supposed: HypotheticalCounts | None = None

    @cached_property
    def required_keys(self) -> tuple[str, ...]:
        """The topology keys of the required terms, each once."""
        return tuple(dict.fromkeys(term.topology_key for term in self.required))

    @cached_property
    def attracts_itself(self) -> bool:
        """Whether the pod matches all its own required terms."""
        return matches_all(self.required, self.pod)

    def matching_keys(self, other: PodInfo) -> tuple[Sequence[str], Sequence[str]]:
        """Return under which topology keys another pod counts as company, and under which as unwanted."""
        attracting = self.required_keys if matches_all(self.required, other) else ()
        return attracting, [t.topology_key for t in self.anti if t.matches(other.namespace, None, other.labels)]

    def with_pod(
        self, attracting: Sequence[str], unwanted: Sequence[str], repelling: Sequence[str], node: int, sign: int
    ) -> AffinityState:
        """Return the state with a pod counted that came to a node row (+1) or went (-1), under these topology keys."""
        return replace(
            self,
            attracting=self.attracting.with_amounts(node, [(key, sign, sign) for key in attracting]),
            unwanted=self.unwanted.with_amounts(node, [(key, sign, sign) for key in unwanted]),
            repelling=self.repelling.with_amounts(node, [(key, sign, sign) for key in repelling]),
        )

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
    """Return what tells whether a term of another pod is about a pod.

    The labels of its namespace are looked up for terms alone that select by them and are about such a pod otherwise.
    """

    def is_about_pod(term: AffinityTerm) -> bool:
        selector = term.namespace_selector
        if pod.namespace in term.namespaces or selector.everything or selector.nothing:
            return term.matches(pod.namespace, None, pod.labels)
        if not term.selector.matches(pod.labels):
            return False
        namespace = cluster.get(meta.Namespace, pod.namespace)
        return selector.matches(namespace.metadata.labels if namespace is not None else None)

    return is_about_pod


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


def nodes_selected(cluster: ClusterView, terms: tuple[AffinityTerm, ...]) -> IndexArray:
    """Return the node row of each running pod that matches all of the (resolved) terms, one at least, intp (pods,)."""
    nodes: IndexArray = cluster.pods_selected(terms[0].selector).node[_pods_selected(cluster, terms)]
    return nodes


def _pods_selected(cluster: ClusterView, terms: tuple[AffinityTerm, ...]) -> IndexArray:
    """Return the pod rows of the running pods that match all of the (resolved) terms, one at least, intp (pods,)."""
    table = cluster.pods_selected(terms[0].selector)
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

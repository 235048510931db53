"""How the pods a constraint is about are spread over the domains of its topology key.

Everything is an array by node row or by domain: the domain of every node is a column of the label table, and the
cluster keeps the counts current. What pods supposed gained or lost on a node do to them is kept by position, in the
node's own domain and beside the counts, never as a copy of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from schedctl.api import topology
from schedctl.api.node_selectors import required_node_affinity
from schedctl.api.selectors import NOTHING, LabelQuery
from schedctl.api.tolerations import first_untolerated
from schedctl.cache.arrays import BoolArray, FloatArray, IndexArray, IntArray
from schedctl.cache.domain_sums import NO_DOMAIN
from schedctl.cache.labels import Domains
from schedctl.cache.node_matching import nodes_meeting
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.pod_changes import PodChanges
from schedctl.cache.pod_counters import NO_MINIMUM, DomainCounter, PodCounter
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.arithmetic import natural_log, nearest, round_half_up
from schedctl.plugins.pod_topology_spread.constraints import Constraint

MOST_DOMAINS = 10
"""How many domains the evidence lists."""
_FEW_NODES = 16
"""Up to how many nodes are scored one by one."""


def count_pods(cluster: ClusterView, namespace: str, selector: LabelQuery) -> PodCounter:
    """Return the count of the pods of a namespace that a constraint is about.

    Terminating pods are not counted, and a selector of everything counts nothing.
    """
    return cluster.counter(NOTHING if selector.everything else selector, (namespace,), terminating=False)


def matching_changes(
    cluster: ClusterView, namespace: str, selectors: Sequence[LabelQuery], changes: PodChanges
) -> list[BoolArray]:
    """Return for each selector the changes of pods of a namespace that match, bool (changes,); no more is asked.

    Running pods are found in the pod table, all at once; the answer for the others is put right afterwards.
    """
    table, rows = cluster.pod_table, changes.rows
    elsewhere = np.flatnonzero(rows < 0)
    strangers = list(zip(elsewhere.tolist(), changes.pods[elsewhere], strict=True)) if len(elsewhere) else []
    here = table.namespace[rows] == table.strings.find_code(namespace) if len(table) else rows >= 0
    answers = []
    # row -1 of a pod that does not run reads the last running pod's answer, until its own replaces it
    for selector in selectors:
        matching = table.labels.select(selector)[rows] & here if len(table) else here.copy()
        for i, pod in strangers:
            matching[i] = pod.namespace == namespace and selector.matches(pod.labels)
        answers.append(matching)
    return answers


class DomainCounts(NamedTuple):
    """Pods counted by domain, as they were when a node was rejected.

    Attributes:
        values: the values of the domains.
        counts: int64 (domains,).
        present: bool (domains,), those with a node that takes part.
    """

    values: Sequence[str | None]
    counts: IntArray
    present: BoolArray

    def at(self, row: int) -> dict[str, int]:
        """The counts of the emptiest domains, at most `MOST_DOMAINS`, as evidence; without supposed pods."""
        present = np.flatnonzero(self.present)
        emptiest = present[np.argsort(self.counts[present], kind="stable")][:MOST_DOMAINS]
        return {str(self.values[domain]): int(self.counts[domain]) for domain in emptiest.tolist()}


@dataclass(frozen=True, slots=True)
class HardSpread:
    """What PreFilter found out for one DoNotSchedule constraint; the pods are counted live.

    Attributes:
        constraint: the constraint.
        counter: of its pods by domain.
        present: bool (domains,), the domains with a node that takes part.
        number: how many that are.
        self_match: 1 if the pod itself would be counted, else 0.
        supposed: int64 (n,), what pods supposed at each position add to its domain; None where nothing is.
    """

    constraint: Constraint
    counter: DomainCounter
    present: BoolArray
    number: int
    self_match: int
    supposed: IntArray | None = None

    @property
    def domains(self) -> Domains:
        """The domains of the topology key."""
        return self.counter.domains

    @property
    def eligible(self) -> BoolArray | None:
        """The nodes that take part, bool (node rows,); None for all."""
        return self.counter.eligible

    @property
    def counts(self) -> IntArray:
        """Pods in each domain, int64 (domains,), live."""
        return self.counter.sums

    def as_evidence(self, counts: IntArray) -> DomainCounts:
        """Return counts, which nobody writes to any more, with what they are of."""
        return DomainCounts(self.domains.values.values, counts, self.present)

    @property
    def lacks_domains(self) -> bool:
        """Whether there are fewer domains than ``minDomains``."""
        return self.number < self.constraint.min_domains

    @property
    def missing_domains(self) -> dict[str, Any]:
        """As evidence, how many domains there are and how many ``minDomains`` asks for; nothing if enough."""
        return (
            {"present_domains": self.number, "min_domains": self.constraint.min_domains} if self.lacks_domains else {}
        )

    @property
    def floor(self) -> int:
        """What counts are compared with: the minimum, or 0 while there are too few domains."""
        return 0 if self.lacks_domains else self.counter.minimum

    def floors(self, domains: IndexArray, here: IntArray) -> IntArray:
        """Return the floor of each position, given its domain and the count there with the supposed pods, int64 (n,).

        Only its own domain differs from `counts` at a position: the minimum is that of the others, or the new count.
        """
        if self.lacks_domains:
            return np.zeros_like(here)
        counts, minimum = np.where(self.present, self.counts, NO_MINIMUM), self.counter.minimum
        emptiest = int(counts.argmin())
        counts[emptiest] = NO_MINIMUM  # so that the least of them is now the second least
        elsewhere = np.where(domains == emptiest, int(counts.min()), minimum)
        return np.where(self.supposed != 0, np.minimum(elsewhere, here), minimum)


@dataclass(frozen=True, slots=True)
class HardState:
    """The DoNotSchedule constraints of a cycle.

    Attributes:
        spreads: one for each constraint.
        namespace: of the pods that are counted.
    """

    spreads: tuple[HardSpread, ...]
    namespace: str

    def hypothetical(self, nodes: Nodes, changes: PodChanges) -> HardState:
        """Return the state that fits a supposed column, whose changes these are."""
        selectors = [spread.constraint.selector for spread in self.spreads]
        matching = matching_changes(nodes.cluster, self.namespace, selectors, changes)
        supposed = [_hypothetical_counts(s, nodes, changes, m) for s, m in zip(self.spreads, matching, strict=True)]
        spreads = (replace(s, supposed=each) for s, each in zip(self.spreads, supposed, strict=True))
        return replace(self, spreads=tuple(spreads))


@dataclass(frozen=True, slots=True)
class SoftSpread:
    """What PreScore found out for one ScheduleAnyway constraint; the pods are counted live.

    Attributes:
        constraint: the constraint.
        domains: of its topology key.
        weight: what each pod counts for: upstream's topologyNormalizingWeight, the more domains the heavier.
    """

    constraint: Constraint
    domains: Domains
    weight: float

    @property
    def of_none(self) -> float:
        """What a domain without pods amounts to."""
        return float(self.constraint.max_skew - 1)

    def of_counts(self, counts: IntArray) -> FloatArray:
        """Return what so many pods in a domain amount to, float64 (n,)."""
        # upstream's scoreForCount: count * weight + (maxSkew - 1), in this order
        worth: FloatArray = np.multiply(counts, self.weight, dtype=np.float64)
        worth += self.of_none
        return worth


@dataclass(frozen=True, slots=True)
class SoftSpreadByDomain(SoftSpread):
    """A constraint whose domains may have many nodes, with the counter of its pods."""

    counter: DomainCounter

    def worth(self, nodes: Nodes) -> FloatArray:
        """Return what each node gets for the pods in its domain, float64 (n,)."""
        domains = nodes.gather(self.domains.codes)
        if len(nodes) > len(self.domains) or self._has_blank:  # fewer domains than nodes: each is worked out once
            return self.by_domain(nodes.cluster).take(domains)
        worth = self.of_counts(self.counter.at(domains))
        if not self.domains.is_complete:
            worth *= domains != NO_DOMAIN
        return worth

    def by_domain(self, cluster: ClusterView) -> FloatArray:
        """Return what the nodes of each domain get, float64 (domains,)."""
        sums = self.counter.sums
        if self._has_blank:
            sums = sums.copy()
            sums[self.domains.values.find_code("")] += self._count_unlabelled(cluster)
        worth = self.of_counts(sums)
        worth[NO_DOMAIN] = 0.0
        return worth

    def among(self, scored: IndexArray) -> SoftSpreadByDomain:
        """Return the spread over other nodes that are scored, intp."""
        return replace(self, weight=_weight(_count_domains(self.domains, scored)))

    @property
    def _has_blank(self) -> bool:
        """Whether a label may be empty: upstream reads one that is not there as such, and the two are one domain."""
        return "" in self.domains.values.codes

    def _count_unlabelled(self, cluster: ClusterView) -> int:
        cluster.rest_on_everything()  # no row of the domain changes when a pod comes to a node without the label
        by_row, eligible = self.counter.pods.by_row, self.counter.eligible
        there = self.domains.codes[: len(by_row)] == NO_DOMAIN
        return int(by_row[there if eligible is None else there & eligible[: len(by_row)]].sum())


@dataclass(frozen=True, slots=True)
class SoftSpreadByNode(SoftSpread):
    """A constraint of which each node is a domain of its own, with the counter of its pods."""

    counter: PodCounter

    @property
    def is_sparse(self) -> bool:
        """Whether all nodes have the label, and few have such pods."""
        return self.domains.is_complete and self.counter.tally.is_sparse

    def worth(self, nodes: Nodes) -> FloatArray:
        """Return what each node gets for its pods, of which a bare one has none, float64 (n,)."""
        worth = self.of_counts(np.zeros(len(nodes), np.int64) if nodes.bare else self.counter.tally.at(nodes.rows))
        if not self.domains.is_complete:
            worth *= nodes.gather(self.domains.codes) != NO_DOMAIN
        return worth

    def among(self, scored: IndexArray) -> SoftSpreadByNode:
        """Return the spread over other nodes that are scored, intp."""
        return replace(self, weight=_weight(len(scored)))


@dataclass(frozen=True, slots=True)
class SoftState:
    """The ScheduleAnyway constraints of a cycle.

    Attributes:
        spreads: one for each constraint.
        ignored: bool (node rows,), nodes that lack one of the keys and are not scored; None where all are.
    """

    spreads: tuple[SoftSpreadByDomain | SoftSpreadByNode, ...]
    ignored: BoolArray | None

    def scores(self, nodes: Nodes) -> IntArray:
        """Return what the pods in each node's domains amount to, int64 (n,)."""
        by_domain = [spread for spread in self.spreads if isinstance(spread, SoftSpreadByDomain)]
        by_node = [spread for spread in self.spreads if isinstance(spread, SoftSpreadByNode)]
        if nodes.is_whole and len(by_domain) == 1 and (not by_node or (len(by_node) == 1 and by_node[0].is_sparse)):
            return self._scores_by_domain(nodes, by_domain[0], by_node[0] if by_node else None)
        first, *others = self.spreads
        worth = first.worth(nodes)
        for spread in others:
            worth += spread.worth(nodes)
        return round_half_up(worth)

    def _scores_by_domain(
        self, nodes: Nodes, shared: SoftSpreadByDomain, unshared: SoftSpreadByNode | None
    ) -> IntArray:
        """Score each domain of the constraint that nodes share, and then the few nodes with pods of their own."""
        codes, worth = shared.domains.codes, shared.by_domain(nodes.cluster)
        if unshared is None:
            return round_half_up(worth).take(codes)
        scores = round_half_up(worth + unshared.of_none).take(codes)  # a sum of two is the same in either order
        if nodes.bare:
            return scores
        tally = unshared.counter.tally
        few = tally.few(_FEW_NODES)
        if few is None:
            rows, counts = tally.some
            scores[rows] = round_half_up(worth.take(codes.take(rows)) + unshared.of_counts(counts))
            return scores
        weight, of_none = unshared.weight, unshared.of_none
        for row, count in few:
            scores[row] = nearest(worth.item(codes.item(row)) + (count * weight + of_none))
        return scores

    def among(self, nodes: Nodes) -> SoftState:
        """Return the state with other nodes feasible."""
        scored = _rows_to_score(nodes, self.ignored)
        return SoftState(tuple([spread.among(scored) for spread in self.spreads]), self.ignored)


def hard_state(cluster: ClusterView, pod: PodInfo, constraints: Sequence[Constraint]) -> HardState:
    """Count the pods of each DoNotSchedule constraint over all nodes."""
    participants = _Participants(cluster, pod, constraints)
    return HardState(tuple(_hard(cluster, pod, c, participants.of(c)) for c in constraints), pod.namespace)


def soft_state(nodes: Nodes, pod: PodInfo, constraints: Sequence[Constraint], *, all_keys: bool) -> SoftState:
    """Count the pods of each ScheduleAnyway constraint in the domains of the feasible nodes.

    Args:
        nodes: the feasible nodes.
        pod: the pod to be scored.
        constraints: its constraints.
        all_keys: whether only nodes with all topology keys take part; nodes without a key share a domain otherwise.
    """
    cluster = nodes.cluster
    participants = _Participants(cluster, pod, constraints, all_keys=all_keys)
    ignored = ~participants.complete if all_keys and participants.complete is not None else None
    scored = _rows_to_score(nodes, ignored)
    spreads = tuple([_soft(cluster, pod, c, participants.of(c), scored) for c in constraints])
    return SoftState(spreads, ignored)


def _rows_to_score(nodes: Nodes, ignored: BoolArray | None) -> IndexArray:
    return nodes.rows if ignored is None else nodes.rows[~ignored[nodes.rows]]


class _Participants:
    """Which nodes take part in a constraint: those with all topology keys that its inclusion policies let in."""

    def __init__(
        self, cluster: ClusterView, pod: PodInfo, constraints: Sequence[Constraint], *, all_keys: bool = True
    ) -> None:
        self._cluster = cluster
        self._pod = pod
        self.complete: BoolArray | None = None
        if all_keys:
            labels = cluster.table_of_nodes().labels
            for domains in [labels.domains(key) for key in {constraint.topology_key for constraint in constraints}]:
                if not domains.is_complete:
                    self.complete = _intersect(self.complete, domains.codes != 0)

    def of(self, constraint: Constraint) -> BoolArray | None:
        """Return the nodes that take part, bool (node rows,), None for all; dead rows do not matter."""
        taking_part = self.complete
        if constraint.honors_affinity:
            taking_part = _intersect(taking_part, self._usable)
        if constraint.honors_taints:
            taking_part = _intersect(taking_part, self._tolerable_nodes)
        return taking_part

    @cached_property
    def _usable(self) -> BoolArray | None:
        spec = self._pod.pod.spec
        if not spec.node_selector and (spec.affinity is None or spec.affinity.node_affinity is None):
            return None
        required = required_node_affinity(self._pod.pod)
        return None if required.everywhere else nodes_meeting(self._cluster.table_of_nodes(), required)

    @cached_property
    def _tolerable_nodes(self) -> BoolArray | None:
        table, tolerations = self._cluster.table_of_nodes(), self._pod.pod.spec.tolerations or ()
        compares = self._cluster.compares_taints
        tolerated = np.array(
            [first_untolerated(each, tolerations, compares) is None for each in table.taint_sets.values]
        )
        return None if tolerated.all() else tolerated[table.taints[: len(table)]]


def _hard(cluster: ClusterView, pod: PodInfo, constraint: Constraint, eligible: BoolArray | None) -> HardSpread:
    pods = count_pods(cluster, pod.namespace, constraint.selector)
    counter = pods.by_domain(constraint.topology_key, eligible)
    present = counter.present
    self_match = int(constraint.selector.matches(pod.labels))
    return HardSpread(constraint, counter, present, int(np.count_nonzero(present)), self_match)


def _hypothetical_counts(spread: HardSpread, nodes: Nodes, changes: PodChanges, matching: BoolArray) -> IntArray | None:
    """Return what the changes of matching pods add to the domain of each position, int64 (n,), None if nothing."""
    if not matching.any():
        return None
    supposed = np.zeros(len(nodes), np.int64)
    np.add.at(supposed, changes.positions[matching], changes.signs[matching])
    if spread.eligible is not None:
        supposed[~spread.eligible[nodes.rows]] = 0
    return supposed


def _soft(
    cluster: ClusterView, pod: PodInfo, constraint: Constraint, eligible: BoolArray | None, scored: IndexArray
) -> SoftSpreadByDomain | SoftSpreadByNode:
    domains = cluster.table_of_nodes().labels.domains(constraint.topology_key)
    pods = count_pods(cluster, pod.namespace, constraint.selector)
    if constraint.topology_key == topology.HOSTNAME:
        return SoftSpreadByNode(constraint, domains, _weight(len(scored)), pods)
    counter = pods.by_domain(constraint.topology_key, eligible)
    return SoftSpreadByDomain(constraint, domains, _weight(_count_domains(domains, scored)), counter)


@lru_cache(maxsize=256)
def _weight(domains: int) -> float:
    """Return what a pod counts for where the nodes that are scored are in so many domains."""
    return natural_log(domains + 2)


def _count_domains(domains: Domains, scored: IndexArray) -> int:
    """Return how many domains the nodes that are scored are in."""
    if len(scored) == len(domains.codes):  # each node once, and these are all there are
        candidates = domains.with_rows
    else:
        candidates = np.zeros(len(domains), np.bool_)
        candidates[domains.codes[scored]] = True
    blank = domains.values.find_code("")
    if blank >= 0:
        candidates[blank] |= candidates[0]
        candidates[0] = False
    return int(np.count_nonzero(candidates))


def _intersect(one: BoolArray | None, other: BoolArray | None) -> BoolArray | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other

"""How the pods a constraint is about are spread over the domains of its topology key.

Everything is an array by node row or by domain: the domain of every node is a column of the label table, a count by
domain one ``bincount`` over the nodes the counted pods run on. What pods supposed gained or lost on a node do to the
counts is kept by position, in the node's own domain and beside the counts, never as a copy of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from schedctl.api import topology
from schedctl.api.node_selectors import required_node_affinity
from schedctl.api.selectors import LabelQuery
from schedctl.api.tolerations import first_untolerated
from schedctl.cache.arrays import BoolArray, FloatArray, IndexArray, IntArray
from schedctl.cache.labels import Domains
from schedctl.cache.node_matching import nodes_meeting
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.pod_changes import PodChanges
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.arithmetic import natural_log
from schedctl.plugins.pod_topology_spread.constraints import Constraint

NO_DOMAIN = 2**31 - 1
"""The minimum over no domains, which upstream has as MaxInt32."""
MOST_DOMAINS = 10
"""How many domains the evidence lists."""


def is_counted(selector: LabelQuery, pod: PodInfo) -> bool:
    """Return whether a running pod is counted: a selector of everything counts nothing."""
    return not selector.everything and selector.matches(pod.labels)


class MatchingPods:
    """Finds the nodes of the pods a selector counts, each selector once."""

    __slots__ = ("_cluster", "_known", "_namespace")

    def __init__(self, cluster: ClusterView, namespace: str) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._known: dict[LabelQuery, IndexArray] = {}

    def nodes_of(self, selector: LabelQuery) -> IndexArray:
        """Return the node row of each running pod of the namespace that is counted, intp (pods,).

        Terminating pods are not counted, and a selector of everything counts nothing.
        """
        known = self._known.get(selector)
        if known is None:
            known = self._known[selector] = self._find(selector)
        return known

    def matching_changes(self, selectors: Sequence[LabelQuery], changes: PodChanges) -> list[BoolArray]:
        """Return for each selector the changes of pods of the namespace that match, bool (changes,); no more is asked.

        Running pods are found in the pod table, all at once; the answer for the others is put right afterwards.
        """
        table, rows = self._cluster.pod_table, changes.rows
        elsewhere = np.flatnonzero(rows < 0)
        strangers = list(zip(elsewhere.tolist(), changes.pods[elsewhere], strict=True)) if len(elsewhere) else []
        here = table.namespace[rows] == table.strings.find_code(self._namespace) if len(table) else rows >= 0
        answers = []
        # row -1 of a pod that does not run reads the last running pod's answer, until its own replaces it
        for selector in selectors:
            matching = table.labels.select(selector)[rows] & here if len(table) else here.copy()
            for i, pod in strangers:
                matching[i] = pod.namespace == self._namespace and selector.matches(pod.labels)
            answers.append(matching)
        return answers

    def _find(self, selector: LabelQuery) -> IndexArray:
        if selector.nothing or selector.everything:
            return np.empty(0, np.intp)
        table = self._cluster.pods_selected(selector)
        rows = np.flatnonzero(table.labels.select(selector))
        there = table.namespace[rows] == table.strings.find_code(self._namespace)
        there &= ~table.terminating[rows]
        nodes = table.node[rows]
        there &= nodes >= 0
        counted: IndexArray = nodes[there]
        return counted


@dataclass(frozen=True, slots=True)
class HardSpread:
    """What PreFilter found out for one DoNotSchedule constraint.

    Attributes:
        constraint: the constraint.
        domains: of its topology key.
        counts: int64 (domains,), pods counted in each domain.
        present: bool (domains,), those with a node that takes part.
        eligible: bool (node rows,), the nodes that take part; None for all.
        number: how many domains are present.
        minimum: the least count over the present domains, `NO_DOMAIN` if there are none.
        self_match: 1 if the pod itself would be counted, else 0.
        supposed: int64 (n,), what pods supposed at each position add to its domain; None where nothing is.
    """

    constraint: Constraint
    domains: Domains
    counts: IntArray
    present: BoolArray
    eligible: BoolArray | None
    number: int
    minimum: int
    self_match: int
    supposed: IntArray | None = None

    def at(self, row: int) -> dict[str, int]:
        """The counts of the emptiest domains, at most `MOST_DOMAINS`, as evidence; without supposed pods."""
        present = np.flatnonzero(self.present)
        emptiest = present[np.argsort(self.counts[present], kind="stable")][:MOST_DOMAINS]
        return {str(self.domains.values.values[domain]): int(self.counts[domain]) for domain in emptiest.tolist()}

    def with_pod(self, row: int, sign: int) -> HardSpread:
        """Return the spread with a counted pod that came to a node row (+1), or went (-1)."""
        if self.eligible is not None and not self.eligible[row]:
            return self
        domain = int(self.domains.codes[row])
        counts, before = self.counts.copy(), int(self.counts[domain])
        counts[domain] += sign
        minimum = self.minimum
        if self.present[domain] and (before == minimum or before + sign < minimum):
            minimum = int(counts[self.present].min())
        return replace(self, counts=counts, minimum=minimum)

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
        return 0 if self.lacks_domains else self.minimum

    def floors(self, domains: IndexArray, here: IntArray) -> IntArray:
        """Return the floor of each position, given its domain and the count there with the supposed pods, int64 (n,).

        Only its own domain differs from `counts` at a position: the minimum is that of the others, or the new count.
        """
        if self.lacks_domains:
            return np.zeros_like(here)
        counts = np.where(self.present, self.counts, NO_DOMAIN)
        emptiest = int(counts.argmin())
        counts[emptiest] = NO_DOMAIN  # so that the least of them is now the second least
        elsewhere = np.where(domains == emptiest, int(counts.min()), self.minimum)
        return np.where(self.supposed != 0, np.minimum(elsewhere, here), self.minimum)


@dataclass(frozen=True, slots=True)
class HardState:
    """The DoNotSchedule constraints of a cycle, and the pods counted so far."""

    spreads: tuple[HardSpread, ...]
    counted: MatchingPods

    def with_pod(self, cluster: ClusterView, pod: PodInfo, row: int, sign: int) -> HardState:
        """Return the state with a pod of the namespace that came to a node row (+1), or went (-1)."""
        spreads = tuple(s.with_pod(row, sign) if is_counted(s.constraint.selector, pod) else s for s in self.spreads)
        return HardState(spreads, MatchingPods(cluster, pod.namespace))

    def hypothetical(self, nodes: Nodes, changes: PodChanges) -> HardState:
        """Return the state that fits a supposed column, whose changes these are."""
        selectors = [spread.constraint.selector for spread in self.spreads]
        matching = self.counted.matching_changes(selectors, changes)
        supposed = [_hypothetical_counts(s, nodes, changes, m) for s, m in zip(self.spreads, matching, strict=True)]
        spreads = (replace(s, supposed=each) for s, each in zip(self.spreads, supposed, strict=True))
        return replace(self, spreads=tuple(spreads))


@dataclass(frozen=True, slots=True)
class SoftSpread:
    """What PreScore found out for one ScheduleAnyway constraint.

    Attributes:
        constraint: the constraint.
        domains: of its topology key.
        counts: int64, pods counted: by domain, or by node row where each node is its own domain.
        weight: what each counts for.
        eligible: bool (node rows,), the nodes that take part where it goes by domain; None for all.
        worth: float64, what a node gets for it, by domain or node row.
        by_node: whether `counts` and `worth` are by node row.
    """

    constraint: Constraint
    domains: Domains
    counts: IntArray
    weight: float
    eligible: BoolArray | None
    worth: FloatArray
    by_node: bool

    def with_pod(self, row: int, sign: int) -> SoftSpread:
        """Return the spread with a counted pod that came to a node row (+1), or went (-1)."""
        domain = int(self.domains.codes[row])
        if self.by_node:
            places = [row]
        elif self.eligible is not None and not self.eligible[row]:
            return self
        else:
            blank = self.domains.values.find_code("")  # counts as one domain with nodes without the label, see `_soft`
            places = [domain] if domain or blank < 0 else [domain, blank]
        counts, worth = self.counts.copy(), self.worth.copy()
        for place in places:
            counts[place] += sign
            if domain if self.by_node else place:
                worth[place] = float(counts[place]) * self.weight + float(self.constraint.max_skew - 1)
        # every placement comes here, and `replace` takes as long as all of the above
        return SoftSpread(self.constraint, self.domains, counts, self.weight, self.eligible, worth, self.by_node)

    def among(self, scored: IndexArray) -> SoftSpread:
        """Return the spread over other nodes that are scored, intp: the more domains they are in, the heavier it is."""
        size = _count_domains(self.domains, scored, by_node=self.by_node)
        weight, worth = _weigh(self.constraint, self.domains, self.counts, size, by_node=self.by_node)
        return SoftSpread(self.constraint, self.domains, self.counts, weight, self.eligible, worth, self.by_node)

    @property
    def empty_worth(self) -> FloatArray:
        """What nodes would get if no pod stood on them, float64 (node rows,); only where `worth` is by node row."""
        return np.where(self.domains.codes == 0, 0.0, float(self.constraint.max_skew - 1))


@dataclass(frozen=True, slots=True)
class SoftState:
    """The ScheduleAnyway constraints of a cycle.

    Attributes:
        spreads: one for each constraint.
        ignored: bool (node rows,), nodes that lack one of the keys and are not scored; None where all are.
    """

    spreads: tuple[SoftSpread, ...]
    ignored: BoolArray | None

    def with_pod(self, pod: PodInfo, row: int, sign: int) -> SoftState:
        """Return the state with a pod of the namespace that came to a node row (+1), or went (-1)."""
        spreads = tuple(s.with_pod(row, sign) if is_counted(s.constraint.selector, pod) else s for s in self.spreads)
        return SoftState(spreads, self.ignored)

    def among(self, nodes: Nodes) -> SoftState:
        """Return the state with other nodes feasible."""
        scored = _rows_to_score(nodes, self.ignored)
        return SoftState(tuple(spread.among(scored) for spread in self.spreads), self.ignored)


def hard_state(cluster: ClusterView, pod: PodInfo, constraints: Sequence[Constraint]) -> HardState:
    """Count the pods of each DoNotSchedule constraint over all nodes."""
    counted = MatchingPods(cluster, pod.namespace)
    participants = _Participants(cluster, pod, constraints)
    return HardState(tuple(_hard(cluster, pod, c, counted, participants.of(c)) for c in constraints), counted)


def soft_state(
    nodes: Nodes, pod: PodInfo, constraints: Sequence[Constraint], counted: MatchingPods, *, all_keys: bool
) -> SoftState:
    """Count the pods of each ScheduleAnyway constraint in the domains of the feasible nodes.

    Args:
        nodes: the feasible nodes.
        pod: the pod to be scored.
        constraints: its constraints.
        counted: the pods counted so far.
        all_keys: whether only nodes with all topology keys take part; nodes without a key share a domain otherwise.
    """
    cluster = nodes.cluster
    participants = _Participants(cluster, pod, constraints, all_keys=all_keys)
    ignored = ~participants.complete if all_keys and participants.complete is not None else None
    scored = _rows_to_score(nodes, ignored)
    spreads = tuple(_soft(cluster, c, counted, participants.of(c), scored) for c in constraints)
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
            for key in dict.fromkeys(constraint.topology_key for constraint in constraints):
                self.complete = _intersect(self.complete, cluster.table_of_nodes().labels.domains(key).codes != 0)
            self.complete = _none_if_all(self.complete)

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


def _hard(
    cluster: ClusterView, pod: PodInfo, constraint: Constraint, counted: MatchingPods, eligible: BoolArray | None
) -> HardSpread:
    domains = cluster.table_of_nodes().labels.domains(constraint.topology_key)
    present = np.zeros(len(domains), np.bool_)
    rows = cluster.rows
    present[domains.codes[rows if eligible is None else rows[eligible[rows]]]] = True
    counts = _count(domains, counted.nodes_of(constraint.selector), eligible)
    number = int(np.count_nonzero(present))
    minimum = int(counts[present].min()) if number else NO_DOMAIN
    self_match = int(constraint.selector.matches(pod.labels))
    return HardSpread(constraint, domains, counts, present, eligible, number, minimum, self_match)


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
    cluster: ClusterView, constraint: Constraint, counted: MatchingPods, eligible: BoolArray | None, scored: IndexArray
) -> SoftSpread:
    domains = cluster.table_of_nodes().labels.domains(constraint.topology_key)
    at = counted.nodes_of(constraint.selector)
    by_node = constraint.topology_key == topology.HOSTNAME
    if by_node:
        counts = np.bincount(at, minlength=len(cluster.table_of_nodes()))
    else:
        counts = _count(domains, at, eligible)
        # upstream reads a label that a node does not have as an empty one: the two are one domain
        blank = domains.values.find_code("")
        if blank >= 0:
            counts[blank] += counts[0]
    size = _count_domains(domains, scored, by_node=by_node)
    weight, worth = _weigh(constraint, domains, counts, size, by_node=by_node)
    return SoftSpread(constraint, domains, counts, weight, eligible, worth, by_node)


def _count_domains(domains: Domains, scored: IndexArray, *, by_node: bool) -> int:
    """Return how many domains the nodes that are scored are in."""
    if by_node:
        return len(scored)
    candidates = np.zeros(len(domains), np.bool_)
    candidates[domains.codes[scored]] = True
    blank = domains.values.find_code("")
    if blank >= 0:
        candidates[blank] |= candidates[0]
        candidates[0] = False
    return int(np.count_nonzero(candidates))


def _weigh(
    constraint: Constraint, domains: Domains, counts: IntArray, size: int, *, by_node: bool
) -> tuple[float, FloatArray]:
    """Return what each counted pod counts for where there are so many domains, and what a node gets for them."""
    weight = natural_log(size + 2)  # upstream's topologyNormalizingWeight: the more domains, the heavier
    # upstream's scoreForCount: count * weight + (maxSkew - 1), in this order
    worth = counts.astype(np.float64) * weight + float(constraint.max_skew - 1)
    worth[domains.codes == 0 if by_node else 0] = 0.0
    return weight, worth


def _count(domains: Domains, at: IndexArray, eligible: BoolArray | None) -> IntArray:
    """Return how many of the pods at these node rows count in each domain, int64 (domains,)."""
    if eligible is not None:
        at = at[eligible[at]]
    counts: IntArray = np.bincount(domains.codes[at], minlength=len(domains))
    return counts


def _intersect(one: BoolArray | None, other: BoolArray | None) -> BoolArray | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _none_if_all(mask: BoolArray | None) -> BoolArray | None:
    return None if mask is None or mask.all() else mask

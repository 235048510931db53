"""The inter-pod affinity terms that running pods carry, each distinct one once: pods of one template share theirs.

`TermTable.about` answers which terms are about a pod, with `Carriers`, whose columns go straight into a ``bincount``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from schedctl.api.pods import Affinity
from schedctl.api.selectors import LabelQuery, SelectorError
from schedctl.cache.arrays import IndexArray, IntArray, grow, positions
from schedctl.cache.pod_info import AffinityTerm, PodInfo, WeightedTerm

T = TypeVar("T")


class CarriedTerm(NamedTuple):
    """One term of a running pod.

    Attributes:
        kind: the field of `CarriedTerms` it is in.
        term: the term.
        weight: that of a preferred one; a required term weighs 1.
        labels: those of which a pod must have one for the term to be about it; None stands for "any pod".
    """

    kind: str
    term: AffinityTerm
    weight: int
    labels: Sequence[tuple[str, str] | None]


class CarriedTerms:
    """The affinity terms of a running pod. A list of which one term cannot be parsed counts as empty, as upstream.

    Attributes:
        required, required_anti, preferred, preferred_anti: the terms of each kind.
        each: all of them.
    """

    __slots__ = ("each", "preferred", "preferred_anti", "required", "required_anti")

    def __init__(
        self,
        required: tuple[AffinityTerm, ...] = (),
        required_anti: tuple[AffinityTerm, ...] = (),
        preferred: tuple[WeightedTerm, ...] = (),
        preferred_anti: tuple[WeightedTerm, ...] = (),
    ) -> None:
        self.required = required
        self.required_anti = required_anti
        self.preferred = preferred
        self.preferred_anti = preferred_anti
        weighted = (
            ("required", [(term, 1) for term in required]),
            ("required_anti", [(term, 1) for term in required_anti]),
            ("preferred", preferred),
            ("preferred_anti", preferred_anti),
        )
        self.each = tuple(
            [
                CarriedTerm(kind, term, weight, index_labels(term.selector))
                for kind, of in weighted
                for term, weight in of
            ]
        )


def index_labels(selector: LabelQuery) -> Sequence[tuple[str, str] | None]:
    """Return the labels of which a pod must have one to be selected; None stands for "any pod may be"."""
    # all requirements have to hold, so that one of them is enough to file a selector by
    for requirement in selector.requirements:
        if requirement.operator == "In":
            return [(requirement.key, value) for value in requirement.values]
    return (None,)


NO_TERMS = CarriedTerms()


# By namespace and the id of the affinity; holding the affinity keeps its id from being used again.
_CARRIED: dict[tuple[str, int], tuple[Affinity, CarriedTerms]] = {}
_CARRIED_KEPT = 10_000


def carried_terms(info: PodInfo) -> CarriedTerms:
    """Return the terms a running pod carries; pods of one namespace that share their affinity share these too."""
    affinity = info.pod.spec.affinity
    if affinity is None or (affinity.pod_affinity is None and affinity.pod_anti_affinity is None):
        return NO_TERMS
    key = (info.namespace, id(affinity))
    known = _CARRIED.get(key)
    if known is None:
        if len(_CARRIED) >= _CARRIED_KEPT:
            _CARRIED.clear()
        # a pod remembers its parsed terms, and thousands of running ones would; one that was judged does already
        once = info if info.__dict__ else PodInfo(info.pod)
        known = _CARRIED[key] = (
            affinity,
            CarriedTerms(
                _read_or_nothing(lambda: once.required_affinity),
                _read_or_nothing(lambda: once.required_anti_affinity),
                _read_or_nothing(lambda: once.preferred_affinity),
                _read_or_nothing(lambda: once.preferred_anti_affinity),
            ),
        )
    return known[1]


class Carriers:
    """The running pods that carry one term, counted by node.

    Attributes:
        term: the term.
        pods: how many pods carry it; one that states it twice counts twice.
    """

    __slots__ = ("_counts", "_nodes", "_slot_of", "_weights", "pods", "term")

    def __init__(self, term: AffinityTerm) -> None:
        self.term = term
        self.pods = 0
        self._slot_of: dict[int, int] = {}
        self._nodes: IndexArray = np.zeros(1, np.intp)
        self._counts: IntArray = np.zeros(1, np.int64)
        self._weights: IntArray = np.zeros(1, np.int64)

    @property
    def nodes(self) -> IndexArray:
        """Node rows, each once, intp (m,)."""
        return self._nodes[: len(self._slot_of)]

    @property
    def counts(self) -> IntArray:
        """How many pods carry the term on each of `nodes`, int64 (m,)."""
        return self._counts[: len(self._slot_of)]

    @property
    def weights(self) -> IntArray:
        """The sum of their weights, int64 (m,); a required term weighs 1."""
        return self._weights[: len(self._slot_of)]

    def count(self, node_row: int, weight: int, sign: int) -> None:
        """Count a pod in (``+1``) or out (``-1``)."""
        slot = self._slot_of.get(node_row)
        if slot is None:
            slot = self._slot_of[node_row] = len(self._slot_of)
            if slot >= len(self._nodes):
                self._make_room(slot + 1)
            self._nodes[slot] = node_row
        self.pods += sign
        self._counts[slot] += sign
        self._weights[slot] += sign * weight
        if not self._counts[slot]:
            self._vacate(slot)

    def count_all(self, node_rows: IndexArray, weight: int, sign: int) -> None:
        """Count pods in (``+1``) or out (``-1``), one on each of these nodes, of which some may come several times."""
        nodes, many = np.unique(node_rows, return_counts=True)
        slot_of = self._slot_of
        for node_row in nodes.tolist():
            slot_of.setdefault(node_row, len(slot_of))
        self._make_room(len(slot_of))
        slots = np.fromiter(map(slot_of.__getitem__, nodes.tolist()), np.intp, len(nodes))
        self.pods += sign * len(node_rows)
        self._nodes[slots] = nodes
        self._counts[slots] += sign * many
        self._weights[slots] += sign * many * weight
        if sign < 0:
            for node_row in nodes[self._counts[slots] == 0].tolist():
                self._vacate(slot_of[node_row])

    def _make_room(self, slots: int) -> None:
        self._nodes = grow(self._nodes, slots)
        self._counts = grow(self._counts, slots)
        self._weights = grow(self._weights, slots)

    def _vacate(self, slot: int) -> None:
        """Give up the slot of a node that no carrier is left on, for the node may go; the last slot moves there."""
        last = len(self._slot_of) - 1
        del self._slot_of[int(self._nodes[slot])]
        if slot != last:
            for column in (self._nodes, self._counts, self._weights):
                column[slot] = column[last]
            self._slot_of[int(self._nodes[slot])] = slot
        self._counts[last] = self._weights[last] = 0


class TermTable:
    """The distinct terms of one kind, with their carriers. Its length is the number of terms some pod carries."""

    __slots__ = ("_carriers", "_filed")

    def __init__(self) -> None:
        self._carriers: dict[AffinityTerm, Carriers] = {}
        # a term that demands one of certain label values is filed under them: most are never looked at
        self._filed: dict[tuple[str, str] | None, dict[AffinityTerm, Carriers]] = {}

    def __len__(self) -> int:
        return len(self._carriers)

    def count(self, carried: CarriedTerm, node_row: int, sign: int) -> None:
        """Count a pod that carries a term in (``+1``) or out (``-1``)."""
        carriers = self._of(carried)
        carriers.count(node_row, carried.weight, sign)
        if not carriers.pods:
            self._remove(carried)

    def count_all(self, carried: CarriedTerm, node_rows: IndexArray, sign: int) -> None:
        """Count pods that carry a term in (``+1``) or out (``-1``), one on each of these nodes."""
        carriers = self._of(carried)
        carriers.count_all(node_rows, carried.weight, sign)
        if not carriers.pods:
            self._remove(carried)

    def about(self, labels: Mapping[str, str], concerned: Callable[[AffinityTerm], bool]) -> list[Carriers]:
        """Return the carriers of the terms that are about a pod.

        Args:
            labels: of the pod.
            concerned: whether a term, which may be about a pod with these labels, is about it.
        """
        if not self._carriers:
            return []
        return [
            carriers
            for label in (None, *labels.items())
            for term, carriers in self._filed.get(label, _NOTHING_FILED).items()
            if concerned(term)
        ]

    def _of(self, carried: CarriedTerm) -> Carriers:
        """Return the carriers of a term, filing it if it is new."""
        term = carried.term
        carriers = self._carriers.get(term)
        if carriers is None:
            carriers = self._carriers[term] = Carriers(term)
            for label in carried.labels:
                self._filed.setdefault(label, {})[term] = carriers
        return carriers

    def _remove(self, carried: CarriedTerm) -> None:
        del self._carriers[carried.term]
        for label in carried.labels:
            del self._filed[label][carried.term]


class AffinityTerms:
    """What running pods want of each other: one table for each kind of term. Its length is that of all of them.

    Attributes:
        required, required_anti: terms that had to hold, or not to be met, when the pod was placed.
        preferred, preferred_anti: the weighted terms.
    """

    __slots__ = ("preferred", "preferred_anti", "required", "required_anti")

    def __init__(self) -> None:
        self.required = TermTable()
        self.required_anti = TermTable()
        self.preferred = TermTable()
        self.preferred_anti = TermTable()

    def __len__(self) -> int:
        return len(self.required) + len(self.required_anti) + len(self.preferred) + len(self.preferred_anti)

    def of(self, kind: str) -> TermTable:
        """Return the table of one kind of terms."""
        table: TermTable = getattr(self, kind)
        return table

    def count(self, terms: CarriedTerms, node_row: int, sign: int) -> None:
        """Count the terms of a pod on a node in (``+1``) or out (``-1``)."""
        for carried in terms.each:
            self.of(carried.kind).count(carried, node_row, sign)

    def count_all(self, first: Sequence[PodInfo], of: IndexArray, node_rows: IndexArray, sign: int = 1) -> None:
        """Count the terms of many pods in (``+1``) or out (``-1``) at once.

        Args:
            first: a pod of each group of equal pods.
            of: the group of each pod.
            node_rows: the node of each pod.
            sign: in or out.
        """
        # groups that differ in other things may still carry the same terms
        terms = [*map(carried_terms, first)]
        distinct = {id(carried): carried for carried in terms}
        code_of = {each: code for code, each in enumerate(distinct)}
        codes = np.array([code_of[id(carried)] for carried in terms], np.intp)
        for carried, at in zip(distinct.values(), positions(codes[of], len(distinct)), strict=True):
            rows = node_rows[at]
            for each in carried.each:
                self.of(each.kind).count_all(each, rows, sign)


_NOTHING_FILED: dict[AffinityTerm, Carriers] = {}


def _read_or_nothing(read: Callable[[], tuple[T, ...]]) -> tuple[T, ...]:
    try:
        return read()
    except SelectorError:
        return ()

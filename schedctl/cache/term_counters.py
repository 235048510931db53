"""`TermCounter`: what the affinity terms of running pods say about one pod, summed by domain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from typing_extensions import override

from schedctl.api.meta import Namespace
from schedctl.cache.arrays import NO_ROWS, BoolArray, IndexArray, IntArray
from schedctl.cache.counting import Aspect, CountedCluster, Counter, Registry
from schedctl.cache.domain_sums import DomainSums, Part
from schedctl.cache.pod_info import AffinityTerm
from schedctl.cache.reads import Tracked


class TermCounter(Counter, Tracked):
    """What the terms of one kind that running pods carry say about a pod, summed by domain.

    Attributes:
        kind: a field of `CarriedTerms`; a required term weighs 1.
        labels, namespace: of the pod.
        reads_namespace: whether the labels of its namespace have been looked up.
    """

    __slots__ = ("_empty_since", "_is_empty", "_sums", "kind", "labels", "namespace", "reads_namespace")

    def __init__(
        self, cluster: CountedCluster, registry: Registry, kind: str, labels: Mapping[str, str], namespace: str
    ) -> None:
        super().__init__(cluster, registry)
        self.kind = kind
        self.labels = labels
        self.namespace = namespace
        self._sums: dict[str, DomainSums] = {}
        self._is_empty = True
        self._empty_since = 0
        self.reads_namespace = False

    @property
    def keys(self) -> Iterable[str]:
        """The topology keys of the terms about the pod."""
        self.refresh()
        self._cluster.reads.add_tracked(self)
        return self._sums

    @property
    def is_empty(self) -> bool:
        """Whether no such term is carried on a node that has the term's topology key."""
        self.refresh()
        self._cluster.reads.add_tracked(_TermEmptiness(self))
        return self._is_empty

    def at(self, key: str, domains: IndexArray) -> IntArray:
        """Return the sum of the weights in some domains of a key, int64 (n,)."""
        return self._sums[key].tally.at(domains)

    def positive_at(self, key: str, domains: IndexArray) -> BoolArray:
        """Return in which of some domains of a key there is such a term, bool (n,)."""
        return self._sums[key].tally.positive_at(domains)

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        self.refresh()
        found = [sums.rows_in_domains_of(sums.journal.since(since)) for sums in self._sums.values()]
        rows = [each for each in found if each is not None]
        return None if len(rows) < len(found) else np.concatenate(rows) if rows else NO_ROWS

    def count(self, term: AffinityTerm, weight: int, row: int, sign: int) -> None:
        """Count a term that came with a pod (``+1``), or went (``-1``), if it is about this one."""
        if self.is_stale or not self._concerns(term):
            return
        sums = self._sums.get(term.topology_key)
        if sums is None:
            sums = self._sums[term.topology_key] = DomainSums(self._cluster, term.topology_key, None)
        sums.add(row, sign * weight, sign)
        self._note_emptiness()

    @override
    def recount(self) -> None:
        found: dict[str, list[Part]] = {key: [] for key in self._sums}
        table = getattr(self._cluster._affinity_terms, self.kind)
        for each in table.about(self.labels, self._concerns):
            found.setdefault(each.term.topology_key, []).append((each.nodes, each.weights, each.counts))
        for key, parts in found.items():
            if key in self._sums:
                self._sums[key].refill(parts)
            else:
                self._sums[key] = DomainSums(self._cluster, key, None, parts)
        self._note_emptiness()

    def _note_emptiness(self) -> None:
        empty = not any(sums.pairs for sums in self._sums.values())
        if empty != self._is_empty:
            self._is_empty, self._empty_since = empty, self._cluster._generation

    def _concerns(self, term: AffinityTerm) -> bool:
        return term.concerns(self.namespace, self.labels, self._labels_of_namespace)

    def _labels_of_namespace(self) -> Mapping[str, str] | None:
        self.reads_namespace = True
        namespace = self._cluster._objects.get(Namespace, {}).get(self.namespace)
        return namespace.metadata.labels if isinstance(namespace, Namespace) else None


class _TermEmptiness(Aspect[TermCounter]):
    """Whether a counter of terms has counted any."""

    __slots__ = ()

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        self._of.refresh()
        return None if self._of._empty_since > since else NO_ROWS

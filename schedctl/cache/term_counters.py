"""`TermCounter`: what the affinity terms of running pods say about one pod, summed by domain."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np
from typing_extensions import override

from schedctl.api.meta import Namespace
from schedctl.cache.arrays import NO_ROWS, IndexArray
from schedctl.cache.counting import Aspect, CountedCluster, Counter, Registry
from schedctl.cache.domain_sums import DomainSums, Part
from schedctl.cache.pod_info import AffinityTerm
from schedctl.cache.reads import Tracked
from schedctl.cache.tallies import Tally


class TermsAboutPod(Counter):
    """What the terms that running pods carry say about pods with some labels; each kind is counted once it is read.

    Attributes:
        labels, namespace: of the pods.
        reads_namespace: whether the labels of its namespace have been looked up.
    """

    __slots__ = ("_kinds", "labels", "namespace", "reads_namespace")

    def __init__(self, cluster: CountedCluster, registry: Registry, labels: Mapping[str, str], namespace: str) -> None:
        super().__init__(cluster, registry)
        self._kinds: dict[str, _Sums] = {}
        self.labels = labels
        self.namespace = namespace
        self.reads_namespace = False

    def count(self, kind: str, term: AffinityTerm, weight: int, row: int, sign: int) -> None:
        """Count a term that came with a pod (``+1``), or went (``-1``), if it is about this one."""
        found = self._kinds.get(kind)
        if found is None or self.is_stale or not self._concerns(term):
            return
        generation = self._cluster._generation
        sums = found.by_key.get(term.topology_key)
        if sums is None:
            sums = found.by_key[term.topology_key] = DomainSums(self._cluster, term.topology_key, None)
        sums.add(row, sign * weight, sign)
        if sums.empty_since == generation:
            found.note_emptiness(generation)

    def of(self, kind: str) -> _Sums:
        """Return the sums of one kind of terms, which are current after `refresh`."""
        found = self._kinds.get(kind)
        if found is None:
            found = self._kinds[kind] = _Sums()
            if not self.is_stale:
                self._recount(kind, found)
        return found

    @override
    def recount(self) -> None:
        for kind, sums in self._kinds.items():
            self._recount(kind, sums)

    def _recount(self, kind: str, found: _Sums) -> None:
        table = self._cluster._affinity_terms.of(kind)
        if not (len(table) or found.by_key):
            return
        parts: dict[str, list[Part]] = {key: [] for key in found.by_key}
        for each in table.about(self.labels, self._concerns):
            parts.setdefault(each.term.topology_key, []).append((each.nodes, each.weights, each.counts))
        for key, of_key in parts.items():
            if key in found.by_key:
                found.by_key[key].refill(of_key)
            else:
                found.by_key[key] = DomainSums(self._cluster, key, None, of_key)
        found.note_emptiness(self._cluster._generation)

    def _concerns(self, term: AffinityTerm) -> bool:
        return term.concerns(self.namespace, self.labels, self._labels_of_namespace)

    def _labels_of_namespace(self) -> Mapping[str, str] | None:
        self.reads_namespace = True
        namespace = self._cluster._objects.get(Namespace, {}).get(self.namespace)
        return namespace.metadata.labels if isinstance(namespace, Namespace) else None


class _Sums:
    """The terms of one kind about a pod.

    Attributes:
        by_key: their sums by topology key.
        is_empty: whether there are none in any domain.
        empty_since: the generation at which there last came to be any, or none.
    """

    __slots__ = ("by_key", "empty_since", "is_empty")

    def __init__(self) -> None:
        self.by_key: dict[str, DomainSums] = {}
        self.is_empty = True
        self.empty_since = 0

    def note_emptiness(self, generation: int) -> None:
        """See whether there are any, after a change."""
        empty = True
        for sums in self.by_key.values():
            if sums.pairs:
                empty = False
        if empty != self.is_empty:
            self.is_empty, self.empty_since = empty, generation


class TermCounter(Tracked):
    """What the terms of some kinds that running pods carry say about a pod, summed by domain."""

    __slots__ = ("_about", "_kinds", "_sums")

    def __init__(self, about: TermsAboutPod, kinds: tuple[str, ...]) -> None:
        self._about = about
        self._kinds = kinds
        about.refresh()
        self._sums = [(kind, about.of(kind)) for kind in kinds]

    @property
    @override
    def name(self) -> Hashable:
        return self._about, self._kinds

    @property
    def sums(self) -> list[tuple[str, str, Tally]]:
        """Each kind and topology key of the terms about the pod, and the sum of their weights in each domain, live."""
        self._about.refresh()
        self._about._cluster.reads.add_tracked(self)
        return [(kind, key, each.tally) for kind, of in self._sums if of.by_key for key, each in of.by_key.items()]

    def on(self, row: int) -> list[tuple[str, int]]:
        """Return each kind of the terms about the pod, and the sum of their weights in a domain of a node row."""
        self._about.refresh()
        self._about._cluster.reads.add_tracked(self)
        return [(kind, each.on(row)) for kind, of in self._sums if of.by_key for each in of.by_key.values()]

    @property
    def is_empty(self) -> bool:
        """Whether no such term is carried on a node that has the term's topology key."""
        self._about.refresh()
        self._about._cluster.reads.add_tracked(_TermEmptiness(self))
        empty = [sums.is_empty for _, sums in self._sums]
        return all(empty)

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        self._about.refresh()
        found: list[IndexArray] = []
        for _, of in self._sums:
            for sums in of.by_key.values():
                rows = sums.rows_in_domains_of(sums.journal.since(since))
                if rows is None:
                    return None
                if len(rows):
                    found.append(rows)
        return found[0] if len(found) == 1 else np.concatenate(found) if found else NO_ROWS


class _TermEmptiness(Aspect[TermCounter]):
    """Whether a counter of terms has counted any."""

    __slots__ = ()

    @property
    @override
    def name(self) -> Hashable:
        return _TermEmptiness, self._of.name

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        self._of._about.refresh()
        for _, sums in self._of._sums:
            if sums.empty_since > since:
                return None
        return NO_ROWS

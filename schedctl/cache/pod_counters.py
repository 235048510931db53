"""`PodCounter`: running pods by node row, and by topology domain, kept current with every placement.

The count, the minimum, "is there any" and "where are any" are read apart, and each knows since when it is another.
"""

from __future__ import annotations

from weakref import WeakValueDictionary

import numpy as np
from typing_extensions import override

from schedctl.api.nodes import Node
from schedctl.cache.arrays import NO_ROWS, BoolArray, IndexArray, IntArray
from schedctl.cache.counting import Aspect, CountedCluster, Counter, Registry
from schedctl.cache.domain_sums import DomainSums, Part
from schedctl.cache.labels import Domains
from schedctl.cache.pod_queries import PodQuery
from schedctl.cache.reads import Journal, Tracked

NO_MINIMUM = 2**31 - 1
"""The minimum over no domains, which upstream has as MaxInt32."""
_FEW = 128
"""Up to how many nodes with such pods are kept in mind."""


class PodCounter(Counter, Tracked):
    """The running pods that a query selects, by node row; as something that is read, how many are on each node."""

    __slots__ = ("_by_row", "_domains", "_journal", "_occupied", "query")

    def __init__(self, cluster: CountedCluster, registry: Registry, query: PodQuery) -> None:
        super().__init__(cluster, registry)
        self.query = query
        self._by_row: IntArray = np.zeros(0, np.int64)
        self._occupied: set[int] | None = set()  # None where they are many
        # those that nobody reads any more are not counted on
        self._domains: WeakValueDictionary[tuple[str, bytes | None], DomainCounter] = WeakValueDictionary()
        self._journal = Journal(cluster._generation)

    def by_domain(self, key: str, eligible: BoolArray | None = None) -> DomainCounter:
        """Return the pods by domain of a topology key, on the nodes that take part (bool by node row, None for all)."""
        self.refresh()
        name = key, None if eligible is None else eligible.tobytes()
        found = self._domains.get(name)
        if found is None:
            found = self._domains[name] = DomainCounter(self._cluster, self, key, eligible)
        return found

    @property
    def by_row(self) -> IntArray:
        """How many pods are on each node, int64 (node rows,); it is live: read it, copy what you keep."""
        self.refresh()
        self._cluster.reads.add_tracked(self)
        return self._by_row

    @property
    def occupied(self) -> IndexArray:
        """The nodes that have such pods, intp, in any order."""
        self.refresh()
        self._cluster.reads.add_tracked(self)
        return self._occupied_rows()

    def _occupied_rows(self) -> IndexArray:
        few = self._occupied
        return np.flatnonzero(self._by_row) if few is None else np.fromiter(few, np.intp, len(few))

    def part(self) -> Part:
        """Return the nodes that have such pods, and how many."""
        rows = self._occupied_rows()
        pods = self._by_row[rows]
        return rows, pods, pods

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        self.refresh()
        moved = self._journal.since(since)
        return None if moved is None else np.array(sorted(moved), np.intp)

    def count(self, row: int, sign: int) -> None:
        """Count a pod in (``+1``) or out (``-1``)."""
        if self.is_stale:
            return
        self._by_row[row] = now = self._by_row.item(row) + sign
        if self._occupied is not None:
            (self._occupied.add if now else self._occupied.discard)(row)
            if len(self._occupied) > _FEW:
                self._occupied = None
        self._journal.note(self._cluster._generation, row)
        for each in self._domains.valuerefs():
            if (by_domain := each()) is not None:
                by_domain.add(row, sign)

    @override
    def recount(self) -> None:
        self._by_row = np.zeros(len(self._cluster._node_table), np.int64)
        nodes = self.query.nodes(self._cluster._pod_table)
        np.add.at(self._by_row, nodes, 1)
        self._occupied = set(nodes.tolist()) if len(nodes) <= _FEW else None
        self._journal.begin(self._cluster._generation)
        for by_domain in self._domains.values():
            by_domain.refill()


class DomainCounter(Tracked):
    """The pods of a `PodCounter` by domain of a topology key, on the nodes that take part."""

    __slots__ = ("__weakref__", "_cluster", "_counter", "_sums")

    def __init__(self, cluster: CountedCluster, counter: PodCounter, key: str, eligible: BoolArray | None) -> None:
        self._cluster = cluster
        self._counter = counter
        self._sums = DomainSums(cluster, key, eligible, (counter.part(),))

    @property
    def key(self) -> str:
        """The topology key."""
        return self._sums.key

    @property
    def pods(self) -> PodCounter:
        """The pods that are counted, by node row."""
        return self._counter

    @property
    def eligible(self) -> BoolArray | None:
        """The nodes that take part, bool (node rows,), None for all."""
        return self._sums.eligible

    @property
    def present(self) -> BoolArray:
        """The domains with a node that takes part, bool (domains,)."""
        self._counter.refresh()
        self._cluster.reads.versions[Node] = self._cluster._versions.get(Node, 0)
        return self._sums.present

    @property
    def domains(self) -> Domains:
        """All domains of the topology key."""
        return self._sums.domains

    @property
    def sums(self) -> IntArray:
        """How many pods are in each domain, int64 (domains,); it is live: read it, copy what you keep."""
        self._counter.refresh()
        self._cluster.reads.add_tracked(self)
        return self._sums.sums

    @property
    def minimum(self) -> int:
        """The least count of the domains that are present, `NO_MINIMUM` where there are none."""
        self._counter.refresh()
        self._cluster.reads.add_tracked(_Minimum(self))
        sums = self._sums
        if sums.minimum is None:
            sums.minimum = int(sums.sums[sums.present].min(initial=NO_MINIMUM))
        return sums.minimum

    @property
    def pairs(self) -> int:
        """How many pods are counted in a domain."""
        self._counter.refresh()
        self._cluster.reads.add_tracked(self)
        return self._sums.pairs

    @property
    def is_empty(self) -> bool:
        """Whether no pod is counted in any domain."""
        self._counter.refresh()
        self._cluster.reads.add_tracked(_Emptiness(self))
        return not self._sums.pairs

    def positive_at(self, domains: IndexArray) -> BoolArray:
        """Return in which of some domains there are pods, bool (n,)."""
        self._counter.refresh()
        self._cluster.reads.add_tracked(_Presence(self))
        return self._sums.positive_at(domains)

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        self._counter.refresh()
        return self._sums.rows_in_domains_of(self._sums.journal.since(since))

    def add(self, row: int, sign: int) -> None:
        """Count a pod in (``+1``) or out (``-1``)."""
        self._sums.add(row, sign, sign)

    def refill(self) -> None:
        """Count anew, as the counter has."""
        self._sums.refill((self._counter.part(),))


class _Minimum(Aspect[DomainCounter]):
    """The least count, which concerns all rows."""

    __slots__ = ()

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        self._of._counter.refresh()
        return None if self._of._sums.minimum_since > since else NO_ROWS


class _Presence(Aspect[DomainCounter]):
    """In which domains there are any."""

    __slots__ = ()

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        self._of._counter.refresh()
        return self._of._sums.rows_in_domains_of(self._of._sums.presence.since(since))


class _Emptiness(Aspect[DomainCounter]):
    """Whether there are any at all, which concerns all rows."""

    __slots__ = ()

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        self._of._counter.refresh()
        return None if self._of._sums.empty_since > since else NO_ROWS

"""`PodCounter`: running pods by node row, and by topology domain, kept current with every placement.

The count, the minimum, "is there any" and "where are any" are read apart, and each knows since when it is another.
"""

from __future__ import annotations

from weakref import ref

import numpy as np
from typing_extensions import override

from schedctl.api.nodes import Node
from schedctl.cache.arrays import NO_ROWS, BoolArray, IndexArray, IntArray
from schedctl.cache.counting import Aspect, CountedCluster, Counter, Registry
from schedctl.cache.domain_sums import DomainSums, Part
from schedctl.cache.labels import Domains
from schedctl.cache.pod_queries import PodQuery
from schedctl.cache.reads import Journal, Tracked
from schedctl.cache.tallies import Tally

NO_MINIMUM = 2**31 - 1
"""The minimum over no domains, which upstream has as MaxInt32."""


class PodCounter(Counter, Tracked):
    """The running pods that a query selects, by node row; as something that is read, how many are on each node."""

    __slots__ = ("_domains", "_journal", "_tally", "query")

    def __init__(self, cluster: CountedCluster, registry: Registry, query: PodQuery) -> None:
        super().__init__(cluster, registry)
        self.query = query
        self._tally = Tally(0)
        # those that nobody reads any more are not counted on
        self._domains: dict[tuple[str, bytes | None], ref[DomainCounter]] = {}
        self._journal = Journal(cluster._generation)

    def by_domain(self, key: str, eligible: BoolArray | None = None) -> DomainCounter:
        """Return the pods by domain of a topology key, on the nodes that take part (bool by node row, None for all)."""
        self.refresh()
        name = key, None if eligible is None else eligible.tobytes()
        known = self._domains.get(name)
        found = None if known is None else known()
        if found is None:
            found = DomainCounter(self._cluster, self, key, eligible)
            self._domains = {name: each for name, each in self._domains.items() if each() is not None}
            self._domains[name] = ref(found)
        return found

    @property
    def by_row(self) -> IntArray:
        """How many pods are on each node, int64 (node rows,); it may be live: read it, copy what you keep."""
        return self.tally.array

    @property
    def tally(self) -> Tally:
        """How many pods are on each node, by node row, live."""
        self.refresh()
        self._cluster.reads.add_tracked(self)
        return self._tally

    def part(self) -> Part:
        """Return the nodes that have such pods, and how many."""
        rows, pods = self._tally.some
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
        self._tally.add(row, sign)
        self._journal.note(self._cluster._generation, row)
        for each in self._domains.values():
            by_domain = each()
            if by_domain is not None:
                by_domain._sums.add(row, sign, sign)

    @override
    def recount(self) -> None:
        self._tally = Tally(len(self._cluster._node_table))
        self._tally.add_all(self.query.nodes(self._cluster._pod_table), 1)
        self._journal.begin(self._cluster._generation)
        for each in self._domains.values():
            by_domain = each()
            if by_domain is not None:
                by_domain._sums.refill((self.part(),))


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
        """How many pods are in each domain, int64 (domains,); it may be live: read it, copy what you keep."""
        self._counter.refresh()
        self._cluster.reads.add_tracked(self)
        return self._sums.tally.array

    def on(self, row: int) -> int:
        """Return how many pods are in the domain of a node row."""
        self._counter.refresh()
        self._cluster.reads.add_tracked(self)
        return self._sums.on(row)

    def at(self, domains: IndexArray) -> IntArray:
        """Return how many pods are in some domains, int64 (n,), owned by the caller."""
        self._counter.refresh()
        self._cluster.reads.add_tracked(self)
        return self._sums.tally.at(domains)

    @property
    def minimum(self) -> int:
        """The least count of the domains that are present, `NO_MINIMUM` where there are none."""
        self._counter.refresh()
        self._cluster.reads.add_tracked(_Minimum(self))
        sums = self._sums
        if sums.minimum is None:
            sums.minimum = int(sums.tally.array[sums.present].min(initial=NO_MINIMUM))
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

    def is_positive_on(self, row: int) -> bool:
        """Return whether there are pods in the domain of a node row."""
        self._counter.refresh()
        self._cluster.reads.add_tracked(_Presence(self))
        return self._sums.on(row) > 0

    def positive_at(self, domains: IndexArray) -> BoolArray:
        """Return in which of some domains there are pods, bool (n,)."""
        self._counter.refresh()
        self._cluster.reads.add_tracked(_Presence(self))
        return self._sums.tally.positive_at(domains)

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        self._counter.refresh()
        return self._sums.rows_in_domains_of(self._sums.journal.since(since))


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

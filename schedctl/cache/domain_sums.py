"""`DomainSums`: what is counted by node row, summed by domain of a topology key and kept current."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from schedctl.cache.arrays import NO_ROWS, BoolArray, IndexArray, IntArray, grow
from schedctl.cache.counting import CountedCluster
from schedctl.cache.reads import Journal
from schedctl.cache.tallies import Tally

NO_DOMAIN = 0
"""The domain of nodes without the label, in which nothing is counted."""
Part = tuple[IndexArray, IntArray, IntArray]
"""Node rows, each once, what to add at each, and how many pods that is."""


class DomainSums:
    """Sums by domain of a topology key, over the nodes that take part.

    Attributes:
        eligible: bool (node rows,), the nodes that take part; None for all.
        tally: the sum of each domain.
        pairs: how many pods, or terms, were counted in a domain.
        journal: the node rows whose domain's sum changed.
        presence: those whose domain's sum became positive, or no longer is.
        minimum: the least sum of the domains that are present, None while nobody has asked.
        minimum_since: the generation at which it last changed.
        empty_since: the generation at which there last came to be any, or none.
    """

    __slots__ = (
        "_cluster",
        "_present",
        "domains",
        "eligible",
        "empty_since",
        "journal",
        "key",
        "minimum",
        "minimum_since",
        "pairs",
        "presence",
        "tally",
    )

    def __init__(
        self, cluster: CountedCluster, key: str, eligible: BoolArray | None, parts: Iterable[Part] = ()
    ) -> None:
        self._cluster = cluster
        self.key = key
        self.eligible = eligible
        self.refill(parts)

    def refill(self, parts: Iterable[Part]) -> None:
        """Count anew."""
        if self.eligible is not None and len(self.eligible) < len(self._cluster._node_table):
            # nodes that came since do not take part: who asked for this will ask for another
            self.eligible = grow(self.eligible, len(self._cluster._node_table))
        domains = self.domains = self._cluster._node_table.labels.domains(self.key)
        self.tally = Tally(len(domains))
        self.pairs = 0
        for rows, amounts, pods in parts:
            if not len(rows):
                continue
            if self.eligible is not None:
                taking_part = self.eligible[rows]
                rows, amounts, pods = rows[taking_part], amounts[taking_part], pods[taking_part]
            at = domains.codes[rows]
            placed = at != NO_DOMAIN
            self.tally.add_all(at[placed], amounts[placed])
            self.pairs += int(pods[placed].sum())
        self._present: BoolArray | None = None
        self.minimum: int | None = None
        self.minimum_since = self.empty_since = self._cluster._generation
        self.journal = Journal(self.minimum_since)
        self.presence = Journal(self.minimum_since)

    @property
    def present(self) -> BoolArray:
        """The domains with a node that takes part, bool (domains,)."""
        if self._present is None:
            rows, codes = self._cluster.rows, self.domains.codes
            if self.eligible is None and len(rows) == len(codes):
                self._present = self.domains.with_rows
            else:
                self._present = np.zeros(len(self.domains), np.bool_)
                self._present[codes[rows if self.eligible is None else rows[self.eligible[rows]]]] = True
        return self._present

    def add(self, row: int, amount: int, pods: int) -> None:
        """Count pods that came to a node, or went from there."""
        domain = self.domains.of(row)
        if domain == NO_DOMAIN or (self.eligible is not None and not self.eligible[row]):
            return
        generation = self._cluster._generation
        now = self.tally.add(domain, amount)
        before = now - amount
        if not self.pairs or not self.pairs + pods:
            self.empty_since = generation
        self.pairs += pods
        self.journal.note(generation, row)
        if (before > 0) != (now > 0):
            self.presence.note(generation, row)
        minimum = self.minimum
        if minimum is not None and (before == minimum or now < minimum) and self.present.item(domain):
            least = int(np.minimum.reduce(self.tally.array[self.present]))
            if least != minimum:
                self.minimum, self.minimum_since = least, generation

    def on(self, row: int) -> int:
        """Return the sum of the domain of a node row, which is 0 where it has none."""
        return self.tally.item(self.domains.of(row))

    def rows_in_domains_of(self, moved: set[int] | None) -> IndexArray | None:
        """Return the rows of all nodes in the domains of some node rows, intp; None for any."""
        if not moved:
            return None if moved is None else NO_ROWS
        domains = self.domains
        if domains.are_single_rows:
            return np.fromiter(moved, np.intp, len(moved))
        if len(moved) == 1:  # as nearly always
            (row,) = moved
            return np.array([row], np.intp) if domains.alone(row) else domains.members(domains.of(row))
        alone = [row for row in moved if domains.alone(row)]
        if len(alone) == len(moved):
            return np.array(alone, np.intp)
        shared = [domains.members(each) for each in {domains.of(row) for row in moved.difference(alone)}]
        if len(shared) == 1 and not alone:
            return shared[0]
        return np.concatenate((np.array(alone, np.intp), *shared))

"""Which nodes storage can be reached from: label conditions on nodes, judged once each and over all nodes.

Volumes carry a node affinity, capacities a topology selector, classes allowed topologies: all come down to alternatives
of label queries, of which a thousand volumes rarely have more than a few distinct ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from schedctl.api import node_selectors, nodes, pods, selectors
from schedctl.cache.arrays import BoolArray, IndexArray, IntArray, Interner
from schedctl.cache.labels import LabelColumns
from schedctl.cache.nodes import ClusterView

Terms = tuple[selectors.LabelQuery, ...] | None
"""Alternatives of which a node's labels must meet one; None stands for no condition, () for one nothing meets."""

NOTHING = np.iinfo(np.int64).max
"""The rank of nothing: behind all others."""


def affinity_terms(required: pods.NodeSelector | None) -> Terms:
    """Return the condition of a volume's node affinity.

    It is read as ``CheckNodeAffinity`` reads it: terms that cannot be parsed match no node, and field selectors are
    parsed but match every node, since only labels are looked at.
    """
    if required is None:
        return None
    return tuple(term.labels for term in node_selectors.compile_node_selector(required).terms)


def select_nodes(labels: LabelColumns, terms: Terms) -> BoolArray:
    """Return which nodes meet a condition, bool (rows,); owned by the caller."""
    if terms is None:
        return np.ones(len(labels.maps), np.bool_)
    mask = np.zeros(len(labels.maps), np.bool_)
    for query in terms:
        mask |= labels.select(query)
    return mask


class TermsIndex:
    """The distinct conditions of a collection, by code.

    Attributes:
        terms: the conditions.
    """

    def __init__(self, cluster: ClusterView, terms: Iterable[Terms] = ()) -> None:
        self.terms: Interner[Terms] = Interner()
        self.terms.code(None)  # no condition is always code 0
        for each in terms:
            self.terms.code(each)
        self._cluster = cluster
        self._known_at = (-1, -1)
        self._codes: IndexArray = np.empty(0, np.intp)
        self._rows: IndexArray = np.empty(0, np.intp)

    def first(self, ranks: IntArray, excluded: Sequence[IntArray] = ()) -> IntArray:
        """Return the least rank each node can reach, int64 (rows,), `NOTHING` where it reaches none.

        Args:
            ranks: int64 (conditions,), the rank of what has each condition, `NOTHING` where nothing has.
            excluded: int64 (rows,) each: ranks that do not count for a node.
        """
        self._refresh()
        anywhere = ranks[0]  # what every node reaches
        best = np.full(len(self._cluster.node_table), anywhere, np.int64)
        for other in excluded:
            best[other == anywhere] = NOTHING
        if len(self._rows):
            offered = ranks[self._codes]
            for other in excluded:
                offered[offered == other[self._rows]] = NOTHING
            np.minimum.at(best, self._rows, offered)
        return best

    def _refresh(self) -> None:
        """List the nodes of each condition, unless that is known."""
        version = (self._cluster.version(nodes.Node), len(self.terms))
        if version == self._known_at:
            return
        labels = self._cluster.node_table.labels
        rows = [np.flatnonzero(select_nodes(labels, terms)) for terms in self.terms.values[1:]]
        self._codes = np.repeat(np.arange(1, len(self.terms)), [len(each) for each in rows])
        self._rows = np.concatenate(rows) if rows else np.empty(0, np.intp)
        self._known_at = version

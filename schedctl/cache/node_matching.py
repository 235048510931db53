"""Node selectors asked of all rows of the node table at once.

`schedctl.api.node_selectors` says what a selector means for one node; this is the same for the whole table, by label
columns. NodeAffinity, PodTopologySpread and whoever else looks for "the nodes this pod may use" share it.
"""

from __future__ import annotations

import numpy as np

from schedctl.api.node_selectors import NAME_FIELD, NodeQuery, NodeTerm, RequiredNodeAffinity
from schedctl.cache.arrays import BoolArray
from schedctl.cache.node_table import NodeTable


def nodes_meeting(table: NodeTable, required: RequiredNodeAffinity) -> BoolArray:
    """Return which nodes a pod with this node selector and required affinity may use, bool (rows,)."""
    if required.terms is None:
        return table.labels.select(required.labels)
    matched = nodes_matching(table, required.terms)
    if not required.labels.everything:
        matched &= table.labels.select(required.labels)
    return matched


def nodes_matching(table: NodeTable, query: NodeQuery) -> BoolArray:
    """Return which nodes one of the query's terms matches, bool (rows,)."""
    matched = np.zeros(len(table), np.bool_)
    for term in query.terms:
        matched |= nodes_matching_term(table, term)
    return matched


def nodes_matching_term(table: NodeTable, term: NodeTerm) -> BoolArray:
    """Return which nodes a term matches, bool (rows,)."""
    matched = table.labels.select(term.labels)
    for field in term.fields:
        if field.field != NAME_FIELD:
            matched &= field.matches("")
        else:
            named = np.zeros(len(table), np.bool_)
            if field.value in table.row_of:
                named[table.row_of[field.value]] = True
            matched &= named if field.equal else ~named
    return matched

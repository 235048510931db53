"""Node selectors asked of a whole column of nodes.

`schedctl.api.node_selectors` says what a selector means for one node; this is the same for many at once, by label
columns. NodeAffinity, PodTopologySpread and whoever else looks for "the nodes this pod may use" share it.
"""

from __future__ import annotations

import numpy as np

from schedctl.api.node_selectors import NAME_FIELD, NodeQuery, NodeTerm, RequiredNodeAffinity
from schedctl.cache.arrays import BoolArray
from schedctl.cache.nodes import Nodes


def meeting(nodes: Nodes, required: RequiredNodeAffinity) -> BoolArray:
    """Return which nodes a pod with this node selector and required affinity may use, bool (n,)."""
    if required.terms is None:
        return nodes.gather(nodes.labels.select(required.labels))
    matched = matching(nodes, required.terms)
    return matched if required.labels.everything else matched & nodes.gather(nodes.labels.select(required.labels))


def matching(nodes: Nodes, query: NodeQuery) -> BoolArray:
    """Return which nodes one of the query's terms matches, bool (n,)."""
    if not query.terms:
        return np.zeros(len(nodes), np.bool_)
    first, *rest = query.terms
    matched = matching_term(nodes, first)
    for term in rest:
        matched = matched | matching_term(nodes, term)
    return matched


def matching_term(nodes: Nodes, term: NodeTerm) -> BoolArray:
    """Return which nodes a term matches, bool (n,)."""
    matched: BoolArray = nodes.gather(nodes.labels.select(term.labels))
    for field in term.fields:
        if field.field == NAME_FIELD:
            row = nodes.cluster.node_table.row_of.get(field.value, -1)
            matched = matched & (nodes.rows == row if field.equal else nodes.rows != row)
        elif not field.matches(""):
            return np.zeros(len(nodes), np.bool_)
    return matched

"""The order in which kube-scheduler itself goes over nodes: one of each zone in turn.

With every node judged the order changes nothing but which of several errors is the first. With sampling
(``percentageOfNodesToScore``) it decides which nodes are looked at, so it is reproduced: zones in order of first
appearance, nodes within a zone in order of arrival (upstream's node tree).
"""

from __future__ import annotations

import numpy as np

from schedctl.api.topology import node_tree_key
from schedctl.cache.arrays import IndexArray
from schedctl.cache.node_table import NodeTable


def zone_interleaved(table: NodeTable) -> IndexArray:
    """Return the rows of live nodes, one of each zone in turn, intp (nodes,)."""
    zones: dict[tuple[str, str], list[int]] = {}
    for row in table.rows.tolist():
        zones.setdefault(node_tree_key(table.labels.maps[row]), []).append(row)
    turns = max(map(len, zones.values()), default=0)
    order = [rows[turn] for turn in range(turns) for rows in zones.values() if turn < len(rows)]
    return np.array(order, np.intp)

"""PackingMeter: how many nodes are in use, in how small pieces CPU is free, and what the loss of a node disrupts.

It decides nothing: it takes part at PostBind, so that a study samples what it measures.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from schedctl.framework import Cycle, PostBindPlugin

BIG = 8_000
"""Millicores of a pod that is big."""


class PackingMeter(PostBindPlugin):
    """Measures how pods are spread over nodes."""

    def post_bind(self, cycle: Cycle, node_name: str) -> None:
        """Nothing: the numbers are read off the cluster."""

    def measure(self) -> Mapping[str, float]:
        """Return the numbers of the cluster as it is.

        ``nodesUsed`` is how many nodes have a pod. ``fragmented`` is the free CPU that lies on nodes with less than 8
        cores free, in percent of all that is free. ``disruption`` is how many pods the loss of the fullest node takes.
        """
        nodes = self.handle.cluster.nodes
        free = nodes.allocatable("cpu") - nodes.requested("cpu")
        return {
            "nodesUsed": int(np.count_nonzero(nodes.pod_count)),
            "fragmented": 100 * int(free[free < BIG].sum()) / max(int(free.sum()), 1),
            "disruption": int(nodes.pod_count.max(initial=0)),
        }

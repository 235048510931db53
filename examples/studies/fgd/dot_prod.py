"""DotProd: the node whose free CPU and GPU, as a vector, point least in the direction of what the pod asks for."""

from __future__ import annotations

import numpy as np
from devices import GpuPolicy, cpu_of, request

from schedctl.framework import Cycle, Nodes

MOST_CPU, MOST_GPU = 128_000, 8_000
"""The largest node, by which amounts are scaled."""


class DotProd(GpuPolicy):
    """Prefers a small dot product of what is free and what is asked for."""

    def score(self, cycle: Cycle, nodes: Nodes) -> np.ndarray:
        """Return the score of each node, int64 (n,)."""
        count, milli = request(cycle.pod)
        cpu = (nodes.allocatable("cpu") - nodes.requested("cpu")) * cpu_of(cycle.pod) / MOST_CPU**2
        gpu = self.free(nodes).sum(axis=1) * count * milli / MOST_GPU**2
        return (100 * (1 - (cpu + gpu) / 2)).astype(np.int64)

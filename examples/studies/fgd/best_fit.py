"""BestFit: the node on which least CPU and GPU are left."""

from __future__ import annotations

import numpy as np
from devices import GpuPolicy, cpu_of, request

from schedctl.framework import Cycle, Nodes

MOST_CPU, MOST_GPU = 128_000, 8_000
"""The largest node, by which amounts are scaled."""


class BestFit(GpuPolicy):
    """Prefers little left; the scores of the feasible nodes are spread over 0 to 100."""

    normalizes_by_extremes = True

    def score(self, cycle: Cycle, nodes: Nodes) -> np.ndarray:
        """Return the score of each node, int64 (n,)."""
        count, milli = request(cycle.pod)
        cpu = nodes.allocatable("cpu") - nodes.requested("cpu") - cpu_of(cycle.pod)
        gpu = self.free(nodes).sum(axis=1) - count * milli
        return (100 * (1 - cpu / (2 * MOST_CPU) - gpu / (2 * MOST_GPU))).astype(np.int64)

    def normalize(self, cycle: Cycle, nodes: Nodes, scores: np.ndarray) -> np.ndarray:
        """Return the scores from 0 to 100, int64 (n,)."""
        low, high = int(scores.min()), int(scores.max())
        return (scores - low) * 100 // (high - low) if high > low else np.full_like(scores, 0)

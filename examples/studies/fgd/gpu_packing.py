"""GpuPacking: shared devices first, then free devices of nodes in use, and idle nodes last."""

from __future__ import annotations

import numpy as np
from devices import GPU, WHOLE, GpuPolicy, request

from schedctl.framework import Cycle, Nodes


class GpuPacking(GpuPolicy):
    """Prefers nodes where a pod takes what others have left of devices in use."""

    def score(self, cycle: Cycle, nodes: Nodes) -> np.ndarray:
        """Return the score of each node, int64 (n,)."""
        count, milli = request(cycle.pod)
        if not count:
            return np.zeros(len(nodes), np.int64)
        free, devices = self.free(nodes), nodes.allocatable(GPU) // WHOLE
        ordered = np.sort(free, axis=1)
        taken = (ordered >= milli) & (np.cumsum(ordered >= milli, axis=1) <= count)  # the tightest that will do
        whole = (taken & (ordered == WHOLE)).sum(axis=1)
        left = (taken * (ordered // 10)).sum(axis=1)  # in percent of a device
        used = np.where(whole > 0, np.maximum(50 - whole, 33), np.maximum(100 - left // 10, 50))
        return np.where(free.sum(axis=1) == devices * WHOLE, np.maximum(33 - devices, devices), used)

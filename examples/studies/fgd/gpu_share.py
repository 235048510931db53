"""GpuShare: whether the devices of a node have room for a pod."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from devices import Devices, request

from schedctl.framework import ACCEPT, Cycle, FilterPlugin, Handle, Nodes, PodInfo, Reason, Verdicts


class GpuShare(FilterPlugin):
    """Rejects nodes without devices that have enough left: one for a share, k that are wholly free for k of them."""

    filters_all_nodes = True
    lacking = Reason("Insufficient GPU: {count} devices with {milli}m left each")

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._devices = Devices.of(handle.cluster)

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Count the devices that have enough left."""
        count, milli = request(cycle.pod)
        if not count:
            return ACCEPT
        fitting = (self._devices.free(nodes) >= milli).sum(axis=1)
        return self.lacking.where(fitting < count, count=count, milli=milli)

    def signature(self, pod: PodInfo) -> Hashable:
        """Return all that is read of a pod."""
        return request(pod)

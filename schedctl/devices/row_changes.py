"""On which nodes devices were taken or given back, for whoever keeps answers about them."""

from __future__ import annotations

import numpy as np
from typing_extensions import override

from schedctl.api.devices import DeviceTaintRule, ResourceClaim, ResourceSlice
from schedctl.api.nodes import Node
from schedctl.cache.arrays import IndexArray
from schedctl.cache.nodes import ClusterView
from schedctl.cache.reads import Journal, Tracked
from schedctl.devices.allocated import AllocatedState, PendingAllocation, devices_in_use
from schedctl.devices.pools import DevicePools, device_pools

_KINDS = (DeviceTaintRule, PendingAllocation, ResourceClaim, ResourceSlice, Node)
"""The kinds of all that says which devices there are, and who has them."""


class DeviceRows(Tracked):
    """The node rows that see devices whose use has changed; a pool that is not of one node may be seen by any."""

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self._state: AllocatedState | None = None
        self._pools: DevicePools | None = None
        self._seen = self._version = -1
        self._journal = Journal(0)

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        self.catch_up()
        rows = self._journal.since(since)
        return None if rows is None else np.array(sorted(rows), np.intp)

    def catch_up(self) -> None:
        """Take in what has happened to devices since it was asked last."""
        seen = self._cluster.version(*_KINDS)
        if seen == self._seen:
            return
        with self._cluster.rest_on():
            state, pools, now = devices_in_use(self._cluster), device_pools(self._cluster), self._cluster.generation
        self._seen = seen
        if state is not self._state or pools is not self._pools:
            self._state, self._pools, self._version = state, pools, state.version
            self._journal.begin(now)
            return
        for pool, changed in reversed(state.changed.items()):
            if changed <= self._version:  # the latest come last, so all others are known
                break
            row = pools.home_rows.get(pool)
            if row is None:
                self._journal.begin(now)
            else:
                self._journal.note(now, row)
        self._version = state.version


def device_rows_of(cluster: ClusterView) -> DeviceRows:
    """Return the changes of a cluster's devices, up to date."""
    rows = cluster.derive(DeviceRows)
    rows.catch_up()
    return rows

"""Nodes that no search could tell apart: those that see the same things, with the same of them in use.

What a node sees is numbered by `DevicePools.signatures`; what is in use of the pools that it alone sees is numbered
here, by the places of the devices. `allocator` keeps one outcome for each pair of numbers.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from schedctl.cache.arrays import IndexArray, Interner
from schedctl.cache.nodes import ClusterView
from schedctl.devices.allocated import AllocatedState
from schedctl.devices.pools import DevicePools, GatherError, Offer

_MOST_KEPT = 20_000


class Groups:
    """The grouping of all nodes, for one set of pools and one state of use.

    Attributes:
        outcomes: what came of searches, by what each depended on; whoever searches keeps it.
    """

    def __init__(self, pools: DevicePools, state: AllocatedState) -> None:
        self.outcomes: dict[Hashable, object] = {}
        self._pools = pools
        self._state = state
        self._version = -1
        self._changed: dict[int, int] = {}  # by signature, the version of the state
        self._patterns: Interner[Hashable] = Interner()
        self._unused = self._patterns.code(())
        self._pattern: IndexArray = np.full(pools.rows, self._unused, np.intp)

    def of(self, rows: IndexArray) -> IndexArray:
        """Return a number for each row, intp (n,); rows with the same number are alike to any search."""
        self._catch_up()
        # Two numbers in one: what a node sees in the upper half, what is in use in the lower.
        numbers: IndexArray = (self._pools.signatures(rows) << 32) | self._pattern[rows]
        return numbers

    def of_row(self, row: int) -> int:
        """Return the number of one row."""
        self._catch_up()
        return self._pools.signature_of(row) << 32 | int(self._pattern[row])

    def is_for(self, pools: DevicePools, state: AllocatedState) -> bool:
        """Return whether the grouping is of these."""
        return pools is self._pools and state is self._state

    def state_version(self, number: int) -> int:
        """Return when a pool was last found changed that the nodes of a group see, and others may see; -1 for never.

        The outcome for the group depends on it beside the number: of such pools only that they changed is noted.
        """
        return self._changed.get(number >> 32, -1)

    def _catch_up(self) -> None:
        if len(self.outcomes) > _MOST_KEPT:
            self.outcomes.clear()
        version = self._state.version
        if version == self._version:
            return
        touched: dict[int, None] = {}
        for pool, changed in reversed(self._state.changed.items()):
            if changed <= self._version:  # the latest come last, so all others are known
                break
            if pool in self._pools.home_rows:
                touched[self._pools.home_rows[pool]] = None
            for signature in self._pools.signatures_by_pool.get(pool, ()):
                self._changed[signature] = version
        for row in touched:
            self._pattern[row] = self._patterns.code(self._pattern_of(row))
        self._version = version

    def _pattern_of(self, row: int) -> Hashable:
        """What is in use of the pools that only this node sees, by the place of the pool and of the device in it."""
        try:
            offer: Offer = self._pools.offer(row)
        except GatherError:
            return ()
        used = []
        for index, pool in enumerate(offer.local):
            uses = self._state.pools.get(pool.id)
            if uses:
                for place, device in enumerate(pool.devices):
                    if device.id.device in uses:
                        used.append((index, place, uses[device.id.device]))
        return tuple(used)


class _LatestGroups:
    """The latest grouping; made once for a cluster, since it reads no kind."""

    def __init__(self, _: ClusterView) -> None:
        self.groups: Groups | None = None


def groups_of(cluster: ClusterView, pools: DevicePools, state: AllocatedState) -> Groups:
    """Return the grouping of the cluster's nodes; it is kept as long as pools and state are the same objects."""
    kept = cluster.derive(_LatestGroups)
    if kept.groups is None or not kept.groups.is_for(pools, state):
        kept.groups = Groups(pools, state)
    return kept.groups

"""Counters that the devices of a pool share: what allocated devices leave of them, and what a search draws on."""

from __future__ import annotations

from collections.abc import Hashable

from schedctl.devices.allocated import AllocatedState, Use
from schedctl.devices.features import DeviceFeatures
from schedctl.devices.pools import PooledDevice, counters_of


class Counters:
    """What is left of the counters of each pool during one search, in nano-units.

    A pool that is overdrawn already, by devices that should not have been allocated together, gives nothing more to
    devices that draw on any of its counters.
    """

    def __init__(self, state: AllocatedState, features: DeviceFeatures) -> None:
        self._state = state
        self._counts_shares = features.counted_shares
        self._left: dict[Hashable, dict[tuple[str, str], int]] = {}
        self._by_slice = features.counters_by_slice
        self._key = _slice if self._by_slice else _pool_name if features.counters_by_name else _pool

    def reserve(self, device: PooledDevice) -> bool:
        """Draw what a device consumes; return False, with nothing drawn, if there is not enough."""
        left = self._remaining_amounts(device)
        self._draw(device, 1)
        # The least of all counters of the pool, those that the device does not draw on included.
        if min(left.values(), default=0) < 0:
            self._draw(device, -1)
            return False
        return True

    def release(self, device: PooledDevice) -> None:
        """Give back what a device consumes."""
        self._draw(device, -1)

    def missing_counters(self, device: PooledDevice) -> dict[tuple[str, str], tuple[int, int]]:
        """Return the counters that keep a device from being taken: what it needs of them and what is left."""
        needs: dict[tuple[str, str], int] = {}
        for counter, amount in device.model.consumes:
            needs[counter] = needs.get(counter, 0) + amount
        left = self._remaining_amounts(device)
        return {c: (needs.get(c, 0), left[c]) for c in left if left[c] < needs.get(c, 0)}

    def _draw(self, device: PooledDevice, sign: int) -> None:
        left = self._remaining_amounts(device)
        for counter, amount in device.model.consumes:
            if counter in left:  # where pools share counters by name, those of the first one asked are all there are
                left[counter] -= sign * amount

    def _remaining_amounts(self, device: PooledDevice) -> dict[tuple[str, str], int]:
        key = self._key(device)
        left = self._left.get(key)
        if left is None:
            # From what this node sees of the pool. kube-scheduler keeps the view of the first node that asked, which
            # differs only while a pool is between two generations.
            left = self._left[key] = self._initial_amounts(device)
            used = self._state.pools.get(device.pool.id, {})
            for each in (*device.pool.devices, *device.pool.elsewhere) if used else ():
                if self._has_used(used.get(each.id.device)) and self._key(each) == key:
                    for counter, amount in each.model.consumes:
                        if counter in left:
                            left[counter] -= amount
        return left

    def _initial_amounts(self, device: PooledDevice) -> dict[tuple[str, str], int]:
        """Return how much there is of the counters that a device draws on while nobody does."""
        if self._by_slice:
            return counters_of(device.slice.spec.shared_counters or ())
        return dict(device.pool.counters)

    def _has_used(self, use: Use | None) -> bool:
        """Return whether a device that is in use like this has drawn on its counters."""
        return use is not None and (use.whole or self._counts_shares)


def _pool(device: PooledDevice) -> Hashable:
    return device.pool


def _pool_name(device: PooledDevice) -> Hashable:
    return device.pool.id.pool


def _slice(device: PooledDevice) -> Hashable:
    return device.slice.metadata.name

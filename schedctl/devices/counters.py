"""Counters that the devices of a pool share: what allocated devices leave of them, and what a search draws on."""

from __future__ import annotations

from collections.abc import Callable

from schedctl.devices.allocated import AllocatedState
from schedctl.devices.pools import Pool, PooledDevice


class Counters:
    """What is left of the counters of each pool during one search, in nano-units.

    A pool that is overdrawn already, by devices that should not have been allocated together, gives nothing more to
    devices that draw on any of its counters.
    """

    def __init__(self, state: AllocatedState, *, by_name: bool = False) -> None:
        self._state = state
        self._left: dict[Pool | str, dict[tuple[str, str], int]] = {}
        self._key: Callable[[Pool], Pool | str] = _name if by_name else _itself

    def reserve(self, device: PooledDevice) -> bool:
        """Draw what a device consumes; return False, with nothing drawn, if there is not enough."""
        left = self._remaining_amounts(device.pool)
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
        left = self._remaining_amounts(device.pool)
        return {c: (needs.get(c, 0), left[c]) for c in left if left[c] < needs.get(c, 0)}

    def _draw(self, device: PooledDevice, sign: int) -> None:
        left = self._remaining_amounts(device.pool)
        for counter, amount in device.model.consumes:
            if counter in left:  # where pools share counters by name, those of the first one asked are all there are
                left[counter] -= sign * amount

    def _remaining_amounts(self, pool: Pool) -> dict[tuple[str, str], int]:
        left = self._left.get(self._key(pool))
        if left is None:
            # From what this node sees of the pool. kube-scheduler keeps the view of the first node that asked, which
            # differs only while a pool is between two generations.
            left = self._left[self._key(pool)] = dict(pool.counters)
            used = self._state.pools.get(pool.id, {})
            for each in (*pool.devices, *pool.elsewhere) if used else ():
                if each.id.device in used:
                    for counter, amount in each.model.consumes:
                        left[counter] -= amount
        return left


def _itself(pool: Pool) -> Pool:
    return pool


def _name(pool: Pool) -> str:
    return pool.id.pool

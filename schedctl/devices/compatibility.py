"""Compatibility groups of devices that draw on the same counters (KEP-5963): one that all have, or none has any.

`counters` knows whether there is enough of the counters, `search` asks both.
"""

from __future__ import annotations

from schedctl.devices.allocated import AllocatedState
from schedctl.devices.pools import Pool, PooledDevice

_Groups = frozenset[str] | None
"""The groups that all devices drawing on a counter set have in common; None where nobody draws on it yet."""


class CompatibilityGroups:
    """What the devices that draw on the counter sets of each pool have in common, during one search."""

    def __init__(self, state: AllocatedState) -> None:
        self._state = state
        self._common: dict[Pool, dict[str, list[_Groups]]] = {}

    def reserve(self, device: PooledDevice) -> bool:
        """Let a device join those that draw on the same counter sets; return False, with nothing changed, if it cannot.

        Devices without groups go together, too.
        """
        common = self._common_of(device.pool)
        joined = 0
        for consumption in device.device.consumes_counters or ():
            groups = frozenset(consumption.compatibility_groups or ())
            steps = common.setdefault(consumption.counter_set, [None])
            if not _admits(steps[-1], groups):
                break
            steps.append(_join(steps[-1], groups))
            joined += 1
        else:
            return True
        self._leave(device, joined)
        return False

    def release(self, device: PooledDevice) -> None:
        """Take back the last `reserve` that succeeded."""
        self._leave(device, len(device.device.consumes_counters or ()))

    def admits(self, device: PooledDevice) -> bool:
        """Return whether a device could join."""
        joins = self.reserve(device)
        if joins:
            self.release(device)
        return joins

    def _leave(self, device: PooledDevice, number: int) -> None:
        common = self._common_of(device.pool)
        for consumption in (device.device.consumes_counters or ())[:number]:
            common[consumption.counter_set].pop()

    def _common_of(self, pool: Pool) -> dict[str, list[_Groups]]:
        common = self._common.get(pool)
        if common is None:
            common = self._common[pool] = {}
            used = self._state.pools.get(pool.id, {})
            for each in (*pool.devices, *pool.elsewhere) if used else ():
                for consumption in (each.device.consumes_counters or ()) if each.id.device in used else ():
                    steps = common.setdefault(consumption.counter_set, [None])
                    steps[0] = _join(steps[0], frozenset(consumption.compatibility_groups or ()))
        return common


def _admits(common: _Groups, groups: frozenset[str]) -> bool:
    return common is None or bool(common & groups) or not (common or groups)


def _join(common: _Groups, groups: frozenset[str]) -> _Groups:
    # Where devices were allocated together that should not have been, those without groups count for nothing behind
    # one with groups, and the other way round.
    if common is None:
        return groups
    return common & groups if common and groups else common

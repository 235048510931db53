"""What pods take from the node they stand on, each distinct footprint once.

Thousands of pods are written alike, so a pod's footprint is a small code (`PodTable.footprint`), and what many pods
take of one resource is a gather from an array with an entry for each code.
"""

from __future__ import annotations

import numpy as np

from schedctl.cache.arrays import BoolArray, IntArray, Interner
from schedctl.cache.pod_info import HostPort, PodInfo

SCORED_CPU, SCORED_MEMORY, POD_COUNT = "scored cpu", "scored memory", "pod count"
"""Quantities beside the resources; no resource can have a name with a space in it."""


class Footprints:
    """All footprints seen in a cluster, by code."""

    __slots__ = ("_amounts", "_known")

    def __init__(self) -> None:
        self._known: Interner[tuple[tuple[tuple[str, int], ...], int, int, tuple[HostPort, ...]]] = Interner()
        self._amounts: dict[str, IntArray] = {}

    def __len__(self) -> int:
        return len(self._known)

    def code(self, info: PodInfo) -> int:
        """Return the code of a pod's footprint."""
        exact, cpu, memory = info.requests
        return self._known.code((tuple(exact.items()), cpu, memory, info.host_ports))

    def amounts(self, quantity: str) -> IntArray:
        """Return how much of a resource, or of one of the other quantities, each footprint takes, int64 (codes,)."""
        amounts = self._amounts.get(quantity)
        if amounts is None or len(amounts) < len(self._known):
            amounts = np.array([self._amount(code, quantity) for code in range(len(self._known))], np.int64)
            self._amounts[quantity] = amounts
        return amounts

    def holding(self, protocol: str, port: int) -> BoolArray:
        """Return which footprints hold a host port, whatever the address, bool (codes,)."""
        wanted = (protocol, port)
        return np.array([any(held[1:] == wanted for held in known[3]) for known in self._known.values], np.bool_)

    def _amount(self, code: int, quantity: str) -> int:
        exact, cpu, memory, _ = self._known.values[code]
        if quantity == POD_COUNT:
            return 1
        if quantity == SCORED_CPU:
            return cpu
        if quantity == SCORED_MEMORY:
            return memory
        return dict(exact).get(quantity, 0)

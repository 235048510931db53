"""What a pod means to its node, each distinct footprint once.

Thousands of pods are written alike, so a pod's footprint is a small code (`PodTable.footprint`), and what many pods
take of one resource is a gather from an array with an entry for each code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from schedctl.cache.affinity_terms import carried_terms
from schedctl.cache.arrays import BoolArray, IntArray, Interner
from schedctl.cache.pod_info import AffinityTerm, HostPort, PodInfo

SCORED_CPU, SCORED_MEMORY, POD_COUNT = "scored cpu", "scored memory", "pod count"
"""Quantities beside the resources; no resource can have a name with a space in it."""


class Footprint(NamedTuple):
    """What a pod takes from the node it stands on, and whom it keeps away.

    Attributes:
        exact: resources, see `Requests.exact`.
        scored_cpu, scored_memory: see `Requests`.
        host_ports: ports of the node.
        repels: its required anti-affinity terms.
    """

    exact: tuple[tuple[str, int], ...]
    scored_cpu: int
    scored_memory: int
    host_ports: tuple[HostPort, ...]
    repels: tuple[AffinityTerm, ...]

    def amount(self, quantity: str) -> int:
        """Return how much it takes of a resource, or of one of the other quantities."""
        if quantity == POD_COUNT:
            return 1
        if quantity == SCORED_CPU:
            return self.scored_cpu
        if quantity == SCORED_MEMORY:
            return self.scored_memory
        return dict(self.exact).get(quantity, 0)


class Footprints:
    """All footprints seen in a cluster, by code."""

    __slots__ = ("_amounts", "_known")

    def __init__(self) -> None:
        self._known: Interner[Footprint] = Interner()
        self._amounts: dict[str, IntArray] = {}

    def code(self, info: PodInfo) -> int:
        """Return the code of a pod's footprint."""
        exact, cpu, memory = info.requests
        repels = carried_terms(info).required_anti
        return self._known.code(Footprint(tuple(exact.items()), cpu, memory, info.host_ports, repels))

    def amounts(self, quantity: str) -> IntArray:
        """Return how much of a resource, or of one of the other quantities, each footprint takes, int64 (codes,)."""
        amounts = self._amounts.get(quantity)
        if amounts is None or len(amounts) < len(self._known):
            amounts = np.array([known.amount(quantity) for known in self._known.values], np.int64)
            self._amounts[quantity] = amounts
        return amounts

    def holding(self, protocol: str, port: int) -> BoolArray:
        """Return which footprints hold a host port, whatever the address, bool (codes,)."""
        ports = ([held[1:] for held in known.host_ports] for known in self._known.values)
        return np.array([(protocol, port) in held for held in ports], np.bool_)

    def repelling(self, concerned: Callable[[AffinityTerm], bool]) -> dict[str, IntArray]:
        """Return how many terms each footprint repels with that are about somebody, by topology key, int64 (codes,).

        Args:
            concerned: whether a term is about them.
        """
        found: dict[str, IntArray] = {}
        for code, known in enumerate(self._known.values):
            if known.repels:
                for key, number in Counter(term.topology_key for term in known.repels if concerned(term)).items():
                    found.setdefault(key, np.zeros(len(self._known), np.int64))[code] = number
        return found

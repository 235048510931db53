"""What a pod means to its node, each distinct footprint once.

Thousands of pods are written alike, so a pod's footprint is a small code (`PodTable.footprint`), and what many pods
take of one resource is a gather from an array with an entry for each code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from schedctl.api.resources import grant_identity, requests_identity
from schedctl.cache.affinity_terms import carried_terms
from schedctl.cache.arrays import CodeArray, IndexArray, IntArray, Interner
from schedctl.cache.pod_info import AffinityTerm, HostPort, PodInfo

SCORED_CPU, SCORED_MEMORY, POD_COUNT = "scored cpu", "scored memory", "pod count"
"""Quantities beside the resources; no resource can have a name with a space in it."""


_PODS_KEPT = 4096
"""How many pods are remembered that others may share their parts with; then all are forgotten."""


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


class EqualPods(NamedTuple):
    """Pods in groups: those of one group share the very parts of which their nodes ask.

    Attributes:
        first: the first pod of each group.
        of: the group of each pod, intp (pods,).
    """

    first: list[PodInfo]
    of: IndexArray


_NO_AMOUNTS: IntArray = np.zeros(0, np.int64)


class Footprints:
    """All footprints seen in a cluster, by code."""

    __slots__ = ("_amounts", "_code_of", "_code_of_equal", "_known")

    def __init__(self) -> None:
        self._known: Interner[Footprint] = Interner()
        self._code_of_equal: dict[PodInfo, int] = {}
        self._code_of: dict[tuple[object, ...], tuple[PodInfo, int]] = {}
        self._amounts: dict[str, IntArray] = {}

    def __getstate__(self) -> tuple[None, dict[str, object]]:
        """Return what a copy has: its pods have parts with identities of their own."""
        return None, {"_known": self._known, "_amounts": self._amounts, "_code_of": {}, "_code_of_equal": {}}

    def __getitem__(self, code: int) -> Footprint:
        """Return the footprint of a code."""
        return self._known.values[code]

    def code(self, info: PodInfo) -> int:
        """Return the code of a pod's footprint.

        Pods of one template share the parts that it is read from, so it is worked out once for the very same parts.
        """
        equal = info.equal
        if equal is None:
            return self._code_by_parts(info)
        code = self._code_of_equal.get(equal)
        if code is None:
            if len(self._code_of_equal) >= _PODS_KEPT:
                self._code_of_equal.clear()
            code = self._code_of_equal[equal] = self._code_by_parts(info)
        return code

    def _code_by_parts(self, info: PodInfo) -> int:
        spec = info.pod.spec
        key = requests_identity(spec), grant_identity(info.pod.status), id(spec.affinity), info.namespace
        known = self._code_of.get(key)
        if known is not None:
            info.take_demand(known[0])
            return known[1]
        if len(self._code_of) >= _PODS_KEPT:
            self._code_of.clear()
        code = self._new_code(info)
        self._code_of[key] = info, code  # holding the pod keeps the ids of its parts from being used again
        return code

    def codes(self, pods: EqualPods) -> CodeArray:
        """Return the codes of many pods' footprints, int32 (pods,)."""
        return np.fromiter(map(self.code, pods.first), np.int32, len(pods.first))[pods.of]

    def _new_code(self, info: PodInfo) -> int:
        exact, cpu, memory = info.requests
        repels = carried_terms(info).required_anti
        return self._known.code(Footprint(tuple(exact.items()), cpu, memory, info.host_ports, repels))

    def amounts(self, quantity: str) -> IntArray:
        """Return how much of a resource, or of one of the other quantities, each footprint takes, int64 (codes,)."""
        amounts = self._amounts.get(quantity, _NO_AMOUNTS)
        if len(amounts) < len(self._known):
            more = [known.amount(quantity) for known in self._known.values[len(amounts) :]]
            amounts = self._amounts[quantity] = np.concatenate((amounts, np.array(more, np.int64)))
        return amounts

    def addresses(self, protocol: str, port: int) -> dict[int, tuple[str, ...]]:
        """Return the addresses under which each footprint holds a host port, by code; those that hold it alone."""
        held = (
            (code, tuple(each.ip for each in known.host_ports if each[1:] == (protocol, port)))
            for code, known in enumerate(self._known.values)
        )
        return {code: addresses for code, addresses in held if addresses}

    def repelling_terms(self, concerned: Callable[[AffinityTerm], bool]) -> dict[str, IntArray]:
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


def group_equal_pods(infos: Sequence[PodInfo]) -> EqualPods:
    """Return pods in groups, whose pods share from now on what they ask for."""
    kinds: dict[tuple[int | bool, ...], int] = {}
    granted: dict[int, int] = {}  # by the id of a status, which most pods share with others
    known: dict[tuple[object, ...], int] = {}
    first: list[PodInfo] = []
    of: list[int] = []
    for info in infos:
        pod = info.pod
        spec, status = pod.spec, pod.status
        if id(status) not in granted:
            granted[id(status)] = kinds.setdefault(grant_identity(status), len(kinds))
        key = (*requests_identity(spec), id(spec.affinity), granted[id(status)], info.namespace)
        code = known.setdefault(key, len(first))
        if code == len(first):
            first.append(info)
        else:
            info.take_demand(first[code])
        of.append(code)
    return EqualPods(first, np.array(of, np.intp))

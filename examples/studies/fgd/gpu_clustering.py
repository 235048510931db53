"""GpuClustering: pods that ask for GPUs in the same way stand together."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from devices import GpuPolicy, request

from schedctl.framework import Cycle, Nodes, PodInfo

MOST_GPU = 8_000
ALONE, AMONG, NONE, OTHERS = 75, 50, 25, 0
"""For a node with pods of this kind only, of this and others, of none, and of others only."""


class GpuClustering(GpuPolicy):
    """Prefers nodes whose pods ask for GPUs as this one does, then those with few GPUs left."""

    def score(self, cycle: Cycle, nodes: Nodes) -> np.ndarray:
        """Return the score of each node, int64 (n,)."""
        wanted = _kind(cycle.pod)
        if wanted == "":
            return np.zeros(len(nodes), np.int64)
        kinds = [_kinds(nodes.pods_on(position)) for position in range(len(nodes))]
        fond = [_fondness(wanted, of_node) for of_node in kinds]
        return np.array(fond) + 25 * (MOST_GPU - self.free(nodes).sum(axis=1)) // MOST_GPU


def _kind(pod: PodInfo) -> str:
    """Return how a pod asks for GPUs: a share of one, or how many; "" for not at all."""
    count, milli = request(pod)
    if not count:
        return ""
    return "share" if milli < 1000 else f"{count}-gpu"


def _kinds(pods: Iterable[PodInfo]) -> frozenset[str]:
    return frozenset(map(_kind, pods)) - {""}


def _fondness(wanted: str, kinds: frozenset[str]) -> int:
    if not kinds:
        return NONE
    if wanted not in kinds:
        return OTHERS
    return ALONE if len(kinds) == 1 else AMONG

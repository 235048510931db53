"""What all rounds about a model have in common, which a consolidation asks about a thousand times."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
import numpy.typing as npt

from schedctl.api.resources import CPU, MEMORY, PODS
from schedctl.simulation.karpenter.models import Model
from schedctl.simulation.karpenter.pod_counts import PodCounts
from schedctl.simulation.karpenter.targets import ExistingNode, existing_node
from schedctl.simulation.karpenter.waiting_pods import WaitingPod

_SCARCE = (CPU, MEMORY, PODS)
"""The resources by which nodes without room are passed over, all at once."""


class PreparedModel:
    """A model, its nodes in the order in which they are tried, and what its pods count for.

    Attributes:
        model: the model.
        nodes: with what is left of them.
        counts: the counts of its pods.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._known: dict[str, ExistingNode] = {}
        self.update(model.nodes)

    def update(self, names: Iterable[str]) -> None:
        """Follow a change of the model.

        Args:
            names: the nodes that were added, removed, or have other pods.
        """
        model = self.model
        for name in names:
            self._known.pop(name, None)
            if name in model.nodes:
                self._known[name] = existing_node(model.nodes[name], model.daemons)
        in_order = sorted(model.nodes.values(), key=lambda node: (not node.initialized, node.name))
        self.nodes = [self._known[node.name] for node in in_order]
        self.counts = PodCounts(model)
        self._row_of = {node.name: row for row, node in enumerate(in_order)}
        amounts = [[each.free.get(name, 0) for each in self.nodes] for name in _SCARCE]
        self._free = np.array(amounts, np.int64)

    def free(self, without: Collection[str]) -> npt.NDArray[np.int64]:
        """Return what is left of each node, a row for each scarce resource; nothing fits on those that are to go."""
        found = self._free.copy()
        found[:, [self._row_of[name] for name in without]] = -1
        return found


def rows_with_room(free: npt.NDArray[np.int64], pod: WaitingPod) -> list[int]:
    """Return the nodes on which a pod may fit; on the others it does not."""
    requests = np.array([[pod.requests.get(name, 0)] for name in _SCARCE], np.int64)
    found: list[int] = np.flatnonzero((free >= requests).all(axis=0)).tolist()
    return found


def take(free: npt.NDArray[np.int64], row: int, pod: WaitingPod) -> None:
    """Take what a pod requests off a node."""
    for at, name in enumerate(_SCARCE):
        free[at, row] -= pod.requests.get(name, 0)

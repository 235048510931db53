"""What all rounds about a model have in common, which a consolidation asks about a thousand times."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from schedctl.api.resources import CPU, MEMORY
from schedctl.simulation.karpenter.models import Model
from schedctl.simulation.karpenter.pod_counts import PodCounts
from schedctl.simulation.karpenter.targets import ExistingNode, existing_node
from schedctl.simulation.karpenter.waiting_pods import WaitingPod

_GONE = -1
"""Less than any pod requests."""


class NodeRooms(msgspec.Struct, frozen=True):
    """What is left of nodes, in the order in which they are tried, so that those without room are passed over quickly.

    Attributes:
        cpu, memory: of each.
    """

    cpu: list[int]
    memory: list[int]

    def rows_for(self, pod: WaitingPod) -> list[int]:
        """Return the nodes on which a pod may fit; on the others it does not."""
        cpu, memory = pod.requests.get(CPU, 0), pod.requests.get(MEMORY, 0)
        return [row for row, left in enumerate(self.cpu) if left >= cpu and self.memory[row] >= memory]

    def take(self, row: int, pod: WaitingPod) -> None:
        """Take what a pod requests off a node."""
        self.cpu[row] -= pod.requests.get(CPU, 0)
        self.memory[row] -= pod.requests.get(MEMORY, 0)


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
        self._rooms = NodeRooms(
            [each.free.get(CPU, 0) for each in self.nodes], [each.free.get(MEMORY, 0) for each in self.nodes]
        )

    def rooms(self, without: Collection[str]) -> NodeRooms:
        """Return what is left of each node; nothing fits on those that are to go."""
        found = NodeRooms(list(self._rooms.cpu), list(self._rooms.memory))
        for name in without:
            found.cpu[self._row_of[name]] = _GONE
        return found

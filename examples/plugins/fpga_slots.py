"""FpgaSlots: a dynamic resource of one's own: found on nodes, allocated at Reserve, rolled back at Unreserve.

For devices that have no device plugin and no DRA driver yet. A node announces the regions of its cards by the
annotation ``fpga.example.com/slots``, e.g. ``0,1,2,3``; a pod asks for a number of them by the annotation
``fpga.example.com/slots-wanted``, and one that runs already says which it has by ``fpga.example.com/slots-used``.

Extension points: ``preFilter``, ``filter``, ``score``, ``reserve``::

    schedctl simulate jobs.yaml -f cluster.yaml --plugin examples/plugins/fpga_slots.py
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from schedctl.api.meta import ObjectMeta, Struct
from schedctl.cache.arrays import IntArray
from schedctl.cache.nodes import NodeInfo, Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.arithmetic import MAX_NODE_SCORE, default_normalize
from schedctl.framework.cycles import Cycle, StateKey
from schedctl.framework.events import Action, Hint, Registration, Resource, registers
from schedctl.framework.lifting import per_node
from schedctl.framework.points import FilterPlugin, PreFilterPlugin, ReservePlugin, ScorePlugin
from schedctl.framework.reasons import Reason, Verdict
from schedctl.framework.statuses import SKIP, SUCCESS, Status

SLOTS, WANTED, USED = "fpga.example.com/slots", "fpga.example.com/slots-wanted", "fpga.example.com/slots-used"


class FpgaAllocation(Struct, frozen=True):
    """The slots that a pod holds, as long as it stands on the node; it is named like the pod."""

    metadata: ObjectMeta
    node: str
    slots: list[str]


class Request(Struct, frozen=True):
    """How many slots a pod asks for, and which are taken on each node."""

    slots: int
    taken: Mapping[str, frozenset[str]]


class FpgaSlots(PreFilterPlugin, FilterPlugin, ScorePlugin, ReservePlugin):
    """Gives pods slots of FPGA cards.

    PreFilter reads the request and sums up who holds what, Filter refuses nodes with too few free slots, Score prefers
    those where the fewest are left over, Reserve takes the lowest free numbers, and Unreserve gives them back.
    """

    STATE = StateKey[Request]("FpgaSlots")
    reads_feasible_set = False

    senseless = Reason("annotation {annotation} is no number: {value}", unresolvable=True)
    # unresolvable: the victims of a preemption would give no slots back, since allocations are read from the cluster
    too_few = Reason("node(s) had too few free FPGA slots", unresolvable=True)

    def signature(self, pod: PodInfo) -> str:
        """How many it wants."""
        return _annotated(pod, WANTED)

    def events_to_register(self) -> tuple[Registration, ...]:
        """A holder of slots that leaves, and a node whose annotations change."""
        return (
            registers(Resource.ASSIGNED_POD, Action.DELETE, _after_departure),
            registers(Resource.NODE, Action.ADD | Action.UPDATE_NODE_ANNOTATION),
        )

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Read the request; a pod without one is none of our business."""
        number = _annotated(cycle.pod, WANTED)
        if not number:
            return SKIP
        if not number.isdecimal():
            return self.senseless.status(annotation=WANTED, value=number)
        cycle.state[self.STATE] = Request(int(number), self._taken())
        return None

    @per_node
    def filter(self, cycle: Cycle, node: NodeInfo) -> Verdict | None:
        """Compare what is free with what is wanted."""
        request = cycle.state[self.STATE]
        free = _free(node, request)
        return self.too_few(wanted=request.slots, free=len(free)) if len(free) < request.slots else None

    @per_node
    def score(self, cycle: Cycle, node: NodeInfo) -> int:
        """Return how many slots are left over; 0 for a pod that wants none."""
        if self.STATE not in cycle.state:
            return 0
        request = cycle.state[self.STATE]
        return max(len(_free(node, request)) - request.slots, 0)

    def normalize(self, cycle: Cycle, nodes: Nodes, scores: IntArray) -> IntArray:
        """Return 100 where none is left over, less where more are; nothing for a pod that wants none."""
        if self.STATE not in cycle.state:
            return np.zeros_like(scores)
        return default_normalize(scores, reverse=True, largest=MAX_NODE_SCORE)

    def reserve(self, cycle: Cycle, node_name: str) -> Status:
        """Take the lowest free slots."""
        if self.STATE not in cycle.state:
            return SUCCESS
        pod, cluster = cycle.pod, self.handle.cluster
        number = cycle.state[self.STATE].slots
        # what is taken is summed up again: PreFilter may have been asked before other pods reserved theirs
        free = _free(NodeInfo(cluster.nodes_named([node_name]), 0), Request(number, self._taken()))
        if len(free) < number:
            return Status(self.too_few.code, (self.too_few.text,))
        metadata = ObjectMeta(name=pod.pod.metadata.name, namespace=pod.namespace)
        cluster.put(FpgaAllocation(metadata=metadata, node=node_name, slots=free[:number]))
        return SUCCESS

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        """Give the slots back, if any were taken."""
        held = self.handle.cluster.get(FpgaAllocation, cycle.pod.key)
        if held is not None:
            self.handle.cluster.delete(held)

    def _taken(self) -> dict[str, frozenset[str]]:
        """Return the slots in use by node: those that running pods name, and those that were allocated here."""
        cluster, taken = self.handle.cluster, dict[str, frozenset[str]]()
        table = cluster.pod_table
        for pod in table:
            if not _annotated(pod, WANTED):
                continue
            held = cluster.get(FpgaAllocation, pod.key)
            slots = held.slots if held is not None else _listed(_annotated(pod, USED))
            node = cluster.node_table.names[int(table.node[table.row_of[pod.key]])]
            taken[node] = taken.get(node, frozenset()) | frozenset(slots)
        return taken


def _free(node: NodeInfo, request: Request) -> list[str]:
    """Return the slots of a node that nobody holds, in the order of its annotation."""
    taken = request.taken.get(node.name, frozenset())
    announced = (node.object.metadata.annotations or {}).get(SLOTS, "")
    return [slot for slot in _listed(announced) if slot not in taken]


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _annotated(pod: PodInfo, name: str) -> str:
    return (pod.pod.metadata.annotations or {}).get(name, "")


def _after_departure(pod: PodInfo, before: PodInfo, after: None) -> Hint:
    return Hint.QUEUE if _annotated(before, WANTED) else Hint.SKIP

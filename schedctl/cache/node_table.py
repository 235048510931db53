"""Nodes as a table: one row each, one array per quantity.

Resource matrices are (resources, nodes), so that one resource is a contiguous column; what few nodes differ in, taints,
images and declared features, is a code per node into the list of distinct sets, which a plugin judges once each.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from schedctl.api import resources
from schedctl.api.nodes import Node, NodeSpec, NodeStatus, Taint
from schedctl.api.quantities import wrap_int64
from schedctl.api.topology import node_tree_key
from schedctl.cache.arrays import BoolArray, CodeArray, IndexArray, IntArray, Interner, grow, read_only
from schedctl.cache.footprints import POD_COUNT, SCORED_CPU, SCORED_MEMORY, EqualPods, Footprint
from schedctl.cache.labels import LabelColumns
from schedctl.cache.pod_info import HostPort, PodInfo

SCORED = 2
"""Rows of `NodeTable.scored`: cpu (millicores) and memory (bytes)."""
_FIRST = (resources.CPU, resources.MEMORY, resources.EPHEMERAL_STORAGE, resources.PODS)
"""The resources that every table knows, of which those that are scored with a minimum come first."""
_PODS = _FIRST.index(resources.PODS)
LARGE = 2**53
"""From which amount on float64 does not hold all whole numbers, and a hundred times as much may not be an int64."""


class Image(NamedTuple):
    """A container image on a node: all its names, and its size in bytes."""

    names: tuple[str, ...]
    size: int


class NodeTable:
    """All nodes of a cluster; see the module for the layout.

    Attributes:
        names: node name by row.
        objects: the Kubernetes object by row.
        row_of: row by node name, live nodes only.
        alive: bool (nodes,).
        allocatable, requested: int64 (resources, nodes), by the codes of `resource_names`.
        scored: int64 (2, nodes), requested cpu and memory with minimum requests counted in.
        has_large_amounts: whether some amount was `LARGE` or below 0 at some time.
        pod_count: int64 (nodes,).
        described, occupied: int64 (nodes,), the generation of the cluster at which a node, or what pods have taken of
            it, was last changed; undoing a change is one, too.
        unschedulable: bool (nodes,).
        taints, images, features: int32 (nodes,) into `taint_sets`, `image_sets` and `feature_sets`.
        labels: the label columns.
        ports: (protocol, port) to row to the addresses taken there.
    """

    def __init__(self, strings: Interner[str]) -> None:
        self.names: list[str] = []
        self.objects: list[Node] = []
        self.row_of: dict[str, int] = {}
        self.labels = LabelColumns(strings)
        self.resource_names: Interner[str] = Interner()
        for name in _FIRST:
            self.resource_names.code(name)
        # rows are never moved: a removed node's row stays, dead, so that undoing the removal is one bit
        self.alive: BoolArray = np.zeros(16, np.bool_)
        self.allocatable: IntArray = np.zeros((8, 16), np.int64)
        self.requested: IntArray = np.zeros((8, 16), np.int64)
        self.scored: IntArray = np.zeros((SCORED, 16), np.int64)
        self.pod_count: IntArray = np.zeros(16, np.int64)
        self.described: IntArray = np.zeros(16, np.int64)
        self.occupied: IntArray = np.zeros(16, np.int64)
        self.unschedulable: BoolArray = np.zeros(16, np.bool_)
        self.taints: CodeArray = np.zeros(16, np.int32)
        self.images: CodeArray = np.zeros(16, np.int32)
        self.features: CodeArray = np.zeros(16, np.int32)
        self.taint_sets: Interner[tuple[Taint, ...]] = Interner()
        self.image_sets: Interner[tuple[Image, ...]] = Interner()
        self.feature_sets: Interner[frozenset[str]] = Interner()
        self.ports: dict[tuple[str, int], dict[int, tuple[str, ...]]] = {}
        self._codes_of: dict[tuple[str, ...], slice | IndexArray] = {}
        self.has_large_amounts = False

    def __len__(self) -> int:
        return len(self.names)

    @property
    def rows(self) -> IndexArray:
        """The rows of live nodes in order of arrival, intp (live,)."""
        return np.flatnonzero(self.alive[: len(self.names)])

    def zone_interleaved(self) -> IndexArray:
        """Return the rows of live nodes, one of each zone in turn as in upstream's node tree, intp (live,).

        Zones come in order of first appearance, nodes within a zone in order of arrival. With every node judged the
        order changes nothing; with sampling (``percentageOfNodesToScore``) it decides which nodes are looked at.
        """
        zones: dict[tuple[str, str], list[int]] = {}
        for row in self.rows.tolist():
            zones.setdefault(node_tree_key(self.labels.maps[row]), []).append(row)
        turns = max(map(len, zones.values()), default=0)
        order = [rows[turn] for turn in range(turns) for rows in zones.values() if turn < len(rows)]
        return np.array(order, np.intp)

    def append(self, nodes: Sequence[Node]) -> IndexArray:
        """Add rows for nodes and return them, intp (nodes,); the caller marks them alive.

        Of nodes that share their status, what it says is read once.
        """
        first, many = len(self.names), len(nodes)
        rows = np.arange(first, first + many)
        self.names += [node.metadata.name for node in nodes]
        self.objects += nodes
        self.labels.put_all(node.metadata.labels for node in nodes)
        columns = ("alive", "pod_count", "described", "occupied", "unschedulable", "taints", "images", "features")
        for name in columns:
            setattr(self, name, grow(getattr(self, name), first + many))
        for name in ("allocatable", "requested", "scored"):
            setattr(self, name, grow(getattr(self, name), first + many))
        row_of_status: dict[int, int] = {}
        images: dict[int, Image] = {}
        for row, node in enumerate(nodes, first):
            if row_of_status.setdefault(id(node.status), row) == row:
                self._describe_status(row, node.status, images)
            self._describe_spec(row, node.spec)
        if len(row_of_status) < many:
            described = np.fromiter((row_of_status[id(node.status)] for node in nodes), np.intp, many)
            self.allocatable[:, rows] = self.allocatable[:, described]
            self.images[rows] = self.images[described]
            self.features[rows] = self.features[described]
        return rows

    def drop_last(self) -> None:
        """Take back the last row, on which nothing stands, as if it had never been appended."""
        self.names.pop()
        self.objects.pop()
        self.labels.drop_last()

    def describe(self, row: int, node: Node) -> None:
        """Set what the row says about the node itself, leaving what pods have taken from it."""
        self.objects[row] = node
        self.labels.put(row, node.metadata.labels)
        self._describe_spec(row, node.spec)
        self._describe_status(row, node.status, {})

    def _describe_spec(self, row: int, spec: NodeSpec) -> None:
        self.unschedulable[row] = spec.unschedulable
        self.taints[row] = self.taint_sets.code(tuple(spec.taints or ()))

    def _describe_status(self, row: int, status: NodeStatus, images: dict[int, Image]) -> None:
        """Set what the row says of a status; `images` are those that were met, by identity, and are added to."""
        offered = resources.allocatable(status.allocatable)
        codes = {self.resource_code(name): amount for name, amount in offered.items()}
        # only now, for a new code may have put another matrix in the place of this one; and all of it, for a resource
        # that is not offered any more
        self.allocatable[:, row] = 0
        for code, amount in codes.items():
            self.allocatable[code, row] = self._noted(amount)
        for image in status.images or ():
            if id(image) not in images:
                images[id(image)] = Image(tuple(image.names or ()), image.size_bytes)
        self.images[row] = self.image_sets.code(tuple(images[id(image)] for image in status.images or ()))
        self.features[row] = self.feature_sets.code(_in_order(status.declared_features or ()))

    def resource_code(self, name: str) -> int:
        """Return the matrix row of a resource, making one if it is new."""
        code = self.resource_names.code(name)
        if code >= self.allocatable.shape[0]:
            for attribute in ("allocatable", "requested"):
                matrix: IntArray = getattr(self, attribute)
                bigger = np.zeros((2 * code, matrix.shape[1]), np.int64)
                bigger[: matrix.shape[0]] = matrix
                setattr(self, attribute, bigger)
        return code

    def column(self, matrix: IntArray, resource: str) -> IntArray:
        """Return a resource's column of `allocatable` or `requested`; zeros where no node or pod has spoken of it."""
        code = self.resource_names.codes.get(resource)
        return matrix[code] if code is not None else np.zeros(matrix.shape[1], np.int64)

    def codes(self, names: tuple[str, ...]) -> slice | IndexArray | None:
        """Return where some resources stand in a matrix, to index it with; None where nobody has spoken of one."""
        found = self._codes_of.get(names)
        if found is None:
            known = self.resource_names.codes
            if not all(name in known for name in names):
                return None
            codes = [known[name] for name in names]
            in_a_row = codes == [*range(codes[0], codes[0] + len(codes))]  # indexing with a slice copies nothing
            found = slice(codes[0], codes[0] + len(codes)) if in_a_row else np.array(codes, np.intp)
            self._codes_of[names] = found
        return found

    def amounts(self, rows: IndexArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return what some rows offer, what is taken, and taken with the minimum, int64 (resources, rows) each.

        Of pods it is their number that is taken.
        """
        known = len(self.resource_names)
        offered = self.allocatable[:known].take(rows, axis=1)
        taken = self.requested[:known].take(rows, axis=1)
        taken[_PODS] = self.pod_count[rows]
        with_minimum = taken.copy()
        with_minimum[:SCORED] = self.scored.take(rows, axis=1)
        return offered, taken, with_minimum

    def amounts_of_all(self, codes: slice | IndexArray, rows: int, *, scored: bool) -> tuple[IntArray, IntArray] | None:
        """Return what the first rows offer of some resources and what is taken, int64 (resources, rows) each, live.

        None where they do not stand side by side in a matrix.
        """
        if not isinstance(codes, slice) or codes.stop > (SCORED if scored else _PODS):
            return None
        taken = self.scored if scored else self.requested
        return read_only(self.allocatable[codes, :rows]), read_only(taken[codes, :rows])

    def usage(self, quantity: str) -> IntArray:
        """Return what pods have taken of a resource, or of one of the quantities of `footprints`, int64 (nodes,)."""
        if quantity == POD_COUNT:
            return self.pod_count
        if quantity in (SCORED_CPU, SCORED_MEMORY):
            scored: IntArray = self.scored[0 if quantity == SCORED_CPU else 1]
            return scored
        return self.column(self.requested, quantity)

    def charge(self, row: int, footprint: Footprint, sign: int) -> None:
        """Count a pod in (``+1``) or out (``-1``) of what a node has given away; int64 wraps as Go's does."""
        # in Python's integers: NumPy warns of a scalar that overflows, although not of a column
        self.pod_count[row] = self.pod_count.item(row) + sign
        known = self.resource_names.codes
        for name, amount in footprint.exact:
            code = known.get(name)
            if code is None:
                code = self.resource_code(name)  # which may put another matrix in the place of this one
            total = self.requested.item(code, row) + sign * amount
            self.requested[code, row] = total if 0 <= total < LARGE else self._noted(total)
        scored = self.scored
        for code, amount in (0, footprint.scored_cpu), (1, footprint.scored_memory):
            total = scored.item(code, row) + sign * amount
            scored[code, row] = total if 0 <= total < LARGE else self._noted(total)
        if footprint.host_ports:
            self._charge_ports(row, footprint.host_ports, sign)

    def _noted(self, amount: int) -> int:
        """Return an amount as an int64, and take note if it is large."""
        if 0 <= amount < LARGE:
            return amount
        self.has_large_amounts = True
        return wrap_int64(amount)

    def charge_all(self, rows: IndexArray, infos: Sequence[PodInfo], equal_pods: EqualPods, sign: int = 1) -> None:
        """Count many pods in (``+1``) or out (``-1``) at once; ``rows[i]`` is the node of ``infos[i]``."""
        np.add.at(self.pod_count, rows, sign)
        requests = [info.requests for info in equal_pods.first]
        for name in dict.fromkeys(name for each in requests for name in each.exact):
            code = self.resource_code(name)
            self._add(self.requested[code], rows, [sign * each.exact.get(name, 0) for each in requests], equal_pods)
        self._add(self.scored[0], rows, [sign * each.scored_cpu for each in requests], equal_pods)
        self._add(self.scored[1], rows, [sign * each.scored_memory for each in requests], equal_pods)
        holding = np.array([bool(info.host_ports) for info in equal_pods.first], np.bool_)
        for position in np.flatnonzero(holding[equal_pods.of]).tolist():
            self._charge_ports(int(rows[position]), infos[position].host_ports, sign)

    def _add(self, column: IntArray, rows: IndexArray, amounts: list[int], equal_pods: EqualPods) -> None:
        """Add to each row what each pod takes; there is one amount for each group of equal pods."""
        np.add.at(column, rows, np.array(amounts, np.int64)[equal_pods.of])
        if int(column.view(np.uint64).max(initial=0)) >= LARGE:  # as unsigned integers, negative ones are the largest
            self.has_large_amounts = True

    def _charge_ports(self, row: int, host_ports: Sequence[HostPort], sign: int) -> None:
        for ip, protocol, port in host_ports:
            users = self.ports.setdefault((protocol, port), {})
            others = tuple(taken for taken in users.get(row, ()) if taken != ip)
            self._take(users, row, (*others, ip) if sign > 0 else others)

    @staticmethod
    def _take(users: dict[int, tuple[str, ...]], row: int, addresses: tuple[str, ...]) -> None:
        if addresses:
            users[row] = addresses
        else:
            users.pop(row, None)

    def ports_taken(self, row: int, host_ports: Sequence[HostPort]) -> list[tuple[tuple[str, int], tuple[str, ...]]]:
        """Return which addresses are taken on a node at each port of a pod, to be put back by `retake`.

        Ports are a set, as upstream's are: of two pods that hold the same one, the first to go frees it. So what
        taking a pod back has to restore cannot be known from the pod alone.
        """
        if not host_ports:
            return []
        keys = dict.fromkeys((protocol, port) for _, protocol, port in host_ports)
        return [(key, self.ports.get(key, {}).get(row, ())) for key in keys]

    def retake(self, row: int, taken: Sequence[tuple[tuple[str, int], tuple[str, ...]]]) -> None:
        """Put back what `ports_taken` returned."""
        for key, addresses in taken:
            self._take(self.ports.setdefault(key, {}), row, addresses)


def _in_order(declared: Sequence[str]) -> frozenset[str]:
    """Return the declared features without those out of order, which kube-scheduler overlooks."""
    return frozenset(name for name, highest in zip(declared, accumulate(declared, max), strict=True) if name == highest)

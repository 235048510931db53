"""`Nodes`: the read-only column of nodes that plugins see.

A position in the column is a row of the node table in a given occupancy. `Nodes.supposing` makes columns in which
other pods stand on a node, or a node stands several times; plugins read ``requested`` or ``pod_count`` and cannot
tell. What a plugin keeps in its own state of pods gained and lost it is told through ``with_pods``, from `changes`.

Columns are views of live data wherever the choice is all nodes in order: read them, copy what you keep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from schedctl.api import resources
from schedctl.api.nodes import Node, Taint
from schedctl.cache.arrays import BoolArray, CodeArray, IndexArray, IntArray, read_only
from schedctl.cache.labels import LabelColumns
from schedctl.cache.pod_info import HostPort, PodInfo

if TYPE_CHECKING:
    from schedctl.cache.cluster import Cluster

Set = TypeVar("Set")


@dataclass(frozen=True, slots=True)
class PodChanges:
    """Pods supposed gained or lost, in the order in which they come and go.

    Attributes:
        positions: intp (changes,), the position in the column each is about.
        pods: the pod of each change.
        signs: int64 (changes,), +1 for a pod gained, -1 for one lost.
    """

    positions: IndexArray
    pods: tuple[PodInfo, ...]
    signs: IntArray

    def at(self, position: int) -> list[tuple[PodInfo, int]]:
        """Return (pod, sign) of the changes at one position, in order."""
        return [(self.pods[i], int(self.signs[i])) for i in np.flatnonzero(self.positions == position)]


class Nodes:
    """A choice of node rows, possibly with pods supposed on them.

    Attributes:
        cluster: where the rows come from.
        rows: intp (n,), the node table row at each position.
        changes: pods supposed gained or lost, None when the column is as the cluster is.
    """

    __slots__ = ("__dict__", "_whole", "changes", "cluster", "rows")

    def __init__(self, cluster: Cluster, rows: IndexArray, changes: PodChanges | None = None) -> None:
        self.cluster = cluster
        self.rows = rows
        self.changes = changes
        self._whole = len(rows) == len(cluster.node_table) and rows is cluster.rows

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def names(self) -> list[str]:
        """Node names by position."""
        names = self.cluster.node_table.names
        return [names[row] for row in self.rows.tolist()]

    def take(self, positions: npt.NDArray[Any] | Sequence[int]) -> Nodes:
        """Return the column of these positions (indices or a mask), changes included."""
        chosen = np.asarray(positions)
        if chosen.dtype == np.bool_:
            chosen = np.flatnonzero(chosen)
        chosen = chosen.astype(np.intp, copy=False)
        if self.changes is None:
            return Nodes(self.cluster, self.rows[chosen])
        old = self.changes
        parts = [np.flatnonzero(old.positions == position) for position in chosen.tolist()]
        index = np.concatenate(parts) if parts else np.empty(0, np.intp)
        positions_now = np.repeat(np.arange(len(chosen), dtype=np.intp), [len(part) for part in parts])
        pods = tuple(old.pods[i] for i in index.tolist())
        return Nodes(self.cluster, self.rows[chosen], PodChanges(positions_now, pods, old.signs[index]))

    def supposing(self, positions: npt.ArrayLike, pods: Sequence[PodInfo], signs: npt.ArrayLike) -> Nodes:
        """Return the column with pods gained (+1) or lost (-1) at positions, after changes it already supposes."""
        where, how = np.asarray(positions, np.intp), np.asarray(signs, np.int64)
        if self.changes is not None:
            where = np.concatenate((self.changes.positions, where))
            how = np.concatenate((self.changes.signs, how))
            pods = (*self.changes.pods, *pods)
        return Nodes(self.cluster, self.rows, PodChanges(where, tuple(pods), how))

    # -- what the node is --------------------------------------------------------

    def object(self, position: int) -> Node:
        """Return the Kubernetes object at a position."""
        return self.cluster.node_table.objects[int(self.rows[position])]

    @property
    def unschedulable(self) -> BoolArray:
        """Which nodes are cordoned, bool (n,)."""
        return self._gather(self.cluster.node_table.unschedulable)

    def label(self, key: str) -> CodeArray:
        """Return the codes of a label, int32 (n,), `ABSENT` where a node has none; texts are in `cluster.strings`."""
        return self._gather(self.labels.column(key))

    @property
    def labels(self) -> LabelColumns:
        """The label columns of the whole node table, indexed by row, not by position."""
        return self.cluster.node_table.labels

    def gather(self, by_row: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return a column of this choice from one over the whole node table."""
        return self._gather(by_row)

    def judge_taints(self, judge: Callable[[tuple[Taint, ...]], Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return ``judge`` of each node's taints, asked once for each distinct set, as dtype (n,)."""
        table = self.cluster.node_table
        return self._judge(table.taints, table.taint_sets.values, judge, dtype)

    def judge_images(self, judge: Callable[[Any], Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return ``judge`` of each node's images (`tuple[Image, ...]`), once for each distinct set, as dtype (n,)."""
        table = self.cluster.node_table
        return self._judge(table.images, table.image_sets.values, judge, dtype)

    def judge_features(self, judge: Callable[[frozenset[str]], Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return ``judge`` of each node's declared features, once for each distinct set, as dtype (n,)."""
        table = self.cluster.node_table
        return self._judge(table.features, table.feature_sets.values, judge, dtype)

    def allocatable(self, resource: str) -> IntArray:
        """Return what each node offers of a resource, int64 (n,): millicores, bytes or units; 0 where none."""
        table = self.cluster.node_table
        return self._gather(table.column(table.allocatable, resource))

    # -- what pods have taken ----------------------------------------------------

    def requested(self, resource: str) -> IntArray:
        """Return what pods have taken of a resource, int64 (n,), supposed changes included."""
        table = self.cluster.node_table
        column = self._gather(table.column(table.requested, resource))
        if self.changes is None:
            return column
        return self._changed(column, lambda info: info.requests.exact.get(resource, 0))

    def scored_cpu(self) -> IntArray:
        """Return millicores taken, with the minimum for containers that ask for none, int64 (n,)."""
        column = self._gather(self.cluster.node_table.scored[0])
        return column if self.changes is None else self._changed(column, lambda info: info.requests.scored_cpu)

    def scored_memory(self) -> IntArray:
        """Return bytes taken, with the minimum for containers that ask for none, int64 (n,)."""
        column = self._gather(self.cluster.node_table.scored[1])
        return column if self.changes is None else self._changed(column, lambda info: info.requests.scored_memory)

    @property
    def pod_count(self) -> IntArray:
        """How many pods stand on each node, int64 (n,)."""
        column = self._gather(self.cluster.node_table.pod_count)
        return column if self.changes is None else self._changed(column, lambda info: 1)

    @property
    def allowed_pods(self) -> IntArray:
        """How many pods each node may hold, int64 (n,)."""
        return self.allocatable(resources.PODS)

    def pods_on(self, position: int) -> list[PodInfo]:
        """Return the pods standing on the node at a position, supposed changes included."""
        pods = self.cluster.pod_table.on(int(self.rows[position]))
        if self.changes is not None:
            for info, sign in self.changes.at(position):
                if sign > 0:
                    pods.append(info)
                else:
                    pods = [p for p in pods if p.key != info.key]
        return pods

    def port_users(self, protocol: str, port: int) -> list[tuple[int, tuple[str, ...]]]:
        """Return (position, addresses taken) of each node on which some pod holds a host port.

        Ports are a set on a node, as upstream's are: of two pods that hold the same one, the first to go frees it.
        """
        taken = self.cluster.node_table.ports.get((protocol, port), {})
        if self.changes is None:
            if not taken:
                return []
            if self._whole:
                return list(taken.items())
            position_of = self._positions_of(taken)
            return [(position, taken[row]) for row, position in position_of]
        held = {position: set(taken[row]) for row, position in self._positions_of(taken)}
        for position, info, sign in zip(
            self.changes.positions.tolist(), self.changes.pods, self.changes.signs.tolist(), strict=True
        ):
            for wanted in info.host_ports:
                if (wanted.protocol, wanted.port) == (protocol, port):
                    addresses = held.setdefault(position, set())
                    (addresses.add if sign > 0 else addresses.discard)(wanted.ip)
        return [(position, tuple(sorted(addresses))) for position, addresses in held.items() if addresses]

    # -- inside ------------------------------------------------------------------

    def _positions_of(self, taken: dict[int, tuple[str, ...]]) -> list[tuple[int, int]]:
        if len(self.rows) <= len(taken):
            return [(row, position) for position, row in enumerate(self.rows.tolist()) if row in taken]
        wanted = np.isin(self.rows, np.fromiter(taken, np.intp, len(taken)))
        return [(int(self.rows[position]), int(position)) for position in np.flatnonzero(wanted)]

    def _gather(self, by_row: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if self._whole:
            return read_only(by_row[: len(self.rows)])
        gathered: npt.NDArray[Any] = by_row[self.rows]
        return gathered

    def _judge(
        self, codes: CodeArray, sets: Sequence[Set], judge: Callable[[Set], Any], dtype: npt.DTypeLike
    ) -> npt.NDArray[Any]:
        judged = np.array([judge(each) for each in sets], dtype)
        gathered: npt.NDArray[Any] = judged[self._gather(codes)]
        return gathered

    def _changed(self, column: IntArray, amount: Callable[[PodInfo], int]) -> IntArray:
        assert self.changes is not None
        deltas = self.changes.signs * np.array([amount(info) for info in self.changes.pods], np.int64)
        column = column.copy()
        np.add.at(column, self.changes.positions, deltas)
        return column


class NodeInfo:
    """One position of a column, for plugins written ``@per_node`` and for explanations.

    Attributes:
        nodes: the column.
        position: the place in it.
    """

    __slots__ = ("nodes", "position")

    def __init__(self, nodes: Nodes, position: int) -> None:
        self.nodes = nodes
        self.position = position

    @property
    def object(self) -> Node:
        """The Kubernetes object."""
        return self.nodes.object(self.position)

    @property
    def name(self) -> str:
        """The node's name."""
        return self.object.metadata.name

    @property
    def labels(self) -> dict[str, str]:
        """The node's labels, empty where it has none."""
        return self.object.metadata.labels or {}

    @property
    def taints(self) -> list[Taint]:
        """The node's taints, empty where it has none."""
        return self.object.spec.taints or []

    @property
    def pods(self) -> list[PodInfo]:
        """The pods standing on the node."""
        return self.nodes.pods_on(self.position)

    def allocatable(self, resource: str) -> int:
        """Return what the node offers of a resource: millicores, bytes or units."""
        return int(self.nodes.take([self.position]).allocatable(resource)[0])

    def requested(self, resource: str) -> int:
        """Return what pods have taken of a resource: millicores, bytes or units."""
        return int(self.nodes.take([self.position]).requested(resource)[0])


__all__ = ["HostPort", "NodeInfo", "Nodes", "PodChanges"]

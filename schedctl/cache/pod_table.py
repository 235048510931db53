"""Running pods as a table, so that "the pods this selector selects, by node" is two array operations.

A selector over all running pods is a mask (`PodTable.select`), and a topology count is a ``bincount`` of the domains
of the nodes they run on. Rows of removed pods are reused.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from schedctl.api.quantities import MAX_INT64
from schedctl.api.selectors import LabelQuery
from schedctl.api.times import unix_nanoseconds
from schedctl.cache.arrays import BoolArray, CodeArray, IndexArray, IntArray, Interner, grow
from schedctl.cache.footprints import EqualPods, Footprint, Footprints
from schedctl.cache.labels import LabelColumns
from schedctl.cache.pod_info import PodInfo

NO_NODE = -1
"""The node row of a dead pod row."""
NOT_STARTED = MAX_INT64
"""The start time of a pod that has none: later than any other."""
_FEW = 64
"""Up to how many pods it is cheaper to put in order one by one than to sort all anew."""
_KEY, _LABELS, _PRIORITY = map(attrgetter, ("key", "labels", "priority"))
_DELETED = attrgetter("pod.metadata.deletion_timestamp")


class PodTable:
    """All pods that run on a known node.

    Attributes:
        row_of: row by pod key.
        labels: the label columns.
        footprints: the distinct footprints.
    """

    def __init__(self, strings: Interner[str]) -> None:
        self.strings = strings
        self.row_of: dict[str, int] = {}
        self.labels = LabelColumns(strings)
        self.footprints = Footprints()
        self._rows = 0
        self._infos: npt.NDArray[np.object_] = np.full(16, None, np.object_)
        self._node: IndexArray = np.full(16, NO_NODE, np.intp)
        self._namespace: CodeArray = np.zeros(16, np.int32)
        self._priority: IntArray = np.zeros(16, np.int64)
        self._terminating: BoolArray = np.zeros(16, np.bool_)
        self._footprint: CodeArray = np.zeros(16, np.int32)
        self._start_times: IntArray | None = None  # only preemption asks for them, and reading them is dear
        self._by_importance: IndexArray = np.empty(0, np.intp)
        self._unordered: set[int] | None = set()  # the rows put since the order was worked out, None for too many
        self._free: list[int] = []

    def __len__(self) -> int:
        return self._rows

    def __iter__(self) -> Iterator[PodInfo]:
        return (info for info in self.infos.tolist() if info is not None)

    @property
    def infos(self) -> npt.NDArray[np.object_]:
        """The `PodInfo` by row, object (rows,), None where the row is dead."""
        return self._infos[: self._rows]

    @property
    def node(self) -> IndexArray:
        """Node row by pod row, intp (rows,), `NO_NODE` where dead."""
        return self._node[: self._rows]

    @property
    def namespace(self) -> CodeArray:
        """Namespace code by pod row, in the cluster's interner, int32 (rows,)."""
        return self._namespace[: self._rows]

    @property
    def priority(self) -> IntArray:
        """Priority by pod row, int64 (rows,)."""
        return self._priority[: self._rows]

    @property
    def terminating(self) -> BoolArray:
        """Whether the pod is on its way out, by pod row, bool (rows,)."""
        return self._terminating[: self._rows]

    @property
    def footprint(self) -> CodeArray:
        """The code of what the pod takes from its node, by pod row, int32 (rows,)."""
        return self._footprint[: self._rows]

    @property
    def start_times(self) -> IntArray:
        """Start time in nanoseconds since 1970 by pod row, int64 (rows,), `NOT_STARTED` where there is none.

        Raises:
            ValueError: one is not written as RFC 3339 has it.
        """
        if self._start_times is None:
            times = (_start_time(info) if info is not None else NOT_STARTED for info in self.infos)
            self._start_times = np.fromiter(times, np.int64, self._rows)
        return self._start_times[: self._rows]

    @property
    def alive(self) -> BoolArray:
        """Which rows hold a pod, bool (rows,)."""
        placed: BoolArray = self.node != NO_NODE
        return placed

    @property
    def by_importance(self) -> IndexArray:
        """The rows of all pods, the most important first, intp; dead rows may be among them.

        A higher priority is more important, among equals the earlier start, then the earlier row. The order is kept,
        and pods that came since are put in their places.
        """
        if self._unordered is None or len(self._unordered) > _FEW:
            rows = np.flatnonzero(self.alive)
            self._by_importance = rows[np.lexsort((self.start_times[rows], -self.priority[rows]))]
        elif self._unordered:
            self._by_importance = self._reorder(self._unordered)
        self._unordered = set()
        return self._by_importance

    @property
    def free_rows(self) -> Sequence[int]:
        """The dead rows; the next pods come to the last of them."""
        return self._free

    def pod(self, key: str) -> PodInfo:
        """Return the running pod of a key.

        Raises:
            KeyError: there is none.
        """
        info: PodInfo = self._infos[self.row_of[key]]
        return info

    def terminating_pods(self) -> list[PodInfo]:
        """Return the pods that are on their way out, by row; there are few of them, and none is looked for."""
        pods: list[PodInfo] = self.infos[self.terminating & self.alive].tolist()
        return pods

    def put(self, info: PodInfo, node_row: int) -> Footprint:
        """Add a running pod and return what it means to its node."""
        if self._free:
            row = self._free.pop()
        else:
            row = self._rows
            self._make_room(row + 1)
        self._infos[row] = info
        self._node[row] = node_row
        self._namespace[row] = self.strings.code(info.namespace)
        self._priority[row] = info.priority
        self._terminating[row] = info.is_terminating
        self._footprint[row] = code = self.footprints.code(info)
        if self._start_times is not None:
            self._start_times[row] = _start_time(info)
        self.labels.put(row, info.labels)
        self.row_of[info.key] = row
        if self._unordered is not None:
            self._unordered.add(row)
        return self.footprints[code]

    def put_all(self, infos: Sequence[PodInfo], node_rows: IndexArray, equal_pods: EqualPods) -> None:
        """Add many running pods at once, in new rows."""
        first, many = self._rows, len(infos)
        self._make_room(first + many)
        self._fill(np.arange(first, first + many), infos, node_rows, equal_pods)
        self.labels.put_all(map(_LABELS, infos))

    def put_back(
        self, rows: IndexArray, infos: Sequence[PodInfo], node_rows: IndexArray, equal_pods: EqualPods
    ) -> None:
        """Add the pods again that `drop_all` removed last, in their rows."""
        del self._free[len(self._free) - len(rows) :]
        self._fill(rows, infos, node_rows, equal_pods)
        self.labels.replace_all(rows, [*map(_LABELS, infos)])

    def _fill(self, rows: IndexArray, infos: Sequence[PodInfo], node_rows: IndexArray, equal_pods: EqualPods) -> None:
        many, namespaces = len(infos), [self.strings.code(info.namespace) for info in equal_pods.first]
        self._infos[rows] = np.fromiter(infos, np.object_, many)
        self._node[rows] = node_rows
        self._namespace[rows] = np.array(namespaces, np.int32)[equal_pods.of]
        self._priority[rows] = np.fromiter(map(_PRIORITY, infos), np.int64, many)
        self._terminating[rows] = [at is not None for at in map(_DELETED, infos)]
        self._footprint[rows] = self.footprints.codes(equal_pods)
        if self._start_times is not None:
            self._start_times[rows] = np.fromiter((_start_time(info) for info in infos), np.int64, many)
        self.row_of.update(zip(map(_KEY, infos), rows.tolist(), strict=True))
        self._unordered = None

    def drop(self, info: PodInfo) -> tuple[int, Footprint]:
        """Remove a running pod and return the row of the node it ran on, and what it meant to it."""
        row = self.row_of.pop(info.key)
        node_row, footprint = int(self._node[row]), self.footprints[self._footprint[row]]
        self._infos[row] = None
        self._node[row] = NO_NODE
        self.labels.put(row, None)
        self._free.append(row)
        return node_row, footprint

    def drop_all(self, infos: Sequence[PodInfo]) -> tuple[IndexArray, IndexArray]:
        """Remove many running pods at once; return their rows and those of the nodes they ran on."""
        rows = np.fromiter((self.row_of[info.key] for info in infos), np.intp, len(infos))
        for info in infos:
            del self.row_of[info.key]
        node_rows = self._node[rows]
        self._infos[rows] = None
        self._node[rows] = NO_NODE
        self.labels.replace_all(rows, [None] * len(rows))
        self._free += rows.tolist()
        return rows, node_rows

    def on(self, node_row: int) -> list[PodInfo]:
        """Return the pods on a node, in order of their rows."""
        pods: list[PodInfo] = self.infos[self.node == node_row].tolist()
        return pods

    def on_each(self, node_rows: Sequence[int]) -> list[list[PodInfo]]:
        """Return the pods on each of some nodes, in order of their rows."""
        by_node: dict[int, list[PodInfo]] = {row: [] for row in node_rows}
        there = np.flatnonzero(np.isin(self.node, node_rows))
        for node_row, info in zip(self.node[there].tolist(), self.infos[there].tolist(), strict=True):
            by_node[node_row].append(info)
        return [by_node[row] for row in node_rows]

    def select(self, query: LabelQuery, namespaces: Iterable[str] | None = None) -> BoolArray:
        """Return which rows hold a pod with these labels in one of the namespaces (any, if None), bool (rows,)."""
        selected = self.labels.select(query)
        selected &= self.alive
        if namespaces is not None:
            codes = [self.strings.find_code(name) for name in namespaces]
            selected &= self.namespace == codes[0] if len(codes) == 1 else np.isin(self.namespace, codes)
        return selected

    def _make_room(self, rows: int) -> None:
        self._rows = rows
        if rows > len(self._infos):  # the others have room for as many
            self._infos = grow(self._infos, rows, None)
            self._node = grow(self._node, rows, NO_NODE)
            for name in ("_namespace", "_priority", "_terminating", "_footprint"):
                setattr(self, name, grow(getattr(self, name), rows))
        if self._start_times is not None:
            self._start_times = grow(self._start_times, rows)

    def _reorder(self, rows: set[int]) -> IndexArray:
        """Return the order of importance with some rows taken out and put where they belong."""
        moved = np.zeros(self._rows, np.bool_)
        moved[list(rows)] = True
        # dead rows stay in their places: they keep their priority and start, so that the order can be searched
        kept = self._by_importance[~moved[self._by_importance]]
        priority, started = self.priority, self.start_times

        def place(row: int) -> tuple[int, int, int]:
            return -int(priority[row]), int(started[row]), row

        arrivals = sorted(rows, key=place)
        return np.insert(kept, [bisect_left(kept, place(row), key=place) for row in arrivals], arrivals)


def _start_time(info: PodInfo) -> int:
    written = info.pod.status.start_time
    return NOT_STARTED if written is None else unix_nanoseconds(written)

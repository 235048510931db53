"""Running pods as a table, so that "the pods this selector selects, by node" is two array operations.

A selector over all running pods is a mask (`PodTable.select`), and a topology count is a ``bincount`` of the domains
of the nodes they run on. Rows of removed pods are reused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from schedctl.api.selectors import LabelQuery
from schedctl.cache.arrays import BoolArray, CodeArray, IndexArray, IntArray, Interner, grown
from schedctl.cache.labels import LabelColumns
from schedctl.cache.pod_info import PodInfo

NO_NODE = -1
"""The node row of a dead pod row."""


class PodTable:
    """All pods that run on a known node.

    Attributes:
        infos: the pod by row, None where the row is dead.
        row_of: row by pod key.
        node: intp (rows,), the node row, `NO_NODE` where dead.
        namespace: int32 (rows,), code of the namespace in the cluster's interner.
        priority: int64 (rows,).
        terminating: bool (rows,).
        labels: the label columns.
    """

    def __init__(self, strings: Interner[str]) -> None:
        self.strings = strings
        self.infos: list[PodInfo | None] = []
        self.row_of: dict[str, int] = {}
        self.labels = LabelColumns(strings)
        self._node: IndexArray = np.full(16, NO_NODE, np.intp)
        self._namespace: CodeArray = np.zeros(16, np.int32)
        self._priority: IntArray = np.zeros(16, np.int64)
        self._terminating: BoolArray = np.zeros(16, np.bool_)
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self.infos)

    def __iter__(self) -> Iterator[PodInfo]:
        return (info for info in self.infos if info is not None)

    @property
    def node(self) -> IndexArray:
        """Node row by pod row, intp (rows,)."""
        return self._node[: len(self.infos)]

    @property
    def namespace(self) -> CodeArray:
        """Namespace code by pod row, int32 (rows,)."""
        return self._namespace[: len(self.infos)]

    @property
    def priority(self) -> IntArray:
        """Priority by pod row, int64 (rows,)."""
        return self._priority[: len(self.infos)]

    @property
    def terminating(self) -> BoolArray:
        """Whether the pod is on its way out, by pod row, bool (rows,)."""
        return self._terminating[: len(self.infos)]

    @property
    def alive(self) -> BoolArray:
        """Which rows hold a pod, bool (rows,)."""
        placed: BoolArray = self.node != NO_NODE
        return placed

    def put(self, info: PodInfo, node_row: int) -> int:
        """Add a running pod and return its row."""
        if self._free:
            row = self._free.pop()
            self.infos[row] = info
        else:
            row = len(self.infos)
            self.infos.append(info)
            self._node = grown(self._node, row + 1, NO_NODE)
            self._namespace = grown(self._namespace, row + 1)
            self._priority = grown(self._priority, row + 1)
            self._terminating = grown(self._terminating, row + 1)
        self._node[row] = node_row
        self._namespace[row] = self.strings.code(info.namespace)
        self._priority[row] = info.priority
        self._terminating[row] = info.terminating
        self.labels.put(row, info.labels)
        self.row_of[info.key] = row
        return row

    def put_all(self, infos: Sequence[PodInfo], node_rows: IndexArray) -> None:
        """Add many running pods at once, in new rows."""
        first, many = len(self.infos), len(infos)
        code = self.strings.code
        self._node = grown(self._node, first + many, NO_NODE)
        self._namespace = grown(self._namespace, first + many)
        self._priority = grown(self._priority, first + many)
        self._terminating = grown(self._terminating, first + many)
        rows = slice(first, first + many)
        self._node[rows] = node_rows
        self._namespace[rows] = np.fromiter((code(info.namespace) for info in infos), np.int32, many)
        self._priority[rows] = np.fromiter((info.priority for info in infos), np.int64, many)
        self._terminating[rows] = np.fromiter((info.terminating for info in infos), np.bool_, many)
        self.infos += infos
        for row, info in enumerate(infos, first):
            self.labels.put(row, info.labels)
            self.row_of[info.key] = row

    def drop(self, info: PodInfo) -> int:
        """Remove a running pod and return the row of the node it ran on."""
        row = self.row_of.pop(info.key)
        node_row = int(self._node[row])
        self.infos[row] = None
        self._node[row] = NO_NODE
        self.labels.put(row, None)
        self._free.append(row)
        return node_row

    def on(self, node_row: int) -> list[PodInfo]:
        """Return the pods on a node, in order of their rows."""
        return [info for row in np.flatnonzero(self.node == node_row) if (info := self.infos[row]) is not None]

    def select(self, query: LabelQuery, namespaces: Iterable[str] | None = None) -> BoolArray:
        """Return which rows hold a pod with these labels in one of the namespaces (any, if None), bool (rows,)."""
        selected = self.labels.select(query)
        selected &= self.alive
        if namespaces is not None:
            codes = [self.strings.known(name) for name in namespaces]
            selected &= self.namespace == codes[0] if len(codes) == 1 else np.isin(self.namespace, codes)
        return selected

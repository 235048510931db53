"""What is asked about, and what has changed: nodes of a cluster, small columns, and logs of positions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from schedctl.cache.arrays import NO_ROWS, BoolArray, IndexArray
from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import Nodes

_SINGLE = 4
"""Up to how many numbers are put in order one by one."""
_LOG_KEPT = 256
"""How many changed positions of a column are kept; whoever is further behind takes all rows for new."""
_LOG_ROOM = 32
"""For how many positions a log has room at first."""


def distinct(parts: Sequence[IndexArray], among: int) -> IndexArray:
    """Return the numbers, below so many, of some arrays, each once and in order, intp."""
    if sum(map(len, parts)) <= _SINGLE:  # as after a placement: a few rows are not looked for among all
        first = parts[0]
        if len(first) == 1 and (len(parts) == 1 or (len(parts) == 2 and parts[1].tolist() == first.tolist())):
            return first
        return np.array(sorted({number for part in parts for number in part.tolist()}), np.intp)
    there = np.zeros(among, np.bool_)  # several times as fast as `np.unique`
    for part in parts:
        there[part] = True
    return np.flatnonzero(there)


class ChangeLog:
    """Which positions of a column have changed, by generation."""

    __slots__ = ("_begins", "_count", "_generations", "_last", "_positions", "_starts", "latest")
    _generations: list[int]
    _starts: list[int]

    def __init__(self, generation: int) -> None:
        self.begin(generation)

    def begin(self, generation: int) -> None:
        """Note that everything may have changed."""
        self.latest = self._begins = generation
        self._count = 0
        # the positions have room for more behind the first so many; what is written stays as it is
        self._positions = self._last = NO_ROWS

    def note(self, generation: int, positions: IndexArray) -> None:
        """Note that some positions have changed."""
        self.latest, self._last = generation, positions
        end = self._count + len(positions)
        if end > len(self._positions):
            self._make_room(len(positions))
            end = self._count + len(positions)
        self._positions[self._count : end] = positions
        if not self._count:  # most logs end before anything is noted
            self._generations, self._starts = [], []
        self._generations.append(generation)
        self._starts.append(self._count)  # where among the positions those of a generation start
        self._count = end

    def since(self, generation: int) -> IndexArray | None:
        """Return the positions that have changed after a generation, of which some may come twice; None for any."""
        if generation < self._begins:
            return None
        if generation >= self.latest:
            return NO_ROWS
        first = bisect_right(self._generations, generation)
        if first == len(self._generations) - 1:
            return self._last
        return self._positions[self._starts[first] : self._count]

    def _make_room(self, more: int) -> None:
        """Find room for more positions, elsewhere, since others look at those that are written."""
        if self._count > _LOG_KEPT:
            first = bisect_right(self._starts, self._count - _LOG_KEPT)
            start = self._starts[first] if first < len(self._starts) else self._count
            self._begins = self._generations[first - 1]
            del self._generations[:first], self._starts[:first]
            self._starts = [each - start for each in self._starts]
        else:
            start = 0
        kept = self._positions[start : self._count]
        self._count = len(kept)
        self._positions = np.empty(2 * (self._count + more) + _LOG_ROOM, np.intp)
        self._positions[: self._count] = kept


class Foresight(NamedTuple):
    """What the look-ahead knows of the one row on which a pod of the class has just been placed.

    Attributes:
        since: the generation before that.
        row, position: the row, and where it stands.
        positions: the same as an array.
        rejected: whether a plugin rejects it now, by name.
        scores: its score, by name.
    """

    since: int
    row: int
    position: int
    positions: IndexArray
    rejected: dict[str, bool]
    scores: dict[str, int]


class Surroundings:
    """The cluster, the nodes in question, and the small columns that plugins are asked about again.

    Attributes:
        cluster: the cluster.
        every: all its nodes, which PreFilter is asked about.
        nodes: the nodes among which pods are placed: all of them, or those of a placement; they are the same ones as
            long as this is used.
        size: how many these are.
        whole: whether positions among them are rows of the table.
        unknown: bool (size,), False everywhere and never written to, of whoever knows nothing yet.
        epoch: grows when a column comes to rest on pods that did not before.
    """

    def __init__(self, cluster: Cluster, placement: Nodes | None = None) -> None:
        self.cluster = cluster
        self.every = cluster.nodes
        self.nodes = self.every if placement is None else placement
        self.epoch = 0
        self.size = len(self.nodes)
        self.whole = self.size == len(cluster.node_table)
        self.unknown: BoolArray = np.zeros(self.size, np.bool_)
        self.unknown.flags.writeable = False
        self._within: BoolArray | None = None
        if placement is not None:
            self._within = np.zeros(len(cluster.node_table), np.bool_)
            self._within[placement.rows] = True
        self._changed: dict[int, tuple[IndexArray, IndexArray]] = {}
        self._columns: dict[bytes, Nodes] = {}
        self._generation = -1

    def changed_rows(self, since: int) -> tuple[IndexArray, IndexArray]:
        """Return the rows of nodes that are described, and those that are occupied, otherwise than at a generation."""
        self._forget_earlier()
        found = self._changed.get(since)
        if found is None:
            table = self.cluster.node_table
            occupied = (table.occupied[: len(table)] > since).nonzero()[0]
            described = NO_ROWS
            if self.cluster.objects_since > since:
                described = (table.described[: len(table)] > since).nonzero()[0]
            found = self._changed[since] = self.within(described), self.within(occupied)
        return found

    def occupancy_changes(self, since: int) -> IndexArray:
        """Return where nodes are occupied otherwise than at a generation."""
        rows = self.changed_rows(since)[1]
        return rows if self.whole else self.nodes.positions(rows)

    def within(self, rows: IndexArray) -> IndexArray:
        """Return those of some rows that are in question."""
        if self.whole:
            return rows
        mask = self.cluster.node_table.alive if self._within is None else self._within
        return rows[mask[rows]]

    def holds(self, row: int) -> bool:
        """Return whether a row of a live node is in question."""
        return self._within is None or bool(self._within[row])

    def note_changed(self, since: int, row: int) -> IndexArray:
        """Take note that one row is all that has changed after a generation; return it as an array."""
        self._forget_earlier()
        rows = np.array([row], np.intp)
        self._changed[since] = NO_ROWS, rows
        return rows

    def column(self, positions: IndexArray) -> Nodes:
        """Return the column of some positions; plugins that are asked about the same ones share it."""
        self._forget_earlier()
        key = positions.tobytes()
        column = self._columns.get(key)
        if column is None:
            column = self._columns[key] = self.nodes.take_now(positions)
        return column

    def _forget_earlier(self) -> None:
        if self._generation != self.cluster.generation:
            self._generation = self.cluster.generation
            self._changed.clear()
            self._columns.clear()

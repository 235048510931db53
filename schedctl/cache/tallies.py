"""`Tally`: what is counted at each index of a long column, most of which are 0.

Every template brings counts by node of its own, and at first few of its pods run: to fill columns with zeros for all of
them takes longer than to count. A tally keeps one entry for each index with something, until these are many.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from schedctl.cache.arrays import NO_ROWS, BoolArray, IndexArray, IntArray

_SHORT = 256
"""Columns of up to this length are written out from the start."""
_MOST = 128
"""Of how many indices at most the numbers are kept one by one."""
_FEW = 32
"""Up to how many indices are looked up one by one."""
_NOT_WRITTEN: IntArray = np.zeros(0, np.int64)


class Tally:
    """Whole numbers by index, 0 where nothing was added."""

    __slots__ = ("_array", "_entries", "_size")

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: dict[int, int] | None  # of the numbers that are not 0; None where all of them are in the array
        if size > _SHORT:
            self._entries, self._array = {}, _NOT_WRITTEN
        else:
            self._entries, self._array = None, np.zeros(size, np.int64)

    def __len__(self) -> int:
        return self._size

    def add(self, index: int, amount: int) -> int:
        """Add to the number at an index, and return what it is now."""
        entries = self._entries
        if entries is None:
            now = self._array.item(index) + amount
            self._array[index] = now
            return now
        now = entries.get(index, 0) + amount
        if now:
            entries[index] = now
            if len(entries) > _MOST:
                self._write_out()
        else:
            entries.pop(index, None)
        return now

    def add_all(self, indices: IndexArray, amounts: IntArray | int) -> None:
        """Add to the numbers at some indices, of which some may come several times."""
        if not len(indices):
            return
        self._write_out()
        np.add.at(self._array, indices, amounts)
        there = np.flatnonzero(self._array)
        if self._size > _SHORT and len(there) <= _MOST:
            self._entries = dict(zip(there.tolist(), self._array[there].tolist(), strict=True))
            self._array = _NOT_WRITTEN

    def item(self, index: int) -> int:
        """Return the number at an index."""
        return self._array.item(index) if self._entries is None else self._entries.get(index, 0)

    def at(self, indices: IndexArray) -> IntArray:
        """Return the numbers at some indices, int64 (n,), owned by the caller."""
        entries = self._entries
        if entries is not None and len(indices) <= _FEW:
            return np.array([entries.get(index, 0) for index in indices.tolist()], np.int64)
        return self.array.take(indices)

    def positive_at(self, indices: IndexArray) -> BoolArray:
        """Return at which of some indices the number is above 0, bool (n,), owned by the caller."""
        entries = self._entries
        if len(indices) <= (self._size if entries is None else _FEW):
            return np.greater(self.at(indices), 0)
        if entries is None:
            return np.greater(self._array, 0).take(indices)
        there = [index for index, number in entries.items() if number > 0]
        if not there:  # as for a template of which no pod runs yet
            return np.zeros(len(indices), np.bool_)
        positive = np.zeros(self._size, np.bool_)
        positive[there] = True
        return positive.take(indices)

    @property
    def is_sparse(self) -> bool:
        """Whether few numbers are not 0, so that it is cheap to go through `some`."""
        return self._entries is not None

    @property
    def array(self) -> IntArray:
        """All numbers, int64 (size,), to be read; it may be live."""
        if self._entries is None:
            return self._array
        array = np.zeros(self._size, np.int64)
        if self._entries:
            indices, numbers = self.some
            array[indices] = numbers
        return array

    @property
    def some(self) -> tuple[IndexArray, IntArray]:
        """The indices at which the number is not 0, each once, and the numbers there."""
        entries = self._entries
        if entries is None:
            there = np.flatnonzero(self._array)
            return there, self._array[there]
        many = len(entries)
        if not many:
            return NO_ROWS, _NOT_WRITTEN
        return np.fromiter(entries, np.intp, many), np.fromiter(entries.values(), np.int64, many)

    def few(self, most: int) -> Iterable[tuple[int, int]] | None:
        """Return what `some` does as pairs, live; None where these are more than so many, or not kept one by one."""
        entries = self._entries
        return None if entries is None or len(entries) > most else entries.items()

    def _write_out(self) -> None:
        """Keep all numbers in an array from now on."""
        self._array, self._entries = self.array, None

"""Small building blocks of the tables: array types, growth, interning."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
CodeArray = npt.NDArray[np.int32]
IndexArray = npt.NDArray[np.intp]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

NO_ROWS: IndexArray = np.empty(0, np.intp)
T = TypeVar("T", bound=Hashable)
ABSENT = -1
"""The code of a label that is not there; an empty value has a code of its own."""
UNKNOWN = -2
"""The code of a text no object carries, which therefore equals nothing."""


def grow(array: npt.NDArray[Any], size: int, fill: int | None = 0) -> npt.NDArray[Any]:
    """Return the array with room for at least ``size`` entries on its last axis, new ones set to ``fill``."""
    have = array.shape[-1]
    if size <= have:
        return array
    bigger = np.full((*array.shape[:-1], max(size, 2 * have, 16)), fill, array.dtype)
    bigger[..., :have] = array
    return bigger


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a view that cannot be written through."""
    view = array.view()
    view.flags.writeable = False
    return view


def positions(codes: npt.NDArray[Any], many: int) -> list[IndexArray]:
    """Return where each of the first so many codes stands in an array, in order."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(codes, minlength=many)))[:many]


class Interner(Generic[T]):
    """Gives each distinct value a small code, in order of first sight."""

    __slots__ = ("codes", "values")

    def __init__(self) -> None:
        self.codes: dict[T, int] = {}
        self.values: list[T] = []

    def __len__(self) -> int:
        return len(self.values)

    def code(self, value: T) -> int:
        """Return the code of a value, giving it one if it is new."""
        code = self.codes.get(value)
        if code is None:
            code = self.codes[value] = len(self.values)
            self.values.append(value)
        return code

    def find_code(self, value: T) -> int:
        """Return the code of a value, `UNKNOWN` if it was never seen."""
        return self.codes.get(value, UNKNOWN)

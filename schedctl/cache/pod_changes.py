"""`PodChanges`: which pods a hypothetical column of nodes has gained and lost, against the cluster as it is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from schedctl.cache.arrays import CodeArray, IndexArray, IntArray
from schedctl.cache.pod_info import PodInfo


class PodChanges:
    """Pods supposed gained or lost, in the order in which they come and go at each position.

    Attributes:
        positions: intp (changes,), the position in the column each is about.
        rows: intp (changes,), the row of each pod in the pod table, -1 for a pod that does not run.
        footprints: int32 (changes,), what each pod takes, by code.
        signs: int64 (changes,), +1 for a pod gained, -1 for one lost.
    """

    __slots__ = ("_pods", "footprints", "positions", "rows", "signs")

    def __init__(
        self,
        positions: IndexArray,
        rows: IndexArray,
        footprints: CodeArray,
        signs: IntArray,
        pods: Callable[[], npt.NDArray[np.object_]],
    ) -> None:
        self.positions = positions
        self.rows = rows
        self.footprints = footprints
        self.signs = signs
        self._pods = pods

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def pods(self) -> npt.NDArray[np.object_]:
        """The `PodInfo` of each change, object (changes,)."""
        return self._pods()

    def at(self, position: int) -> list[tuple[PodInfo, int]]:
        """Return (pod, sign) of the changes at one position, in order."""
        here = np.flatnonzero(self.positions == position)
        return list(zip(self.pods[here].tolist(), self.signs[here].tolist(), strict=True))

    def take(self, positions: IndexArray) -> PodChanges:
        """Return the changes at these positions, each of which may be asked for several times, as those of a column."""
        by_position = np.argsort(self.positions, kind="stable")
        ordered = self.positions[by_position]
        # the changes at a position are a range of the order; all ranges asked for are put together without a loop
        begin = np.searchsorted(ordered, positions)
        counts = np.searchsorted(ordered, positions, "right") - begin
        now = np.repeat(np.arange(len(positions), dtype=np.intp), counts)
        within = np.arange(len(now)) - np.repeat(np.cumsum(counts) - counts, counts)
        index = by_position[np.repeat(begin, counts) + within]
        return PodChanges(now, self.rows[index], self.footprints[index], self.signs[index], lambda: self.pods[index])

    def then(self, later: PodChanges) -> PodChanges:
        """Return these changes and then others of the same column."""
        return PodChanges(
            np.concatenate((self.positions, later.positions)),
            np.concatenate((self.rows, later.rows)),
            np.concatenate((self.footprints, later.footprints)),
            np.concatenate((self.signs, later.signs)),
            lambda: np.concatenate((self.pods, later.pods)),
        )

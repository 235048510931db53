"""Looking ahead: what will be said of a node with one more pod of a class on it, and two more, and so on.

The next placements of a class each change one row in a way that is known beforehand, so many rows are judged in one
column, which costs hardly more than judging one. Only plugins that are `foreseeable` can be asked so, and only as long
as nothing else happens to the row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from schedctl.cache.arrays import BoolArray, IndexArray, IntArray
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.batching.answer_columns import AnswerColumn
from schedctl.engine.batching.surroundings import distinct

_MOST_LEVELS = 32
"""How many placements on one node are looked ahead at most."""
_FEW = 8
"""One in how many nodes are few: where only so few run out of levels, pods pile up on some before they go to others."""
_SOON = 128
"""How many of the nodes that are likely to come next are judged along with those."""
_ROWS = 1024
"""How many rows are judged in one column, where there are fewer nodes to look ahead from."""
_SCORE = np.int8


class Lookahead:
    """The answers about the next levels of each position; level k is what is true after k + 1 more placements there.

    Attributes:
        plugins: the names of those who are asked.
    """

    def __init__(self, nodes: Nodes, footprint: int, stamps: Mapping[str, int]) -> None:
        """Begin with nothing foreseen.

        Args:
            nodes: all nodes.
            footprint: the code of what each of the pods takes.
            stamps: the plugins that are asked, each with how many times it has forgotten answers.
        """
        count = len(nodes)
        self._footprint = footprint
        self._stamps = stamps
        self.plugins = frozenset(stamps)
        self._nodes = nodes
        self._level = np.zeros(count, np.int8)
        self._depth = np.zeros(count, np.int8)
        self._refused: dict[str, BoolArray] = {}
        self._scores: dict[str, npt.NDArray[np.int8]] = {}

    def reaches(self, position: int) -> bool:
        """Return whether the next level of a position is known."""
        return self._level.item(position) < self._depth.item(position)

    def holds(self, footprint: int, columns: Mapping[str, AnswerColumn]) -> bool:
        """Return whether what is foreseen is about such pods, and still what the plugins would say."""
        unchanged = (columns[name].forgotten == stamp for name, stamp in self._stamps.items())
        return footprint == self._footprint and all(unchanged)

    def void(self, positions: IndexArray) -> None:
        """Forget the levels of positions to which something else has happened."""
        self._depth[positions] = 0

    def extend(
        self,
        pod: PodInfo,
        position: int,
        feasible: BoolArray,
        likely: IndexArray,
        filters: Mapping[str, Callable[[Nodes], BoolArray]],
        scores: Mapping[str, Callable[[Nodes], IntArray]],
    ) -> None:
        """Judge the next levels of every feasible position of which none is known.

        Where only a few have run out, those likely to come next are judged with them, all several levels ahead.

        Args:
            pod: a pod of the class.
            position: where one has just been placed, so that its next level is the row as it is.
            feasible: bool (n,).
            likely: positions in the order in which they are likely to be chosen next, intp.
            filters: by plugin, which rows of a column it refuses.
            scores: by plugin, the normalised scores of the rows of a column.
        """
        left = self._depth - self._level
        where = np.flatnonzero(feasible & (left <= 0))
        # pods pile up on a few nodes: others that will run out soon come along, and more levels go into one column
        if len(where) * _FEW < np.count_nonzero(feasible):
            soon = likely[:_SOON]
            where = distinct((where, soon[left[soon] < _FEW]), len(feasible))
        levels = max(1, min(_MOST_LEVELS, _ROWS // len(where)))
        gains = np.tile(np.arange(1, levels + 1), (len(where), 1))
        gains[where == position] -= 1  # the pod just placed stands there already: its first level is the row as it is
        column = self._nodes.take(np.repeat(where, levels))
        column = column.hypothetical_copies(np.repeat(np.arange(gains.size), gains.ravel()), pod)
        for name, refuses in filters.items():
            self._refused[name] = self._with(self._refused.get(name), refuses(column), where, np.bool_)
        for name, worth in scores.items():
            self._scores[name] = self._with(self._scores.get(name), worth(column), where, _SCORE)
        self._level[where] = 0
        self._depth[where] = levels

    def advance(self, position: int) -> tuple[dict[str, bool], dict[str, int]]:
        """Go to the next level of a position; return by plugin whether it refuses the node now, and its score."""
        level = self._level.item(position)
        self._level[position] = level + 1  # the caller has seen to it that the level is known (`reaches`)
        refused = {name: levels.item(level, position) for name, levels in self._refused.items()}
        return refused, {name: levels.item(level, position) for name, levels in self._scores.items()}

    def _with(self, known: npt.NDArray[Any] | None, answers: npt.NDArray[Any], where: IndexArray, dtype: Any) -> Any:
        """Return levels by position, [level, position], with the answers for some positions, level by level."""
        levels = len(answers) // len(where)
        have = 0 if known is None else len(known)
        if have < levels:
            room = np.zeros((levels, len(self._nodes)), dtype)
            if known is not None:
                room[:have] = known
            known = room
        assert known is not None
        known[:levels, where] = answers.reshape(-1, levels).T
        return known

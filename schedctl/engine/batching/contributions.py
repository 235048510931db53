"""What each score plugin adds to the totals of an equivalence class, kept from one placement to the next.

A normalised score depends on the feasible set, as a rule through the least and the largest raw score alone, so it is
the class's own; a score that is not normalised is read off the plugin's column. Sums are worked out again at the nodes
where a part of them is new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from schedctl.cache.arrays import NO_ROWS, BoolArray, IndexArray, IntArray
from schedctl.cache.nodes import Nodes
from schedctl.engine.batching.answer_columns import AnswerColumn, CannotUpdate
from schedctl.engine.batching.plugin_orders import PluginOrder
from schedctl.engine.batching.surroundings import Surroundings, distinct
from schedctl.framework.points import ScorePlugin

_SCORE = np.int8
_EVERYWHERE = slice(None)
Scores = npt.NDArray[np.int64 | np.int8]


class Contribution:
    """What one plugin contributes.

    Attributes:
        plugin: the plugin.
        column: its raw scores.
        weight: what a normalised score is multiplied with.
        normalized: int8 (n,), true where a node is feasible; None where all have the same, or it is the column's.
        same_for_all: the normalised score of all nodes, where they have the same.
        least, most: the extremes of the raw scores of the feasible nodes, as of the last normalisation.
        uniform: whether the raw scores of all nodes were the same then, so that it did not matter which are feasible.
        normalized_of: what some raw scores are between these extremes, where nothing else decides that.
    """

    __slots__ = (
        "column",
        "least",
        "most",
        "normalized",
        "normalized_of",
        "plugin",
        "same_for_all",
        "uniform",
        "weight",
    )

    def __init__(self, plugin: ScorePlugin, column: AnswerColumn, weight: int) -> None:
        self.plugin = plugin
        self.column = column
        self.weight = weight
        self.normalized: npt.NDArray[np.int8] | None = None
        self.same_for_all = 0
        self.least = self.most = 0
        self.uniform = False
        self.normalized_of: dict[int, int] = {}

    @property
    def holds_for_any(self) -> bool:
        """Whether it does not matter which nodes are feasible, and the scores of all are known."""
        column = self.column
        if column.normalizes:
            return self.uniform and column.is_uniform
        return column.is_rated and not column.out_of_range

    def holds_without(self, lost: IndexArray) -> bool:
        """Return whether the scores of all other nodes are as they were when some are no longer feasible."""
        column = self.column
        if not column.normalizes:
            return True
        if not self.plugin.normalizes_by_extremes or self.plugin.reads_feasible_set:
            return False
        assert column.scores is not None
        raw = column.scores[lost]
        return self.least == self.most or not bool(((raw == self.least) | (raw == self.most)).any())

    def at(self, positions: IndexArray | slice) -> Scores | int:
        """Return the normalised scores at some positions, one number where they all have the same."""
        column = self.column
        if not column.normalizes:
            assert column.scores is not None
            return 0 if column.is_blank else column.scores[positions]
        return self.same_for_all if self.normalized is None else self.normalized[positions]


class Contributions:
    """The contributions of the score plugins to one class's totals.

    Attributes:
        sums: int32 or int64 (n,), the weighted sum, true where a node is feasible.
        is_prepared_anew: whether PreScore was asked in the last update.
    """

    __slots__ = (
        "_around",
        "_columns",
        "_constant",
        "_dtype",
        "_everywhere",
        "_order",
        "_parts",
        "_private",
        "_shifted",
        "generation",
        "is_prepared_anew",
        "sums",
    )

    def __init__(
        self, around: Surroundings, order: PluginOrder, columns: Mapping[str, AnswerColumn], constant: int
    ) -> None:
        """Begin, with nothing known yet.

        Args:
            around: the cluster.
            order: the plugins.
            columns: what they say, by name.
            constant: what others add to all sums.
        """
        self._around = around
        self._constant = constant
        self._order = order
        self._columns = columns
        self._dtype = order.sum_dtype
        self.sums: npt.NDArray[np.int32 | np.int64] = np.zeros(0, self._dtype)
        self._parts: dict[str, Contribution] = {}
        self._private: dict[str, AnswerColumn] = {}
        self._shifted = self._everywhere = False
        self.is_prepared_anew = False
        self.generation = -1

    @property
    def private_columns(self) -> Iterator[AnswerColumn]:
        """The columns of plugins whose PreScore or Score read the feasible set, which no two classes share."""
        yield from self._private.values()

    @property
    def skipping(self) -> set[str]:
        """The plugins whose PreScore skips."""
        return {name for name in self._order.preparing if self._column_of(name).skips_score}

    def has(self, name: str) -> bool:
        """Return whether a plugin contributes."""
        return name in self._parts

    def forget(self) -> None:
        """Have everything worked out again next time."""
        self.generation = -1

    def update(
        self, feasible: BoolArray, many: int, nodes: Callable[[], Nodes], *, renewed: bool, flipped: IndexArray | None
    ) -> IndexArray | None:
        """Bring the sums up to date, and return where they are new; None where that may be anywhere.

        Args:
            feasible: which nodes are feasible, bool (n,), at least one.
            many: how many that are.
            nodes: makes the column of the feasible nodes.
            renewed: whether PreFilter was asked again.
            flipped: where a node has become feasible, or no longer is; None where that may be anywhere.

        Raises:
            CannotUpdate: a plugin refuses, or a score is out of range.
            CycleError: a plugin fails.
            PluginError: one says that it cannot answer.
        """
        since = -1 if renewed else self.generation
        self.generation = -1
        same = since >= 0 and flipped is not None and not len(flipped)
        self._everywhere = many == len(feasible)
        seeded = since >= 0
        for name, private in self._private.items():
            shared = self._columns[name]
            private.cycle.pod = shared.cycle.pod
            if not same:
                private.reset_scores()  # first, so that nothing is asked again that is forgotten afterwards
            private.update()
            seeded = seeded and same and private.asked_at == shared.asked_at
        whole, self._shifted, self.is_prepared_anew = since < 0, False, False
        if not seeded:
            self._prepare(nodes)
            # the first time in any case: another class may have prepared all of the columns that they share
            whole = ((self.is_prepared_anew or since < 0) and self._choose_parts()) or whole
        gained = flipped is None or (len(flipped) > 0 and bool(feasible[flipped].any()))
        lost = None if gained else flipped
        moved: list[IndexArray] = []
        for part in self._parts.values():
            column = part.column
            holds = not whole and column.score_log.latest <= since
            if holds and (same or part.holds_for_any or (lost is not None and part.holds_without(lost))):
                continue
            if not (whole or column.normalizes) and part.holds_for_any:
                found = column.score_log.since(since)
            else:
                found = self._refresh(part, feasible, nodes, -1 if whole else since, same=same, gained=gained)
            if found is None:
                whole = True
            elif len(found):
                moved.append(found)
        if gained and flipped is not None and any(part.column.is_scored_by_row for part in self._parts.values()):
            moved.append(flipped)  # another class may have asked about these since, so that they are no news here
        self.generation = self._around.cluster.generation
        if whole:
            self.sums = self._sums_at(_EVERYWHERE, len(feasible))
            return None
        if not moved:
            return None if self._shifted else NO_ROWS
        if len(moved[0]) == 1 and (len(moved) == 1 or all(each is moved[0] for each in moved)):
            position = moved[0].item()
            self.sums[position] = self._sum_at(position)
            return None if self._shifted else moved[0]
        at = moved[0] if len(moved) == 1 else np.concatenate(moved)  # a node that comes twice gets the same sum twice
        if len(at) > len(feasible):
            at = distinct(moved, len(feasible))
        self.sums[at] = self._sums_at(at, len(at))
        return None if self._shifted else at

    def _sum_at(self, position: int) -> int:
        """Return the sum at one position, as it is needed after nearly every placement."""
        total = self._constant
        for part in self._parts.values():
            column = part.column
            if column.normalizes:
                normalized = part.normalized
                total += (part.same_for_all if normalized is None else normalized.item(position)) * part.weight
            elif not column.is_blank and column.scores is not None:
                total += column.scores.item(position) * part.weight
        return total

    def _sums_at(self, at: IndexArray | slice, many: int) -> npt.NDArray[np.int32 | np.int64]:
        """Return the sums at so many positions."""
        same_for_all = self._constant
        several: list[npt.NDArray[Any]] = []
        for part in self._parts.values():
            scores = part.at(at)
            if isinstance(scores, int):
                same_for_all += scores * part.weight
            else:
                several.append(scores if part.weight == 1 else np.multiply(scores, part.weight, dtype=self._dtype))
        if not several:
            return np.full(many, same_for_all, self._dtype)
        sums: npt.NDArray[np.int32 | np.int64] = np.add(several[0], same_for_all, dtype=self._dtype)
        for scores in several[1:]:
            sums += scores
        return sums

    def _column_of(self, name: str) -> AnswerColumn:
        return self._private.get(name) or self._columns[name]

    # -- PreScore ----------------------------------------------------------------

    def _prepare(self, nodes: Callable[[], Nodes]) -> None:
        """Ask PreScore where its answer may be another."""
        for name in self._order.scoring:
            column = self._columns[name]
            if column.plugin.reads_feasible_set:
                column = self._column_for(column, nodes)
            if not column.is_prepared:
                column.ask_pre_score(nodes())
                self.is_prepared_anew = True

    def _column_for(self, shared: AnswerColumn, nodes: Callable[[], Nodes]) -> AnswerColumn:
        """Return the column that has what a plugin says at PreScore which reads the feasible nodes."""
        private = self._private.get(shared.name)
        if private is not None and private.asked_at == shared.asked_at:
            return private
        column = shared
        if not shared.is_prepared:  # as it is only where it skips whichever nodes are feasible
            column = shared.ask_pre_score_for_class(nodes())
            self.is_prepared_anew = True
        if column is not shared:
            self._private[shared.name] = column
        elif private is not None:
            del self._private[shared.name]
        return column

    def _choose_parts(self) -> bool:
        """See who contributes; return whether that are others than before."""
        parts: dict[str, Contribution] = {}
        for plugin in self._order.scorers:
            name = plugin.name
            column = self._column_of(name)
            if not column.skips_score:
                part = self._parts.get(name)
                if part is None or part.column is not column:
                    part = Contribution(plugin, column, self._order.profile.weights[name])
                parts[name] = part
        if parts == self._parts:
            return False
        self._parts = parts
        return True

    # -- Score -------------------------------------------------------------------

    def _refresh(
        self,
        part: Contribution,
        feasible: BoolArray,
        nodes: Callable[[], Nodes],
        since: int,
        *,
        same: bool,
        gained: bool,
    ) -> IndexArray | None:
        """Bring a contribution up to date, and return where it is new; None where it may be anywhere."""
        column = part.column
        if not same or since < column.score_log.latest:
            column.rate(feasible, nodes)
        moved = column.score_log.since(since) if since >= 0 else None
        if not column.normalizes:
            if column.out_of_range:
                assert column.scores is not None
                if bool((column.scores[feasible] < 0).any()):
                    raise CannotUpdate
            return moved
        if moved is not None and not len(moved) and (same or part.holds_for_any):
            return NO_ROWS
        assert column.scores is not None
        plugin = part.plugin
        by_extremes, before = plugin.normalizes_by_extremes, part.at(_EVERYWHERE)
        least = most = 0
        raw: IntArray | None = None
        if by_extremes and not column.is_blank:
            raw = self._raw_scores(column, feasible)
            least, most = int(np.minimum.reduce(raw)), int(np.maximum.reduce(raw))
        known = by_extremes and (least, most) == (part.least, part.most)
        if not known:
            part.least, part.most, part.normalized_of = least, most, {}
        part.uniform = by_extremes and least == most and not plugin.reads_feasible_set and column.is_uniform
        if part.uniform:
            part.normalized, part.same_for_all = None, column.normalize_uniform()
        elif known and since >= 0 and moved is not None and not gained:
            return self._normalize_rows(part, feasible, moved)
        else:
            raw = self._raw_scores(column, feasible) if raw is None else raw
            self._normalize(part, feasible, nodes(), raw)
        if since < 0:
            return None
        change = np.subtract(part.at(_EVERYWHERE), before, dtype=self._dtype)
        if change.any():
            # where other parts have moved as well, all of it is summed up again
            self.sums += change * part.weight
            self._shifted = True
        return NO_ROWS

    def _raw_scores(self, column: AnswerColumn, feasible: BoolArray) -> IntArray:
        """Return the raw scores of the feasible nodes."""
        assert column.scores is not None
        return (column.scores if self._everywhere else column.scores[feasible]).astype(np.int64, copy=False)

    def _normalize(self, part: Contribution, feasible: BoolArray, nodes: Nodes, raw: IntArray) -> None:
        """Normalise the raw scores of the feasible nodes."""
        scores = part.column.normalize(nodes, raw).astype(_SCORE)
        first = int(scores[0])
        if len(scores) < len(feasible):
            part.normalized = np.zeros(len(feasible), _SCORE)
            part.normalized[feasible] = scores
        elif bool((scores == first).all()):
            part.normalized, part.same_for_all = None, first
        else:
            part.normalized = scores

    def _normalize_rows(self, part: Contribution, feasible: BoolArray, positions: IndexArray) -> IndexArray:
        """Normalise the new raw scores of a few nodes, beside the extremes, which are as they were."""
        positions = positions[feasible[positions]]
        if not len(positions):
            return NO_ROWS
        scores = part.column.scores
        assert scores is not None
        raw = scores[positions].tolist()
        known = part.normalized_of
        if not known.keys() >= set(raw):
            known.update(zip(raw, self._scores_beside_extremes(part, positions).tolist(), strict=True))
        if part.normalized is None:
            part.normalized = np.full(len(feasible), part.same_for_all, _SCORE)
        part.normalized[positions] = [known[score] for score in raw]
        return positions

    def _scores_beside_extremes(self, part: Contribution, positions: IndexArray) -> IntArray:
        """Return what the raw scores of a few nodes are, normalised; the extremes may be those of other nodes."""
        raw = part.column.scores
        assert raw is not None
        # the plugin sees the extremes in two rows in front, of some node or other: it may look at scores alone
        extremes = np.array((part.least, part.most), np.int64)
        scores: IntArray = np.concatenate((extremes, raw[positions]), dtype=np.int64)
        column = self._around.nodes.take(np.concatenate((np.repeat(positions[0], 2), positions)))
        return part.column.normalize(column, scores)[2:]

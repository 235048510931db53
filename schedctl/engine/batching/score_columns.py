"""What each score plugin adds to the nodes' totals, kept from one placement of a template to the next.

A normalised score depends on the whole feasible set, as a rule through the least and the largest raw score alone. So
raw scores are kept beside normalised ones, and a plugin normalises again only where its extremes have moved, or where
nodes have become feasible that were not when it last did.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from schedctl.cache.arrays import IndexArray, IntArray
from schedctl.cache.nodes import Nodes
from schedctl.engine.batching.feasibility import Feasibility, Unfollowed
from schedctl.engine.calls import PluginRunner
from schedctl.engine.scoring import PluginScores, Scoring
from schedctl.framework.arithmetic import MAX_NODE_SCORE
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import PreScorePlugin, ScorePlugin
from schedctl.framework.profiles import Profile


@dataclass(slots=True)
class _Contribution:
    """What one plugin contributes.

    Attributes:
        normalized: int8 (n,), true where a node is feasible.
        raw: int64 (n,), None where raw scores are the normalised ones, or are asked for anew each time.
        least, most: the extremes of the raw scores of the feasible nodes, as of the last normalisation.
        uniform: whether raw scores are the same on all nodes that were ever feasible, so that others do not matter.
    """

    plugin: ScorePlugin
    weight: int
    normalized: npt.NDArray[np.int8]
    raw: IntArray | None = None
    least: int = 0
    most: int = 0
    uniform: bool = False

    @property
    def normalizes(self) -> bool:
        """Whether normalised scores are others than the raw ones, which the inherited `normalize` hands on."""
        return type(self.plugin).normalize is not ScorePlugin.normalize


class ScoreColumns:
    """The contributions of a template's score plugins, by position in the column of all nodes.

    Attributes:
        names: the plugins that contribute.
        sums: int32 or int64 (n,), the weighted sum, true where a node is feasible.
    """

    def __init__(
        self,
        profile: Profile,
        nodes: Nodes,
        cycle: Cycle,
        feasibility: Feasibility,
        scoring: Scoring,
        anew: frozenset[str],
        runner: PluginRunner,
    ) -> None:
        """Take over the outcome of Score, but for the plugins that are asked anew for every pod."""
        self._nodes = nodes
        self._cycle = cycle
        self._runner = runner
        self._feasibility = feasibility
        # int32 halves the memory to go through for each placement; weights are not bounded, so it may not do
        widest = sum(profile.weights[plugin.name] for plugin in profile.score) * MAX_NODE_SCORE
        dtype = np.dtype(np.int32 if widest <= np.iinfo(np.int32).max else np.int64)
        self.sums: npt.NDArray[np.int32 | np.int64] = np.zeros(len(nodes), dtype)
        where = nodes.places(scoring.nodes)
        scorers = {plugin.name: plugin for plugin in profile.score}
        kept = [scores for scores in scoring.plugins if scores.plugin not in anew]
        self._parts = {scores.plugin: self._take_over(scorers[scores.plugin], scores, where) for scores in kept}
        self.names = self._parts.keys()

    def _take_over(self, plugin: ScorePlugin, scores: PluginScores, where: slice | IndexArray) -> _Contribution:
        part = _Contribution(plugin, scores.weight, np.zeros(len(self._nodes), np.int8))
        part.normalized[where] = scores.normalized
        self.sums[where] += scores.weighted
        if part.normalizes and not plugin.reads_feasible_set:
            part.raw = np.zeros(len(self._nodes), np.int64)
            part.raw[where] = scores.raw
            part.least, part.most = int(scores.raw.min()), int(scores.raw.max())
            part.uniform = part.least == part.most and plugin.normalizes_by_extremes
        return part

    def by_row(self, name: str) -> bool:
        """Return whether a plugin's contribution to a node depends on its row alone."""
        part = self._parts[name]
        return not (part.normalizes or part.plugin.reads_feasible_set)

    def rates(self, name: str, column: Nodes) -> IntArray:
        """Ask a plugin that goes by row for the normalised scores of a column."""
        return _in_range(self._runner.score(self._parts[name].plugin, self._cycle, column))

    def set(self, name: str, position: int, score: int) -> None:
        """Set the normalised score of one node."""
        part = self._parts[name]
        change = score - int(part.normalized[position])
        if change:
            part.normalized[position] = score
            self.sums[position] += change * part.weight

    def score_rows(self, name: str, column: Nodes, positions: IndexArray) -> IndexArray | None:
        """Score some rows again, which stand at these positions.

        Returns:
            The positions whose raw scores are new and to be normalised; None where all is done.
        """
        part = self._parts[name]
        if not part.plugin.reads_template_only:  # then it is not to be asked about nodes that others refuse
            fits = self._feasibility.fits(positions)
            self._feasibility.known[positions[~fits]] = False
            column, positions = column.take(fits), positions[fits]
        if part.plugin.reads_feasible_set:
            return positions
        if part.raw is not None:
            part.raw[positions] = self._runner.score(part.plugin, self._cycle, column)
            return positions
        self._replace(part, positions, self.rates(name, column))
        return None

    def refresh(self, name: str, touched: IndexArray | None, *, column: bool, same: bool, gained: bool) -> bool:
        """Bring a contribution up to date; return whether the sums of many nodes have changed.

        Args:
            name: of the plugin.
            touched: the positions whose raw scores are new, None for none.
            column: whether all raw scores may have changed.
            same: whether the same nodes are feasible as before.
            gained: whether some are that were not.
        """
        part, feasibility = self._parts[name], self._feasibility
        plugin, untouched = part.plugin, touched is None and not column
        # uniform: with every raw score the same, the extremes cannot move, whichever nodes come or go
        if untouched and (same or (part.uniform and not plugin.reads_feasible_set)):
            return False
        part.uniform = part.uniform and untouched
        if column or plugin.reads_feasible_set:
            if plugin.reads_feasible_set and not same:
                self._prepare(plugin)
            raw = self._runner.score(plugin, self._cycle, feasibility.column)
            if part.raw is not None:
                part.raw[feasibility.where] = raw
            if not plugin.reads_feasible_set:  # and so is not asked again when others become feasible
                feasibility.known &= feasibility.feasible
            return self._normalize(part, raw)
        if part.raw is None:
            return False
        raw = part.raw[feasibility.where]
        extremes = int(raw.min()), int(raw.max())
        # a node that was not feasible has no normalised score that is true, so that those gained need all anew
        if plugin.normalizes_by_extremes and extremes == (part.least, part.most) and not gained:
            if touched is not None:
                self._normalize_rows(part, touched)
            return False
        return self._normalize(part, raw)

    def _prepare(self, plugin: ScorePlugin) -> None:
        """Ask PreScore again, whose answer stands on other feasible nodes now."""
        if isinstance(plugin, PreScorePlugin):
            status = self._runner.pre_score(plugin, self._cycle, self._feasibility.column)
            if status is not None and not status.successful:
                raise Unfollowed

    def _normalize(self, part: _Contribution, raw: IntArray) -> bool:
        """Normalise the raw scores of the feasible nodes, and return whether the sums have changed."""
        if part.raw is not None:
            part.least, part.most = int(raw.min()), int(raw.max())
        normalized = raw
        if part.normalizes:
            normalized = self._runner.normalize(part.plugin, self._cycle, self._feasibility.column, raw)
        where, column = self._feasibility.where, _in_range(normalized).astype(np.int8)
        if not isinstance(where, slice):  # put in place once, what follows goes over whole columns
            column, scores = part.normalized.copy(), column
            column[where] = scores
        if np.array_equal(column, part.normalized):
            return False
        change = column.astype(self.sums.dtype)  # widened first: a difference of int8 times a weight overflows
        change -= part.normalized
        change *= part.weight
        self.sums += change
        part.normalized = column
        return True

    def _normalize_rows(self, part: _Contribution, positions: IndexArray) -> None:
        """Normalise the new raw scores of a few nodes, beside the extremes, which are as they were."""
        assert part.raw is not None
        positions = positions[self._feasibility.feasible[positions]]
        if not len(positions):
            return
        # the plugin sees the extremes in two rows in front, of some node or other: it may look at scores alone
        scores = np.concatenate((np.array((part.least, part.most), np.int64), part.raw[positions]))
        column = self._nodes.take(np.concatenate((np.repeat(positions[0], 2), positions)))
        normalized = _in_range(self._runner.normalize(part.plugin, self._cycle, column, scores))
        self._replace(part, positions, normalized[2:])

    def _replace(self, part: _Contribution, positions: IndexArray, normalized: IntArray) -> None:
        """Replace a plugin's normalised scores at some positions."""
        change = normalized.astype(self.sums.dtype)
        change -= part.normalized[positions]
        change *= part.weight
        self.sums[positions] += change
        part.normalized[positions] = normalized


def _in_range(scores: IntArray) -> IntArray:
    """Return normalised scores.

    Raises:
        Unfollowed: one is outside the range, which is a fault of its plugin.
    """
    most = int(scores.view(np.uint64).max(initial=0))  # as unsigned integers, negative scores are the largest
    if most > MAX_NODE_SCORE:
        raise Unfollowed
    return scores

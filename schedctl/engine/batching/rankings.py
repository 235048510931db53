"""Rankings: what each node is worth to the pods of one template, kept true from one placement to the next.

A `Ranking` keeps the outcome of a whole cycle by position (`feasibility`, `score_columns`, their totals) and judges
again only what changes have moved, or what `lookahead` has not foreseen. It only ever answers "which nodes are best";
verdicts, reasons and scores by plugin are worked out in full when somebody reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from schedctl.cache.arrays import BoolArray, IndexArray, IntArray
from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_table import NO_NODE
from schedctl.engine.batching.feasibility import Feasibility, Unfollowed
from schedctl.engine.batching.lookahead import Lookahead
from schedctl.engine.batching.score_columns import ScoreColumns
from schedctl.engine.calls import DIRECT, PluginRunner
from schedctl.engine.faults import CycleError
from schedctl.engine.filtering import Filtering
from schedctl.engine.scoring import Scoring
from schedctl.errors import NotModelled, PluginError
from schedctl.framework.arithmetic import MAX_NODE_SCORE
from schedctl.framework.cycles import Cycle, Found
from schedctl.framework.points import NodeSet, PreFilterPlugin
from schedctl.framework.profiles import Profile
from schedctl.framework.statuses import Code, Status

_INFEASIBLE = -1
"""The total of an infeasible node; totals of others are never negative."""
_NO_ROWS: IndexArray = np.empty(0, np.intp)
_NOT_ANSWERED = (CycleError, PluginError, NotModelled)


@dataclass(slots=True)
class Moved:
    """What changes of the cluster have moved since a ranking was last true.

    Attributes:
        rows: by plugin, the node rows to be asked about again, intp in order, at least one.
        columns: the plugins that are to be asked about all nodes again.
        followed: the plugins of which some change spoiled other things than the row it touched.
        placed: the row on which the template's last pod was placed, last of all and alone; `NO_NODE` where it was not.
    """

    rows: dict[str, IndexArray] = field(default_factory=dict)
    columns: set[str] = field(default_factory=set)
    followed: set[str] = field(default_factory=set)
    placed: int = NO_NODE


class Ranking:
    """The outcome of a template's cycle by position in the column of all nodes.

    Attributes:
        nodes: all nodes.
        totals: int32 or int64 (n,), the weighted sum where a node is feasible, negative elsewhere.
        pre_filter_nodes, narrowing_plugins: as an attempt has them.
        anew: the plugins that are asked anew for every pod, and have no part in the totals.
    """

    def __init__(
        self,
        profile: Profile,
        cluster: Cluster,
        cycle: Cycle,
        outcome: tuple[Filtering, Scoring],
        anew: frozenset[str],
        narrowed: tuple[frozenset[str] | None, frozenset[str]],
        runner: PluginRunner,
    ) -> None:
        """Take over the outcome of a cycle.

        Args:
            profile: the plugins.
            cluster: what they look at.
            cycle: the template's cycle, whose state is kept true by whoever tells what has moved.
            outcome: of Filter and Score.
            anew: the plugins that are asked anew for every pod.
            narrowed: the nodes that PreFilter left, None for all, and who narrowed them.
            runner: asks the plugins of which answers are kept.

        Raises:
            Unfollowed: there is more to it than a ranking keeps.
        """
        filtering, scoring = outcome
        self._profile = profile
        # `nodes`, and all columns by position with it, lasts as long as no node comes or goes: `Templates.recall`
        # begins a new template then
        self._cluster = cluster
        self._cycle = cycle
        self._runner = runner
        self.nodes = cluster.nodes
        self.anew = anew
        self.pre_filter_nodes, self.narrowing_plugins = narrowed
        self._skip_filter, self._skip_score = cycle.skip_filter - anew, cycle.skip_score - anew
        left_out = cycle.skip_filter | anew
        filters = {plugin.name: plugin for plugin in profile.filter if plugin.name not in left_out}
        self._feasibility = Feasibility(self.nodes, cycle, filters, filtering, runner)
        found = filtering.findings.keys() - anew
        if self._feasibility.count != len(scoring.nodes) or not all(profile.plugins[n].finds_again for n in found):
            raise Unfollowed  # a plugin that is asked anew refused somebody, or what one found is needed later
        self._score_columns = ScoreColumns(profile, self.nodes, cycle, self._feasibility, scoring, anew, runner)
        self._lookahead: Lookahead | None = None
        self._consecutive = 0
        self._total()

    @property
    def feasible(self) -> BoolArray:
        """Which nodes are feasible, bool (n,), but for what plugins say that are asked anew."""
        return self._feasibility.feasible

    @property
    def feasible_nodes(self) -> int:
        """How many nodes are feasible."""
        return self._feasibility.count

    # -- following ---------------------------------------------------------------

    def follow(self, moved: Moved) -> bool:
        """Judge again what has been moved, and return whether the same nodes are feasible as before.

        Raises:
            Unfollowed: the ranking is of no use any more.
        """
        try:
            return self._follow(moved)
        except _NOT_ANSWERED as fault:
            raise Unfollowed from fault

    def _follow(self, moved: Moved) -> bool:
        feasibility, score_columns = self._feasibility, self._score_columns
        if self._lookahead is not None and not self._lookahead.plugins.isdisjoint(moved.columns):
            self._lookahead = None
        foreseen = self._foresee(moved)
        flipped = self._advance(self.nodes.position(moved.placed)) if foreseen else set[int]()
        if not flipped and not moved.columns and foreseen == moved.rows.keys():
            return True  # the usual case by far: one row, and all of it foreseen
        affected = (feasibility.filters.keys() | score_columns.names) - foreseen - moved.columns
        again = {name: rows for name, rows in moved.rows.items() if name in affected}
        touched: dict[str, IndexArray] = {}
        judged = _NO_ROWS
        if again:
            judged = self._judge_rows(again, touched)
            flipped.update(judged[feasibility.fits(judged) != self.feasible[judged]].tolist())
        # lists, not `any` of a generator: every plugin is to be asked, and not only up to the first that has moved
        moves = [feasibility.judge(name) for name in moved.columns & feasibility.filters.keys()]
        same = not flipped and not any(moves)
        gained = not same and (feasibility.renew() if any(moves) else feasibility.settle(flipped))
        if not same:  # Filter first, then PreScore, then Score: these read the feasible nodes as they are now
            self._prepare()
        renewed = [
            score_columns.refresh(name, touched.get(name), column=name in moved.columns, same=same, gained=gained)
            for name in score_columns.names
        ]
        if any(moves) or any(renewed):
            self._total()
        elif again:
            self.totals[judged] = np.where(self.feasible[judged], score_columns.sums[judged], _INFEASIBLE)
        return same

    def _prepare(self) -> None:
        """Ask PreScore again of those whose answer may stand on the feasible nodes although they score nothing."""
        for plugin in self._profile.pre_score:
            name = plugin.name
            reading = plugin.reads_feasible_set and not plugin.reads_template_only
            if reading and name not in self._score_columns.names and name not in self.anew:
                status = self._runner.pre_score(plugin, self._cycle, self._feasibility.column)
                skips = status is not None and status.code is Code.SKIP
                # a plugin that begins to score, or stops, has no column here: which plugins score is fixed
                if skips != (name in self._skip_score) or not (skips or status is None or status.successful):
                    raise Unfollowed

    # -- one row, foreseen -------------------------------------------------------

    def _foresee(self, moved: Moved) -> set[str]:
        """Return the plugins whose answers about the row of the last placement have been looked ahead."""
        names = {name for name in moved.rows if name not in moved.followed and self._foreseeable(name)}
        if moved.placed == NO_NODE or not names or not all(_is_only(moved.rows[name], moved.placed) for name in names):
            self._consecutive = 0
            return set()
        self._consecutive += 1
        table, position = self._cluster.pod_table, self.nodes.position(moved.placed)
        # of this very pod: equal signatures need not be equal footprints, where no plugin reads what sets them apart
        footprint = int(table.footprint[table.row_of[self._cycle.pod.key]])
        if self._lookahead is None or self._lookahead.footprint != footprint or not names <= self._lookahead.plugins:
            self._lookahead = None
            if self._consecutive < 2:  # a second pod in a row is the sign that more are coming
                return set()
            self._lookahead = Lookahead(self.nodes, footprint, names)
        if not self._lookahead.reaches(position):
            if not self.feasible[position]:  # only feasible nodes are looked ahead from; the row is judged by itself
                return set()
            self._look_further(self._lookahead, position)
        return names

    def _look_further(self, lookahead: Lookahead, position: int) -> None:
        feasibility, score_columns = self._feasibility, self._score_columns
        filters = {n: partial(feasibility.refuses, n) for n in lookahead.plugins if n in feasibility.filters}
        scores = {n: partial(score_columns.rates, n) for n in lookahead.plugins if n in score_columns.names}
        likely = np.flatnonzero(self.totals == self.totals.max())
        lookahead.extend(self._cycle.pod, position, self.feasible, likely, filters, scores)

    def _foreseeable(self, name: str) -> bool:
        """Whether a plugin's answers about one row are all there is to it, and can be had beforehand."""
        if name in self._score_columns.names and not self._score_columns.by_row(name):
            return False
        takes_part = name in self._score_columns.names or name in self._feasibility.filters
        return takes_part and self._profile.plugins[name].reads_template_only

    def _advance(self, position: int) -> set[int]:
        """Take over the next level of a row; return it if that changes whether the node is feasible."""
        assert self._lookahead is not None
        refused, scores = self._lookahead.advance(position)
        for name, refuses in refused.items():
            self._feasibility.put_at(name, position, refused=refuses)
        for name, score in scores.items():
            self._score_columns.set(name, position, score)
        fits = self._feasibility.fits_at(position)
        self.totals[position] = self._score_columns.sums[position] if fits else _INFEASIBLE
        return set() if fits == self.feasible[position] else {position}

    # -- rows --------------------------------------------------------------------

    def _judge_rows(self, rows: dict[str, IndexArray], touched: dict[str, IndexArray]) -> IndexArray:
        """Ask plugins again about some rows, and return the positions of these rows, intp.

        Args:
            rows: the node rows by plugin.
            touched: is filled with the positions whose raw scores are new, by plugin.
        """
        # plugins mostly share their rows, and what one column has worked out (usage, names) serves them all
        columns: dict[bytes, tuple[Nodes, IndexArray]] = {}
        column_of: dict[str, tuple[Nodes, IndexArray]] = {}
        for name, of_plugin in rows.items():
            key = of_plugin.tobytes()
            if key not in columns:
                positions = self.nodes.positions(of_plugin)
                columns[key] = self.nodes.take(positions), positions
            column_of[name] = columns[key]
        # all filters before any score: `score_rows` leaves out rows that are refused now
        for name in rows.keys() & self._feasibility.filters.keys():
            column, positions = column_of[name]
            self._feasibility.put(name, positions, self._feasibility.refuses(name, column))
        for name in rows.keys() & self._score_columns.names:
            moved = self._score_columns.score_rows(name, *column_of[name])
            if moved is not None:
                touched[name] = moved
        judged = [positions for _, positions in columns.values()]
        every = judged[0] if len(judged) == 1 else np.unique(np.concatenate(judged))
        if self._lookahead is not None:
            self._lookahead.void(set(rows), every)
        return every

    # -- answering ---------------------------------------------------------------

    def answer(self, cycle: Cycle) -> BoolArray:
        """Return which positions have the best total for a pod of the template, bool (n,).

        The cycle gets the state of the template's. Plugins that are asked anew for every pod are asked here, and leave
        their state and findings in it, too.

        Raises:
            Unfollowed: they narrow, refuse or fail, so that the cycle is to be run in full.
        """
        # copies: plugins asked anew write into the pod's cycle, and the template's must not see it
        cycle.state = self._cycle.state.copy()
        cycle.skip_filter, cycle.skip_score = set(self._skip_filter), set(self._skip_score)
        totals = self.totals
        if self.anew:
            try:
                totals = totals + self._ask_anew(cycle)
            except _NOT_ANSWERED as fault:
                raise Unfollowed from fault
        ties: BoolArray = totals == totals.max()
        return ties

    def _ask_anew(self, cycle: Cycle) -> IntArray:
        """Return what plugins that are asked anew add to the totals, int64 (n,); all feasible nodes must pass them."""
        more = np.zeros(len(self.nodes), np.int64)
        for pre_filter in self._profile.pre_filter:
            if pre_filter.name in self.anew:
                self._pre_filter(pre_filter, cycle)
        column, where = self._feasibility.column, self._feasibility.where
        for plugin in self._profile.filter:
            if plugin.name in self.anew and plugin.name not in cycle.skip_filter:
                verdicts = DIRECT.filter(plugin, cycle, column)
                if verdicts.parts and verdicts.mask.any():
                    raise Unfollowed
                if verdicts.findings is not None:
                    reached = np.ones(len(column), np.bool_)
                    cycle.findings[plugin.name] = Found([(column.rows, reached, verdicts.findings)])
        for pre_score in self._profile.pre_score:
            if pre_score.name in self.anew:
                status = DIRECT.pre_score(pre_score, cycle, column)
                if status is not None and status.code is Code.SKIP:
                    cycle.skip_score.add(pre_score.name)
                elif status is not None and not status.successful:
                    raise Unfollowed
        for scorer in self._profile.score:
            if scorer.name in self.anew and scorer.name not in cycle.skip_score:
                raw = DIRECT.score(scorer, cycle, column)
                normalized = DIRECT.normalize(scorer, cycle, column, raw)
                if not 0 <= int(normalized.min()) <= int(normalized.max()) <= MAX_NODE_SCORE:
                    raise Unfollowed  # a fault of the plugin
                more[where] += normalized * self._profile.weights[scorer.name]
        return more

    def _pre_filter(self, plugin: PreFilterPlugin, cycle: Cycle) -> None:
        answer = DIRECT.pre_filter(plugin, cycle, self.nodes)
        if isinstance(answer, Status) and answer.code is Code.SKIP:
            cycle.skip_filter.add(plugin.name)
        elif isinstance(answer, NodeSet) or (answer is not None and not answer.successful):
            raise Unfollowed

    # -- inside ------------------------------------------------------------------

    def _total(self) -> None:
        """Make the totals of the sums."""
        sums = self._score_columns.sums
        # 0 where a node is feasible and -1, which has every bit, where it is not: several times as fast as `where`
        infeasible = self.feasible.astype(sums.dtype)
        infeasible += _INFEASIBLE
        self.totals = np.bitwise_or(sums, infeasible, out=infeasible)


def _is_only(rows: IndexArray, row: int) -> bool:
    return len(rows) == 1 and int(rows[0]) == row

"""`EquivalenceClass`: which nodes are feasible for pods that all plugins read alike, and what each is worth to them.

Verdicts and raw scores are the plugins' own (`answer_columns`); a class adds what depends on its feasible set, which is
normalised scores and totals, and keeps them true from one placement to the next. It answers "which nodes are best";
verdicts, reasons and scores by plugin are worked out in full when somebody reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from schedctl.cache.arrays import NO_ROWS, BoolArray, IndexArray
from schedctl.cache.changes import Change, ChangeKind
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.batching.answer_columns import AnswerColumn, CannotUpdate
from schedctl.engine.batching.constant_columns import ConstantColumns
from schedctl.engine.batching.contributions import Contributions
from schedctl.engine.batching.lookahead import Lookahead
from schedctl.engine.batching.plugin_orders import PluginOrder
from schedctl.engine.batching.surroundings import Foresight, Surroundings, distinct
from schedctl.framework.cycles import Cycle, CycleState
from schedctl.framework.points import NodeSet

_INFEASIBLE = -1
"""The total of an infeasible node; totals of others are never negative."""
_FEW = 8
"""One in how many nodes are few: where more have changed, whole columns are worked out again."""
_FEW_CHANGES = 8
"""Up to how many changes since the last pod are looked through for its placement."""
IN_A_ROW = 8
"""After how many pods in a row the next ones are looked ahead to: that costs what it saves on about ten pods, so that
small Deployments do better without."""


class EquivalenceClass:
    """The outcome of a cycle for pods of one class, by position in the column of the nodes in question.

    Attributes:
        every: all nodes, which PreFilter is asked about.
        nodes: the nodes among which the pods are placed.
        generation: of the cluster, -1 where nothing is known.
        columns: what each plugin says that has a signature for them, by name, in the order of asking.
        feasible: bool (n,).
        feasible_nodes: how many nodes are feasible.
        totals: int32 or int64 (n,), the weighted sum where a node is feasible, negative elsewhere.
        pre_filter_nodes, narrowing_plugins: as an attempt has them.
        is_new: whether no pod of it has come yet; whoever asks says when one has.
    """

    __slots__ = (
        "_affected",
        "_all",
        "_around",
        "_cluster",
        "_column",
        "_consecutive",
        "_constants",
        "_contributions",
        "_epoch",
        "_filters",
        "_judging",
        "_lookahead",
        "_order",
        "_pod",
        "_searched",
        "_skip_filter",
        "_skip_score",
        "_state",
        "columns",
        "every",
        "feasible",
        "feasible_nodes",
        "generation",
        "is_new",
        "narrowing_plugins",
        "nodes",
        "pre_filter_nodes",
        "profile",
        "totals",
    )

    def __init__(
        self,
        around: Surroundings,
        order: PluginOrder,
        columns: Mapping[str, AnswerColumn],
        constants: ConstantColumns | None,
    ) -> None:
        """Begin, with nothing known yet.

        Args:
            around: the cluster.
            order: the plugins.
            columns: what they say, by name.
            constants: those of the columns that need not be gone through one by one.
        """
        self._around = around
        self._order = order
        self._cluster = around.cluster
        self.profile = order.profile
        self.every, self.nodes = around.every, around.nodes
        self.is_new = True
        self.generation = -1
        self.columns = columns
        self._leave_out(constants)
        self._epoch = -1
        self.pre_filter_nodes: frozenset[str] | None = None
        self.narrowing_plugins: frozenset[str] = frozenset()
        self._searched: BoolArray | None = None
        self.feasible: BoolArray = np.zeros(self._around.size, np.bool_)
        self.feasible_nodes = 0
        self.totals: npt.NDArray[np.int32 | np.int64] = np.zeros(0, np.int64)
        self._column: Nodes | None = None
        self._state: CycleState | None = None
        self._pod: PodInfo | None = None
        self._lookahead: Lookahead | None = None
        self._consecutive = 0

    def _leave_out(self, constants: ConstantColumns | None) -> None:
        """Go through all columns from now on, but for those that are constant."""
        columns, order = self.columns, self._order if constants is None else constants.others
        self._constants = constants
        self._all = [columns[name] for name in order.deciding]
        self._affected: dict[tuple[type, ...], Sequence[AnswerColumn]] = {}
        self._judging = self._filters = [columns[name] for name in order.filters]
        constant = 0 if constants is None else constants.total
        self._contributions = Contributions(self._around, order, columns, constant)

    # -- keeping current ---------------------------------------------------------

    def update(self, pod: PodInfo) -> None:
        """Bring the totals up to the cluster, for a pod of the class.

        Raises:
            CannotUpdate: the cycle is to be run in full.
            CycleError: a plugin fails.
            PluginError: one says that it cannot answer.
        """
        since, now = self.generation, self._cluster.generation
        if since != now:
            foresight = self._foresee(since, now)
            self.generation = -1  # should a plugin fail, all of it is worked out again
            renewed = since < 0
            everything = renewed or self._epoch != self._around.epoch
            if self._constants is not None and not self._constants.update():
                self._leave_out(None)
                everything = renewed = True
            for column in self._all if everything else self._columns_to_update(since):
                column.cycle.pod = pod
                column.update(foresight)
                renewed = renewed or column.asked_at > since or column.asked_at < 0
            if renewed:
                self._ask_pre_filters()
            flipped = self._stand(-1 if renewed else since)
            if flipped is None or len(flipped):
                self._column = None
            if self.feasible_nodes:
                self._total(renewed=renewed, flipped=flipped)
            else:
                self._contributions.forget()
            if everything:
                for column in self._all:
                    column.settle()
                self._affected.clear()
                self._epoch = self._around.epoch
            self.generation = now
        self._pod = pod
        if not self.feasible_nodes:
            raise CannotUpdate

    def _columns_to_update(self, since: int) -> Sequence[AnswerColumn]:
        """Return the columns that rest on something that has changed; the others need not even be looked at."""
        kinds = self._cluster.kinds_changed(since) if self._cluster.objects_since > since else ()
        affected = self._affected.get(kinds)
        if affected is None:
            affected = self._affected[kinds] = [
                column for column in self._all if column.depends_on_pods or not column.kinds.isdisjoint(kinds)
            ]
        return affected

    def _ask_pre_filters(self) -> None:
        """Ask PreFilter where that is to be done, and find out which nodes are left."""
        narrowed: frozenset[str] | None = None
        plugins: list[str] = []
        for column in self._all:  # those that have a PreFilter first, in its order
            if column.asked_at < 0:
                column.ask_pre_filter()
            answer = column.pre_filter
            if answer is None or column.skips_filter:
                continue
            if isinstance(answer, NodeSet):
                plugins.append(column.name)
                narrowed = answer.names if narrowed is None else narrowed & answer.names
            elif not answer.successful:
                raise CannotUpdate
        self.pre_filter_nodes, self.narrowing_plugins = narrowed, frozenset(plugins)
        self._judging = [column for column in self._filters if not column.skips_filter]
        self._searched = None
        self._state = None
        if narrowed is not None:
            row_of = self._cluster.node_table.row_of
            rows = [row_of[name] for name in narrowed if name in row_of]
            self._searched = np.isin(self.nodes.rows, rows)

    def _stand(self, since: int) -> IndexArray | None:
        """Find out which nodes are feasible, and return where that is new; None where it may be anywhere."""
        positions: list[IndexArray] = []
        whole, many = since < 0, 0
        for column in self._judging:
            if column.filter_log.latest > since and not whole:
                moved = column.filter_log.since(since)
                if moved is None:
                    whole = True
                elif len(moved):
                    positions.append(moved)
                    many += len(moved)
        if whole or many * _FEW > self._around.size:
            return self._stand_everywhere(first=since < 0)
        if not positions:
            return NO_ROWS
        return self._stand_at(distinct(positions, self._around.size))

    def _stand_everywhere(self, *, first: bool) -> IndexArray | None:
        before = self.feasible
        feasible = np.ones(self._around.size, np.bool_) if self._searched is None else self._searched.copy()
        for column in self._judging:
            rejected = column.judge(feasible)
            if rejected is not None:
                np.greater(feasible, rejected, out=feasible)  # those that stand and are not rejected
        self.feasible = feasible
        self.feasible_nodes = int(np.count_nonzero(feasible))
        if first:
            return None
        flipped = before != feasible
        return None if np.count_nonzero(flipped) * _FEW > len(flipped) else np.flatnonzero(flipped)

    def _stand_at(self, at: IndexArray) -> IndexArray:
        if len(at) == 1:  # as after a placement
            return self._stand_at_one(at, at.item())
        fits = np.ones(len(at), np.bool_) if self._searched is None else self._searched[at]
        for column in self._judging:
            if not column.is_judged:
                standing = np.zeros(self._around.size, np.bool_)
                standing[at[fits]] = True
                column.judge(standing)
            if column.rejected is not None:
                fits = fits & ~column.rejected[at]
        flipped: IndexArray = at[fits != self.feasible[at]]
        self.feasible[at] = fits
        self.feasible_nodes += 2 * int(np.count_nonzero(self.feasible[flipped])) - len(flipped)
        return flipped

    def _stand_at_one(self, at: IndexArray, position: int) -> IndexArray:
        fits = self._searched is None or self._searched.item(position)
        for column in self._judging:
            if not column.is_judged:
                standing = np.zeros(self._around.size, np.bool_)
                standing[position] = fits
                column.judge(standing)
            if column.rejected is not None and column.rejected.item(position):
                fits = False
        if fits == self.feasible.item(position):
            return NO_ROWS
        self.feasible[position] = fits
        self.feasible_nodes += 1 if fits else -1
        return at

    @property
    def anew(self) -> frozenset[str]:
        """The plugins that are asked about every pod, and have no part in the totals."""
        return self._order.anew

    @property
    def column(self) -> Nodes:
        """The feasible nodes."""
        if self._column is None:
            everywhere = self.feasible_nodes == self._around.size
            self._column = self.nodes if everywhere else self.nodes.take(np.flatnonzero(self.feasible))
        return self._column

    def _feasible_column(self) -> Nodes:
        return self.column

    def _total(self, *, renewed: bool, flipped: IndexArray | None) -> None:
        """Bring the totals up to date."""
        contributions = self._contributions
        moved = contributions.update(
            self.feasible, self.feasible_nodes, self._feasible_column, renewed=renewed, flipped=flipped
        )
        if flipped is None:
            moved = None
        elif moved is not None and len(flipped):
            many = (len(moved) + len(flipped)) * _FEW > self._around.size
            moved = None if many else np.concatenate((moved, flipped))
        if contributions.is_prepared_anew:
            self._state = None
        sums = contributions.sums
        everywhere = self.feasible_nodes == self._around.size
        if moved is None and everywhere:
            self.totals = sums.copy()
        elif moved is None:
            # 0 where a node is feasible and -1, which has every bit, where it is not: several times as fast as `where`
            infeasible = self.feasible.astype(sums.dtype)
            infeasible += _INFEASIBLE
            self.totals = np.bitwise_or(sums, infeasible, out=infeasible)
        elif len(moved) == 1:
            at = moved.item()
            self.totals[at] = sums.item(at) if self.feasible.item(at) else _INFEASIBLE
        elif len(moved):
            self.totals[moved] = sums[moved] if everywhere else np.where(self.feasible[moved], sums[moved], _INFEASIBLE)

    # -- one row, foreseen -------------------------------------------------------

    def _foresee(self, since: int, now: int) -> Foresight | None:
        """Return what was foreseen of the row on which the last pod has been placed, if nothing else has happened."""
        row = self._placed_on(since, now)
        if row is None:
            self._consecutive = 0
            if since < 0:  # nobody knows what has happened to which rows
                self._lookahead = None
            elif self._lookahead is not None:
                self._lookahead.void(self._positions_changed(since))
            return None
        self._consecutive += 1
        assert self._pod is not None
        table, position = self._cluster.pod_table, self.nodes.position(row)
        rows = self._around.note_changed(since, row)
        # of this very pod: equal signatures need not be equal footprints, where no plugin reads what sets them apart
        footprint = table.footprint.item(table.row_of[self._pod.key])
        foreseen = self._lookahead
        if foreseen is not None and not foreseen.holds(footprint, self.columns):
            foreseen = self._lookahead = None
        if foreseen is None:
            if self._consecutive < IN_A_ROW:
                return None
            stamps = {column.name: column.forgotten for column in self._all if column.is_foreseeable}
            if not stamps:
                return None
            foreseen = self._lookahead = Lookahead(self.nodes, footprint, stamps)
        if not foreseen.reaches(position):
            if not self.feasible[position]:  # only feasible nodes are looked ahead from
                return None
            try:
                self._look_further(foreseen, position)
            except BaseException:
                self._lookahead = None  # of some plugins it may have the levels of before, and of others the new ones
                raise
        positions = rows if self._around.whole else np.array([position], np.intp)
        return Foresight(since, row, position, positions, *foreseen.advance(position))

    def _placed_on(self, since: int, now: int) -> int | None:
        """Return the row on which the last pod was placed, if that and changes of objects are all that happened."""
        if since < 0 or self._pod is None or now - since > _FEW_CHANGES:
            return None
        placed: Change | None = None
        for change in self._cluster.changes_since(since) or ():
            if change.kind is ChangeKind.OBJECT:
                continue
            if placed is not None:
                return None
            placed = change
        if placed is None or placed.kind is not ChangeKind.POD_ADDED or placed.subject is not self._pod:
            return None
        return placed.row if self._around.holds(placed.row) else None

    def _positions_changed(self, since: int) -> IndexArray:
        described, occupied = self._around.changed_rows(since)
        return self.nodes.positions(np.concatenate((described, occupied)) if len(described) else occupied)

    def _look_further(self, lookahead: Lookahead, position: int) -> None:
        columns = [self.columns[name] for name in lookahead.plugins]
        filters = {each.name: each.rejects for each in columns if each in self._judging}
        scores = {each.name: each.worth for each in columns if self._contributions.has(each.name)}
        likely = np.flatnonzero(self.totals == self.totals.max())
        assert self._pod is not None
        lookahead.extend(self._pod, position, self.feasible, likely, filters, scores)

    # -- answering ---------------------------------------------------------------

    def prepare(self, cycle: Cycle) -> None:
        """Give a cycle the state that the plugins' PreFilter and PreScore have left, but for those asked anew."""
        if self._state is None:
            columns = (*self._all, *self._contributions.private_columns)
            states = [column.cycle.state for column in columns]
            self._skip_filter = {column.name for column in self._all if column.skips_filter}
            self._skip_score = self._contributions.skipping
            if self._constants is not None:
                states.insert(0, self._constants.state)
                self._skip_filter |= self._constants.skip_filter
                self._skip_score |= self._constants.skip_score
            self._state = CycleState.union(states)
        # copies: plugins asked anew write into the pod's cycle, and the class must not see it
        cycle.state = self._state.copy()
        cycle.skip_filter, cycle.skip_score = set(self._skip_filter), set(self._skip_score)

    @property
    def finders(self) -> Iterator[AnswerColumn]:
        """The columns of plugins whose Filter finds out more than verdicts, which is a pod's own."""
        return (column for column in self._all if column.has_findings)

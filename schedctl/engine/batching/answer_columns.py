"""`AnswerColumn`: what one plugin says about the pods of one signature, kept while what it read holds.

Equivalence classes whose pods a plugin reads alike share its column. A column is brought up to date by whoever needs it
first, at the rows that have changed in what the plugin read there; the others see in its logs which rows are new.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from schedctl.api.pods import Pod
from schedctl.cache.arrays import NO_ROWS, BoolArray, IndexArray, IntArray
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.cache.reads import Reads
from schedctl.engine.batching.plugin_points import PluginPoints
from schedctl.engine.batching.reading import ReadingRunner
from schedctl.engine.batching.surroundings import ChangeLog, Foresight, Surroundings, distinct
from schedctl.framework.arithmetic import MAX_NODE_SCORE, largest_unsigned
from schedctl.framework.cycles import Cycle, CycleState
from schedctl.framework.points import NodeSet
from schedctl.framework.reasons import Verdicts
from schedctl.framework.statuses import SUCCESS, Code, Status

_Scores = npt.NDArray[np.int64 | np.int8]
_FIRST: IndexArray = np.zeros(1, np.intp)
_FEW = 4
"""One in how many rows are few: more of them are not gathered, and the whole column is asked for again."""


class CannotUpdate(Exception):
    """An answer has to be worked out by a full cycle: a plugin refuses the pod, fails, or leaves no node."""


class AnswerColumn:
    """What one plugin says about pods of one signature.

    Attributes:
        plugin: the plugin.
        cycle: of the last pod that was asked about; only what this plugin leaves is in its state.
        runner: asks the plugin, and knows what the answers rest on.
        generation: of the cluster that the answers are of.
        pre_filter: what PreFilter says.
        skips_filter: whether Filter is left out.
        asked_at: the generation at which PreFilter was asked last.
        rejected: bool (n,), which nodes Filter rejects; None where it rejects none.
        verdicts: what Filter says of all nodes at once, while that holds.
        filter_log: where `rejected` has changed, or is to be asked for.
        pre_score: what PreScore says.
        is_prepared: whether it has been asked.
        skips_score: whether Score is left out.
        scores: by position the raw scores, int64 (n,), or the normalised ones, int8 (n,), if they are the same; None
            while nobody has asked.
        score_log: where `scores` have changed, or are to be asked for.
        out_of_range: whether some score of a plugin that does not normalise is none.
        is_blank: whether all scores are 0, as those of a plugin are that has nothing to say.
        has_findings: whether Filter finds out more than verdicts.
        kinds: the kinds of objects that it has ever read, Node where it has read what a node is.
        forgotten: how many times answers were forgotten.
    """

    __slots__ = (
        "__weakref__",
        "_around",
        "_cluster",
        "_earlier",
        "_filter_known",
        "_is_judged",
        "_is_known_everywhere",
        "_is_settled",
        "_is_uniform",
        "_listens",
        "_plugin",
        "_points",
        "_rests_elsewhere",
        "_rests_on_row_alone",
        "_score_known",
        "_uniform_worth",
        "asked_at",
        "cycle",
        "depends_on_pods",
        "filter_log",
        "forgotten",
        "generation",
        "has_findings",
        "is_blank",
        "is_prepared",
        "kinds",
        "name",
        "normalizes",
        "out_of_range",
        "plugin",
        "pre_filter",
        "pre_score",
        "rejected",
        "runner",
        "score_log",
        "scores",
        "skips_filter",
        "skips_score",
        "verdicts",
    )
    asked_at: int
    pre_filter: Status | NodeSet | None
    rejected: BoolArray | None
    verdicts: Verdicts | None
    pre_score: Status | None
    scores: _Scores | None
    filter_log: ChangeLog
    score_log: ChangeLog
    _rests_elsewhere: bool
    _filter_known: BoolArray | None
    _score_known: BoolArray | None
    _is_uniform: bool | None
    _uniform_worth: int | None

    def __init__(self, around: Surroundings, points: PluginPoints, pod: PodInfo, *, listens: bool) -> None:
        """Begin, with nothing known yet.

        Args:
            around: the cluster.
            points: at which points the plugin is asked.
            pod: the first of the pods.
            listens: whether it hears of events, so that it may know what it has not read.
        """
        self._around = around
        self._cluster = around.cluster
        self._points = points
        self.plugin = points.plugin
        self._plugin: Any = points.plugin  # at whichever of its points it is asked
        self.name = points.plugin.name
        self.normalizes = points.normalizes
        self._listens = listens
        self.generation = around.cluster.generation
        self.has_findings = False
        self.depends_on_pods = True
        self.kinds: frozenset[type] = frozenset()
        self._is_settled = False
        self.forgotten = 0
        self._earlier: tuple[CycleState, ReadingRunner] | None = None
        self._begin(pod)

    def rejects(self, column: Nodes) -> BoolArray:
        """Ask which rows of a column of things to come Filter rejects, bool (n,); what is known is known no better."""
        known_at = self.generation
        try:
            rejected = self._ask_filter(column)
        finally:
            self.generation = known_at
        return np.zeros(len(column), np.bool_) if rejected is None else rejected

    def worth(self, column: Nodes) -> IntArray:
        """Ask for the scores of such a column, which are not normalised, int64 (n,).

        Raises:
            CannotUpdate: one is out of range.
        """
        known_at = self.generation
        try:
            return in_range(self._ask_score(column))
        finally:
            self.generation = known_at

    @property
    def is_foreseeable(self) -> bool:
        """Whether what becomes of a row when a pod comes can be asked for beforehand, and is all that changes."""
        rows = self.runner.rows
        return (
            self.plugin.foreseeable
            and rows.occupancy
            and not (rows.tracked or rows.everything)
            and not (self.normalizes and self.scores is not None)
        )

    @property
    def is_constant(self) -> bool:
        """Whether all nodes pass and have the same score, as far as objects are, whatever pods come and go."""
        points, since = self._points, self.generation
        if self.depends_on_pods or self.has_findings:
            return False
        if self._cluster.is_any_changed(self.kinds, since):
            return False
        if self.asked_at < 0 or (points.has_pre_score and not self.is_prepared):
            return False
        if not self.skips_filter:
            passes = self.pre_filter is None or self.pre_filter is SUCCESS
            if not passes or (points.has_filter and not (self.is_judged and self.rejected is None)):
                return False
        if self.skips_score or not points.has_score:
            return True
        has_worth = self._uniform_worth is not None if self.normalizes else not self.out_of_range
        return points.scores_alike and self.is_uniform and has_worth

    @property
    def constant(self) -> int:
        """The score of all nodes, where it is constant; 0 where there is none."""
        if self.scores is None or self.skips_score:
            return 0
        return self.normalize_uniform() if self.normalizes else self.scores.item(0)

    def _note_reads(self, reads: Reads) -> None:
        """Take note of what the plugin has read by now; classes that share the column may have to look at it anew."""
        size = len(reads.versions) + len(reads.objects) + reads.description
        if size != reads.seen:
            reads.seen = size
            self._note_kinds(reads.kinds)
            # What is known holds now: whoever asks has seen to that, and may have passed over changes of kinds that had
            # not been read. This answer is of after these changes, which are not to be heard of again.
            self.generation = self._cluster.generation
        if self._rests_elsewhere:  # there is no more to rest on
            return
        if reads.tracked or reads.everything or Pod in reads.versions:
            self._rests_elsewhere, self._rests_on_row_alone = True, False
        elif reads.occupancy:
            self._rests_on_row_alone = True
        else:
            return
        if not self.depends_on_pods:
            self.depends_on_pods = True
            self.generation = self._cluster.generation
            self._around.epoch += 1

    def settle(self) -> None:
        """See whether anything that is known rests on pods, once a class knows all it wants to.

        Before, it is taken to: the epoch is for classes that have found out otherwise.
        """
        self._is_settled = True
        self.depends_on_pods = self._rests_elsewhere or self._rests_on_row_alone

    def _note_kinds(self, kinds: frozenset[type]) -> None:
        if not kinds <= self.kinds:
            self.kinds |= kinds
            if self._is_settled:
                self._around.epoch += 1

    # -- keeping current ---------------------------------------------------------

    def reset(self) -> None:
        """Forget everything."""
        # until all is asked again, which finds the counters that nothing else holds and need not count anew
        self._earlier = self.cycle.state, self.runner
        self._begin(self.cycle.pod)

    def _begin(self, pod: PodInfo) -> None:
        self.cycle = Cycle(pod)
        self.runner = ReadingRunner(self._cluster)
        self.runner.before.everything = self._listens
        self._rests_on_row_alone, self._rests_elsewhere = False, self._listens  # what it hears of is no row
        self.asked_at = -1
        self.pre_filter = None
        self.skips_filter = False
        self._forget_filter(self._cluster.generation)
        self.reset_scores()

    def reset_scores(self) -> None:
        """Forget what PreScore and Score say."""
        self.pre_score = None
        self.is_prepared = self.skips_score = False
        self._forget_scores(self._cluster.generation)

    def update(self, foresight: Foresight | None = None) -> None:
        """Bring the answers up to the cluster.

        Raises:
            CycleError: the plugin fails.
            PluginError: it says that it cannot answer.
            CannotUpdate: its Filter fails on a node.
        """
        cluster, since = self._cluster, self.generation
        now = cluster.generation
        if since != now:
            if self.depends_on_pods or cluster.objects_since > since:
                try:
                    self._update_since(since, foresight)
                except BaseException:
                    self.reset()
                    self.generation = now
                    raise
            self.generation = now

    def _update_since(self, since: int, foresight: Foresight | None) -> None:
        changed = self._cluster.is_any_changed(self.kinds, since)
        if self._rests_on_row_alone and not changed:  # nearly always: pods have come, and nothing else that is read
            if foresight is None or foresight.since != since or not self._take(foresight):
                self._ask_again(self._around.occupancy_changes(since))
        elif changed or self.depends_on_pods:
            objects = changed or Pod in self.kinds
            if self._has_lapsed(since, objects=objects):
                self.reset()
            else:
                self._update_rows(since, foresight, objects=objects)

    def _has_lapsed(self, since: int, *, objects: bool) -> bool:
        """Return whether PreFilter or PreScore has to be asked again."""
        before = self.runner.before
        if before.everything or self.runner.rows.everything:
            return True
        if objects and self._cluster.has_changed(before, since):
            return True
        for tracked in before.tracked.values():
            changed = tracked.rows_changed(since)
            if changed is None or len(changed):
                return True
        return False

    def _update_rows(self, since: int, foresight: Foresight | None, *, objects: bool) -> None:
        """Ask again about the rows that have changed in what was read of them."""
        changed = self._changed(self.runner.rows, since, objects=objects)
        if changed is None:
            self.runner.rows = Reads()
            self._rests_on_row_alone = self._rests_elsewhere = False
            self._note_reads(self.runner.before)
            self._forget_filter(self._cluster.generation)
            self._forget_scores(self._cluster.generation)
            return
        if foresight is not None and len(changed) == 1 and int(changed[0]) == foresight.row and self._take(foresight):
            return
        self._ask_again(changed if self._around.whole else self._around.nodes.positions(changed))

    def _changed(self, reads: Reads, since: int, *, objects: bool) -> IndexArray | None:
        """Return the node rows that have changed in what was read of them, None where it is not known which.

        Where these are many, all are taken to have changed.
        """
        if objects and self._cluster.has_changed(reads, since):
            return None
        around, parts = self._around, []
        for tracked in reads.tracked.values():
            rows = tracked.rows_changed(since)
            if rows is None:
                return None
            if len(rows) * _FEW > around.size:
                return around.nodes.rows
            if len(rows):
                parts.append(rows if around.whole else around.within(rows))
        if reads.occupancy or reads.description:
            described, occupied = around.changed_rows(since)
            if reads.occupancy and len(occupied):
                parts.append(occupied)
            if reads.description and len(described):
                parts.append(described)
            if (len(described) + len(occupied)) * _FEW > around.size:
                return around.nodes.rows
        if len(parts) > 1:
            return distinct(parts, len(self._cluster.node_table))
        return parts[0] if parts else NO_ROWS

    def _take(self, foresight: Foresight) -> bool:
        """Take over what was foreseen of one row, if all of it was."""
        position = foresight.position
        rejected, score = foresight.rejected.get(self.name), foresight.scores.get(self.name)
        if (rejected is None and score is None) or not self.is_foreseeable:
            return False
        filters = self._filter_known is None and self._is_judged and not self.skips_filter
        if (filters and rejected is None) or (self.scores is not None and score is None):
            return False
        if filters and rejected is not None:
            self.verdicts = None
            if rejected != (self.rejected is not None and self.rejected.item(position)):
                self._rejections()[position] = rejected
                self.filter_log.note(self._cluster.generation, foresight.positions)
        if self.scores is not None and score is not None and self.scores.item(position) != score:
            self.scores[position] = score
            self.is_blank = False
            self._note_new_scores()
            self.score_log.note(self._cluster.generation, foresight.positions)
        return True

    def _ask_again(self, positions: IndexArray) -> None:
        """Ask about some nodes what is known of all, and take note that the rest is not known of them."""
        if not len(positions):
            return
        around = self._around
        many = len(positions) * _FEW > around.size
        self.verdicts = None
        if self._is_judged and not self.skips_filter:
            if self._filter_known is not None:
                if self._filter_known is not around.unknown:
                    self._filter_known[positions] = False
                self.filter_log.note(self._cluster.generation, positions)
            elif many:
                self._judge_all()
            else:
                self._judge_again(positions)
        if self.scores is None:
            return
        if self._score_known is not None:
            if self._score_known is not around.unknown:
                self._score_known[positions] = False
            self._is_known_everywhere = False
            self.score_log.note(self._cluster.generation, positions)
        elif many:
            self._score_all()
        else:
            self._set_scores(positions, self._ask_score(around.column(positions)))

    def _judge_again(self, positions: IndexArray) -> None:
        """Ask Filter about a few nodes of which it was known what it says."""
        rejected = self._ask_filter(self._around.column(positions))
        if len(positions) == 1:  # as after a placement
            position = positions.item()
            rejects = rejected is not None and rejected.item()
            flipped = positions
            if rejects == (self.rejected is not None and self.rejected.item(position)):
                return
        elif self.rejected is None:
            flipped = NO_ROWS if rejected is None else positions[rejected]
        else:
            before = self.rejected[positions]
            flipped = positions[before if rejected is None else before != rejected]
        if len(flipped):
            self._rejections()[positions] = False if rejected is None else rejected
            self.filter_log.note(self._cluster.generation, flipped)

    # -- PreFilter and Filter ----------------------------------------------------

    @property
    def is_judged(self) -> bool:
        """Whether it is known of all nodes whether Filter rejects them."""
        return self._filter_known is None

    def ask_pre_filter(self) -> None:
        """Ask PreFilter, if that is still to be done."""
        if self.asked_at >= 0:
            return
        if self._points.has_pre_filter:
            self.pre_filter = self.runner.pre_filter(self._plugin, self.cycle, self._around.every)
            self.skips_filter = _skips(self.pre_filter)
        self.asked_at = self._cluster.generation
        if not self._points.scores_alike:
            self._earlier = None
        self._note_reads(self.runner.before)

    def judge(self, standing: BoolArray | None) -> BoolArray | None:
        """Return which nodes Filter rejects, bool (n,), None for none; it holds for those that stand.

        Raises:
            CycleError: the plugin fails.
            CannotUpdate: it fails on a node.
        """
        if self._filter_known is not None:
            if self._points.filters_any_row:
                self._judge_all()
            else:
                self._judge_standing(standing)
        return self.rejected

    def judge_whole(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Return what Filter says of all nodes, from memory if that holds."""
        if self.verdicts is None:
            verdicts = self.runner.filter(self._plugin, cycle, nodes)
            self._note_reads(self.runner.rows)
            if verdicts.findings is not None:
                self.has_findings = True
                return verdicts
            self._is_judged = True
            if not any(part.reason.code is Code.ERROR for part in verdicts.parts):
                self._note_rejections(verdicts.mask.copy() if verdicts.parts else None)
                self._filter_known = None
            self.verdicts = verdicts
        return self.verdicts

    def _judge_all(self) -> None:
        self._note_rejections(self._ask_filter(self._around.nodes))
        self._filter_known = None
        self._is_judged = True

    def _note_rejections(self, rejected: BoolArray | None) -> None:
        """Keep what Filter says of all nodes, and take down where that is new."""
        before, now = self.rejected, self._cluster.generation
        if rejected is not None and not rejected.any():
            rejected = None
        self.rejected = rejected
        if self._filter_known is not None or (before is None and rejected is None):
            return  # nobody has seen others
        if before is None or rejected is None:
            flipped = before if before is not None else rejected
        else:
            flipped = before != rejected
        assert flipped is not None
        _note(self.filter_log, now, flipped)

    def _judge_standing(self, standing: BoolArray | None) -> None:
        """Ask about the nodes that stand and are not known, as a filter is asked that does not want all nodes."""
        known = self._filter_known
        assert known is not None
        unknown = (~known if standing is None else standing & ~known).nonzero()[0]
        self._is_judged = True
        if len(unknown):
            column = self._around.nodes if len(unknown) == len(known) else self._around.column(unknown)
            rejected = self._ask_filter(column)
            if rejected is not None or self.rejected is not None:
                self._rejections()[unknown] = False if rejected is None else rejected
            if known is self._around.unknown:
                known = self._filter_known = known.copy()
            known[unknown] = True

    def _ask_filter(self, column: Nodes) -> BoolArray | None:
        """Return which rows of a column Filter rejects, None for none."""
        verdicts = self.runner.filter(self._plugin, self.cycle, column)
        self._note_reads(self.runner.rows)
        if verdicts.findings is not None:
            self.has_findings = True
        if not verdicts.parts:
            return None
        for part in verdicts.parts:
            if part.reason.code is Code.ERROR:
                raise CannotUpdate
        return verdicts.mask.copy() if column is self._around.nodes else verdicts.mask

    def _rejections(self) -> BoolArray:
        """Return what Filter rejects, to be written to."""
        if self.rejected is None:
            self.rejected = np.zeros(self._around.size, np.bool_)
        return self.rejected

    def _forget_filter(self, generation: int) -> None:
        self.rejected = self.verdicts = None
        self._filter_known = self._around.unknown
        self._is_judged = False
        self.filter_log = ChangeLog(generation)
        self.forgotten += 1

    # -- PreScore and Score ------------------------------------------------------

    @property
    def is_rated(self) -> bool:
        """Whether the scores of all nodes are known."""
        return self._score_known is None or self._is_known_everywhere

    @property
    def is_scored_by_row(self) -> bool:
        """Whether Score is asked about feasible nodes alone, and some score is not 0."""
        return self._score_known is not None and not self.is_blank

    @property
    def is_uniform(self) -> bool:
        """Whether the raw scores of all nodes are known, and the same."""
        if not self.is_rated or self.scores is None:
            return False
        if self._is_uniform is None:
            self._is_uniform = self.is_blank or bool((self.scores == self.scores[0]).all())
        return self._is_uniform

    def normalize_uniform(self) -> int:
        """Return what the raw score that all nodes have is as a normalised one.

        Raises:
            CannotUpdate: it is out of range, which is a fault of the plugin.
            CycleError: the plugin fails.
        """
        if self._uniform_worth is None:
            assert self.scores is not None
            raw, nodes = self.scores[:1].astype(np.int64), self._around.column(_FIRST)  # it may look at scores alone
            self._uniform_worth = int(self.normalize(nodes, raw)[0])
        return self._uniform_worth

    def normalize(self, nodes: Nodes, raw: IntArray) -> IntArray:
        """Return the normalised scores of some nodes, int64 (n,).

        Raises:
            CannotUpdate: one is out of range, which is a fault of the plugin.
            CycleError: the plugin fails.
        """
        normalized = self.runner.normalize(self._plugin, self.cycle, nodes, raw)
        self._note_reads(self.runner.rows)
        return in_range(normalized)

    def ask_pre_score(self, feasible: Nodes) -> None:
        """Ask PreScore, if that is still to be done.

        Raises:
            CycleError: the plugin fails.
            CannotUpdate: it refuses.
        """
        if self.is_prepared:
            return
        if self._points.has_pre_score:
            self._take_pre_score(self.runner.pre_score(self._plugin, self.cycle, feasible))
        self.is_prepared, self._earlier = True, None

    def ask_pre_score_for_class(self, feasible: Nodes) -> AnswerColumn:
        """Ask PreScore about the feasible nodes of a class, which it reads; return the column that goes on from there.

        That is this one where a foreseeable plugin skips, which it does whichever nodes are feasible, and otherwise one
        of the class's own.

        Raises:
            CycleError: the plugin fails.
            CannotUpdate: it refuses.
        """
        cycle, runner = Cycle(self.cycle.pod, self.cycle.state.copy()), ReadingRunner(self._cluster)
        runner.before.everything = self._listens
        answer = runner.pre_score(self._plugin, cycle, feasible) if self._points.has_pre_score else None
        column = self
        if _skips(answer) and self.plugin.foreseeable:
            self.cycle.state = cycle.state
            self.runner.before.add(runner.before)
        else:
            column = AnswerColumn(self._around, self._points, self.cycle.pod, listens=self._listens)
            column.cycle, column.runner, column.asked_at = cycle, runner, self.asked_at
        column._take_pre_score(answer)
        return column

    def _take_pre_score(self, answer: Status | None) -> None:
        self._note_reads(self.runner.before)
        self.pre_score, self.skips_score = answer, _skips(answer)
        if not self.skips_score and answer is not None and not answer.successful:
            raise CannotUpdate
        self.is_prepared, self._earlier = True, None

    def rate(self, feasible: BoolArray, nodes: Callable[[], Nodes]) -> None:
        """See to it that the scores of the feasible nodes, of which a column can be made, are known."""
        if self._score_known is None:
            return
        if self.plugin.foreseeable:
            self._score_all()
            return
        unknown = (feasible & ~self._score_known).nonzero()[0]
        if len(unknown):
            every = len(unknown) > 1 and len(unknown) == int(np.count_nonzero(feasible))
            raw = self._ask_score(nodes() if every else self._around.column(unknown))
            self._set_scores(unknown, raw)
            if self._score_known is self._around.unknown:
                self._score_known = self._score_known.copy()
            self._score_known[unknown] = True
            self._is_known_everywhere = bool(self._score_known.all())

    def raw_scores(self, nodes: Nodes) -> IntArray:
        """Return the raw scores of a column of feasible nodes, int64 (n,), asked for where they are not known."""
        positions = self._around.nodes.positions(nodes.rows)
        feasible = np.zeros(self._around.size, np.bool_)
        feasible[positions] = True
        # in the order of rows, which that of a sampled cycle is not
        self.rate(feasible, lambda: self._around.column(np.flatnonzero(feasible)))
        if self.scores is None or self.out_of_range:
            return self._ask_score(nodes)
        return self.scores[positions].astype(np.int64)

    def _score_all(self) -> None:
        raw = self._ask_score(self._around.nodes)
        if self._score_known is None and self.scores is not None:
            _note(self.score_log, self._cluster.generation, self.scores != raw)
        self._score_known = None
        self.is_blank = True
        self._note_new_scores()
        self.scores = self._checked(raw).astype(self._points.dtype)

    def _set_scores(self, where: IndexArray, raw: IntArray) -> None:
        if self.scores is None:
            self.scores = np.zeros(self._around.size, self._points.dtype)
            self.is_blank = True
        self.score_log.note(self._cluster.generation, where)
        was_blank = self.is_blank
        self.scores[where] = self._checked(raw)
        if not (was_blank and self.is_blank):
            self._note_new_scores()

    def _checked(self, raw: IntArray) -> IntArray:
        """Return scores, -1 in the place of those that are none, and take note of what they are like."""
        most = largest_unsigned(raw)
        if most:
            self.is_blank = False
        if most > MAX_NODE_SCORE and not self.normalizes:
            self.out_of_range = True
            raw = np.where((raw < 0) | (raw > MAX_NODE_SCORE), -1, raw)
        return raw

    def _note_new_scores(self) -> None:
        self._is_uniform = self._uniform_worth = None

    def _ask_score(self, column: Nodes) -> IntArray:
        raw = self.runner.score(self._plugin, self.cycle, column)
        self._note_reads(self.runner.rows)
        return raw

    def _forget_scores(self, generation: int) -> None:
        self.scores = None
        self._note_new_scores()
        self.out_of_range = False
        self.is_blank = True
        self._score_known = self._around.unknown
        self._is_known_everywhere = False
        self.score_log = ChangeLog(generation)
        self.forgotten += 1


def in_range(scores: IntArray) -> IntArray:
    """Return normalised scores.

    Raises:
        CannotUpdate: one is outside the range, which is a fault of its plugin.
    """
    if largest_unsigned(scores) > MAX_NODE_SCORE:
        raise CannotUpdate
    return scores


def _note(log: ChangeLog, generation: int, changed: BoolArray) -> None:
    """Take down which positions have changed; where that are many, whole columns are looked at anyway."""
    many = int(np.count_nonzero(changed))
    if many * _FEW > len(changed):
        log.begin(generation)
    elif many:
        log.note(generation, np.flatnonzero(changed))


def _skips(answer: Status | NodeSet | None) -> bool:
    return isinstance(answer, Status) and answer.code is Code.SKIP

"""How a cycle asks extenders: one after another about the nodes that Filter left, all about the scores of the rest.

What extenders say becomes part of what Filter and Score say, under their names, so that nobody above needs to tell
them from plugins. What an extender is, `schedctl.framework.extenders` says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec
import numpy as np
from msgspec.structs import replace

from schedctl.cache.arrays import BoolArray
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.assumptions import Assumption
from schedctl.engine.calls import PluginRunner
from schedctl.engine.faults import CycleError
from schedctl.engine.filtering import Filtering, Refusal
from schedctl.engine.scoring import PluginScores, Scoring
from schedctl.framework.arithmetic import MAX_NODE_SCORE
from schedctl.framework.extenders import MAX_EXTENDER_PRIORITY, ExtenderError, FilterAnswer, Unanswered
from schedctl.framework.profiles import Profile
from schedctl.framework.reasons import Part, Reason, Verdicts


class _Reasons:
    """What an extender says of a node."""

    failed = Reason("{text}")
    unresolvable = Reason("{text}", unresolvable=True)
    left_out = Reason("", unresolvable=True)


FAILED, UNRESOLVABLE, LEFT_OUT = _Reasons.failed, _Reasons.unresolvable, _Reasons.left_out
for _reason, _name in ((FAILED, "failed"), (UNRESOLVABLE, "unresolvable"), (LEFT_OUT, "left-out")):
    _reason.reference = f"extender/{_name}"


class Failure(msgspec.Struct, frozen=True):
    """An extender failed.

    Attributes:
        extender: its name.
        point: at which extension point it was asked.
        text: what went wrong.
        ignored: whether the cycle went on without it.
    """

    extender: str
    point: str
    text: str
    ignored: bool


class Consultation(msgspec.Struct):
    """What came of asking extenders in one cycle.

    Attributes:
        answered: the names of those that gave an answer about nodes, in order.
        rejected: whether they left fewer nodes than there were.
        described: whether one of them sent whole nodes back; see `FilterAnswer`.
        failures: in order.
        binder: the name of the extender that would bind the pod, "" where plugins would.
    """

    answered: list[str] = msgspec.field(default_factory=list)
    rejected: bool = False
    described: bool = False
    failures: list[Failure] = msgspec.field(default_factory=list)
    binder: str = ""


def filter_on(
    profile: Profile, pod: PodInfo, filtering: Filtering, runner: PluginRunner, consultation: Consultation
) -> Filtering:
    """Return what is left when the extenders of a profile have been asked about the feasible nodes of a column.

    Raises:
        CycleError: an extender failed that is not ignorable.
    """
    before = standing = filtering.feasible
    extender_verdicts = _ExtenderVerdicts(filtering.nodes)
    for extender in profile.extenders:
        if not standing.any():
            break
        if not extender.filters or not extender.is_interested(pod):
            continue
        try:
            answer = extender.filter(pod, filtering.nodes.take(standing))
        except Unanswered as why:  # passed over as if it had no objection: the answer is a guess from here on
            runner.note_silence(Assumption("filter", extender.name, type(why)))
            continue
        except ExtenderError as fault:
            consultation.failures.append(Failure(extender.name, "filter", str(fault), extender.ignorable))
            if extender.ignorable:
                continue
            raise CycleError(str(fault), extender.name) from fault
        consultation.answered.append(extender.name)
        consultation.described |= answer.described
        standing = extender_verdicts.take(extender.name, answer, standing)
    consultation.rejected |= bool((before & ~standing).any())
    return extender_verdicts.merge(filtering, standing)


def score_on(
    profile: Profile, pod: PodInfo, scoring: Scoring, runner: PluginRunner, consultation: Consultation
) -> Scoring:
    """Return the scores of nodes with what the extenders of a profile add to them; those that fail add nothing.

    Of a single node nobody is asked, as in kube-scheduler.
    """
    consultation.binder = binder(profile, pod)
    if len(scoring.nodes) == 1:
        return scoring
    positions = {name: position for position, name in enumerate(scoring.nodes.names)}
    plugins, totals = list(scoring.plugins), scoring.totals.copy()
    for extender in profile.extenders:
        if not extender.prioritizes or not extender.is_interested(pod):
            continue
        try:
            answer = extender.prioritize(pod, scoring.nodes)
        except Unanswered as why:
            runner.note_silence(Assumption("score", extender.name, type(why)))
            continue
        except ExtenderError as fault:
            # ignorable or not: kube-scheduler goes on without the scores of an extender that fails
            consultation.failures.append(Failure(extender.name, "score", str(fault), ignored=True))
            continue
        raw = np.zeros(len(positions), np.int64)
        for name, score in answer:
            if name in positions:
                raw[positions[name] : positions[name] + 1] += np.int64(score)  # a slice wraps as Go's numbers do
        scaled = raw * (MAX_NODE_SCORE // MAX_EXTENDER_PRIORITY)
        scores = PluginScores(extender.name, raw, scaled, extender.config.weight)
        plugins.append(scores)
        totals += scores.weighted
    return replace(scoring, plugins=tuple(plugins), totals=totals)


def binder(profile: Profile, pod: PodInfo) -> str:
    """Return the name of the extender that would bind a pod, "" where Bind plugins do."""
    return next((each.name for each in profile.extenders if each.binds and each.is_interested(pod)), "")


def about(verdicts: Verdicts, judged: Nodes, nodes: Nodes) -> Verdicts:
    """Return what an extender said of one column as verdicts about another of the same cluster."""
    place = np.full(len(judged.cluster.node_table), -1, np.intp)
    place[judged.rows] = np.arange(len(judged))
    at = place[nodes.rows]
    parts = []
    for part in verdicts.parts:
        evidence = {name: texts[at] for name, texts in part.evidence.items()}
        parts.append(Part(part.reason, part.mask[at] & (at >= 0), None, evidence))
    return Verdicts(tuple(parts))


class _ExtenderVerdicts:
    """What extenders have said of nodes so far, the last word on each; of a node they keep nothing counts."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._positions = {name: position for position, name in enumerate(nodes.names)}
        self._words: dict[str, tuple[str, Reason, str]] = {}
        self._dropped: dict[int, str] = {}

    def take(self, extender: str, answer: FilterAnswer, standing: BoolArray) -> BoolArray:
        """Take an answer down and return which nodes still stand, bool (n,)."""
        reasons: tuple[tuple[Reason, Mapping[str, str]], ...] = (
            (FAILED, answer.failed),
            (UNRESOLVABLE, answer.unresolvable),
        )
        for reason, words in reasons:
            self._words |= {name: (extender, reason, text) for name, text in words.items()}
        left = np.zeros(len(standing), np.bool_)
        left[[self._positions[name] for name in answer.kept]] = True
        self._dropped |= dict.fromkeys(np.flatnonzero(standing & ~left).tolist(), extender)
        return left

    def merge(self, filtering: Filtering, standing: BoolArray) -> Filtering:
        """Return what Filter and the extenders say together; where an extender speaks of a refused node, it counts."""
        by_extender: dict[str, dict[int, tuple[Reason, str]]] = {}
        outsiders: Counter[str] = Counter()
        for name, (extender, reason, text) in self._words.items():
            position = self._positions.get(name)
            if position is None:
                outsiders[text] += 1
            elif not standing[position]:  # a node that the last extender keeps stands, whatever was said of it before
                by_extender.setdefault(extender, {})[position] = reason, text
        spoken = {position for words in by_extender.values() for position in words}
        for position, extender in self._dropped.items():
            if position not in spoken:
                by_extender.setdefault(extender, {})[position] = LEFT_OUT, ""
        overruled = np.zeros(len(standing), np.bool_)
        overruled[list(spoken)] = True
        nominated, positions = filtering.nominated, filtering.nominated_positions
        if nominated is not None:
            inner = [Refusal(r.plugin, r.verdicts, r.mask & ~overruled[positions]) for r in nominated.refusals]
            nominated = replace(nominated, refusals=inner)
        return Filtering(
            filtering.nodes,
            standing,
            [Refusal(r.plugin, r.verdicts, r.mask & ~overruled) for r in filtering.refusals]
            + [_refusal(extender, words, len(standing)) for extender, words in by_extender.items()],
            nominated,
            positions,
            filtering.faults,
            filtering.findings,
            outsiders,
            frozenset(filtering.rejecting_plugins()),
        )


def _refusal(extender: str, words: Mapping[int, tuple[Reason, str]], rows: int) -> Refusal:
    """Return what one extender refuses, by position."""
    texts = np.full(rows, "", np.object_)
    for position, (_, text) in words.items():
        texts[position] = text
    verdicts = Verdicts()
    for reason in (FAILED, UNRESOLVABLE, LEFT_OUT):
        mask = np.zeros(rows, np.bool_)
        mask[[position for position, (each, _) in words.items() if each is reason]] = True
        if mask.any():
            verdicts |= reason.where(mask) if reason is LEFT_OUT else reason.where(mask, text=texts)
    return Refusal(extender, verdicts, verdicts.mask)

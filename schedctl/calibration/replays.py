"""The walk back: the state is undone arrival by arrival, and each decision on the way is made again.

The state without what came later is nearer to what kube-scheduler saw than the state as it is now, where every pod that
came later takes room and counts; what has gone or been changed in between cannot be put back. `timelines` says what
came when, `traces` what may be the cause of a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum

import msgspec

from schedctl.api.events import Event
from schedctl.api.pods import Pod
from schedctl.api.times import unix_nanoseconds
from schedctl.cache.pod_info import PodInfo
from schedctl.calibration.timelines import SECOND, Arrival, Timeline
from schedctl.engine import attempts, fit_error, sampling
from schedctl.engine.assumptions import ForeignGroup
from schedctl.engine.attempts import Attempt
from schedctl.engine.certainty import assumptions_affecting_verdict
from schedctl.errors import NotModelled
from schedctl.explain import facts, fit_error_lines, scores
from schedctl.explain.fit_error_lines import FitErrorDifference
from schedctl.explain.histories import GATED
from schedctl.framework.extenders import Unanswered
from schedctl.framework.pod_edits import as_pending
from schedctl.reports.explanations import Comparison
from schedctl.reports.reasons import Reason
from schedctl.scheduler import Scheduler

RETRIED = 20
"""How many pending pods are asked again at each step back."""
TIMELESS = frozenset(("NodeAffinity", "NodeUnschedulable", "TaintToleration"))
"""The filters that go by fields of nodes of which nothing tells since when they are as they are."""
Progress = Callable[[int, int, str], None]
"""Told how many decisions are made again, of how many, and about which pod."""


class Result(Enum):
    """How a decision comes out."""

    AGREES = "Agrees"
    LOWER = "Lower"
    REFUSED = "Refused"
    INCONCLUSIVE = "Inconclusive"


class Replay(msgspec.Struct):
    """A decision made again.

    Attributes:
        decision: the decision.
        result: how it comes out.
        nodes: how many nodes there were.
        feasible: how many would do.
        chosen: the first of the best by name, "" for none.
        ties: how many are as good as the best.
        enough: how many feasible nodes kube-scheduler looks for in a cluster of this size.
        better: the nodes that score more than the one taken.
        comparison: why the best beats the node taken, None unless it does.
        reasons: why the node taken is refused; empty unless it is.
        filters: whether each filter that was asked accepts the node taken.
        scores: of each plugin that tells the feasible nodes apart, whether it is none of those that outvote the node.
        narrowed: the plugins that refuse other nodes by what carries no time: cordons, taints and labels.
        bound_claims: whether the pod has claims, which are bound by now.
        error: why there is no answer, "" where there is one.
    """

    decision: Arrival
    result: Result = Result.INCONCLUSIVE
    nodes: int = 0
    feasible: int = 0
    chosen: str = ""
    ties: int = 0
    enough: int = 0
    better: list[str] = msgspec.field(default_factory=list)
    comparison: Comparison | None = None
    reasons: list[Reason] = msgspec.field(default_factory=list)
    filters: dict[str, bool] = msgspec.field(default_factory=dict)
    scores: dict[str, bool] = msgspec.field(default_factory=dict)
    narrowed: frozenset[str] = frozenset()
    bound_claims: bool = False
    error: str = ""

    @property
    def pod(self) -> PodInfo:
        """The pod."""
        assert self.decision.pod is not None
        return self.decision.pod


class RefusalReplay(msgspec.Struct):
    """What a pending pod was told, next to what we tell it.

    Attributes:
        pod: the pod.
        theirs: what it was told.
        since: when it was refused first, in nanoseconds since 1970; 0 where nobody says.
        ours: what we tell it on the state as it is, or as it was when we agree.
        agrees: whether that is the same, if need be in other words.
        later: how many pods that were bound since had to be left out for that.
        differences: in what the two differ.
        would_be_placed_on: the node it would be placed on now, "" for none.
        error: why there is no answer, "" where there is one.
    """

    pod: PodInfo
    theirs: str
    since: int = 0
    ours: str = ""
    agrees: bool = False
    later: int = 0
    differences: list[FitErrorDifference] = msgspec.field(default_factory=list)
    would_be_placed_on: str = ""
    error: str = ""


class CalibrationFacts(msgspec.Struct):
    """The facts of a calibration.

    Attributes:
        timeline: what came when.
        replays: the decisions made again, the newest first.
        refusals: what pending pods were told.
        passed_over: how many older decisions were not made again, because so many were not asked for.
        not_retried: how many pending pods that were told something else were not asked again at each step back.
    """

    timeline: Timeline
    replays: list[Replay] = msgspec.field(default_factory=list)
    refusals: list[RefusalReplay] = msgspec.field(default_factory=list)
    passed_over: int = 0
    not_retried: int = 0


def replay(
    scheduler: Scheduler,
    timeline: Timeline,
    *,
    most: int,
    lines: Sequence[tuple[Pod, str]] = (),
    progress: Progress = lambda done, total, pod: None,
) -> CalibrationFacts:
    """Make the newest decisions again and return what came of it; the cluster is as before.

    Args:
        scheduler: the profiles and the cluster.
        timeline: what came when in that cluster.
        most: how many decisions.
        lines: what each pending pod was told; see `recorded_refusals`.
        progress: called with how far it is.
    """
    made = CalibrationFacts(timeline)
    total = min(most, len(timeline.decisions))
    made.passed_over = len(timeline.decisions) - total
    later = 0
    with scheduler.fork():
        made.refusals = [_replay_refusal(scheduler, pod, line) for pod, line in lines]
        differing = [each for each in made.refusals if not (each.agrees or each.error)]
        open_ones, made.not_retried = differing[:RETRIED], len(differing[RETRIED:])
        for arrival in timeline.arrivals:
            if len(made.replays) == total and not open_ones:
                break
            # Before it is made again: a decision is made without the pod itself and without all that came after it.
            _undo(scheduler, arrival)
            later += arrival.decided
            if arrival.decided and len(made.replays) < total:
                assert arrival.pod is not None
                progress(len(made.replays), total, arrival.pod.key)
                made.replays.append(_replay_decision(scheduler, arrival))
            # Not to before the pod was refused first: the line was true at one of these moments if we agree at all.
            open_ones = [each for each in open_ones if arrival.at >= each.since and each.since]
            for each in open_ones:
                _ask_again(scheduler, each, later)
            open_ones = [each for each in open_ones if not each.agrees]
    return made


def recorded_refusals(scheduler: Scheduler, failed: Iterable[Event] = ()) -> list[tuple[Pod, str]]:
    """Return what each pending pod was told: by its condition, or by the newest event where that is silent.

    Pods of other schedulers, and those that gates keep from being tried, were told nothing.

    Args:
        scheduler: the profiles and the cluster.
        failed: the events that pods could not be scheduled.
    """
    newest = {event.involved_object.uid: event.message for event in failed}
    found = []
    for info in scheduler.cluster.pending.values():
        condition = info.pod.scheduled_condition
        if scheduler.profile_of(info) is None or (condition is not None and condition.reason == GATED):
            continue
        line = condition.message if condition is not None and condition.status == "False" else ""
        line = line or newest.get(info.pod.metadata.uid, "")
        if line:
            found.append((info.pod, line))
    return found


def _undo(scheduler: Scheduler, arrival: Arrival) -> None:
    """Take out of the state what came last."""
    cluster = scheduler.cluster
    if arrival.pod is None:
        if arrival.node in cluster.node_table.row_of:
            cluster.remove_node(arrival.node)
    elif not arrival.node:
        scheduler.nominator.withdraw(arrival.pod)
    elif arrival.pod.key in cluster.pod_table.row_of:
        cluster.remove_pod(arrival.pod)


def _replay_decision(scheduler: Scheduler, decision: Arrival) -> Replay:
    info = decision.pod
    assert info is not None
    found = Replay(decision, bound_claims=_has_claims(info.pod))
    if decision.node not in scheduler.cluster.node_table.row_of:
        found.error = (
            f"node {decision.node} was created after the pod was bound: the pod was on an older node of that name"
        )
        return found
    try:
        outcome = scheduler.attempt(PodInfo(as_pending(info.pod)), make_room=False)
    except NotModelled as missing:
        found.error = str(missing)
        return found
    found.nodes = outcome.total_nodes
    unlisted = _missing_inputs(outcome)
    if unlisted:
        found.error = unlisted
        return found
    if outcome.error or outcome.gated is not None or outcome.deleted:
        found.error = outcome.error or (outcome.gated.message if outcome.gated else "the pod is terminating")
        return found
    found.filters = _filters(outcome, decision.node)
    found.enough = sampling.nodes_to_find(scheduler.percentage(outcome.profile), outcome.total_nodes)
    ranking = scores.ranking(outcome.scoring) if outcome.scoring is not None else []
    found.feasible, found.chosen, found.ties = len(ranking), outcome.chosen, len(outcome.tie_rows)
    taken = next((score for score in ranking if score.node == decision.node), None)
    if taken is None:
        found.result = Result.REFUSED
        found.reasons = facts.reasons_of(outcome, decision.node)
        return found
    refusing = {plugin for reason in facts.reasons(outcome) for plugin in reason.plugin.split(", ")}
    found.narrowed = frozenset(refusing & TIMELESS)
    found.result = Result.AGREES if decision.node in outcome.ties else Result.LOWER
    against: set[str] = set()
    if found.result is Result.LOWER:
        found.better = [score.node for score in ranking if score.total > taken.total]
        found.comparison = scores.compare(ranking[0], taken)
        against = {each.plugin for each in found.comparison.plugins if each.difference > 0}
    for index, score in enumerate(taken.plugins):
        if len({each.plugins[index].weighted for each in ranking}) > 1:
            found.scores[score.plugin] = score.plugin not in against
    return found


def _filters(outcome: Attempt, node: str) -> dict[str, bool]:
    """Return whether each filter that was asked accepts a node, whatever the others say."""
    if outcome.pre_filter.is_rejected:
        plugins = [outcome.pre_filter.plugin] if outcome.pre_filter.plugin else sorted(outcome.narrowing_plugins)
        return dict.fromkeys(plugins, False)
    # Asked anew, each filter for itself: the attempt asks no further filter about a node that one has refused.
    refusing = attempts.matrix(outcome, outcome.cluster.nodes_named([node]))
    filters = [plugin.name for plugin in outcome.profile.filter if plugin.name not in outcome.cycle.skip_filter]
    accepted = {name: name not in refusing or not refusing[name].mask[0] for name in filters}
    if outcome.pre_filter_nodes is not None and node not in outcome.pre_filter_nodes:
        accepted |= dict.fromkeys(outcome.narrowing_plugins, False)
    return accepted


def _missing_inputs(outcome: Attempt) -> str:
    """Say what an answer rests on that could not be listed, "" where it stands."""
    guesses = assumptions_affecting_verdict(outcome)
    silent = sorted(f"{guess.plugin} {guess.kind.text}" for guess in guesses if issubclass(guess.kind, Unanswered))
    if silent:
        return f"it depends on extenders: {', '.join(dict.fromkeys(silent))}"
    groups = sorted(guess.plugin for guess in guesses if guess.kind is ForeignGroup)
    if groups:
        return f"it depends on groups, which are not modelled: {', '.join(groups)}"
    kinds = sorted({guess.kind.__name__ for guess in guesses})
    return f"it depends on objects that could not be listed: {', '.join(kinds)}" if kinds else ""


def _has_claims(pod: Pod) -> bool:
    volumes = pod.spec.volumes or ()
    return bool(pod.spec.resource_claims) or any(each.persistent_volume_claim or each.ephemeral for each in volumes)


def _replay_refusal(scheduler: Scheduler, pod: Pod, theirs: str) -> RefusalReplay:
    condition = pod.scheduled_condition
    since = condition.last_transition_time if condition is not None else None
    # Down to the second: what came within the same second may have come after.
    refusal = RefusalReplay(PodInfo(pod), theirs, unix_nanoseconds(since) // SECOND * SECOND if since else 0)
    try:
        outcome = scheduler.attempt(refusal.pod)
    except NotModelled as missing:
        refusal.error = str(missing)
        return refusal
    refusal.error = _missing_inputs(outcome)
    refusal.ours, refusal.would_be_placed_on = fit_error.message(outcome) or outcome.error, outcome.chosen
    refusal.differences = fit_error_lines.differences(theirs, refusal.ours) if refusal.ours else []
    refusal.agrees = bool(refusal.ours) and not refusal.differences
    return refusal


def _ask_again(scheduler: Scheduler, refusal: RefusalReplay, later: int) -> None:
    """Ask on an earlier state, and take that answer if it is what the pod was told."""
    try:
        outcome = scheduler.attempt(refusal.pod)
    except NotModelled:
        return
    if _missing_inputs(outcome):
        return
    ours = fit_error.message(outcome) or outcome.error
    if ours and not fit_error_lines.differences(refusal.theirs, ours):
        refusal.ours, refusal.differences, refusal.would_be_placed_on = ours, [], ""
        refusal.agrees, refusal.later = True, later

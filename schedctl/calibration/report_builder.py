"""`CalibrationReport`: how far the decisions of a cluster come out as they were, as data, and in words.

Within ``schedctl.dev/v1alpha1`` fields are only added; readers ignore those they do not know, and every field is always
there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from schedctl.calibration import replays, traces
from schedctl.calibration.timelines import LeftOut
from schedctl.calibration.traces import KnownHistory, Trace, TraceEvidence
from schedctl.explain import fit_error_lines
from schedctl.explain.fit_error_lines import PREEMPTION
from schedctl.explain.histories import in_words
from schedctl.framework.registries import Registry
from schedctl.framework.wording import few
from schedctl.plugins.in_tree import IN_TREE
from schedctl.reports import calibrations
from schedctl.reports.calibrations import CalibrationReport, DecisionOutcome
from schedctl.reports.metadata import Metadata

NO_DECISIONS = 5
"""The exit code where there was no decision to make again."""


def report(
    made: replays.CalibrationFacts,
    known: KnownHistory,
    *,
    metadata: Metadata,
    notes: Sequence[str] = (),
    registry: Registry = IN_TREE,
) -> CalibrationReport:
    """Return the report of a calibration.

    Args:
        made: the facts.
        known: what is known of the time before.
        metadata: under which conditions it was made.
        notes: what else is to be known.
        registry: the plugins, in the order in which they are told.
    """
    decisions = [_decision(each, traces.of(each, known)) for each in made.replays]
    refusals = [_refusal(each) for each in made.refusals if not each.error]
    return CalibrationReport(
        metadata=metadata,
        summary=_summary(made, decisions, refusals),
        plugins=_plugins(made, registry),
        decisions=decisions,
        refusals=refusals,
        not_replayed=[
            calibrations.NotReplayed(kind=why.value, pods=sorted(pods), text=_WHY[why])
            for why in LeftOut
            if (pods := made.timeline.left_out.get(why))
        ],
        notes=[*_notes(made), *notes],
    )


def _decision(replay: replays.Replay, found: Sequence[TraceEvidence]) -> calibrations.Decision:
    comparison = replay.comparison
    return calibrations.Decision(
        pod=replay.pod.key,
        node=replay.decision.node,
        outcome=DecisionOutcome(replay.result.value),
        nodes=replay.nodes,
        feasible=replay.feasible,
        chosen=replay.chosen,
        ties=replay.ties,
        behind=comparison.difference if comparison is not None else 0,
        differences=comparison.plugins if comparison is not None else [],
        reasons=replay.reasons,
        causes=[_cause(each) for each in found],
        text=_came_out(replay),
    )


def _came_out(replay: replays.Replay) -> str:
    match replay.result:
        case replays.Result.AGREES:
            return ""
        case replays.Result.LOWER:
            assert replay.comparison is not None
            return replay.comparison.text
        case replays.Result.REFUSED:
            text = ", ".join(f"{each.text} [{each.plugin}]{_behind(each.detail)}" for each in replay.reasons)
            return f"rejected: {text or 'excluded before any filter ran'}"
        case replays.Result.INCONCLUSIVE:
            return replay.error


def _behind(detail: str) -> str:
    return f" ({detail})" if detail else ""


def _cause(found: TraceEvidence) -> calibrations.DecisionCause:
    return calibrations.DecisionCause(
        kind=found.trace.value,
        names=list(found.names),
        text=_CAUSES[found.trace].format(few(found.names), *found.names),
    )


_CAUSES = {
    Trace.PROMISED: "the pod was nominated to this node by preemption, so no other node was examined",
    Trace.SAMPLED: "kube-scheduler stops after {1} feasible nodes, and here {2} are feasible",
    Trace.SAME_MOMENT: "scheduled within the same second, in unknown order: {0}",
    Trace.PLACED_THEN: "placed by another scheduler within the same second, perhaps later: {0}",
    Trace.GONE: "pods that existed then and are gone now: {0}",
    Trace.TIMELESS: "pods without a start time, which may be newer: {0}",
    Trace.CORDONED: "unknown since when the node is cordoned",
    Trace.TAINTED: "unknown since when nodes have their taints",
    Trace.RELABELLED: "unknown since when nodes and pods have their labels",
    Trace.RESIZED: "unknown since when the node and the pods on it have their sizes",
    Trace.IMAGES: "unknown since when nodes have their images",
    Trace.CLAIMS: "claims that were unbound then are bound now",
    Trace.SHUNNED: "not chosen in several consecutive decisions, as if cordoned, tainted or not ready then: {0}",
    Trace.NODES_GONE: "nodes that pods are bound to and that are gone now: {0}",
}
_GENERIC = {trace.value for trace in traces.GENERIC}
_WHY = {
    LeftOut.FOREIGN: "their schedulerName belongs to another scheduler",
    LeftOut.STATIC: "static pods, which a kubelet runs without scheduling",
    LeftOut.UNSCHEDULED: "never scheduled: created with a nodeName, or without conditions in the state",
    LeftOut.NODE_GONE: "bound to nodes that are gone now",
}


def _refusal(refusal: replays.RefusalReplay) -> calibrations.RefusalComparison:
    differences = [in_words(each) for each in refusal.differences]
    if refusal.agrees:
        pods = "pod" if refusal.later == 1 else "pods"
        text = (
            f"the same message on the state without the {refusal.later} {pods} bound since then"
            if refusal.later
            else ""
        )
    elif refusal.would_be_placed_on:
        text = f"now it would be placed on {refusal.would_be_placed_on}"
    elif not refusal.ours:
        text = "now it would not be scheduled at all"
    else:
        text = "; ".join(each.text for each in differences)
    return calibrations.RefusalComparison(
        pod=refusal.pod.key,
        agrees=refusal.agrees,
        later=refusal.later,
        theirs=refusal.theirs,
        ours=refusal.ours,
        differences=differences,
        text=text,
    )


def _summary(
    made: replays.CalibrationFacts,
    decisions: Sequence[calibrations.Decision],
    refusals: Sequence[calibrations.RefusalComparison],
) -> calibrations.CalibrationSummary:
    count = Counter(each.outcome for each in decisions)
    agreeing = [each for each in decisions if each.outcome is DecisionOutcome.AGREES]
    answered = len(decisions) - count[DecisionOutcome.INCONCLUSIVE]
    differing = [each for each in decisions if each.outcome in (DecisionOutcome.LOWER, DecisionOutcome.REFUSED)]
    return calibrations.CalibrationSummary(
        exit_code=0 if answered or refusals else NO_DECISIONS,
        decisions=len(decisions),
        agrees=len(agreeing),
        alone=sum(each.ties == 1 and each.feasible > 1 for each in agreeing),
        tied=sum(each.ties > 1 for each in agreeing),
        only=sum(each.feasible == 1 for each in agreeing),
        lower=count[DecisionOutcome.LOWER],
        refused=count[DecisionOutcome.REFUSED],
        inconclusive=count[DecisionOutcome.INCONCLUSIVE],
        unexplained=sum(not each.causes for each in differing),
        generic=sum(bool(each.causes) and {cause.kind for cause in each.causes} <= _GENERIC for each in differing),
        # Rounded down to a tenth, so that 100 means all.
        agreement=1000 * len(agreeing) // answered / 10 if answered else None,
        refusals=len(refusals),
        refusals_agree=sum(each.agrees for each in refusals),
        passed_over=made.passed_over,
    )


def _plugins(made: replays.CalibrationFacts, registry: Registry) -> list[calibrations.PluginAgreement]:
    counts: dict[str, Counter[str]] = {}

    def count(plugin: str, what: str, number: int = 1) -> None:
        counts.setdefault(plugin, Counter())[what] += number

    # A filter agrees if it accepts the node that was taken, whatever other filters say. A score plugin cannot be right
    # or wrong alone, for only the sum decides: it counts where it tells the feasible nodes apart at all, and outvotes
    # the node that was taken where the sum prefers another and it is among those that make it so.
    for replay in made.replays:
        for plugin, accepts in replay.filters.items():
            count(plugin, "asked")
            count(plugin, "accepts", accepts)
        for plugin, agrees in replay.scores.items():
            count(plugin, "tells")
            count(plugin, "outvotes", not agrees)
    for refusal in made.refusals:
        if refusal.error or not refusal.ours:
            continue
        differing = {each.reason for each in refusal.differences if each.reason}
        reasons = (
            fit_error_lines.parse(refusal.theirs).counts.keys() | fit_error_lines.parse(refusal.ours).counts.keys()
        )
        # A reason agrees if it stands for as many nodes in their line as in ours.
        for reason in reasons:
            for plugin in filter(None, fit_error_lines.plugin_of(reason).split(", ")):
                count(plugin, "reasons")
                count(plugin, "same", reason not in differing)
        count(PREEMPTION, "reasons")
        count(PREEMPTION, "same", all(each.plugin != PREEMPTION for each in refusal.differences))
    order = {name: number for number, name in enumerate(registry)}
    return [
        calibrations.PluginAgreement(plugin=plugin, **counts[plugin])
        for plugin in sorted(counts, key=lambda name: (order.get(name, len(order)), name))
    ]


def _notes(made: replays.CalibrationFacts) -> list[str]:
    notes = []
    if made.replays:
        notes.append(
            "each decision is repeated on the state without the pod and without newer pods; objects deleted or changed"
            " since then cannot be restored"
        )
    narrowed = sum(replay.result is replays.Result.AGREES and bool(replay.narrowed) for replay in made.replays)
    if narrowed:
        plugins = sorted(
            {each for replay in made.replays if replay.result is replays.Result.AGREES for each in replay.narrowed}
        )
        agree = "decision agrees" if narrowed == 1 else "decisions agree"
        notes.append(
            f"{narrowed} {agree}, but other nodes are rejected for a cordon, a taint or a label that may be newer than"
            f" the decision: {', '.join(plugins)}"
        )
    bound = sum(replay.bound_claims for replay in made.replays)
    if bound:
        notes.append(
            f"{bound} of the pods {'has' if bound == 1 else 'have'} claims that are bound now and leave fewer nodes"
            " than there were then"
        )
    if made.passed_over:
        were = "decision was" if made.passed_over == 1 else "decisions were"
        notes.append(f"{made.passed_over} older {were} not repeated; `--last N` repeats more")
    if made.not_retried:
        pods = "pending pod counts" if made.not_retried == 1 else "pending pods count"
        notes.append(
            f"{made.not_retried} more {pods} as different without a comparison on earlier states, which is made for"
            f" {replays.RETRIED} pods at most"
        )
    unanswered = sum(bool(each.error) for each in made.refusals)
    if unanswered:
        one = unanswered == 1
        pods = "pending pod has" if one else "pending pods have"
        notes.append(f"{unanswered} {pods} no answer: something is not modelled or not known")
    return notes

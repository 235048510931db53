"""The `Explanation` of a pod, built from an engine attempt, and the report of several.

Everything is asked in a fork of the cluster, which is as before when the answer is there. What is said of one part
stands in the neighbours: `facts`, `scores`, `preemptions`, `hints`, `requeue_events`, `remarks`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import msgspec

from schedctl.api.pods import FINISHED, Pod
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.documents.spelling import suggest_names
from schedctl.engine import fit_error
from schedctl.engine.assumptions import Assumption
from schedctl.engine.attempts import Attempt
from schedctl.errors import Inconclusive, NotModelled, UsageError
from schedctl.explain import causes, extenders, facts, preemptions, remarks, requeue_events, scores, spreads
from schedctl.explain import hints as next_steps
from schedctl.explain.allocations import allocations
from schedctl.framework import wording
from schedctl.framework.near_nodes import near_nodes
from schedctl.framework.pod_edits import as_pending
from schedctl.framework.remarks import Trials
from schedctl.framework.statuses import Code, none_available
from schedctl.reports import exit_codes
from schedctl.reports.explanations import (
    CurrentNode,
    ExplainReport,
    ExplainSummary,
    Explanation,
    NodeScore,
    NodeVerdict,
    PodReference,
    Reservation,
    Verdict,
)
from schedctl.reports.metadata import Metadata
from schedctl.reports.pod_groups import GroupVerdict, PodGroupResult
from schedctl.scheduler.gaps import guesses_of
from schedctl.scheduler.schedulers import Scheduler
from schedctl.workloads.quotas import QuotaShortage


class _Options(msgspec.Struct, frozen=True):
    """How a pod is explained; see `explain`."""

    matrix: bool
    node: str
    sampling: bool
    hints: bool
    assumptions: Collection[Assumption]
    hypothetical_nodes: Collection[str]
    trials: Trials | None


def explain(
    scheduler: Scheduler,
    pod: PodInfo | Pod,
    *,
    matrix: bool = False,
    node: str = "",
    sampling: bool = False,
    hints: bool = True,
    assumptions: Collection[Assumption] = (),
    hypothetical_nodes: Collection[str] = (),
    trials: Trials | None = None,
) -> Explanation:
    """Return why a pod goes where it goes, or nowhere; the cluster is as before.

    Args:
        scheduler: the profiles and the cluster.
        pod: a pod of the cluster or a new one, defaulted and with its priority resolved. A pod that is bound already
            is explained as if it were pending again, its own usage removed first, and its node is compared.
        matrix: whether to ask every filter about every node as well.
        node: a node to go into in depth, "" for none.
        sampling: look at as many nodes as kube-scheduler would, instead of all.
        hints: whether to look for next steps, and for places the victims of a preemption would find; both try changed
            clusters.
        assumptions: what was assumed when the pod was made.
        hypothetical_nodes: nodes that are as a what-if has them, which no next step undoes.
        trials: the trials of plugins, where other pods are explained on the same cluster; made for this pod if None.

    Raises:
        UsageError: there is no node of the name asked for.
    """
    cluster = scheduler.cluster
    info = pod if isinstance(pod, PodInfo) else PodInfo(pod)
    if node and node not in cluster.node_table.row_of:
        raise UsageError(f'node "{node}" not found', suggest_names(node, sorted(cluster.node_table.row_of), "nodes"))
    with cluster.fork():
        bound_pod = _pod_on_node(cluster, info.key)
        if bound_pod is not None:
            cluster.remove_pod(bound_pod)
        bound_to = (bound_pod or info).pod.spec.node_name
        pending = PodInfo(as_pending(info.pod)) if bound_to else info
        shared = trials if bound_pod is None else None  # without the bound pod the cluster is another
        options = _Options(matrix, node, sampling, hints, assumptions, hypothetical_nodes, shared)
        try:
            answer = _explain_pending(scheduler, pending, bound_to, options)
        except NotModelled as missing:
            answer = Explanation(
                pod=reference(pending, bound_to),
                verdict=Verdict.INCONCLUSIVE,
                profile=pending.pod.spec.scheduler_name,
                error=str(missing),
                notes=[_cannot_tell(missing)],
            )
        warnings = remarks.warnings(scheduler, pending)
    return msgspec.structs.replace(answer, warnings=warnings, notes=[*answer.notes, *_history(info)])


def explain_rejection(
    scheduler: Scheduler,
    pod: PodInfo,
    message: str,
    shortages: Sequence[QuotaShortage] = (),
    *,
    hints: bool = True,
) -> Explanation:
    """Return the explanation of a pod that the API server refuses.

    Args:
        scheduler: to try next steps with.
        pod: the pod.
        message: the API server's.
        shortages: what quotas lack for it.
        hints: whether to look for next steps.
    """
    found = next_steps.admission_fixes(scheduler, pod, shortages) if hints else []
    return Explanation(pod=reference(pod), verdict=Verdict.REJECTED, error=message, hints=found)


def report(
    explanations: Sequence[Explanation],
    *,
    metadata: Metadata | None = None,
    fail: bool = False,
    bound_not_running: int = 0,
    groups: Sequence[PodGroupResult] = (),
) -> ExplainReport:
    """Return the report of these explanations.

    Args:
        explanations: in the order of the output.
        metadata: under which conditions they were made.
        fail: whether a pod that is not scheduled makes the exit code 1 (``--exit-code``); 5 where only inconclusive
            answers are in the way.
        bound_not_running: how many pods that were not asked about have a node and do not run there.
        groups: the pod groups that were asked about, and those of pods that were.
    """
    verdicts: Counter[Verdict] = Counter()
    for explanation in explanations:
        verdicts[explanation.verdict] += max(1, len(explanation.pods))
    inconclusive = verdicts[Verdict.INCONCLUSIVE]
    refused = verdicts.total() - verdicts[Verdict.SCHEDULED] - verdicts[Verdict.BOUND] - inconclusive
    off = any(group.verdict is GroupVerdict.OFF for group in groups)
    waiting = any(not group.starts for group in groups)
    return ExplainReport(
        metadata=metadata or Metadata(),
        summary=ExplainSummary(
            exit_code=exit_codes.of_answer(
                failed=fail and (refused > 0 or waiting) and not off, inconclusive=inconclusive > 0 or off
            ),
            pods=verdicts.total(),
            scheduled=verdicts[Verdict.SCHEDULED],
            unschedulable=verdicts[Verdict.UNSCHEDULABLE],
            gated=verdicts[Verdict.GATED],
            deleting=verdicts[Verdict.DELETING],
            foreign_scheduler=verdicts[Verdict.FOREIGN_SCHEDULER],
            error=verdicts[Verdict.ERROR],
            inconclusive=inconclusive,
            bound=verdicts[Verdict.BOUND],
            rejected=verdicts[Verdict.REJECTED],
            bound_not_running=bound_not_running,
        ),
        results=list(explanations),
        groups=list(groups),
    )


def _cannot_tell(missing: NotModelled) -> str:
    if isinstance(missing, Inconclusive):
        return f"schedctl cannot tell: {missing.feature}, where kube-scheduler would go on searching"
    return f"schedctl cannot tell yet: {missing.plugin} would decide, and {missing.feature} are not modelled"


def _pod_on_node(cluster: Cluster, key: str) -> PodInfo | None:
    """Return the pod of that name that stands on a node, known or not; None for a pending or unknown one."""
    row = cluster.pod_table.row_of.get(key)
    return cluster.pod_table.infos[row] if row is not None else cluster.strays.get(key)


def reference(pod: PodInfo, bound_to: str = "") -> PodReference:
    """Return what identifies a pod; `bound_to` is where it ran before it was taken off, "" for a pending one."""
    metadata, spec = pod.pod.metadata, pod.pod.spec
    return PodReference(
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid,
        scheduler_name=spec.scheduler_name,
        priority=pod.priority,
        node_name=bound_to,
        nominated_node_name=pod.pod.status.nominated_node_name,
    )


def _explain_pending(scheduler: Scheduler, pod: PodInfo, bound_to: str, options: _Options) -> Explanation:
    """Return the explanation of a pod that has no node; `bound_to` is where it ran before it was taken off, or ""."""
    subject = reference(pod, bound_to)
    if scheduler.profile_of(pod) is None:
        found = next_steps.foreign(scheduler, pod) if options.hints else []
        return Explanation(pod=subject, verdict=Verdict.FOREIGN_SCHEDULER, hints=found)
    # facts are read before anything else is tried: evidence of an older state of the cluster cannot be had any more
    outcome = scheduler.attempt(pod, sampling=options.sampling)
    explanation = _explain_attempt(outcome, subject, options)
    if explanation.verdict is Verdict.INCONCLUSIVE:
        return explanation  # what helps on a cluster that is not known would be one more guess
    if options.hints:
        deep = explanation.node is not None and explanation.node.verdict is NodeVerdict.REFUSED
        found = next_steps.find(
            scheduler,
            pod,
            outcome,
            explanation.reasons,
            options.node if deep else "",
            matrix=options.matrix,
            hypothetical_nodes=options.hypothetical_nodes,
        )
        preemption = preemptions.place_victims(scheduler, outcome, explanation.preemption)
        explanation = msgspec.structs.replace(
            explanation,
            reasons=causes.nearest_first(explanation.reasons, found, near_nodes(pod, scheduler.cluster)),
            hints=found,
            preemption=preemption,
        )
    return _after_the_choice(scheduler, outcome, explanation, options.trials or remarks.ForkedTrials(scheduler))


def _explain_attempt(outcome: Attempt, subject: PodReference, options: _Options) -> Explanation:
    """Return what one cycle says by itself, without trying any other."""
    reasons = facts.reasons(outcome)
    ranking = scores.ranking(outcome.scoring) if outcome.scoring is not None else []
    second = scores.runner_up(ranking) if ranking else None
    ties, bound_to = outcome.ties, subject.node_name
    outlook, prospect = preemptions.outlook(outcome)
    guesses, apparent = guesses_of(outcome, options.assumptions), _verdict(outcome)
    decided = not any(guess.decides for guess in guesses)
    return Explanation(
        pod=subject,
        verdict=apparent if decided else Verdict.INCONCLUSIVE,
        profile=outcome.profile.scheduler_name,
        message=fit_error.message(outcome),
        error=outcome.error,
        gates=[gate.name for gate in outcome.pod.pod.spec.scheduling_gates or ()],
        nodes=facts.counts(outcome),
        pre_filter=facts.pre_filter(outcome),
        chosen=outcome.chosen,
        ties=ties,
        takes=allocations(outcome, outcome.chosen) if outcome.chosen else [],
        score=ranking[0].total if ranking else None,
        reasons=reasons,
        unschedulable_plugins=[] if ties else sorted(outcome.unschedulable_plugins),
        preemption=preemptions.preemption(outcome),
        outlook=outlook,
        scores=ranking,
        comparison=scores.compare(ranking[0], second) if second is not None else None,
        matrix=facts.matrix(outcome) if options.matrix else None,
        node=facts.node(outcome, options.node, ranking) if options.node else None,
        current=_current(outcome, bound_to, ranking) if bound_to else None,
        wakings=requeue_events.of(outcome),
        notes=[
            *_notes(outcome),
            *extenders.notes(outcome),
            *facts.notes(outcome),
            *filter(None, (prospect,)),
        ],
        guesses=guesses,
        apparent=None if decided else apparent,
        filters=facts.filter_steps(outcome, reasons),
        spread=spreads.of(outcome),
    )


def _after_the_choice(scheduler: Scheduler, outcome: Attempt, explanation: Explanation, trials: Trials) -> Explanation:
    """Return an explanation with what Reserve and Permit make of it, and what plugins have to say besides."""
    reserved = remarks.reservation(scheduler, outcome)
    explanation = msgspec.structs.replace(explanation, reservation=reserved, remarks=remarks.of(outcome, trials))
    if reserved is None or reserved.code in (Code.SUCCESS.label, Code.WAIT.label):
        return explanation if reserved is None else _waiting_in_vain(explanation, reserved)
    if reserved.code == Code.ERROR.label:
        return msgspec.structs.replace(explanation, verdict=Verdict.ERROR, error=reserved.message)
    return msgspec.structs.replace(
        explanation,
        verdict=Verdict.UNSCHEDULABLE,
        message=none_available(1, {reserved.message: 1}),
        unschedulable_plugins=[reserved.plugin],
        wakings=requeue_events.of(outcome, reserved.plugin),
    )


def _waiting_in_vain(explanation: Explanation, reserved: Reservation) -> Explanation:
    """Return an explanation as that of an unschedulable pod, if Permit would hold the pod back for others in vain."""
    vain = (each for each in explanation.remarks if each.plugin in reserved.waits and each.starts is False)
    remark = next(vain, None)
    if remark is None or explanation.verdict is not Verdict.SCHEDULED:
        return explanation
    return msgspec.structs.replace(explanation, verdict=Verdict.UNSCHEDULABLE, pod_group_text=remark.text)


def _verdict(outcome: Attempt) -> Verdict:
    if outcome.deleted:
        return Verdict.DELETING
    if outcome.gated is not None:
        return Verdict.GATED
    if outcome.error:
        return Verdict.ERROR
    return Verdict.SCHEDULED if outcome.chosen else Verdict.UNSCHEDULABLE


def _current(outcome: Attempt, name: str, ranking: list[NodeScore]) -> CurrentNode:
    """Return the node a pod runs on against the one it would go to."""
    exists = name in outcome.cluster.node_table.row_of
    score = next((score for score in ranking if score.node == name), None)
    best = name in outcome.ties
    reasons = facts.reasons_of(outcome, name) if exists and score is None else []
    comparison = None
    if not exists:
        text = f"bound to {name}, which is not in the cluster"
    elif name == outcome.chosen:
        text = f"runs on {name}, where it would go again"
    elif best:
        text = f"runs on {name}, which is as good as {outcome.chosen}"
    elif score is not None:
        comparison = scores.compare(ranking[0], score)
        text = f"runs on {name} (score {score.total}), but {comparison.text}"
    elif reasons:
        text = f"runs on {name}, which would reject it now: {', '.join(reason.text for reason in reasons)}"
    else:
        text = f"runs on {name}"
    return CurrentNode(
        name=name,
        exists=exists,
        feasible=score is not None,
        best=best,
        score=score,
        reasons=reasons,
        comparison=comparison,
        text=text,
    )


def _notes(outcome: Attempt) -> list[str]:
    notes = []
    if outcome.gated is not None and not outcome.pod.pod.spec.scheduling_gates:
        notes.append(f"{outcome.gated.plugin}: {outcome.gated.message}")
    if outcome.error:
        where = f" on {outcome.failed_on}" if outcome.failed_on else ""
        others = wording.few(facts.nodes_at_fault(outcome))
        too = f"; it would fail on {others} too" if others else ""
        notes.append(f"kube-scheduler abandons the cycle at the fault{where} and tries the pod again later{too}")
    if outcome.nominated_first:
        notes.append(f"{outcome.chosen} was promised to the pod by preemption and fits, so no other node was looked at")
    elif outcome.scoring is not None and len(outcome.scoring.nodes) == 1:
        notes.append("only one node is feasible; kube-scheduler would not score it")
    ties = outcome.ties
    if len(ties) > 1:
        notes.append(
            f"{wording.few(ties)} have the same score: kube-scheduler takes any one of them, schedctl the first by name"
        )
    searched = outcome.filtering is not None or outcome.pre_filter.is_rejected
    if searched and not ties and not outcome.error and outcome.post_filter is None:
        notes.append("preemption was not tried")
    if outcome.sampled is not None:
        stopped = outcome.filtering is not None and outcome.filtering.feasible.sum() >= outcome.sampled
        found = f"the search stopped at {outcome.sampled} feasible nodes" if stopped else "all were looked at"
        notes.append(f"nodes were sampled: {found}")
    return notes


def _history(pod: PodInfo) -> list[str]:
    if pod.pod.status.phase in FINISHED:
        return [f"the pod has ended ({pod.pod.status.phase}); this is about one like it"]
    if pod.pod.spec.node_name:
        return ["the pod is bound already; this is as if it were pending again, its own usage removed first"]
    return []

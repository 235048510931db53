"""From a pod to what binding it comes to: a report of what would be sent, and a plan where it can be."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from schedctl.api.pods import FINISHED, Pod
from schedctl.cache.pod_info import PodInfo
from schedctl.explain import explanations
from schedctl.framework.extenders import Extender
from schedctl.framework.pod_edits import with_scheduler
from schedctl.live.binding import binding_of, ownership_problem
from schedctl.live.objects import POD, Head, decode
from schedctl.live.observed_state import ObservedState
from schedctl.live.plans import BindPlan, ChangedObject, Refusal, Step
from schedctl.live.prebinds import steps
from schedctl.reports import exit_codes
from schedctl.reports.bindings import BindOutcome, BindReport, BindSummary, PlannedWrite
from schedctl.reports.explanations import Explanation, NodeVerdict, Verdict
from schedctl.session.configurations import ConfigurationChoice
from schedctl.session.decisions import Decision, decide
from schedctl.session.sessions import Session
from schedctl.session.states import State

_CODES = {
    BindOutcome.REFUSED: exit_codes.CLUSTER_REFUSED,
    BindOutcome.INCONCLUSIVE: exit_codes.INCONCLUSIVE,
}
_replace = msgspec.structs.replace


@dataclass(frozen=True, slots=True)
class BindRequest:
    """Which pod is to be bound, and how.

    Attributes:
        pod: the pod.
        node: the node it is to go to, "" for the best.
        sends: whether the Binding is to be sent.
        force_scheduler: whether the pod is bound although it is another scheduler's.
        fail: whether a pod that is not scheduled makes the exit code 1.
    """

    pod: Pod
    node: str
    sends: bool
    force_scheduler: bool
    fail: bool


@dataclass(frozen=True, slots=True)
class BindDecision:
    """What can be done.

    Attributes:
        report: what would be sent, or why nothing.
        plan: what is to be carried out, None where nothing can be.
    """

    report: BindReport
    plan: BindPlan | None = None


@dataclass(frozen=True, slots=True)
class _Refused:
    """Why the pod is not bound."""

    outcome: BindOutcome
    text: str = ""


def plan(request: BindRequest, session: Session) -> BindDecision:
    """Return what binding a pod comes to.

    Raises:
        UsageError: there is no node of the name asked for.
    """
    with session.notifier.progress("deciding"):
        return _plan(request, session)


def send(session: Session, decision: BindDecision, *, dry_run: bool) -> BindReport:
    """Send a Binding to the live cluster and return the report of what came of it.

    Args:
        session: the session that decided.
        decision: with a plan.
        dry_run: whether the API server is asked to change nothing.

    Raises:
        ClusterError: it was refused, or not sent because something has moved.
    """
    from schedctl.live import binding

    state, report = session.state, decision.report
    assert decision.plan is not None
    assert state.connection is not None
    assert state.listing is not None
    bound = binding.bind(state.connection, decision.plan, ObservedState(state.listing), dry_run=dry_run)
    outcome = BindOutcome.ACCEPTED if dry_run else BindOutcome.BOUND
    summary = _replace(report.summary, outcome=outcome, exit_code=exit_codes.CLUSTER_REFUSED if bound.moved else 0)
    return _replace(report, summary=summary, moved=list(bound.moved), warnings=list(bound.warnings))


def _plan(request: BindRequest, session: Session) -> BindDecision:
    state, choice, scheduler = session.state, session.choice, session.scheduler()
    # Judged by the profile that was named; what is said of the pod itself, and sent, is about the pod as it is.
    pod = with_scheduler(request.pod, choice.profile)
    explanation = explanations.explain(scheduler, pod, node=request.node)
    foreign = "" if request.force_scheduler else _foreign(request.pod, session)
    node = request.node or explanation.chosen
    refused = _refusal(request, choice, explanation, foreign)
    decision = decide(scheduler, PodInfo(pod), node) if refused is None else None
    bind_plan: BindPlan | None = None
    writes: list[Step] = []
    if decision is not None and decision.refusal:
        refused = _Refused(BindOutcome.REFUSED, decision.refusal)
    elif decision is not None:
        bind_plan = _bind_plan(request.pod, decision)
        try:
            writes = steps(bind_plan)
        except Refusal as refusal:
            bind_plan, refused = None, _Refused(BindOutcome.REFUSED, str(refusal))
    warned = bool(foreign) and bind_plan is not None and state.connection is not None
    outcome = refused.outcome if refused is not None else BindOutcome.PLANNED
    not_scheduled = outcome is BindOutcome.NOT_SCHEDULED
    report = BindReport(
        metadata=session.metadata(),
        summary=BindSummary(
            exit_code=_CODES.get(outcome) or exit_codes.of_answer(failed=request.fail and not_scheduled),
            outcome=outcome,
            pod=request.pod.key,
            node=node if bind_plan is not None else "",
            text=refused.text if refused is not None else "",
        ),
        cluster=state.connection.name if state.connection is not None else "",
        binding=binding_of(request.pod, node, _version(state, request.pod)) if bind_plan is not None else None,
        writes=[PlannedWrite(kind=step.kind.name, name=step.key, text=step.text) for step in writes],
        warnings=[f"{foreign}; `--execute` needs `--force-scheduler`"] if warned else [],
        decision=explanation,
    )
    return BindDecision(report, bind_plan)


def _foreign(pod: Pod, session: Session) -> str:
    """Return why the pod is not ours to bind, "" if it is."""
    # By the cluster's own configuration its own scheduler runs, and schedctl stands in for nobody.
    profiles = session.choice.configuration.profiles
    ours = [] if session.source.configured else [profile.scheduler_name for profile in profiles]
    return ownership_problem(pod.spec.scheduler_name, ours)


def _refusal(
    request: BindRequest, choice: ConfigurationChoice, explanation: Explanation, foreign: str
) -> _Refused | None:
    """Return why a pod is not bound, by what is known before the cycle is carried on; None where it may be."""
    pod = request.pod
    if pod.spec.node_name:
        return _Refused(BindOutcome.REFUSED, f"it is already bound to {pod.spec.node_name}")
    if pod.status.phase in FINISHED:
        return _Refused(BindOutcome.REFUSED, f"it has ended ({pod.status.phase})")
    if explanation.verdict is Verdict.FOREIGN_SCHEDULER:
        return _Refused(BindOutcome.REFUSED, f"no profile has schedulerName {pod.spec.scheduler_name}")
    if request.sends and foreign:
        return _Refused(BindOutcome.REFUSED, f"{foreign}; `--force-scheduler` binds it all the same")
    outcome = _outcome_before_binding(explanation)
    refusals = _node_refusals(request.node, explanation)
    if refusals and outcome in (BindOutcome.PLANNED, BindOutcome.NOT_SCHEDULED):
        return _Refused(BindOutcome.REFUSED, refusals)
    if outcome is not BindOutcome.PLANNED:
        return _Refused(outcome)
    configured = (Extender(each) for each in choice.configuration.extenders)
    binder = next((each.name for each in configured if each.binds and each.is_interested(PodInfo(pod))), "")
    if request.sends and binder:
        return _Refused(BindOutcome.INCONCLUSIVE, f"kube-scheduler would leave the bind to {binder}")
    return None


def _node_refusals(node: str, explanation: Explanation) -> str:
    """Return who refuses the node asked for, and why; "" where nobody does."""
    detail = explanation.node
    if not node or detail is None or detail.verdict is NodeVerdict.FEASIBLE:
        return ""
    reasons = [f"{each.plugin}: {reason.text}" for each in detail.filters for reason in each.reasons]
    if reasons:
        return f"{node} is rejected by {'; '.join(reasons)}"
    if detail.verdict is NodeVerdict.UNSEEN and explanation.verdict is Verdict.SCHEDULED:
        return f"{node} was not examined: {explanation.chosen}, to which the pod is nominated, is feasible"
    return f"{node} is not feasible"


def _bind_plan(pod: Pod, decision: Decision) -> BindPlan:
    changed = tuple(ChangedObject(before, after) for before, after in decision.changed)
    return BindPlan(pod, decision.node, changed, decision.mappings, decision.patience)


def _version(state: State, pod: Pod) -> str:
    """Return the resourceVersion of a pod as it was listed, "" where it was not."""
    if state.listing is None:
        return ""
    body = ObservedState(state.listing).get(POD, pod.key)
    version: str = decode(body, Head).metadata.resource_version if body is not None else ""
    return version


def _outcome_before_binding(decision: Explanation) -> BindOutcome:
    """Return what is to become of a pod whose explanation this is, before anything is sent."""
    if decision.verdict is Verdict.SCHEDULED:
        return BindOutcome.PLANNED
    if decision.verdict is Verdict.INCONCLUSIVE:
        return BindOutcome.INCONCLUSIVE
    return BindOutcome.REFUSED if decision.verdict is Verdict.DELETING else BindOutcome.NOT_SCHEDULED

"""From a pod to what binding it comes to: a report of what would be sent, and a plan where it can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from schedctl.api.pods import FINISHED, Pod
from schedctl.cache.pod_info import PodInfo
from schedctl.explain import explanations
from schedctl.explain.decisions import Decision, decide
from schedctl.framework.extenders import Extender
from schedctl.live.binding import binding_of, ownership_problem
from schedctl.live.objects import POD, Head, decode
from schedctl.live.observed_state import ObservedState
from schedctl.live.plans import BindPlan, ChangedObject, Refusal, Step
from schedctl.live.prebinds import steps
from schedctl.reports.bindings import BindOutcome, BindReport, BindSummary, PlannedWrite, outcome_of
from schedctl.reports.explanations import Explanation, NodeVerdict, Verdict
from schedctl.reports.metadata import Input, Metadata
from schedctl.scheduler import Scheduler
from schedctl.scheduler.gaps import missing_kinds
from schedctl.session.configurations import Chosen
from schedctl.session.states import State

_CODES = {BindOutcome.REFUSED: 4, BindOutcome.INCONCLUSIVE: 5}
_replace = msgspec.structs.replace


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for.

    Attributes:
        pod: the pod.
        node: the node it is to go to, "" for the best.
        sends: whether the Binding is to be sent.
        profiles: the scheduler names that schedctl stands in for.
        force_scheduler: whether the pod is bound although it is another scheduler's.
        fail: whether a pod that is not scheduled makes the exit code 1.
    """

    pod: Pod
    node: str
    sends: bool
    profiles: Sequence[str]
    force_scheduler: bool
    fail: bool


@dataclass(frozen=True, slots=True)
class Planned:
    """What can be done.

    Attributes:
        report: what would be sent, or why nothing.
        plan: what is to be carried out, None where nothing can be.
    """

    report: BindReport
    plan: BindPlan | None = None


@dataclass(frozen=True, slots=True)
class _No:
    """Why the pod is not bound."""

    outcome: BindOutcome
    text: str = ""


def plan(wish: Wish, state: State, chosen: Chosen) -> Planned:
    """Return what binding a pod comes to.

    Raises:
        UsageError: there is no node of the name asked for.
    """
    scheduler = Scheduler(state.assembled.cluster, chosen.configuration, chosen.registry, extenders=chosen.extenders)
    pod = wish.pod
    if chosen.profile:
        pod = _replace(pod, spec=_replace(pod.spec, scheduler_name=chosen.profile))
    explanation = explanations.explain(scheduler, pod, node=wish.node)
    foreign = "" if wish.force_scheduler else ownership_problem(wish.pod.spec.scheduler_name, wish.profiles)
    node = wish.node or explanation.chosen
    no = _before(wish, chosen, explanation, foreign)
    decision = decide(scheduler, PodInfo(pod), node) if no is None else None
    found: BindPlan | None = None
    written: list[Step] = []
    if decision is not None and decision.refusal:
        no = _No(BindOutcome.REFUSED, decision.refusal)
    elif decision is not None:
        found = _plan(wish.pod, decision)
        try:
            written = steps(found)
        except Refusal as refusal:
            found, no = None, _No(BindOutcome.REFUSED, str(refusal))
    warned = bool(foreign) and found is not None and state.connection is not None
    outcome = no.outcome if no is not None else BindOutcome.PLANNED
    report = BindReport(
        metadata=Metadata(
            configuration=chosen.origin,
            inputs=[Input(source=name, digest=each, role="State") for name, each in state.manifests.digests.items()],
            what_if=list(state.laid_over),
            missing=missing_kinds(state.assembled.cluster),
        ),
        summary=BindSummary(
            exit_code=int(wish.fail) if outcome is BindOutcome.NOT_SCHEDULED else _CODES.get(outcome, 0),
            outcome=outcome,
            pod=wish.pod.key,
            node=node if found is not None else "",
            text=no.text if no is not None else "",
        ),
        cluster=state.connection.name if state.connection is not None else "",
        binding=binding_of(wish.pod, node, _version(state, wish.pod)) if found is not None else None,
        writes=[PlannedWrite(kind=step.kind.name, name=step.key, text=step.text) for step in written],
        warnings=[f"{foreign}; `--execute` needs `--force-scheduler`"] if warned else [],
        decision=explanation,
    )
    return Planned(report, found)


def _before(wish: Wish, chosen: Chosen, explanation: Explanation, foreign: str) -> _No | None:
    """Return why a pod is not bound, by what is known before the cycle is carried on; None where it may be."""
    pod = wish.pod
    if pod.spec.node_name:
        return _No(BindOutcome.REFUSED, f"it is bound to {pod.spec.node_name} already")
    if pod.status.phase in FINISHED:
        return _No(BindOutcome.REFUSED, f"it has ended ({pod.status.phase})")
    if explanation.verdict is Verdict.FOREIGN_SCHEDULER:
        return _No(BindOutcome.REFUSED, f"no profile serves schedulerName {pod.spec.scheduler_name}")
    if wish.sends and foreign:
        return _No(BindOutcome.REFUSED, f"{foreign}; `--force-scheduler` binds it all the same")
    outcome = outcome_of(explanation)
    refusals = _refusals(wish.node, explanation)
    if refusals and outcome in (BindOutcome.PLANNED, BindOutcome.NOT_SCHEDULED):
        return _No(BindOutcome.REFUSED, refusals)
    if outcome is not BindOutcome.PLANNED:
        return _No(outcome)
    configured = (Extender(each) for each in chosen.configuration.extenders)
    binder = next((each.name for each in configured if each.binds and each.interested(PodInfo(pod))), "")
    if wish.sends and binder:
        return _No(BindOutcome.INCONCLUSIVE, f"kube-scheduler would have {binder} bind it")
    return None


def _refusals(node: str, explanation: Explanation) -> str:
    """Return who refuses the node asked for, and why; "" where nobody does."""
    detail = explanation.node
    if not node or detail is None or detail.verdict is NodeVerdict.FEASIBLE:
        return ""
    told = [f"{each.plugin}: {reason.text}" for each in detail.filters for reason in each.reasons]
    if told:
        return f"{node} is refused by {'; '.join(told)}"
    if detail.verdict is NodeVerdict.UNSEEN and explanation.verdict is Verdict.SCHEDULED:
        return f"{node} was not looked at: the pod was promised {explanation.chosen}, which will do"
    return f"{node} will not do"


def _plan(pod: Pod, decision: Decision) -> BindPlan:
    changed = tuple(ChangedObject(before, after) for before, after in decision.changed)
    return BindPlan(pod, decision.node, changed, decision.mappings, decision.patience)


def _version(state: State, pod: Pod) -> str:
    """Return the resourceVersion of a pod as it was listed, "" where it was not."""
    if state.listing is None:
        return ""
    body = ObservedState(state.listing).get(POD, pod.key)
    version: str = decode(body, Head).metadata.resource_version if body is not None else ""
    return version

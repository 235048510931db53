"""From pods to what binding them comes to: reports of what would be sent, and plans where it can be.

Several pods are bound together or not at all: each is placed on the cluster that those before it leave.
`schedctl.session.bind_execution` carries the plans out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from schedctl.api.pods import FINISHED, Pod
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.calls import DIRECT
from schedctl.engine.faults import CycleError
from schedctl.errors import UsageError
from schedctl.explain import explanations
from schedctl.framework.extenders import Extender
from schedctl.framework.pod_edits import with_scheduler
from schedctl.live.binding import binding_of, ownership_problem
from schedctl.live.objects import POD, Head, decode
from schedctl.live.observed_state import ObservedState
from schedctl.live.plans import BindPlan, ChangedObject, Refusal, Step
from schedctl.live.prebinds import steps
from schedctl.reports import exit_codes
from schedctl.reports.bindings import (
    BindCall,
    BindOutcome,
    BindReport,
    BindSummary,
    GangBindReport,
    GangBindSummary,
    PermitWait,
    PlannedWrite,
)
from schedctl.reports.explanations import Explanation, NodeVerdict, Verdict
from schedctl.session.bind_groups import GroupDecisions, decide_groups
from schedctl.session.configurations import ConfigurationChoice
from schedctl.session.decisions import Decision, Reserved, decide, keep_in_memory, reserve
from schedctl.session.sessions import Session
from schedctl.session.states import State

if TYPE_CHECKING:
    from schedctl.framework.profiles import Profile
    from schedctl.scheduler import Scheduler

_CODES = {
    BindOutcome.REFUSED: exit_codes.CLUSTER_REFUSED,
    BindOutcome.INCONCLUSIVE: exit_codes.INCONCLUSIVE,
}
_replace = msgspec.structs.replace


class BindRequest(msgspec.Struct, frozen=True):
    """Which pods are to be bound, and how.

    Attributes:
        pods: the pods, all of which are bound or none.
        node: the node that the only one is to go to, "" for the best.
        sends: whether the Binding is to be sent, for good or as a dry run.
        executes: whether it is to be sent for good.
        force_scheduler: whether pods are bound although they are another scheduler's.
        fail: whether a pod that is not scheduled makes the exit code 1.
    """

    pods: Sequence[Pod]
    node: str
    sends: bool
    executes: bool
    force_scheduler: bool
    fail: bool


class BindDecision(msgspec.Struct, frozen=True):
    """What can be done.

    Attributes:
        reports: of each pod, what would be sent, or why nothing.
        plans: what is to be carried out, one for each pod; none where one of the pods cannot be bound.
    """

    reports: tuple[BindReport, ...]
    plans: tuple[BindPlan, ...] = ()


class _Refused(msgspec.Struct, frozen=True):
    """Why the pod is not bound."""

    outcome: BindOutcome
    text: str = ""


class _Judged(msgspec.Struct, frozen=True):
    """A pod, as far as it is known what becomes of it."""

    pod: Pod
    explanation: Explanation
    foreign: str
    node: str
    refused: _Refused | None
    reserved: Reserved | None


def plan(request: BindRequest, session: Session) -> BindDecision:
    """Return what binding pods comes to; the cluster is as before, and nothing had an effect outside.

    Raises:
        UsageError: there is no node of the name asked for.
    """
    with session.notifier.progress("deciding"):
        scheduler = session.scheduler()
        profiles = keep_in_memory(scheduler)
        groups = decide_groups(request.pods, scheduler)
        with scheduler.fork():
            judged = [
                _judge(pod, request, session, scheduler, groups)
                for pod in _in_queue_order(request.pods, scheduler)
                if pod.key not in groups.rest
            ]
            planned = [_plan(each, session, profiles, request) for each in judged]
    reports = [report for report, _ in planned]
    if groups.warnings and reports:
        reports[0] = _replace(reports[0], warnings=[*reports[0].warnings, *groups.warnings])
    plans = tuple(bind_plan for _, bind_plan in planned if bind_plan is not None)
    return BindDecision(tuple(reports), plans if len(plans) == len(reports) else ())


def combine(reports: Sequence[BindReport], text: str = "") -> BindReport | GangBindReport:
    """Return the report of a command: of one pod its own, of several one about all of them.

    Args:
        reports: of each pod.
        text: why not all are bound, "" for what the reports say.
    """
    if len(reports) == 1:
        return reports[0]
    refused = [each for each in reports if each.summary.outcome not in _GOOD]
    outcome = refused[0].summary.outcome if refused else reports[0].summary.outcome
    if refused and not text:
        names = ", ".join(each.summary.pod for each in refused)
        text = f"all or none: {names} cannot be bound"
    return GangBindReport(
        metadata=reports[0].metadata,
        summary=GangBindSummary(
            exit_code=max((each.summary.exit_code for each in reports), default=0),
            outcome=outcome,
            pods=len(reports),
            bound=sum(each.summary.outcome is BindOutcome.BOUND for each in reports),
            text=text,
        ),
        cluster=reports[0].cluster,
        results=list(reports),
    )


_GOOD = (BindOutcome.PLANNED, BindOutcome.ACCEPTED, BindOutcome.BOUND)


def _in_queue_order(pods: Sequence[Pod], scheduler: Scheduler) -> list[Pod]:
    """Return pods in the order in which a queue would hand them out; those that came together, as they were named.

    Raises:
        UsageError: the plugin that orders the queue fails.
    """
    profile = next(iter(scheduler.profiles.values()))
    if len(pods) == 1 or not profile.queue_sort:
        return list(pods)
    arrivals = sorted({pod.metadata.creation_timestamp or "" for pod in pods})
    arrived = [(pod, arrivals.index(pod.metadata.creation_timestamp or "")) for pod in pods]
    try:
        keys = [DIRECT.sort_key(profile.queue_sort[0], PodInfo(pod), float(arrival))[0] for pod, arrival in arrived]
        return [pods[position] for position in sorted(range(len(pods)), key=keys.__getitem__)]
    except CycleError as fault:
        raise UsageError(str(fault), "the pods have no order without it: bind them one by one") from None
    except TypeError:  # keys of different forms
        name = profile.queue_sort[0].name
        raise UsageError(f'plugin "{name}" failed: sort_key returned what cannot be compared') from None


def _judge(
    request_pod: Pod, request: BindRequest, session: Session, scheduler: Scheduler, groups: GroupDecisions
) -> _Judged:
    """Place a pod in memory where it is to go, if it may be bound."""
    choice, key = session.choice, request_pod.key
    request = replace(request, node=request.node or groups.nodes.get(key, ""))
    # Judged by the profile that was named; what is said of the pod itself, and sent, is about the pod as it is.
    pod = with_scheduler(request_pod, choice.profile)
    if key in groups.refusals:
        answer = groups.explanations.get(key) or explanations.explain(scheduler, pod)
        refused_by_group = _Refused(BindOutcome.NOT_SCHEDULED, groups.refusals[key])
        return _Judged(request_pod, answer, "", "", refused_by_group, None)
    explanation = explanations.explain(scheduler, pod, node=request.node)
    foreign = "" if request.force_scheduler else _foreign(request_pod, session)
    node = request.node or explanation.chosen
    refused = _refusal(request_pod, request, choice, explanation, foreign)
    reserved = reserve(scheduler, PodInfo(pod), node) if refused is None else None
    return _Judged(request_pod, explanation, foreign, node, refused, reserved)


def _plan(
    judged: _Judged, session: Session, profiles: Mapping[str, Profile], request: BindRequest
) -> tuple[BindReport, BindPlan | None]:
    """Return the report about a pod, and what is to be carried out, None where nothing can be."""
    state, refused, reserved = session.state, judged.refused, judged.reserved
    bind_plan: BindPlan | None = None
    writes: list[Step] = []
    calls: list[BindCall] = []
    waits: list[PermitWait] = []
    if reserved is not None:
        decision = decide(reserved)
        bind_plan = None if decision.refusal else _bind_plan(judged.pod, decision)
        refused = _Refused(BindOutcome.REFUSED, decision.refusal) if decision.refusal else None
        calls = list(_calls(profiles[reserved.info.pod.spec.scheduler_name], reserved.info))
        waits = [PermitWait(plugin=name, timeout=seconds) for name, seconds in decision.waits.items()]
    if bind_plan is not None:
        try:
            writes = steps(bind_plan)
        except Refusal as refusal:
            bind_plan, refused = None, _Refused(BindOutcome.REFUSED, str(refusal))
    warned = bool(judged.foreign) and bind_plan is not None and state.connection is not None
    outcome = refused.outcome if refused is not None else BindOutcome.PLANNED
    not_scheduled = outcome is BindOutcome.NOT_SCHEDULED
    binding = binding_of(judged.pod, judged.node, _version(state, judged.pod)) if bind_plan is not None else None
    report = BindReport(
        metadata=session.metadata(),
        summary=BindSummary(
            exit_code=_CODES.get(outcome) or exit_codes.of_answer(failed=request.fail and not_scheduled),
            outcome=outcome,
            pod=judged.pod.key,
            node=judged.node if bind_plan is not None else "",
            text=refused.text if refused is not None else "",
        ),
        cluster=state.connection.name if state.connection is not None else "",
        executing=request.executes,
        binding=binding,
        calls=calls if bind_plan is not None else [],
        waits=waits,
        writes=[PlannedWrite(kind=step.kind.name, name=step.key, text=step.text) for step in writes],
        warnings=[f"{judged.foreign}; `--execute` needs `--force-scheduler`"] if warned else [],
        decision=judged.explanation,
    )
    return report, bind_plan


def _calls(profile: Profile, info: PodInfo) -> Iterator[BindCall]:
    """Yield the calls that a binding cycle makes where nothing fails."""
    for point, plugins in (("Reserve", profile.reserve), ("Permit", profile.permit), ("PreBind", profile.pre_bind)):
        yield from (BindCall(point=point, plugin=plugin.name) for plugin in plugins)
    binder = next((each for each in profile.extenders if each.binds and each.is_interested(info)), None)
    if binder is not None:
        yield BindCall(point="Bind", plugin=binder.name)
    else:
        yield from (BindCall(point="Bind", plugin=plugin.name) for plugin in profile.bind)
    yield from (BindCall(point="PostBind", plugin=plugin.name) for plugin in profile.post_bind)


def _foreign(pod: Pod, session: Session) -> str:
    """Return why the pod is not ours to bind, "" if it is."""
    # By the cluster's own configuration its own scheduler runs, and schedctl stands in for nobody.
    profiles = session.choice.configuration.profiles
    ours = [] if session.source.configured else [profile.scheduler_name for profile in profiles]
    return ownership_problem(pod.spec.scheduler_name, ours)


def _refusal(
    pod: Pod, request: BindRequest, choice: ConfigurationChoice, explanation: Explanation, foreign: str
) -> _Refused | None:
    """Return why a pod is not bound, by what is known before the cycle is carried on; None where it may be."""
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
    allowed = request.executes and choice.extenders is not None
    if request.sends and binder and not allowed:
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
    changed = tuple(ChangedObject(before, after, plugin) for plugin, before, after in decision.changed)
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

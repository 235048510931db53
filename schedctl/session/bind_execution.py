"""Plans of binds carried out in a live cluster: the binding cycle of each pod, in the order that the engine keeps.

Several pods wait for each other, as if Permit held each until all are there: no PreBind begins before all are
permitted, and no Binding is sent before all are through PreBind. What cannot be bound is given up, the last pod first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import msgspec
from typing_extensions import override

from schedctl.cache.pod_info import PodInfo
from schedctl.engine.attempts import Attempt
from schedctl.engine.binding import BindingCycle, wait_on_permit
from schedctl.engine.reporters import Reporter
from schedctl.errors import ClusterError
from schedctl.framework.pod_edits import with_scheduler
from schedctl.framework.statuses import Code, Status, error
from schedctl.framework.waiting_pods import WaitingPod
from schedctl.live.binding import PodBind
from schedctl.live.journal import Journal, fault_text
from schedctl.live.observed_state import ObservedState
from schedctl.live.plans import BindPlan, Refusal
from schedctl.reports import exit_codes
from schedctl.reports.bindings import BindCall, BindOutcome, BindReport, PermitWait, PlannedWrite
from schedctl.scheduler import Scheduler
from schedctl.session.bind import BindDecision
from schedctl.session.notifiers import Notifier
from schedctl.session.sessions import Session

_replace = msgspec.structs.replace


class _CallLog(Reporter):
    """Takes down the calls of one pod's binding cycle, and passes faults on."""

    def __init__(self, notifier: Notifier) -> None:
        self.calls: list[BindCall] = []
        self._began = time.monotonic()
        self._notifier = notifier

    @override
    def plugin_called(self, pod: PodInfo, point: str, plugin: str, status: Status) -> None:
        at = round(time.monotonic() - self._began, 3)
        self.calls.append(BindCall(point=point, plugin=plugin, status=status.code.label, text=status.message, at=at))

    @override
    def plugin_failed(self, plugin: str, message: str) -> None:
        self._notifier.warn(message)


class _Member(msgspec.Struct):
    """A pod that is being bound.

    Attributes:
        report: what was planned.
        plan: what is carried out.
        live: its bind in the live cluster.
        log: what was called.
        cycle: its binding cycle, None before Reserve.
        waits: by Permit plugin, for how many seconds the pod may be held back.
        waited: for how many seconds it was.
        refusal: why it is not, "" where nothing is wrong with it.
    """

    report: BindReport
    plan: BindPlan
    live: PodBind
    log: _CallLog
    cycle: BindingCycle | None = None
    waits: Mapping[str, float] = msgspec.field(default_factory=dict)
    waited: float = 0.0
    refusal: str = ""

    @property
    def bound(self) -> bool:
        """Whether the pod is bound."""
        return self.cycle is not None and self.cycle.bound


class _Refused(Exception):
    """A plugin has refused a pod, or failed; the message is its own."""


def rehearse(session: Session, decision: BindDecision) -> list[BindReport]:
    """Have the API server say whether it would bind the pods, and return the reports of what it says.

    No plugin is called.

    Raises:
        ClusterError: it would not, or something has moved.
    """
    for member in _members(session, decision):
        member.live.rehearse()
    return [_replace(each, summary=_replace(each.summary, outcome=BindOutcome.ACCEPTED)) for each in decision.reports]


def execute(
    session: Session, decision: BindDecision, observe: Callable[[Sequence[BindReport]], None] = lambda reports: None
) -> tuple[list[BindReport], str]:
    """Bind the pods of a decision in the live cluster.

    Args:
        session: the session that decided.
        decision: with a plan for each pod.
        observe: called with the reports in the end, whatever becomes of the pods, before an exception is raised.

    Returns:
        The reports of what came of it, and why not all pods are bound, "" where they are.

    Raises:
        ClusterError: no pod is bound, because the API server refused or something has moved.
        KeyboardInterrupt: no pod is bound, and nothing is left behind.
    """
    members = _members(session, decision)
    why = ""
    try:
        _run(session, members)
    except BaseException as fault:
        _give_up(members, error(fault_text(fault)))
        why = fault_text(fault)
        observe([_report(each, why) for each in members])
        left = [text for each in members for text in each.live.left]
        if not isinstance(fault, _Refused) and not any(each.bound for each in members):
            if left:
                kind = Refusal if isinstance(fault, Refusal) else ClusterError
                raise kind("; ".join((why, *left)), getattr(fault, "hint", "")) from fault
            if isinstance(fault, KeyboardInterrupt) and not session.notifier.quiet:
                session.notifier.say("no pod was bound, and nothing was left behind")
            raise
        if not isinstance(fault, _Refused | ClusterError | KeyboardInterrupt):
            raise
    else:
        observe([_report(each, why) for each in members])
    return [_report(each, why) for each in members], why


def _members(session: Session, decision: BindDecision) -> list[_Member]:
    connection, listing = session.state.connection, session.state.listing
    assert connection is not None
    assert listing is not None
    observed, journal = ObservedState(listing), Journal(connection)
    uids = frozenset(bind_plan.pod.metadata.uid for bind_plan in decision.plans)
    members = []
    for report, bind_plan in zip(decision.reports, decision.plans, strict=True):
        others = uids - {bind_plan.pod.metadata.uid}
        live = PodBind(connection, bind_plan, observed, companions=others, journal=journal)
        members.append(_Member(report, bind_plan, live, _CallLog(session.notifier)))
    return members


def _run(session: Session, members: Sequence[_Member]) -> None:
    """Take all pods through their binding cycles, step by step.

    Raises:
        _Refused: a plugin has refused one.
        ClusterError: the API server has, or something has moved.
    """
    scheduler = session.scheduler()
    waiting = [each for member in members if (each := _reserve(scheduler, member, session)) is not None]
    if waiting:
        if scheduler.cluster.release.enabled("NominatedNodeNameForExpectation"):
            for member in members:
                if member.waits:
                    member.live.nominate()
        _wait_on_permit(members, waiting, session.notifier)
        for handle in scheduler.handles.values():
            handle.waiting.clear()
    for member in members:  # all are looked at before anything is written for one
        member.live.check()
    for member in members:
        _go_on(member, _cycle(member).pre_bind())
    for member in members:
        member.live.check_again()
    for member in members:
        _go_on(member, _cycle(member).bind())
        _cycle(member).post_bind()


def _reserve(scheduler: Scheduler, member: _Member, session: Session) -> WaitingPod | None:
    """Run Reserve and Permit for a pod, and return it if it has to wait."""
    node = member.plan.node
    info = PodInfo(with_scheduler(member.plan.pod, session.choice.profile))
    outcome: Attempt = scheduler.attempt(info, make_room=False)
    if outcome.error or not outcome.feasible:
        raise Refusal(f"pod {info.key} is not bound to {node}: it does not fit any more", "run the command again")
    handle = scheduler.handles[outcome.profile.scheduler_name]
    handle.live[info.uid] = member.live
    member.cycle = scheduler.binding_cycle(outcome, node, member.live, member.log)
    reservation = member.cycle.reserve()
    scheduler.nominator.withdraw(info)  # it is on a node now, and holds no other room
    member.waits = reservation.waits
    if not reservation.waits:
        _go_on(member, reservation.status)
        return None
    waiting = WaitingPod(info, node, reservation.waits, time.monotonic())
    handle.waiting.append(waiting)
    return waiting


def _wait_on_permit(members: Sequence[_Member], waiting: Sequence[WaitingPod], notifier: Notifier) -> None:
    """Wait until Permit lets all pods go on.

    Raises:
        _Refused: it does not.
    """
    for each in waiting:
        if not notifier.quiet:
            names = ", ".join(f"{plugin} for up to {seconds:g} s" for plugin, seconds in each.waits.items())
            notifier.say(f"Permit holds pod {each.pod.key} on {each.node_name}: {names}")
    began = time.monotonic()
    with notifier.progress("waiting on Permit"):
        refused = wait_on_permit(waiting)
    for member in members:
        member.waited = time.monotonic() - began if member.waits else 0.0
    if refused is not None and refused.verdict is not None:
        member = next(each for each in members if each.plan.pod.key == refused.pod.key)
        _go_on(member, refused.verdict)


def _cycle(member: _Member) -> BindingCycle:
    assert member.cycle is not None
    return member.cycle


def _go_on(member: _Member, status: Status) -> None:
    """Go on with a pod, or not.

    Raises:
        _Refused: a plugin has refused it, or failed.
    """
    if status.successful:
        return
    unbound = status.code is Code.SKIP and not status.message
    by = "" if status.plugin in status.message else f"{status.plugin}: "
    member.refusal = "no Bind plugin binds it" if unbound else f"{by}{status.message or 'refused'}"
    raise _Refused(f"pod {member.plan.pod.key}: {member.refusal}")


def _give_up(members: Sequence[_Member], status: Status) -> None:
    """Give up all pods that are not bound, the last first; an interrupt meanwhile stops nothing."""
    for member in reversed(members):
        if member.cycle is not None and not member.bound:
            try:
                member.cycle.give_up(status)
            except BaseException as fault:
                member.live.left.append(f"pod {member.plan.pod.key} could not be given up: {fault_text(fault)}")


def _report(member: _Member, why: str) -> BindReport:
    """Return what became of a pod."""
    live, report = member.live, member.report
    written = [*report.writes] if member.bound else []
    written += [PlannedWrite(kind=w.kind.name, name=w.key, text=w.text) for w in live.journal.writes if member.bound]
    warnings = [*live.warnings, *live.left]
    if member.bound:
        code = exit_codes.CLUSTER_REFUSED if live.moved else 0
        summary = _replace(report.summary, outcome=BindOutcome.BOUND, exit_code=code)
    else:
        text = member.refusal or f"all or none: {why}"
        summary = _replace(
            report.summary, outcome=BindOutcome.REFUSED, exit_code=exit_codes.CLUSTER_REFUSED, node="", text=text
        )
    return _replace(
        report,
        summary=summary,
        binding=report.binding if member.bound else None,
        calls=member.log.calls,
        waits=[PermitWait(plugin=plugin, timeout=seconds) for plugin, seconds in member.waits.items()],
        waited=round(member.waited, 1),
        writes=written,
        moved=list(live.moved),
        warnings=warnings,
    )

"""From the chosen node to the bound pod: assume, Reserve, Permit, PreBind, Bind, PostBind, and the way back.

Whatever fails after Reserve began undoes all reservations, last plugin first, and forgets the pod, so that the
cluster is as it was before, with the pod pending.
"""

from __future__ import annotations

from dataclasses import dataclass

from schedctl.cache.cluster import Cluster
from schedctl.engine import answers, extenders
from schedctl.engine.faults import PASSING, CycleError, describe_fault, plugin_fault
from schedctl.engine.reporters import Reporter
from schedctl.errors import NotModelled
from schedctl.framework.cycles import Cycle
from schedctl.framework.faults import ESCAPING
from schedctl.framework.points import Plugin
from schedctl.framework.profiles import Profile
from schedctl.framework.statuses import SUCCESS, Code, Status, error

MAX_WAIT = 15 * 60.0
"""No plugin holds a pod back for longer than this many seconds."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """The outcome of assume, Reserve and Permit.

    Attributes:
        status: Success, Wait, or what went wrong; only with the first two is the pod assumed on the node.
        waits: plugin name to seconds, for those that answered Wait.
    """

    status: Status
    waits: dict[str, float]


def reserve(profile: Profile, cluster: Cluster, cycle: Cycle, node_name: str, reporter: Reporter) -> Reservation:
    """Assume the pod on the node and let Reserve and Permit plugins have their say."""
    pod = cycle.pod
    cluster.assume(pod, node_name)  # before Reserve, as upstream: plugins see the pod on its node already
    reporter.pod_assumed(pod, node_name)
    for plugin in profile.reserve:
        status = _answer(plugin, "Reserve", "reserve", cycle, node_name)
        if not status.successful:
            return Reservation(give_up(profile, cluster, cycle, node_name, status, reporter), {})
    waits: dict[str, float] = {}
    for permitting in profile.permit:
        status = _answer(permitting, "Permit", "permit", cycle, node_name)
        if status.code is Code.WAIT:
            waits[permitting.name] = min(status.timeout, MAX_WAIT)
        elif not status.successful:
            return Reservation(give_up(profile, cluster, cycle, node_name, status, reporter), {})
    return Reservation(Status(Code.WAIT, timeout=max(waits.values())) if waits else SUCCESS, waits)


def bind(profile: Profile, cluster: Cluster, cycle: Cycle, node_name: str, reporter: Reporter) -> Status:
    """Carry a reserved and permitted pod through PreBind, Bind and PostBind."""
    for plugin in profile.pre_bind:
        status = _answer(plugin, "PreBind", "pre_bind", cycle, node_name)
        if not status.successful:
            return give_up(profile, cluster, cycle, node_name, status, reporter)
    by_extender = bool(profile.extenders) and bool(extenders.binder(profile, cycle.pod))
    status = SUCCESS if by_extender else Status(Code.SKIP)  # asking it would bind the pod
    for binder in () if by_extender else profile.bind:
        status = _answer(binder, "Bind", "bind", cycle, node_name)
        if status.code is not Code.SKIP:
            break
    if not status.successful:
        return give_up(profile, cluster, cycle, node_name, status, reporter)
    for hearing in profile.post_bind:
        try:
            hearing.post_bind(cycle, node_name)
        except PASSING:
            raise
        except ESCAPING as fault:  # the pod is bound all the same
            reporter.plugin_failed(hearing.name, str(plugin_fault(hearing, fault)))
    return status


def unreserve(profile: Profile, cycle: Cycle, node_name: str) -> list[CycleError]:
    """Undo the reservations of a pod, last plugin first, and return the faults of those that could not."""
    faults = []
    for plugin in reversed(profile.reserve):
        try:
            plugin.unreserve(cycle, node_name)
        except PASSING:
            raise
        except ESCAPING as fault:  # the others still undo theirs
            faults.append(plugin_fault(plugin, fault))
    return faults


def give_up(
    profile: Profile, cluster: Cluster, cycle: Cycle, node_name: str, status: Status, reporter: Reporter
) -> Status:
    """Take back all that was reserved for a pod and forget it, for the reason given, which is returned.

    Where a plugin fails in taking back, that is the reason: what it holds is nobody's any more.
    """
    faults = unreserve(profile, cycle, node_name)
    cluster.forget(cycle.pod)
    for fault in faults:
        reporter.plugin_failed(fault.plugin, str(fault))
    if faults:
        status = Status(Code.ERROR, (*status.reasons, *map(str, faults)), faults[0].plugin)
    reporter.pod_forgotten(cycle.pod, status)
    return status


def _answer(plugin: Plugin, point: str, method: str, cycle: Cycle, node_name: str) -> Status:
    """Return what a plugin says in its name; an exception is a fault of its own, and faults name the point."""
    try:
        status = answers.status(plugin, method, getattr(plugin, method)(cycle, node_name))
    except NotModelled:
        raise
    except answers.AnswerError as fault:
        status = error(fault.text)
    except ESCAPING as fault:
        status = error(describe_fault(plugin, fault))
    if status.code is Code.ERROR:
        status = Status(Code.ERROR, (f'running {point} plugin "{plugin.name}": {status.message}',))
    return status.by(plugin.name)

"""From the chosen node to the bound pod: assume, Reserve, Permit, PreBind, Bind, PostBind, and the way back.

Whatever fails after Reserve began, an interrupt included, undoes all reservations, last plugin first and each once, and
forgets the pod, so that the cluster is as it was before, with the pod pending. The order is kept here for dry runs and
live binds alike; a live bind has a `LiveBind`, which talks to the API server.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import msgspec

from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.engine import answers
from schedctl.engine.faults import PASSING, CycleError, describe_fault, plugin_fault
from schedctl.engine.reporters import Reporter
from schedctl.errors import ClusterError, NotModelled
from schedctl.framework.cycles import Cycle
from schedctl.framework.extenders import ExtenderError
from schedctl.framework.faults import ESCAPING
from schedctl.framework.live_binds import LiveBind
from schedctl.framework.points import Plugin
from schedctl.framework.profiles import Profile
from schedctl.framework.statuses import SKIP, SUCCESS, Code, Status, error
from schedctl.framework.waiting_pods import WaitingPod

MAX_WAIT = 15 * 60.0
"""No plugin holds a pod back for longer than this many seconds."""
_POLL = 0.05
_ENDINGS = (Code.SUCCESS, Code.WAIT)


class Reservation(msgspec.Struct, frozen=True):
    """The outcome of assume, Reserve and Permit.

    Attributes:
        status: Success, Wait, or what went wrong; only with the first two is the pod assumed on the node.
        waits: plugin name to seconds, for those that answered Wait.
    """

    status: Status
    waits: Mapping[str, float] = msgspec.field(default_factory=dict)


_RESERVED = Reservation(SUCCESS)


class BindingCycle:
    """One pod on the way to its node: `reserve`, `pre_bind`, `bind`, `post_bind`, called in this order.

    Each of them gives the pod up by itself where it fails, or is interrupted.

    Attributes:
        node_name: the node.
        bound: whether Bind has succeeded.
    """

    __slots__ = ("_cluster", "_cycle", "_ended", "_live", "_profile", "_reporter", "bound", "node_name")

    def __init__(
        self,
        profile: Profile,
        cluster: Cluster,
        cycle: Cycle,
        node_name: str,
        reporter: Reporter,
        live: LiveBind | None = None,
    ) -> None:
        """Begin.

        Args:
            profile: the plugins.
            cluster: the cluster in memory.
            cycle: the pod's, after a successful attempt.
            node_name: where the pod is to go.
            reporter: hears of every call.
            live: the live cluster, None in a dry run.
        """
        self._profile, self._cluster, self._cycle, self._reporter = profile, cluster, cycle, reporter
        self._live = live
        self._ended = self.bound = False
        self.node_name = node_name

    def assume(self) -> Status:
        """Assume the pod on the node and let Reserve plugins have their say; so are the pods of a group tried."""
        # before Reserve, as upstream: plugins see the pod on its node already
        self._cluster.assume(self._pod_on_node(), self.node_name)
        self._reporter.pod_assumed(self._cycle.pod, self.node_name)
        return self._or_give_up(self._reserve)

    def reserve(self) -> Reservation:
        """Assume the pod on the node and let Reserve and Permit plugins have their say."""
        status = self.assume()
        if not (status.successful and self._profile.permit):
            return _RESERVED if status is SUCCESS else Reservation(status)
        waits: dict[str, float] = {}
        status = self._or_give_up(lambda: self._permit(waits))
        return Reservation(status, waits if status.code in _ENDINGS else {})

    def pre_bind(self, after: Callable[[Plugin], None] | None = None) -> Status:
        """Run PreBind plugins; a live cluster is looked at before, and gets what each of them has to write.

        Args:
            after: called after each plugin that succeeds.
        """
        return self._or_give_up(lambda: self._pre_bind(after))

    def bind(self) -> Status:
        """Bind the pod: by the extender that binds it, else by the first plugin that does not skip."""
        return self._or_give_up(self._bind)

    def post_bind(self) -> None:
        """Tell PostBind plugins that the pod is bound, which nothing that they do can change."""
        for plugin in self._profile.post_bind:
            status = SUCCESS
            try:
                plugin.post_bind(self._cycle, self.node_name)
            except PASSING:
                raise
            except ESCAPING as fault:
                text = str(plugin_fault(plugin, fault))
                status = error(text)
                self._reporter.plugin_failed(plugin.name, text)
            self._reporter.plugin_called(self._cycle.pod, "PostBind", plugin.name, status)

    def give_up(self, status: Status) -> Status:
        """Take back all that was reserved for the pod and forget it, for the reason given, which is returned.

        Where a plugin fails in taking back, that is the reason: what it holds is nobody's any more. Once the pod is
        bound or given up, nothing is done.
        """
        if self._ended:
            return status
        self._ended = True
        if self._live is not None:
            self._live.take_back()
        escaped, faults = self._unreserve()
        self._forget()
        for fault in faults:
            self._reporter.plugin_failed(fault.plugin, str(fault))
        if faults:
            status = Status(Code.ERROR, (*status.reasons, *map(str, faults)), faults[0].plugin)
        self._reporter.pod_forgotten(self._cycle.pod, status)
        if escaped is not None:
            raise escaped
        return status

    def _or_give_up(self, run: Callable[[], Status]) -> Status:
        try:
            status = run()
        except BaseException as fault:  # Ctrl-C, an API server that refuses, something that is not modelled
            self.give_up(error(str(fault) or type(fault).__name__))
            raise
        return status if status.code in _ENDINGS else self.give_up(status)

    def _pod_on_node(self) -> PodInfo:
        pod = self._cycle.pod
        for plugin in self._profile.reserve:
            try:
                pod = plugin.pod_on_node(self._cycle, pod, self.node_name)
            except PASSING:
                raise
            except ESCAPING as fault:
                raise plugin_fault(plugin, fault) from fault
        return pod

    def _forget(self) -> None:
        pod = self._cycle.pod
        self._cluster.forget(pod)
        pending = self._cluster.pending.get(pod.key)
        # what its claims take of a node is said of a pod on it, not of a pending one
        if pending is not None and pending.uid == pod.uid and _claimed(pending) != _claimed(pod):
            self._cluster.update_pending(pod)

    def _reserve(self) -> Status:
        for plugin in self._profile.reserve:
            status = self._call(plugin, "Reserve", "reserve")
            if not status.successful:
                return status
        return SUCCESS

    def _permit(self, waits: dict[str, float]) -> Status:
        for permitting in self._profile.permit:
            status = self._call(permitting, "Permit", "permit")
            if status.code is Code.WAIT:
                waits[permitting.name] = min(status.timeout, MAX_WAIT)
            elif not status.successful:
                return status
        return Status(Code.WAIT, timeout=max(waits.values())) if waits else SUCCESS

    def _pre_bind(self, after: Callable[[Plugin], None] | None) -> Status:
        if self._live is not None:
            self._live.check()
        for plugin in self._profile.pre_bind:
            status = self._call(plugin, "PreBind", "pre_bind")
            if not status.successful:
                return status
            if self._live is not None:
                self._live.write(plugin.name, memory_only=plugin.memory_only)
            if after is not None:
                after(plugin)
        return SUCCESS

    def _bind(self) -> Status:
        if self._live is not None:
            self._live.check_again()
        binder, status = self._bind_by_extender()
        for plugin in () if binder else self._profile.bind:
            binder, status = plugin.name, self._call(plugin, "Bind", "bind")
            if status.code is not Code.SKIP:
                break
        if status.successful:
            self._ended = self.bound = True
            if self._live is not None:
                self._live.record(binder)
        return status

    def _bind_by_extender(self) -> tuple[str, Status]:
        """Return which extender has bound the pod, or failed to, "" where plugins are to, and how it went."""
        pod = self._cycle.pod
        for extender in self._profile.extenders:
            if not (extender.binds and extender.is_interested(pod)):
                continue
            if self._live is None:  # asking it would bind the pod
                return extender.name, SUCCESS
            try:
                extender.bind(pod, self.node_name)
                status = SUCCESS
            except ExtenderError as fault:
                status = error(str(fault)).by(extender.name)
            self._reporter.plugin_called(pod, "Bind", extender.name, status)
            if status.successful or not extender.ignorable:
                return extender.name, status
        return "", SKIP

    def _unreserve(self) -> tuple[BaseException | None, list[CycleError]]:
        """Undo the reservations, last plugin first; return what is to be raised again, and the plugins' faults."""
        faults: list[CycleError] = []
        escaped: BaseException | None = None
        for plugin in reversed(self._profile.reserve):
            status = SUCCESS
            try:
                plugin.unreserve(self._cycle, self.node_name)
            except PASSING as fault:  # a second Ctrl-C, for instance
                escaped = fault
            except ESCAPING as fault:  # the others still undo theirs
                faults.append(plugin_fault(plugin, fault))
                status = error(str(faults[-1]))
            self._reporter.plugin_called(self._cycle.pod, "Unreserve", plugin.name, status)
        return escaped, faults

    def _call(self, plugin: Plugin, point: str, method: str) -> Status:
        """Return what a plugin says in its name; an exception is a fault of its own, and faults name the point."""
        name = plugin.name
        if name in self._cycle.skip_filter and name in self._profile.idle_when_skipped.get(method, ()):
            status = SUCCESS.by(name)
            self._reporter.plugin_called(self._cycle.pod, point, name, status)
            return status
        try:
            answer = getattr(plugin, method)(self._cycle, self.node_name)
            answers.require_state(plugin, self._cycle)
            status = answer if answer is SUCCESS else answers.status(plugin, method, answer)
        except answers.AnswerError as fault:
            status = error(fault.text)
        except (NotModelled, ClusterError, KeyboardInterrupt) as fault:
            self._reporter.plugin_called(self._cycle.pod, point, plugin.name, error(str(fault) or "interrupted"))
            raise
        except ESCAPING as fault:
            status = error(describe_fault(plugin, fault))
        if status is not SUCCESS and status.code is Code.ERROR:
            status = Status(Code.ERROR, (f'running {point} plugin "{plugin.name}": {status.message}',))
        status = status.by(plugin.name)
        self._reporter.plugin_called(self._cycle.pod, point, plugin.name, status)
        return status


def _claimed(pod: PodInfo) -> object:
    return pod.pod.status.node_allocatable_resource_claim_statuses


def wait_on_permit(
    waiting: Sequence[WaitingPod],
    *,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> WaitingPod | None:
    """Wait until Permit plugins let all pods go on, or one of them is refused or has waited for too long.

    Args:
        waiting: the pods, whose waits are in the seconds of the clock.
        now: the clock.
        sleep: passes time.

    Returns:
        The pod that may not go on, by its `verdict`; None where all may.
    """
    while True:
        for each in waiting:
            each.expire(now())
            if each.verdict is not None and not each.verdict.successful:
                return each
        if all(each.verdict is not None for each in waiting):
            return None
        sleep(_POLL)

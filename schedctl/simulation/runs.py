"""The loop: pods out of the queue, through the whole cycle, and everything that follows told to the queue.

`run` schedules pods the way kube-scheduler does, one after another, on a clock of its own: what takes kube-scheduler
time (an attempt, a bind, a call to the API server) takes none here, what waits (a backoff, a grace period, Permit, the
five minutes after which an unschedulable pod is tried anyway) waits on that clock, which jumps to the next time at
which anything can happen. The order of things at one time is fixed: what is due comes first, then the queue in its
order; evictions a pod asked for are carried out after it has gone back to the queue and before the next is taken.

A run ends when nothing can move: no pod can be tried but such as have seen the world as it is, and nothing is due. A
fault is given a second chance, in case it was a passing one. It also ends when things move and come to nothing, for as
long as it is to be patient, or in circles while no time goes by.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import msgspec

from schedctl.api.nodes import Node
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.attempts import Attempt
from schedctl.engine.clocks import Clock
from schedctl.engine.fit_error import message as fit_error
from schedctl.engine.queue.queues import Place, QueuedPod
from schedctl.errors import NotModelled
from schedctl.framework.events import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    ASSIGNED_POD_UPDATE,
    NODE_ADD,
    NODE_DELETE,
    UNSCHEDULED_POD_ADD,
    UNSCHEDULED_POD_DELETE,
    node_changes,
    pod_changes,
)
from schedctl.framework.fit_errors import none_available
from schedctl.framework.points import PostFilterResult
from schedctl.framework.statuses import Code, Status
from schedctl.framework.waiting_pods import WaitingPod
from schedctl.scheduler import Scheduler
from schedctl.simulation.dispatch import EventDispatcher
from schedctl.simulation.events import Controller, EventAction, SimulatedEvent
from schedctl.simulation.outcomes import Eviction, PodOutcome, PodState, Run, RunEnd
from schedctl.simulation.pod_state import grace_of, leaving_at, placed
from schedctl.simulation.tie_breaking import TieBreaker, first_by_name
from schedctl.simulation.timeline import (
    AnyRecord,
    Bound,
    Chosen,
    Ended,
    Evicted,
    Failed,
    Gone,
    Moved,
    Nominated,
    Refused,
    Released,
    Unanswered,
    Waiting,
)

CIRCLES = 100
"""A pod that is tried more often than this at one time, while nothing lasting comes about, is tried in vain."""
_STATES = {
    Place.ACTIVE: PodState.QUEUED,
    Place.BACKOFF: PodState.QUEUED,
    Place.IN_FLIGHT: PodState.QUEUED,
    Place.UNSCHEDULABLE: PodState.UNSCHEDULABLE,
    Place.GATED: PodState.GATED,
}
_replace = msgspec.structs.replace


@dataclass(frozen=True, slots=True)
class Options:
    """How a run is run.

    Attributes:
        choose: which of several equally good nodes is taken.
        sampling: look at as many nodes as kube-scheduler would, instead of all.
        trace: keep the timeline.
        patience: end when for so many seconds on the clock nothing lasting came about, and nothing is about to: no
            more pods of a priority on nodes than ever before, none gone but to make room, nothing happened. Pods that
            take turns in evicting each other come to nothing, however long they go on.
        horizon: end when the clock reaches so many seconds, None for never.
    """

    choose: TieBreaker = first_by_name
    sampling: bool = False
    trace: bool = True
    patience: float = 3600.0
    horizon: float | None = None


class Progress:
    """Told how far a run has come. Inherit and override; here it does nothing."""

    def on_attempt(self, run: Run, queued: int) -> None:
        """Called after each attempt, so only for cheap work; `queued` pods are waiting to be tried at the moment."""


def run(
    scheduler: Scheduler,
    pods: Iterable[PodInfo] | None = None,
    *,
    options: Options | None = None,
    events: Iterable[SimulatedEvent] = (),
    controller: Controller | None = None,
    progress: Progress | None = None,
) -> Run:
    """Schedule pods until nothing can move any more, and return what became of them. The cluster is changed.

    Wrap it in ``with scheduler.fork():`` for a what-if. A KeyboardInterrupt ends the run with what is known so far.
    Pods that are on their way out when the run begins are gone after their grace period.

    Args:
        scheduler: whose cluster, profiles and configuration (backoff) are used.
        pods: those to schedule, in order of arrival; they join the cluster if they are not in it. None for all pending
            pods of the cluster that a profile serves.
        options: how; the defaults if None.
        events: what happens besides, at its time; at the same time in this order, and after the pods have come.
        controller: answers what happens with further events.
        progress: is told how far the run has come.

    Raises:
        KeyError: no profile serves a pod's scheduler name.
        ReplayError: the chooser replays, and a pod cannot go where it went before.
    """
    if pods is None:
        pods = [info for info in scheduler.cluster.pending.values() if scheduler.profile_of(info)]
    going = _Simulator(scheduler, options or Options(), controller or Controller(), progress or Progress())
    return going.through(list(pods), events)


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why no node will do, as long as nothing changes; also for pods alike."""

    message: str
    plugins: frozenset[str]
    pending: frozenset[str]
    result: PostFilterResult | None


@dataclass(slots=True)
class _Held:
    """A pod that Permit holds back, what it takes to go on, and the numbers of what is due when patience ends."""

    queued: QueuedPod
    outcome: Attempt
    waiting: WaitingPod
    expiries: list[int]
    deleted: bool = False


class _Simulator:
    """A run while it goes on."""

    def __init__(self, scheduler: Scheduler, options: Options, controller: Controller, progress: Progress) -> None:
        self._scheduler = scheduler
        self._cluster = scheduler.cluster
        self._nominator = scheduler.nominator
        self._options = options
        self._controller = controller
        self._is_answered = type(controller) is not Controller
        self._progress = progress
        self._clock = Clock()
        self._queue = scheduler.queue(self._clock, self._moved)
        self._facts = Run()
        record = self._record if options.trace else None
        self._teller = EventDispatcher(self._queue, self._cluster, record, scheduler.handles.values())
        self._due: list[tuple[float, int, bool, Callable[[], None]]] = []
        self._scheduled = 0
        self._lasting = 0  # how much of what is due will last
        self._world = 0  # grows with everything that could make a difference to another attempt
        self._lasted = 0.0  # when something lasting last came about
        self._bound: Counter[int] = Counter()  # by priority, pods bound less pods preempted
        self._most: Counter[int] = Counter()  # the most that ever were
        self._preempted: set[str] = set()
        self._tried: Counter[str] = Counter()  # how often each pod was tried since anything lasted or time went by
        self._tried_at = (0.0, 0.0)
        self._held: list[_Held] = []
        self._refusals: dict[Any, _Refusal] = {}
        self._refused_at = (-1, -1)

    def through(self, pods: list[PodInfo], events: Iterable[SimulatedEvent]) -> Run:
        """Run to the end."""
        facts = self._facts
        try:
            self._begin(pods, events)
            while facts.end is None:
                self._do_what_is_due()
                queued = self._queue.pop()
                if queued is not None:
                    self._try(queued)
                    self._progress.on_attempt(facts, self._queue.count(Place.ACTIVE))
                else:
                    facts.end = self._wait()
        except KeyboardInterrupt:
            facts.end = RunEnd.INTERRUPTED
        finally:
            self._give_back()
            for handle in self._scheduler.handles.values():
                handle.waiting.clear()
                handle.activated.clear()
            self._scheduler.preemptors.clear()
        facts.clock = self._clock.now
        self._record(Ended(self._clock.now, facts.end.value if facts.end is not None else ""))
        return facts

    # -- time --------------------------------------------------------------------

    def _begin(self, pods: list[PodInfo], events: Iterable[SimulatedEvent]) -> None:
        for info in [info for info in self._cluster.pod_table if info.terminating]:
            stated = info.pod.metadata.deletion_grace_period_seconds
            self._schedule(grace_of(info) if stated is None else float(stated), partial(self._leave, info))
        for info in pods:
            self._come(info)
        for event in events:
            self._schedule(event.at, partial(self._happen_as_given, event))

    def _happen_as_given(self, event: SimulatedEvent) -> None:
        self._lasted = self._clock.now
        self._happen(event)

    def _schedule(self, at: float, action: Callable[[], None], *, lasting: bool = True) -> int:
        """Do something at a time; return the number by which it is known among what is due."""
        self._scheduled += 1
        lasting = lasting and self._clock.now - self._lasted <= self._options.patience
        self._lasting += lasting
        heapq.heappush(self._due, (at, self._scheduled, lasting, action))
        return self._scheduled

    def _expect(self, event: SimulatedEvent, at: float) -> None:
        self._schedule(at, lambda: self._happen(event))

    def _answer(self, events: Iterable[SimulatedEvent]) -> None:
        for event in events:
            self._expect(event, self._clock.now + event.at)

    def _do_what_is_due(self) -> None:
        while self._due and self._due[0][0] <= self._clock.now:
            _, _, lasting, action = heapq.heappop(self._due)
            self._lasting -= lasting
            action()
        if self._held:
            self._look_after_held()
        for handle in self._scheduler.handles.values():
            if handle.activated:
                activated, handle.activated = handle.activated, []
                self._queue.activate(activated)

    def _wait(self) -> RunEnd | None:
        """Move the clock to when anything can happen next; return why the run ends if nothing can."""
        if not self._due and not any(queued.seen != self._world for queued in self._queue):
            return RunEnd.STUCK if any(outcome.pending for outcome in self._facts.pods.values()) else RunEnd.SETTLED
        times = (self._due[0][0] if self._due else None, self._queue.next_expiry, self._queue.next_timeout())
        until = min((time for time in times if time is not None), default=None)
        if until is None:  # only pods that nobody will let go on are left
            return RunEnd.STUCK
        if self._options.horizon is not None and until > self._options.horizon:
            self._clock.advance(max(self._options.horizon, self._clock.now))
            return RunEnd.HORIZON
        if not self._lasting and until - self._lasted > self._options.patience:
            return RunEnd.PATIENCE
        self._clock.advance(until)
        self._queue.flush()
        for queued in self._queue:
            if queued.place is Place.GATED and queued.flushed == until:
                queued.seen = self._world  # asked again, and kept out again
        return None

    def _change(self) -> None:
        """Take note that another attempt could end differently."""
        self._world += 1

    # -- one attempt -------------------------------------------------------------

    def _try(self, queued: QueuedPod) -> None:
        info, facts = queued.info, self._facts.pods[queued.info.key]
        facts.attempts += 1
        self._facts.attempts += 1
        queued.seen = self._world
        self._end_if_in_circles(info)
        if info.terminating:
            self._queue.done(queued)
            return
        known = self._remembered(info)
        if known is not None:
            self._facts.remembered += 1
            self._refuse(queued, known)
            return
        try:
            outcome = self._scheduler.attempt(info, sampling=self._options.sampling, admitted=True)
            if self._options.sampling:
                self._scheduler.rotate(outcome)
            if outcome.fits:
                self._place(queued, outcome)
            elif outcome.error:
                self._fail(queued, outcome.error)
            elif not outcome.total_nodes:
                self._fail(queued, fit_error(outcome), refused=True)
            else:
                self._refuse(queued, self._understood(outcome), outcome)
        except NotModelled as missing:
            self._give_up(queued, str(missing))

    def _end_if_in_circles(self, info: PodInfo) -> None:
        """End a run in which no time goes by, because pods that give each other's nodes up wake each other at once."""
        at = self._clock.now, self._lasted
        if at != self._tried_at:
            self._tried.clear()
            self._tried_at = at
        self._tried[info.key] += 1
        if self._tried[info.key] > CIRCLES:
            self._facts.end = RunEnd.PATIENCE

    def _place(self, queued: QueuedPod, outcome: Attempt) -> None:
        """Assume the pod on the chosen node, reserve, ask Permit, and bind unless it says Wait."""
        info, facts = queued.info, self._facts.pods[queued.info.key]
        node_name = self._options.choose(outcome, queued.attempts)
        facts.ties, facts.feasible = len(outcome.tie_rows), outcome.feasible
        if self._options.trace:
            chosen = Chosen(self._clock.now, info.key, facts.attempts, node_name, facts.ties, facts.feasible)
            self._record(chosen)
        generation = self._cluster.generation
        reservation = self._scheduler.place(outcome, node_name)
        self._teller.of_objects(generation)
        status = reservation.status
        if status.successful:
            self._bind(queued, outcome, node_name)
        elif reservation.waits:
            self._hold(queued, outcome, node_name, reservation.waits)
        else:
            self._record(Released(self._clock.now, info.key, node_name, status.message, status.plugin))
            self._return(queued, status)

    def _bind(self, queued: QueuedPod, outcome: Attempt, node_name: str) -> None:
        info = queued.info
        self._queue.land(queued)
        generation = self._cluster.generation
        status = self._scheduler.bind(outcome, node_name)
        self._teller.of_objects(generation)
        if not status.successful:
            self._record(Released(self._clock.now, info.key, node_name, status.message, status.plugin))
            self._teller.of_release(info, node_name)
            self._fail(queued, status.message, status.plugin, refused=status.rejected)
            return
        self._queue.done(queued)
        self._change()
        self._bound[info.priority] += 1
        if self._bound[info.priority] > self._most[info.priority]:
            self._most[info.priority] = self._bound[info.priority]
            self._lasted = self._clock.now
        facts = self._facts.pods[info.key]
        facts.node, facts.message, facts.plugins, facts.fault, facts.nominated = node_name, "", (), False, ""
        self._come_into(facts, PodState.BOUND)
        if self._options.trace:
            self._record(Bound(self._clock.now, info.key, node_name))
        self._teller.of_arrival(info, node_name)
        if self._is_answered:
            self._answer(self._controller.on_bound(placed(info, node_name), node_name))

    # -- pods held back by Permit ------------------------------------------------

    def _hold(self, queued: QueuedPod, outcome: Attempt, node_name: str, waits: dict[str, float]) -> None:
        now, facts = self._clock.now, self._facts.pods[queued.info.key]
        waiting = WaitingPod(queued.info, node_name, waits, now)
        self._scheduler.handles[outcome.profile.scheduler_name].waiting.append(waiting)
        expiries = [
            self._schedule(until, lambda: waiting.expire(self._clock.now), lasting=False)
            for until in sorted(set(waiting.until.values()))
        ]
        self._held.append(_Held(queued, outcome, waiting, expiries))
        facts.node = node_name
        self._come_into(facts, PodState.WAITING)
        self._world += 1
        self._record(Waiting(now, queued.info.key, node_name, dict(waiting.until)))

    def _look_after_held(self) -> None:
        """Let pods go on that may, and take back those that may not."""
        while (held := next((each for each in self._held if each.waiting.verdict is not None), None)) is not None:
            self._held.remove(held)
            self._due = [due for due in self._due if due[1] not in held.expiries]
            heapq.heapify(self._due)
            self._scheduler.handles[held.outcome.profile.scheduler_name].waiting.remove(held.waiting)
            self._world += 1
            verdict, node_name = held.waiting.verdict, held.waiting.node_name
            assert verdict is not None
            if verdict.successful:
                self._bind(held.queued, held.outcome, node_name)
            else:
                self._take_back(held, node_name, verdict)

    def _take_back(self, held: _Held, node_name: str, verdict: Status) -> None:
        """Forget a pod that Permit refused, or that lost its node; others may have the room, it may not at once.

        While it waited it was promised the node, in public (NominatedNodeNameForExpectation); the promise ends here.
        """
        queued, info = held.queued, held.queued.info
        self._facts.pods[info.key].node = ""
        self._scheduler.release(held.outcome, node_name, verdict)
        self._record(Released(self._clock.now, info.key, node_name, verdict.message, verdict.plugin))
        if held.deleted:
            self._queue.done(queued)
            self._cluster.remove_pod(info)
            self._gone(info, node_name)
            return
        if not verdict.rejected:
            self._teller.of_release(info, node_name)
        self._return(queued, verdict)
        if verdict.rejected:
            self._teller.of_release(info, node_name, lambda other: other.info.uid != info.uid)
        self._teller.of_release(info, node_name, lambda other: other.info.priority <= info.priority)

    def _give_back(self) -> None:
        """Take the pods that Permit still holds off their nodes; in the books they go on waiting there."""
        for held in self._held:
            verdict = Status(Code.ERROR, ("the run ended",))
            self._scheduler.release(held.outcome, held.waiting.node_name, verdict)
        self._held.clear()

    # -- back to the queue -------------------------------------------------------

    def _remembered(self, info: PodInfo) -> _Refusal | None:
        """Return why a pod is refused, if one alike was since anything changed."""
        if not self._refusals or self._refused_at != (self._cluster.generation, self._nominator.version):
            return None
        likeness = self._scheduler.likeness(info)
        return self._refusals.get(likeness) if likeness is not None else None

    def _understood(self, outcome: Attempt) -> _Refusal:
        """Return why a pod was refused, and remember it for pods alike if it is to be refused for good."""
        result = outcome.post_filter
        refusal = _Refusal(fit_error(outcome), outcome.unschedulable_plugins, outcome.pending_plugins, _lean(result))
        fruitless = result is None or not (result.status.successful or result.settles or result.nominated_node)
        if fruitless and not self._options.sampling:
            at = self._cluster.generation, self._nominator.version
            if at != self._refused_at:
                self._refusals.clear()
                self._refused_at = at
            likeness = self._scheduler.likeness(outcome.pod)
            if likeness is not None:
                self._refusals[likeness] = refusal
        return refusal

    def _refuse(self, queued: QueuedPod, refusal: _Refusal, outcome: Attempt | None = None) -> None:
        """Put a refused pod back, and evict those that PostFilter found in its way."""
        result, info = refusal.result, queued.info
        victims = [victim for victim in result.victims if not victim.terminating] if result is not None else []
        if outcome is not None and result is not None and result.settles:
            generation = self._cluster.generation
            self._scheduler.settle(outcome)
            self._teller.of_objects(generation)
        if victims:
            self._scheduler.preemptors.begin(info)
        nominated = result.nominated_node if result is not None else ""
        if self._options.trace:
            plugins = tuple(sorted(refusal.plugins))
            attempt = self._facts.pods[info.key].attempts
            self._record(Refused(self._clock.now, info.key, attempt, refusal.message, plugins, nominated or ""))
        self._put_back(queued, refusal.message, refusal.plugins, refusal.pending, nominated=nominated)
        if victims and result is not None:
            self._evict(queued, result.nominated_node or "", victims)

    def _return(self, queued: QueuedPod, status: Status) -> None:
        """Put a pod back that Reserve or Permit refused or failed on, or that lost its node while it waited."""
        if not status.rejected:
            self._fail(queued, status.message, status.plugin)
            return
        message = none_available(1, dict.fromkeys(status.reasons, 1))
        plugins = frozenset((status.plugin,) if status.plugin else ())
        self._record(
            Refused(
                self._clock.now, queued.info.key, self._facts.pods[queued.info.key].attempts, message, tuple(plugins)
            )
        )
        self._put_back(queued, message, plugins, nominated="")

    def _fail(self, queued: QueuedPod, message: str, plugin: str = "", *, refused: bool = False) -> None:
        """Put a pod back after a fault, or, `refused`, after a refusal that no event can remedy."""
        facts = self._facts.pods[queued.info.key]
        if self._cluster.node_table.row_of and message != facts.message:
            queued.seen = None  # another attempt may go well in the world as it is; the same fault twice will stay
        self._record(Failed(self._clock.now, queued.info.key, facts.attempts, message, plugin))
        self._put_back(queued, message, nominated="", fault=not refused)

    def _put_back(
        self,
        queued: QueuedPod,
        message: str,
        plugins: frozenset[str] = frozenset(),
        pending: frozenset[str] = frozenset(),
        *,
        nominated: str | None,
        fault: bool = False,
    ) -> None:
        """Return a pod to the queue, promise it a node or take a promise back, and write its status.

        Args:
            queued: the pod.
            message: why it is not placed.
            plugins: who refused it.
            pending: who said Pending.
            nominated: the node promised, "" for none, None to leave things as they are.
            fault: whether the message is a fault.
        """
        facts = self._facts.pods[queued.info.key]
        written = (message, fault) != (facts.message, facts.fault)
        facts.message, facts.fault = message, fault
        facts.plugins = tuple(sorted(plugins))
        self._queue.requeue(queued, plugins, pending)
        if not self._promise(queued, nominated) and written:
            self._queue.touch(queued)

    def _promise(self, queued: QueuedPod, node_name: str | None) -> bool:
        """Promise a node to a pod, "" for none; return whether that changed the pod."""
        info = queued.info
        before = info.pod.status.nominated_node_name
        node_name = before if node_name is None else node_name
        if self._nominator.node_of(info) != node_name:
            self._nominator.nominate(info, node_name)
            self._change()
        if before == node_name:
            return False
        status = _replace(info.pod.status, nominated_node_name=node_name)
        after = info.as_now(_replace(info.pod, status=status))
        self._facts.pods[info.key].nominated = node_name
        self._record(Nominated(self._clock.now, info.key, node_name))
        self._cluster.update_pending(after)
        self._queue.update(info, after)
        if before:
            self._teller.queue(ASSIGNED_POD_DELETE, info, None, lambda other: other.info.priority <= info.priority)
        return True

    def _give_up(self, queued: QueuedPod, message: str) -> None:
        """Let a pod go that needs what is not modelled."""
        facts = self._facts.pods[queued.info.key]
        facts.message = message
        self._queue.done(queued)
        self._come_into(facts, PodState.UNANSWERED)
        self._record(Unanswered(self._clock.now, queued.info.key, message))

    # -- evictions ---------------------------------------------------------------

    def _evict(self, queued: QueuedPod, node_name: str, victims: list[PodInfo]) -> None:
        """Evict the victims of a pod, the last when all others have been told to go; it is kept out so long."""
        preemptor, preemptors = queued.info, self._scheduler.preemptors
        for other in tuple(self._nominator.pods(node_name)):
            loser = self._queue.get(other.key)
            if loser is not None and other.priority < preemptor.priority:
                self._promise(loser, "")
        *others, last = victims
        for victim in others:
            self._preempt(victim, preemptor)
        preemptors.finishing(preemptor, last)
        in_memory = self._preempt(last, preemptor)
        preemptors.finish(preemptor)
        if in_memory:
            self._queue.activate((preemptor,))

    def _preempt(self, victim: PodInfo, preemptor: PodInfo) -> bool:
        """Take a victim's node away; return whether that was done in memory, because it is not bound yet."""
        for held in self._held:
            if held.waiting.pod.uid == victim.uid and held.waiting.preempt("", "preempted"):
                self._facts.pods[victim.key].preempted_by = preemptor.key
                return True
        self._terminate(victim, None, preemptor.key)
        return False

    def _terminate(self, info: PodInfo, grace: float | None, by: str) -> None:
        """Tell a running pod to go, which it does after its grace period."""
        row = self._cluster.pod_table.row_of.get(info.key)
        if row is None:
            return
        now, node_name = self._clock.now, self._node_of(info)
        if info.terminating:
            return
        grace = grace_of(info) if grace is None else grace
        running, until = placed(info, node_name), now + grace
        self._facts.evictions.append(Eviction(running, node_name, by, now, until))
        facts = self._facts.pods.get(info.key)
        if facts is not None:
            facts.preempted_by = by
        if by:
            self._bound[info.priority] -= 1
            self._preempted.add(info.uid)
        self._record(Evicted(now, info.key, node_name, by, until))
        self._change()
        if grace <= 0:
            self._leave(info)
            return
        leaving = leaving_at(running, until, grace, preempted=bool(by))
        self._cluster.remove_pod(info)
        self._cluster.add_pod(leaving)
        if facts is not None:
            self._come_into(facts, PodState.TERMINATING)
        self._teller.tell(ASSIGNED_POD_UPDATE, running, leaving)
        self._schedule(until, lambda: self._leave(leaving))
        if self._is_answered:
            self._answer(self._controller.on_eviction(leaving, node_name))

    def _leave(self, info: PodInfo) -> None:
        """Remove a running pod from the cluster, unless it has gone already."""
        table = self._cluster.pod_table
        row = table.row_of.get(info.key)
        if row is None or table.infos[row].uid != info.uid:
            return
        node_name, now = self._node_of(info), table.infos[row]
        self._cluster.remove_pod(now)
        self._gone(now, node_name)

    def _gone(self, info: PodInfo, node_name: str) -> None:
        """Take note that a pod has left the cluster, and tell of it."""
        self._change()
        if info.uid not in self._preempted:
            self._lasted = self._clock.now
        self._record(Gone(self._clock.now, info.key, node_name))
        facts = self._facts.pods.get(info.key)
        if facts is not None:
            facts.node = node_name
            self._come_into(facts, PodState.GONE)
        if node_name:
            self._teller.of_departure(info, node_name)
        if self._is_answered:
            self._answer(self._controller.on_deletion(placed(info, node_name), node_name))

    # -- what happens besides ----------------------------------------------------

    def _happen(self, event: SimulatedEvent) -> None:
        subject = event.subject
        if isinstance(subject, PodInfo):
            if event.action is EventAction.PUT:
                self._put_pod(subject)
            else:
                self._delete_pod(subject, event.grace)
        elif isinstance(subject, Node):
            if event.action is EventAction.PUT:
                self._put_node(subject)
            else:
                self._delete_node(subject)
        else:
            generation = self._cluster.generation
            if event.action is EventAction.PUT:
                self._cluster.put(subject)
            else:
                self._cluster.delete(subject)
            self._change()
            self._teller.of_objects(generation)

    def _put_pod(self, info: PodInfo) -> None:
        self._change()
        table, pending = self._cluster.pod_table, self._cluster.pending
        if info.key in pending:
            before = pending[info.key]
            self._cluster.update_pending(info)
            for event in pod_changes(before, info, target=False):
                self._teller.plugins(event, before, info)
            facts = self._facts.pods.get(info.key)
            if facts is None:
                return
            facts.pod = info
            self._nominator.nominate(info, info.pod.status.nominated_node_name or self._nominator.node_of(before))
            self._queue.update(before, info)
        elif info.key in table.row_of:
            if any(held.waiting.pod.key == info.key for held in self._held):
                return  # kube-scheduler leaves a pod alone that it has assumed
            before = table.infos[table.row_of[info.key]]
            now = placed(info, self._node_of(before))
            self._cluster.remove_pod(before)
            self._cluster.add_pod(now)
            for event in pod_changes(before, now, target=False):
                self._teller.tell(event, before, now)
        elif info.pod.spec.node_name:
            self._cluster.add_pod(info)
            self._teller.tell(ASSIGNED_POD_ADD, None, info)
        elif self._scheduler.profile_of(info) is None:
            self._cluster.add_pod(info)  # waits for another scheduler
            self._teller.plugins(UNSCHEDULED_POD_ADD, None, info)
        else:
            self._come(info)

    def _delete_pod(self, info: PodInfo, grace: float | None) -> None:
        for held in self._held:
            if held.waiting.pod.key == info.key:
                held.deleted = held.waiting.reject("", "removed")
                return
        if info.key in self._cluster.pod_table.row_of:
            self._terminate(self._cluster.pod_table.infos[self._cluster.pod_table.row_of[info.key]], grace, "")
            return
        pending = self._cluster.pending.get(info.key)
        if pending is None:
            return
        self._queue.delete(pending)
        self._nominator.withdraw(pending)
        self._cluster.remove_pod(pending)
        self._gone(pending, "")
        self._teller.plugins(UNSCHEDULED_POD_DELETE, pending, None)
        if pending.pod.status.nominated_node_name:
            self._teller.queue(
                ASSIGNED_POD_DELETE, pending, None, lambda other: other.info.priority <= pending.priority
            )

    def _put_node(self, node: Node) -> None:
        row = self._cluster.node_table.row_of.get(node.metadata.name)
        before = self._cluster.node_table.objects[row] if row is not None else None
        self._cluster.add_node(node)
        self._change()
        after = self._cluster.node_table.objects[self._cluster.node_table.row_of[node.metadata.name]]
        for event in (NODE_ADD,) if before is None else node_changes(before, after):
            self._teller.tell(event, before, after)

    def _delete_node(self, node: Node) -> None:
        name = node.metadata.name
        row = self._cluster.node_table.row_of.get(name)
        if row is None:
            return
        self._change()
        before = self._cluster.node_table.objects[row]
        self._teller.queue(NODE_DELETE, before, None)
        for held in self._held:
            if held.waiting.node_name == name:
                held.waiting.reject("", "removed")
        self._look_after_held()
        removed = self._cluster.remove_node(name)
        self._teller.plugins(NODE_DELETE, before, None)
        for info in removed:
            self._gone(info, name)

    def _come(self, info: PodInfo) -> None:
        """Let a pod join the queue, and the cluster if it is not in it."""
        if info.key not in self._cluster.pending:
            self._cluster.add_pod(info)
            self._teller.plugins(UNSCHEDULED_POD_ADD, None, info)
        self._facts.pods[info.key] = PodOutcome(info, arrived=self._clock.now, settled=self._clock.now)
        nominated = info.pod.status.nominated_node_name
        if self._nominator.node_of(info) != nominated:
            self._nominator.nominate(info, nominated)
        self._facts.pods[info.key].nominated = nominated
        try:
            self._queue.add(info)
        except NotModelled as missing:
            self._facts.pods[info.key].message = str(missing)
            self._come_into(self._facts.pods[info.key], PodState.UNANSWERED)
            self._record(Unanswered(self._clock.now, info.key, str(missing)))

    # -- keeping the books -------------------------------------------------------

    def _moved(self, queued: QueuedPod, before: Place | None, event: str) -> None:
        """Write down a move between queues."""
        place = queued.place
        facts = self._facts.pods[queued.info.key]
        if place is not None:
            self._come_into(facts, _STATES[place])
        if place is Place.GATED:
            queued.seen = self._world
            facts.message, facts.plugins, facts.fault = _gate(queued), (queued.gating_plugin,), False
        if not self._options.trace:
            return
        now, key = self._clock.now, queued.info.key
        to, was = place.value if place is not None else "", before.value if before is not None else ""
        if place is Place.GATED:
            self._record(Moved(now, key, to, was, event, plugin=queued.gating_plugin, message=_gate(queued)))
        elif place is Place.BACKOFF and queued.expiration is not None:
            self._record(Moved(now, key, to, was, event, queued.expiration))
        else:
            self._record(Moved(now, key, to, was, event))

    def _come_into(self, facts: PodOutcome, state: PodState) -> None:
        if facts.state is not state:
            facts.state, facts.settled = state, self._clock.now

    def _record(self, record: AnyRecord) -> None:
        if self._options.trace:
            self._facts.timeline.append(record)

    def _node_of(self, info: PodInfo) -> str:
        table = self._cluster.pod_table
        return self._cluster.node_table.names[int(table.node[table.row_of[info.key]])]


def _gate(queued: QueuedPod) -> str:
    return queued.gate.message if queued.gate is not None else ""


def _lean(result: PostFilterResult | None) -> PostFilterResult | None:
    """Return a result without what was found out on the way, which would keep much else in memory."""
    if result is None:
        return None
    return replace(result, findings=None)

"""The loop of a run: pods out of the queue, through the whole cycle, on a clock of its own.

What takes kube-scheduler time (an attempt, a bind, a call to the API server) takes none here; what waits (a backoff, a
grace period, Permit) waits on that clock, which jumps to the next time at which anything can happen. The parts of the
loop are in ``simulator``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import msgspec

from schedctl.cache.pod_info import PodInfo
from schedctl.engine.fit_error import message as fit_error
from schedctl.engine.queue.entries import Place, QueuedGroup, QueuedPod
from schedctl.errors import NotModelled
from schedctl.scheduler import Scheduler
from schedctl.simulation.events import Controller, SimulatedEvent
from schedctl.simulation.outcomes import Run, RunEnd
from schedctl.simulation.pod_state import remaining_grace_period
from schedctl.simulation.simulator.binding import BindingCycle
from schedctl.simulation.simulator.evictions import Evictions
from schedctl.simulation.simulator.external_events import ExternalEvents
from schedctl.simulation.simulator.group_cycles import GroupCycles
from schedctl.simulation.simulator.recurrence import Recurrence
from schedctl.simulation.simulator.requeue import Refusal, RefusalCache, Requeue
from schedctl.simulation.simulator.state import RunState
from schedctl.simulation.tie_breaking import TieBreaker, first_by_name, ignores_history
from schedctl.simulation.timeline import Ended


class Options(msgspec.Struct, frozen=True):
    """How a run is run.

    Attributes:
        choose: which of several equally good nodes is taken.
        sampling: look at as many nodes as kube-scheduler would, instead of all.
        trace: keep the timeline.
        patience: end when for so many seconds on the clock nothing lasting came about, and nothing is about to: no
            more pods of a priority on nodes than ever before, none gone but to make room, nothing happened. Pods that
            take turns in evicting each other come to nothing, however long they go on. A run that comes back to where
            it was skips what would only come again; one that draws from ties, asks extenders, schedules groups or has a
            horizon is not looked at for that.
        horizon: end when the clock reaches so many seconds, None for never.
        make_room: whether PostFilter is run for pods that find no node, so that they may preempt others.
    """

    choose: TieBreaker = first_by_name
    sampling: bool = False
    trace: bool = True
    patience: float = 3600.0
    horizon: float | None = None
    make_room: bool = True


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
    simulator = Simulator(scheduler, options or Options(), controller or Controller(), progress or Progress())
    return simulator.run(list(pods), events)


class Simulator:
    """A run while it goes on."""

    def __init__(self, scheduler: Scheduler, options: Options, controller: Controller, progress: Progress) -> None:
        self._options = options
        self._progress = progress
        self._state = state = RunState(scheduler, controller, trace=options.trace, patience=options.patience)
        self._evictions = Evictions(state)
        self._requeue = Requeue(state, self._evictions)
        self._refusals = RefusalCache(state)
        self._binding = BindingCycle(state, self._requeue, self._evictions, options.choose)
        self._group_cycles = GroupCycles(
            state, self._requeue, self._evictions, self._binding, makes_room=options.make_room
        )
        self._external_events = ExternalEvents(state, self._evictions, self._binding)
        state.apply_event = self._external_events.apply
        # what extenders answer, and what draws come out, is not decided by where the run stands
        extended = any(profile.extenders for profile in scheduler.profiles.values())
        decided = ignores_history(options.choose) and not extended and not state.with_groups
        self._recurrence = Recurrence(state) if decided and options.horizon is None else None

    def run(self, pods: list[PodInfo], events: Iterable[SimulatedEvent]) -> Run:
        """Run to the end."""
        state, facts = self._state, self._state.facts
        try:
            self._begin(pods, events)
            while facts.end is None:
                # the order of one time is fixed: what is due comes first, then the queue in its order
                self._do_due()
                entry = state.queue.pop()
                if entry is not None:
                    if isinstance(entry, QueuedGroup):
                        self._attempt_group(entry)
                    else:
                        self._attempt(*entry.pods)
                    self._progress.on_attempt(facts, state.queue.count(Place.ACTIVE))
                else:
                    facts.end = self._wait()
        except KeyboardInterrupt:
            facts.end = RunEnd.INTERRUPTED
        finally:
            self._binding.release_permit_waits()
            for handle in state.scheduler.handles.values():
                handle.waiting.clear()
                handle.activated.clear()
            state.scheduler.preemptors.clear()
        facts.clock = state.clock.now
        state.record(Ended(state.clock.now, facts.end_in_words))
        return facts

    def _begin(self, pods: list[PodInfo], events: Iterable[SimulatedEvent]) -> None:
        agenda = self._state.agenda
        self._state.controller.on_start()
        for info in self._state.cluster.pod_table.terminating_pods():
            agenda.schedule(remaining_grace_period(info), partial(self._evictions.remove, info))
        for info in pods:
            self._external_events.add_pod(info)
        for event in events:
            agenda.schedule(event.at, partial(self._apply_initial, event))

    def _apply_initial(self, event: SimulatedEvent) -> None:
        self._state.patience.note_lasting()  # what the caller asked for is never in vain
        self._external_events.apply(event)

    def _do_due(self) -> None:
        state = self._state
        state.agenda.do_due()
        if state.permit_waits:
            self._binding.settle_permit_waits()
        for handle in state.scheduler.handles.values():
            if handle.activated:
                activated, handle.activated = handle.activated, []
                state.queue.activate(activated)

    def _wait(self) -> RunEnd | None:
        """Move the clock to when anything can happen next; return why the run ends if nothing can."""
        state, options = self._state, self._options
        next_at = state.agenda.next_at
        # no attempt can end differently for pods that have seen the world as it is
        if next_at is None and not any(queued.seen != state.world for queued in state.queue):
            return RunEnd.STUCK if any(outcome.is_pending for outcome in state.facts.pods.values()) else RunEnd.SETTLED
        times = (next_at, state.queue.next_expiry, state.queue.next_timeout())
        until = min((time for time in times if time is not None), default=None)
        if until is None:  # only pods that no plugin will let go on are left
            return RunEnd.STUCK
        if options.horizon is not None and until > options.horizon:
            state.clock.advance(max(options.horizon, state.clock.now))
            return RunEnd.HORIZON
        if not state.agenda.is_lasting and self._is_in_vain(until):
            state.facts.period = state.patience.period
            return RunEnd.PATIENCE if state.facts.period is None else RunEnd.REPEATING
        state.clock.advance(until)
        state.queue.flush()
        for queued in state.queue:
            if queued.place is Place.GATED and queued.flushed == until:
                queued.seen = state.world  # asked again, and kept out again
        return None

    def _is_in_vain(self, until: float) -> bool:
        """Return whether nothing lasting came about for long, or for as long as it takes to come back to where it was.

        Args:
            until: when anything happens next.
        """
        patience = self._state.patience
        if self._recurrence is not None and patience.period is None:
            period = self._recurrence.period(until)
            if period is not None:
                patience.skip_periods(period)
        return patience.ends_by(until)

    def _attempt_group(self, entry: QueuedGroup) -> None:
        """Try to schedule a group, and do what follows."""
        if self._state.patience.is_circling(entry.members[0].info):
            self._state.facts.end = RunEnd.PATIENCE
        self._group_cycles.attempt(entry)

    def _attempt(self, queued: QueuedPod) -> None:
        """Try to schedule a pod, and do what follows."""
        state, info = self._state, queued.info
        state.outcome_of(info).attempts += 1
        state.facts.attempts += 1
        queued.seen = state.world
        if state.patience.is_circling(info):
            state.facts.end = RunEnd.PATIENCE
        if info.is_terminating:
            state.queue.done(queued)
            return
        refusal = self._refusals.get(queued)
        if refusal is not None:
            state.facts.remembered += 1
            self._requeue.refuse(queued, refusal)
            return
        try:
            self._schedule(queued)
        except NotModelled as missing:
            state.queue.done(queued)
            state.leave_unanswered(info, str(missing))

    def _schedule(self, queued: QueuedPod) -> None:
        scheduler, sampling = self._state.scheduler, self._options.sampling
        attempt = scheduler.attempt(queued.info, sampling=sampling, admitted=True, make_room=self._options.make_room)
        if sampling:
            scheduler.rotate(attempt)
        if attempt.fits:
            self._binding.place(queued, attempt)
        elif attempt.error:
            self._requeue.fail(queued, attempt.error)
        elif not attempt.total_nodes:
            self._requeue.fail(queued, fit_error(attempt), rejected=True)
        else:
            refusal = Refusal.of(attempt)
            if not sampling:  # a sample of other nodes may find one
                self._refusals.add(attempt, refusal)
            self._requeue.refuse(queued, refusal, attempt)

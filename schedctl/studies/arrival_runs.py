"""The run loop for pods that arrive and go: one scheduling cycle for each arrival, and what came of it over time.

A pod that fits nowhere is dropped. Where it is to be tried again, by the rules of kube-scheduler's queue, the run is
one of `schedctl.simulation.runs` with the same arrivals (`run_with_queue`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count

import msgspec
from typing_extensions import override

from schedctl.cache.pod_info import PodInfo
from schedctl.errors import UsageError
from schedctl.scheduler import Scheduler
from schedctl.simulation.events import Controller, EventAction, SimulatedEvent
from schedctl.simulation.outcomes import Run
from schedctl.simulation.runs import Options, Progress, run
from schedctl.simulation.tie_breaking import TieBreaker, first_by_name
from schedctl.studies.arrivals import Arrival


class RunCounts(msgspec.Struct):
    """What has come about so far.

    Attributes:
        now: seconds on the clock of the run.
        arrived: how many pods have come.
        bound: how many of them found a node.
        dropped: how many did not.
        gone: how many have left their node again.
        attempts: how many scheduling cycles there have been.
    """

    now: float = 0.0
    arrived: int = 0
    bound: int = 0
    dropped: int = 0
    gone: int = 0
    attempts: int = 0


class RunObserver:
    """Hears what happens in a run. Inherit and override; here it does nothing.

    Each is called after the cluster has changed, so that it may be read.
    """

    def on_start(self, scheduler: Scheduler, counts: RunCounts) -> None:
        """Called before the first arrival."""

    def on_arrived(self, arrival: Arrival) -> None:
        """Called when a pod has come, before it is tried for the first time."""

    def on_bound(self, arrival: Arrival, node: str) -> None:
        """Called when a pod is bound."""

    def on_dropped(self, arrival: Arrival, message: str) -> None:
        """Called when a pod fits nowhere and is not tried again, with what went wrong."""

    def on_gone(self, arrival: Arrival, node: str) -> None:
        """Called when a pod has left its node at the end of its lifetime."""

    def on_evicted(self, pod: PodInfo, node: str) -> None:
        """Called when a pod that ran before the first arrival has left its node."""

    def on_arrival_done(self) -> None:
        """Called after each arrival, whatever came of it; in a run with a queue, just before the next one."""


class ArrivalRun(msgspec.Struct):
    """A run in which a pod that fits nowhere is dropped; the cluster is changed.

    Attributes:
        scheduler: whose cluster and profiles are used.
        choose: which of several equally good nodes is taken.
        sampling: look at as many nodes as kube-scheduler would, instead of all.
        horizon: end when the clock reaches so many seconds, None for after the last arrival.
        observers: hear what happens, in this order.
        counts: what has come about.
    """

    scheduler: Scheduler
    choose: TieBreaker = first_by_name
    sampling: bool = False
    horizon: float | None = None
    observers: Sequence[RunObserver] = ()
    counts: RunCounts = msgspec.field(default_factory=RunCounts)
    _departures: list[tuple[float, int, Arrival, str]] = msgspec.field(default_factory=list)
    _numbers: Iterator[int] = msgspec.field(default_factory=count)

    def run(self, arrivals: Iterable[Arrival]) -> RunCounts:
        """Run to the end.

        Args:
            arrivals: the pods, in the order of their times.

        Raises:
            UsageError: a profile does not serve a pod, or times go back.
        """
        for observer in self.observers:
            observer.on_start(self.scheduler, self.counts)
        for arrival in arrivals:
            if arrival.at < self.counts.now:
                raise UsageError(f"pod {arrival.pod.key} arrives at {arrival.at} s, before {self.counts.now} s")
            self._depart(arrival.at)
            if self.horizon is not None and arrival.at > self.horizon:
                break
            self.counts.now = arrival.at
            self._arrive(arrival)
        if self.horizon is not None:
            self._depart(self.horizon)
            self.counts.now = max(self.counts.now, self.horizon)
        return self.counts

    def _arrive(self, arrival: Arrival) -> None:
        self.counts.arrived += 1
        for observer in self.observers:
            observer.on_arrived(arrival)
        node, message = self._place(arrival)
        if node:
            self.counts.bound += 1
            if arrival.lifetime is not None:
                heappush(self._departures, (arrival.at + arrival.lifetime, next(self._numbers), arrival, node))
            for observer in self.observers:
                observer.on_bound(arrival, node)
        else:
            self.counts.dropped += 1
            for observer in self.observers:
                observer.on_dropped(arrival, message)
        for observer in self.observers:
            observer.on_arrival_done()

    def _place(self, arrival: Arrival) -> tuple[str, str]:
        """Return the node that a pod is bound to, or "" and why there is none."""
        scheduler, pod = self.scheduler, arrival.pod
        if scheduler.profile_of(pod) is None:
            raise UsageError(f'no profile serves schedulerName "{pod.pod.spec.scheduler_name}" of pod {pod.key}')
        self.counts.attempts += 1
        attempt = scheduler.attempt(pod, sampling=self.sampling, make_room=False, lazy=True)
        if self.sampling:
            scheduler.rotate(attempt)
        if not attempt.fits:
            return "", attempt.error or "no node is feasible"
        node = self.choose(attempt, 1)
        reservation = scheduler.place(attempt, node)
        status = reservation.status
        if reservation.waits:
            scheduler.release(attempt, node, status)
            return "", "Permit holds the pod back, and a run that drops pods does not wait: `pending: retry` does"
        if status.successful:
            status = scheduler.bind(attempt, node)
        return (node, "") if status.successful else ("", status.message)

    def _depart(self, until: float) -> None:
        """Let those go whose time is over by then."""
        while self._departures and self._departures[0][0] <= until:
            at, _, arrival, node = heappop(self._departures)
            self.counts.now = max(self.counts.now, at)
            self.counts.gone += 1
            self.scheduler.cluster.remove_pod(arrival.pod)
            for observer in self.observers:
                observer.on_gone(arrival, node)


class _ArrivalController(Controller):
    """Lets pods go when their time is over, and has observers hear of what happens in a run with a queue."""

    def __init__(self, arrivals: Mapping[str, Arrival], observers: Sequence[RunObserver]) -> None:
        self._arrivals, self._observers = arrivals, observers
        self.counts = RunCounts()

    def end_arrival(self) -> None:
        """Have observers hear that the latest arrival is over."""
        for observer in self._observers if self.counts.arrived else ():
            observer.on_arrival_done()

    @override
    def on_arrival(self, pod: PodInfo) -> None:
        arrival = self._arrivals.get(pod.key)
        if arrival is None:
            return
        self.end_arrival()
        self.counts.arrived += 1
        self.counts.now = arrival.at
        for observer in self._observers:
            observer.on_arrived(arrival)

    @override
    def on_bound(self, pod: PodInfo, node_name: str) -> Iterable[SimulatedEvent]:
        arrival = self._arrivals.get(pod.key)
        if arrival is None:
            return ()
        self.counts.bound += 1
        for observer in self._observers:
            observer.on_bound(arrival, node_name)
        if arrival.lifetime is None:
            return ()
        return (SimulatedEvent(pod, EventAction.DELETE, arrival.lifetime, grace=0.0),)

    @override
    def on_deletion(self, pod: PodInfo, node_name: str) -> Iterable[SimulatedEvent]:
        arrival = self._arrivals.get(pod.key)
        if not node_name:
            return ()
        if arrival is not None:
            self.counts.gone += 1
        for observer in self._observers:
            if arrival is not None:
                observer.on_gone(arrival, node_name)
            else:
                observer.on_evicted(pod, node_name)
        return ()


class _AttemptCounter(Progress):
    """Counts the attempts of a run with a queue."""

    def __init__(self, counts: RunCounts) -> None:
        self._counts = counts

    @override
    def on_attempt(self, run: Run, queued: int) -> None:
        self._counts.attempts = run.attempts


def run_with_queue(
    scheduler: Scheduler,
    arrivals: Iterable[Arrival],
    *,
    choose: TieBreaker = first_by_name,
    sampling: bool = False,
    horizon: float | None = None,
    observers: Sequence[RunObserver] = (),
) -> Run:
    """Return the facts of a run in which pods wait in kube-scheduler's queue, preempt, and are tried again.

    Args:
        scheduler: whose cluster, profiles and backoff are used; the cluster is changed.
        arrivals: the pods.
        choose: which of several equally good nodes is taken.
        sampling: look at as many nodes as kube-scheduler would, instead of all.
        horizon: end when the clock reaches so many seconds, None for when nothing can move any more.
        observers: hear what happens, in this order; nothing is ever dropped.
    """
    every = list(arrivals)
    controller = _ArrivalController({each.pod.key: each for each in every}, observers)
    for observer in observers:
        observer.on_start(scheduler, controller.counts)
    events = [SimulatedEvent(each.pod, at=each.at) for each in every]
    options = Options(choose=choose, sampling=sampling, trace=False, horizon=horizon)
    progress = _AttemptCounter(controller.counts)
    facts = run(scheduler, (), options=options, events=events, controller=controller, progress=progress)
    controller.end_arrival()
    return facts

"""The scheduling queue: who is tried next, who backs off, and who waits for something to happen.

The rules, names and numbers are those of kube-scheduler's ``PriorityQueue``; without SchedulerPopFromBackoffQ it is
the one of before that feature. `hints` says
which event may help whom; time is the `Clock`'s, which nothing here moves.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from schedctl.cache.pod_info import PodInfo
from schedctl.engine import answers
from schedctl.engine.calls import DIRECT
from schedctl.engine.clocks import Clock
from schedctl.engine.faults import CycleError
from schedctl.engine.queue.hints import Hints, Strategy
from schedctl.engine.queue.intervals import FLUSH_INTERVAL, MAX_UNSCHEDULABLE, WINDOW
from schedctl.framework import events
from schedctl.framework.events import ClusterEvent
from schedctl.framework.points import QueueSortPlugin
from schedctl.framework.statuses import Status, error
from schedctl.releases import ReleaseChange

_NANO = 10**9


class Place(Enum):
    """Where in the queue a pod is."""

    ACTIVE = "Active"  # next to be tried, in the order of QueueSort
    BACKOFF = "Backoff"  # an attempt failed: until its time is up, or nothing else is active (KEP-5142)
    UNSCHEDULABLE = "Unschedulable"  # until an event that its rejectors care about, or for five minutes
    GATED = "Gated"  # unschedulable because PreEnqueue keeps it out
    IN_FLIGHT = "InFlight"  # being scheduled or waiting for Permit; events are kept for the case that it comes back


class QueuedPod:
    """A pod and what the queue knows of it.

    Attributes:
        info: the pod, as it was last updated.
        place: where it is; None once it is out of the queue.
        timestamp: when it came to the queue, or came back from an attempt.
        stamp: the same as a number that no two pods share, which settles ties.
        attempts: how often it was taken out to be scheduled.
        unschedulable_count: how many of the attempts were refused.
        error_count: how many in a row ended in a fault.
        expiration: when its backoff ends, None where it is not worked out.
        unschedulable_plugins: who refused it last.
        pending_plugins: who said Pending.
        gating_plugin: who keeps it out, "" for nobody.
        gate: what that plugin says.
        flushed: when it was last tried again for no other reason than that it had waited long.
        seen: for whoever runs the queue: what the world was like when it was last tried or kept out.
    """

    __slots__ = (
        "attempts",
        "equivalence_group",
        "error_count",
        "expiration",
        "flushed",
        "gate",
        "gating_plugin",
        "info",
        "key",
        "pending_plugins",
        "place",
        "seen",
        "stamp",
        "timestamp",
        "token",
        "unschedulable_count",
        "unschedulable_plugins",
    )

    def __init__(self, info: PodInfo, timestamp: float, stamp: int) -> None:
        self.info = info
        self.place: Place | None = None
        self.timestamp = timestamp
        self.stamp = stamp
        self.attempts = 0
        self.unschedulable_count = 0
        self.error_count = 0
        self.expiration: float | None = None
        self.unschedulable_plugins: frozenset[str] = frozenset()
        self.pending_plugins: frozenset[str] = frozenset()
        self.gating_plugin = ""
        self.gate: Status | None = None
        self.flushed = -math.inf
        self.seen: Any = None
        self.key: Any = None  # what it is sorted by
        self.equivalence_group: Any = None  # the group of the unschedulable it is in
        self.token = 0  # of its one valid entry in a heap

    def __repr__(self) -> str:
        return f"QueuedPod({self.info.key}, {self.place and self.place.value})"


Mover = Callable[[QueuedPod, "Place | None", str], None]
"""Called after a move with the pod, where it was before (None for nowhere), and the label of what moved it."""


@dataclass(frozen=True, slots=True)
class _Occurrence:
    event: ClusterEvent
    before: Any
    after: Any
    strategies: dict[Hashable, Strategy] = field(default_factory=dict)  # what it means for pods of one group


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long a pod backs off after an attempt that failed: twice as long each time, up to a maximum.

    Attributes:
        initial: seconds after the first.
        maximum: seconds at most; 0 for no backoff at all.
    """

    initial: int = 1
    maximum: int = 10

    def duration(self, count: int) -> float:
        """Return how many seconds it is after so many attempts."""
        shift = count - 1
        initial, maximum = self.initial * _NANO, self.maximum * _NANO
        # the maximum is shifted down, as upstream does it: the initial backoff shifted up would overflow Go's int64
        return (maximum if initial > maximum >> shift else initial << shift) / _NANO


class SchedulingQueue:
    """All pods that want a node.

    Attributes:
        clock: its time.
        hints: who hears of what.
    """

    def __init__(self, hints: Hints, clock: Clock, backoff: Backoff | None = None, moved: Mover | None = None) -> None:
        self.clock = clock
        self.hints = hints
        self._backoff = backoff or Backoff()
        self._moved = moved or (lambda queued, before, event: None)
        self._sort: QueueSortPlugin = next(iter(hints.profiles.values())).queue_sort[0]
        self._pods: dict[str, QueuedPod] = {}
        self._counts = dict.fromkeys(Place, 0)
        self._stamps = 0
        self._tokens = 0
        self._active = _Heap(Place.ACTIVE)
        self._backing_off = _Heap(Place.BACKOFF)
        self._erring = _Heap(Place.BACKOFF)
        self._pool: dict[Any, dict[str, QueuedPod]] = {}
        self._in_flight: dict[str, int] = {}
        self._occurrences: list[_Occurrence] = []
        # pods in flight remember how many occurrences came before them, counted from the very first; those that nobody
        # needs any more are cut off the front of the list, and this says how many that were
        self._forgotten = 0
        self._next_flush = 0.0
        self._form: Any = None  # what all sort keys have in common
        release = hints.release
        self._pops_from_backoff = release.enabled("SchedulerPopFromBackoffQ")
        self._asks_gates_again = release.includes(ReleaseChange.GATES_ASKED_AGAIN)
        self._asks_activated = not release.includes(ReleaseChange.ADMITTED_ACTIVATIONS)

    # -- reading -----------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._pods)

    def __iter__(self) -> Iterator[QueuedPod]:
        return iter(self._pods.values())

    def get(self, key: str) -> QueuedPod | None:
        """Return a pod by ``namespace/name``, None if it is not in the queue."""
        return self._pods.get(key)

    def count(self, place: Place) -> int:
        """Return how many pods are in a place."""
        return self._counts[place]

    @property
    def next_expiry(self) -> float | None:
        """When the next backoff is over and its pod becomes active by itself, None where no pod backs off."""
        first = [queued for heap in (self._backing_off, self._erring) if (queued := heap.first) is not None]
        # the first look after its end, never the one at its very end: a window later where ends are those of windows
        return max(_window(min(map(self._ends, first))) + WINDOW, self.clock.now) if first else None

    def next_timeout(self, among: Callable[[QueuedPod], bool] = lambda queued: True) -> float | None:
        """Return when the first of the unschedulable pods, or of these, has waited so long that it is tried again."""
        waiting = (queued for queued in self._flushed() if among(queued))
        since = min((max(queued.timestamp, queued.flushed) for queued in waiting), default=None)
        if since is None:
            return None
        # the first look after it has waited for longer, never the one at which it has waited for exactly as long
        ticks = math.floor((since + MAX_UNSCHEDULABLE) / FLUSH_INTERVAL) + 1
        return max(ticks * FLUSH_INTERVAL, self.clock.now)

    def reacts_to(self, event: ClusterEvent) -> bool:
        """Return whether telling of an event could have any effect now."""
        if not self._pool and not self._in_flight:
            return False
        return self.hints.has_listeners(event)

    # -- changing ----------------------------------------------------------------

    def add(self, info: PodInfo) -> QueuedPod:
        """Take in a new pod.

        Raises:
            ValueError: a pod of that key is in the queue already.
        """
        if info.key in self._pods:
            raise ValueError(f"pod {info.key} is in the queue already")
        queued = self._pods[info.key] = QueuedPod(info, self.clock.now, self._stamp())
        try:
            self._to_active(queued, self._label(events.UNSCHEDULED_POD_ADD))
        except BaseException:  # `NotModelled`, out of PreEnqueue or QueueSort: the pod is nowhere in the queue then
            del self._pods[info.key]
            raise
        return queued

    def pop(self) -> QueuedPod | None:
        """Take out the pod to be tried next, which is then in flight; None where nobody is active or backs off.

        A pod that backs off after a fault is not taken before its time, and without SchedulerPopFromBackoffQ none is.
        """
        event = ""
        queued = self._active.pop()
        if queued is None:
            queued = self._backing_off.pop() if self._pops_from_backoff else None
            if queued is None:
                return None
            event = events.POP_FROM_BACKOFF_Q
        queued.attempts += 1
        self._in_flight[queued.info.uid] = self._forgotten + len(self._occurrences)
        self._move(queued, Place.IN_FLIGHT, event)
        return queued

    def done(self, queued: QueuedPod) -> None:
        """Say that a pod in flight will not come back, or that nothing that happened matters if it does."""
        self._land(queued.info.uid)
        if queued.place is Place.IN_FLIGHT:
            self._move(queued, None, "")
            del self._pods[queued.info.key]

    def land(self, queued: QueuedPod) -> None:
        """Say that what happens from here on does not matter if a pod in flight comes back: it is past Permit."""
        self._land(queued.info.uid)

    def requeue(
        self, queued: QueuedPod, unschedulable: frozenset[str] = frozenset(), pending: frozenset[str] = frozenset()
    ) -> None:
        """Take back a pod in flight whose attempt failed.

        Args:
            queued: the pod.
            unschedulable: the plugins that refused it; nobody after a fault, and after there was no node.
            pending: those that said Pending.
        """
        queued.unschedulable_plugins, queued.pending_plugins = unschedulable, pending
        if unschedulable or pending:
            queued.unschedulable_count += 1
            queued.error_count = 0
        else:
            queued.error_count += 1
        queued.timestamp, queued.stamp = self.clock.now, self._stamp()
        queued.expiration = None
        queued.flushed = -math.inf
        strategy = self._strategy_after(queued)  # before it lands, which forgets what happened while it was in flight
        self._land(queued.info.uid)
        self._requeue(queued, strategy, events.SCHEDULE_ATTEMPT_FAILURE)

    def update(self, before: PodInfo, after: PodInfo) -> None:
        """Replace a pod by its updated self, which may help it; a pod that is not in the queue is added."""
        queued = self._pods.get(before.key)
        if queued is None:
            self.add(after)
            return
        changes = events.pod_changes(before, after, target=True)
        if queued.place is Place.IN_FLIGHT:
            self._occurrences += (_Occurrence(event, before, after) for event in changes)
            queued.info = after
            return
        if queued.place in (Place.ACTIVE, Place.BACKOFF):
            queued.info = after
            if self._set_sort_key(queued):
                self._push(queued, queued.place)
            else:
                self._to_pool(queued, self._label(changes[0]))
            return
        # its group in the pool goes by what is written in the pod, so that it may be in another one from now on
        self._leave_pool(queued)
        queued.info = after
        self._enter_pool(queued)
        for event in changes:
            strategy = self._strategy(queued, event, before, after)
            if strategy is not Strategy.SKIP and self._requeue(queued, strategy, self._label(event)):
                return

    def touch(self, queued: QueuedPod) -> None:
        """Say that the status of a pod was written, in nothing that scheduling reads."""
        if queued.place in (Place.UNSCHEDULABLE, Place.GATED):
            strategy = self._strategy(queued, events.TARGET_POD_UPDATE, queued.info, queued.info)
            if strategy is not Strategy.SKIP:
                self._requeue(queued, strategy, self._label(events.TARGET_POD_UPDATE))

    def delete(self, info: PodInfo) -> None:
        """Forget a pod that is gone, unless it is in flight: then whoever took it out says that it is done."""
        queued = self._pods.get(info.key)
        if queued is None or queued.place is Place.IN_FLIGHT:
            return
        if queued.place in (Place.UNSCHEDULABLE, Place.GATED):
            self._leave_pool(queued)
        self._move(queued, None, "")
        del self._pods[info.key]

    def tell(
        self,
        event: ClusterEvent,
        before: Any,
        after: Any,
        among: Callable[[QueuedPod], bool] | None = None,
    ) -> None:
        """Tell of an event: pods it may help become active or back off.

        Args:
            event: what happened.
            before: the object before, None if it was added.
            after: the object after, None if it was deleted.
            among: which pods it could help at all; None for any.
        """
        if not self.hints.has_listeners(event):
            return
        moving: list[tuple[QueuedPod, Strategy]] = []
        for group in self._pool.values():
            first = next(iter(group.values()))  # hints say the same of all pods of a group
            if first.place is Place.GATED and not event.wildcard and not self.hints.hears(event, first.gating_plugin):
                continue
            strategy = self._strategy(first, event, before, after)
            if strategy is not Strategy.SKIP:
                moving += ((queued, strategy) for queued in group.values() if among is None or among(queued))
        # kube-scheduler goes through a map in random order; here pods move in the order in which they came
        for queued, strategy in sorted(moving, key=lambda each: each[0].stamp):
            self._requeue(queued, strategy, self._label(event))
        if self._in_flight:
            self._occurrences.append(_Occurrence(event, before, after))

    def activate(self, infos: Iterable[PodInfo]) -> None:
        """Make pods active at once, backoff or not, if PreEnqueue lets them; those in flight when they return."""
        for info in infos:
            queued = self._pods.get(info.key)
            if queued is None:
                continue
            if queued.place is Place.IN_FLIGHT:
                self._occurrences.append(_Occurrence(events.FORCE_ACTIVATE, None, queued.info))
            elif queued.place is Place.BACKOFF and not self._asks_activated:
                self._end_backoff(queued, events.FORCE_ACTIVATE.label)
            elif queued.place is not Place.ACTIVE:
                self._to_active(queued, events.FORCE_ACTIVATE.label)

    def flush(self) -> None:
        """Move pods whose time has come: those that have backed off long enough, or have waited too long."""
        now = self.clock.now
        for heap in (self._backing_off, self._erring):
            while (first := heap.first) is not None and self._ends(first) < _window(now):
                self._end_backoff(first, events.BACKOFF_COMPLETE)
        if now < self._next_flush:
            return
        self._next_flush = (math.floor(now / FLUSH_INTERVAL) + 1) * FLUSH_INTERVAL
        late = [queued for queued in self._flushed() if now - max(queued.timestamp, queued.flushed) > MAX_UNSCHEDULABLE]
        for queued in sorted(late, key=lambda queued: queued.stamp):
            queued.flushed = now  # its timestamp stays: the backoff is reckoned from the last attempt
            strategy = self._strategy(queued, events.UNSCHEDULABLE_TIMEOUT, None, None)
            self._requeue(queued, strategy, events.UNSCHEDULABLE_TIMEOUT.label)
        if late and self._in_flight:
            self._occurrences.append(_Occurrence(events.UNSCHEDULABLE_TIMEOUT, None, None))

    def _flushed(self) -> Iterator[QueuedPod]:
        """Yield the unschedulable pods that are tried again for no other reason than that they have waited long."""
        for group in self._pool.values():
            yield from (pod for pod in group.values() if self._asks_gates_again or pod.place is not Place.GATED)

    # -- moving ------------------------------------------------------------------

    def _label(self, event: ClusterEvent) -> str:
        return event.label_in(self.hints.release)

    def _stamp(self) -> int:
        self._stamps += 1
        return self._stamps

    def _move(self, queued: QueuedPod, to: Place | None, event: str) -> None:
        before, queued.place = queued.place, to
        if before is not None:
            self._counts[before] -= 1
        if to is not None:
            self._counts[to] += 1
        self._moved(queued, before, event)

    def _requeue(self, queued: QueuedPod, strategy: Strategy, event: str) -> bool:
        """Put a pod where it belongs in the light of an event, and return whether it is to be tried again."""
        if strategy is Strategy.SKIP:
            self._to_pool(queued, event)
            return False
        if strategy is Strategy.AFTER_BACKOFF and self._backs_off(queued):
            return self._to_backoff(queued, event)
        return self._to_active(queued, event)

    def _to_active(self, queued: QueuedPod, event: str) -> bool:
        if not self._admit(queued, event):
            return False
        self._activate(queued, event)
        return True

    def _activate(self, queued: QueuedPod, event: str) -> None:
        """Make a pod active that PreEnqueue has let in."""
        if queued.place in (Place.UNSCHEDULABLE, Place.GATED):
            self._leave_pool(queued)
        self._push(queued, Place.ACTIVE)
        self._move(queued, Place.ACTIVE, event)

    def _end_backoff(self, queued: QueuedPod, event: str) -> None:
        """Make a pod active that backs off."""
        if self._pops_from_backoff:  # PreEnqueue let it in when it began to back off, since it could be popped
            self._activate(queued, event)
        else:
            self._to_active(queued, event)

    def _to_backoff(self, queued: QueuedPod, event: str) -> bool:
        if self._pops_from_backoff and not self._admit(queued, event):
            return False
        if queued.place in (Place.UNSCHEDULABLE, Place.GATED):
            self._leave_pool(queued)
        self._push(queued, Place.BACKOFF)
        self._move(queued, Place.BACKOFF, event)
        return True

    def _to_pool(self, queued: QueuedPod, event: str) -> None:
        if queued.place in (Place.UNSCHEDULABLE, Place.GATED):
            self._leave_pool(queued)
        place = Place.GATED if queued.gating_plugin else Place.UNSCHEDULABLE
        self._enter_pool(queued)
        if queued.place is not place:
            self._move(queued, place, event)

    def _admit(self, queued: QueuedPod, event: str) -> bool:
        """Ask the PreEnqueue plugins, the one that refused last time first; a pod refused is gated."""
        plugins = self.hints.profiles[queued.info.pod.spec.scheduler_name].pre_enqueue
        gating = queued.gating_plugin
        for plugin in sorted(plugins, key=lambda plugin: plugin.name != gating) if gating else plugins:
            status = DIRECT.pre_enqueue(plugin, queued.info)
            if not status.successful:
                if queued.place in (Place.UNSCHEDULABLE, Place.GATED):
                    self._leave_pool(queued)
                queued.unschedulable_plugins |= {plugin.name}
                queued.gating_plugin, queued.gate = plugin.name, status.by(plugin.name)
                self._to_pool(queued, event)
                return False
        if not self._set_sort_key(queued):
            self._to_pool(queued, event)
            return False
        queued.gating_plugin, queued.gate = "", None
        return True

    def _set_sort_key(self, queued: QueuedPod) -> bool:
        """Find out what to sort a pod by; without that it is gated by QueueSort, whose fault is the gate."""
        sort = self._sort
        try:
            queued.key = DIRECT.sort_key(sort, queued.info, queued.timestamp)
            form = answers.form(queued.key)
            if self._form is None:
                self._form = form
            if form == self._form:
                return True
            fault = CycleError(f'plugin "{sort.name}" failed: sort_key returned what cannot be compared with the first')
        except CycleError as wrong:
            fault = wrong
        if queued.place in (Place.UNSCHEDULABLE, Place.GATED):
            self._leave_pool(queued)
        queued.gating_plugin, queued.gate = sort.name, error(str(fault)).by(sort.name)
        return False

    def _push(self, queued: QueuedPod, place: Place) -> None:
        """Give a pod its position in the order of a place, instead of any it has."""
        self._tokens += 1
        queued.token = self._tokens
        if place is Place.ACTIVE:
            self._active.push((queued.key, queued.stamp), queued)
        elif queued.unschedulable_plugins or queued.pending_plugins:
            in_window = (queued.key,) if self._pops_from_backoff else ()
            self._backing_off.push((self._ends(queued), *in_window, queued.stamp), queued)
        else:  # after a fault: a heap of its own, since `pop` must not take these before their time
            self._erring.push((self._ends(queued), queued.stamp), queued)

    def _backs_off(self, queued: QueuedPod) -> bool:
        # not over until the next window begins: upstream asks whether the end is before the window that has begun
        return self._ends(queued) >= self._align(self.clock.now)

    def _align(self, time: float) -> float:
        return _window(time) if self._pops_from_backoff else time

    def _ends(self, queued: QueuedPod) -> float:
        """Return when a pod's backoff ends: in the past where it has none."""
        count = queued.error_count or queued.unschedulable_count
        if not self._backoff.maximum or not count:
            return -math.inf
        if queued.expiration is None:
            ends = queued.timestamp + self._backoff.duration(count)
            queued.expiration = self._align(ends)
        return queued.expiration

    # -- the unschedulable -------------------------------------------------------

    def _enter_pool(self, queued: QueuedPod) -> None:
        queued.equivalence_group = self._group_of(queued)
        self._pool.setdefault(queued.equivalence_group, {})[queued.info.key] = queued

    def _group_of(self, queued: QueuedPod) -> Hashable:
        """Return what is equal for pods of which hints say the same."""
        rejectors = queued.unschedulable_plugins | queued.pending_plugins
        key = self.hints.equivalence_key(queued.info, rejectors) if rejectors else queued.info.key
        return key, queued.unschedulable_plugins, queued.pending_plugins, queued.gating_plugin

    def _leave_pool(self, queued: QueuedPod) -> None:
        group = self._pool.get(queued.equivalence_group, {})
        if group.pop(queued.info.key, None) is not None and not group:
            del self._pool[queued.equivalence_group]

    def _strategy(self, queued: QueuedPod, event: ClusterEvent, before: Any, after: Any) -> Strategy:
        return self.hints.strategy(
            queued.info, queued.unschedulable_plugins, queued.pending_plugins, event, before, after
        )

    # -- in flight ---------------------------------------------------------------

    def _strategy_after(self, queued: QueuedPod) -> Strategy:
        """Return what all that happened while a pod was in flight means for it."""
        if not queued.unschedulable_plugins and not queued.pending_plugins:
            return Strategy.AFTER_BACKOFF
        if queued.info.uid not in self._in_flight:  # it landed, at Permit: what happened since was not written down
            return Strategy.AFTER_BACKOFF
        strategy = Strategy.SKIP
        since = self._in_flight[queued.info.uid] - self._forgotten
        group = self._group_of(queued) if len(self._occurrences) > since else None
        for occurrence in self._occurrences[since:]:
            strategy = max(strategy, self._strategy_of(occurrence, queued, group))
            # only hints of plugins that said Pending let a pod skip its backoff
            if strategy is Strategy.IMMEDIATELY or (strategy and not queued.pending_plugins):
                break
        return strategy

    def _strategy_of(self, occurrence: _Occurrence, queued: QueuedPod, group: Hashable) -> Strategy:
        """Return what an occurrence means for a pod of a group, of which all hear the same of what is about others."""
        event = occurrence.event
        if event.wildcard or event.resource is events.Resource.TARGET_POD:
            return self._strategy(queued, event, occurrence.before, occurrence.after)
        known = occurrence.strategies.get(group)
        if known is None:
            known = self._strategy(queued, event, occurrence.before, occurrence.after)
            occurrence.strategies[group] = known
        return known

    def _land(self, uid: str) -> None:
        """Stop writing down for a pod, and forget what nobody needs any more."""
        if self._in_flight.pop(uid, None) is None or not self._occurrences:
            return
        needed = min(self._in_flight.values(), default=self._forgotten + len(self._occurrences))
        if needed > self._forgotten:
            del self._occurrences[: needed - self._forgotten]
            self._forgotten = needed


def _window(time: float) -> float:
    """Return when the window of a time begins; -inf stays what it is."""
    return math.floor(time / WINDOW) * WINDOW if math.isfinite(time) else time


class _Heap:
    """Pods of one place in order. One that has moved elsewhere leaves its entry behind, which is dropped in time."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._entries: list[tuple[Any, int, QueuedPod]] = []

    @property
    def first(self) -> QueuedPod | None:
        """The first pod, None where there is none."""
        while self._entries:
            _, token, queued = self._entries[0]
            if queued.place is self._place and queued.token == token:
                return queued
            heapq.heappop(self._entries)
        return None

    def push(self, key: Any, queued: QueuedPod) -> None:
        """Add a pod in front of those with larger keys."""
        heapq.heappush(self._entries, (key, queued.token, queued))

    def pop(self) -> QueuedPod | None:
        """Remove and return the first pod."""
        first = self.first
        if first is not None:
            heapq.heappop(self._entries)
        return first

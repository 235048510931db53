"""The scheduling queue: who is tried next, who backs off, and who waits for something to happen.

The rules, names and numbers are those of kube-scheduler's ``PriorityQueue``; without SchedulerPopFromBackoffQ it is
the one of before that feature. `hints` says
which event may help whom; time is the `Clock`'s, which nothing here moves.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

import msgspec

from schedctl.cache.pod_info import PodInfo
from schedctl.engine.calls import DIRECT
from schedctl.engine.clocks import Clock
from schedctl.engine.faults import CycleError
from schedctl.engine.queue.entries import Entry, Place, QueuedPod
from schedctl.engine.queue.hints import Hints, Strategy
from schedctl.engine.queue.in_flight import InFlight, Occurrence
from schedctl.engine.queue.intervals import FLUSH_INTERVAL, MAX_UNSCHEDULABLE, WINDOW
from schedctl.framework import events
from schedctl.framework.events import ClusterEvent
from schedctl.framework.points import QueueSortPlugin
from schedctl.framework.statuses import error
from schedctl.releases import ReleaseChange

_NANO = 10**9


Mover = Callable[[QueuedPod, "Place | None", str], None]
"""Called after a move with the pod, where it was before (None for nowhere), and the label of what moved it."""


class Backoff(msgspec.Struct, frozen=True):
    """How long a pod backs off after an attempt that failed: twice as long each time, up to a maximum.

    Attributes:
        initial: seconds after the first.
        maximum: seconds at most; 0 for no backoff at all.
    """

    initial: int = 1
    maximum: int = 10

    @property
    def longest_from(self) -> int:
        """After how many attempts of a pod it is as long as after any more."""
        return next(count for count in itertools.count(1) if self.duration(count) >= self.maximum)

    def duration(self, count: int, size: int = 1) -> float:
        """Return how many seconds it is after so many attempts, of a group of so many pods."""
        shift = count - 1
        initial, maximum = self.initial * _NANO, self.maximum * _NANO
        if size > 1:
            maximum = int(maximum * math.sqrt(size))
        # the maximum is shifted down, as upstream does it: the initial backoff shifted up would overflow Go's int64
        return (maximum if initial > maximum >> shift else initial << shift) / _NANO


class SchedulingQueue:
    """All pods that want a node.

    Attributes:
        clock: its time.
        hints: who hears of what.
        backoff: how long pods back off.
        in_flight: the pods that are tried.
    """

    def __init__(self, hints: Hints, clock: Clock, backoff: Backoff | None = None, moved: Mover | None = None) -> None:
        self.clock = clock
        self.hints = hints
        self.backoff = backoff or Backoff()
        self._moved = moved or (lambda queued, before, event: None)
        self._sort: QueueSortPlugin = next(iter(hints.profiles.values())).queue_sort[0]
        self._pods: dict[str, QueuedPod] = {}
        self._counts = dict.fromkeys(Place, 0)
        self._stamps = 0
        self._tokens = 0
        self._active = _Heap(Place.ACTIVE)
        self._backing_off = _Heap(Place.BACKOFF)
        self._erring = _Heap(Place.BACKOFF)
        self._pool: dict[Any, dict[str, Entry]] = {}
        self.in_flight = InFlight()
        self._next_flush = 0.0
        self._form: Any = None  # what all sort keys have in common
        release = hints.release
        self._pops_from_backoff = release.enabled("SchedulerPopFromBackoffQ")
        self._arrival = self._label(events.UNSCHEDULED_POD_ADD)
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

    def gate_of(self, queued: QueuedPod) -> Entry:
        """Return whose gate keeps a gated pod out."""
        return queued

    def count(self, place: Place) -> int:
        """Return how many pods are in a place."""
        return self._counts[place]

    @property
    def next_expiry(self) -> float | None:
        """When the next backoff is over and its pod becomes active by itself, None where no pod backs off."""
        first = [entry for heap in (self._backing_off, self._erring) if (entry := heap.first) is not None]
        # the first look after its end, never the one at its very end: a window later where ends are those of windows
        return max(_window(min(map(self._ends, first))) + WINDOW, self.clock.now) if first else None

    def next_timeout(self, among: Callable[[Entry], bool] = lambda entry: True) -> float | None:
        """Return when the first of the unschedulable pods, or of these, has waited so long that it is tried again."""
        waiting = (entry for entry in self._overdue() if among(entry))
        since = min((max(entry.timestamp, entry.flushed) for entry in waiting), default=None)
        if since is None:
            return None
        # the first look after it has waited for longer, never the one at which it has waited for exactly as long
        ticks = math.floor((since + MAX_UNSCHEDULABLE) / FLUSH_INTERVAL) + 1
        return max(ticks * FLUSH_INTERVAL, self.clock.now)

    def reacts_to(self, event: ClusterEvent) -> bool:
        """Return whether telling of an event could have any effect now."""
        if not self._pool and not self.in_flight:
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
            self._enter(queued, self._arrival)
        except BaseException:  # `NotModelled`, out of PreEnqueue or QueueSort: the pod is nowhere in the queue then
            del self._pods[info.key]
            raise
        return queued

    def pop(self) -> Entry | None:
        """Take out the pod or group to be tried next, which is then in flight; None where nobody is to be tried now.

        Who backs off after a fault is not taken before the time, and without SchedulerPopFromBackoffQ nobody is.
        """
        event = ""
        entry = self._active.pop()
        if entry is None:
            entry = self._backing_off.pop() if self._pops_from_backoff else None
            if entry is None:
                return None
            event = events.POP_FROM_BACKOFF_Q
        entry.attempts += 1
        for queued in entry.pods:
            if queued is not entry:
                queued.attempts += 1
            self.in_flight.begin(queued.info.uid)
        self._move(entry, Place.IN_FLIGHT, event)
        return entry

    def done(self, queued: QueuedPod) -> None:
        """Say that a pod in flight will not come back, or that nothing that happened matters if it does."""
        self.in_flight.land(queued.info.uid)
        if queued.place is Place.IN_FLIGHT:
            self._move(queued, None, "")
            del self._pods[queued.info.key]

    def land(self, queued: QueuedPod) -> None:
        """Say that what happens from here on does not matter if a pod in flight comes back: it is past Permit."""
        self.in_flight.land(queued.info.uid)

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
        self._return(queued)

    def update(self, before: PodInfo, after: PodInfo) -> None:
        """Replace a pod by its updated self, which may help it; a pod that is not in the queue is added."""
        queued = self._pods.get(before.key)
        if queued is None:
            self.add(after)
            return
        changes = events.pod_changes(before, after, target=True)
        if queued.place in (Place.IN_FLIGHT, Place.INCOMPLETE):
            if queued.info.uid in self.in_flight:
                for event in changes:
                    self.in_flight.note(event, before, after)
            queued.info = after
            return
        entry = self._entry_of(queued)
        if not entry.waits_in_pool:
            queued.info = after
            place = entry.place
            assert place is not None
            if self._set_sort_key(entry):
                self._push(entry, place)
            else:
                self._to_pool(entry, self._label(changes[0]))
            return
        # its group in the pool goes by what is written in the pod, so that it may be in another one from now on
        self._leave_pool(entry)
        queued.info = after
        self._enter_pool(entry)
        for event in changes:
            strategy = self._strategy(entry, event, before, after)
            if strategy is not Strategy.SKIP and self._requeue(entry, strategy, self._label(event)):
                return

    def touch(self, queued: QueuedPod) -> None:
        """Say that the status of a pod was written, in nothing that scheduling reads."""
        entry = self._entry_of(queued)
        if entry.waits_in_pool:
            strategy = self._strategy(entry, events.TARGET_POD_UPDATE, queued.info, queued.info)
            if strategy is not Strategy.SKIP:
                self._requeue(entry, strategy, self._label(events.TARGET_POD_UPDATE))

    def delete(self, info: PodInfo) -> None:
        """Forget a pod that is gone, unless it is in flight: then whoever took it out says that it is done."""
        queued = self._pods.get(info.key)
        if queued is None or queued.info.uid in self.in_flight:
            return
        self._drop(queued)
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
        moving: list[tuple[Entry, Strategy]] = []
        for group in self._pool.values():
            first = next(iter(group.values()))  # hints say the same of all that are equivalent
            if first.place is Place.GATED and not event.wildcard and not self.hints.hears(event, first.gating_plugin):
                continue
            strategy = self._strategy(first, event, before, after)
            if strategy is not Strategy.SKIP:
                moving += (
                    (entry, strategy) for entry in group.values() if among is None or any(map(among, entry.pods))
                )
        # kube-scheduler goes through a map in random order; here they move in the order in which they came
        for entry, strategy in sorted(moving, key=lambda each: each[0].stamp):
            self._requeue(entry, strategy, self._label(event))
        if self.in_flight:
            self.in_flight.note(event, before, after)

    def activate(self, infos: Iterable[PodInfo]) -> None:
        """Make pods active at once, backoff or not, if PreEnqueue lets them; those in flight when they return."""
        for info in infos:
            queued = self._pods.get(info.key)
            if queued is None:
                continue
            entry = self._entry_of(queued)
            if queued.info.uid in self.in_flight:
                self.in_flight.note(events.FORCE_ACTIVATE, None, queued.info)
            elif entry.place is Place.BACKOFF and not self._asks_activated:
                self._end_backoff(entry, events.FORCE_ACTIVATE.label)
            elif entry.place is Place.BACKOFF or entry.waits_in_pool:
                self._to_active(entry, events.FORCE_ACTIVATE.label)

    def flush(self) -> None:
        """Move pods whose time has come: those that have backed off long enough, or have waited too long."""
        now = self.clock.now
        for heap in (self._backing_off, self._erring):
            while (first := heap.first) is not None and self._ends(first) < _window(now):
                self._end_backoff(first, events.BACKOFF_COMPLETE)
        if now < self._next_flush:
            return
        self._next_flush = (math.floor(now / FLUSH_INTERVAL) + 1) * FLUSH_INTERVAL
        late = [entry for entry in self._overdue() if now - max(entry.timestamp, entry.flushed) > MAX_UNSCHEDULABLE]
        for entry in sorted(late, key=lambda entry: entry.stamp):
            entry.flush(now)  # its timestamp stays: the backoff is reckoned from the last attempt
            strategy = self._strategy(entry, events.UNSCHEDULABLE_TIMEOUT, None, None)
            self._requeue(entry, strategy, events.UNSCHEDULABLE_TIMEOUT.label)
        if late and self.in_flight:
            self.in_flight.note(events.UNSCHEDULABLE_TIMEOUT, None, None)

    def _overdue(self) -> Iterator[Entry]:
        """Yield the unschedulable that are tried again for no other reason than that they have waited long."""
        for group in self._pool.values():
            yield from (entry for entry in group.values() if self._asks_gates_again or entry.place is not Place.GATED)

    # -- moving ------------------------------------------------------------------

    def _label(self, event: ClusterEvent) -> str:
        return event.label_in(self.hints.release)

    def _stamp(self) -> int:
        self._stamps += 1
        return self._stamps

    def _move(self, entry: Entry, to: Place | None, event: str) -> None:
        """Let a pod be in another place, and tell of it."""
        (queued,) = entry.pods
        before, queued.place = queued.place, to
        if before is not None:
            self._counts[before] -= 1
        if to is not None:
            self._counts[to] += 1
        self._moved(queued, before, event)

    def _entry_of(self, queued: QueuedPod) -> Entry:
        """Return what a pod is queued as."""
        return queued

    def _enter(self, queued: QueuedPod, event: str) -> None:
        """Let a new pod in."""
        self._to_active(queued, event)

    def _return(self, queued: QueuedPod) -> None:
        """Let a pod in flight in again, in the light of what happened meanwhile."""
        strategy = self._strategy_after(queued)  # before it lands, which forgets what happened while it was in flight
        self.in_flight.land(queued.info.uid)
        self._requeue(queued, strategy, events.SCHEDULE_ATTEMPT_FAILURE)

    def _drop(self, queued: QueuedPod) -> None:
        """Take a pod out of the place it is in."""
        if queued.waits_in_pool:
            self._leave_pool(queued)

    def _requeue(self, entry: Entry, strategy: Strategy, event: str) -> bool:
        """Put an entry where it belongs in the light of an event, and return whether it is to be tried again."""
        if strategy is Strategy.SKIP:
            self._to_pool(entry, event)
            return False
        if strategy is Strategy.AFTER_BACKOFF and self._backs_off(entry):
            return self._to_backoff(entry, event)
        return self._to_active(entry, event)

    def _to_active(self, entry: Entry, event: str) -> bool:
        if not self._admit(entry, event):
            return False
        self._activate(entry, event)
        return True

    def _activate(self, entry: Entry, event: str) -> None:
        """Make an entry active that PreEnqueue has let in."""
        if entry.waits_in_pool:
            self._leave_pool(entry)
        self._push(entry, Place.ACTIVE)
        self._move(entry, Place.ACTIVE, event)

    def _end_backoff(self, entry: Entry, event: str) -> None:
        """Make an entry active that backs off."""
        if self._pops_from_backoff:  # PreEnqueue let it in when it began to back off, since it could be popped
            self._activate(entry, event)
        else:
            self._to_active(entry, event)

    def _to_backoff(self, entry: Entry, event: str) -> bool:
        if self._pops_from_backoff and not self._admit(entry, event):
            return False
        if entry.waits_in_pool:
            self._leave_pool(entry)
        self._push(entry, Place.BACKOFF)
        self._move(entry, Place.BACKOFF, event)
        return True

    def _to_pool(self, entry: Entry, event: str) -> None:
        if entry.waits_in_pool:
            self._leave_pool(entry)
        place = Place.GATED if entry.gating_plugin else Place.UNSCHEDULABLE
        self._enter_pool(entry)
        if entry.place is not place:
            self._move(entry, place, event)

    def _admit(self, entry: Entry, event: str) -> bool:
        """Ask the PreEnqueue plugins, who gate what they refuse; and QueueSort, without which nothing can be active."""
        if not self._pass_gates(entry) or not self._set_sort_key(entry):
            self._to_pool(entry, event)
            return False
        entry.gating_plugin, entry.gate = "", None
        return True

    def _pass_gates(self, entry: Entry) -> bool:
        """Ask the PreEnqueue plugins about each pod."""
        return all(map(self._passes, entry.pods))

    def _passes(self, queued: QueuedPod) -> bool:
        """Ask the PreEnqueue plugins, the one that refused last time first."""
        plugins = self.hints.profiles[queued.info.pod.spec.scheduler_name].pre_enqueue
        gating = queued.gating_plugin
        in_turn = sorted(plugins, key=lambda plugin: plugin.name != gating) if gating else plugins
        gate = DIRECT.gate(in_turn, queued.info)
        if gate is None:
            return True
        queued.unschedulable_plugins |= {gate.plugin}
        queued.gating_plugin, queued.gate = gate.plugin, gate
        return False

    def _set_sort_key(self, entry: Entry) -> bool:
        """Find out what to sort an entry by; without that it is gated by QueueSort, whose fault is the gate."""
        sort = self._sort
        try:
            entry.key, form = DIRECT.sort_key(sort, entry.sorted_as, entry.timestamp)
            if self._form is None:
                self._form = form
            if form == self._form:
                return True
            fault = CycleError(f'plugin "{sort.name}" failed: sort_key returned what cannot be compared with the first')
        except CycleError as wrong:
            fault = wrong
        entry.gating_plugin, entry.gate = sort.name, error(str(fault)).by(sort.name)
        return False

    def _push(self, entry: Entry, place: Place) -> None:
        """Give an entry its position in the order of a place, instead of any it has."""
        self._tokens += 1
        entry.token = self._tokens
        if place is Place.ACTIVE:
            self._active.push((entry.key, entry.stamp), entry)
        elif entry.unschedulable_plugins or entry.pending_plugins:
            in_window = (entry.key,) if self._pops_from_backoff else ()
            self._backing_off.push((self._ends(entry), *in_window, entry.stamp), entry)
        else:  # after a fault, and all groups: a heap of its own, since `pop` must not take these before their time
            self._erring.push((self._ends(entry), entry.stamp), entry)

    def _backs_off(self, entry: Entry) -> bool:
        # not over until the next window begins: upstream asks whether the end is before the window that has begun
        return self._ends(entry) >= self._align(self.clock.now)

    def _align(self, time: float) -> float:
        return _window(time) if self._pops_from_backoff else time

    def _ends(self, entry: Entry) -> float:
        """Return when a backoff ends: in the past where it has none."""
        count = entry.error_count or entry.unschedulable_count
        if not self.backoff.maximum or not count:
            return -math.inf
        if entry.expiration is None:
            ends = entry.timestamp + self.backoff.duration(count, len(entry.pods))
            entry.expiration = self._align(ends)
        return entry.expiration

    # -- the unschedulable -------------------------------------------------------

    def _enter_pool(self, entry: Entry) -> None:
        entry.equivalence_group = self._group_of(entry)
        self._pool.setdefault(entry.equivalence_group, {})[entry.name] = entry

    def _leave_pool(self, entry: Entry) -> None:
        group = self._pool.get(entry.equivalence_group, {})
        if group.pop(entry.name, None) is not None and not group:
            del self._pool[entry.equivalence_group]

    def _group_of(self, entry: Entry) -> Hashable:
        """Return what is equal for entries in the pool that hear the same of what happens to others."""
        key = self._equivalence_key(entry)
        return key, entry.unschedulable_plugins, entry.pending_plugins, entry.gating_plugin

    def _equivalence_key(self, entry: Entry) -> Hashable:
        """Return something that is equal for entries about which hints say the same."""
        rejectors = entry.unschedulable_plugins | entry.pending_plugins
        (queued,) = entry.pods
        return self.hints.equivalence_key(queued.info, rejectors) if rejectors else queued.info.key

    def _strategy(self, entry: Entry, event: ClusterEvent, before: Any, after: Any) -> Strategy:
        """Return what an event means for an entry: of what it means for its pods, the highest."""
        strategy = Strategy.SKIP
        for queued in entry.pods:
            strategy = max(strategy, self._strategy_of_pod(queued, event, before, after))
            if strategy is Strategy.IMMEDIATELY:
                break
        return strategy

    def _strategy_of_pod(self, queued: QueuedPod, event: ClusterEvent, before: Any, after: Any) -> Strategy:
        return self.hints.strategy(
            queued.info, queued.unschedulable_plugins, queued.pending_plugins, event, before, after
        )

    # -- in flight ---------------------------------------------------------------

    def _strategy_after(self, queued: QueuedPod) -> Strategy:
        """Return what all that happened while a pod was in flight means for it."""
        if not queued.unschedulable_plugins and not queued.pending_plugins:
            return Strategy.AFTER_BACKOFF
        if queued.info.uid not in self.in_flight:  # it landed, at Permit: what happened since was not written down
            return Strategy.AFTER_BACKOFF
        if not self.in_flight.has_missed(queued.info.uid):
            return Strategy.SKIP

        def ask(occurrence: Occurrence) -> Strategy:
            return self._strategy(queued, occurrence.event, occurrence.before, occurrence.after)

        # only hints of plugins that said Pending let a pod skip its backoff
        enough = Strategy.IMMEDIATELY if queued.pending_plugins else Strategy.AFTER_BACKOFF
        return self.in_flight.strategy(queued.info.uid, self._group_of(queued), ask, enough)


def _window(time: float) -> float:
    """Return when the window of a time begins; -inf stays what it is."""
    return math.floor(time / WINDOW) * WINDOW if math.isfinite(time) else time


class _Heap:
    """Entries of one place in order. What has moved elsewhere leaves a trace behind, which is dropped in time."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._entries: list[tuple[Any, int, Entry]] = []

    @property
    def first(self) -> Entry | None:
        """The first entry, None where there is none."""
        while self._entries:
            _, token, entry = self._entries[0]
            if entry.place is self._place and entry.token == token:
                return entry
            heapq.heappop(self._entries)
        return None

    def push(self, key: Any, entry: Entry) -> None:
        """Add an entry in front of those with larger keys."""
        heapq.heappush(self._entries, (key, entry.token, entry))

    def pop(self) -> Entry | None:
        """Remove and return the first entry."""
        first = self.first
        if first is not None:
            heapq.heappop(self._entries)
        return first

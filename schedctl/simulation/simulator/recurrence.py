"""Whether a run is back where it was before: what follows from there can only be what followed then.

A situation is all that the future of a run rests on, taken down between two moments at which anything happens. Times
are told from now on, and pods that are written alike are told apart by their places, not by their names.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from schedctl.api.sharing import content
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.batching.reading import signature_of
from schedctl.engine.faults import CycleError
from schedctl.engine.queue.entries import Place, QueuedPod
from schedctl.engine.queue.in_flight import Occurrence
from schedctl.engine.queue.intervals import FLUSH_INTERVAL, MAX_UNSCHEDULABLE, WINDOW
from schedctl.simulation.simulator.state import PermitWait, RunState

_NAME = re.compile(r"[a-z0-9][-a-z0-9.]*[a-z0-9]")
_encode = msgspec.msgpack.Encoder().encode
_replace = msgspec.structs.replace


class Recurrence:
    """Recognises situations in which a run has been since a pod was bound or went, or anybody else did anything.

    None is recognised while anything is due but the patience of Permit: all that is new in the cluster are then the
    pods that Permit holds back. Plugins are taken at their word that they keep nothing that the cluster does not show.
    """

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._seen_at: dict[bytes, float] = {}
        self._next_look = 0.0
        backoff = state.queue.backoff
        self._most_attempts, self._longest_backoff = backoff.longest_from, backoff.maximum + WINDOW
        self._classes: dict[Hashable, int] = {}
        self._class_of: dict[str, int] = {}

    def period(self, until: float) -> float | None:
        """Return how many seconds ago the situation was the same, None where it is new or is not looked at.

        Args:
            until: when anything happens next.
        """
        state, now = self._state, self._state.clock.now
        if now < self._next_look or now - state.patience.lasted_at < MAX_UNSCHEDULABLE:
            return None  # most runs end before, and pay nothing
        timeouts = {number for wait in state.permit_waits for number in wait.timeouts}
        if state.agenda.has_others(timeouts):
            return None
        # as often as the queue looks for pods that have waited long; of what repeats sooner several times are one
        self._next_look = (math.floor(now / FLUSH_INTERVAL) + 1) * FLUSH_INTERVAL
        before = self._seen_at.setdefault(self._digest(until), now)
        return now - before if before < now else None

    def _digest(self, until: float) -> bytes:
        state, cluster = self._state, self._state.cluster
        queue = sorted(state.queue, key=lambda queued: queued.stamp)  # which is by timestamp, too
        places = {queued.info.key: place for place, queued in enumerate(queue)}
        names = {queued.info.pod.metadata.name: str(place) for place, queued in enumerate(queue)}
        worded = {outcome.message: "" for outcome in state.facts.pods.values()}
        worded = {message: _NAME.sub(lambda found: names.get(found[0], found[0]), message) for message in worded}
        outranked = len({queued.info.priority for queued in queue}) > 1
        situation = (
            (state.patience.count, cluster.nodes_since, cluster.objects_since, cluster.next_start),
            state.clock.now % FLUSH_INTERVAL,
            [self._standing(queued, until, worded) for queued in queue],
            [one.timestamp == other.timestamp for one, other in pairwise(queue)],
            [places.get(key, key) for key in cluster.pending],
            [
                (node, [places.get(info.key, info.key) for info in state.nominator.pods(node)])
                for node in state.nominator
            ],
            [self._hold(wait, places) for wait in state.permit_waits],
            [(places.get(key, key), heard) for key, heard in self._in_flight(queue)],
            [_occurrence(each, places) for each in state.queue.in_flight.occurrences],
            # of pods that are assumed, the row decides which is preempted first
            self._rows() if outranked else (),
        )
        return hashlib.blake2b(_encode(situation), digest_size=32).digest()

    def _hold(self, wait: PermitWait, places: Mapping[str, int]) -> tuple[Any, ...]:
        """Return how Permit holds a pod back."""
        now, waiting = self._state.clock.now, wait.waiting
        until = [(plugin, at - now) for plugin, at in waiting.until.items()]
        return places[waiting.pod.key], waiting.node_name, until, list(waiting.waits.items()), wait.deleted

    def _in_flight(self, queue: Sequence[QueuedPod]) -> Iterator[tuple[str, int]]:
        """Yield the pods that are tried, in the order in which they set out, and what they no longer hear of."""
        keys = {queued.info.uid: queued.info.key for queued in queue}
        for uid, before in self._state.queue.in_flight.heard_before.items():
            yield keys[uid], before

    def _rows(self) -> tuple[Sequence[int], Sequence[int]]:
        """Return the rows of the pods that Permit holds back, and those that are free."""
        table = self._state.cluster.pod_table
        return [table.row_of[wait.waiting.pod.key] for wait in self._state.permit_waits], table.free_rows

    def _standing(self, queued: QueuedPod, until: float, worded: Mapping[str, str]) -> tuple[Any, ...]:
        """Return what a pod of the queue is like, and how it stands there."""
        state, now, outcome = self._state, self._state.clock.now, self._state.outcome_of(queued.info)
        refusals, faults, backs_off_until = queued.unschedulable_count, queued.error_count, queued.expiration
        if queued.place is Place.IN_FLIGHT or until - queued.timestamp > self._longest_backoff:
            # however long it backs off now, that is over by then, and counts are not read before they have grown
            refusals, faults, backs_off_until = refusals + 1, faults and faults + 1, None
        # how long ago something was makes no difference once the queue has looked, and all backoff is over
        long_ago = -(MAX_UNSCHEDULABLE + FLUSH_INTERVAL + self._longest_backoff)
        return (
            self._class(queued.info),
            queued.place and queued.place.value,
            max(queued.timestamp - now, long_ago),
            max(queued.flushed - now, long_ago),
            backs_off_until and max(backs_off_until - now, long_ago),
            min(refusals, self._most_attempts),
            min(faults, self._most_attempts),
            sorted(queued.unschedulable_plugins),
            sorted(queued.pending_plugins),
            queued.gating_plugin,
            queued.seen == state.world,
            worded[outcome.message],
            outcome.fault,
            outcome.nominated,
        )

    def _class(self, info: PodInfo) -> int:
        """Return what is equal for pods that are written alike, but for their names, and which plugins read alike."""
        known = self._class_of.get(info.uid)
        if known is None:
            pod, profile = info.pod, self._state.scheduler.profile_of(info)
            metadata = _replace(pod.metadata, name="", uid="", creation_timestamp=None)
            written = content(_replace(pod, metadata=metadata, status=_replace(pod.status, nominated_node_name="")))
            try:
                read = [signature_of(each, info) for each in profile.pod_specific_plugins.values()] if profile else []
            except CycleError:  # the pod's attempts tell of it
                written = None
            if written is None or pod.spec.resource_claims or pod.spec.volumes:  # claims may be called after their pod
                written, read = info.key.encode(), []
            known = self._class_of[info.uid] = self._classes.setdefault((written, *read), len(self._classes))
        return known


def _occurrence(occurrence: Occurrence, places: Mapping[str, int]) -> tuple[Any, ...]:
    """Return what has happened, and to which pod; to other objects nothing does without a trace in the cluster."""

    def about(subject: Any) -> Any:
        if not isinstance(subject, PodInfo):
            return subject is not None
        return places.get(subject.key, subject.key), subject.pod.spec.node_name, subject.pod.status.nominated_node_name

    return occurrence.event.label, about(occurrence.before), about(occurrence.after)

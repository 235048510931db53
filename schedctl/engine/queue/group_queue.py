"""The scheduling queue with pod groups (GenericWorkload): the pods of a group enter, wait and leave as one.

A pod of a group is in one of four states: its group is not there, the group is queued, the group is in its cycle and
the pod comes back from it, or the pod itself is in flight past the cycle of its group. The rules are those of
kube-scheduler's ``PriorityQueue``; what holds for any entry is in `queues`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from schedctl.api.pod_groups import PodGroup
from schedctl.engine.clocks import Clock
from schedctl.engine.queue.entries import Entry, Place, QueuedGroup, QueuedPod
from schedctl.engine.queue.hints import Hints, Strategy
from schedctl.engine.queue.queues import Backoff, Mover, SchedulingQueue
from schedctl.framework import events
from schedctl.framework.pod_groups import group_key
from schedctl.framework.statuses import Status

_STRATEGIES = {Place.ACTIVE: Strategy.IMMEDIATELY, Place.BACKOFF: Strategy.AFTER_BACKOFF}
"""What becomes of a queued group whose pods change, by where it is; in the pool it stays."""


class GroupQueue(SchedulingQueue):
    """All pods and pod groups that want nodes."""

    def __init__(
        self,
        hints: Hints,
        clock: Clock,
        backoff: Backoff | None = None,
        moved: Mover | None = None,
        *,
        find_group: Callable[[str], PodGroup | None],
    ) -> None:
        super().__init__(hints, clock, backoff, moved)
        self._find_group = find_group
        self._groups: dict[str, QueuedGroup] = {}
        self._incomplete: dict[str, dict[str, QueuedPod]] = {}
        self._in_cycle: QueuedGroup | None = None
        self._returned: dict[str, QueuedPod] = {}

    def pop(self) -> Entry | None:
        """Take out the pod or group to be tried next; a group comes back by `finish`."""
        entry = super().pop()
        self._in_cycle = entry if isinstance(entry, QueuedGroup) else None
        if self._in_cycle is not None:
            del self._groups[self._in_cycle.name]
        return entry

    def finish(self, entry: QueuedGroup, status: Status) -> None:
        """Say that the cycle of a group is over: its pods that came back meanwhile are queued as one again.

        Args:
            entry: the group.
            status: what came of the cycle: after a success the rest is tried again at once.
        """
        self._in_cycle = None
        returned, self._returned = list(self._returned.values()), {}
        if not returned:
            return
        group = self._find_group(entry.name)
        if group is None:
            for queued in returned:
                self._add_member(queued, events.SCHEDULE_ATTEMPT_FAILURE)
            return
        again = self._groups[entry.name] = QueuedGroup(group, entry.timestamp, entry.stamp)
        again.attempts, again.expiration, again.seen = entry.attempts, entry.expiration, entry.seen
        again.unschedulable_count, again.error_count = entry.unschedulable_count, entry.error_count
        again.flushed = -math.inf
        tried = {queued.info.uid for queued in entry.members}
        for queued in returned:
            again.insert(queued)
        if status.successful:
            again.error_count = again.unschedulable_count = 0
        else:
            again.expiration = None
            rejected = status.is_rejected
            again.unschedulable_count += rejected
            again.error_count = 0 if rejected else again.error_count + 1
        if not (status.successful and any(queued.info.uid in tried for queued in returned)):
            again.timestamp, again.stamp = self.clock.now, self._stamp()
        if not status.successful and self._backs_off(again):
            self._to_backoff(again, events.SCHEDULE_ATTEMPT_FAILURE)
        else:
            self._to_active(again, events.SCHEDULE_ATTEMPT_FAILURE)

    def put_group(self, group: PodGroup) -> None:
        """Say that a group was created or changed: pods that waited for it enter."""
        entry = self._groups.get(group.key)
        if entry is not None:
            entry.group = group
        for queued in self._incomplete.pop(group.key, {}).values():
            self._add_member(queued, self._arrival)

    def remove_group(self, group: PodGroup) -> None:
        """Say that a group was deleted: its pods wait for another of that name."""
        entry = self._groups.pop(group.key, None)
        of_cycle = self._in_cycle is not None and self._in_cycle.name == group.key
        members = [*entry.members] if entry is not None else [*self._returned.values()] if of_cycle else []
        if entry is not None and entry.waits_in_pool:
            self._leave_pool(entry)
        if entry is not None:
            entry.place = None
        if of_cycle:
            self._returned.clear()
        for queued in members:
            self._add_member(queued, self._label(events.UNSCHEDULED_POD_UPDATE))

    # -- members -----------------------------------------------------------------

    def gate_of(self, queued: QueuedPod) -> Entry:
        """Return whose gate keeps a gated pod out: its own, or that of another pod of its group."""
        return queued if queued.gate is not None else self._entry_of(queued)

    def _entry_of(self, queued: QueuedPod) -> Entry:
        entry = self._groups.get(group_key(queued.info))
        return queued if entry is None or queued.place in (Place.IN_FLIGHT, Place.INCOMPLETE) else entry

    def _enter(self, queued: QueuedPod, event: str) -> None:
        if group_key(queued.info):
            self._add_member(queued, event)
        else:
            super()._enter(queued, event)

    def _return(self, queued: QueuedPod) -> None:
        if not group_key(queued.info):
            super()._return(queued)
            return
        # first: what happened while a pod of a group was in flight is not looked at
        self.in_flight.land(queued.info.uid)
        self._add_member(queued, events.SCHEDULE_ATTEMPT_FAILURE)

    def _add_member(self, queued: QueuedPod, event: str) -> None:
        """Let a pod in as one of its group."""
        key = group_key(queued.info)
        group, entry = self._find_group(key), self._groups.get(key)
        if group is None:
            self._incomplete.setdefault(key, {})[queued.info.key] = queued
            self._move(queued, Place.INCOMPLETE, event)
        elif entry is not None:
            entry.insert(queued)
            self._settle(entry, event, queued)
        elif self._in_cycle is not None and self._in_cycle.name == key:
            self._returned[queued.info.key] = queued
            if queued.place is not Place.IN_FLIGHT:
                self._move(queued, Place.IN_FLIGHT, event)
        else:
            entry = self._groups[key] = QueuedGroup(group, queued.timestamp, self._stamp())
            entry.insert(queued)
            self._to_active(entry, event)

    def _settle(self, entry: QueuedGroup, event: str, added: QueuedPod | None = None) -> None:
        """Put a queued group whose pods have changed back to where it was, if the gates let it.

        Of an active group only the pod that was added is asked about: another pod in it is no reason to gate the rest.
        """
        strategy = _STRATEGIES.get(entry.place, Strategy.SKIP) if entry.place is not None else Strategy.SKIP
        if strategy is Strategy.IMMEDIATELY and added is not None and self._passes(added):
            added.gating_plugin, added.gate = "", None
            self._move(entry, Place.ACTIVE, event)
        else:
            self._requeue(entry, strategy, event)

    def _drop(self, queued: QueuedPod) -> None:
        key = group_key(queued.info)
        waiting = self._incomplete.get(key, {})
        if waiting.pop(queued.info.key, None) is not None or self._returned.pop(queued.info.key, None) is not None:
            if not waiting:
                self._incomplete.pop(key, None)
            return
        entry = self._entry_of(queued)
        if not isinstance(entry, QueuedGroup):
            super()._drop(queued)
            return
        entry.members.remove(queued)
        if entry.members:
            self._settle(entry, self._arrival)
            return
        if entry.waits_in_pool:
            self._leave_pool(entry)
        entry.place = None
        del self._groups[key]

    # -- the rules for entries -----------------------------------------------------

    def _move(self, entry: Entry, to: Place | None, event: str) -> None:
        """Let a group be in another place; its pods that are there already are not told of again."""
        if not isinstance(entry, QueuedGroup):
            super()._move(entry, to, event)
            return
        entry.place = to
        for queued in entry.members:
            if queued.place is not to:
                super()._move(queued, to, event)

    def _pass_gates(self, entry: Entry) -> bool:
        """Ask about the pods of a group until one is refused, which keeps all of them out."""
        if not isinstance(entry, QueuedGroup):
            return super()._pass_gates(entry)
        for queued in sorted(entry.members, key=lambda each: not each.gating_plugin):
            if not self._passes(queued):
                entry.gating_plugin, entry.gate = queued.gating_plugin, queued.gate
                return False
            queued.gating_plugin, queued.gate = "", None
        return True

    def _equivalence_key(self, entry: Entry) -> Any:
        return (QueuedGroup, entry.name) if isinstance(entry, QueuedGroup) else super()._equivalence_key(entry)

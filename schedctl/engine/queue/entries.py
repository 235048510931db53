"""What the scheduling queue holds: pods, and pod groups, whose pods enter and leave the queue together.

Both are moved by the same rules, so that `queues` knows entries; what is particular to groups is in `groups`.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Sequence
from enum import Enum
from typing import Any

import msgspec

from schedctl.api.pod_groups import PodGroup
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.statuses import Status


class Place(Enum):
    """Where in the queue a pod is."""

    ACTIVE = "Active"  # next to be tried, in the order of QueueSort
    BACKOFF = "Backoff"  # an attempt failed: until its time is up, or nothing else is active (KEP-5142)
    UNSCHEDULABLE = "Unschedulable"  # until an event that its rejectors care about, or for five minutes
    GATED = "Gated"  # unschedulable because PreEnqueue keeps it out
    INCOMPLETE = "Incomplete"  # of a pod group that is not there
    IN_FLIGHT = "InFlight"  # being scheduled or waiting for Permit; events are kept for the case that it comes back

    __hash__ = object.__hash__  # places are looked up at every move, and Enum's own hash runs in Python


_IN_POOL = (Place.UNSCHEDULABLE, Place.GATED)


class Entry:
    """What the queue knows of a pod or a group.

    Attributes:
        place: where it is; None once it is out of the queue.
        timestamp: when it came to the queue, or came back from an attempt.
        stamp: the same as a number that no two entries share, which settles ties.
        attempts: how often it was taken out to be scheduled.
        unschedulable_count: how many of the attempts were refused.
        error_count: how many in a row ended in a fault.
        expiration: when its backoff ends, None where it is not worked out.
        unschedulable_plugins: who refused it last; of a group nobody, since its pods know.
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

    def __init__(self, timestamp: float, stamp: int) -> None:
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

    @property
    def pods(self) -> Sequence[QueuedPod]:
        """The pods it stands for, in the order in which they are tried."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """``namespace/name`` of the pod or the group."""
        raise NotImplementedError

    @property
    def sorted_as(self) -> PodInfo:
        """The pod that QueueSort is asked about."""
        raise NotImplementedError

    @property
    def waits_in_pool(self) -> bool:
        """Whether it is unschedulable, or gated."""
        return self.place in _IN_POOL

    def flush(self, now: float) -> None:
        """Note that it is tried again for no other reason than that it has waited long."""
        self.flushed = now

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}, {self.place and self.place.value})"


class QueuedPod(Entry):
    """A pod in the queue.

    Attributes:
        info: the pod, as it was last updated.
    """

    __slots__ = ("info",)

    def __init__(self, info: PodInfo, timestamp: float, stamp: int) -> None:
        super().__init__(timestamp, stamp)
        self.info = info

    @property
    def pods(self) -> Sequence[QueuedPod]:
        """Itself."""
        return (self,)

    @property
    def name(self) -> str:
        """``namespace/name``."""
        return self.info.key

    @property
    def sorted_as(self) -> PodInfo:
        """Itself."""
        return self.info


class QueuedGroup(Entry):
    """The pods of a pod group that want a node.

    Attributes:
        group: the group.
        members: its pods: those of higher priority first, then those tried more often, then those that came first.
    """

    __slots__ = ("group", "members")

    def __init__(self, group: PodGroup, timestamp: float, stamp: int) -> None:
        super().__init__(timestamp, stamp)
        self.group = group
        self.members: list[QueuedPod] = []

    @property
    def pods(self) -> Sequence[QueuedPod]:
        """Its pods."""
        return self.members

    @property
    def name(self) -> str:
        """``namespace/name`` of the group."""
        return self.group.key

    @property
    def sorted_as(self) -> PodInfo:
        """Its first pod, with the priority of the group."""
        first = self.members[0].info
        if first.priority == self.group.priority:
            return first
        spec = msgspec.structs.replace(first.pod.spec, priority=self.group.priority)
        return PodInfo(msgspec.structs.replace(first.pod, spec=spec))

    def insert(self, queued: QueuedPod) -> None:
        """Add a pod at its place in the order of trying."""
        insort(self.members, queued, key=lambda each: (-each.info.priority, -each.attempts, each.stamp))

    def flush(self, now: float) -> None:
        """Note it of the group and of its pods."""
        super().flush(now)
        for queued in self.members:
            queued.flush(now)

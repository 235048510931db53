"""When a run is in vain: nothing lasting comes about, or pods go in circles while no time passes."""

from __future__ import annotations

from collections import Counter

from schedctl.cache.pod_info import PodInfo
from schedctl.engine.clocks import Clock

MAX_FRUITLESS_ATTEMPTS = 100
"""A pod that is tried more often than this at one time, while nothing lasting comes about, is tried in vain."""


class Patience:
    """Notes what lasts: more pods bound than ever before, pods gone that did not make room, events from outside.

    Attributes:
        lasted_at: when something lasting last came about.
        count: how often a pod was bound, had to go or was gone, or something came from outside.
        period: after how many seconds all comes again that comes, None where that is not known.
    """

    def __init__(self, clock: Clock, seconds: float) -> None:
        self.lasted_at = 0.0
        self.count = 0
        self.period: float | None = None
        self._clock = clock
        self._seconds = seconds
        self._skipped = 0.0
        self._bound: Counter[int] = Counter()  # by priority, pods bound less pods preempted
        self._most_bound: Counter[int] = Counter()
        self._preempted_uids: set[str] = set()
        self._attempts: dict[str, int] = {}  # of each pod since anything lasted or time went by
        self._attempts_since = (0.0, 0.0)

    def ends_by(self, at: float) -> bool:
        """Return whether nothing lasting came about for too long, if nothing does before a time."""
        return at - self.lasted_at > self._seconds - self._skipped

    def skip_periods(self, period: float) -> None:
        """Do without the periods that are left: the end finds all as it would, but for how often it came before."""
        self.period = period
        left = self._seconds - (self._clock.now - self.lasted_at)
        self._skipped = left // period * period

    def note_lasting(self) -> None:
        """Note that something lasting came about now."""
        self.count += 1
        self.lasted_at = self._clock.now
        self.period, self._skipped = None, 0.0

    def note_bound(self, priority: int) -> None:
        """Note that a pod was bound, which lasts if so many of its priority never were."""
        self.count += 1
        self._bound[priority] += 1
        if self._bound[priority] > self._most_bound[priority]:
            self._most_bound[priority] = self._bound[priority]
            self.note_lasting()

    def note_preempted(self, info: PodInfo) -> None:
        """Note that a pod has to make room."""
        self.count += 1
        self._bound[info.priority] -= 1
        self._preempted_uids.add(info.uid)

    def note_gone(self, info: PodInfo) -> None:
        """Note that a pod is gone, which lasts unless it made room."""
        self.count += 1
        if info.uid not in self._preempted_uids:
            self.note_lasting()

    def is_circling(self, info: PodInfo) -> bool:
        """Count an attempt; return whether pods wake each other in circles while no time goes by."""
        since = self._clock.now, self.lasted_at
        if since != self._attempts_since:
            self._attempts.clear()
            self._attempts_since = since
        attempts = self._attempts[info.key] = self._attempts.get(info.key, 0) + 1
        return attempts > MAX_FRUITLESS_ATTEMPTS

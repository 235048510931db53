"""`InFlight`: what happens while pods are tried, so that a pod that comes back hears of all that it has missed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from schedctl.engine.queue.hints import Strategy
from schedctl.framework.events import ClusterEvent, Resource


class Occurrence(msgspec.Struct, frozen=True):
    """Something that happened.

    Attributes:
        event: what.
        before, after: the object, as `SchedulingQueue.tell` has it.
        strategies: what it means for the pods of a group, of which all hear the same of what is about others.
    """

    event: ClusterEvent
    before: Any
    after: Any
    strategies: dict[Hashable, Strategy] = msgspec.field(default_factory=dict)

    @property
    def is_about_each(self) -> bool:
        """Whether each pod of a group may hear something else of it."""
        return self.event.wildcard or self.event.resource is Resource.TARGET_POD


class InFlight:
    """The pods that are tried, and what has happened since the first of them set out.

    Occurrences are numbered from the very first; those that nobody needs any more are forgotten.
    """

    def __init__(self) -> None:
        self._since: dict[str, int] = {}
        self._log: list[Occurrence] = []
        self._begins = 0
        self._about_each: list[int] = []
        # of a group, from which number to which nothing but what is about each of its pods can mean anything
        self._silent: dict[Hashable, tuple[int, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._since)

    def __contains__(self, uid: str) -> bool:
        return uid in self._since

    @property
    def occurrences(self) -> Sequence[Occurrence]:
        """What has happened, as far as a pod that is tried may hear of it."""
        return self._log

    @property
    def heard_before(self) -> Mapping[str, int]:
        """By uid of the pods that are tried, how many of these occurrences were before they set out."""
        return {uid: since - self._begins for uid, since in self._since.items()}

    def begin(self, uid: str) -> None:
        """Write down for a pod from now on."""
        self._since.pop(uid, None)  # the pods stand in the order in which they set out
        self._since[uid] = self._ends

    def note(self, event: ClusterEvent, before: Any, after: Any) -> None:
        """Write down what has happened."""
        occurrence = Occurrence(event, before, after)
        if occurrence.is_about_each:
            self._about_each.append(self._ends)
        self._log.append(occurrence)

    def has_missed(self, uid: str) -> bool:
        """Return whether anything has happened since a pod set out."""
        return self._since[uid] < self._ends

    def strategy(self, uid: str, group: Hashable, ask: Callable[[Occurrence], Strategy], enough: Strategy) -> Strategy:
        """Return the highest strategy of all that has happened since a pod set out, or one that is enough.

        Args:
            uid: of the pod.
            group: of which all pods hear the same of what is about others.
            ask: finds out what an occurrence means for the pod.
            enough: the strategy from which on nothing else matters.
        """
        first = self._since[uid]
        begin, end = self._silent.get(group, (first, first))
        if not begin <= first <= end:
            begin = end = first
        highest = Strategy.SKIP
        for number in self._numbers(first, end):
            occurrence = self._log[number - self._begins]
            strategy = self._ask(occurrence, group, ask)
            if number == end and (strategy is Strategy.SKIP or occurrence.is_about_each):
                end += 1
            highest = max(highest, strategy)
            if highest >= enough:
                break
        self._silent[group] = begin, end
        return highest

    def land(self, uid: str) -> None:
        """Stop writing down for a pod, and forget what nobody needs any more."""
        if self._since.pop(uid, None) is None or not self._log:
            return
        needed = next(iter(self._since.values()), self._ends)
        if needed > self._begins:
            del self._log[: needed - self._begins], self._about_each[: bisect_left(self._about_each, needed)]
            self._begins = needed
            if not self._log:
                self._silent.clear()

    @property
    def _ends(self) -> int:
        return self._begins + len(self._log)

    def _numbers(self, first: int, silent_until: int) -> Iterator[int]:
        """Yield the numbers of what may mean something, in order, from a number on."""
        about_each = self._about_each
        yield from about_each[bisect_left(about_each, first) : bisect_left(about_each, silent_until)]
        yield from range(silent_until, self._ends)

    @staticmethod
    def _ask(occurrence: Occurrence, group: Hashable, ask: Callable[[Occurrence], Strategy]) -> Strategy:
        if occurrence.is_about_each:
            return ask(occurrence)
        known = occurrence.strategies.get(group)
        if known is None:
            known = occurrence.strategies[group] = ask(occurrence)
        return known

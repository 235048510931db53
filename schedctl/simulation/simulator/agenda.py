"""What is due at which time of a run."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection

from schedctl.engine.clocks import Clock
from schedctl.simulation.simulator.patience import Patience


class Agenda:
    """Actions by the time at which they are due; those of one time in the order in which they were scheduled."""

    def __init__(self, clock: Clock, patience: Patience) -> None:
        self._clock = clock
        self._patience = patience
        self._due: list[tuple[float, int, bool, Callable[[], None]]] = []
        self._cancelled: set[int] = set()  # of these none is ever the first
        self._last_number = 0
        self._lasting = 0

    @property
    def next_at(self) -> float | None:
        """When the next action is due, None where none is."""
        return self._due[0][0] if self._due else None

    @property
    def is_lasting(self) -> bool:
        """Whether any action that is due will last."""
        return self._lasting > 0

    def has_others(self, numbers: Collection[int]) -> bool:
        """Return whether anything is due but actions of these numbers."""
        return any(number not in numbers and number not in self._cancelled for _, number, _, _ in self._due)

    def schedule(self, at: float, action: Callable[[], None], *, lasting: bool = True) -> int:
        """Do something at a time; return the number by which `cancel` knows it."""
        self._last_number += 1
        # what is scheduled once patience is over is no reason to go on, or pods that take turns would never end
        lasting = lasting and not self._patience.ends_by(self._clock.now)
        self._lasting += lasting
        heapq.heappush(self._due, (at, self._last_number, lasting, action))
        return self._last_number

    def cancel(self, numbers: Collection[int]) -> None:
        """Forget actions that were scheduled as not lasting."""
        self._cancelled.update(numbers)
        self._drop_cancelled()

    def do_due(self) -> None:
        """Do what is due by now, and what that makes due at once."""
        while self._due and self._due[0][0] <= self._clock.now:
            _, _, lasting, action = heapq.heappop(self._due)
            self._lasting -= lasting
            self._drop_cancelled()
            action()

    def _drop_cancelled(self) -> None:
        """Let the first action be one that is still to be done; those further back stand until they would be first."""
        while self._due and self._due[0][1] in self._cancelled:
            self._cancelled.discard(heapq.heappop(self._due)[1])

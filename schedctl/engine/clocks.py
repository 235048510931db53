"""The clock of the queue: seconds since a run began, moved only by whoever runs it."""

from __future__ import annotations


class Clock:
    """A clock that stands still until it is moved.

    Attributes:
        now: seconds since the beginning.
    """

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def advance(self, to: float) -> None:
        """Move the clock.

        Raises:
            ValueError: backwards.
        """
        if to < self.now:
            raise ValueError(f"the clock is at {self.now} s and cannot go back to {to} s")
        self.now = to

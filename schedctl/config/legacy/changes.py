"""What became of each thing in a configuration of another time: the report of a conversion, as data."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from schedctl.errors import Problem


class Outcome(StrEnum):
    """How much of the meaning of something is left.

    Attributes:
        CARRIED: all of it; it may be written in another way.
        DROPPED: none, and no pod is placed differently for it.
        APPROXIMATED: most of it; what decides today is alike, not the same.
        LOST: none, and pods may be placed differently; somebody has to act.
    """

    CARRIED = "carried"
    DROPPED = "dropped"
    APPROXIMATED = "approximated"
    LOST = "lost"


class Change(msgspec.Struct, frozen=True):
    """What one thing became.

    Attributes:
        outcome: how much of its meaning is left.
        path: its field in the old file; that of the profile for what the old version did unasked.
        was: its name there, or a default's.
        now: what stands for it, "" for nothing.
        why: the reason.
        hint: what to do about it, "" when there is nothing to do.
        line: 1-based line of the field in the old file, 0 when unknown.
        column: 1-based column, 0 when unknown.
    """

    outcome: Outcome
    path: str
    was: str
    now: str
    why: str
    hint: str = ""
    line: int = 0
    column: int = 0

    @property
    def text(self) -> str:
        """The change in a sentence, without its place."""
        became = f"is now {self.now}" if self.now else "is left out"
        return f"{self.was} {became}: {self.why}"

    def problem(self, source: str) -> Problem:
        """Return the change as a line of talk, with its place in a file."""
        return Problem(self.text, source, self.line, self.column, path=self.path, hint=self.hint)


class ConversionLog(msgspec.Struct):
    """Where a conversion writes down what it does, in the order it does it.

    Attributes:
        places: line and column by path of the old file.
        changes: what was written down.
    """

    places: Mapping[str, tuple[int, int]]
    changes: list[Change] = msgspec.field(default_factory=list)

    def add(self, outcome: Outcome, path: str, was: str, now: str, why: str, hint: str = "") -> None:
        """Write down what one thing became."""
        line, column = self.places.get(path, (0, 0))
        self.changes.append(Change(outcome, path, was, now, why, hint, line, column))

    def add_carried(self, path: str, was: str, now: str, why: str) -> None:
        """Write down that something means the same."""
        self.add(Outcome.CARRIED, path, was, now, why)

    def add_approximated(self, path: str, was: str, now: str, why: str, hint: str = "") -> None:
        """Write down that something means nearly the same."""
        self.add(Outcome.APPROXIMATED, path, was, now, why, hint)

    def add_dropped(self, path: str, was: str, why: str, hint: str = "") -> None:
        """Write down that something is not needed to place pods as before."""
        self.add(Outcome.DROPPED, path, was, "", why, hint)

    def add_lost(self, path: str, was: str, why: str, hint: str) -> None:
        """Write down that something cannot be said any more, and what to do."""
        self.add(Outcome.LOST, path, was, "", why, hint)

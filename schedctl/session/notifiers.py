"""What there is to say on the way to an answer: warnings, next steps, and how far the work is.

A use case of this package tells it to a `Notifier`. The one here does nothing; the command line has one that writes to
standard error.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from schedctl.errors import Problem


class Progress:
    """How far one step is: a context manager whose `advance` is called along the way."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        """End the step."""

    def advance(self, done: int, total: int, subject: str = "") -> None:
        """Tell that `done` of `total` are done, and what is at hand."""


class StepProgress:
    """How far several steps are that are taken side by side."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        """End all steps."""

    def advance(self, step: str, done: int, total: int) -> None:
        """Tell that of one step `done` of `total` are done."""


class Notifier:
    """Hears what is said beside the answer; this one says nothing.

    Attributes:
        quiet: whether warnings are left out.
        verbose: whether what is being done is said as well.
    """

    quiet = True
    verbose = False

    def say(self, text: str, hint: str = "") -> None:
        """Say a line, and below it a next step."""

    def report(self, problems: Iterable[Problem], severity: str) -> None:
        """Say problems, each with its next step."""

    def progress(self, title: str) -> Progress:
        """Return what tells how far a step is."""
        return Progress()

    def step_progress(self, title: str) -> StepProgress:
        """Return what tells how far several steps are that are taken side by side."""
        return StepProgress()

    def warn(self, text: str, hint: str = "") -> None:
        """Say a warning, unless they are left out."""
        if not self.quiet:
            self.say(f"warning: {text}", hint)


SILENT = Notifier()
"""Says nothing."""

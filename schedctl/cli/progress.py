"""Progress bars on standard error, for terminals and for work that takes a while."""

from __future__ import annotations

import sys
import time
from typing import Any

from typing_extensions import override

from schedctl.session.notifiers import Progress, StepProgress

PATIENCE = 0.5
"""Seconds that may pass before a bar appears."""


class Bar(Progress):
    """Tells how far a step is, as a context manager whose `advance` is called along the way.

    Args:
        title: what is being done.
        enabled: False to stay silent; so it does where standard error is no terminal.
    """

    def __init__(self, title: str, *, enabled: bool = True) -> None:
        self._title = title
        self._silent = not (enabled and sys.stderr.isatty())
        self._began = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    @override
    def __exit__(self, *fault: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    @override
    def advance(self, done: int, total: int, subject: str = "") -> None:
        if self._silent or time.monotonic() - self._began < PATIENCE:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as RichProgress

            columns = (
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.fields[what]}", markup=False),
            )
            self._bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(self._title, total=total, what="")
            self._bar.start()
        self._bar.update(self._task, completed=done, total=total, what=subject)


class Bars(StepProgress):
    """Tells how far several steps are that are taken side by side, each on a line of its own.

    Args:
        title: what is being done, at the beginning of each line.
        enabled: False to stay silent; so it does where standard error is no terminal.
    """

    def __init__(self, title: str, *, enabled: bool = True) -> None:
        self._title = title
        self._silent = not (enabled and sys.stderr.isatty())
        self._began = time.monotonic()
        self._bars: Any = None
        self._steps: dict[str, tuple[int, int]] = {}
        self._tasks: dict[str, Any] = {}

    @override
    def __exit__(self, *fault: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    @override
    def advance(self, step: str, done: int, total: int) -> None:
        if self._silent or not total:  # a step of nothing at all has no line
            return
        self._steps[step] = done, total
        if time.monotonic() - self._began < PATIENCE:
            return
        if self._bars is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
            from rich.progress import Progress as RichProgress

            columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
            self._bars = RichProgress(*columns, console=Console(stderr=True), transient=True)
            self._bars.start()
        for name, (at, of) in self._steps.items():
            if name not in self._tasks:
                self._tasks[name] = self._bars.add_task(f"{self._title} {name}", total=of)
            self._bars.update(self._tasks[name], completed=at, total=of)

"""Progress bars on standard error, for terminals and for work that takes a while."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self

PATIENCE = 0.5
"""Seconds that may pass before a bar appears."""


class Bar:
    """Tells how far a step is, as a context manager whose `advance` is called along the way.

    Args:
        title: what is being done.
        wanted: False to stay silent; so it does where standard error is no terminal.
    """

    def __init__(self, title: str, *, wanted: bool = True) -> None:
        self._title = title
        self._silent = not (wanted and sys.stderr.isatty())
        self._began = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, done: int, total: int, what: str = "") -> None:
        """Show the bar at `done` of `total`, with a word about what is at hand."""
        if self._silent or time.monotonic() - self._began < PATIENCE:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            columns = (
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.fields[what]}", markup=False),
            )
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(self._title, total=total, what="")
            self._bar.start()
        self._bar.update(self._task, completed=done, total=total, what=what)


class Bars:
    """Tells how far several steps are that are taken side by side, each on a line of its own.

    Args:
        title: what is being done, at the beginning of each line.
        wanted: False to stay silent; so it does where standard error is no terminal.
    """

    def __init__(self, title: str, *, wanted: bool = True) -> None:
        self._title = title
        self._silent = not (wanted and sys.stderr.isatty())
        self._began = time.monotonic()
        self._bars: Any = None
        self._steps: dict[str, tuple[int, int]] = {}
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def advance(self, step: str, done: int, total: int) -> None:
        """Show a step at `done` of `total`, and with it those before; one of nothing at all has no line."""
        if self._silent or not total:
            return
        self._steps[step] = done, total
        if time.monotonic() - self._began < PATIENCE:
            return
        if self._bars is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
            self._bars = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bars.start()
        for name, (at, of) in self._steps.items():
            if name not in self._tasks:
                self._tasks[name] = self._bars.add_task(f"{self._title} {name}", total=of)
            self._bars.update(self._tasks[name], completed=at, total=of)

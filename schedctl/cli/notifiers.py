"""What a command says on standard error while it works: warnings, next steps and progress bars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import typer
from typing_extensions import override

from schedctl.cli import faults, options
from schedctl.cli.progress import Bar, Bars
from schedctl.cli.signatures import Command, add_options
from schedctl.errors import Problem
from schedctl.session.notifiers import Notifier, Progress, StepProgress


class StandardError(Notifier):
    """Says everything on standard error.

    Args:
        quiet: ``-q``.
        verbose: ``-v``.
        bars: False for ``--no-progress``.
    """

    def __init__(self, *, quiet: bool = False, verbose: bool = False, bars: bool = True) -> None:
        self.quiet = quiet
        self.verbose = verbose
        self._bars = bars

    @override
    def say(self, text: str, hint: str = "") -> None:
        faults.say(text, hint)

    @override
    def report(self, problems: Iterable[Problem], severity: str) -> None:
        faults.report(problems, severity)

    @override
    def progress(self, title: str) -> Progress:
        return Bar(title, enabled=self._bars)

    @override
    def step_progress(self, title: str) -> StepProgress:
        return Bars(title, enabled=self._bars)


_OPTIONS = {
    "quiet": (options.Quiet, False),
    "verbose": (options.Verbose, False),
    # `running` looks for it among the arguments, for faults that end a command before it has its options.
    "debug": (options.Debug, False),
    "no_progress": (options.NoProgress, False),
}


def with_notifier(command: Command) -> Command:
    """Give a command the options about standard error; it gets them as the argument ``notifier``."""
    return add_options(command, "notifier", _OPTIONS, _notifier)


def _notifier(values: Mapping[str, Any], context: typer.Context) -> StandardError:
    return StandardError(quiet=values["quiet"], verbose=values["verbose"], bars=not values["no_progress"])

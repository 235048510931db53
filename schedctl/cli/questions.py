"""Questions that are asked on the terminal before something is done that cannot be taken back."""

from __future__ import annotations

import sys

import typer

from schedctl.cli import faults
from schedctl.render import sanitise

DECLINED = 1
"""The exit code where the answer was no, as wherever an answer is no."""


def ask(question: str, undone: str) -> None:
    """Ask a question and come back if the answer is yes.

    Args:
        question: what is going to be done, as a question.
        undone: what to say where it is not, e.g. ``nothing was sent``.

    Raises:
        typer.Abort: the terminal is gone.
        typer.Exit: the answer is no.
    """
    sys.stderr.write(sanitise.text(f"{question} [y/N] "))
    sys.stderr.flush()
    answer = sys.stdin.readline()
    if not answer:
        raise typer.Abort
    if answer.strip().lower() not in ("y", "yes"):
        faults.say(undone)
        raise typer.Exit(DECLINED)

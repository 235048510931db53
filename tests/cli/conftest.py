"""The command line in this process, as a function."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from schedctl.cli.running import run

ROOT = Path(__file__).parents[2]


class Ended(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Command = Callable[..., Ended]


@pytest.fixture
def schedctl(capsys, monkeypatch) -> Command:
    """Run a command line in the project's folder; `stdin` is what standard input holds."""
    monkeypatch.chdir(ROOT)

    def command(*arguments: str, stdin: str | None = None) -> Ended:
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        capsys.readouterr()
        code = run(arguments)
        return Ended(code, *capsys.readouterr())

    return command


@pytest.fixture
def shop(schedctl) -> Command:
    """``schedctl explain`` over the example cluster, with what it warns of left out."""

    def explain(*arguments: str, stdin: str | None = None) -> Ended:
        return schedctl("explain", *arguments, "-f", "fixtures/clusters/shop", stdin=stdin)

    return explain

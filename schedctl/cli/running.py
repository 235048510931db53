"""From the arguments of a process to its exit code.

Typer parses; its own handling of errors is left aside (it prints in its own style, and ends with 1 where a reader went
away), which is why the command is invoked here rather than by calling the application.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from schedctl.cli.program import COMPLETION_VARIABLE, VERSIONS

_SHORT_WITH_VALUE = re.compile(r"(-[flno])=(.*)", re.DOTALL)
"""A short option and its value as kubectl also takes them, ``-o=json``."""


def run(arguments: Sequence[str], program: str = "schedctl") -> int:
    """Run a command line and return its exit code; nothing but the end of a shell's question is raised."""
    if sys.stderr is None:  # closed by a shell's 2>&-
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        if list(arguments) in (["version"], ["--version"]):  # asked for by scripts, in need of no parser
            sys.stdout.write(VERSIONS)
            code = 0
        else:
            code = _invoke(_without_equals(arguments), program)
        sys.stdout.flush()
    except SystemExit:
        raise
    except BaseException as fault:
        from schedctl.cli import faults

        return faults.code_of(fault, debug="--debug" in arguments)
    return code


def _without_equals(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with ``-o=json`` as two words; what follows ``--`` is left alone."""
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    words: list[str] = []
    for word in arguments[:end]:
        joined = _SHORT_WITH_VALUE.fullmatch(word)
        words += joined.groups() if joined else [word]
    return [*words, *arguments[end:]]


def _invoke(arguments: list[str], program: str) -> int:
    from schedctl.cli.commands import command

    if COMPLETION_VARIABLE in os.environ:
        from typer.completion import completion_init  # type: ignore[attr-defined]

        # This ends the process (SystemExit), with the words on standard output.
        completion_init()
        command.main(prog_name=program, complete_var=COMPLETION_VARIABLE)
    # The arguments go along as they were written: in that order what-ifs are made, and the parser does not keep it.
    with command.make_context(program, arguments, obj=tuple(arguments)) as context:
        code = command.invoke(context)
    return code if isinstance(code, int) else 0

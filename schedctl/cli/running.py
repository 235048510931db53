"""From the arguments of a process to its exit code.

Typer parses; its own handling of errors is left aside (it prints in its own style, and ends with 1 where a reader went
away), which is why the command is invoked here rather than by calling the application.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from schedctl import KUBERNETES_VERSION, __version__

VERSIONS = f"schedctl {__version__}\nkube-scheduler {KUBERNETES_VERSION}\n"
"""What ``schedctl version`` prints."""
COMPLETION_VARIABLE = "_SCHEDCTL_COMPLETE"
"""Set by a shell that asks what could come next."""


def run(arguments: Sequence[str], program: str = "schedctl") -> int:
    """Run a command line and return its exit code; nothing but the end of a shell's question is raised."""
    try:
        if list(arguments) in (["version"], ["--version"]):  # asked for by scripts, in need of no parser
            sys.stdout.write(VERSIONS)
            code = 0
        else:
            code = _invoked(list(arguments), program)
        sys.stdout.flush()
    except SystemExit:
        raise
    except BaseException as fault:
        from schedctl.cli import faults

        return faults.code_of(fault, debug="--debug" in arguments)
    return code


def _invoked(arguments: list[str], program: str) -> int:
    from schedctl.cli.commands import command

    if COMPLETION_VARIABLE in os.environ:
        from typer.completion import completion_init  # type: ignore[attr-defined]

        completion_init()
        command.main(prog_name=program, complete_var=COMPLETION_VARIABLE)
    with command.make_context(program, arguments) as context:
        code = command.invoke(context)
    return code if isinstance(code, int) else 0

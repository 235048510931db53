"""From the arguments of a process to its exit code.

Typer parses; its own handling of errors is left aside (it prints in its own style, and ends with 1 where a reader went
away), which is why the command is invoked here rather than by calling the application.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from schedctl.cli import faults

COMPLETION_VARIABLE = "_SCHEDCTL_COMPLETE"
"""Set by a shell that asks what could come next."""


def run(arguments: Sequence[str], program: str = "schedctl") -> int:
    """Run a command line and return its exit code; nothing is raised."""
    debug = "--debug" in arguments
    try:
        from schedctl.cli.commands import command

        if COMPLETION_VARIABLE in os.environ:
            from typer.completion import completion_init  # type: ignore[attr-defined]

            completion_init()
            command.main(prog_name=program, complete_var=COMPLETION_VARIABLE)
        with command.make_context(program, list(arguments)) as context:
            code = command.invoke(context)
        sys.stdout.flush()
    except SystemExit:
        raise
    except BaseException as fault:
        return faults.code_of(fault, debug=debug)
    return code if isinstance(code, int) else 0

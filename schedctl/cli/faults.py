"""What can end a command, as a message and an exit code; the only place that knows both.

`reports.exit_codes.MEANINGS` says what each code means, whatever ``-o``, ``-q`` or ``--limit`` say.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import typer

from schedctl.errors import Problem, ProblemsError, SchedctlError, UsageError
from schedctl.reports.exit_codes import INTERRUPTED, OUTPUT_CLOSED

READER_GONE = 141
BUG = SchedctlError.exit_code
UNWRITABLE = UsageError.exit_code

Unparsable: type[Exception] = typer.BadParameter.__mro__[2]
"""What the parser of the command line raises, with a message and an exit code; Typer gives it no public name."""

_VARIABLE = re.compile(r" \(env var: '([A-Z_]+)'\)")
_NUMBERS = (
    (re.compile(r"Input should be greater than or equal to (\S+)"), r"expected \1 or more"),
    (re.compile(r"Input should be less than or equal to (\S+)"), r"expected \1 or less"),
    (re.compile(r"Input should be a valid integer, .*"), "expected a whole number"),
    (re.compile(r"Input should be a valid number, .*"), "expected a number"),
)
"""The validator's words about numbers, and ours."""


def code_of(fault: BaseException, *, debug: bool) -> int:
    """Say on standard error what happened, where there is something to say, and return the exit code.

    Args:
        fault: what ended the command.
        debug: whether tracebacks are wanted.
    """
    if isinstance(fault, typer.Exit):
        return fault.exit_code
    if isinstance(fault, KeyboardInterrupt | typer.Abort):
        where = _plugin_in(fault)
        say(f"interrupted in plugin {where}" if where else "interrupted")
        return INTERRUPTED
    if isinstance(fault, BrokenPipeError):
        # The interpreter flushes standard output once more when it ends; nobody is there to read it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OUTPUT_CLOSED
    if debug:
        traceback.print_exception(fault)
    if isinstance(fault, ProblemsError):
        report(fault.problems, "error")
        report(fault.warnings, "warning")
    elif isinstance(fault, SchedctlError):
        say(f"error: {fault}", getattr(fault, "hint", ""))
    elif isinstance(fault, Unparsable):
        return _unparsable(fault)
    elif isinstance(fault, OSError):
        say(f"error: cannot write the output: {(fault.strerror or str(fault)).lower()}")
        return UNWRITABLE
    else:
        hint = "this is a bug in schedctl" + ("" if debug else "; `--debug` shows where")
        say(f"error: {type(fault).__name__}: {fault}", hint)
        return BUG
    return getattr(fault, "exit_code", BUG)


def report(problems: Iterable[Problem], severity: str) -> None:
    """Print problems, each with its hint; the same hint is given once where problems of it follow one another."""
    before = ""
    for problem in problems:
        say(f"{severity}: {problem}", problem.hint if problem.hint != before else "")
        before = problem.hint


def say(text: str, hint: str = "") -> None:
    """Print a line on standard error, folded on a terminal, and below it a next step.

    Where standard error cannot be written to, the exit code has to do.
    """
    from schedctl.render import layout, terminals  # help and version have nothing to complain about

    with suppress(OSError):
        lines = [layout.line(each) for each in (text, f"hint: {hint}" if hint else "") if each]
        layout.write(lines, sys.stderr, terminals.of(sys.stderr, color="never", environ=os.environ))


def _plugin_in(fault: BaseException) -> str:
    """Return which plugin of somebody's own was being called, and the line, "" for none: it may never have answered."""
    if "schedctl.framework.points" not in sys.modules:  # so early, no plugin is called
        return ""
    from schedctl.framework.faults import file_of, place
    from schedctl.framework.points import Plugin

    for frame, _ in traceback.walk_tb(fault.__traceback__):
        plugin = frame.f_locals.get("self")
        if isinstance(plugin, Plugin) and not type(plugin).__module__.startswith("schedctl."):
            return f"{plugin.name} ({place(fault, file_of(plugin))})"
    return ""


def _unparsable(fault: Exception) -> int:
    from schedctl.documents.spelling import CLOSE, nearest

    context = getattr(fault, "ctx", None)
    message = fault.format_message() if hasattr(fault, "format_message") else str(fault)
    message = f"{message[:1].lower()}{message[1:].rstrip('.')}"
    hint = f"`{context.command_path} --help`" if context else ""
    option = getattr(fault, "option_name", "")
    if (
        option and context is not None
    ):  # else the option is known, and lacks its value; the parser's own suggestions are far-fetched
        message = f"no such option: {option}"
        close = nearest(option, _options(context), cutoff=CLOSE)
        hint = f"did you mean `{close}`? {hint} lists all options" if close else f"{hint} lists the options"
    variable = _VARIABLE.search(message)
    if variable is not None:  # it is named only where the value may have come from it
        message = message.replace(variable[0], f" or {variable[1]}" if variable[1] in os.environ else "")
    for found, better in _NUMBERS:
        message = found.sub(better, message)
    say(f"error: {message}", hint)
    return getattr(fault, "exit_code", 2)


def _options(context: Any) -> list[str]:
    """Return the options of a command as they are written."""
    return [name for each in context.command.get_params(context) for name in (*each.opts, *each.secondary_opts)]

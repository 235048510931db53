"""Options that belong together, given to a command by one line.

Typer reads a command's options off its signature. A decorator made here puts a group of options into the signature and
hands the command one argument made of their values; see `state_options`, `what_if_options` and `notifiers`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, get_type_hints

import typer

Command = Callable[..., Any]
CONTEXT = "context_of_the_parser"
"""The argument by which a command so extended is given the parser's context."""


def add_options(
    command: Command,
    argument: str,
    options: Mapping[str, tuple[Any, Any]],
    make: Callable[[Mapping[str, Any], typer.Context], Any],
) -> Command:
    """Return a command with further options in place of one argument.

    Args:
        command: the command; its own parameters keep their order, and the options come after them.
        argument: the parameter that takes what `make` returns.
        options: by the name of the parameter that Typer sees, its annotation and default.
        make: makes the argument of the options' values, by name, and of the parser's context.
    """
    # Typer evaluates annotations in the globals of the function, which of a wrapper are those of this module.
    hints = get_type_hints(command, include_extras=True)
    parameters = [
        parameter.replace(annotation=hints.get(name, parameter.annotation), kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in _parameters(command).items()
        if name not in (argument, CONTEXT)
    ]
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in options.items()
    ]
    passed_on = CONTEXT in _parameters(command)

    @wraps(command)
    def with_options(**values: Any) -> Any:
        # A command that has several groups of options is wrapped several times: the context is for all of them.
        context = values[CONTEXT] if passed_on else values.pop(CONTEXT)
        of_group = {name: values.pop(name) for name in options}
        return command(**values, **{argument: make(of_group, context)})

    parameters.append(inspect.Parameter(CONTEXT, inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context))
    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_options


def _parameters(command: Command) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(command).parameters

"""Commands whose options reach them without a validator where there is nothing to validate.

Typer builds a pydantic validator for every option of a command, given or not. To import pydantic and to build some
thirty of them takes longer than to explain a pod, and nearly all options are text, which stays as it is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, TypeVar, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup
from typing_extensions import override

from schedctl.cli import defaults, help_text

Function = TypeVar("Function", bound=Callable[..., Any])
_PLAIN_NUMBER = re.compile("-?[0-9]{1,18}")


class _SparesValidators:
    """Of a command or group: what its options' values are is found out by `_Coercion`."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            validator = getattr(parameter, "get_runtime_param", None)
            # Typers that have no such method, older ones, build nothing that would have to be spared.
            if validator is not None and not isinstance(validator, _Coercion):
                parameter.get_runtime_param = _Coercion(parameter.type_descriptor, validator)
        return parameters


class _Coercion:
    """Passes on what is of the right type; the rest is left to Typer, its messages about wrong numbers included."""

    def __init__(self, descriptor: Any, validator: Callable[[], Any]) -> None:
        self.annotation = annotation = descriptor.annotation
        self.is_list_of_text = get_origin(annotation) is list and get_args(annotation) == (str,)
        bounds = descriptor.parameter_info
        self.least = -math.inf if bounds.min is None else bounds.min
        self.most = math.inf if bounds.max is None else bounds.max
        self.validator = validator

    def __call__(self) -> _Coercion:
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        repeatable = param.multiple or param.nargs == -1
        if value is None:
            return () if repeatable else None
        if self.annotation is str and isinstance(value, str) and not repeatable:
            return value
        if self.is_list_of_text and isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
            return list(value)
        if self.annotation is int and isinstance(value, int):  # a default: the command line has text
            return value
        if self.annotation is int and isinstance(value, str) and _PLAIN_NUMBER.fullmatch(value):
            number = int(value)
            if self.least <= number <= self.most:
                return number
        return self.validator().coerce(value, param=param, ctx=ctx)


class Command(_SparesValidators, TyperCommand):
    """A command."""

    @override
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        parameters = self.get_params(ctx)
        ctx.default_map = defaults.Defaults(parameters, args, self.name or "")
        parsed: list[str] = super().parse_args(
            ctx, [*defaults.options_before_command(parameters, ctx.find_root()), *args]
        )
        return parsed

    @override
    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        arguments = (each for each in self.get_params(ctx) if each.param_type_name == "argument")
        return [*(str(each.metavar or each.name) for each in arguments), "[OPTIONS]"]

    @override
    def format_help(self, ctx: Any, formatter: Any) -> None:
        help_text.write(self, ctx, formatter)


class Group(_SparesValidators, TyperGroup):
    """A group of commands."""

    @override
    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["COMMAND", "[OPTIONS]"]

    @override
    def format_help(self, ctx: Any, formatter: Any) -> None:
        help_text.write(self, ctx, formatter)


class Application(typer.Typer):
    """Commands of these classes, without colours or boxes in their help."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**{"cls": Group, "rich_markup_mode": None, **attributes})

    @override
    def command(self, name: str | None = None, **attributes: Any) -> Callable[[Function], Function]:
        return super().command(name, **{"cls": Command, **attributes})

"""The options about extenders; a command gets them by one line, and an `ExtenderOptions` for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from schedctl.cli import options
from schedctl.cli.signatures import Command, add_options
from schedctl.errors import UsageError
from schedctl.session.extenders import ExtenderOptions

_OPTIONS = {
    "allow_extenders": (options.AllowExtenders, False),
    "extender_record": (options.ExtenderRecord, ""),
    "extender_replay": (options.ExtenderReplay, ""),
}


def with_extenders(command: Command) -> Command:
    """Give a command the options about extenders; it gets them as the argument ``extenders``."""
    return add_options(command, "extenders", _OPTIONS, _extender_options)


def _extender_options(values: Mapping[str, Any], context: typer.Context) -> ExtenderOptions:
    """Return what may be asked of extenders.

    Raises:
        UsageError: the options contradict each other.
    """
    allowed, record, replay = values["allow_extenders"], values["extender_record"], values["extender_replay"]
    if replay and (allowed or record):
        flag = "--extender-record" if record else "--allow-extenders"
        raise UsageError(f"--extender-replay calls no extender, but {flag} was given", "remove one of them")
    if record and not allowed:
        raise UsageError(
            "--extender-record records calls of extenders, but they are not called", "add --allow-extenders"
        )
    return ExtenderOptions(allowed, record, replay)

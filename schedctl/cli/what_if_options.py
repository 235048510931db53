"""The what-if options, the same on every command that has a cluster to change; a command gets them by one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer

from schedctl.cli import suggestions
from schedctl.cli.help_text import WHAT_IF
from schedctl.cli.signatures import Command, add_options
from schedctl.session.what_ifs import WhatIfs

_OPTIONS = {
    "cordon": ("NODE", "Cordon NODE: a name, `all`, or a label such as zone=eu-1a"),
    "drain": ("NODE", "Cordon NODE and evict its pods"),
    "remove-node": ("NODE", "Remove NODE; its pods have to be rescheduled"),
    "add-node": ("FILE=N", "Add N nodes from a file, or N nodes like an existing one: like:NODE=N"),
    "taint": ("NODE:TAINT", "Add a taint KEY=VALUE:EFFECT; KEY:EFFECT- and KEY- remove one"),
    "label": ("NODE:LABEL", "Set a label KEY=VALUE; KEY- removes it"),
    "scale": ("NAME=N", "Scale a workload, deploy/web or deploy/NS/web, to N pods"),
    "priority": ("NAME=VALUE", "Set the priority, or PriorityClass, of pod/web-0 or deploy/web"),
    "lose": ("LABEL=VALUE", "Remove all nodes with this label, e.g. zone=eu-1a"),
}
"""By word, what it takes and what it does."""


def with_what_ifs(command: Command) -> Command:
    """Give a command the what-if options; it gets them as the argument ``what_ifs``."""
    return with_what_ifs_but()(command)


def with_what_ifs_but(*left_out: str) -> Callable[[Command], Command]:
    """Return what gives a command the what-if options but for some, which its arguments say already."""
    return lambda command: _with_words(command, [word for word in _OPTIONS if word not in left_out])


def _with_words(command: Command, words: Sequence[str]) -> Command:
    names = {word: f"what_if_{word.replace('-', '_')}" for word in words}

    def make(values: Mapping[str, Any], context: typer.Context) -> WhatIfs:
        texts = {word: values[name] or [] for word, name in names.items()}
        return WhatIfs(_in_order(texts, context.find_root().obj or ()))

    return add_options(command, "what_ifs", {name: (_option(word), None) for word, name in names.items()}, make)


def _option(word: str) -> Any:
    metavar, text = _OPTIONS[word]
    completion = suggestions.nodes if metavar.startswith("NODE") else None
    option = typer.Option(f"--{word}", metavar=metavar, help=text, rich_help_panel=WHAT_IF, autocompletion=completion)
    return Annotated[list[str] | None, option]


def _in_order(texts: dict[str, list[str]], arguments: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return words and texts in the order of the command line, which the parser has kept for each word alone."""
    left = {word: list(values) for word, values in texts.items()}
    ordered = []
    for argument in arguments:
        word = argument.partition("=")[0].removeprefix("--")
        if argument.startswith("--") and left.get(word):
            ordered.append((word, left[word].pop(0)))
    return (*ordered, *((word, text) for word, rest in left.items() for text in rest))

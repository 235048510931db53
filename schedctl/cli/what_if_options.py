"""The what-if options, the same on every command that has a cluster to change; a command gets them by one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from schedctl.cli.signatures import Command, add_options
from schedctl.session.what_ifs import WhatIfs

_OPTIONS = {
    "cordon": ("NODE", "NODE takes no more pods. NODE is a name, `all`, or a label as zone=eu-1a."),
    "drain": ("NODE", "NODE is cordoned and its pods have to go elsewhere."),
    "remove-node": ("NODE", "NODE is gone, and its pods have to go elsewhere."),
    "add-node": ("FILE×N", "N nodes of a file join, or as like:NODE×N such as one there is; x will do for ×."),
    "taint": ("NODE:TAINT", "NODE has TAINT, as KEY=VALUE:EFFECT; KEY:EFFECT- and KEY- remove it."),
    "label": ("NODE:LABEL", "NODE has LABEL, as KEY=VALUE; KEY- removes it."),
    "scale": ("NAME=N", "A workload as deploy/web or deploy/NS/web has N pods."),
    "priority": ("NAME=VALUE", "pod/web-0 or deploy/web has this priority or PriorityClass."),
    "lose": ("LABEL=VALUE", "All nodes of zone=eu-1a, or with another label, are gone."),
}
"""By word, what it takes and what it does."""


def with_what_ifs(command: Command) -> Command:
    """Give a command the what-if options; it gets them as the argument ``what_ifs``."""
    names = {word: f"what_if_{word.replace('-', '_')}" for word in _OPTIONS}

    def make(values: Mapping[str, Any], context: typer.Context) -> WhatIfs:
        texts = {word: values[name] or [] for word, name in names.items()}
        return WhatIfs(_in_order(texts, context.find_root().obj or ()))

    return add_options(command, "what_ifs", {name: (_option(word), None) for word, name in names.items()}, make)


def _option(word: str) -> Any:
    metavar, text = _OPTIONS[word]
    return Annotated[list[str] | None, typer.Option(f"--{word}", metavar=metavar, help=text)]


def _in_order(texts: dict[str, list[str]], arguments: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return words and texts in the order of the command line, which the parser has kept for each word alone."""
    left = {word: list(values) for word, values in texts.items()}
    ordered = []
    for argument in arguments:
        word = argument.partition("=")[0].removeprefix("--")
        if argument.startswith("--") and left.get(word):
            ordered.append((word, left[word].pop(0)))
    return (*ordered, *((word, text) for word, rest in left.items() for text in rest))

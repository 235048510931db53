"""Something wrong inside one object, before it is known where in the file that is.

`schedctl.sources.shapes` and `schedctl.sources.validation` say what is wrong by field path; the readers of JSON and
YAML turn paths into lines and columns, in one pass per document however many findings there are.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

Path = tuple[str | int, ...]
"""Keys and list indices from the document down, e.g. ``("spec", "containers", 0)``."""

TEMPLATE = "this looks like a template: render it first, e.g. with `helm template`"
"""The hint for text with double braces."""

_PLAIN_STEP = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Finding(NamedTuple):
    """One thing wrong at one field.

    Attributes:
        path: the field.
        message: what is wrong, without a full stop.
        hint: a next step, or "".
        warning: whether the object can be used all the same.
        at_key: whether the key is at fault rather than its value.
        strict: whether a warning is an error to those who are strict, as kubectl's validation is.
    """

    path: Path
    message: str
    hint: str = ""
    warning: bool = False
    at_key: bool = False
    strict: bool = False


IGNORED = ", which is ignored"
"""How the message of a warning ends whose field is passed over; where it is refused, it ends before that."""


class Place(NamedTuple):
    """Where something is: 1-based line and column (in characters)."""

    line: int
    column: int


def place_in(data: bytes, offset: int) -> Place:
    """Return line and column of a byte."""
    line_start = data.rfind(b"\n", 0, offset) + 1
    column = len(data[line_start:offset].decode(errors="replace")) + 1
    return Place(data.count(b"\n", 0, offset) + 1, column)


def path_text(path: Path) -> str:
    """Return the path as Kubernetes writes it: ``spec.containers[0].image``, ``metadata.labels[a/b]``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_STEP.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{printable(step)}]"
    return text


def printable(text: str, most: int = 600) -> str:
    """Return text that cannot disturb a terminal: escapes for all that is not printable, and no more than so long."""
    if len(text) > most:
        text = text[:most] + "…"
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def quote(text: str) -> str:
    """Return the beginning of a text in double quotes, made `printable`."""
    return f'"{printable(text, 48)}"'


def describe_value(value: Any) -> str:
    """Return what a decoded value is, for the second half of "expected a list, got ..."."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, str):
        return f"the text {quote(value)}"
    if isinstance(value, int | float):
        return f"the number {printable(str(value), 48)}" if abs(value) < 1e40 else "a very large number"
    return "a mapping" if isinstance(value, dict) else "a list"


class PathTree:
    """Paths whose places are sought, as a tree, and the places found so far."""

    __slots__ = ("children", "key", "value")

    def __init__(self) -> None:
        self.children: dict[str | int, PathTree] = {}
        self.key: Place | None = None
        self.value: Place | None = None

    def add(self, path: Path) -> None:
        """Ask for a path."""
        node = self
        for step in path:
            node = node.children.setdefault(step, PathTree())

    def place(self, path: Path, *, at_key: bool = False) -> Place | None:
        """Return where the path is, or the nearest thing around it that was found."""
        node, found = self, self.value
        for step in path:
            node = node.children[step]
            if node.value is None:
                return found
            found = node.value
        return node.key if at_key and node.key else found

"""JSON to a tree of nodes with their places, strictly: no comments, no trailing commas, and ``8.0`` is no integer."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]
from typing import Any, Final

from schedctl.api.texts import whole
from schedctl.documents import trees
from schedctl.documents.trees import Node

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_NUMBER: Final = re.compile(r"(-?(?:0|[1-9][0-9]*))((?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)")
_LITERALS: Final = {"true": True, "false": False, "null": None}


def read_json(text: str) -> Node:
    """Return the one document of a text.

    Raises:
        trees.DocumentError: not JSON, or built to blow up.
    """
    return _Json(text).document()


class _Json:
    """A strict reader of one JSON document that remembers places, which the standard library's does not."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self.at = 0
        self.size = 0

    def document(self) -> Node:
        node = self.value(0)
        if self.next():
            raise self.error("expected the end of the document")
        return node

    def place(self) -> tuple[int, int]:
        line = bisect_right(self.lines, self.at)
        return line, self.at - self.lines[line - 1] + 1

    def error(self, message: str) -> trees.DocumentError:
        return trees.DocumentError(message, *self.place())

    def next(self) -> str:
        """Skip white space and return the character there, "" at the end."""
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.text[self.at : self.at + 1]

    def value(self, depth: int) -> Node:
        first = self.next()
        line, column = self.place()
        self.size += 1
        if depth > trees.MAX_DEPTH or self.size > trees.MAX_SIZE:
            raise self.error(trees.TOO_DEEP if depth > trees.MAX_DEPTH else trees.TOO_LARGE)
        if first in ("{", "["):
            closing = "}" if first == "{" else "]"
            return Node(list(self.items(depth, closing)), line, column, first == "{").measure()
        if first == '"':
            return Node(self.string(), line, column)
        for literal, meaning in _LITERALS.items():
            if self.text.startswith(literal, self.at):
                self.at += len(literal)
                return Node(meaning, line, column)
        number = _NUMBER.match(self.text, self.at)
        if number is None:
            raise self.error("expected a JSON value" if first else "the document ends too early")
        self.at = number.end()
        # more digits than any integer type holds: a float, which no integer field takes
        integral = not number[2] and len(number[1]) < 30
        return Node(int(number[1]) if integral else float(number[0]), line, column)

    def items(self, depth: int, closing: str) -> Iterator[Any]:
        """Yield the nodes of a list or the pairs of a mapping, past its closing bracket."""
        self.at += 1
        if self.next() == closing:
            self.at += 1
            return
        while True:
            yield self.pair(depth) if closing == "}" else self.value(depth + 1)
            after = self.next()
            if after not in (closing, ",") or not after:
                raise self.error(f'expected "," or "{closing}"')
            self.at += 1
            if after == closing:
                return

    def pair(self, depth: int) -> tuple[Node, Node]:
        if self.next() != '"':
            raise self.error('expected a key in double quotes (a text that begins with "{" is read as JSON)')
        place = self.place()
        key = Node(self.string(), *place)
        if self.next() != ":":
            raise self.error('expected ":"')
        self.at += 1
        return key, self.value(depth + 1)

    def string(self) -> str:
        try:
            text, self.at = scanstring(self.text, self.at + 1, True)
        except JSONDecodeError as error:
            self.at = error.pos
            raise self.error(error.msg.removesuffix(" at").lower()) from None
        return whole(text)

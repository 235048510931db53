"""Where the characters of a scalar stand in the file: for pointing into an expression, however YAML wraps it.

A tree knows where a scalar begins. What lies between that place and a character of its value depends on the style:
quotes and escapes, folded lines, the indentation of a block; `stretches` walks the text and the value side by side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

_PROPERTY: Final = re.compile(r"[&!]\S*\s+")
_ESCAPE: Final = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[^\n])")
_SURROGATES: Final = re.compile(r"\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}")
_FOLD: Final = re.compile(r"[ \t]*(?:\r?\n[ \t]*)+")
_CONTINUED: Final = re.compile(r"\\\r?\n[ \t]*")


class Stretch(NamedTuple):
    """Characters of a scalar that stand in the file as they are: from `offset` on, beginning at line and column."""

    offset: int
    line: int
    column: int


def stretches(lines: Sequence[str], line: int, column: int, value: str) -> tuple[Stretch, ...]:
    """Return the stretches of a scalar's value that stand in the file as they are.

    Args:
        lines: the file, each line with its end.
        line: where the scalar begins, 1-based.
        column: likewise.
        value: what it means.
    """
    if not (0 < line <= len(lines)):
        return ()
    first = lines[line - 1][column - 1 :]
    while found := _PROPERTY.match(first):
        first, column = first[found.end() :], column + found.end()
    if first[:1] in ("|", ">"):
        return tuple(_block(lines, line, value))
    text = first + "".join(lines[line:])
    return tuple(_locate(_flow(text, value), text, line, column))


def _block(lines: Sequence[str], line: int, value: str) -> Iterator[Stretch]:
    """Yield a stretch for each line of a literal or folded block."""
    offset, indentation = 0, 0
    for number in range(line, len(lines)):
        text = lines[number].rstrip("\r\n")
        written = text.lstrip(" ")
        if not written:
            continue
        start = len(text) - len(written)
        indentation = indentation or start
        if start < indentation:
            return
        found = value.find(text[indentation:].rstrip() or written, offset)
        if found < 0 or value[offset:found].strip():
            return
        yield Stretch(found, number + 1, indentation + 1)
        offset = found + len(text[indentation:].rstrip())


def _flow(text: str, value: str) -> Iterator[tuple[int, int]]:
    """Yield offsets in a plain or quoted scalar's value with those in the text, where a stretch begins."""
    quote = text[:1] if text[:1] in ("'", '"') else ""
    at, previous = len(quote), -2
    offset = 0
    while offset < len(value) and at < len(text):
        if quote == '"' and (continued := _CONTINUED.match(text, at)):
            at = continued.end()
            continue
        fold = _FOLD.match(text, at)
        if fold:
            breaks = fold[0].count("\n")  # one break folds into a space, more into one newline less
            offset += max(breaks - 1, 1)
            at = fold.end()
            continue
        if at != previous + 1 or not offset:  # a quote, an escape or a fold lies between this character and the last
            yield offset, at
        previous = at
        if quote == "'" and text.startswith("''", at):
            at += 2
        elif quote == '"' and text[at] == "\\":
            escape = _SURROGATES.match(text, at) or _ESCAPE.match(text, at)
            at = escape.end() if escape else at + 1
        elif text[at] == value[offset]:
            at += 1
        else:
            return  # not what the value says: better no place than a wrong one
        offset += 1


def _locate(starts: Iterator[tuple[int, int]], text: str, line: int, column: int) -> Iterator[Stretch]:
    """Yield the stretches with lines and columns."""
    for offset, at in starts:
        before = text.count("\n", 0, at)
        yield Stretch(offset, line + before, at - text.rfind("\n", 0, at) if before else column + at)

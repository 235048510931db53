"""What a stream can show: how wide it is, whether in colour, and which characters."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TextIO

import msgspec


class Terminal(msgspec.Struct, frozen=True):
    """What a text is laid out for.

    Attributes:
        width: columns, None where lines may be as long as they like.
        rows: how many lines it shows at once, 0 where that is not known.
        color: whether colour codes are written.
        encoding: what the stream can encode, "" for anything.
    """

    width: int | None = None
    color: bool = False
    encoding: str = ""
    rows: int = 0

    def printable(self, text: str) -> str:
        """Return the text in characters the stream can show; the few signs we use have an ASCII form."""
        if not self.encoding or self.encoding.lower().replace("-", "").startswith("utf"):
            return text
        return text.translate(_ASCII).encode(self.encoding, "backslashreplace").decode(self.encoding)


PLAIN = Terminal()
"""A file or a pipe: no colour, no folding of lines."""
_ASCII = str.maketrans({"→": "->", "×": "x", "≤": "<=", "…": "...", "█": "#", "▒": "+", "░": "-", "·": "."})


def of(stream: TextIO, *, color: str = "auto", environ: Mapping[str, str]) -> Terminal:
    """Return what a stream can show.

    Colour: what `color` says, else none with NO_COLOR, else some with FORCE_COLOR or CLICOLOR_FORCE, else some on a
    terminal that is not dumb. Width: COLUMNS, else the terminal's, else none at all. Rows: LINES, else the
    terminal's, of a terminal only.

    Args:
        stream: where the text goes.
        color: ``always``, ``never`` or ``auto``, as given by ``--color``.
        environ: where the variables are looked up.
    """
    terminal = stream.isatty()
    columns, rows = _size(stream, terminal, environ)
    return Terminal(columns, _color(terminal, color, environ), stream.encoding or "", rows)


def _color(terminal: bool, color: str, environ: Mapping[str, str]) -> bool:
    if color in ("always", "never"):
        return color == "always"
    if environ.get("NO_COLOR"):
        return False
    if any(environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return terminal and environ.get("TERM") != "dumb"  # as Emacs and others call one without control codes


def _size(stream: TextIO, terminal: bool, environ: Mapping[str, str]) -> tuple[int | None, int]:
    """Return the columns and rows of a stream, None and 0 where they are not known."""
    columns, rows = (int(text) if text.isdecimal() else 0 for text in map(environ.get, ("COLUMNS", "LINES"), ("", "")))
    if not terminal:
        return columns or None, 0
    try:
        size = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return columns or None, rows
    return columns or size.columns or None, rows or size.lines

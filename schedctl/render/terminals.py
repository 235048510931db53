"""What a stream can show: width, colour, and which characters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO


@dataclass(frozen=True, slots=True)
class Terminal:
    """What the text is laid out for.

    Attributes:
        width: columns, None where lines may be as long as they like.
        color: whether colour codes are written.
        unicode: whether more than ASCII can be shown.
    """

    width: int | None = None
    color: bool = False
    unicode: bool = True


PLAIN = Terminal()
"""A file or a pipe: no colour, no truncation."""


def of(stream: TextIO, *, color: str = "auto", environ: Mapping[str, str]) -> Terminal:
    """Return what a stream can show.

    Args:
        stream: where the text goes.
        color: ``always``, ``never`` or ``auto``, as given by ``--color``.
        environ: NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, TERM and COLUMNS are read.
    """
    raise NotImplementedError

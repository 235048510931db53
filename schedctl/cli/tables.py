"""Tables of the commands that list things; where they do not fit, their last column is folded."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from schedctl.render import layout, terminals

LEAST = 24
"""The narrowest a long last column may get; a terminal with less room has each row told cell by cell."""


def show(heads: Sequence[str], rows: Sequence[Sequence[str]], *, headers: bool = True) -> None:
    """Print a table on standard output.

    Args:
        heads: the titles of the columns.
        rows: the cells by row.
        headers: whether the titles are printed.
    """
    table = [heads, *rows] if headers else rows
    cells = [[(layout.Span(cell),) for cell in row] for row in table]
    terminal = terminals.of(sys.stdout, environ=os.environ)
    last = min(LEAST, max(len(row[-1]) for row in table)) if table else 0
    narrow = terminal.width is not None and _before_last(table) + last > terminal.width
    if headers and narrow:
        layout.write([layout.Table(cells[1:], heads=heads)], sys.stdout, terminal)
    else:
        layout.write([layout.Table(cells)], sys.stdout, terminal)


def _before_last(table: Sequence[Sequence[str]]) -> int:
    """Return how many columns of the terminal the table takes before its last one."""
    return sum(max(map(len, column)) + 2 for column in list(zip(*table, strict=True))[:-1])

"""Tables of the commands that list things: laid out like every other text for people."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

from schedctl.render import layout, terminals


def show(heads: Sequence[str], rows: Iterable[Sequence[str]], *, headers: bool = True) -> None:
    """Print a table on standard output.

    Args:
        heads: the titles of the columns.
        rows: the cells by row.
        headers: whether the titles are printed.
    """
    cells = [[(layout.Span(cell),) for cell in row] for row in rows]
    terminal = terminals.of(sys.stdout, environ=os.environ)
    layout.write([layout.Table(cells, heads=heads if headers else ())], sys.stdout, terminal)

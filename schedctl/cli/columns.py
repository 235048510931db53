"""Tables for people and for ``awk``: columns two blanks apart, a heading, no frames, no colour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import typer


def show(heading: Sequence[str], rows: Iterable[Sequence[str]], *, headers: bool = True) -> None:
    """Print a table on standard output; only the last column may be as long as it likes."""
    table = [list(heading), *map(list, rows)] if headers else list(map(list, rows))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())

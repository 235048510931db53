"""The calls of plugins as a table, for ``-v``: extension points in the order of a cycle, the slowest plugin first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.render.layout import Block, Cell, Span, Table, line
from schedctl.reports import counts
from schedctl.reports.metadata import PluginCalls

_UNITS = ((1.0, "s"), (1e-3, "ms"))


def lines(calls: Sequence[PluginCalls]) -> Iterator[Block]:
    """Yield the table and above it what it is; nothing where no plugin was called."""
    if not calls:
        return
    rows: list[Sequence[Cell]] = []
    before = ""
    for each in calls:
        point = each.extension_point if each.extension_point != before else ""
        before = each.extension_point
        rows.append(
            (
                (Span(point),),
                (Span(each.plugin),),
                (Span(f"{each.calls:,}"),),
                (Span(_time(each.seconds)),),
                (Span(f"{each.rows:,}" if each.rows else ""),),
            )
        )
    total = counts.of(sum(each.calls for each in calls), "call")
    yield line(f"plugins: {total}; rows are nodes that were judged or scored")
    yield Table(rows, 0, ("POINT", "PLUGIN", "CALLS", "TIME", "ROWS"), frozenset((2, 3, 4)))


def _time(seconds: float) -> str:
    scale, unit = next((each for each in _UNITS if seconds >= each[0]), (1e-6, "µs"))
    return f"{seconds / scale:.3g} {unit}"

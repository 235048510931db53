"""What comparisons of pods and of whole runs have in common: the sides, their numbers, and words for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.render.layout import Block, Line, Span, Table
from schedctl.reports import counts
from schedctl.reports.metadata import Side

FEW = 10
"""How many pods, nodes or workloads are shown before the rest is counted."""


def sides(compared: Sequence[Side]) -> Iterator[Block]:
    """Yield which configuration is which letter."""
    yield Table([((Span(side.name, "strong"),), (Span(side.configuration),)) for side in compared])


def against(side: str, first: str) -> Span:
    """Return what a line about a side begins with."""
    return Span(f"{side} against {first}: ", "strong")


def no_moves(side: str, first: str, pods: int, pending: int) -> Line:
    """Return that a side moves no pod.

    Args:
        side: its name.
        first: that of the side it is compared with.
        pods: how many pods are compared.
        pending: how many of them have no node under either side.
    """
    nowhere = f"; {pending} pending under both" if pending else ""
    number = Span(f" ({counts.of(pods, 'pod')}{nowhere})")
    return Line((against(side, first), Span("no pod would move", "good"), number))


def tally(parts: Sequence[tuple[int, str, str]]) -> list[Span]:
    """Return numbers with what they are of, those that are 0 left out."""
    spans: list[Span] = []
    for number, text, style in parts:
        if number:
            spans += [Span(", ")] if spans else []
            spans.append(Span(text, style))
    return spans or [Span("no pods")]


def plural(number: int, one: str, several: str) -> str:
    """Return a number with the verb for one or for several."""
    return f"{number} {one if number == 1 else several}"

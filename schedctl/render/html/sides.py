"""What pages of comparisons have in common: the configurations, and what the other ones do in a few words."""

from __future__ import annotations

from collections.abc import Sequence

from schedctl.render.html.markup import Markup
from schedctl.render.html.tables import Column, table
from schedctl.reports import counts
from schedctl.reports.metadata import Side


def sides(compared: Sequence[Side]) -> Markup:
    """Return which configuration is which letter."""
    rows = [[each.name, each.configuration] for each in compared]
    return table("Configurations that are compared", (Column("Side", "name"), Column("Configuration", "name")), rows)


def verdict_of(*, breaks: int, mends: int, moves: int) -> tuple[str, str]:
    """Return what other sides do to how many pods, and how that is shown."""
    parts = (
        (breaks, "would become unschedulable"),
        (mends, "would become schedulable"),
        (moves, "would move"),
    )
    phrases = [f"{counts.of(number, 'pod')} {what}" for number, what in parts if number]
    return (", ".join(phrases) or "no pod would move"), "bad" if breaks else "good" if mends or not moves else ""

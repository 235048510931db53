"""Tables of a page: with a caption, headings that the script makes sortable, and pictures in cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from schedctl.render.html.markup import Content, Markup, element, whole_words

_WORD = 36
"""A longer name may be broken, so that the other columns have room."""
_FILTERED = 12
"""A table with more rows gets a field to filter by."""


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        title: its heading.
        kind: ``name`` for what may be copied, ``number`` for what is aligned to the right, ``picture`` for bars, or "".
    """

    title: str
    kind: str = ""


class Value(NamedTuple):
    """A cell that is sorted by something else than its text.

    Attributes:
        content: what it shows.
        key: what it is sorted by.
    """

    content: Content
    key: int | float


def table(
    caption: str, columns: Sequence[Column], rows: Sequence[Sequence[Content | Value]], *, shown: int = 0
) -> Markup:
    """Return a table in a frame that can be scrolled where the screen is too narrow.

    Args:
        caption: what it is a table of, for those who do not see what is around it.
        columns: of each, its heading and kind.
        rows: cells by row.
        shown: how many rows are shown; the others are counted. 0 shows all.
    """
    cut = rows[:shown] if shown else rows
    head = element("tr", [element("th", each.title, scope="col", class_=each.kind or None) for each in columns])
    body = [element("tr", [_cell(cell, column) for cell, column in zip(row, columns, strict=True)]) for row in cut]
    filtered = len(cut) > _FILTERED
    made = element(
        "table",
        element("caption", caption),
        element("thead", head),
        element("tbody", body),
        data_sort=True,
        data_filter=filtered,
    )
    more = remainder(len(rows) - len(cut))
    return element("div", element("div", made, class_="scroll", tabindex="0", role="group", aria_label=caption), more)


def remainder(count: int) -> Markup | None:
    """Return where the rest of a list is, of which so many are not shown; None where all are."""
    return element("p", f"{count:,} more in -o json", class_="rest") if count > 0 else None


def _cell(cell: Content | Value, column: Column) -> Markup:
    content, key = cell if isinstance(cell, Value) else (cell, None)
    whole = isinstance(content, str) and "-" in content and not isinstance(content, Markup)
    shown = whole_words(content, _WORD) if whole and isinstance(content, str) else content
    return element("td", shown, class_=column.kind or None, data_key=None if key is None else str(key))

"""Lines and columns for a terminal of any width, or of none.

A `Line` is spans of text, each with the name of a style; a `Table` is rows of them that line up. Both are plain data
until `write`, so that the text is the same with colour and without; `terminals` says what a stream can show.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple, TextIO

import msgspec
from msgspec.structs import replace

from schedctl.render import sanitise
from schedctl.render.terminals import Terminal

STYLES = {
    "good": "bold green",
    "bad": "bold red",
    "warn": "bold yellow",
    "strong": "bold",
    "faint": "dim",
    "hint": "cyan",
}
"""What the names of styles mean in colour."""
_LEAST = 24
"""A folded column is not made narrower than this."""
_LEAST_OF_SEVERAL = 36
"""Columns that are folded side by side are not made narrower than this."""


class Screen(NamedTuple):
    """The size of a terminal."""

    columns: int
    rows: int


SCREEN = Screen(80, 24)
"""What the answer about one subject is cut to fit where there is no terminal. On a terminal the rows are its own, less
the prompts around the answer."""
_PROMPTS = 2
"""How many rows of a terminal the command and the next prompt take."""
ALL = 1 << 62
"""The length of a list that is shown in full."""


class Span(NamedTuple):
    """A piece of text in one style; "" is plain."""

    text: str
    style: str = ""


Cell = Sequence[Span]


class Line(msgspec.Struct, frozen=True):
    """A line of text.

    Attributes:
        spans: what it says.
        indent: columns before it.
        hang: further columns before what does not fit on the first line.
        whole: never folded, whatever the width: to be copied as it is.
        fold: the texts after which it may be folded.
    """

    spans: Cell
    indent: int = 0
    hang: int = 2
    whole: bool = False
    fold: tuple[str, ...] = (" ",)


class Table(msgspec.Struct, frozen=True):
    """Rows that line up.

    Attributes:
        rows: cells by row; a row may have fewer than the others.
        indent: columns before it.
        heads: the titles of the columns, empty for none.
        numbers: the columns that are aligned to the right.
        optional: how many columns at the right end may be left out where the table is too wide; a line names them.
        folding: how many columns at the right end may be folded side by side where that leaves each enough room.
    """

    rows: Sequence[Sequence[Cell]]
    indent: int = 0
    heads: Sequence[str] = ()
    numbers: frozenset[int] = frozenset()
    optional: int = 0
    folding: int = 0


Block = Line | Table


class ScreenText(msgspec.Struct, frozen=True):
    """A text in several lengths, of which the longest that fits the screen is written.

    Attributes:
        levels: from much to little; the last is taken where none fits. They are made as they are needed.
    """

    levels: Iterable[Sequence[Block]]


Part = Block | ScreenText


def line(text: str = "", style: str = "", *, indent: int = 0) -> Line:
    """Return a line of one span."""
    return Line((Span(text, style),), indent)


BLANK = line()


def separate(sections: Iterable[Iterable[Block]]) -> Iterator[Block]:
    """Yield the sections that have anything in them, a blank line before each."""
    for section in sections:
        blocks = list(section)
        if blocks:
            yield BLANK
            yield from blocks


def write(blocks: Iterable[Part], stream: TextIO, terminal: Terminal) -> None:
    """Lay blocks out for a terminal and write them."""
    # Sanitised here, so that no renderer can forget to, and before anything is measured: an arrow may become two signs.
    rows = terminal.rows - _PROMPTS if terminal.rows else SCREEN.rows
    lines = (
        spans
        for block in blocks
        for part in (fit_screen(block.levels, rows) if isinstance(block, ScreenText) else (block,))
        for spans in _lay_out(_sanitise(part, terminal), terminal.width)
    )
    if terminal.color:
        _write_in_color(lines, stream)
        return
    for spans in lines:
        stream.write("".join(span.text for span in spans).rstrip() + "\n")


def height(blocks: Iterable[Block], columns: int) -> int:
    """Return how many lines blocks take on a terminal of so many columns."""
    return sum(1 for block in blocks for _ in _lay_out(block, columns))


def fit_screen(levels: Iterable[Sequence[Block]], rows: int) -> Sequence[Block]:
    """Return the first of some texts, from much to little, that takes so many rows; the last where none does."""
    blocks: Sequence[Block] = ()
    for blocks in levels:
        if height(blocks, SCREEN.columns) <= rows:
            break
    return blocks


def width(text: str) -> int:
    """Return how many columns a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # wide characters take two columns; rich is loaded for them alone

    return cell_len(text)


def _write_in_color(lines: Iterable[Cell], stream: TextIO) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, force_terminal=True, color_system="standard", no_color=False)
    for spans in lines:
        pieces = [(span.text, STYLES.get(span.style, "")) for span in spans]
        text = Text.assemble(*pieces)
        text.rstrip()
        console.print(text, soft_wrap=True, markup=False, highlight=False, emoji=False)


def _sanitise(block: Block, terminal: Terminal) -> Block:
    """Return a block in characters that a terminal may get and can show."""

    def printable(text: str) -> str:
        return terminal.printable(sanitise.text(text))

    def cell(spans: Cell) -> Cell:
        return tuple(Span(printable(span.text), span.style) for span in spans)

    if isinstance(block, Line):
        return replace(block, spans=cell(block.spans))
    return replace(
        block, rows=[[cell(each) for each in row] for row in block.rows], heads=[*map(printable, block.heads)]
    )


def _lay_out(block: Block, limit: int | None) -> Iterator[Cell]:
    if isinstance(block, Line):
        yield from _fold(block, limit)
        return
    rows = block.rows
    if not rows:
        return
    titles: list[Sequence[Cell]] = [[(Span(head, "faint"),) for head in block.heads]] if block.heads else []
    widths = _widths([*titles, *rows])
    for _ in range(block.optional):
        if limit is None or block.indent + sum(widths) + 2 * (len(widths) - 1) <= limit:
            break
        widths = widths[:-1]
    rows = [row[: len(widths)] for row in rows]
    titles = [row[: len(widths)] for row in titles]
    before = block.indent + sum(each + 2 for each in widths[:-1])
    # A table without titles that is too wide still lines up if its last column can be folded; one with titles would
    # fold them as well, so each of its rows is told cell by cell.
    fits = limit is None or before + widths[-1] <= limit
    shares = None if fits or limit is None else _shares(widths, block, limit)
    if shares is not None:
        for row in (*titles, *rows):
            yield from _fold_cells(row, shares, block)
    elif fits or (not titles and limit is not None and before + _LEAST <= limit):
        for row in (*titles, *rows):
            yield from _row(row, widths, block, None if fits else limit)
    else:
        if titles and 0 in block.numbers:
            yield from _row(titles[0][:2], widths[:2], block, None)
        for row in rows:
            yield from _stack_cells(row, widths, block, limit)
    if left_out := block.heads[len(widths) :]:
        text = f"too wide for this terminal: {', '.join(left_out)}"
        yield from _fold(Line((Span(text, "faint"),), block.indent), limit)


def _row(row: Sequence[Cell], widths: Sequence[int], table: Table, limit: int | None) -> Iterator[Cell]:
    spans: list[Span] = []
    for index, cell in enumerate(row):
        padding = Span(" " * (widths[index] - _length(cell)))
        last = index == len(widths) - 1
        if index in table.numbers:
            spans += (padding, *cell)
        else:
            spans += cell if last else (*cell, padding)
        spans += () if last else (Span("  "),)
    yield from _fold(Line(spans, table.indent, sum(each + 2 for each in widths[:-1])), limit)


def _shares(widths: Sequence[int], table: Table, limit: int) -> list[int] | None:
    """Return the widths at which the columns that fold share what the others leave, None where it is too little."""
    if not table.folding:
        return None
    fixed, folding = list(widths[: -table.folding]), list(widths[-table.folding :])
    room = limit - table.indent - sum(each + 2 for each in fixed) - 2 * (len(folding) - 1)
    for number, index in enumerate(sorted(range(len(folding)), key=folding.__getitem__)):  # the narrow ones first
        folding[index] = min(folding[index], max(room // (len(folding) - number), _LEAST_OF_SEVERAL))
        room -= folding[index]
    return [*fixed, *folding] if room >= 0 else None


def _fold_cells(row: Sequence[Cell], widths: Sequence[int], table: Table) -> Iterator[Cell]:
    """Yield a row with each cell folded in its own column."""
    folded = [
        [
            (*spans[:-1], Span(spans[-1].text.rstrip(), spans[-1].style))
            for spans in _fold(Line(cell, hang=0), width)
            if spans
        ]
        for cell, width in zip(row, widths, strict=False)
    ]
    for parts in zip_longest(*folded, fillvalue=()):
        yield from _row(parts, widths, table, None)


def _stack_cells(row: Sequence[Cell], widths: Sequence[int], table: Table, limit: int | None) -> Iterator[Cell]:
    """Yield a row that does not fit: its first cell, below it the others with their titles; a number leads the second.

    The titles of the first two stand above all rows then.
    """
    numbered = bool(table.heads) and 0 in table.numbers and len(row) > 1
    first, indent = row[0], table.indent + 2
    if numbered:
        first, indent = (Span(" " * (widths[0] - _length(first))), *first, Span("  "), *row[1]), indent + widths[0]
    yield from _fold(Line(first, table.indent, indent - table.indent), limit)
    for index, cell in enumerate(row[1 + numbered :], 1 + numbered):
        head = table.heads[index] if table.heads else ""  # bars and remarks have none
        title = (Span(f"{head}: ", "faint"),) if head else ()
        if any(span.text for span in cell):
            yield from _fold(Line((*title, *cell), indent), limit)


def _widths(rows: Sequence[Sequence[Cell]]) -> list[int]:
    columns = max(map(len, rows))
    return [max((_length(row[i]) for row in rows if i < len(row)), default=0) for i in range(columns)]


def _length(cell: Cell) -> int:
    return sum(width(span.text) for span in cell)


def _fold(block: Line, limit: int | None) -> Iterator[Cell]:
    spans = block.spans
    if not any(span.text for span in spans):
        yield ()
        return
    if limit is None or block.whole or block.indent + _length(spans) <= limit:
        yield (Span(" " * block.indent), *spans)
        return
    hang = block.indent + block.hang
    hang = hang if limit - hang >= _LEAST else block.indent
    current: list[Span] = [Span(" " * block.indent)]
    used, empty = block.indent, True
    for word in _words(spans, block.fold, limit - hang):
        if not empty and used + width(word.text.rstrip()) > limit:
            yield current
            current, used, empty = [Span(" " * hang)], hang, True
        if empty and not word.text.strip() and used == hang:  # spaces at a break do not indent the next line
            continue
        current.append(word)
        used += width(word.text)
        empty = False
    yield current


def _words(spans: Cell, fold: Sequence[str], room: int) -> Iterator[Span]:
    """Split where a line may be folded, keeping what it is folded after at the end of each part.

    A part that is longer than a line has room for is folded at its spaces after all.
    """
    for span in spans:
        at = 0
        while at < len(span.text):
            end = min((place + len(each) for each in fold if (place := span.text.find(each, at)) >= 0), default=None)
            part = Span(span.text[at:end], span.style)
            if width(part.text) > room and " " not in fold:
                yield from _words((part,), (" ",), room)
            else:
                yield part
            at += len(part.text)

"""Tables of results: the same cells as lines on a terminal, while they are measured, and as Markdown."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """One column: its title, what it shows of a row, and how wide it is on a terminal."""

    title: str
    cell: Callable[[Row], str]
    width: int = 10
    left: bool = False

    def pad(self, text: str) -> str:
        return text.ljust(self.width) if self.left else text.rjust(self.width)


def head(columns: Iterable[Column]) -> str:
    """The titles, as a line."""
    return " ".join(column.pad(column.title) for column in columns).rstrip()


def line(columns: Iterable[Column], row: Row) -> str:
    """A row, as a line."""
    return " ".join(column.pad(column.cell(row)) for column in columns).rstrip()


def markdown(columns: Iterable[Column], rows: Iterable[Row]) -> str:
    """All rows, as a table in Markdown."""
    columns = list(columns)
    lines = [[column.title for column in columns], ["---" if column.left else "---:" for column in columns]]
    lines += ([column.cell(row) for column in columns] for row in rows)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def times(ratio: float) -> str:
    """A ratio: two digits of it count."""
    return f"{ratio:,.0f}x" if ratio >= 10 else f"{ratio:.1f}x"


def bullets(sentences: Iterable[str]) -> str:
    """Sentences, one below the other."""
    return "".join(f"- {sentence}\n" for sentence in sentences)

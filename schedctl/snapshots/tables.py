"""Tables in a snapshot: parts that many objects have in common, each written once, in front of a row for each object.

A kind that comes by the thousand, as pods and nodes do, is written as an object of tables. The rows stand last and each
on a line of its own, so that an object has a place in the file that can be told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Generic, TypeVar

import msgspec

T = TypeVar("T")
Place = Annotated[int, msgspec.Meta(ge=0)]
"""Where in a table a part is."""


class Table(Generic[T]):
    """Distinct parts in order of first sight, as texts.

    Args:
        encode: what makes JSON of a part.
        *first: parts that have the first places, whether they are met or not.
    """

    def __init__(self, encode: Callable[[Any], bytes], *first: T) -> None:
        self._encode = encode
        self._known: dict[bytes, int] = {}
        for part in first:
            self.place(part)

    def place(self, part: T) -> int:
        """Return the place of a part, giving it one if it is new."""
        return self._known.setdefault(self._encode(part), len(self._known))

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._known)


def encode_tables(tables: Mapping[str, Iterable[bytes]], name: str, rows: Sequence[Any]) -> bytes:
    """Return tables and rows as JSON.

    Args:
        tables: by name, filled.
        name: of the rows.
        rows: one for each object.
    """
    parts = [*tables.items(), (name, map(msgspec.json.encode, rows))]
    return b"{%s}" % b",\n".join(b'"%s":[\n%s\n]' % (each.encode(), b",\n".join(part)) for each, part in parts)


def is_tabled(text: msgspec.Raw) -> bool:
    """Return whether a kind is written as tables, and not as a plain list of its objects."""
    return bytes(memoryview(text)[:1]) == b"{"

"""Lists that come in pages, as far as going from one page to the next takes.

Whoever lists something has its own use for the items and its own view of a list that cannot be gone on with; how pages
hang together is the same for all. A server that hands out a token a second time, or more pages than there can be,
would be listed for ever, and is refused instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from schedctl.live import faults
from schedctl.live.connections import Connection

LIMIT: Final = 500
"""How many objects a page is asked to hold."""
MOST_PAGES: Final = 10_000
"""How many pages of one list are read: five million objects, thirty times what Kubernetes is made for."""
MOST_BYTES: Final = 8 << 30
"""How many bytes of one list are read: 150,000 pods of 56 KiB."""


class Page(msgspec.Struct, frozen=True):
    """A page of a list.

    Attributes:
        body: as the server sent it, JSON.
        items: its objects, JSON.
        version: the resourceVersion of the list.
        remaining: how many objects are on later pages, as far as the server says.
    """

    body: bytes
    items: tuple[msgspec.Raw, ...]
    version: str
    remaining: int


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")
    remaining_item_count: int = 0


class _List(msgspec.Struct):
    metadata: _ListMeta
    items: list[msgspec.Raw] | None = None


def pages(connection: Connection, path: str, query: Mapping[str, str] | None = None) -> Iterator[Page]:
    """Yield the pages of a list.

    Args:
        connection: the cluster.
        path: of the collection.
        query: what narrows it down, such as a ``fieldSelector``.

    Raises:
        Refused: the server says no: at once, or with 410 because it no longer keeps what it began.
        Unanswered: nobody answers, or not with a list.
    """
    parameters = {"limit": str(LIMIT), **(query or {})}
    tokens: set[str] = set()
    size = 0
    while True:
        body = connection.get(path, parameters).body
        try:
            found = msgspec.json.decode(body, type=_List)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise faults.unreadable(connection.name, f"the answer cannot be read: {error}") from None
        metadata = found.metadata
        yield Page(body, tuple(found.items or ()), metadata.resource_version, metadata.remaining_item_count)
        if not metadata.continue_:
            return
        size += len(body)
        if endless := _why_endless(metadata.continue_ in tokens, len(tokens) + 1, size):
            raise faults.unreadable(connection.name, f"the list of {path} never ends: {endless}")
        tokens.add(metadata.continue_)
        parameters["continue"] = metadata.continue_


def _why_endless(repeated: bool, read: int, size: int) -> str:
    """Return why a list that goes on is not followed any further, "" where it is."""
    if repeated:
        return "a page continues with an earlier page"
    if read >= MOST_PAGES:
        return f"there are more than {MOST_PAGES:,} pages"
    return f"there are more than {MOST_BYTES >> 30} GiB" if size > MOST_BYTES else ""

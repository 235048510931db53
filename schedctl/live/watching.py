"""A cluster as it changes: every kind that was listed is watched from the moment of its list on.

Each kind has a thread of its own, which tells what it hears through one queue; whoever asks gets what has come together
meanwhile, so that a burst of changes is one piece of news. A watch goes on from the last version it knows where it
breaks off or is ended, which servers do every few minutes; where the server no longer knows that version (410) the kind
is listed anew. Bookmarks keep the version young for kinds in which nothing happens.

A kind that may be listed but not watched stays as it was listed, and that is told; nodes and pods have to be watched.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import Final

import msgspec

from schedctl.api.kinds import KINDS, Kind
from schedctl.errors import ClusterError
from schedctl.live import codes, listing
from schedctl.live.connections import Connection
from schedctl.live.faults import Refused
from schedctl.live.listing import NEEDED, Listing
from schedctl.live.objects import collection

SECONDS: Final = 300
"""After how many seconds a server is asked to end a watch, which then goes on in a new request."""
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 30.0
QUIET: Final = 0.25
"""Seconds of silence after which a burst of changes is over, and how many it may last."""
BURST: Final = 2.0
_PASSING = (codes.UNAUTHORIZED, codes.TOO_MANY_REQUESTS)


@dataclass(frozen=True, slots=True)
class Put:
    """An object is new, or other than it was; `body` is what the server sent, JSON."""

    kind: Kind
    body: bytes


@dataclass(frozen=True, slots=True)
class Removed:
    """An object is gone; `body` is how it was last."""

    kind: Kind
    body: bytes


@dataclass(frozen=True, slots=True)
class Listed:
    """All objects of a kind, listed anew; what is not among them is gone."""

    kind: Kind
    bodies: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Trouble:
    """A kind cannot be watched: for the moment, or at all; in words."""

    kind: Kind
    text: str
    lasting: bool


News = Put | Removed | Listed | Trouble


class _Metadata(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _Versioned(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _Line(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Status(msgspec.Struct):
    code: int = 0
    message: str = ""


class _Listing(msgspec.Struct, rename="camel"):
    api_version: str = ""


class _Outdated(Exception):
    """The server no longer knows the version from which on it was to tell."""


class Watch:
    """The changes of a cluster since it was listed; a context manager, whose threads die with the process."""

    def __init__(self, connection: Connection, found: Listing) -> None:
        """Begin to watch every kind that was listed."""
        self._connection = connection
        self._news: SimpleQueue[News | ClusterError] = SimpleQueue()
        self._ended = threading.Event()
        served = {page.kind: _api_version(page.body) for page in reversed(found.pages)}
        for kind in KINDS:
            if kind.name in found.versions:
                path = collection(replace(kind, api_version=served.get(kind) or kind.api_version))
                arguments = (kind, path, found.versions[kind.name])
                threading.Thread(target=self._watch_kind, args=arguments, daemon=True).start()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *raised: object) -> None:
        self._ended.set()

    def news(self, timeout: float | None = None) -> list[News]:
        """Return what has happened, as soon as something has and no more follows at once; empty after the timeout.

        Raises:
            ClusterError: nodes or pods cannot be watched.
        """
        try:
            found = [self._news.get(timeout=timeout)]
        except Empty:
            return []
        until = time.monotonic() + BURST
        while (left := until - time.monotonic()) > 0:
            try:
                found.append(self._news.get(timeout=min(QUIET, left)))
            except Empty:
                break
        for each in found:
            if isinstance(each, ClusterError):
                raise each
        return [each for each in found if not isinstance(each, ClusterError)]

    def _watch_kind(self, kind: Kind, path: str, version: str) -> None:
        """Tell what happens to one kind, until nobody wants to know; a fault that nobody expected is told as well."""
        pause = FIRST_PAUSE
        while not self._ended.is_set():
            began, before = time.monotonic(), version
            try:
                for reached in self._read_changes(kind, path, version):
                    version, pause = reached, FIRST_PAUSE
                    if self._ended.is_set():
                        return
                if version != before or time.monotonic() - began > LONGEST_PAUSE:
                    self._ended.wait(QUIET)
                    continue
            except _Outdated:
                fresh = self._list_again(kind)
                if fresh:
                    version = fresh
                    continue
            except Refused as fault:
                if fault.code == codes.EXPIRED:
                    version = self._list_again(kind) or version
                elif fault.code < codes.INTERNAL_ERROR and fault.code not in _PASSING:
                    self._news.put(fault if kind.name in NEEDED else Trouble(kind, str(fault), lasting=True))
                    return
                else:
                    self._news.put(Trouble(kind, str(fault), lasting=False))
            except ClusterError as fault:
                self._news.put(Trouble(kind, str(fault), lasting=False))
            except Exception as fault:  # a thread that ends unheard would leave the kind as it was for good
                text = f"{type(fault).__name__}: {fault}"
                unheard = ClusterError(f"{path} cannot be watched any more: {text}")
                self._news.put(unheard if kind.name in NEEDED else Trouble(kind, text, lasting=True))
                return
            self._ended.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _read_changes(self, kind: Kind, path: str, version: str) -> Iterator[str]:
        """Tell what one request has to say, and yield the version after each line.

        Raises:
            ClusterError: it cannot be begun, or a line in the middle of it cannot be understood.
            _Outdated: the server no longer knows the version.
        """
        broken = ""
        query = {
            "watch": "1",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(SECONDS),
        }
        for text in self._connection.stream(path, query):
            if broken:
                raise ClusterError(f"watching {path}: a line cannot be understood: {broken}")
            try:
                line = msgspec.json.decode(text, type=_Line)
                if line.type == "ERROR":
                    status = msgspec.json.decode(line.object, type=_Status)
                    if status.code == codes.EXPIRED:
                        raise _Outdated
                    raise ClusterError(f"watching {path}: {status.message or status.code}")
                reached = msgspec.json.decode(line.object, type=_Versioned).metadata.resource_version
            except (msgspec.DecodeError, UnicodeDecodeError) as fault:
                broken = str(fault)  # where it is the last one it broke off, and comes again
                continue
            if line.type in ("ADDED", "MODIFIED"):
                self._news.put(Put(kind, bytes(line.object)))
            elif line.type == "DELETED":
                self._news.put(Removed(kind, bytes(line.object)))
            yield reached

    def _list_again(self, kind: Kind) -> str:
        """List a kind again, tell what there is, and return its version; "" where that is not possible now."""
        try:
            found = listing.read(self._connection, (kind,))
        except ClusterError as fault:
            self._news.put(Trouble(kind, str(fault), lasting=False))
            return ""
        if kind.name not in found.versions:
            self._news.put(Trouble(kind, next((gap.text for gap in found.missing), "is not served"), lasting=False))
            return ""
        self._news.put(Listed(kind, tuple(page.body for page in found.pages)))
        return found.versions[kind.name]


def _api_version(page: bytes) -> str:
    return msgspec.json.decode(page, type=_Listing).api_version

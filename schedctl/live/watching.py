"""A cluster as it changes: every kind that was listed is watched from the moment of its list on.

Each kind has a thread of its own, and all of them put their events into one queue; `Watch.events` returns what has
come together, so that a burst of changes is one answer. A kind that may be listed but not watched stays as it was
listed, which is an event too; nodes and pods have to be watched.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from queue import Empty, SimpleQueue
from typing import Final

import msgspec
from msgspec.structs import replace

from schedctl.api.kinds import KINDS, Kind
from schedctl.errors import ClusterError
from schedctl.live import codes, faults, listing
from schedctl.live.connections import Connection
from schedctl.live.faults import Refused
from schedctl.live.listing import NEEDED, Listing
from schedctl.live.objects import collection

SECONDS: Final = 300
"""After how many seconds a server is asked to end a watch, which then goes on in a new request."""
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 30.0
QUIET: Final = 0.25
"""Seconds of silence after which a burst of changes is over."""
BURST: Final = 2.0
"""Seconds that a burst may last."""
_TRANSIENT = (codes.UNAUTHORIZED, codes.TOO_MANY_REQUESTS)


class Changed(msgspec.Struct, frozen=True):
    """An object is new, or other than it was; `body` is what the server sent, JSON."""

    kind: Kind
    body: bytes


class Deleted(msgspec.Struct, frozen=True):
    """An object is gone; `body` is how it was last."""

    kind: Kind
    body: bytes


class Relisted(msgspec.Struct, frozen=True):
    """All objects of a kind, listed anew; what is not among them is gone."""

    kind: Kind
    bodies: tuple[bytes, ...]


class WatchFailure(msgspec.Struct, frozen=True):
    """A kind cannot be watched: for the moment, or at all; in words."""

    kind: Kind
    text: str
    lasting: bool


WatchEvent = Changed | Deleted | Relisted | WatchFailure


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
    """The server no longer knows the version from which on it was to watch."""


class Watch:
    """The changes of a cluster since it was listed; a context manager, whose threads die with the process."""

    def __init__(self, connection: Connection, found: Listing) -> None:
        """Begin to watch every kind that was listed."""
        self._connection = connection
        self._events: SimpleQueue[WatchEvent | ClusterError] = SimpleQueue()
        self._ended = threading.Event()
        # A kind may have been listed in an earlier version than the first that we read; it is watched in the same.
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

    def events(self, timeout: float | None = None) -> list[WatchEvent]:
        """Return what has happened, as soon as something has and no more follows at once; empty after the timeout.

        Raises:
            ClusterError: nodes or pods cannot be watched.
        """
        try:
            found = [self._events.get(timeout=timeout)]
        except Empty:
            return []
        until = time.monotonic() + BURST
        while (left := until - time.monotonic()) > 0:
            try:
                found.append(self._events.get(timeout=min(QUIET, left)))
            except Empty:
                break
        for each in found:
            if isinstance(each, ClusterError):
                raise each
        return [each for each in found if not isinstance(each, ClusterError)]

    def _watch_kind(self, kind: Kind, path: str, version: str) -> None:
        """Put what happens to one kind into the queue until the watch is left, a fault that nobody expected as well."""
        pause = FIRST_PAUSE
        while not self._ended.is_set():
            began, before = time.monotonic(), version
            try:
                for reached in self._read_changes(kind, path, version):
                    version, pause = reached, FIRST_PAUSE
                    if self._ended.is_set():
                        return
                # The server ended the watch, as it does every few minutes: the next request goes on where this one was.
                # One that ends at once and says nothing is no such watch, and pauses grow as after a fault.
                if version != before or time.monotonic() - began > LONGEST_PAUSE:
                    self._ended.wait(QUIET)
                    continue
            except _Outdated:
                fresh = self._list_again(kind)
                if fresh:
                    version = fresh
                    continue
            except Refused as fault:
                if fault.code == codes.EXPIRED:  # some servers say so before the stream begins, others within it
                    version = self._list_again(kind) or version
                elif fault.code < codes.INTERNAL_ERROR and fault.code not in _TRANSIENT:
                    self._events.put(fault if kind.name in NEEDED else WatchFailure(kind, str(fault), lasting=True))
                    return
                else:
                    self._events.put(WatchFailure(kind, str(fault), lasting=False))
            except ClusterError as fault:
                self._events.put(WatchFailure(kind, str(fault), lasting=False))
            except Exception as fault:  # a thread that ends unheard would leave the kind as it was for good
                text = f"{type(fault).__name__}: {fault}"
                unheard = ClusterError(f"the watch of {path} ended: {text}")
                self._events.put(unheard if kind.name in NEEDED else WatchFailure(kind, text, lasting=True))
                return
            self._ended.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _read_changes(self, kind: Kind, path: str, version: str) -> Iterator[str]:
        """Put the events of one request into the queue, and yield the version after each line.

        Raises:
            ClusterError: it cannot be begun, or a line in the middle of it cannot be understood.
            _Outdated: the server no longer knows the version.
        """
        broken = ""
        query = {
            "watch": "1",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",  # they keep the version young for kinds in which nothing happens
            "timeoutSeconds": str(SECONDS),
        }
        for text in self._connection.stream(path, query):
            if broken:
                raise ClusterError(f"the watch of {path}: cannot read an event: {broken}")
            try:
                line = msgspec.json.decode(text, type=_Line)
                if line.type == "ERROR":
                    status = msgspec.json.decode(line.object, type=_Status)
                    if status.code == codes.EXPIRED:
                        raise _Outdated
                    raise ClusterError(f"the watch of {path}: {faults.line(status.message) or status.code}")
                reached = msgspec.json.decode(line.object, type=_Versioned).metadata.resource_version
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
                broken = str(fault)  # where it is the last one it broke off, and comes again
                continue
            if line.type in ("ADDED", "MODIFIED"):
                self._events.put(Changed(kind, bytes(line.object)))
            elif line.type == "DELETED":
                self._events.put(Deleted(kind, bytes(line.object)))
            yield reached

    def _list_again(self, kind: Kind) -> str:
        """List a kind again for one event, and return its version; "" where that is not possible now."""
        try:
            found = listing.read(self._connection, (kind,))
        except ClusterError as fault:
            self._events.put(WatchFailure(kind, str(fault), lasting=False))
            return ""
        if kind.name not in found.versions:
            text = next((gap.text for gap in found.missing), "is not served")
            self._events.put(WatchFailure(kind, text, lasting=False))
            return ""
        self._events.put(Relisted(kind, tuple(page.body for page in found.pages)))
        return found.versions[kind.name]


def _api_version(page: bytes) -> str:
    return msgspec.json.decode(page, type=_Listing).api_version

"""Every kind that scheduling reads, as the API server lists it.

Kinds are listed side by side, each page by page at one resourceVersion, so that every list is consistent in itself, as
those of kube-scheduler's informers are; two lists may be moments apart, as theirs may. What cannot be listed is a
`Gap`, not an error, but for nodes and pods, without which there is no answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime
from queue import SimpleQueue
from typing import Final, TypeVar

import msgspec
from msgspec.structs import replace

from schedctl.api.gaps import Gap
from schedctl.api.kinds import KINDS, Kind
from schedctl.errors import ClusterError
from schedctl.live import faults
from schedctl.live.codes import EXPIRED, FORBIDDEN, NOT_FOUND
from schedctl.live.connections import Connection
from schedctl.live.faults import Refused
from schedctl.live.objects import collection
from schedctl.live.pages import pages

Progress = Callable[[str, int, int], None]
"""Called with a kind, how many of its objects are there, and how many there are to be in all as far as is known."""

NEEDED: Final = ("Node", "Pod")
"""The kinds without which there is no answer."""
THREADS: Final = 6
ATTEMPTS: Final = 4
"""How often one list is begun, at most."""
T = TypeVar("T")


class KindPage(msgspec.Struct, frozen=True):
    """A part of the list of one kind.

    Attributes:
        kind: the kind.
        body: the list as the server sent it, JSON.
    """

    kind: Kind
    body: bytes


class Listing(msgspec.Struct, frozen=True):
    """What a cluster holds.

    Attributes:
        pages: the lists, kind by kind in the order of `schedctl.api.kinds.KINDS`.
        missing: the kinds that could not be listed.
        versions: by name of a kind, the resourceVersion at which it was listed.
        server_version: the API server's, e.g. ``v1.37.1``.
        taken: when it was listed, by the server's clock, RFC 3339; "" where it has none.
        unserved: the names of the kinds that the server does not have, and so no objects of.
    """

    pages: tuple[KindPage, ...]
    missing: tuple[Gap, ...]
    versions: dict[str, str]
    server_version: str
    taken: str
    unserved: tuple[str, ...] = ()


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""


class _GroupVersion(msgspec.Struct, rename="camel"):
    group_version: str = ""


class _Group(msgspec.Struct):
    versions: list[_GroupVersion] = []


class _Resource(msgspec.Struct):
    name: str = ""


class _Resources(msgspec.Struct):
    resources: list[_Resource] = []


class _KindList(msgspec.Struct, frozen=True):
    """The list of one kind, or why there is none."""

    pages: tuple[KindPage, ...] = ()
    version: str = ""
    gap: Gap | None = None
    served: bool = True


class _Message(msgspec.Struct, frozen=True):
    """From a thread: how far it is, what it has in the end, or what went wrong."""

    kind: Kind
    done: int = 0
    total: int = 0
    result: _KindList | None = None
    fault: BaseException | None = None


class _RestartList(Exception):
    """A list has to be begun anew; its argument says why."""


def read(connection: Connection, kinds: Sequence[Kind] = KINDS, progress: Progress | None = None) -> Listing:
    """List kinds side by side; each list is consistent in itself.

    Raises:
        ClusterError: the server cannot be reached or does not let us in, or nodes or pods cannot be listed.
    """
    server_version, taken = _server(connection)
    found = _list_concurrently(connection, kinds, progress or (lambda kind, done, total: None))
    lists = [(kind, found[kind]) for kind in kinds]
    return Listing(
        pages=tuple(page for _, one in lists for page in one.pages),
        missing=tuple(one.gap for _, one in lists if one.gap is not None),
        versions={kind.name: one.version for kind, one in lists if one.version},
        server_version=server_version,
        taken=taken,
        unserved=tuple(kind.name for kind, one in lists if not one.served),
    )


def _server(connection: Connection) -> tuple[str, str]:
    """Return the version and the time of a server, "" where it does not say; whoever may do nothing may ask this."""
    try:
        answer = connection.get("/version")
    except Refused as fault:
        if fault.code not in (FORBIDDEN, NOT_FOUND):
            raise
        return "", ""
    version = _decode(connection, answer.body, _Version).git_version
    try:
        taken = parsedate_to_datetime(answer.headers.get("date", ""))
    except ValueError:
        return version, ""
    return version, taken.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _list_concurrently(connection: Connection, kinds: Sequence[Kind], progress: Progress) -> dict[Kind, _KindList]:
    """List kinds in a few threads, which die with the process: an interrupt does not wait for a silent server."""
    waiting, messages = iter(kinds), SimpleQueue[_Message]()
    taking, ended = threading.Lock(), threading.Event()

    def work() -> None:
        while not ended.is_set():
            with taking:
                kind = next(waiting, None)
            if kind is None:
                return
            try:
                messages.put(_Message(kind, result=_list_kind(connection, kind, messages, ended)))
            except BaseException as fault:  # whatever it is, it is raised where the answer is awaited
                messages.put(_Message(kind, fault=fault))

    for _ in range(min(THREADS, len(kinds))):
        threading.Thread(target=work, daemon=True).start()
    found: dict[Kind, _KindList] = {}
    try:
        while len(found) < len(kinds):
            message = messages.get()
            if message.fault is not None:
                raise message.fault
            if message.result is not None:
                found[message.kind] = message.result
            else:
                progress(message.kind.name, message.done, message.total)
    finally:
        ended.set()
    return found


def _list_kind(
    connection: Connection, kind: Kind, messages: SimpleQueue[_Message], ended: threading.Event
) -> _KindList:
    """List one kind, in the first version that is served."""
    for version in kind.versions:
        try:
            return _list_with_retries(connection, kind, version, messages, ended)
        except Refused as fault:
            if fault.code == FORBIDDEN and kind.name not in NEEDED:
                return _KindList(gap=Gap(kind.name, "Forbidden", fault.text))
            if fault.code != NOT_FOUND or kind.name in NEEDED:
                raise
    # A kind that is not served has no objects, and that cluster's kube-scheduler reads none either: DeviceTaintRule
    # without its gate, devices in an old cluster. One that is served in a version that we do not read is a gap.
    other_version = _other_served_version(connection, kind)
    return _KindList(gap=Gap(kind.name, "Unread", other_version)) if other_version else _KindList(served=False)


def _list_with_retries(
    connection: Connection, kind: Kind, version: str, messages: SimpleQueue[_Message], ended: threading.Event
) -> _KindList:
    namespace, _, name = kind.only.rpartition("/")
    path = collection(replace(kind, api_version=version), namespace)
    # a role that allows one name allows a list of it that says so
    query = {"fieldSelector": f"metadata.name={name}"} if name else None
    for attempt in range(1, ATTEMPTS + 1):
        kept: list[KindPage] = []
        done, at = 0, ""
        try:
            for page in pages(connection, path, query):
                if ended.is_set():
                    break
                if at and page.version != at:
                    raise _RestartList("the server answers with pages of several versions")
                at, done = page.version, done + len(page.items)
                kept.append(KindPage(kind, page.body))
                messages.put(_Message(kind, done, done + page.remaining))
            return _KindList(tuple(kept), at)
        except (_RestartList, Refused) as fault:
            # 410 on a later page: the server no longer keeps that version, so the list begins anew. On the first page
            # there was no version yet to be too old.
            if isinstance(fault, Refused) and not (fault.code == EXPIRED and kept):
                raise
            if attempt == ATTEMPTS:
                why = fault.text or "that version is no longer kept" if isinstance(fault, Refused) else fault
                raise ClusterError(
                    f"{connection.name}: {path} could not be listed completely in {attempt} attempts: {why}",
                    "the API server or its etcd is overloaded; try again later",
                ) from None
    raise AssertionError("unreachable")


def _other_served_version(connection: Connection, kind: Kind) -> str:
    """Say in which version the server has a kind that it has in none that we read, "" where it has it in none."""
    group, _, version = kind.api_version.rpartition("/")
    if not group:  # the core group
        return f"the server does not serve {version}, which every API server does"
    try:
        served = _decode(connection, connection.get(f"/apis/{group}").body, _Group).versions
        for one in served:
            if one.group_version in kind.versions:
                continue
            resources = _decode(connection, connection.get(f"/apis/{one.group_version}").body, _Resources).resources
            if any(resource.name == kind.resource for resource in resources):
                return f"the server serves it as {one.group_version}, which schedctl does not read"
    except Refused as fault:
        return "" if fault.code == NOT_FOUND else fault.text or "and it does not list what it serves"
    return ""


def _decode(connection: Connection, body: bytes, type_: type[T]) -> T:
    """Return an answer as a struct.

    Raises:
        Unanswered: it is not what an API server answers.
    """
    try:
        return msgspec.json.decode(body, type=type_)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise faults.unreadable(connection.name, f"the answer cannot be read: {error}") from None

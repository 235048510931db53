"""Snapshots as bytes: written with one object a line, read kind by kind.

A snapshot is one JSON document whose ``objects`` hold a list for each kind, but for pods and nodes, which stand in
tables (`schedctl.snapshots.pods`, `schedctl.snapshots.nodes`); in ``v1alpha1`` they stood in lists too. The same state
gives the same bytes, but for the time in the header::

    {"apiVersion": "schedctl.dev/v1alpha2", "kind": "Snapshot", "metadata": {...}, "objects": {"Pod": {...}, ...}}
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Literal

import msgspec

from schedctl.api import autoscalers
from schedctl.api.kinds import KINDS, Kind
from schedctl.reports.snapshots import Header
from schedctl.snapshots import nodes, pods
from schedctl.snapshots.headers import API_VERSION, EARLIER, KIND

STORED: tuple[Kind, ...] = (*KINDS, *autoscalers.KINDS)
"""Every kind that a snapshot holds, in the order in which it does."""
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")
PACKED = ".gz"
"""The end of the name of a file that is packed."""

_TABLES = {"Pod": pods.Tables, "Node": nodes.Tables}
"""How the kinds are written that stand in tables."""

Objects = msgspec.defstruct(
    "Objects",
    [
        (
            kind.name,
            _TABLES[kind.name] | list[kind.struct] if kind.name in _TABLES else list[kind.struct],  # type: ignore[name-defined]
            msgspec.field(default_factory=list),
        )
        for kind in STORED
    ],
    namespace={"__doc__": "What the cluster holds: the fields that scheduling reads, by kind."},
    frozen=True,
    kw_only=True,
)


class Snapshot(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A cluster as scheduling reads it, in one file.

    Attributes:
        metadata: what it says of itself.
        objects: the objects, by kind.
    """

    api_version: Literal["schedctl.dev/v1alpha1", "schedctl.dev/v1alpha2"]
    kind: Literal["Snapshot"]
    metadata: Header = Header()
    objects: Objects  # type: ignore[valid-type]


class _Envelope(msgspec.Struct, frozen=True, rename="camel"):
    """A snapshot of which nothing is decoded yet."""

    api_version: str = ""
    metadata: msgspec.Raw = msgspec.Raw(b"{}")
    objects: msgspec.Raw = msgspec.Raw()


class _Headed(msgspec.Struct, frozen=True):
    """What of a snapshot is small."""

    metadata: Header = Header()


class DamagedSnapshot(ValueError):
    """A document is no snapshot that can be read.

    Attributes:
        message: what is wrong.
        path: the field, as far as it is known.
        hint: a next step, or "".
    """

    def __init__(self, message: str, path: tuple[str | int, ...] = (), hint: str = "") -> None:
        super().__init__(message)
        self.message, self.path, self.hint = message, path, hint


class ReadSnapshot(msgspec.Struct, frozen=True):
    """What a document holds.

    Attributes:
        header: what it says of itself.
        objects: the objects, kind by kind.
        intact: whether the objects are those that the digest was made of.
        unknown: how many objects there are of kinds that are not read.
        opening: by name of a kind, how many lines come before the first of its objects, from where the kind begins.
    """

    header: Header
    objects: list[tuple[Kind, list[Any]]]
    intact: bool
    unknown: dict[str, int]
    opening: dict[str, int]


def encode(header: Header, objects: Mapping[str, Sequence[Any]]) -> bytes:
    """Return a snapshot as JSON.

    Args:
        header: what it says of itself; counts and digest are filled in.
        objects: by name of a kind, structs or plain values.
    """
    # The objects of a kind stay in the order in which they arrived (of an API server's list, that of their keys), which
    # is part of the state: it decides which nodes kube-scheduler samples, which of two pods of equal priority waits
    # longer, and in which order the pods of a node are visited.
    present = [(kind.name, objects[kind.name]) for kind in STORED if objects.get(kind.name)]
    lists = (b'"%s":%s' % (name.encode(), _encode_list(name, found)) for name, found in present)
    body = b"{\n%s\n}" % b",\n".join(lists) if present else b"{}"
    counts = {name: len(found) for name, found in present}
    # Of the bytes as they are in the file: so the digest can be checked without understanding them.
    header = msgspec.structs.replace(header, counts=counts, digest=_digest(body))
    opening = msgspec.json.encode({"apiVersion": API_VERSION, "kind": KIND, "metadata": header})
    return opening[:-1] + b',"objects":' + body + b"}\n"


def pack(data: bytes) -> bytes:
    """Return gzip of data: the same for the same."""
    stream = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0, compresslevel=6) as file:
        file.write(data)
    return stream.getvalue()


def decode(data: bytes | memoryview) -> ReadSnapshot:
    """Return what a snapshot holds.

    Raises:
        DamagedSnapshot: it is of another version, or something in it is of the wrong type.
        msgspec.DecodeError: it is not JSON.
    """
    envelope = _decode(data, _Envelope)
    version = envelope.api_version
    if version not in (API_VERSION, *EARLIER):
        message = f"this snapshot is {version}, but this schedctl reads {API_VERSION}"
        raise DamagedSnapshot(message, ("apiVersion",), "upgrade schedctl, or take the snapshot with this one")
    header: Header = _decode(envelope.metadata, Header, "metadata")
    if not len(envelope.objects):  # the field is not there: even an empty object has two bytes
        hint = "the file may have been cut short; take the snapshot again"
        raise DamagedSnapshot("the field is required", ("objects",), hint)
    found: list[tuple[Kind, list[Any]]] = []
    unknown, opening = {}, {}
    decoders = _decoders()
    for name, text in _decode(envelope.objects, dict[str, msgspec.Raw], "objects").items():
        if name not in decoders:
            unknown[name] = header.counts.get(name, 0)
            continue
        kind, decode_list = decoders[name]
        try:
            objects = decode_list(text)
        except msgspec.ValidationError as error:
            raise _damage(error, "objects", name) from None
        found.append((kind, objects))
        opening[name] = bytes(text).count(b"\n") - len(objects)  # each object has one line, and tables stand in front
    known = [gap for gap in header.missing if gap.kind in decoders]  # a newer schedctl may read more kinds
    return ReadSnapshot(
        msgspec.structs.replace(header, missing=known),
        found,
        intact=_digest(envelope.objects) == header.digest,
        unknown=unknown,
        opening=opening,
    )


def header(data: bytes) -> Header:
    """Return what a snapshot that was just written says of itself."""
    return msgspec.json.decode(data, type=_Headed).metadata


def kind_named(name: str) -> Kind:
    """Return the kind of that exact name, of those that a snapshot holds.

    Raises:
        KeyError: it holds none of this name.
    """
    return _decoders()[name][0]


def by_kind(objects: Iterable[tuple[Kind, Any]]) -> dict[str, list[Any]]:
    """Return objects as `encode` takes them."""
    found: dict[str, list[Any]] = {}
    for kind, obj in objects:
        found.setdefault(kind.name, []).append(obj)
    return found


def _encode_list(name: str, objects: Sequence[Any]) -> bytes:
    if name == "Pod":
        return pods.encode_list(objects, _encode_object)
    if name == "Node":
        return nodes.encode_list(objects, _encode_object)
    return b"[\n%s\n]" % b",\n".join(map(_encode_object, objects))


def _encode_object(obj: Any) -> bytes:
    try:
        return msgspec.json.encode(obj)
    except OverflowError:  # an integer beyond 64 bits, which some quantities are
        return json.dumps(msgspec.to_builtins(obj), separators=(",", ":")).encode()


def _digest(body: bytes | msgspec.Raw) -> str:
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def _decode(text: bytes | memoryview | msgspec.Raw, what: Any, *where: str) -> Any:
    """Return a part of a snapshot.

    Raises:
        DamagedSnapshot: something in it is of the wrong type.
    """
    try:
        return msgspec.json.decode(text, type=what)
    except msgspec.ValidationError as error:
        raise _damage(error, *where) from None


@cache
def _decoders() -> dict[str, tuple[Kind, Callable[[msgspec.Raw], list[Any]]]]:
    plain = {kind.name: (kind, msgspec.json.Decoder(list[kind.struct]).decode) for kind in STORED}  # type: ignore[name-defined]
    return plain | {"Pod": (plain["Pod"][0], pods.decode), "Node": (plain["Node"][0], nodes.decode)}


def _damage(error: msgspec.ValidationError, *where: str) -> DamagedSnapshot:
    """Return what msgspec says of a value of the wrong type, with the field as far as it names it."""
    message, _, place = str(error).partition(" - at `$")
    place = place.removesuffix("`").partition("[...]")[0]
    steps = (int(index) if index else name for name, index in _STEP.findall(place))
    return DamagedSnapshot(f"{message[:1].lower()}{message[1:]}", (*where, *steps))

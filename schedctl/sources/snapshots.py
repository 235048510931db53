"""Snapshots among the texts that ``-f`` names, and a snapshot on its own.

What is in a snapshot was read, and found fault with, when it was written; so its objects are taken as they are, each
kind in one go, which is what makes it fast to load. Of what could have been done to the file since, wrong types and
names that are none end the reading; anything else is told by the digest.
"""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from schedctl.api.kinds import Kind
from schedctl.api.meta import ObjectMeta
from schedctl.documents import json_values
from schedctl.documents.findings import Finding, path_text, place_in, printable, quote
from schedctl.errors import InputError, Problem
from schedctl.reports.snapshots import Header
from schedctl.snapshots import documents
from schedctl.snapshots.documents import DamagedSnapshot, ReadSnapshot
from schedctl.snapshots.headers import is_snapshot
from schedctl.sources import files

CHANGED = "was changed after it was written: its digest differs"


class File(NamedTuple):
    """A snapshot on its own.

    Attributes:
        name: the file, as the user knows it.
        size: bytes on disk.
        data: the snapshot, unpacked.
        read: what it holds.
    """

    name: str
    size: int
    data: bytes
    read: ReadSnapshot


def load(name: str) -> File:
    """Return the snapshot in a file; the place of what is wrong with it is told as well as can be.

    Raises:
        InputError: it cannot be read, or is no snapshot.
    """
    enabled = gc.isenabled()
    gc.disable()  # nothing that is made here can be let go of yet
    try:
        return _load(name)
    finally:
        if enabled:
            gc.enable()


def _load(name: str) -> File:
    path = Path(name)
    try:
        size = path.stat().st_size
        data = files.Source(name, path, size).read(None)
    except files.Unreadable as error:
        raise InputError([error.problem]) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError([Problem(f"cannot be read: {printable(reason.lower())}", name)]) from None
    try:
        if not data.isascii():
            data.decode()
        found = list(json_values.cut(data, 0, len(data))) if data.lstrip()[:1] == b"{" else []
    except json_values.JSONProblem as problem:
        raise InputError([Problem(problem.message, name, *place_in(data, problem.offset))]) from None
    except UnicodeDecodeError as error:
        raise InputError([Problem("this is not UTF-8 text", name, *place_in(data, error.start))]) from None
    head = found[0].head if len(found) == 1 else None
    version_and_kind = (json_values.plain(head.api_version), json_values.plain(head.kind)) if head else (None, None)
    if not is_snapshot(*version_and_kind):
        hint = "`schedctl snapshot create` writes one, with `--from` from other files"
        raise InputError([Problem("is not a snapshot", name, hint=hint)])
    content, findings = read(data)
    if content is None:
        raise InputError([Problem(one.message, name, path=path_text(one.path), hint=one.hint) for one in findings])
    return File(name, size, data, content)


def read(data: bytes | memoryview) -> tuple[ReadSnapshot | None, list[Finding]]:
    """Return what a snapshot holds, None where it cannot be read, and what is wrong with it."""
    try:
        content = documents.decode(data)
    except DamagedSnapshot as damage:
        return None, [Finding(damage.path, damage.message, damage.hint)]
    except RecursionError:
        return None, [Finding(("objects",), "nested too deeply")]
    except (msgspec.DecodeError, UnicodeError) as error:
        return None, [Finding(("objects",), f"cannot be read: {printable(str(error), 100)}")]
    wrong = [finding for kind, objects in content.objects for finding in _name_problems(kind, objects)]
    return (None, wrong) if wrong else (content, [])


def together(first: Header, other: Header) -> tuple[str, str]:
    """Return what keeps two snapshots from being one state, "" for nothing, and what to know of it otherwise."""
    if "strict" in (first.redaction, other.redaction):
        return "names are hashed in one of the snapshots, so objects cannot be matched by name", ""
    if first.redaction != other.redaction:
        return f"the snapshots have different redaction levels: {first.redaction} and {other.redaction}", ""
    if first.source != other.source:
        return f"the snapshots are of different clusters: {first.source or 'unknown'}, {other.source or 'unknown'}", ""
    times = f"{first.taken or 'unknown'} and {other.taken or 'unknown'}"
    return "", f"is combined with another snapshot (taken {times}): the cluster never was in this state"


def _name_problems(kind: Kind, objects: list[Any]) -> list[Finding]:
    """Return what is wrong with names: an object has one, in a namespace or in none, and it fits into a line."""
    if _all_named(kind, [obj.metadata for obj in objects]):
        return []
    wrong, namespaced = [], kind.namespaced
    for index, obj in enumerate(objects):
        metadata = obj.metadata
        name, namespace = metadata.name or metadata.generate_name, metadata.namespace
        if not name or "/" in name or not name.isprintable():
            wrong.append((index, "name", f"{quote(name)} is not a name"))
        if namespaced != bool(namespace) or "/" in namespace or not namespace.isprintable():
            no_name = f"{quote(namespace)} is not a namespace"
            wrong.append((index, "namespace", no_name if namespaced else f"{kind} objects have no namespace"))
    return [Finding(("objects", kind.name, index, "metadata", field), text) for index, field, text in wrong]


def _all_named(kind: Kind, described: list[ObjectMeta]) -> bool:
    """Return whether nothing is wrong with any name, for which no single one need be looked at."""
    names = [metadata.name for metadata in described]
    namespaces = {metadata.namespace for metadata in described}
    letters = "".join((*names, *namespaces))
    placed = all(namespaces) if kind.namespaced else namespaces <= {""}
    return placed and all(names) and "/" not in letters and letters.isprintable()

"""`SnapshotReport` and `SnapshotDiff`: what ``schedctl snapshot inspect`` and ``diff`` say, as data.

Within ``schedctl.dev/v1alpha1`` fields are only added; readers ignore those they do not know, and every field is always
there.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

import msgspec

from schedctl import KUBERNETES_VERSION, __version__
from schedctl.snapshots.headers import Header


class Record(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Base of everything in a report: immutable, camelCase on the wire, every field written."""


class Metadata(Record, frozen=True, kw_only=True):
    """Which schedctl made the report, and whose behaviour it follows."""

    tool_version: str = __version__
    kubernetes_version: str = KUBERNETES_VERSION


class Missing(Record, frozen=True, kw_only=True):
    """A kind that could not be listed, and what that means.

    Attributes:
        kind: its name.
        reason: ``Forbidden``, ``Unread`` or ``LeftOut``.
        text: the API server's words, "" where it was not asked.
        plugins: the plugins whose answers may be guesses without it.
    """

    kind: str
    reason: str
    text: str
    plugins: list[str]


class InClear(Record, frozen=True, kw_only=True):
    """Texts of one sort that the snapshot holds as they are.

    Attributes:
        sort: what they are, e.g. ``namespaces``.
        count: how many different ones there are.
    """

    sort: str
    count: int


class SnapshotReport(Record, frozen=True, kw_only=True):
    """``schedctl snapshot inspect``: what a file holds.

    Attributes:
        file: the file.
        size: bytes on disk.
        unpacked: bytes of the document in it.
        intact: whether the objects are those that were written, by their digest.
        age: seconds since the snapshot was taken, null where nobody knows; nothing else depends on the clock.
        snapshot: what it says of itself.
        objects: how many objects there are of each kind.
        missing: the kinds that could not be listed.
        in_clear: which names can be read in it.
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["SnapshotReport"] = "SnapshotReport"
    metadata: Metadata = Metadata()
    file: str
    size: int
    unpacked: int
    intact: bool
    age: int | None
    snapshot: Header
    objects: dict[str, int]
    missing: list[Missing]
    in_clear: list[InClear]


class Change(StrEnum):
    """What became of an object."""

    ADDED = "Added"
    """Only the second snapshot has it."""
    REMOVED = "Removed"
    """Only the first snapshot has it."""
    CHANGED = "Changed"
    """Both have it, with other fields."""
    REPLACED = "Replaced"
    """Both have one of that name, and they are two: their uids differ."""


class FieldChange(Record, frozen=True, kw_only=True):
    """A field that differs.

    Attributes:
        path: the field, e.g. ``spec.taints[0].value``.
        before: its value, null where it is absent.
        after: its value, null where it is absent.
    """

    path: str
    before: Any
    after: Any


class ObjectChange(Record, frozen=True, kw_only=True):
    """An object that is not the same in both snapshots.

    Attributes:
        kind: its kind.
        name: ``namespace/name``, or the name of an object that is in no namespace.
        change: what became of it.
        owner: the workload that manages it, e.g. ``ReplicaSet web-7d9c``; "" for none.
        fields: the fields that differ, where it is in both.
    """

    kind: str
    name: str
    change: Change
    owner: str
    fields: list[FieldChange]


class KindCounts(Record, frozen=True, kw_only=True):
    """How many objects of a kind differ.

    Attributes:
        kind: the kind.
        before, after: how many there are in each snapshot.
        added, removed, changed: how many differ; what was replaced has changed.
    """

    kind: str
    before: int
    after: int
    added: int
    removed: int
    changed: int


class Side(Record, frozen=True, kw_only=True):
    """One of the two snapshots.

    Attributes:
        file: the file.
        taken: when the cluster looked like this, "" where unknown.
        digest: of its objects.
    """

    file: str
    taken: str
    digest: str


class Summary(Record, frozen=True, kw_only=True):
    """The answer in numbers.

    Attributes:
        exit_code: what the command ends with.
        added, removed, changed: how many objects differ.
    """

    exit_code: int
    added: int
    removed: int
    changed: int


class SnapshotDiff(Record, frozen=True, kw_only=True):
    """``schedctl snapshot diff``: what differs between two snapshots.

    Attributes:
        before, after: the snapshots.
        summary: the answer in numbers.
        header: what the two say of themselves that is not the same.
        not_compared: the kinds that one of the two could not list.
        kinds: the kinds in which something differs.
        results: the objects that differ, by kind and name.
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["SnapshotDiff"] = "SnapshotDiff"
    metadata: Metadata = Metadata()
    before: Side
    after: Side
    summary: Summary
    header: list[FieldChange]
    not_compared: list[str]
    kinds: list[KindCounts]
    results: list[ObjectChange]

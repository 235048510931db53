"""What a snapshot says of itself; `SnapshotReport` about one and `SnapshotDiff` about two, as data."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec

from schedctl.api.gaps import Gap
from schedctl.reports.metadata import Head, MissingKind, Record, schema_name

Redaction = Literal["default", "strict", "none"]


When = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^((?!0000)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
        r"T([01]\d|2[0-3]):[0-5]\d:[0-5]\d([.,]\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d))?\Z"
    ),
]
"""A point in time as RFC 3339 writes it, or ""."""


class Header(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The ``metadata`` of a snapshot.

    Attributes:
        tool_version: of the schedctl that wrote it.
        source: where it is from, e.g. ``context prod``, or ``files``; "" under strict redaction.
        server_version: the API server's, "" where unknown.
        taken: when the cluster looked like this, RFC 3339; "" where unknown.
        redaction: how much was taken out: ``none`` nothing but managed fields, ``default`` what scheduling does not
            read, ``strict`` names and values besides.
        key: a fingerprint of the key that names were hashed with, "" where they were not; never the key.
        digest: ``sha256:...`` of the objects as they are in the file.
        counts: how many objects there are of each kind.
        missing: the kinds that could not be listed.
        scheduler_configuration: the KubeSchedulerConfiguration in force, as text; "" where none was given.
        configuration_left_out: whether there was one, and strict redaction has taken it out.
    """

    tool_version: str = ""
    source: str = ""
    server_version: str = ""
    taken: When = ""
    redaction: Redaction = "default"
    key: str = ""
    digest: str = ""
    counts: dict[str, int] = {}
    missing: list[Gap] = []
    scheduler_configuration: str = ""
    configuration_left_out: bool = False


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
        snapshot: what it says of itself.
        objects: how many objects there are of each kind.
        missing: the kinds that could not be listed.
        in_clear: which names can be read in it.
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["SnapshotReport"] = "SnapshotReport"
    metadata: Head = Head()
    file: str
    size: int
    unpacked: int
    intact: bool
    snapshot: Header
    objects: dict[str, int]
    missing: list[MissingKind]
    in_clear: list[InClear]


@schema_name("Change")
class ObjectChangeType(StrEnum):
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
    change: ObjectChangeType
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


@schema_name("Side")
class SnapshotSide(Record, frozen=True, kw_only=True):
    """One of the two snapshots.

    Attributes:
        file: the file.
        taken: when the cluster looked like this, "" where unknown.
        digest: of its objects.
    """

    file: str
    taken: str
    digest: str


@schema_name("Summary")
class SnapshotDiffSummary(Record, frozen=True, kw_only=True):
    """The answer in numbers.

    Attributes:
        exit_code: the exit code of the command.
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
    metadata: Head = Head()
    before: SnapshotSide
    after: SnapshotSide
    summary: SnapshotDiffSummary
    header: list[FieldChange]
    not_compared: list[str]
    kinds: list[KindCounts]
    results: list[ObjectChange]

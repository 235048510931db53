"""What differs between two snapshots: objects that came and went, and the fields of those that changed.

Objects are known by kind, namespace and name; one that has another uid is another object of the same name. The records
are those of `schedctl.reports.snapshots`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from schedctl.api.meta import controller_of, key_of
from schedctl.errors import UsageError
from schedctl.reports import exit_codes
from schedctl.reports import snapshots as reports
from schedctl.snapshots.allow_list import keep_allowed
from schedctl.snapshots.documents import STORED, ReadSnapshot
from schedctl.snapshots.tokens import without_ranks

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAMES = ("name", "type", "key", "containerPort", "kind")
"""What tells the items of a list apart, where all have it and no two the same."""
_NOT_COMPARED = frozenset(("counts", "digest", "key", "taken"))


def diff(before: tuple[str, ReadSnapshot], after: tuple[str, ReadSnapshot], *, fail: bool) -> reports.SnapshotDiff:
    """Return what differs between two snapshots.

    Args:
        before: the file and what it holds.
        after: the file and what it holds.
        fail: whether a difference makes the exit code 1.

    Raises:
        UsageError: names are hashed in one of them and not in the other, or with another key.
    """
    (file, first), (other, second) = before, after
    _comparable(first.header, second.header)
    hashed = bool(first.header.key)
    old, new = _objects(first, hashed=hashed), _objects(second, hashed=hashed)
    results: list[reports.ObjectChange] = []
    counts: list[reports.KindCounts] = []
    unknown = {gap.kind for read in (first, second) for gap in read.header.missing}
    for kind in STORED:
        if kind.name in unknown:  # one of them could not list it, and what is unknown has not gone
            continue
        mine, theirs = old.get(kind.name, {}), new.get(kind.name, {})
        found = [*_changes(kind.name, mine, theirs)]
        if found:
            results += found
            added = sum(one.change is reports.ObjectChangeType.ADDED for one in found)
            removed = sum(one.change is reports.ObjectChangeType.REMOVED for one in found)
            counts.append(
                reports.KindCounts(
                    kind=kind.name,
                    before=len(mine),
                    after=len(theirs),
                    added=added,
                    removed=removed,
                    changed=len(found) - added - removed,
                )
            )
    header = [*_header_changes(first.header, second.header)]
    summary = reports.SnapshotDiffSummary(
        exit_code=exit_codes.of_answer(failed=fail and bool(results or header)),
        added=sum(one.added for one in counts),
        removed=sum(one.removed for one in counts),
        changed=sum(one.changed for one in counts),
    )
    sides = (
        reports.SnapshotSide(file=name, taken=one.header.taken, digest=one.header.digest)
        for name, one in ((file, first), (other, second))
    )
    return reports.SnapshotDiff(
        before=next(sides),
        after=next(sides),
        summary=summary,
        header=header,
        not_compared=[kind.name for kind in STORED if kind.name in unknown],
        kinds=counts,
        results=results,
    )


def _comparable(first: reports.Header, second: reports.Header) -> None:
    """See to it that names can be compared.

    Raises:
        UsageError: they cannot.
    """
    if first.key == second.key:
        return
    if first.key and second.key:
        raise UsageError(
            f"their names are hashed with different keys, {first.key} and {second.key}",
            "redact both with the same `--key-file`",
        )
    hint = "redact the other one too: `schedctl snapshot redact IN OUT --redact strict --key-file FILE`"
    raise UsageError("one of them is redacted strictly and the other is not", hint)


def _objects(read: ReadSnapshot, *, hashed: bool) -> dict[str, dict[str, Any]]:
    """Return the objects by kind and key, no more of them than a snapshot keeps by default."""
    found: dict[str, dict[str, Any]] = {}
    for kind, objects in read.objects:
        if read.header.redaction == "none":
            objects = [*map(keep_allowed, objects)]
        if hashed:  # every new name moves the ranks of all behind it
            text = without_ranks(msgspec.json.encode(objects).decode())
            objects = msgspec.json.decode(text, type=list[kind.struct])  # type: ignore[name-defined]
        found[kind.name] = {key_of(obj) or str(number): obj for number, obj in enumerate(objects)}
    return found


def _changes(kind: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[reports.ObjectChange]:
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        fields: list[reports.FieldChange] = []
        if before is None:
            change = reports.ObjectChangeType.ADDED
        elif after is None:
            change = reports.ObjectChangeType.REMOVED
        else:
            fields = [*_fields(msgspec.to_builtins(before), msgspec.to_builtins(after), "")]
            same = before.metadata.uid == after.metadata.uid
            change = reports.ObjectChangeType.CHANGED if same else reports.ObjectChangeType.REPLACED
        present: Any = before if after is None else after
        owner = controller_of(present)
        controller = f"{owner.kind} {owner.name}" if owner is not None else ""
        yield reports.ObjectChange(kind=kind, name=key, change=change, owner=controller, fields=fields)


def _header_changes(first: reports.Header, second: reports.Header) -> Iterator[reports.FieldChange]:
    mine, theirs = msgspec.to_builtins(first), msgspec.to_builtins(second)
    for one in (mine, theirs):
        for name in _NOT_COMPARED:
            one.pop(name)
    yield from _fields(mine, theirs, "metadata")


def _fields(before: Any, after: Any, path: str) -> Iterator[reports.FieldChange]:
    """Yield the innermost fields that differ."""
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | after.keys()):
            yield from _fields(before.get(name), after.get(name), _within(path, name))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _items(before, after, path)
    else:
        yield reports.FieldChange(path=path, before=before, after=after)


def _items(before: list[Any], after: list[Any], path: str) -> Iterator[reports.FieldChange]:
    # By name where all items have one, so that one more container is one addition and not a shift of all others.
    for label in _NAMES:
        mine, theirs = _items_by(label, before), _items_by(label, after)
        if mine is not None and theirs is not None:
            for name in dict.fromkeys([*mine, *theirs]):
                yield from _fields(mine.get(name), theirs.get(name), f"{path}[{label}={name}]")
            order, other = [name for name in mine if name in theirs], [name for name in theirs if name in mine]
            if order != other:
                yield reports.FieldChange(path=path, before=order, after=other)
            return
    if len(before) != len(after):
        yield reports.FieldChange(path=path, before=before, after=after)
        return
    for index, (one, other) in enumerate(zip(before, after, strict=True)):
        yield from _fields(one, other, f"{path}[{index}]")


def _items_by(label: str, items: list[Any]) -> dict[Any, Any] | None:
    """Return items by a name that all have and no two share, None where they have none."""
    named = {item[label]: item for item in items if isinstance(item, dict) and item.get(label)}
    return named if len(named) == len(items) else None


def _within(path: str, name: str) -> str:
    if not _PLAIN.fullmatch(name):
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else name

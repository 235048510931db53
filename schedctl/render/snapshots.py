"""Snapshots for people: what one holds, what differs between two, and what was just written."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import msgspec

from schedctl.api import autoscalers, times
from schedctl.render.layout import ALL, BLANK, Block, Cell, Line, Span, Table, line
from schedctl.reports import counts
from schedctl.reports.snapshots import FieldChange, Header, ObjectChange, ObjectChangeType, SnapshotDiff, SnapshotReport

_FEW = 10
_NAMED = 3
_LONGEST = 60
_SIGNS = {
    ObjectChangeType.ADDED: "+",
    ObjectChangeType.REMOVED: "-",
    ObjectChangeType.CHANGED: "~",
    ObjectChangeType.REPLACED: "±",
}
_STYLES = {
    ObjectChangeType.ADDED: "good",
    ObjectChangeType.REMOVED: "bad",
    ObjectChangeType.CHANGED: "strong",
    ObjectChangeType.REPLACED: "strong",
}
_UNITS = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))


def write_summary(file: str, size: int, header: Header, key_file: str) -> Iterator[str]:
    """Yield what to say of a snapshot that was just written.

    Args:
        file: where it is.
        size: its bytes there.
        header: what it says of itself.
        key_file: the key of its hashes, "" for one that nobody has kept.
    """
    total = sum(header.counts.values())
    kinds = ", ".join(f"{count} {kind}" for kind, count in header.counts.items())
    yield f"wrote {file}: {counts.of(total, 'object')} in {_bytes(size)}{f' ({kinds})' if kinds else ''}"
    match header.redaction:
        case "none":
            yield "nothing is redacted: it contains environment variables, commands and all annotations"
        case "strict":
            kept = f"the key in {key_file} ({header.key})" if key_file else "a key that was not kept"
            yield f"names and values are hashed with {kept}; label keys, resource and driver names are not hashed"
        case _:
            yield "it contains only what scheduling reads; `--redact strict` hashes names, too"
    of_autoscalers = {kind.name for kind in autoscalers.KINDS}
    gaps = [f"{gap.kind} ({_reason(gap.reason)})" for gap in header.missing if gap.kind not in of_autoscalers]
    if gaps:
        yield f"could not list: {', '.join(gaps)}; answers that need them are inconclusive"
    if unlisted := [gap.kind for gap in header.missing if gap.kind in of_autoscalers]:
        yield f"could not list {', '.join(unlisted)}, by which `schedctl nodes` knows groups of nodes and their limits"
    if header.configuration_left_out:
        yield "the scheduler configuration is left out; when you read the snapshot, give it with --scheduler-config"


def lines(report: SnapshotReport | SnapshotDiff, *, wide: bool = False, limit: int = 0) -> Iterator[Block]:
    """Yield what a snapshot holds, or what differs between two.

    Args:
        report: what to tell.
        wide: show everything.
        limit: show so many entries of a kind, 0 for a few.
    """
    if isinstance(report, SnapshotReport):
        return _inspection(report)
    return _comparison(report, limit or (ALL if wide else _FEW))


# --- inspect ----------------------------------------------------------------------------------------------------------


def _inspection(report: SnapshotReport) -> Iterator[Block]:
    """Yield what a snapshot holds."""
    header = report.snapshot
    total = sum(report.objects.values())
    yield Line((Span(f"{report.file}: ", "strong"), Span(f"{counts.of(total, 'object')}, {_bytes(report.size)}")))
    yield Table([((Span(name, "faint"),), (Span(value, style),)) for name, value, style in _facts(report)], 2)
    if report.objects:
        yield BLANK
        rows: list[Sequence[Cell]] = [
            ((Span(kind),), (Span(str(count)),)) for kind, count in report.objects.items() if count
        ]
        yield Table(rows, 2, ("KIND", "OBJECTS"), frozenset((1,)))
    if report.missing:
        yield BLANK
        yield line("could not be listed", "strong")
        gaps: list[Sequence[Cell]] = [
            ((Span(gap.kind),), (Span(_reason(gap.reason)),), (Span(", ".join(gap.plugins)),)) for gap in report.missing
        ]
        yield Table(gaps, 2, ("KIND", "WHY", "INCONCLUSIVE WITHOUT IT"))
    yield BLANK
    if report.in_clear:
        yield line("readable in it (not hashed)", "strong")
        clear: list[Sequence[Cell]] = [((Span(one.sort),), (Span(str(one.count)),)) for one in report.in_clear]
        yield Table(clear, 2, (), frozenset((1,)))
    if header.redaction == "none":
        yield line("and all the rest of the objects: environment variables, commands, annotations", "bad", indent=2)


def _facts(report: SnapshotReport) -> Iterator[tuple[str, str, str]]:
    header = report.snapshot
    yield "taken", _time_taken(header), ""
    if header.source:
        yield "from", header.source, ""
    if header.server_version:
        yield "Kubernetes", header.server_version, ""
    yield "written by", f"schedctl {header.tool_version}" if header.tool_version else "unknown", ""
    key = f", key {header.key}" if header.key else ""
    yield "redaction", f"{header.redaction}{key}", "bad" if header.redaction == "none" else ""
    if header.configuration_left_out:
        yield "scheduler", "configuration left out", ""
    else:
        configured = "with its configuration" if header.scheduler_configuration else "without a configuration"
        yield "scheduler", configured, ""
    if report.intact:
        yield "digest", f"{header.digest}, unchanged since it was written", ""
    else:
        yield "digest", "does not match: the objects were changed after they were written", "bad"


def _time_taken(header: Header) -> str:
    """Return when a snapshot was taken, and how long ago that is: for people alone, as no report has a clock."""
    if not header.taken:
        return "unknown"
    age = (time.time_ns() - times.unix_nanoseconds(header.taken)) // 10**9
    if age < 0:
        return f"{header.taken}, which is in the future"
    unit, seconds = next(((unit, each) for unit, each in _UNITS if age >= each), _UNITS[-1])
    return f"{header.taken}, {age // seconds} {unit} ago"


# --- diff -------------------------------------------------------------------------------------------------------------


def _comparison(report: SnapshotDiff, entries: int) -> Iterator[Block]:
    """Yield what differs between two snapshots."""
    summary = report.summary
    same = not (report.results or report.header)
    numbers = (
        "no difference" if same else f"{summary.added} added, {summary.removed} removed, {summary.changed} changed"
    )
    yield Line(
        (Span(f"{report.before.file} → {report.after.file}: ", "strong"), Span(numbers, "good" if same else "bad"))
    )
    if report.before.taken and report.after.taken:
        yield Line((Span("taken: ", "faint"), Span(f"{report.before.taken} → {report.after.taken}")), 2)
        if times.unix_nanoseconds(report.after.taken) < times.unix_nanoseconds(report.before.taken):
            yield line(
                "note: the second snapshot is older than the first: what is shown as added was removed", indent=2
            )
    for field in report.header:
        yield _field(field, 2)
    if report.not_compared:
        yield line(f"not compared, since one snapshot could not list them: {', '.join(report.not_compared)}", indent=2)
    if report.kinds:
        yield BLANK
        rows: list[Sequence[Cell]] = [
            tuple(
                (Span(str(value)),) for value in (one.kind, one.before, one.after, one.added, one.removed, one.changed)
            )
            for one in report.kinds
        ]
        yield Table(rows, 2, ("KIND", "BEFORE", "AFTER", "ADDED", "REMOVED", "CHANGED"), frozenset(range(1, 6)))
    for kind, found in groupby(report.results, key=lambda one: one.kind):
        groups = _group_changes([*found])
        yield BLANK
        yield line(kind, "strong")
        for group in groups[:entries]:
            yield from _group(group, entries)
        if len(groups) > entries:
            rest = sum(map(len, groups[entries:]))
            yield line(f"+{rest} more; `--limit` shows them", "faint", indent=2)


def _group_changes(changes: list[ObjectChange]) -> list[list[ObjectChange]]:
    """Return the changes that read alike together: of one workload, or of the same fields to the same values."""
    groups: dict[tuple[Any, ...], list[ObjectChange]] = {}
    for number, one in enumerate(changes):
        namespace = one.name.rpartition("/")[0]
        if one.change is ObjectChangeType.CHANGED:
            key: tuple[Any, ...] = (one.change, msgspec.json.encode(one.fields))
        else:
            key = (one.change, namespace, one.owner) if one.owner else (number,)  # an object of nobody is like no other
        groups.setdefault(key, []).append(one)
    order = list(ObjectChangeType)
    return sorted(groups.values(), key=lambda group: order.index(group[0].change))


def _group(group: list[ObjectChange], entries: int) -> Iterator[Block]:
    first = group[0]
    names = ", ".join(one.name for one in group[:_NAMED])
    more = f", +{len(group) - _NAMED} more" if len(group) > _NAMED else ""
    owner = f"  {first.owner}" if first.owner and first.change is not ObjectChangeType.CHANGED else ""
    yield Line(
        (
            Span(f"{_SIGNS[first.change]} ", _STYLES[first.change]),
            Span(names),
            Span(more, "faint"),
            Span(owner, "faint"),
        ),
        2,
    )
    if first.change is ObjectChangeType.REPLACED:
        yield line("replaced by another object of the same name", "faint", indent=6)
        return
    for field in first.fields[:entries]:
        yield _field(field, 6)
    if len(first.fields) > entries:
        yield line(f"+{counts.of(len(first.fields) - entries, 'more field')}", "faint", indent=6)


def _field(field: FieldChange, indent: int) -> Line:
    return Line((Span(f"{field.path}: ", "faint"), Span(f"{_value(field.before)} → {_value(field.after)}")), indent)


def _value(value: Any) -> str:
    """Return a value on one line, not too long."""
    if value is None:
        return "none"
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _reason(reason: str) -> str:
    return {"Forbidden": "forbidden", "Unread": "in no supported version", "LeftOut": "left out"}.get(reason, reason)


def _bytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"

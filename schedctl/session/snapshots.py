"""Snapshots: a cluster written to a file, looked into, compared, and redacted further."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from schedctl.api import autoscalers
from schedctl.api.kinds import Kind
from schedctl.errors import UsageError
from schedctl.plugins.in_tree import IN_TREE
from schedctl.reports.snapshots import Header, SnapshotDiff, SnapshotReport
from schedctl.session import configurations
from schedctl.session.notifiers import SILENT, Notifier
from schedctl.session.redactions import RedactionOptions
from schedctl.session.states import State, StateSource
from schedctl.snapshots import comparison, documents, files, inspection, levels
from schedctl.sources import snapshots
from schedctl.versions import __version__

STDOUT = "-"


class SnapshotTarget(msgspec.Struct, frozen=True):
    """Where a snapshot is written to.

    Attributes:
        file: its name, packed if it ends in ``.gz``; ``-`` for the stream.
        force: whether a file of that name is replaced.
        stream: what takes the place of a file.
    """

    file: str
    force: bool
    stream: BinaryIO

    def check(self) -> None:
        """See to it that the result can be written, before any work is done.

        Raises:
            UsageError: it cannot.
        """
        if self.file != STDOUT:
            files.check_writable(Path(self.file), replace=self.force)

    def write(self, data: bytes) -> WrittenSnapshot:
        """Write a snapshot.

        Raises:
            OSError: it cannot be written.
            UsageError: there is a file of that name by now.
        """
        if self.file == STDOUT:
            self.stream.write(data)
            return WrittenSnapshot("standard output", len(data), documents.header(data))
        packed = documents.pack(data) if self.file.endswith(documents.PACKED) else data
        files.write(Path(self.file), packed, replace=self.force)
        return WrittenSnapshot(self.file, len(packed), documents.header(data))


class WrittenSnapshot(msgspec.Struct, frozen=True):
    """What was written.

    Attributes:
        name: of the file, in words.
        size: in bytes, as it is packed.
        header: of the snapshot.
    """

    name: str
    size: int
    header: Header


def with_files(source: StateSource, paths: tuple[str, ...]) -> StateSource:
    """Return where the state is with the files of ``--from``.

    Raises:
        UsageError: a live cluster is described and none is to be asked.
    """
    if not paths:
        return source
    from schedctl.live.kubeconfigs import Access

    if not (source.live or source.paths) and (source.configured or (source.access or Access()) != Access()):
        raise UsageError("--from reads files, and the other options select a live cluster", "`--live` reads both")
    return replace(source, paths=(*source.paths, *paths))


def create(
    source: StateSource,
    target: SnapshotTarget,
    redaction: RedactionOptions,
    *,
    configuration: str = "",
    notifier: Notifier = SILENT,
) -> WrittenSnapshot:
    """Write what scheduling reads of a cluster.

    Args:
        source: the cluster.
        target: where it goes.
        redaction: how much is taken out.
        configuration: the file of the KubeSchedulerConfiguration that is put in, "" for that of the cluster or files.
        notifier: hears of the key, and how far the work is.

    Raises:
        ClusterError: the live cluster cannot be read.
        ConfigError: kube-scheduler would refuse the configuration.
        InputError: the files cannot be read or understood, or hold nothing.
        OSError: the snapshot cannot be written.
        UsageError: likewise; or one of the files is a snapshot that is hashed.
    """
    # everything that can be wrong with what the user named is found before the cluster is listed, which takes longest
    text = configurations.text(configuration, source, notifier)
    key = redaction.key(notifier)
    state = source.load(notifier, kinds=autoscalers.KINDS)
    if any(header.redaction == "strict" for header in state.manifests.snapshots):
        # hashes would pass for names, and be hashed again
        raise UsageError("a strictly redacted snapshot cannot be the source of another", "copy the file")
    header = _header(state, text)
    with notifier.progress("writing") as progress:
        progress.advance(0, 1)
        if redaction.level == "none":
            objects = _as_sent(state)
        else:
            read = ((one.kind, one.object) for one in state.manifests.objects)
            objects = documents.by_kind((kind, obj) for kind, obj in read if _is_stored(kind, obj))
        return target.write(levels.snapshot(header, objects, redaction.level, key))


def inspect(file: str) -> SnapshotReport:
    """Return what a snapshot holds, what is missing, and what can be read in it.

    Raises:
        InputError: it cannot be read, or is none.
    """
    found = snapshots.load(file)
    return inspection.report(
        found.name,
        found.size,
        len(found.data),
        found.read,
        lambda kind: IN_TREE.plugins_reading(documents.kind_named(kind).struct),
    )


def diff(before: str, after: str, *, fail: bool = False, notifier: Notifier = SILENT) -> SnapshotDiff:
    """Return which objects came, went and changed between two snapshots.

    Args:
        before: the file of the one.
        after: that of the other.
        fail: whether a difference makes the exit code 1.
        notifier: hears which was changed by hand.

    Raises:
        InputError: one cannot be read, or is no snapshot.
    """
    first, second = snapshots.load(before), snapshots.load(after)
    for one in (first, second):
        _warn_of_edits(one, notifier)
    return comparison.diff((first.name, first.read), (second.name, second.read), fail=fail)


def redact(
    file: str, target: SnapshotTarget, redaction: RedactionOptions, notifier: Notifier = SILENT
) -> WrittenSnapshot:
    """Write a snapshot anew with more taken out of it.

    Raises:
        InputError: it cannot be read, or is no snapshot.
        OSError: the new one cannot be written.
        UsageError: likewise; or there is no more to take out.
    """
    found = snapshots.load(file)
    header = found.read.header
    if header.redaction == "strict":
        raise UsageError(f"{file} is already strictly redacted", "nothing more can be redacted")
    if levels.LEVELS.index(redaction.level) <= levels.LEVELS.index(header.redaction):
        raise UsageError(
            f"{file} already has redaction level {header.redaction}: {redaction.level} redacts nothing more",
            "`--redact strict` does",
        )
    _warn_of_edits(found, notifier)
    key = redaction.key(notifier)
    objects = documents.by_kind((kind, obj) for kind, each in found.read.objects for obj in each)
    header = msgspec.structs.replace(header, tool_version=__version__)
    return target.write(levels.snapshot(header, objects, redaction.level, key))


def _warn_of_edits(snapshot: snapshots.File, notifier: Notifier) -> None:
    if not snapshot.read.intact:
        notifier.warn(f"{snapshot.name}: {snapshots.CHANGED}")


def _header(state: State, configuration: str) -> Header:
    """Return the header of a state; where nobody asks the cluster, the snapshots among the files know about it."""
    listing, connection, headers = state.listing, state.connection, state.manifests.snapshots
    # several that disagree belong to several clusters: none is followed
    configurations_inside = {one.scheduler_configuration for one in headers if one.scheduler_configuration}
    return Header(
        tool_version=__version__,
        source=connection.name if connection is not None else "files",
        server_version=(
            listing.server_version
            if listing is not None
            else next((one.server_version for one in headers if one.server_version), "")
        ),
        taken=state.taken,
        missing=list(state.missing),
        scheduler_configuration=configuration
        or (configurations_inside.pop() if len(configurations_inside) == 1 else ""),
        configuration_left_out=any(one.configuration_left_out for one in headers),
    )


def _is_stored(kind: Kind, obj: Any) -> bool:
    """Return whether an object goes into a snapshot; of ConfigMaps, which hold anything, one does."""
    return not kind.only or obj.metadata.name == kind.only.rpartition("/")[2]


def _as_sent(state: State) -> dict[str, list[Any]]:
    """Return the objects as the API server sent them, by kind."""
    found: dict[str, list[Any]] = {}
    for page in state.listing.pages if state.listing is not None else ():
        items = msgspec.json.decode(page.body).get("items") or ()
        found.setdefault(page.kind.name, []).extend(map(levels.as_sent, items))
    return found

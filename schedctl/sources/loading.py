"""The front door: names of files to objects, with every problem at once."""

from __future__ import annotations

import gc
import hashlib
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

import msgspec
from msgspec.structs import replace

from schedctl.api.nodes import Node
from schedctl.documents.texts import KEPT_BYTES, Text
from schedctl.errors import InputError, Problem
from schedctl.sources import checks, collected, files, kustomize, unrendered
from schedctl.sources.kustomize import Kustomization
from schedctl.sources.manifests import Reading, Sourced
from schedctl.sources.terms import READING, Terms
from schedctl.sources.unmodelled import Unmodelled
from schedctl.sources.unread import Unread, unread_files

if TYPE_CHECKING:
    from schedctl.reports.snapshots import Header

_NAMED = 3
_UNPACK = "unpack it, and name the folder"
_FOREIGN = (
    "is left out: it holds no object of Kubernetes",
    "are left out: they hold no object of Kubernetes",
    "take it out of the folder, or name the files to read one by one",
)
"""Why a file is left out: of one, of several, and the next step."""
_OTHER_VERSIONS = (
    "is left out: it holds another version of what is read in the preferred one",
    "are left out: they hold other versions of what is read in the preferred one",
    "",
)
_EMPTY = ("is empty", "are empty", "")
_OTHER_FILES = (
    "is left out: its name does not end in .yaml, .yml or .json",
    "are left out: their names do not end in .yaml, .yml or .json",
    "",
)
Progress = Callable[[int, int, str], None]
"""Called now and then with the bytes read so far, the bytes there are, and the name of the file at hand."""


class Manifests(msgspec.Struct):
    """What was loaded.

    Attributes:
        objects: every object of a kind that scheduling reads, in the order of the input, none twice.
        ignored: how many objects there were of other kinds, by ``apiVersion kind``.
        warnings: what should be known about the input though it can be used.
        problems: why objects that were to be created are not among them; empty on other terms, which raise instead.
        snapshots: what the snapshots among the input say of themselves, in the order of the input.
        digests: ``sha256:...`` of each text, unpacked, by the name of its file.
        unread: files in folders that look like manifests and were not read; known on the terms of creating only.
        unmodelled: the objects of other kinds of which pods may be made; known on the terms of creating only.
        reported: the workloads whose status counts pods; known on the terms of a state only.
    """

    objects: list[Sourced]
    ignored: Counter[str] = msgspec.field(default_factory=Counter)
    warnings: list[Problem] = msgspec.field(default_factory=list)
    digests: dict[str, str] = msgspec.field(default_factory=dict)
    problems: list[Problem] = msgspec.field(default_factory=list)
    snapshots: list[Header] = msgspec.field(default_factory=list)
    unread: list[Unread] = msgspec.field(default_factory=list)
    unmodelled: list[Unmodelled] = msgspec.field(default_factory=list)
    reported: list[Sourced] = msgspec.field(default_factory=list)


def load(
    paths: Sequence[str],
    *,
    recursive: bool = True,
    stdin: BinaryIO | None = None,
    stdin_filename: str = "<stdin>",
    progress: Progress | None = None,
    allow_empty: bool = False,
    terms: Terms = READING,
    kustomizations: Sequence[str] = (),
) -> Manifests:
    """Return the objects in files, folders, globs, (``-``) standard input and kustomizations.

    Args:
        paths: what the user named.
        recursive: whether folders include the folders in them; a ``kubectl cluster-info dump`` always does.
        stdin: where ``-`` is read from; the process's own standard input unless given.
        stdin_filename: what to call it in messages.
        progress: told how far reading is.
        allow_empty: whether input without a single object is fine.
        terms: on what terms the objects are read.
        kustomizations: folders that kustomize builds.

    Raises:
        InputError: something cannot be found, read or understood, or there is nothing at all; with every problem
            and every warning. On the terms of creating, what is wrong with single objects or documents is returned
            instead, as long as there are others.
    """
    reading = Reading(terms)
    found = files.find(
        paths,
        recursive=recursive,
        stdin_filename=stdin_filename,
        problems=reading.problems,
        warnings=reading.warnings,
    )
    named = found
    if terms.creating:
        found, reading.unmodelled = unrendered.leave_out(found, kustomizations)
    sources: list[files.Source | Kustomization] = [*found, *map(kustomize.kustomization, kustomizations)]
    complete = not reading.problems
    total, done = sum(source.size for source in sources), 0
    digests: dict[str, str] = {}
    with _without_collector():
        for source in sources:
            try:
                for part, data in _parts(source, stdin):
                    _read_part(
                        reading, source, part, data, digests, _within(progress, source, len(data or b""), done, total)
                    )
            except files.Unreadable as error:
                reading.problems.append(error.problem)
                complete = False
            done += source.size
        if progress is not None:
            progress(total, total, "")
        manifests = _finish(reading, allow_empty, complete)
    unread: list[Unread] = []
    if terms.creating:
        foreign = reading.left_out.get(_FOREIGN, ())  # among them what somebody meant to be an object
        read = {os.path.realpath(each.path) for each in named if each.path is not None and each.name not in foreign}
        unread = unread_files(paths, read, recursive=recursive)
    return replace(manifests, digests=digests, unread=unread)


def load_text(data: bytes, name: str = "<text>", *, allow_empty: bool = False, terms: Terms = READING) -> Manifests:
    """Return the objects in a text, as `load` does with a file.

    Raises:
        InputError: as `load`.
    """
    reading = Reading(terms)
    with _without_collector():
        _read(reading, Text(name, data), lambda offset: None)
        return _finish(reading, allow_empty, complete=True)


def load_listed(name: str, pages: Iterable[bytes], terms: Terms = READING) -> Manifests:
    """Return the objects in the lists of an API server, whose texts are let go of one by one.

    Args:
        name: what to call the cluster.
        pages: lists, JSON.
        terms: on what terms the objects are read.

    Raises:
        InputError: a page cannot be understood.
    """
    reading, digest = Reading(terms), hashlib.sha256()
    with _without_collector():
        for page in pages:
            digest.update(page)
            text = Text(name, page, editable=False)
            reading.text(text, lambda offset: None)
            text.data = None
        found = _finish(reading, allow_empty=True, complete=True)
    return replace(found, digests={name: f"sha256:{digest.hexdigest()}"})


def overlay(below: Manifests, above: Manifests) -> Manifests:
    """Return the objects of both, those above in place of those below that have kind, namespace and name in common."""
    objects, _ = checks.latest([*below.objects, *above.objects])
    return Manifests(
        objects,
        below.ignored + above.ignored,
        below.warnings + above.warnings,
        below.digests | above.digests,
        snapshots=below.snapshots + above.snapshots,
        unmodelled=below.unmodelled + above.unmodelled,
        reported=below.reported + above.reported,
    )


def _parts(
    source: files.Source | Kustomization, stdin: BinaryIO | None
) -> Iterator[tuple[files.Source | Kustomization, bytes | None]]:
    """Yield the texts of a source: one, or those of the files in an archive."""
    if isinstance(source, Kustomization):
        yield source, source.read(None)
    else:
        yield from source.parts(stdin or getattr(sys.stdin, "buffer", None))


def _read_part(
    reading: Reading,
    source: files.Source | Kustomization,
    part: files.Source | Kustomization,
    data: bytes | None,
    digests: dict[str, str],
    advance: Callable[[int], None],
) -> None:
    """Read one text, and leave it out if it is foreign and nobody named it.

    Raises:
        Unreadable: it is an archive of what is about to be created, or its bytes are no text.
    """
    if part is not source and reading.terms.creating:
        raise files.Unreadable(Problem("is an archive, which is read as a state only", source.name, hint=_UNPACK))
    in_folder = isinstance(part, files.Source) and part.in_folder
    is_state = not reading.terms.creating
    if data is None or (in_folder and is_state and collected.is_other_version(part.name)):
        reading.left_out[_OTHER_FILES if data is None else _OTHER_VERSIONS].append(part.name)
        return
    folder = part.folder if isinstance(part, Kustomization) else ""
    text = Text(part.name, part.text_of(data) if isinstance(part, files.Source) else data, folder)
    digests[text.name] = f"sha256:{hashlib.sha256(text.data or b'').hexdigest()}"
    before = len(reading.problems), reading.foreign, reading.count
    _read(reading, text, advance)
    if in_folder and not reading.terms.strict:
        _leave_out_foreign(reading, text.name, *before)


def _read(reading: Reading, text: Text, advance: Callable[[int], None]) -> None:
    documents, problems = reading.documents, len(reading.problems)
    advance(0)
    reading.text(text, advance)
    if reading.documents == documents and len(reading.problems) == problems:
        reading.left_out[_EMPTY].append(text.name)
    # Later problems with an object of a long text are placed at the object, not at the field.
    if len(text.data or b"") > KEPT_BYTES:
        text.data = None


def _leave_out_foreign(reading: Reading, name: str, problems: int, foreign: int, count: int) -> None:
    """Leave out a text that holds nothing of Kubernetes and that nobody named."""
    found = len(reading.problems) - problems
    if found and found == reading.foreign - foreign and reading.count == count:
        del reading.problems[problems:]
        reading.left_out[_FOREIGN].append(name)


def _warn_of_left_out(reading: Reading) -> None:
    """Name the first files of each sort that are left out, and count the others."""
    for (one, several, hint), names in reading.left_out.items():
        count = len(names)
        if count == 1:
            reading.warnings.append(Problem(one, names[0], hint=hint))
            continue
        # Of names that begin in different ways, such as an absolute one, each is told as it is.
        folder = os.path.commonpath(names) if len({name.startswith(os.sep) for name in names}) == 1 else ""
        shown = ", ".join(name.removeprefix(f"{folder}/") if folder else name for name in names[:_NAMED])
        more = f" and {count - _NAMED} more" if count > _NAMED else ""
        message = f"{count} files {several}: {shown}{more}"
        reading.warnings.append(Problem(message, folder))


def _finish(reading: Reading, allow_empty: bool, complete: bool) -> Manifests:
    reading.settle_unread()
    _warn_of_left_out(reading)
    problems = reading.problems
    if not (problems or reading.count or allow_empty):
        hint = "if it comes from a pipe, that command may have failed"
        problems.append(Problem("no objects in the input", hint=hint))
    # What is about to be created is created object by object, so the others go on without those that are refused.
    tolerant = reading.terms.creating and reading.count and complete
    if problems and not tolerant:
        raise InputError(_in_order(problems), _in_order(reading.warnings))
    objects, warnings = checks.latest(reading.objects)
    if any(isinstance(one.object, Node) for one in objects):
        warnings += checks.pods_on_unknown_nodes(objects)
    return Manifests(
        objects,
        reading.ignored,
        reading.warnings + warnings,
        problems=_in_order(problems),
        snapshots=reading.snapshots,
        unmodelled=reading.unmodelled,
        reported=reading.reported,
    )


def _in_order(problems: list[Problem]) -> list[Problem]:
    """Return the problems file by file, in the order in which a reader of the file meets them."""
    first: dict[str, int] = {}
    for problem in problems:
        first.setdefault(problem.source, len(first))
    return sorted(problems, key=lambda problem: (first[problem.source], problem.line, problem.column))


def _within(
    progress: Progress | None, source: files.Source | Kustomization, length: int, done: int, total: int
) -> Callable[[int], None]:
    """Return what tells the progress inside one text; a packed file counts with its size on disk."""
    if progress is None:
        return lambda offset: None
    tell = progress
    return lambda offset: tell(done + source.size * offset // max(length, 1), total, source.name)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Keep the garbage collector from walking over objects that are all going to live, which takes most of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()

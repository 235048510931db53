"""Policies that somebody else keeps: a file or a packed folder of them, pinned by its digest.

An archive is read in memory and never unpacked to disk. It is refused as a whole where something in it could be
another thing than it looks like: a link, a path that leads out, a name that is there twice, or more than a folder of
policies needs.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Collection, Iterator
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from tarfile import TarFile, TarInfo
from typing import Final, NamedTuple

from schedctl.documents.findings import printable
from schedctl.errors import Problem
from schedctl.sources import archives, files
from schedctl.sources.pins import Pinned

MOST_FILES: Final = 1_000
MOST_PACKED, MOST_UNPACKED, LARGEST_FILE = 16 << 20, 64 << 20, 4 << 20
"""Bytes of an archive or a pinned file, of what it unpacks to, and of one file in it."""
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")


class Bundle(NamedTuple):
    """What a file holds.

    Attributes:
        digest: of the file, as it is stored.
        parts: the texts in it, with the names that messages use.
        is_archive: whether it is a packed folder.
    """

    digest: str
    parts: list[tuple[str, bytes]]
    is_archive: bool


def digest_problem(pinned: Pinned) -> Problem | None:
    """Return what is wrong with how a digest is written, None where nothing is."""
    if not pinned.digest or (_DIGEST.fullmatch(pinned.digest) and pinned.path != files.STDIN):
        return None
    message = f'"{printable(pinned.digest, 100)}" is not a digest of a file'
    return Problem(message, printable(pinned.path), hint="`sha256sum FILE` prints it: 64 digits, after sha256:")


def is_bundle(path: PurePath | None) -> bool:
    """Return whether a file is an archive by its name; standard input is none."""
    return path is not None and path.name.lower().endswith((".tar", ".tar.gz", ".tgz"))


def read(source: files.Source, pins: Collection[str]) -> Bundle:
    """Return the texts in a file that has these digests.

    Raises:
        Unreadable: it cannot be read, has another digest, or holds what a folder of policies does not.
    """
    data = source.read_bytes(MOST_PACKED)
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    for pin in pins:
        if pin != digest:
            message = f"has the digest {digest}, expected {pin}"
            hint = "look at what was changed before you write the new digest"
            raise files.Unreadable(Problem(message, source.name, hint=hint))
    file = io.BytesIO(data)
    if not archives.is_archive(file):
        return Bundle(digest, [(source.name, source.text_of(data))], False)
    try:
        with archives.open_archive(file, lambda packed: MOST_UNPACKED) as archive:
            parts = [(f"{source.name}/{name}", source.text_of(text)) for name, text in _members(archive)]
    except archives.ArchiveError as error:
        raise files.Unreadable(Problem(error.message, source.name, hint=error.hint)) from None
    return Bundle(digest, parts, True)


def _members(archive: TarFile) -> Iterator[tuple[str, bytes]]:
    """Yield the policies' files in an archive with their paths, in its order."""
    seen: set[str] = set()
    for entry in archive:
        path, shown = str(PurePosixPath(entry.name)), printable(entry.name, 100)
        if len(seen) == MOST_FILES:
            raise archives.ArchiveError(f"holds more than {MOST_FILES:,} files and folders")
        if path in seen:
            raise archives.ArchiveError(f'holds "{shown}" twice')
        if wrong := _refusal(entry):
            raise archives.ArchiveError(f'holds "{shown}", which {wrong}', "pack a folder of policies and nothing else")
        seen.add(path)
        if entry.isreg() and files.is_read_in_archive(path):
            inner = archive.extractfile(entry)
            yield printable(path), inner.read() if inner is not None else b""


def _refusal(entry: TarInfo) -> str:
    """Return what keeps a whole archive from being read, "" where nothing does."""
    windows = PureWindowsPath(entry.name)
    if entry.name.startswith("/") or windows.drive or windows.root or ".." in windows.parts:
        return "leads out of the archive"
    if entry.issym() or entry.islnk():
        return "is a link"
    if not (entry.isreg() or entry.isdir()) or entry.issparse():
        return "is neither a file nor a folder"
    return f"is larger than {LARGEST_FILE >> 20} MiB" if entry.size > LARGEST_FILE else ""

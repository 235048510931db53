"""Tar archives of clusters, such as support bundles and backups: read file by file, and never unpacked to disk.

The names in an archive are used in messages only, so none of them leads anywhere; links are not followed.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, NamedTuple, cast

from schedctl.documents.findings import printable

if TYPE_CHECKING:
    import tarfile

GZIP = b"\x1f\x8b"
_MAGIC = slice(257, 262)
_BLOCK = 512
_PIECE = 1 << 20
_DAMAGED = (EOFError, OSError, zlib.error, ValueError, OverflowError)
"""What reading a damaged archive can raise, beside errors of `tarfile`."""


class Member(NamedTuple):
    """A file in an archive.

    Attributes:
        name: the archive's name and that of the file in it.
        data: the file, at most as long as was asked for; None for one that is not read.
    """

    name: str
    data: bytes | None


class ArchiveError(Exception):
    """An archive cannot be read to its end: why, and what to do about it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


def is_archive(file: IO[bytes]) -> bool:
    """Return whether a file is a tar archive, packed or not; it is read from its beginning, and put back to it."""
    head = file.read(_BLOCK)
    try:
        if head.startswith(GZIP):
            file.seek(0)
            packed = file.read(1 << 16)
            head = zlib.decompressobj(wbits=31).decompress(packed, _BLOCK)
    except zlib.error:
        return False
    finally:
        file.seek(0)
    return head[_MAGIC] == b"ustar"


def members(
    file: IO[bytes], name: str, is_read: Callable[[str], bool], limit: Callable[[int], int], longest: int
) -> Iterator[Member]:
    """Yield the regular files of an archive in its order.

    Args:
        file: the archive, at its beginning.
        name: what to call it.
        is_read: whether a file is read, by its path in the archive.
        limit: how many bytes so many bytes of the archive may unpack to.
        longest: how many bytes of a file are read, of which the last shows that there are more.

    Raises:
        ArchiveError: it is damaged or larger than the limit.
    """
    with open_archive(file, limit) as archive:
        for entry in archive:
            vars(archive)["members"].clear()  # of all that was seen, which a stream has no use for
            if not entry.isreg() or entry.issparse():
                continue
            inner = archive.extractfile(entry) if is_read(entry.name) else None
            yield Member(f"{name}/{printable(entry.name)}", _beginning(inner, longest) if inner else None)


def _beginning(file: IO[bytes], longest: int) -> bytes:
    """Return so many bytes of a file at most, without taking room for all that its header promises."""
    pieces = []
    while longest > 0 and (piece := file.read(min(longest, _PIECE))):
        pieces.append(piece)
        longest -= len(piece)
    return b"".join(pieces)


@contextmanager
def open_archive(file: IO[bytes], limit: Callable[[int], int]) -> Iterator[tarfile.TarFile]:
    """Open an archive, packed or not, to be read from its beginning to its end.

    Args:
        file: the archive, at its beginning.
        limit: how many bytes so many bytes of it may unpack to; asked on the way, so that a bomb is not unpacked.

    Raises:
        ArchiveError: it is damaged or larger than the limit.
    """
    import gzip  # few commands read an archive
    import tarfile

    packed = file.read(len(GZIP)) == GZIP
    file.seek(0)
    stream = cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if packed else file
    try:
        bounded = _Bounded(stream, lambda: limit(file.tell()))
        with tarfile.open(fileobj=bounded, mode="r|") as archive:
            yield archive
        if bounded.end.strip(b"\0"):  # tarfile takes half a header for the end
            raise EOFError("the end is missing")
    except (tarfile.TarError, *_DAMAGED) as error:
        raise ArchiveError(
            f"is damaged: the archive cannot be read to its end ({printable(str(error), 100)})"
        ) from None


class _Bounded(io.RawIOBase):
    """What is read of a stream, as long as it is not too much."""

    def __init__(self, stream: IO[bytes], limit: Callable[[], int]) -> None:
        self.stream, self.limit, self.size = stream, limit, 0
        self.end = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self.stream.read(size)
        self.size += len(data)
        self.end = (self.end + data)[-_BLOCK:]
        limit = self.limit()
        if self.size > limit:
            raise ArchiveError(
                f"unpacks to more than {limit >> 20} MiB", "unpack it first if you trust it, and name the folder"
            )
        return data

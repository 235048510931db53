"""What the user named, to texts: files, folders, globs, standard input, gzip; found, read and bounded.

Paths become `Source` objects in the order in which they were named and, inside a folder, in the order of their names.
Nothing is read before it is its turn, so that at most one text is in memory on top of what was made of the others.
"""

from __future__ import annotations

import errno
import glob
import io
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

import msgspec
from msgspec.structs import replace

from schedctl.documents.findings import printable, quote
from schedctl.documents.spelling import CLOSE, nearest
from schedctl.errors import Problem
from schedctl.sources import archives

MAX_BYTES = 2 << 30
"""The longest text that is read, and the most that is unpacked."""

MIN_UNPACKED, MAX_RATIO = 256 << 20, 200
"""Unpacking stops where a text is both larger than the first and larger than the second times what was packed."""

_PIECE = 1 << 14
"""How many packed bytes are unpacked at once; they make 16 MiB at most."""

_NO_PADDING = re.compile(rb"[^\0]")
_PATH_ERRORS = (OSError, ValueError)
"""What looking at a path can raise; the second where no path of the system can be spelled so."""

_SUFFIXES = (".yaml", ".yml", ".json")
_BYTE_ORDER_MARKS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
STDIN = "-"
_LEADS_OUT = "is a link to outside of the folder and is not followed"
_NAME_IT = "to read it, name it"


class Unreadable(Exception):
    """A text cannot be had; carries the problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


class Source(msgspec.Struct, frozen=True):
    """A text that was found but not read yet.

    Attributes:
        name: how the user knows it.
        path: the file; None for standard input.
        size: bytes on disk, 0 when unknown.
        in_folder: whether it was found in a folder, where nobody named it.
    """

    name: str
    path: Path | None
    size: int
    in_folder: bool = False

    def read(self, stdin: BinaryIO | None) -> bytes:
        """Return the text, unpacked and as UTF-8 without byte order mark.

        Raises:
            Unreadable: it cannot be read, or is longer than we are willing to read.
        """
        with self._open(stdin) as file:
            return self.text_of(_read(file, MAX_BYTES))

    def read_bytes(self, most: int) -> bytes:
        """Return a file as it is stored, neither unpacked nor decoded.

        Raises:
            Unreadable: it cannot be read, or has more bytes than that.
        """
        with self._open(None) as file:
            data = _read(file, most)
        if len(data) > most:
            raise self._unreadable(f"is larger than {most >> 20} MiB")
        return data

    def parts(self, stdin: BinaryIO | None) -> Iterator[tuple[Source, bytes | None]]:
        """Yield the text, or every file of the archive that this is, as `text_of` takes it; None for what is not read.

        Raises:
            Unreadable: it cannot be read, or is longer than we are willing to read.
        """
        with self._open(stdin) as file:
            if not archives.is_archive(file):
                yield self, _read(file, MAX_BYTES)
                return
            try:
                for member in archives.members(file, self.name, is_read_in_archive, unpacking_limit, MAX_BYTES + 1):
                    yield replace(self, name=member.name, size=0, in_folder=True), member.data
            except archives.ArchiveError as error:
                raise self._unreadable(error.message, error.hint) from None

    def text_of(self, data: bytes) -> bytes:
        """Return what was read, unpacked and as UTF-8 without byte order mark.

        Raises:
            Unreadable: it is damaged, or longer than we are willing to read.
        """
        if len(data) > MAX_BYTES:
            raise self._unreadable(f"is larger than {MAX_BYTES >> 30} GiB")
        if data.startswith(archives.GZIP):
            data = self._unpack(data)
        return self._utf8(data)

    @contextmanager
    def _open(self, stdin: BinaryIO | None) -> Iterator[IO[bytes]]:
        """Open the file so that its beginning can be read twice."""
        try:
            if self.path is None and stdin is None:
                raise self._unreadable("standard input is closed")
            file = self.path.open("rb") if self.path else stdin
            assert file is not None
            try:
                yield file if self.path and file.seekable() else io.BytesIO(file.read(MAX_BYTES + 1))
            finally:
                if self.path:
                    file.close()
        except _PATH_ERRORS as error:
            raise self._unreadable(f"cannot be read: {_reason(error)}") from None
        except MemoryError:
            raise self._unreadable("does not fit into memory") from None

    def _unpack(self, data: bytes) -> bytes:
        pieces: list[bytes] = []
        unpacked = at = 0
        while at < len(data):
            stream = zlib.decompressobj(wbits=31)
            while not stream.eof:
                if at >= len(data):
                    raise self._unreadable("is damaged: the gzip data ends too early")
                try:
                    pieces.append(stream.decompress(data[at : at + _PIECE]))
                except zlib.error:
                    raise self._unreadable("is damaged: not a complete gzip file") from None
                at = min(at + _PIECE, len(data))
                unpacked += len(pieces[-1])
                # Looked at on the way, as a bomb shows long before its end: by what was read of it so far.
                limit = min(unpacking_limit(at), MAX_BYTES)
                if unpacked > limit:
                    raise self._unreadable(
                        f"unpacks to more than {limit >> 20} MiB, which is too much for its size",
                        "unpack it first if you trust it",
                    )
            rest = _NO_PADDING.search(data, at - len(stream.unused_data))  # gzip files may be joined, and padded
            at = rest.start() if rest else len(data)
        return b"".join(pieces) if len(pieces) != 1 else pieces[0]

    def _utf8(self, data: bytes) -> bytes:
        if data.startswith(b"\xef\xbb\xbf"):
            return data[3:]
        for mark, encoding in _BYTE_ORDER_MARKS:
            if data.startswith(mark):
                try:
                    return data.decode(encoding).encode()
                except UnicodeError:
                    raise self._unreadable(
                        f"begins like {encoding.upper()} but is not valid {encoding.upper()}", "save it as UTF-8"
                    ) from None
        if b"\0" in data[:4]:
            raise self._unreadable("looks like UTF-16 without a byte order mark", "save it as UTF-8")
        return data

    def _unreadable(self, message: str, hint: str = "") -> Unreadable:
        return Unreadable(Problem(message, source=self.name, hint=hint))


def _read(file: IO[bytes], most: int) -> bytes:
    """Return the rest of a file, one byte more than `most` of a longer one; no room is taken for what is not there."""
    at = file.tell()
    length = file.seek(0, os.SEEK_END) - at
    file.seek(at)
    return file.read((min(length, most) or most) + 1)  # files of the system, such as those of /proc, have no length


def unpacking_limit(packed: int) -> int:
    """Return how many bytes so many packed ones may unpack to."""
    return max(MIN_UNPACKED, MAX_RATIO * packed)


def find(
    names: Sequence[str], *, recursive: bool, stdin_filename: str, problems: list[Problem], warnings: list[Problem]
) -> list[Source]:
    """Return the texts behind what the user named, each once.

    Args:
        names: files, folders, globs, and ``-`` for standard input.
        recursive: whether folders include the folders in them.
        stdin_filename: the name of standard input in messages.
        problems: takes names behind which there is nothing.
        warnings: takes what was left out.
    """
    found: dict[str, Source] = {}  # by real path: a file that is named twice, or through a link, is read once
    for name in names:
        if name == STDIN:
            found.setdefault(STDIN, Source(stdin_filename, None, 0))
            continue
        before = len(problems)
        paths = list(_expand(name, problems, warnings))
        for path in paths:
            try:
                if in_folder := path.is_dir():
                    inside = list(_folder(path, recursive or _is_dump(path), warnings, problems))
                    if not inside and len(problems) == before:
                        problems.append(_empty_folder(path, recursive))
                else:
                    inside = [path]
                for file in inside:
                    found.setdefault(os.path.realpath(file), _source(file, in_folder=in_folder))
            except _PATH_ERRORS as error:
                problems.append(_unreadable_path(path, error))
    return list(found.values())


def _expand(name: str, problems: list[Problem], warnings: list[Problem]) -> Iterator[Path]:
    """Yield the paths of one name; a name that exists is never a pattern."""
    shown = printable(name)
    if "\0" in name:
        problems.append(Problem("is not a file name", source=shown))
        return
    if "://" in name:
        hint = f"download it and pipe it in, e.g. `curl {shown} | schedctl ... -f -`"
        problems.append(Problem("is a URL; only files are read", source=shown, hint=hint))
        return
    path = Path(name)
    try:
        path.stat()
    except _PATH_ERRORS as error:
        code = getattr(error, "errno", None)
        if code not in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP):
            problems.append(_unreadable_path(path, error))
        elif any(c in name for c in "*?["):
            matches = sorted(glob.glob(name, recursive=True))  # noqa: PTH207
            if not matches:
                problems.append(Problem("no file matches the pattern", source=shown))
            top = os.path.realpath(_folder_of_pattern(name))
            for match in map(Path, matches):
                if os.path.commonpath((top, os.path.realpath(match))) == top:
                    yield match
                else:
                    warnings.append(Problem(_LEADS_OUT, source=printable(str(match)), hint=_NAME_IT))
        else:
            message = "no such file or folder" if code in (errno.ENOENT, errno.ENOTDIR) else _reason(error)
            problems.append(Problem(message, source=shown, hint=_near_file(path)))
    else:
        yield path


def _folder_of_pattern(pattern: str) -> Path:
    """Return the folder that a pattern names, up to its first wildcard."""
    parts = Path(pattern).parts
    literal = next((at for at, part in enumerate(parts) if any(c in part for c in "*?[")), len(parts))
    return Path(*parts[:literal])


def _near_file(path: Path) -> str:
    try:
        close = nearest(path.name, (entry.name for entry in os.scandir(path.parent)), cutoff=CLOSE)
    except _PATH_ERRORS:
        return ""
    return f"did you mean {quote(str(path.parent / close))}?" if close else ""


def _folder(root: Path, recursive: bool, warnings: list[Problem], problems: list[Problem]) -> Iterator[Path]:
    """Yield the manifests in a folder in the order of their names.

    Never hidden ones, never anything outside the folder, and nothing that is no regular file, such as a pipe.
    """
    top = os.path.realpath(root)
    pending, seen = [root], {top}
    while pending:
        folder = pending.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except _PATH_ERRORS as error:
            problems.append(_unreadable_path(folder, error))
            continue
        folders = []
        for entry in entries:
            path = folder / entry.name
            if entry.name.startswith("."):
                continue
            try:
                target, is_link, is_folder = os.path.realpath(path), entry.is_symlink(), entry.is_dir()
                is_special = not entry.is_file() and os.path.exists(target)  # noqa: PTH110
            except _PATH_ERRORS as error:
                if is_manifest_name(entry.name) or recursive:
                    problems.append(_unreadable_path(path, error))
                continue
            if is_link and os.path.commonpath((top, target)) != top:
                if is_manifest_name(entry.name) or recursive:
                    warnings.append(Problem(_LEADS_OUT, source=printable(str(path)), hint=_NAME_IT))
            elif is_folder:
                if recursive and target not in seen:
                    seen.add(target)
                    folders.append(path)
            elif is_manifest_name(entry.name):
                if is_special:
                    message = "is not a regular file and is not read"
                    warnings.append(Problem(message, source=printable(str(path)), hint=_NAME_IT))
                else:
                    yield path
        pending.extend(reversed(folders))  # the last is taken first


def is_manifest_name(name: str) -> bool:
    """Return whether a file of this name is read in a folder."""
    return name.lower().removesuffix(".gz").endswith(_SUFFIXES)


def is_read_in_archive(path: str) -> bool:
    """Return whether a file of an archive is read: as in a folder, where nothing in hidden folders is."""
    hidden = any(part.startswith(".") for part in path.split("/") if part.strip("."))
    return is_manifest_name(path) and not hidden


def _is_dump(folder: Path) -> bool:
    """Whether ``kubectl cluster-info dump --output-directory`` wrote the folder, whose layout it has."""
    for suffix in (".json", ".yaml"):
        if (folder / f"nodes{suffix}").is_file():
            return next(folder.glob(f"*/pods{suffix}"), None) is not None
    return False


def _empty_folder(path: Path, recursive: bool) -> Problem:
    message = f"no manifests in the folder ({', '.join(_SUFFIXES)}, also with .gz)"
    deeper = not recursive and any(is_manifest_name(file.name) for file in path.glob("*/*"))
    hint = "without --no-recursive the folders in it are read, too" if deeper else ""
    return Problem(message, source=printable(str(path)), hint=hint)


def _source(path: Path, *, in_folder: bool) -> Source:
    try:
        size = path.stat().st_size
    except _PATH_ERRORS:
        size = 0
    return Source(printable(str(path)), path, size, in_folder)


def _unreadable_path(path: Path, error: OSError | ValueError) -> Problem:
    return Problem(f"cannot be read: {_reason(error)}", source=printable(str(path)))


def _reason(error: OSError | ValueError) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()

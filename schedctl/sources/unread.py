"""Files in folders that look like manifests and are not read, so that a check can count what it has not seen.

`schedctl.sources.files` chooses by name what is read; here the rest is looked at, by its first bytes.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from schedctl.documents.findings import printable
from schedctl.sources.files import is_manifest_name

LEADS_OUT = "a link to outside of the folder"
_HEAD_BYTES = 64 << 10
_VERSION_CONTROL = (".git", ".hg", ".svn")
_FIRST_LINE = re.compile(rb"(?:\s|#[^\n]*\n|---[^\n]*\n|\{\{[^\n]*\n)*(?:[\[{\"']|[\w./-]+[ \t]*:\s|- )")
_API_VERSION = re.compile(rb"(?:^|[\s\"'{,])apiVersion[\"']?\s*:\s*[\"']?([^\s\"',}]*)")
_KIND = re.compile(rb"(?:^|[\s\"'{,])kind[\"']?\s*:")
_OURS = b"schedctl.dev/"


class Unread(NamedTuple):
    """A file that looks like a manifest and is not read.

    Attributes:
        file: the file as the user knows it.
        reason: why it is not read.
    """

    file: str
    reason: str


def unread_files(
    names: Sequence[str], read: Collection[str], *, recursive: bool, policies: bool = False
) -> list[Unread]:
    """Return what looks like a manifest in the folders among some names, and is not read; in the order of the names.

    Args:
        names: what the user named.
        read: the files that are read, by their real paths.
        recursive: whether the folders in folders are read.
        policies: look for documents of schedctl's own kinds instead.
    """
    found: dict[str, Unread] = {}
    for name in names:
        folder = Path(name)
        if not folder.is_dir():
            continue
        top = os.path.realpath(folder)
        for path, hidden in _walk(folder):
            target = os.path.realpath(path)
            if target in read or target in found:
                continue
            is_deep = not recursive and path.parent != folder
            if reason := _reason(path, target, top, is_hidden=hidden, is_deep=is_deep, policies=policies):
                found[target] = Unread(printable(str(path)), reason)
    return list(found.values())


def _walk(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Yield every file below a folder, and every link to a folder outside of it, with whether it is hidden."""
    top = os.path.realpath(folder)
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _VERSION_CONTROL)
        hidden = any(part.startswith(".") for part in Path(where).relative_to(folder).parts)
        links = [name for name in folders if _leads_out(Path(where, name), top)]
        for name in sorted([*files, *links]):
            yield Path(where, name), hidden or name.startswith(".")


def _reason(path: Path, target: str, top: str, *, is_hidden: bool, is_deep: bool, policies: bool) -> str:
    """Return why a file that looks like a manifest is not read, "" for one that does not look like any."""
    if _leads_out(path, top):
        # What it leads to is not opened, not even to see what it is.
        return LEADS_OUT if is_manifest_name(path.name) or os.path.isdir(target) else ""  # noqa: PTH112
    if not path.is_file():
        return "not a regular file" if is_manifest_name(path.name) and path.exists() else ""
    if not _looks_like_manifest(path, policies):
        return ""
    if is_hidden:
        return "its name, or that of its folder, begins with a dot"
    if not is_manifest_name(path.name):
        return "its name does not end in .yaml, .yml or .json"
    return (
        "--no-recursive leaves out the folders in a folder" if is_deep else "no object of Kubernetes at its top level"
    )


def _leads_out(path: Path, top: str) -> bool:
    return path.is_symlink() and os.path.commonpath((top, os.path.realpath(path))) != top


def _looks_like_manifest(path: Path, policies: bool) -> bool:
    """Return whether a file begins as an object of Kubernetes, or of schedctl, does; one that cannot be opened may."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return is_manifest_name(path.name)
    if head.startswith(b"\x1f\x8b"):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, _HEAD_BYTES)
        except zlib.error:
            return False
    head = head.removeprefix(b"\xef\xbb\xbf").removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff").replace(b"\0", b"")
    versions = _API_VERSION.findall(head)
    meant = any(version.startswith(_OURS) is policies for version in versions)
    return meant and _KIND.search(head) is not None and _FIRST_LINE.match(head) is not None

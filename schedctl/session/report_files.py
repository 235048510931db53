"""Reports that go to files beside standard output: ``--report FORMAT=FILE``.

Whether they can be written is found out before any work is done. A file is written beside its place and then put
there, so that whoever collects reports never meets half of one.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from schedctl.errors import UsageError


def check(files: Iterable[str], flag: str = "--report") -> None:
    """Hold up a run whose reports could not be written.

    Raises:
        UsageError: a folder is not there, or a folder is where the file should be, or two reports are for one file.
    """
    seen: set[Path] = set()
    for file in files:
        path = Path(file)
        try:
            if path.is_dir():
                raise UsageError(f"{flag}: {file} is a folder", "name a file in it")
            if not path.parent.is_dir():
                raise UsageError(f"{flag}: no folder {path.parent} to write {path.name} to", "create it first")
            if not os.access(path if path.exists() else path.parent, os.W_OK):
                raise UsageError(f"{flag}: {file} cannot be written")
            where = path.resolve()
        except (OSError, ValueError) as error:
            raise UsageError(f"{flag}: {file} cannot be written: {error}") from None
        if where in seen:
            raise UsageError(f"{flag}: two reports would be written to {file}")
        seen.add(where)


def spare(files: Iterable[str], inputs: Iterable[str], flag: str = "--report") -> None:
    """Keep a run from writing over what it has read.

    Args:
        files: what is to be written.
        inputs: what was read, by the names of files; others, such as that of standard input, name none.
        flag: what names the files.

    Raises:
        UsageError: a file is one of the inputs.
    """
    read = {os.path.realpath(name) for name in inputs}
    for file in files:
        if os.path.realpath(file) in read:
            raise UsageError(
                f"{flag}: {file} is an input of this command and would be overwritten", "name another file"
            )


def write(file: str, text: str, flag: str = "--report") -> None:
    """Write a file as a whole or not at all; what is no ordinary file, such as a pipe, is written to as it is.

    Raises:
        UsageError: it cannot be written.
    """
    path = Path(file)
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8", newline="\n")
            return
        target = path.resolve()
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        # In the folder of the file: only within one file system is a replacement atomic.
        with tempfile.NamedTemporaryFile(
            "w", dir=target.parent, prefix=f".{target.name}.", encoding="utf-8", newline="\n", delete=False
        ) as stream:
            try:
                stream.write(text)
                stream.flush()
                Path(stream.name).chmod(mode)
                Path(stream.name).replace(target)
            except BaseException:
                with suppress(OSError):
                    Path(stream.name).unlink()
                raise
    except OSError as error:
        raise UsageError(f"{flag}: {file} cannot be written: {(error.strerror or str(error)).lower()}") from None


def _umask() -> int:
    # Python can only learn the mask by setting another one.
    mask = os.umask(0)
    os.umask(mask)
    return mask

"""Snapshots and keys on disk: nobody else's to read, and never half written.

A file is made with mode 0600 beside its name and takes its place when all of it is there; what was there before is
replaced only where that was asked for.
"""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from schedctl.errors import UsageError

_MODE = 0o600
_KEY_BYTES = 32
_KEY = re.compile(rb"[0-9a-fA-F]{%d}" % (2 * _KEY_BYTES))
_LONGEST = 1 << 10
_OTHERS = 0o077


def check_writable(path: Path, *, replace: bool) -> None:
    """See to it that a file can be written, before any work is done.

    Raises:
        UsageError: there is one of that name and it is not to be replaced, or no folder for it.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder", "name a file in it")
    if not path.parent.is_dir():
        raise UsageError(f"no folder {path.parent}")
    if os.path.lexists(path) and not replace:
        raise UsageError(f"{path} exists already", "`--force` overwrites it")


def write(path: Path, data: bytes, *, replace: bool) -> None:
    """Write a file of mode 0600, in one go.

    Raises:
        UsageError: see `check_writable`; somebody else may have written it meanwhile.
        OSError: it cannot be written.
    """
    check_writable(path, replace=replace)
    target = path.resolve() if replace else path  # what a link points to is replaced, not the link
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            temporary.replace(target)
        else:
            _put(temporary, target)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def load_key(path: Path) -> tuple[bytes, bool]:
    """Return the key in a file, and whether it was made just now because there was none.

    Raises:
        UsageError: it cannot be read or written, or is no key.
    """
    try:
        with path.open("rb") as file:
            found = file.read(_LONGEST).strip()
    except FileNotFoundError:
        made = secrets.token_hex(_KEY_BYTES).encode()
        try:
            write(path, made + b"\n", replace=False)
        except OSError as error:
            raise UsageError(f"the key {path} cannot be written: {_reason(error)}") from None
        return made, True
    except (OSError, ValueError) as error:
        raise UsageError(f"the key {path} cannot be read: {_reason(error)}") from None
    if not _KEY.fullmatch(found):
        hint = "name a file that does not exist to create a key"
        raise UsageError(f"{path} is not a key: expected {2 * _KEY_BYTES} hexadecimal digits", hint)
    return found, False


def is_readable_by_others(path: Path) -> bool:
    """Return whether anybody but its owner may read a file."""
    try:
        return os.name == "posix" and bool(path.stat().st_mode & _OTHERS)
    except OSError:
        return False


def one_time_key() -> bytes:
    """Return a key that nobody keeps."""
    return secrets.token_bytes(_KEY_BYTES)


def _put(temporary: Path, target: Path) -> None:
    """Give a file its name, unless another has it.

    Raises:
        UsageError: another has it.
    """
    try:
        os.link(temporary, target)  # fails where the name is taken; a rename would replace what is there
    except FileExistsError:
        raise UsageError(f"{target} exists already", "`--force` overwrites it") from None
    except OSError:  # a file system without links
        if os.path.lexists(target):
            raise UsageError(f"{target} exists already", "`--force` overwrites it") from None
        temporary.replace(target)


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()

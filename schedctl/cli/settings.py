"""What schedctl's own configuration files set, and where those are.

The nearest ``.schedctl.yaml``, in this folder or one above it up to the root of the repository, goes before
``schedctl/config.yaml`` in the user's folder for configurations. Outside of a repository only this folder is looked
at: the folders above it may be anybody's.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schedctl.api.custom_kinds import CUSTOM_KINDS, CustomKind, with_custom_kinds
from schedctl.errors import ConfigError, Problem, UsageError

NAME = ".schedctl.yaml"


@dataclass(frozen=True, slots=True)
class Settings:
    """What is set.

    Attributes:
        custom_kinds: the custom kinds that are read, those that come with schedctl included.
        digests: ``sha256:...`` of each file, by its name.
    """

    custom_kinds: tuple[CustomKind, ...] = CUSTOM_KINDS
    digests: Mapping[str, str] = field(default_factory=dict)


def load(path: str, *, ignored: bool, environ: Mapping[str, str] = os.environ) -> Settings:
    """Return what ``--config`` and ``--no-config`` stand for.

    Args:
        path: the only file to read, "" for those that are found.
        ignored: whether none is read.
        environ: where the user's folders are looked up.

    Raises:
        ConfigError: a file cannot be read, or something in it is wrong.
        UsageError: a file is named, and none is to be read.
    """
    if ignored:
        if path:
            raise UsageError("--config and --no-config exclude each other")
        return Settings()
    files = [Path(path)] if path else [file for file in (_of_user(environ), _of_repository(Path.cwd())) if file]
    if not files:
        return Settings()
    from schedctl.config.own import custom_kinds_in  # most runs have no such file and need no parser

    entries: dict[str, Any] = {}
    digests: dict[str, str] = {}
    for file in files:
        name = path or _shown(file)
        try:
            text = file.read_bytes()
        except OSError as error:
            message = f"cannot be read: {(error.strerror or str(error)).lower()}"
            raise ConfigError([Problem(message, source=name)]) from None
        entries |= custom_kinds_in(text, name)
        digests[name] = f"sha256:{hashlib.sha256(text).hexdigest()}"
    return Settings(with_custom_kinds(entries), digests)


def _of_repository(folder: Path) -> Path | None:
    """Return the nearest file from a folder up to the root of its repository, None where there is none."""
    searched = []
    for each in (folder, *folder.parents):
        searched.append(each)
        if (each / ".git").exists():
            break
    else:
        searched = [folder]
    return next((file for each in searched if (file := each / NAME).is_file()), None)


def _of_user(environ: Mapping[str, str]) -> Path | None:
    named, home = Path(environ.get("XDG_CONFIG_HOME", "")), Path(environ.get("HOME", ""))
    folder = named if named.is_absolute() else home / ".config"
    file = folder / "schedctl" / "config.yaml"
    return file if folder.is_absolute() and file.is_file() else None


def _shown(file: Path) -> str:
    """Return the name of a file from where the user is, or its whole name where that is shorter."""
    return min(os.path.relpath(file), str(file), key=len)

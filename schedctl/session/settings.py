"""Finds schedctl's own configuration files and puts together what they set.

`config.settings_file` has the fields of one such file; `cli` passes the options that come before it.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from schedctl.api.custom_kinds import CUSTOM_KINDS, CustomKind
from schedctl.errors import ConfigError, Problem, UsageError
from schedctl.sources.files import STDIN
from schedctl.sources.pins import split_pin

NAME = ".schedctl.yaml"


class Settings(msgspec.Struct, frozen=True):
    """What is set.

    Attributes:
        custom_kinds: the custom kinds that are read, those that come with schedctl included.
        check: what ``schedctl check`` does where its options say nothing, with paths from where the user is.
        digests: ``sha256:...`` of each file, by its name.
    """

    custom_kinds: tuple[CustomKind, ...] = CUSTOM_KINDS
    check: Mapping[str, Any] = msgspec.field(default_factory=dict)
    digests: Mapping[str, str] = msgspec.field(default_factory=dict)


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
            raise UsageError("--config and --no-config were both given", "give one of them")
        return Settings()
    of_user = None if path else _of_user(environ)
    files = [Path(path)] if path else [file for file in (of_user, _of_repository(Path.cwd())) if file]
    if not files:
        return Settings()
    # most runs have no such file and need no parser
    from schedctl.config import custom_kinds, settings_file

    entries: dict[str, Any] = {}
    check: dict[str, Any] = {}
    digests: dict[str, str] = {}
    for file in files:
        name = path or _display_name(file)
        text = _contents(file, name)
        file_settings = settings_file.read(text, name, of_user=file is of_user)
        entries |= file_settings.custom_kinds
        check |= _inside(msgspec.structs.asdict(file_settings.check), file, name)
        digests[name] = f"sha256:{hashlib.sha256(text).hexdigest()}"
    return Settings(custom_kinds.with_custom_kinds(entries), check, digests)


def defaults(path: str = "", *, of_repository: bool = True, environ: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Return what stands in for options that are not given, by the name of the option's parameter.

    The user's own file goes before that of a repository, whoever wrote that.

    Args:
        path: the only file to read, "" for those that are found.
        of_repository: whether a repository's file is read, too.
        environ: where the user's folders are looked up.

    Raises:
        ConfigError: a file cannot be read, or something in it is wrong.
    """
    of_user = None if path else _of_user(environ)
    shared = _of_repository(Path.cwd()) if of_repository else None
    files = [Path(path)] if path else [file for file in (shared, of_user) if file]
    found: dict[str, Any] = {}
    for file in files:
        from schedctl.config import settings_file

        text = _contents(file, name := path or _display_name(file))
        read = settings_file.read(text, name, of_user=file is of_user)
        found |= {key: value for key, value in msgspec.structs.asdict(read.defaults).items() if value not in ("", None)}
    if kubeconfig := found.get("kubeconfig"):
        found["kubeconfig"] = str(Path(kubeconfig).expanduser())
    return found


def _contents(file: Path, name: str) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        message = f"cannot be read: {(error.strerror or str(error)).lower()}"
        raise ConfigError([Problem(message, source=name)]) from None


def _inside(check: Mapping[str, Any], file: Path, name: str) -> dict[str, Any]:
    """Return what is set, with paths from where the user is.

    Raises:
        ConfigError: one is outside of the repository, or into what git keeps there.
    """
    # A cloned repository decides about its own files and about nothing else on this machine.
    folder = file.absolute().parent
    root = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)
    problems: list[Problem] = []

    def path_of(text: str, where: str) -> str:
        path = Path(text)
        if text == STDIN:
            problems.append(Problem('"-" is not a file', name, path=where, hint="give it on the command line"))
            return text
        if path.is_absolute():
            message = f'"{text}" is an absolute path, but this file may set only paths in its repository'
            problems.append(Problem(message, name, path=where, hint="give it on the command line"))
            return text
        for each in _expand(folder / path):
            steps = _below(each, root)
            if steps is None or ".git" in steps:
                message = (
                    f'"{text}" is outside of the repository' if steps is None else f'"{text}" is in the .git folder'
                )
                problems.append(Problem(message, name, path=where, hint="give it on the command line"))
                break
        return _display_name(folder / path)

    def report_of(text: str, where: str) -> str:
        before = len(problems)
        shown = path_of(text, where)
        steps = _below(folder / text, root) or ()
        if len(problems) == before and any(step.startswith(".") for step in steps):
            message = f'"{text}" is a hidden file, which this file cannot set as an output'
            problems.append(Problem(message, name, path=where, hint="give it on the command line"))
        return shown

    chosen = {key: value for key, value in check.items() if value}
    if "policies" in chosen:
        pins = enumerate(map(split_pin, chosen["policies"]))
        files = [(path_of(pin.path, f"check.policies[{index}]"), pin.digest) for index, pin in pins]
        chosen["policies"] = [f"{path}@{digest}" if digest else path for path, digest in files]
    if "state" in chosen:
        chosen["state"] = [path_of(each, f"check.state[{index}]") for index, each in enumerate(chosen["state"])]
    if "baseline" in chosen:
        chosen["baseline"] = path_of(chosen["baseline"], "check.baseline")
    if "reports" in chosen:
        pairs = [each.partition("=") for each in chosen["reports"]]
        chosen["reports"] = [
            f"{form}={report_of(path, f'check.reports[{index}]')}" if path else form
            for index, (form, _, path) in enumerate(pairs)
        ]
    if problems:
        raise ConfigError(problems)
    return chosen


def _expand(path: Path) -> list[Path]:
    """Return what a path stands for: itself, and what it matches where it is a pattern; links may be among that."""
    if not any(letter in str(path) for letter in "*?["):
        return [path]
    return [path, *map(Path, glob.glob(str(path), recursive=True))]  # noqa: PTH207 - what the files are found with


def _below(path: Path, root: Path) -> tuple[str, ...] | None:
    """Return the steps from a folder to what a path leads to, links followed; None where that is elsewhere."""
    try:
        reached, top = path.resolve(), root.resolve()
    except (OSError, ValueError, RuntimeError):
        return None
    return reached.relative_to(top).parts if reached.is_relative_to(top) else None


def _of_repository(folder: Path) -> Path | None:
    """Return the nearest file from a folder up to the root of its repository, None where there is none."""
    # Outside of a repository the folders above this one may be anybody's, so only this one is looked at.
    searched = []
    for each in (folder, *folder.parents):
        searched.append(each)
        if (each / ".git").exists():
            break
    else:
        searched = [folder]
    return next((file for each in searched if (file := each / NAME).is_file()), None)


def _of_user(environ: Mapping[str, str]) -> Path | None:
    config_home, home = Path(environ.get("XDG_CONFIG_HOME", "")), Path(environ.get("HOME", ""))
    folder = config_home if config_home.is_absolute() else home / ".config"
    file = folder / "schedctl" / "config.yaml"
    return file if folder.is_absolute() and file.is_file() else None


def _display_name(file: Path) -> str:
    """Return the name of a file from where the user is, or its whole name where that is shorter."""
    return min(os.path.relpath(file), os.path.normpath(file), key=len)

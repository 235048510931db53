"""Which cluster and which user a kubeconfig means, by kubectl's rules.

The files are read by the Python client, and what one context needs of them is put together here, because kubectl's
rules for several files are not the client's: of a name that is in two files the first counts, the first file that names
a current context decides it, and a relative path is relative to the file that it is written in. Numbers where text
belongs, entries without names and the like are told with the file and the field, as kubectl refuses them too.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from schedctl.documents.spelling import similar
from schedctl.errors import ClusterError

VARIABLE: Final = "KUBECONFIG"
USUAL: Final = "~/.kube/config"
WITHOUT: Final = "`-f FILE` reads a snapshot or manifests instead of a cluster"
"""The next step of whoever has no cluster at hand."""

_FILES = {
    "cluster": ("certificate-authority",),
    "user": ("client-certificate", "client-key", "tokenFile"),
}
"""The fields that name files, which are relative to the kubeconfig."""

_TEXTS = {
    "cluster": ("server", "tls-server-name", "certificate-authority", "certificate-authority-data", "proxy-url"),
    "user": (
        *("client-certificate", "client-certificate-data", "client-key", "client-key-data", "token", "tokenFile"),
        *("as", "as-uid", "username", "password"),
    ),
}
_SHAPES: dict[str, tuple[type, str]] = {
    "insecure-skip-tls-verify": (bool, "true or false"),
    "disable-compression": (bool, "true or false"),
    "extensions": (list, "a list"),
    "as-groups": (list, "a list"),
    "as-user-extra": (dict, "a mapping"),
    "auth-provider": (dict, "a mapping"),
    "exec": (dict, "a mapping"),
}
"""What fields hold, text and other."""
_VIEW = "`kubectl config view` shows it, too"
"""The next step for what kubectl refuses as well."""

Entry = dict[str, Any]
"""A cluster, user or context, as it is written."""


class Context(msgspec.Struct, frozen=True):
    """One context, with all that it refers to.

    Attributes:
        name: its name.
        namespace: its namespace, "" where it names none.
        cluster: the fields of its cluster, paths made absolute, empty ones left out.
        user: the fields of its user, likewise; empty for nobody.
        user_name: what the user is called.
        paths: the files that were read, first to last.
    """

    name: str
    namespace: str
    cluster: Entry
    user: Entry
    user_name: str
    paths: tuple[str, ...]


class _File(msgspec.Struct, frozen=True):
    """A kubeconfig that was read.

    Attributes:
        path: where.
        current: the context it calls current.
        entries: its contexts, clusters and users, by what they are and their names.
    """

    path: str
    current: str
    entries: Mapping[str, Mapping[str, Entry]]


def sources(kubeconfig: str) -> list[str]:
    """Return where a kubeconfig is looked for: a file that was named, ``$KUBECONFIG``, or the usual place."""
    if kubeconfig:
        return [kubeconfig]
    named = [path for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]
    return named or [str(Path(USUAL).expanduser())]


def read(kubeconfig: str, context: str) -> Context | None:
    """Return the context that is meant, None where there is no kubeconfig and none was named.

    Args:
        kubeconfig: the file, "" for the usual ones.
        context: the name, "" for the current one.

    Raises:
        ClusterError: a file cannot be read, is no kubeconfig, or there is no such context.
    """
    paths = sources(kubeconfig)
    # Of $KUBECONFIG missing files are passed over, as kubectl does; a file that was named has to be there.
    present = [path for path in paths if kubeconfig or Path(path).exists()]
    files = [file for path in present if (file := _file(path)) is not None]
    where = " and ".join(present or paths)
    known = {name for file in files for name in file.entries["contexts"]}
    if not known:
        if kubeconfig or context:
            raise ClusterError(f"no context in {where}", f"`--kubeconfig FILE` names another; {WITHOUT}")
        return None
    name = context or next((file.current for file in files if file.current), "")
    if not name:
        raise ClusterError(f"no current context in {where}", f"`--context NAME`: {_enumerate(sorted(known))}")
    if name not in known:
        called = f'context "{name}" not found in {where}'
        raise ClusterError(called if context else f"{called}, named by current-context", _suggest(name, sorted(known)))
    file, entry = _first_entry(files, "contexts", name)
    at = f'{file.path}: context "{name}"'
    cluster = _text(entry, "cluster", at)
    user = _text(entry, "user", at)
    if not cluster:
        raise ClusterError(f"{at} names no cluster", "`kubectl config set-context` gives it one")
    return Context(
        name=name,
        namespace=_text(entry, "namespace", at),
        cluster=_resolve(files, "cluster", cluster, at),
        user=_resolve(files, "user", user, at) if user else {},
        user_name=user,
        paths=tuple(file.path for file in files),
    )


def context_names(kubeconfig: str) -> list[str]:
    """Return the names of all contexts of a kubeconfig, "" for the usual ones.

    Raises:
        ClusterError: a file cannot be read, or is no kubeconfig.
    """
    files = [_file(path) for path in sources(kubeconfig) if Path(path).exists()]
    return sorted({name for file in files if file is not None for name in file.entries["contexts"]})


def _file(path: str) -> _File | None:
    """Return what is in a file, None where it is empty.

    Raises:
        ClusterError: it cannot be read, or is no kubeconfig.
    """
    from kubernetes.config.config_exception import ConfigException
    from kubernetes.config.kube_config import KubeConfigMerger

    try:
        data = Path(path).expanduser().read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ClusterError(f"{path}: the kubeconfig cannot be read: {reason}", WITHOUT) from None
    merger: Any = KubeConfigMerger
    try:
        tree = merger(io.BytesIO(data)).config if data.strip() else None
    except ConfigException:  # nothing but comments
        return None
    except Exception as error:  # of the YAML reader, which only `documents` may import
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}" if mark is not None else path
        problem = getattr(error, "problem", "") or type(error).__name__
        raise ClusterError(f"{place}: the kubeconfig is not YAML: {problem}", _VIEW) from None
    if tree is None:
        return None
    if not isinstance(tree, dict):
        raise ClusterError(f"{path}: not a kubeconfig: expected a mapping", WITHOUT)
    entries = {plural: _entries(tree, plural, path) for plural in ("contexts", "clusters", "users")}
    return _File(path, _text(tree, "current-context", path), entries)


def _entries(tree: Entry, plural: str, path: str) -> dict[str, Entry]:
    """Return the entries of a list, by name; the first of a name counts."""
    found: dict[str, Entry] = {}
    listed = tree.get(plural) or []
    if not isinstance(listed, list):
        raise ClusterError(f"{path}: {plural}: expected a list", _VIEW)
    for number, one in enumerate(listed):
        at = f"{path}: {plural}[{number}]"
        if not isinstance(one, dict):
            raise ClusterError(f"{at}: expected a mapping", _VIEW)
        entry = one.get(plural[:-1]) or {}
        if not isinstance(entry, dict):
            raise ClusterError(f"{at}.{plural[:-1]}: expected a mapping", _VIEW)
        found.setdefault(_text(one, "name", at), entry)
    return found


def _text(entry: Entry, key: str, at: str) -> str:
    value = entry.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ClusterError(f"{at}: {key}: expected text", "put it in quotes")
    return value


def _first_entry(files: Sequence[_File], plural: str, name: str) -> tuple[_File, Entry]:
    """Return the first entry of that name, and its file.

    Raises:
        StopIteration: there is none.
    """
    return next((file, file.entries[plural][name]) for file in files if name in file.entries[plural])


def _resolve(files: Sequence[_File], what: str, name: str, at: str) -> Entry:
    """Return the cluster or user that a context refers to, with absolute paths.

    Raises:
        ClusterError: there is none of that name, or a field of it is not text.
    """
    plural = f"{what}s"
    if not any(name in file.entries[plural] for file in files):
        known = sorted({other for file in files for other in file.entries[plural]})
        raise ClusterError(f'{at} names the {what} "{name}", which does not exist', _suggest(name, known))
    file, entry = _first_entry(files, plural, name)
    entry = {key: value for key, value in entry.items() if value not in (None, "")}
    within = f'{file.path}: {what} "{name}"'
    _check(entry, what, within)
    folder = Path(file.path).expanduser().absolute().parent
    for key in _FILES[what]:
        if key in entry:
            entry[key] = str(folder / _text(entry, key, within))
    # A command with a slash is relative to the kubeconfig; one without is looked for on $PATH.
    command = entry["exec"].get("command") if isinstance(entry.get("exec"), dict) else None
    if isinstance(command, str) and os.sep in command:
        entry["exec"] = {**entry["exec"], "command": str(folder / command)}
    return entry


def _check(entry: Entry, what: str, at: str) -> None:
    """See to it that the fields of a cluster or a user hold what they are to hold.

    Raises:
        ClusterError: one does not.
    """
    for key in _TEXTS[what]:
        _text(entry, key, at)
    for key, (shape, expected) in _SHAPES.items():
        if key in entry and not isinstance(entry[key], shape):
            raise ClusterError(f"{at}: {key}: expected {expected}", _VIEW)
    if what == "user":
        _texts(entry.get("as-groups", []), f"{at}: as-groups")
        for key, values in entry.get("as-user-extra", {}).items():
            _texts([key], f"{at}: as-user-extra")
            _texts(values, f"{at}: as-user-extra.{key}")
    _check_letters(entry, at)


def _texts(values: Any, at: str) -> None:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ClusterError(f"{at}: expected a list of text", _VIEW)


def _check_letters(value: Any, at: str) -> None:
    """See to it that all text can be written: half a surrogate, which JSON can name, and a zero byte cannot."""
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
            raise ClusterError(f"{at}: expected text", _VIEW)
    elif isinstance(value, dict):
        for key, inner in value.items():
            _check_letters(key, at)
            _check_letters(inner, f"{at}: {key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            _check_letters(inner, f"{at}[{number}]")


def _suggest(name: str, known: Sequence[str]) -> str:
    close = similar(name, known)
    return (
        f"did you mean {' or '.join(close)}?"
        if close
        else f"there are {_enumerate(known)}"
        if known
        else "there are none"
    )


def _enumerate(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


class Access(msgspec.Struct, frozen=True):
    """How to reach a cluster; "" and None stand for what the kubeconfig says.

    Attributes:
        context: the context of the kubeconfig, "" for the current one.
        kubeconfig: the file, "" for ``$KUBECONFIG``, ``~/.kube/config``, or the account of the pod that this runs in.
        user: whom to impersonate, "" for nobody.
        groups: the groups to impersonate.
        timeout: seconds that one request may take, None for no limit but a patience of our own.
    """

    context: str = ""
    kubeconfig: str = ""
    user: str = ""
    groups: tuple[str, ...] = ()
    timeout: float | None = None

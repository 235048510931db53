"""Where in somebody's own files a finding belongs: the field that decides, or the line that says ``kind:``.

Nobody edits what was rendered, so there the place is what Helm or kustomize has rendered it from, as far as that can
be told.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from schedctl import sources
from schedctl.documents.findings import Path as FieldPath
from schedctl.documents.findings import PathTree, path_text, printable
from schedctl.documents.texts import Document
from schedctl.errors import InputError
from schedctl.reports.checks import Location
from schedctl.sources.manifests import Sourced
from schedctl.sources.terms import Terms

ORIGIN: Final = "config.kubernetes.io/origin"
_KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_STDIN: Final = "<stdin>"
_MOST_FILES: Final = 2_000
_MOST_BYTES: Final = 16 << 20


class _Resource(msgspec.Struct, frozen=True):
    """An object in a file below a kustomization.

    Attributes:
        sourced: the object.
        name: what the kustomizations around it call it.
    """

    sourced: Sourced
    name: str


class Locator(msgspec.Struct):
    """Finds places, and remembers what it has read on the way."""

    _resources: dict[str, list[_Resource]] = msgspec.field(default_factory=dict)
    _files: dict[Path, list[Sourced]] = msgspec.field(default_factory=dict)

    def locate(self, fields: Iterable[tuple[Sourced, FieldPath]]) -> list[Location]:
        """Return the place of each field of an object, or of the object where the field is not written.

        Args:
            fields: objects as they were read, each with a field, () for the object as a whole.
        """
        found = [(self._in_file(sourced, path), path) for sourced, path in fields]
        # By document, so that one is read once more however many objects it holds.
        fields_of: dict[int, tuple[Document, PathTree]] = {}
        for where, path in found:
            if isinstance(where, Sourced):
                _, tree = fields_of.setdefault(id(where.document), (where.document, PathTree()))
                full, kind = _paths(where, path)
                tree.add(full)
                tree.add(kind)
        for document, tree in fields_of.values():
            document.locate(tree)
        return [
            _location_in_file(where, path, fields_of[id(where.document)][1]) if isinstance(where, Sourced) else where
            for where, path in found
        ]

    def _in_file(self, sourced: Sourced, path: FieldPath) -> Sourced | Location:
        """Return the object that stands in somebody's file, or the place where only the file or less is known."""
        if not sourced.document.text.editable:
            return Location()
        folder = sourced.document.text.folder
        origin = _origin(sourced)
        if folder or origin:
            return self._kustomize_source(sourced, path, folder, origin)
        if sourced.origin and _is_below(sourced.origin):
            return Location(file=_template(sourced), path=path_text(path))
        # Standard input without a name is no file that anybody could open.
        if sourced.source == _STDIN:
            return Location(path=path_text(path))
        return sourced

    def _kustomize_source(self, sourced: Sourced, path: FieldPath, folder: str, origin: str) -> Sourced | Location:
        """Return what kustomize built an object from.

        That is the file that the build names (``buildMetadata: [originAnnotations]``), or the one file below the
        kustomization with an object of that kind and name, prefixes and suffixes taken off; else the kustomization.
        """
        if origin:
            file = Path(folder, origin)
            found = [one for one in self._objects(file) if _ends(sourced, one)]
            if len(found) == 1:
                return found[0]
            if file.is_file():
                return Location(file=_show_path(file), path=path_text(path))
        if not folder:
            return Location(file=printable(origin), path=path_text(path))
        if folder not in self._resources:
            self._resources[folder] = list(self._below(Path(folder), "", "", set()))
        candidates = [
            one
            for one in self._resources[folder]
            if one.sourced.kind.name == sourced.kind.name and one.name == sourced.object.metadata.name
        ]
        if len(candidates) > 1:
            namespace = sourced.object.metadata.namespace
            candidates = [one for one in candidates if one.sourced.object.metadata.namespace == namespace]
        if len(candidates) == 1:
            return candidates[0].sourced
        return Location(file=_kustomization(Path(folder)), path=path_text(path))

    def _below(self, folder: Path, prefix: str, suffix: str, seen: set[Path]) -> Iterator[_Resource]:
        """Yield the objects in the files of a kustomization and of those it builds on."""
        where = folder.resolve()
        if where in seen or len(self._files) > _MOST_FILES:
            return
        seen.add(where)
        written = _document(folder)
        prefix, suffix = prefix + _text(written, "namePrefix"), _text(written, "nameSuffix") + suffix
        listed = (written.get(name) or () for name in ("resources", "bases", "components"))
        for entry in (each for names in listed if isinstance(names, list) for each in names):
            path = folder / entry if isinstance(entry, str) else None
            try:
                if path is None or "://" in entry:
                    continue
                if path.is_dir():
                    yield from self._below(path, prefix, suffix, seen)
                    continue
            except (OSError, ValueError):
                continue
            for sourced in self._objects(path):
                yield _Resource(sourced, f"{prefix}{sourced.object.metadata.name}{suffix}")

    def _objects(self, file: Path) -> list[Sourced]:
        """Return the objects in a file, none where it cannot be read."""
        if file not in self._files:
            self._files[file] = []
            data = _bytes(file)
            if data is not None:
                try:
                    terms = Terms(creating=True)
                    self._files[file] = sources.load_text(data, _show_path(file), allow_empty=True, terms=terms).objects
                except InputError:
                    pass  # kustomize has understood it; here is only what can be pointed to
        return self._files[file]


def _paths(sourced: Sourced, path: FieldPath) -> tuple[FieldPath, FieldPath]:
    """Return the paths in the document of a field of an object, and of its kind."""
    above: FieldPath = ("items", sourced.index) if sourced.index >= 0 else ()
    return (*above, *path), (*above, "kind")


def _location_in_file(sourced: Sourced, path: FieldPath, tree: PathTree) -> Location:
    """Return the place of a field in the file that was read, once it was looked for."""
    full, kind = _paths(sourced, path)
    place = tree.place(full, at_key=True) if path and _is_there(tree, full) else tree.place(kind, at_key=True)
    line, column = place or (sourced.line, sourced.column)
    return Location(file=sourced.source, line=line, column=column, path=path_text(path))


def _is_there(tree: PathTree, path: Iterable[str | int]) -> bool:
    node = tree
    for step in path:
        node = node.children[step]
        if node.value is None:
            return False
    return True


def _template(sourced: Sourced) -> str:
    """Return the template that Helm names, without a line, since the lines of a template are others.

    Helm names it by the chart; the folder of the chart goes in its place where standard input was called by that.
    """
    chart, slash, rest = sourced.origin.partition("/")
    folder = Path(sourced.source)
    if slash and not _is_file(folder) and (folder.name == chart or _is_file(folder / "Chart.yaml")):
        return _show_path(folder / rest)
    return sourced.origin


def _origin(sourced: Sourced) -> str:
    """Return the file that kustomize says an object comes from, "" where it says nothing or names a remote one."""
    annotation = (sourced.object.metadata.annotations or {}).get(ORIGIN, "")
    found = re.search(r"^path: *['\"]?([^'\"\n]+)", annotation, re.MULTILINE)
    if not found or re.search(r"^repo:", annotation, re.MULTILINE):
        return ""
    rendered = sourced.document.text.folder or not _is_file(Path(sourced.source))
    file = found[1].strip()
    return file if rendered and _is_below(sourced.document.text.folder, file) else ""


def _is_below(*parts: str) -> bool:
    """Return whether a path, which anybody may have written, stays below the folder it is relative to."""
    *folders, file = parts
    path = Path(file)
    try:
        if path.is_absolute() or ".." in path.parts:
            return False
        folder = Path(*folders).resolve()
        return (folder / path).resolve().is_relative_to(folder)
    except (OSError, ValueError, RuntimeError):
        return False


def _ends(built: Sourced, one: Sourced) -> bool:
    """Return whether an object of a resource file may be what was built, whatever stands around its name now."""
    return one.kind.name == built.kind.name and one.object.metadata.name in built.object.metadata.name


def _document(folder: Path) -> dict[str, Any]:
    """Return what a kustomization says, nothing where it cannot be read."""
    from schedctl.documents import yaml_values
    from schedctl.documents.findings import Place

    data = _bytes(Path(_kustomization(folder)))
    if data is None:
        return {}
    try:
        values = list(yaml_values.read(data, Place(1, 1), lambda finding, place: None))
    except (yaml_values.YAMLProblem, UnicodeError):
        return {}
    document = values[-1].value if values else None
    return document if isinstance(document, dict) else {}


def _kustomization(folder: Path) -> str:
    """Return the file of a kustomization; the first name it may have where there is none."""
    files = [folder / name for name in _KUSTOMIZATIONS]
    return _show_path(next((file for file in files if _is_file(file)), files[0]))


def _is_file(file: Path) -> bool:
    try:
        return file.is_file()
    except (OSError, ValueError):
        return False


def _bytes(file: Path) -> bytes | None:
    try:
        if file.is_file() and file.stat().st_size <= _MOST_BYTES:
            return file.read_bytes()
    except (OSError, ValueError):
        pass
    return None


def _show_path(file: Path) -> str:
    """Return a file as the user would write it, ``over/../base`` being ``base``."""
    return printable(os.path.normpath(file))


def _text(document: dict[str, Any], name: str) -> str:
    value = document.get(name)
    return value if isinstance(value, str) else ""

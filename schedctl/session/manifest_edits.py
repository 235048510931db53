"""Fixes of workloads that are being released: where in their manifests which field is to be changed.

A kubectl command would change what is not there yet, or what the next release overwrites.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec

from schedctl.api.defaults import with_namespace
from schedctl.api.workloads import StatefulSet
from schedctl.documents.findings import Path, path_text
from schedctl.reports.reasons import Hint, ManifestEdit, Patch
from schedctl.sources.manifests import Sourced

_BY_NAME = ("containers", "initContainers")
Workload = tuple[str, str, str]
"""Kind, namespace and name."""
_Change = tuple[Literal["set", "append", "remove"], Path, Any]
"""What is done, to which field, and the value."""


def workloads_in(objects: Iterable[Sourced]) -> dict[Workload, Sourced]:
    """Return the objects of manifests that somebody can edit, by what patches call them."""
    found = {}
    for one in objects:
        if not one.document.text.editable:
            continue
        metadata = with_namespace(one.object.metadata)
        found[one.kind.name, metadata.namespace, metadata.name] = one
    return found


def edit_manifests(hint: Hint, manifests: Mapping[Workload, Sourced]) -> Hint:
    """Return a hint that changes manifests in the place of the objects they would make, or the hint as it was."""
    edits = [
        edit
        for patch in hint.patches
        if (found := _find_source(patch, manifests)) is not None
        for edit in _edits(patch, *found)
    ]
    return msgspec.structs.replace(hint, command="", edits=edits) if edits else hint


def _find_source(patch: Patch, manifests: Mapping[Workload, Sourced]) -> tuple[Sourced, Path] | None:
    """Return the object to edit for a patch, and where in it what is patched begins; None where nobody can edit it."""
    source = manifests.get((patch.kind, patch.namespace, patch.name))
    if source is not None:
        return source, ()
    if patch.kind != "PersistentVolumeClaim":
        return None
    for (_, namespace, name), one in manifests.items():
        if namespace == patch.namespace and isinstance(one.object, StatefulSet):
            for index, template in enumerate(one.object.spec.volume_claim_templates or ()):
                stem, _, ordinal = patch.name.rpartition("-")
                if ordinal.isdecimal() and stem == f"{template.metadata.name}-{name}":
                    return one, ("spec", "volumeClaimTemplates", index)
    return None


def _edits(patch: Patch, source: Sourced, within: Path) -> Iterator[ManifestEdit]:
    content = msgspec.to_builtins(source.object)
    for key in within:
        content = content[key]
    changes = _operations(patch.patch) if patch.type == "json" else _changes(patch.patch, content, within)
    for action, path, value in changes:
        place = source.place_of(path)
        yield ManifestEdit(
            source=source.origin or source.source,
            line=0 if source.origin else place.line,  # a line of what Helm rendered is in no file
            field=path_text(path),
            action=action,
            value=value,
        )


def _changes(patch: Mapping[str, Any], content: Mapping[str, Any], path: Path) -> Iterator[_Change]:
    """Yield what a strategic merge patch does to each field."""
    for key, value in patch.items():
        current, within = content.get(key), (*path, key)
        if value is None:
            yield "remove", within, None
        elif key in _BY_NAME and isinstance(current, list):
            index_of = {each["name"]: index for index, each in enumerate(current)}
            for each in value:
                index, fields = index_of[each["name"]], {name: each[name] for name in each if name != "name"}
                yield from _changes(fields, current[index], (*within, index))
        elif isinstance(value, dict) and value:  # what is not there yet is added field by field as well
            yield from _changes(value, current if isinstance(current, dict) else {}, within)
        else:
            yield "set", within, value


def _operations(operations: Iterable[Mapping[str, Any]]) -> Iterator[_Change]:
    """Yield what a JSON patch does, in the same form; the end of a list is named by the list."""
    for operation in operations:
        keys = [key.replace("~1", "/").replace("~0", "~") for key in operation["path"].split("/")[1:]]
        at_end = keys[-1] == "-"
        path = tuple(int(key) if key.isdecimal() else key for key in (keys[:-1] if at_end else keys))
        if at_end:
            yield "append", path, operation["value"]
        elif operation["op"] == "remove":
            yield "remove", path, None
        else:
            yield "set", path, operation["value"]

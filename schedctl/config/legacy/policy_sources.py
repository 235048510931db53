"""The Policy that a configuration of v1alpha1 refers to, by a file or a ConfigMap, among files that somebody gave.

A reference is a path of the control plane node or a ConfigMap of the cluster, neither of which is looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from schedctl.config.legacy.plugin_sets import Plain
from schedctl.config.legacy.releases import POLICY
from schedctl.documents.heads import head_of, read_tree
from schedctl.documents.texts import Document, Text, split
from schedctl.documents.trees import Node

REFERENCE: Final = "algorithmSource.policy"
"""The field that refers to a Policy."""
_KEY: Final = "policy.cfg"
"""The key of a ConfigMap under which kube-scheduler looked for one."""


class PolicyText(NamedTuple):
    """A Policy, and what to call the place it is from."""

    node: Node
    source: str


def describe(reference: Plain) -> str:
    """Return what a reference names, in words."""
    if "file" in reference:
        return str(reference["file"].get("path", ""))
    named = reference.get("configMap") or {}
    return f"ConfigMap {named.get('namespace', '')}/{named.get('name', '')}"


def find(reference: Plain, files: Iterable[tuple[str, bytes]]) -> PolicyText | None:
    """Return the Policy that a reference names; None where it is not among the files.

    Args:
        reference: ``algorithmSource.policy``, as plain values.
        files: names and contents of files, of each of which all documents are looked at. A Policy in a file of its own
            is the one that a path names, whatever the file is called now.
    """
    found: list[PolicyText] = []
    for name, data in files:
        for document in _documents(name, data):
            if "configMap" in reference:
                found += _in_config_map(reference["configMap"], document, name)
            elif head_of(document)[0] == POLICY:
                found.append(PolicyText(document, name))
    return found[0] if found else None


def _documents(name: str, data: bytes) -> Iterator[Node]:
    for part in split(Text(name, data)):
        if isinstance(part, Document):
            lines = "\n" * (part.place.line - 1)
            yield read_tree(lines + data[part.start : part.end].decode(errors="replace"), name)


def _in_config_map(reference: Plain, document: Node, name: str) -> Iterator[PolicyText]:
    """Yield the Policy of a ConfigMap, if a document is the one that a reference names."""
    if head_of(document)[0] != "ConfigMap":
        return
    metadata, data = (_fields(document).get(field) for field in ("metadata", "data"))
    names = {key: value.value for key, value in _fields(metadata).items()}
    is_named = all(names.get(field, "") == reference.get(field, "") for field in ("namespace", "name"))
    text = _fields(data).get(_KEY)
    if is_named and text is not None and isinstance(text.value, str):
        origin = f"{name}: {describe({'configMap': reference})}, {_KEY}"
        yield PolicyText(read_tree(text.value, origin), origin)


def _fields(node: Node | None) -> dict[str, Node]:
    return {key.value: value for key, value in node.value} if node is not None and node.is_mapping else {}

"""What a shell may offer next: kinds, the names in the files named so far, profiles.

A shell asks at every press of a key, so only small states are read for it, and nothing that goes wrong is reported.
"""

from __future__ import annotations

from collections.abc import Iterable

import typer

MOST_BYTES = 4 << 20
"""States larger than this are not read to complete a name."""


def subjects(context: typer.Context, incomplete: str) -> list[str]:
    """Return the kinds, or the names of the kind that stands in front."""
    from schedctl.session.subjects import KINDS, NODE_NAMES, parse_names

    words = [word for word in context.params.get("subjects") or () if word != incomplete]
    if not words:
        return _with_prefix(incomplete, (*(kind.names[0] for kind in KINDS), "node"))
    if words[0] in NODE_NAMES:
        return _with_prefix(incomplete, _names("Node", "", context.params.get("filename") or ()))
    kind, _ = parse_names(words[:1])
    if kind is None:
        return []
    namespace = context.params.get("namespace") or ("" if context.params.get("all_namespaces") else "default")
    return _with_prefix(incomplete, _names(kind.name, namespace, context.params.get("filename") or ()))


def profiles(incomplete: str) -> list[str]:
    """Return the profiles that ship."""
    from schedctl import shipped

    return _with_prefix(incomplete, (file.stem for file in sorted(shipped.profiles().glob("*.yaml"))))


def rollouts(incomplete: str) -> list[str]:
    """Return the ways in which new pods take the place of old ones."""
    return _with_prefix(incomplete, ("replace", "add", "rolling"))


def admission_plugins(incomplete: str) -> list[str]:
    """Return the admission plugins, behind those that are named already."""
    from schedctl.workloads.admission import PLUGINS

    before, comma, _ = incomplete.rpartition(",")
    named = before.split(",")
    return _with_prefix(incomplete, (f"{before}{comma}{plugin}" for plugin in PLUGINS if plugin not in named))


def _names(kind: str, namespace: str, paths: Iterable[str]) -> list[str]:
    from schedctl import sources
    from schedctl.errors import SchedctlError
    from schedctl.sources import files

    named = [path for path in paths if path != files.STDIN]
    found = files.find(named, recursive=False, stdin_filename="", problems=[], warnings=[])
    if not found or sum(source.size for source in found) > MOST_BYTES:
        return []
    try:
        objects = sources.load(named).objects
    except SchedctlError:
        return []
    return [
        one.object.metadata.name
        for one in objects
        if one.kind.name == kind and namespace in ("", one.object.metadata.namespace)
    ]


def _with_prefix(incomplete: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]

"""What a shell may offer next: words of an option, kinds, and the names in the files or the cluster named so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import typer

Suggest = Callable[[str], list[str]]


def words(*choices: str) -> Suggest:
    """Return a function that offers some words."""

    def offer(incomplete: str) -> list[str]:
        return _with_prefix(incomplete, choices)

    return offer


def subjects(context: typer.Context, incomplete: str) -> list[str]:
    """Return the kinds, or the names of the kind that stands in front."""
    from schedctl.session.subject_kinds import KINDS, POD_GROUP, SERVICE

    before = [word for word in context.params.get("subjects") or () if word != incomplete]
    prefix, slash, _ = incomplete.partition("/")
    if slash:
        kind_name = _kind_name(prefix)
        names = _names(context, kind_name) if kind_name else ()
        return _with_prefix(incomplete, (f"{prefix}/{name}" for name in names))
    if not before:
        return _with_prefix(incomplete, (*(kind.names[0] for kind in (*KINDS, SERVICE, POD_GROUP)), "node"))
    kind_name = _kind_name(before[0])
    return _with_prefix(incomplete, _names(context, kind_name)) if kind_name else []


def pods(context: typer.Context, incomplete: str) -> list[str]:
    """Return the names of pods; in front of them may stand that they are pods."""
    before = [word for word in context.params.get("subjects") or () if word != incomplete]
    return _with_prefix(incomplete, _names(context, "Pod")) if before else _with_prefix(incomplete, ("pod",))


def nodes(context: typer.Context, incomplete: str) -> list[str]:
    """Return the names of the nodes."""
    return _with_prefix(incomplete, _names(context, "Node"))


def namespaces(context: typer.Context, incomplete: str) -> list[str]:
    """Return the namespaces."""
    return _with_prefix(incomplete, _names(context, "Namespace"))


def contexts(context: typer.Context, incomplete: str) -> list[str]:
    """Return the contexts of the kubeconfig."""
    from schedctl.session import completions

    return _with_prefix(incomplete, completions.contexts(_value(context, "kubeconfig") or ""))


def commands(context: typer.Context, incomplete: str) -> list[str]:
    """Return the commands, or those of the group that stands in front."""
    group: Any = context.find_root().command
    for word in context.params.get("words") or ():
        if word != incomplete:
            group = getattr(group, "commands", {}).get(word)
    return _with_prefix(incomplete, getattr(group, "commands", ()))


def schemas(incomplete: str) -> list[str]:
    """Return the kinds of documents that have a schema."""
    from schedctl.session.schemas import SCHEMAS

    return _with_prefix(incomplete, SCHEMAS)


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


def _kind_name(word: str) -> str:
    """Return the kind that a word of kubectl's stands for, "" for none."""
    from schedctl.session.subject_kinds import BY_NAME
    from schedctl.session.subjects import NODE_NAMES

    if word in NODE_NAMES:
        return "Node"
    return BY_NAME[word].name if word in BY_NAME else ""


def _names(context: typer.Context, kind: str) -> list[str]:
    """Return the names of a kind in the files of -f, else in the live cluster."""
    from schedctl.session import completions

    everywhere = context.params.get("all_namespaces") or kind in ("Node", "Namespace")
    namespace = "" if everywhere else _value(context, "namespace") or None
    if paths := context.params.get("filename"):
        return completions.in_files(kind, "default" if namespace is None else namespace, paths)
    from schedctl.live.kubeconfigs import Access

    access = Access(
        context=_value(context, "context") or "",
        kubeconfig=_value(context, "kubeconfig") or "",
        user=context.params.get("as_user") or "",
        groups=tuple(context.params.get("as_group") or ()),
        timeout=completions.SECONDS,
    )
    return completions.in_cluster(kind, namespace, access)


def _value(context: typer.Context, name: str) -> Any:
    """Return what an option was given, before or behind the command."""
    return context.params.get(name) or context.find_root().params.get(name)


def _with_prefix(incomplete: str, choices: Iterable[str]) -> list[str]:
    return [choice for choice in choices if choice.startswith(incomplete)]

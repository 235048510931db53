"""What only shows when all objects are there: objects given twice, and pods on nodes nobody described."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from schedctl.api.kinds import Kind
from schedctl.api.nodes import Node
from schedctl.api.pods import FINISHED, Pod, is_pending_manifest
from schedctl.documents.findings import printable
from schedctl.errors import Problem
from schedctl.framework.similar import closest_names, did_you_mean
from schedctl.sources.manifests import Sourced

_NAMED_NODES = 5


def latest(objects: Iterable[Sourced]) -> tuple[list[Sourced], list[Problem]]:
    """Return the objects without those that a later one of the same kind, namespace and name replaces.

    An object keeps the place of the first of its name, so that a patch file behind a state changes no order; each
    replacement is a warning.
    """
    kept: list[Sourced] = []
    warnings = []
    placed: dict[tuple[str, str], dict[tuple[str, str], int]] = {}
    kind: Kind | None = None
    for one in objects:
        if one.kind is not kind:  # objects of one kind come in runs
            kind = one.kind
            # By group, not by version: the same object in two versions is one object.
            of_kind = placed.setdefault((kind.api_version.rpartition("/")[0], kind.name), {})
        metadata = one.object.metadata
        if not metadata.name:
            kept.append(one)
            continue
        place = of_kind.setdefault((metadata.namespace, metadata.name), len(kept))
        if place == len(kept):
            kept.append(one)
            continue
        before, kept[place] = kept[place], one
        if metadata.uid and before.object == one.object:
            continue  # collected twice, such as a pod in a list and in a file of its own
        earlier = f"{before.source}:{before.line}" if before.source != one.source else f"line {before.line}"
        warnings.append(one.problem(f"replaces the one at {earlier}", ("metadata", "name")))
    return kept, warnings


def pods_on_unknown_nodes(objects: Sequence[Sourced]) -> list[Problem]:
    """Return warnings of pods on nodes that are not among the objects; such pods take up no room anywhere."""
    known = {one.object.metadata.name for one in objects if isinstance(one.object, Node)}
    missing: dict[str, list[Sourced]] = {}
    pending: dict[str, list[Sourced]] = {}
    for one in objects:
        pod = one.object
        if not isinstance(pod, Pod) or pod.spec.node_name in known or not pod.spec.node_name:
            continue
        if is_pending_manifest(pod):
            pending.setdefault(pod.spec.node_name, []).append(one)
        elif pod.status.phase not in FINISHED:
            missing.setdefault(pod.spec.node_name, []).append(one)
    mistaken = [_pending_on_unknown_node(node, pods, known) for node, pods in pending.items()]
    return [*mistaken, *_running_on_unknown_nodes(missing)]


def _pending_on_unknown_node(node: str, pods: Sequence[Sourced], known: Collection[str]) -> Problem:
    meant = did_you_mean(*closest_names(node, known))
    others = f"; other pods that name it: {len(pods) - 1}" if len(pods) > 1 else ""
    message = f'the scheduler is skipped, and node "{printable(node)}" is not in the input{meant}{others}'
    return pods[0].problem(message, ("spec", "nodeName"), "remove spec.nodeName, and the scheduler chooses a node")


def _running_on_unknown_nodes(missing: Mapping[str, list[Sourced]]) -> list[Problem]:
    if not missing:
        return []
    first = next(iter(missing.values()))[0]
    count = sum(map(len, missing.values()))
    named = ", ".join(f"{printable(node)} ({len(pods)})" for node, pods in list(missing.items())[:_NAMED_NODES])
    if len(missing) > _NAMED_NODES:
        named += f" and {len(missing) - _NAMED_NODES} more"
    pods = "1 pod runs" if count == 1 else f"{count} pods run"
    nodes = "a node that is" if len(missing) == 1 else "nodes that are"
    if not first.document.text.editable:  # nobody forgot the node: it is gone
        hint = f"these pods are ignored; `schedctl explain pod {first.object.key}` says more"
        return [first.problem(f"{pods} on {nodes} not in the cluster: {named}", ("spec", "nodeName"), hint)]
    hint = "read the nodes, too; without them these pods are ignored"
    return [first.problem(f"{pods} on {nodes} not in the input: {named}", ("spec", "nodeName"), hint)]

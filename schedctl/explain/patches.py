"""Fixes as what one can paste: patches of a workload's pod template or of a node, and the kubectl commands for them.

A remedy is an edit of the pod; here it is made to what people write, and the difference is the patch. Each applies to
the manifest as well as to the object of a live cluster.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from schedctl.api.devices import ResourceClaim
from schedctl.api.meta import controller_of
from schedctl.api.nodes import Node
from schedctl.api.pods import Container, Pod, PodTemplateSpec
from schedctl.api.storage import PersistentVolumeClaim
from schedctl.api.workloads import CronJob, Job
from schedctl.cache.changes import Change
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.commands import kubectl
from schedctl.framework.remedies import Remedy
from schedctl.reports.reasons import Patch
from schedctl.workloads import ownership

STRATEGIC, JSON, MERGE = "strategic", "json", "merge"
_TEMPLATE = ("spec", "template")
_PLACES = {
    **dict.fromkeys(
        ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job"), _TEMPLATE
    ),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
    "Pod": (),
}
"""Where the pod template is in objects of a kind."""
_IMMUTABLE = ("Job",)
"""Kinds whose pod template is not changed any more once they are made: the manifest is, and a new one is made."""
_BY_NAME = ("containers", "initContainers")
_MERGED = ("ports", "resourceClaims", "schedulingGates", "topologySpreadConstraints", "volumes")
"""Lists that a strategic merge patch merges by another key, or with entries that it cannot take out one by one."""
_replace = msgspec.structs.replace


class _Source(msgspec.Struct, frozen=True):
    """What a pod is made from.

    Attributes:
        kind: of the object that has the template, or ``Pod``.
        namespace: where it is.
        name: what it is called.
        pod: the pod as the template writes it, with what admission made of its containers.
        named: the names of the containers that the template has, by list.
        known: whether the template was read, or is taken to be like the pod.
    """

    kind: str
    namespace: str
    name: str
    pod: Pod
    named: dict[str, list[str]]
    known: bool


def patches_and_command(remedies: Sequence[Remedy], pod: Pod, cluster: Cluster) -> tuple[list[Patch], str]:
    """Return a set of remedies as patches, and the command that makes all of it, "" where no command does."""
    source = _source(pod, cluster)
    patches: list[Patch] = []
    commands: list[str] = []
    edited = source.pod if source is not None else pod
    with cluster.fork():
        for remedy in remedies:
            node = _node(remedy.node, cluster)
            generation = cluster.generation
            before, edited = edited, remedy.apply(edited, cluster)
            patches += _of_new_claims(cluster.changes_since(generation) or ())
            change = _merge(_builtins(node), _builtins(_node(remedy.node, cluster)))
            if change:
                patches.append(Patch("Node", "", remedy.node, MERGE, change))
            if remedy.command or _content(before) == _content(edited):
                commands.append(remedy.command)
    if source is None:
        return patches, ""
    if _content(source.pod) != _content(edited):
        patch = _of_template(source, _content(source.pod), _content(edited))
        patches += () if patch is None else (patch,)
        commands.append("" if patch is None else _command(source, patch, edited))
    return patches, " && ".join(commands) if all(commands) else ""


def unchanged_job(pod: Pod, patches: Iterable[Patch], cluster: Cluster) -> str:
    """Return that the Job of a pod stays as it is whatever is patched, "" for other pods and Jobs not made yet."""
    owner = controller_of(pod)
    if owner is None or owner.kind != "Job":
        return ""
    name = f"{pod.metadata.namespace}/{owner.name}"
    job = cluster.get(Job, name)
    kinds = {patch.kind: patch for patch in patches}
    if job is None or not job.metadata.uid or not kinds.keys() & {"Job", "CronJob"}:
        return ""
    if "CronJob" in kinds:
        later = f"{kinds['CronJob'].namespace}/{kinds['CronJob'].name}"
        return f"only later Jobs of CronJob {later} have it: the pods of Job {name} stay as they are"
    return f"the pod template of Job {name} cannot be changed: it has to be deleted and created again"


def _of_new_claims(changes: Iterable[Change]) -> Iterator[Patch]:
    """Yield the patches of claims that only manifests know of so far; one of a cluster has to be recreated."""
    for change in changes:
        before, after = change.before, change.subject
        if isinstance(after, PersistentVolumeClaim | ResourceClaim) and before is not None and not before.metadata.uid:
            spec = _merge(msgspec.to_builtins(before.spec), msgspec.to_builtins(after.spec))
            if spec:
                yield Patch(type(after).__name__, after.metadata.namespace, after.metadata.name, MERGE, {"spec": spec})


def _node(name: str, cluster: Cluster) -> Node | None:
    row = cluster.node_table.row_of.get(name) if name else None
    return cluster.node_table.objects[row] if row is not None else None


def _builtins(node: Node | None) -> dict[str, Any]:
    """Return what people may write of a node."""
    if node is None:
        return {}
    return {"metadata": {"labels": node.metadata.labels or {}}, "spec": msgspec.to_builtins(node.spec)}


def _content(pod: Pod) -> dict[str, Any]:
    """Return what a template says of its pods."""
    labels, annotations = pod.metadata.labels or {}, pod.metadata.annotations or {}
    return {"metadata": {"labels": labels, "annotations": annotations}, "spec": msgspec.to_builtins(pod.spec)}


# -- whose template --------------------------------------------------------------


def _source(pod: Pod, cluster: Cluster) -> _Source | None:
    """Return what is to be changed for pods like this one, None for those of a custom kind."""
    owner = ownership.workload_of(PodInfo(pod), cluster) or ("Pod", pod.metadata.namespace, pod.metadata.name)
    kind, namespace, name = owner
    if kind not in _PLACES:
        return None
    template = _template(ownership.find_workload(owner, cluster))
    spec = pod.spec if template is None else template.spec
    named = {"containers": _names(spec.containers), "initContainers": _names(spec.init_containers)}
    if template is not None:
        # Amounts are worked out on the requests that count, those that admission took from limits and defaults too.
        admitted = {
            field: getattr(pod.spec, field) for field in ("containers", "init_containers", "resources", "overhead")
        }
        spec = _replace(spec, **admitted)
        metadata = _replace(template.metadata, namespace=namespace, name=pod.metadata.name)
        pod = _replace(pod, metadata=metadata, spec=_replace(spec, scheduler_name=pod.spec.scheduler_name))
    return _Source(kind, namespace, name, pod, named, template is not None or kind == "Pod")


def _names(containers: Sequence[Container] | None) -> list[str]:
    return [container.name for container in containers or ()]


def _template(workload: Any) -> PodTemplateSpec | None:
    if workload is None:
        return None
    spec = workload.spec.job_template.spec if isinstance(workload, CronJob) else workload.spec
    template: PodTemplateSpec | None = spec.template
    return template


# -- differences -----------------------------------------------------------------


def _of_template(source: _Source, before: dict[str, Any], after: dict[str, Any]) -> Patch | None:
    """Return the patch of a template; None where it does not write what would have to be changed."""
    place = _PLACES[source.kind]
    change = _strategic(before, after, lists=not source.known)
    if change is not None:
        containers = change.get("spec", {})
        if any(each["name"] not in source.named[field] for field in _BY_NAME for each in containers.get(field, ())):
            return None  # a sidecar that a webhook put into the pod
        for key in reversed(place):
            change = {key: change}
        return Patch(source.kind, source.namespace, source.name, STRATEGIC, change)
    spec = after["spec"]
    in_order = all(
        [each["name"] for each in spec.get(field, ())][: len(names)] == names for field, names in source.named.items()
    )
    if not source.known or not in_order:
        return None
    operations = list(_operations(before, after, place))
    return Patch(source.kind, source.namespace, source.name, JSON, operations)


def _merge(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON merge patch between two objects."""
    patch: dict[str, Any] = {}
    for key in [*before, *(key for key in after if key not in before)]:
        old, new = before.get(key), after.get(key)
        if old != new:
            patch[key] = _merge(old, new) if isinstance(old, dict) and isinstance(new, dict) else new
    return patch


def _strategic(before: dict[str, Any], after: dict[str, Any], *, lists: bool) -> dict[str, Any] | None:
    """Return the strategic merge patch between two objects, None where it would have to write a list anew.

    Args:
        before: the one.
        after: the other.
        lists: whether lists may be written anew that such a patch does not merge.
    """
    patch: dict[str, Any] = {}
    for key in [*before, *(key for key in after if key not in before)]:
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            patch[key] = _strategic(old, new, lists=lists)
        elif key in _BY_NAME and isinstance(old, list) and isinstance(new, list):
            patch[key] = _containers(old, new, lists=lists)
        elif isinstance(old, list) and new is not None and (key in _MERGED or not lists):
            patch[key] = None
        else:
            patch[key] = new
            continue
        if patch[key] is None:
            return None
    return patch


def _containers(
    before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]], *, lists: bool
) -> list[dict[str, Any]] | None:
    changes = []
    for old, new in zip(before, after, strict=True):
        change = _strategic(old, new, lists=lists)
        if change is None:
            return None
        if change:
            changes.append({"name": old["name"], **change})
    return changes


def _operations(before: Any, after: Any, path: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Yield the operations of a JSON patch that make one value of another."""
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            if key not in after:
                yield {"op": "remove", "path": _pointer((*path, key))}
            elif key not in before:
                yield {"op": "add", "path": _pointer((*path, key)), "value": after[key]}
            else:
                yield from _operations(before[key], after[key], (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _operations(old, new, (*path, str(index)))
    elif isinstance(before, list) and isinstance(after, list) and after[: len(before)] == before:
        for new in after[len(before) :]:
            yield {"op": "add", "path": _pointer((*path, "-")), "value": new}
    else:
        yield {"op": "replace", "path": _pointer(path), "value": after}


def _pointer(path: Sequence[str]) -> str:
    return "".join(f"/{key.replace('~', '~0').replace('/', '~1')}" for key in path)


# -- commands --------------------------------------------------------------------


def _command(source: _Source, patch: Patch, pod: Pod) -> str:
    """Return the command that makes the change where the API server takes it, else ""."""
    if source.kind in _IMMUTABLE or (source.kind == "Pod" and not _may_change_pod(patch)):
        return ""
    requests = _only_requests(source, patch)
    if requests is not None:
        container, amounts = requests
        options = [f"--containers={container}", f"--requests={','.join(f'{key}={amounts[key]}' for key in amounts)}"]
        return kubectl(
            "set", "resources", f"{source.kind.lower()}/{source.name}", namespace=source.namespace, options=options
        )
    written = json.dumps(patch.patch, separators=(",", ":"), ensure_ascii=True)
    options = ["--type=json", "-p", written] if patch.type == JSON else ["-p", written]
    return kubectl("patch", source.kind.lower(), source.name, namespace=source.namespace, options=options)


def _only_requests(source: _Source, patch: Patch) -> tuple[str, dict[str, str]] | None:
    """Return the container and its requests, where these are all that a patch changes."""
    change: Any = patch.patch
    for key in _PLACES[source.kind] if patch.type == STRATEGIC else ():
        change = change[key]
    match change:
        case {
            "spec": {"containers": [{"name": name, "resources": {"requests": requests, **more}, **others}], **rest}
        } if not (more or others or rest):
            return None if None in requests.values() else (name, requests)
    return None


def _may_change_pod(patch: Patch) -> bool:
    """Return whether the API server takes a change of a pod that waits: tolerations are added, gates taken away."""
    if patch.type == STRATEGIC:
        return set(patch.patch) == {"spec"} and set(patch.patch["spec"]) <= {"tolerations", "schedulingGates"}
    return all(each["op"] == "add" and each["path"] == "/spec/tolerations/-" for each in patch.patch)

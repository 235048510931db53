"""Custom resources to the pod templates in them, by the paths of a `CustomKind`.

A path may branch at ``*``; the number of replicas and the name of the group are then looked for beside each template
that was found, under the same branch. What is not there makes no pods and is no mistake; what an operator makes of a
resource beyond its templates, `schedctl.sources.operators` knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

import msgspec

from schedctl.api import custom_kinds, kinds
from schedctl.api.kinds import Kind
from schedctl.api.meta import ObjectMeta, Struct
from schedctl.api.pods import Pod, PodSpec, PodTemplateSpec
from schedctl.documents.findings import Finding, Path, describe_value, path_text
from schedctl.sources import creation, operators, relations, shapes, validation

_CONTAINERS = ("containers", "initContainers")
_FORMS: dict[str, type[Struct]] = {"template": PodTemplateSpec, "spec": PodSpec, "pod": Pod}


class _Found(NamedTuple):
    """A value at a path, with what stood for each ``*``."""

    value: Any
    path: Path
    branches: tuple[str | int, ...]


def read(
    value: dict[str, Any],
    custom: custom_kinds.CustomKind,
    kind: Kind,
    findings: list[Finding],
    company: Sequence[dict[str, Any]] = (),
) -> custom_kinds.CustomWorkload:
    """Return a custom resource with its templates, or with what its operator makes in the company of others.

    What is wrong with either is added to `findings`.
    """
    workload = custom_kinds.CustomWorkload(
        metadata=_convert(value.get("metadata") or {}, ObjectMeta, ("metadata",), findings),
        api_version=kind.api_version,
        kind=kind.name,
        replicas=[group for pods in custom.pods for group in _groups(value, pods, findings)],
        workload_ref=_workload_ref(value.get("spec"), findings),
    )
    # without a name the resource is refused, whatever would be made of it
    unusable = not workload.metadata.name or any(not finding.warning for finding in findings)
    if unusable:
        return workload
    if not custom.operator:
        return msgspec.structs.replace(workload, unknown=list(_unknown(value, custom, workload)))
    notes: list[str] = []
    made = list(_made_objects(operators.objects_of(custom.operator, value, notes, company), value, workload, findings))
    return msgspec.structs.replace(workload, made=made, notes=notes)


def _unknown(
    value: dict[str, Any], custom: custom_kinds.CustomKind, workload: custom_kinds.CustomWorkload
) -> Iterator[Path]:
    """Yield where pods are asked for without a template: parts without containers, or the resource without any part."""
    if not workload.replicas:
        if workload.workload_ref is None:
            yield ()
        return
    for pods in custom.pods:
        for found in _values_at(value, pods.path, (), ()) if pods.form == "spec" else ():
            if isinstance(found.value, dict) and not found.value.get("containers"):
                yield found.path


def _workload_ref(spec: Any, findings: list[Finding]) -> custom_kinds.WorkloadReference | None:
    """Return which other workload holds the template, None for a resource that does not point at one."""
    reference = spec.get("workloadRef") if isinstance(spec, dict) else None
    if not isinstance(reference, dict):
        return None
    found: custom_kinds.WorkloadReference = _convert(
        {**reference, "replicas": spec.get("replicas")},
        custom_kinds.WorkloadReference,
        ("spec", "workloadRef"),
        findings,
    )
    return found


def _made_objects(
    manifests: Iterable[operators.Manifest],
    value: dict[str, Any],
    workload: custom_kinds.CustomWorkload,
    findings: list[Finding],
) -> Iterator[Any]:
    """Yield the objects that an operator makes of a resource, as structs."""
    known: dict[int, Path] = {}
    _note_paths(value, (), known)
    owner = {"apiVersion": workload.api_version, "kind": workload.kind, "name": workload.metadata.name}
    owned = {"ownerReferences": [{**owner, "controller": True}], "namespace": workload.metadata.namespace}
    try:
        for manifest in manifests:
            kind = _kind_of(manifest)
            sent = {**manifest, "metadata": owned | manifest["metadata"]}
            shaped, found = shapes.examine(sent, kind.struct, spelling=False)
            obj: Any = msgspec.convert(shaped, kind.struct)
            if not found and not workload.metadata.uid:
                found = [*validation.validate(kind, obj), *creation.refusals(obj)]
            for finding in found:
                moved = _in_resource(finding, manifest, known)
                # all pods of one template have the same mistakes
                if finding.hint != relations.REFUSED and moved not in findings:
                    findings.append(moved)
            yield obj
    except operators.FieldError as error:
        findings.append(error.finding)


def _kind_of(manifest: dict[str, Any]) -> Kind:
    kind = kinds.find(manifest["apiVersion"], manifest["kind"])
    if kind is None:
        raise LookupError(f"{manifest['kind']} is of no kind that is read")
    return kind


def _note_paths(value: Any, path: Path, known: dict[int, Path]) -> None:
    """Note where mappings and lists of a resource are, by identity: operators put them into the objects they make."""
    if isinstance(value, dict | list):
        known[id(value)] = path
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            _note_paths(item, (*path, key), known)


def _in_resource(finding: Finding, manifest: dict[str, Any], known: dict[int, Path]) -> Finding:
    """Return a finding about an object at the place in the resource that the field comes from.

    One about what the operator itself wrote is a finding about the resource, and names the object.
    """
    value: Any = manifest
    path: Path = ()
    for walked, step in enumerate(finding.path, 1):
        if isinstance(value, dict):
            value = value.get(step)
        else:
            value = value[step] if isinstance(value, list) and isinstance(step, int) and step < len(value) else None
        if isinstance(value, dict | list) and id(value) in known:
            path = (*known[id(value)], *finding.path[walked:])
    if path:
        return finding._replace(path=path)
    name = manifest["metadata"].get("name", "")
    return finding._replace(path=(), message=f"{manifest['kind']} {name}: {path_text(finding.path)}: {finding.message}")


def spec_path(group: custom_kinds.Replicas, custom: custom_kinds.CustomKind) -> Path:
    """Return where the pod spec of a group is."""
    form = next((pods.form for pods in custom.pods if _leads_to(pods, group.path)), "template")
    return group.path if form == "spec" else (*group.path, "spec")


def _groups(
    value: dict[str, Any], pods: custom_kinds.PodsAt, findings: list[Finding]
) -> Iterator[custom_kinds.Replicas]:
    found = list(_values_at(value, pods.path, (), ()))
    if not found and pods.otherwise:
        found = list(_values_at(value, pods.otherwise, (), ()))
    for one in found:
        if not isinstance(one.value, dict) or (pods.form == "spec" and not one.value.get("containers")):
            continue
        shaped = _convert(_with_names(one.value, pods), _FORMS[pods.form], one.path, findings)
        if isinstance(shaped, PodTemplateSpec):
            template = msgspec.structs.replace(
                shaped, metadata=ObjectMeta(labels=shaped.metadata.labels, annotations=shaped.metadata.annotations)
            )
        elif isinstance(shaped, Pod):
            template = PodTemplateSpec(metadata=shaped.metadata, spec=shaped.spec)
        else:
            template = PodTemplateSpec(spec=shaped)
        yield custom_kinds.Replicas(
            template=template,
            count=_count(value, pods, one.branches, findings),
            default=pods.default,
            group=_name(value, pods, one.branches),
            per_node=pods.per_node,
            path=one.path,
            hash_label=pods.hash_label,
        )


def _with_names(value: dict[str, Any], pods: custom_kinds.PodsAt) -> dict[str, Any]:
    """Return a template with the names its operator gives to containers without one; the given one stays as it is."""
    if not pods.container:
        return value
    spec = value if pods.form == "spec" else value.get("spec")
    if not isinstance(spec, dict):
        return value
    named = dict(spec)
    taken = {one.get("name") for field in _CONTAINERS for one in _mappings(spec.get(field))}
    for field, name in zip(_CONTAINERS, (pods.container, pods.init_container), strict=True):
        containers: Any = spec.get(field)
        if any(not one.get("name") for one in _mappings(containers)):
            free = (other for i in count() if (other := f"{name}-{i}") not in taken)
            names = free if len(containers) > 1 else iter((name,))
            named[field] = [
                {**one, "name": next(names)} if isinstance(one, dict) and not one.get("name") else one
                for one in containers
            ]
    return named if pods.form == "spec" else {**value, "spec": named}


def _mappings(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _count(
    value: dict[str, Any], pods: custom_kinds.PodsAt, branches: tuple[str | int, ...], findings: list[Finding]
) -> int | None:
    """Return how many pods a group has, None if the resource does not say."""
    count = _number(value, pods.replicas, branches, findings)
    if not pods.times:
        return count
    times = _number(value, pods.times, branches, findings)
    factor = max(0, (1 if times is None else times) - pods.less)
    return (pods.default if count is None else count) * factor


def _number(
    value: dict[str, Any], path: custom_kinds.Steps, branches: tuple[str | int, ...], findings: list[Finding]
) -> int | None:
    found = _find_beside(value, path, branches)
    if found is None or found.value is None:
        return None
    number = found.value
    if isinstance(number, str) and number.isdecimal():
        number = int(number)
    if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 1 << 31:
        return number
    findings.append(Finding(found.path, f"expected a number of pods, got {describe_value(found.value)}"))
    return None


def _name(value: dict[str, Any], pods: custom_kinds.PodsAt, branches: tuple[str | int, ...]) -> str:
    if pods.group:
        return pods.group
    found = _find_beside(value, pods.named, branches)
    if found is not None and isinstance(found.value, str):
        return found.value.lower()
    return "-".join(str(branch).lower() for branch in branches)


def _find_beside(value: dict[str, Any], path: custom_kinds.Steps, branches: tuple[str | int, ...]) -> _Found | None:
    """Return what is at a path under the branches of a template."""
    if not path:
        return None
    found = (one for one in _values_at(value, path, (), ()) if one.branches == branches[: len(one.branches)])
    return next(found, None)


def _values_at(value: Any, path: custom_kinds.Steps, walked: Path, branches: tuple[str | int, ...]) -> Iterator[_Found]:
    if not path:
        yield _Found(value, walked, branches)
        return
    step, rest = path[0], path[1:]
    if step == custom_kinds.EACH:
        items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, item in items:
            yield from _values_at(item, rest, (*walked, key), (*branches, key))
    elif isinstance(value, dict) and step in value:
        yield from _values_at(value[step], rest, (*walked, step), branches)


def _leads_to(pods: custom_kinds.PodsAt, path: Path) -> bool:
    return any(
        len(steps) == len(path)
        and all(step in (custom_kinds.EACH, walked) for step, walked in zip(steps, path, strict=True))
        for steps in (pods.path, pods.otherwise)
    )


def _convert(value: Any, struct: type[Struct], path: Path, findings: list[Finding]) -> Any:
    """Return a part of the resource as its struct; wrong fields have their zero value in it."""
    shaped, found = shapes.examine(value, struct, spelling=False)
    findings += [finding._replace(path=(*path, *finding.path)) for finding in found]
    return msgspec.convert(shaped, struct)

"""Which field of an object decides: where in a manifest the reader has to look for what a reason is about.

A reason's reference (``node-resources-fit/insufficient``) says which rule refused; the rule reads a field or two of the
pod's spec, of which the first that is written is the one. Paths are relative to the object, so those of a workload go
through its pod template.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schedctl.api.custom_kinds import CustomWorkload
from schedctl.api.pods import Pod, PodSpec, PodTemplate
from schedctl.api.workloads import CronJob
from schedctl.policy.situations import JudgedWorkload
from schedctl.reports.reasons import Reason

Path = tuple[str | int, ...]

_TAINTS: tuple[Path, ...] = (("tolerations",),)
_WHERE: tuple[Path, ...] = (("nodeSelector",), ("affinity", "nodeAffinity"))
_RULES: dict[str, tuple[Path, ...]] = {
    "taint-toleration": _TAINTS,
    "node-unschedulable": _TAINTS,
    "node-affinity": _WHERE,
    "node-name": (("nodeName",),),
    "pod-topology-spread": (("topologySpreadConstraints",),),
    "inter-pod-affinity": (("affinity", "podAffinity"), ("affinity", "podAntiAffinity")),
    "scheduling-gates": (("schedulingGates",),),
    "dynamic-resources": (("resourceClaims",),),
    "volume-binding": (("volumes",),),
    "volume-restrictions": (("volumes",),),
    "volume-zone": (("volumes",),),
    "node-volume-limits": (("volumes",),),
    "node-declared-features": (("containers",),),
}
"""By plugin, the fields of a pod's spec that it reads, in the order in which they are tried."""
_ANTI = {"inter-pod-affinity/unwanted": (("affinity", "podAntiAffinity"),)}
SPREADING: tuple[Path, ...] = (("topologySpreadConstraints",), ("affinity", "podAntiAffinity"))
PLACING: tuple[Path, ...] = (*_WHERE, *_TAINTS)
PRIORITY: tuple[Path, ...] = (("priorityClassName",), ("priority",))
SCHEDULER: tuple[Path, ...] = (("schedulerName",),)


def deciding_field(reason: Reason, spec: PodSpec) -> Path:
    """Return the field of a pod's spec that a reason is about, () where it has none of those."""
    plugin = reason.reference.partition("/")[0]
    if plugin == "node-resources-fit":
        return _requests(spec, reason.text.removeprefix("Insufficient "))
    if plugin == "node-ports":
        return next((("containers", n, "ports") for n, each in enumerate(spec.containers or ()) if each.ports), ())
    return first(spec, _ANTI.get(reason.reference, _RULES.get(plugin, ())))


def first(spec: PodSpec, paths: Sequence[Path]) -> Path:
    """Return the first path that is written in a pod's spec, () where none is."""
    return next((path for path in paths if _has(spec, path)), ())


def in_object(judged: JudgedWorkload, path: Path) -> Path:
    """Return the path in the object of what has a path in the spec of its pods.

    () stands for the object itself: also where the path is not written there, since it was admission that put it into
    the pods.
    """
    obj, template = judged.workload.object, judged.workload.template
    written = obj.spec if isinstance(obj, Pod) else template.spec if template is not None else None
    if not path or (written is not None and not _has(written, path)):
        return ()
    if isinstance(obj, Pod):
        return ("spec", *path)
    if isinstance(obj, PodTemplate):
        return ("template", "spec", *path)
    if isinstance(obj, CronJob):
        return ("spec", "jobTemplate", "spec", "template", "spec", *path)
    if isinstance(obj, CustomWorkload):
        group = obj.replicas[0] if len(obj.replicas) == 1 else None
        return (*group.path, "spec", *path) if group is not None and group.path else ()
    return ("spec", "template", "spec", *path)


def _requests(spec: PodSpec, resource: str) -> Path:
    if spec.resources is not None and resource in (spec.resources.requests or {}):
        return ("resources", "requests", resource)
    for number, container in enumerate(spec.containers or ()):
        resources = container.resources
        for kind in ("requests", "limits") if resources is not None else ():
            if resource in (getattr(resources, kind) or {}):
                return ("containers", number, "resources", kind, resource)
    return ()


def _has(spec: PodSpec, path: Path) -> bool:
    value: Any = spec
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
        elif isinstance(value, dict):
            value = value.get(step)
        else:
            value = getattr(value, _snake(step), None)
    return bool(value)


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)

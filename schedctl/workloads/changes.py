"""How a workload differs from what is in the cluster, as far as scheduling reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import msgspec

from schedctl.api import workloads
from schedctl.api.custom_kinds import CustomWorkload
from schedctl.api.pods import Pod, PodTemplate, PodTemplateSpec
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.workloads.expansion import Workload
from schedctl.workloads.pod_templates import comparable


class WorkloadChange(msgspec.Struct, frozen=True):
    """One way in which a workload differs from what is in the cluster.

    Attributes:
        what: ``new`` (nothing of it is in the cluster), ``unchanged``, ``scaled``, or ``template``.
        text: the change in words, e.g. ``scaled from 3 to 5``; without a full stop.
        path: of a changed field of the template, e.g. ``spec.containers[app].resources.requests.cpu``.
        before: its value as it was, None where it was not set.
        after: its value as it will be, None where it is not set.
    """

    what: Literal["new", "unchanged", "scaled", "template"]
    text: str
    path: str = ""
    before: Any = None
    after: Any = None


def workload_changes(workload: Workload, old: Sequence[PodInfo], cluster: Cluster) -> list[WorkloadChange]:
    """Return how a workload differs from what is there, as far as scheduling reads it."""
    obj = workload.object
    live: Any = None
    if not isinstance(obj, CustomWorkload):
        live = cluster.get(type(obj), f"{workload.namespace}/{workload.name}")
    if live is None and not old:
        return [WorkloadChange("new", "new")]
    changes = []
    before, after = _number(live, old), len(workload.replicas)
    if before != after:
        changes.append(WorkloadChange("scaled", f"scaled from {before} to {after}", "spec.replicas", before, after))
    template = _template_of(live)
    if template is not None and workload.template is not None:
        changes += _differences(template, workload.template)
    elif not isinstance(obj, workloads.CronJob | Pod):
        changes.append(WorkloadChange("template", "its previous template is not known"))
    return changes or [WorkloadChange("unchanged", "unchanged in every field that scheduling reads")]


def _number(live: Any, old: Sequence[PodInfo]) -> int:
    if isinstance(
        live, workloads.Deployment | workloads.ReplicaSet | workloads.StatefulSet | workloads.ReplicationController
    ):
        return 1 if live.spec.replicas is None else live.spec.replicas
    return sum(not info.is_terminating for info in old)


def _template_of(live: Any) -> PodTemplateSpec | None:
    """Return the template of an object that is there, None where nothing is known."""
    if live is None or isinstance(live, Pod):
        return None
    if isinstance(live, PodTemplate):
        return live.template
    spec = live.spec.job_template.spec if isinstance(live, workloads.CronJob) else live.spec
    template: PodTemplateSpec | None = spec.template
    return template


def _differences(before: PodTemplateSpec, after: PodTemplateSpec) -> list[WorkloadChange]:
    one, other = comparable(before), comparable(after)
    if one == other:
        return []
    return list(_walk(_Four(*map(msgspec.to_builtins, (one, other, before, after))), ""))


_MISSING: Any = object()


class _Four(NamedTuple):
    """A value of two templates as they compare, and the same values as they were written."""

    one: Any
    other: Any
    before: Any
    after: Any

    def each(self, take: Callable[[Any], Any]) -> _Four:
        return _Four(*map(take, self))


def _walk(values: _Four, path: str) -> Iterator[WorkloadChange]:
    """Yield the changed fields."""
    # What compares is walked, with defaults and amounts in one form; what is shown is what was written.
    one, other = values.one, values.other
    if one == other:
        return
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*one, *other)):
            plain = f"{path}.{key}" if path else key
            step = plain if key.isidentifier() else f"{path}[{key}]"
            yield from _walk(values.each(partial(_at, key=key)), step)
        return
    if _is_list_of_named(one) and _is_list_of_named(other):
        for name in dict.fromkeys(item["name"] for item in (*one, *other)):
            yield from _walk(values.each(partial(_item, name=name)), f"{path}[{name}]")
        return
    was, becomes = (None if value is _MISSING else value for value in (values.before, values.after))
    yield WorkloadChange("template", f"{path}: {_format_value(was)} → {_format_value(becomes)}", path, was, becomes)


def _at(value: Any, key: str) -> Any:
    return value.get(key, _MISSING) if isinstance(value, dict) else _MISSING


def _is_list_of_named(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) and item.get("name") for item in value)


def _item(value: Any, name: str) -> Any:
    found = (item for item in value if item.get("name") == name) if _is_list_of_named(value) else ()
    return next(iter(found), _MISSING)


def _format_value(value: Any) -> str:
    if value is None:
        return "not set"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()

"""Prometheus, Alertmanager and ThanosRuler, as the Prometheus operator v0.93 makes their StatefulSets.

The operator runs with its default options; a given container is laid over the operator's of its name field by field,
not merged below that; sharding by topology is not modelled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from schedctl.sources.operators.fields import (
    IMAGE,
    Fields,
    Manifest,
    name_of,
    service,
    stateful_set,
    with_containers,
)

_RELOADER = {"requests": {"cpu": "10m", "memory": "50Mi"}, "limits": {"cpu": "10m", "memory": "50Mi"}}
_LEAST_MEMORY = "200Mi"  # what an Alertmanager requests that requests no memory
_OF_THE_SPEC = (
    *("nodeSelector", "tolerations", "affinity", "priorityClassName", "schedulerName", "hostNetwork", "hostUsers"),
    "terminationGracePeriodSeconds",
)


def objects_of(resource: Fields, notes: list[str]) -> Iterator[Manifest]:
    """Yield the governing Service and a StatefulSet; of a Prometheus, one for each shard."""
    spec, name, kind = resource.at("spec"), name_of(resource), resource.text("kind")
    if spec.truth("paused"):
        notes.append("is paused; its operator changes nothing")
        return
    if kind == "Prometheus":
        yield service("prometheus-operated", {"app.kubernetes.io/name": "prometheus"})
        for shard in range(spec.number("shards", 1)):
            set_name = f"prometheus-{name}-shard-{shard}" if shard else f"prometheus-{name}"
            labels = {**_labels("prometheus", name), "prometheus": name, "operator.prometheus.io/name": name}
            labels["operator.prometheus.io/shard"] = str(shard)
            yield _stateful_set(spec, set_name, labels, _prometheus_containers(spec), f"prometheus-{name}-db")
    elif kind == "Alertmanager":
        yield service("alertmanager-operated", {"app.kubernetes.io/name": "alertmanager"})
        labels = {**_labels("alertmanager", name), "alertmanager": name}
        containers = [_container(spec, "alertmanager", _with_memory(spec)), _reloader("config-reloader")]
        yield _stateful_set(spec, f"alertmanager-{name}", labels, containers, f"alertmanager-{name}-db")
    else:
        yield service("thanos-ruler-operated", {"app.kubernetes.io/name": "thanos-ruler"})
        labels = {**_labels("thanos-ruler", name), "thanos-ruler": name}
        containers = [_container(spec, "thanos-ruler"), _reloader("config-reloader")]
        yield _stateful_set(spec, f"thanos-ruler-{name}", labels, containers, f"thanos-ruler-{name}-data", init=False)


def _labels(component: str, name: str) -> dict[str, str]:
    return {
        "app.kubernetes.io/name": component,
        "app.kubernetes.io/managed-by": "prometheus-operator",
        "app.kubernetes.io/instance": name,
    }


def _container(spec: Fields, name: str, resources: Mapping[str, Any] | None = None) -> Manifest:
    requested = spec.at("resources").value if resources is None else dict(resources)
    return {"name": name, "image": spec.text("image", IMAGE), "resources": requested}


def _reloader(name: str) -> Manifest:
    return {"name": name, "image": IMAGE, "resources": _RELOADER}


def _with_memory(spec: Fields) -> Manifest:
    resources = spec.at("resources")
    return {**resources.value, "requests": {"memory": _LEAST_MEMORY, **resources.at("requests").value}}


def _prometheus_containers(spec: Fields) -> list[Manifest]:
    containers = [_container(spec, "prometheus"), _reloader("config-reloader")]
    if "thanos" in spec:
        containers.append(_container(spec.at("thanos"), "thanos-sidecar"))
    return containers


def _stateful_set(
    spec: Fields, name: str, selector: Mapping[str, str], containers: list[Manifest], volume: str, *, init: bool = True
) -> Manifest:
    metadata = spec.at("podMetadata")
    claims, volumes = _storage(spec.at("storage"), volume)
    own_init = [_reloader("init-config-reloader")] if init else []
    pod = {
        **spec.copied(*_OF_THE_SPEC),
        "containers": with_containers(containers, spec.each("containers")),
        "initContainers": with_containers(own_init, spec.each("initContainers")),
        "volumes": [*volumes, *spec.items("volumes")],
        "topologySpreadConstraints": [
            _spread(constraint, selector) for constraint in spec.each("topologySpreadConstraints")
        ],
    }
    template = {
        "metadata": {
            "labels": {**metadata.at("labels").value, **selector},
            "annotations": metadata.at("annotations").value,
        },
        "spec": pod,
    }
    return stateful_set(
        name, spec.number("replicas", 1), selector, template, claims, **spec.copied("podManagementPolicy")
    )


def _spread(constraint: Fields, selector: Mapping[str, str]) -> Manifest:
    """Return a constraint without the operator's own field, under which it selects the pods of the StatefulSet, too."""
    merged = {key: value for key, value in constraint.value.items() if key != "additionalLabelSelectors"}
    added = constraint.text("additionalLabelSelectors")
    if not added:
        return merged
    labels = dict(selector)
    if added == "OnResource":
        labels = {key: value for key, value in labels.items() if not key.startswith("operator.prometheus.io/shard")}
    selector_fields = constraint.at("labelSelector")
    merged["labelSelector"] = {
        **selector_fields.value,
        "matchLabels": {**selector_fields.at("matchLabels").value, **labels},
    }
    return merged


def _storage(storage: Fields, name: str) -> tuple[list[Manifest], list[Manifest]]:
    """Return the claim templates and the volumes of a StatefulSet for its data."""
    if "ephemeral" in storage:
        return [], [{"name": name, "ephemeral": storage.at("ephemeral").value}]
    if "volumeClaimTemplate" not in storage or "emptyDir" in storage:
        return [], [{"name": name, "emptyDir": {}}]
    template = storage.at("volumeClaimTemplate")
    metadata = {"name": template.at("metadata").text("name", name)}
    return [{"metadata": metadata, "spec": {"accessModes": ["ReadWriteOnce"], **template.at("spec").value}}], []

"""Prometheus, Alertmanager and ThanosRuler, as the Prometheus operator v0.93 makes their StatefulSets.

The operator runs with its default options; a given container is laid over the operator's of its name field by field,
not merged below that; sharding by topology is not modelled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
_LEAST_MEMORY = "200Mi"  # what an Alertmanager or a ThanosRuler requests that requests no memory
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
    component = {"Prometheus": "prometheus", "Alertmanager": "alertmanager"}.get(kind, "thanos-ruler")
    if "serviceName" not in spec:
        yield service(f"{component}-operated", {"app.kubernetes.io/name": component})
    labels = {**_labels(component, name), component: name}
    if kind == "Prometheus":
        labels["operator.prometheus.io/name"] = name
        for shard in range(max(1, spec.number("shards", 1))):
            set_name = f"prometheus-{name}-shard-{shard}" if shard else f"prometheus-{name}"
            of_shard = {**labels, "operator.prometheus.io/shard": str(shard)}
            yield _stateful_set(spec, set_name, of_shard, _prometheus_containers(spec), f"prometheus-{name}-db")
        return
    if kind == "Alertmanager":
        container = _container(spec, component, [9093], _with_memory(spec))
        container["ports"] += [{"containerPort": 9094, "protocol": protocol} for protocol in ("TCP", "UDP")]
        yield _stateful_set(
            spec, f"alertmanager-{name}", labels, [container, _reloader(spec)], f"alertmanager-{name}-db"
        )
        return
    containers = [_container(spec, component, [10902, 10901], _with_memory(spec)), _reloader(spec)]
    selector = {**spec.at("podMetadata", "labels").value, **labels}
    volume = f"thanos-ruler-{name}-data"
    yield _stateful_set(spec, f"thanos-ruler-{name}", selector, containers, volume, init=False)


def _labels(component: str, name: str) -> dict[str, str]:
    return {
        "app.kubernetes.io/name": component,
        "app.kubernetes.io/managed-by": "prometheus-operator",
        "app.kubernetes.io/instance": name,
    }


def _container(spec: Fields, name: str, ports: Iterable[int], resources: Mapping[str, Any] | None = None) -> Manifest:
    """Return a container; its ports are ports of the node where the pod is in the network of its node."""
    requested = spec.at("resources").value if resources is None else dict(resources)
    listed = [] if spec.truth("listenLocal") else [{"containerPort": port} for port in ports]
    return {"name": name, "image": spec.text("image", IMAGE), "resources": requested, "ports": listed}


def _reloader(spec: Fields, name: str = "config-reloader", port: int = 8080) -> Manifest:
    listed = [] if spec.truth("listenLocal") else [{"containerPort": port}]
    return {"name": name, "image": IMAGE, "resources": _RELOADER, "ports": listed}


def _patched(operator: list[Manifest], stated: list[Fields]) -> list[Any]:
    """Return the operator's containers, merged with the stated ones of their names, and then the other stated ones."""
    by_name = {container["name"]: container for container in operator}
    return with_containers(
        operator,
        [
            Fields(_merged(by_name[name], each.value), each.path) if (name := each.text("name")) in by_name else each
            for each in stated
        ],
    )


def _merged(container: Manifest, patch: Manifest) -> Manifest:
    """Return a strategic merge of what scheduling reads of a container: resources by name, ports by number."""
    fields = Fields(patch)
    resources = {
        field: {**container["resources"].get(field, {}), **fields.at("resources", field).value}
        for field in ("requests", "limits")
    }
    stated = fields.items("ports")
    numbers = {port.get("containerPort") for port in stated if isinstance(port, dict)}
    ports = [port for port in container["ports"] if port["containerPort"] not in numbers]
    return {
        **patch,
        "resources": {**container["resources"], **fields.at("resources").value, **resources},
        "ports": [*stated, *ports],
    }


def _with_memory(spec: Fields) -> Manifest:
    resources = spec.at("resources")
    return {**resources.value, "requests": {"memory": _LEAST_MEMORY, **resources.at("requests").value}}


def _prometheus_containers(spec: Fields) -> list[Manifest]:
    containers = [_container(spec, "prometheus", [9090]), _reloader(spec)]
    if "thanos" in spec:
        containers.append(_container(spec.at("thanos"), "thanos-sidecar", [10902, 10901]))
    return containers


def _stateful_set(
    spec: Fields, name: str, selector: Mapping[str, str], containers: list[Manifest], volume: str, *, init: bool = True
) -> Manifest:
    metadata = spec.at("podMetadata")
    claims, volumes = _storage(spec.at("storage"), volume)
    own_init = [_reloader(spec, "init-config-reloader", 8081)] if init else []
    pod = {
        **spec.copied(*_OF_THE_SPEC),
        "containers": _patched(containers, spec.each("containers")),
        "initContainers": _patched(own_init, spec.each("initContainers")),
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
    if "emptyDir" in storage:
        return [], [{"name": name, "emptyDir": {}}]
    if "ephemeral" in storage:
        return [], [{"name": name, "ephemeral": storage.at("ephemeral").value}]
    if "volumeClaimTemplate" not in storage:
        return [], [{"name": name, "emptyDir": {}}]
    template = storage.at("volumeClaimTemplate")
    metadata = {"name": template.at("metadata").text("name", name)}
    return [{"metadata": metadata, "spec": {"accessModes": ["ReadWriteOnce"], **template.at("spec").value}}], []

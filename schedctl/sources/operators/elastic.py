"""Elasticsearch and Kibana, as Elastic's operator (ECK) 3.6 (development) makes their StatefulSets and Deployments.

All nodes of an Elasticsearch are created together; what a configuration of the operator changes is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from schedctl.sources.operators.fields import (
    IMAGE,
    Fields,
    Manifest,
    deployment,
    disruption_budget,
    name_of,
    service,
    stateful_set,
    with_containers,
    with_metadata,
    with_node_requirement,
)

_DOMAIN = "k8s.elastic.co"
_CLUSTER, _STATEFUL_SET = f"elasticsearch.{_DOMAIN}/cluster-name", f"elasticsearch.{_DOMAIN}/statefulset-name"
_TYPE, _KIBANA = f"common.{_DOMAIN}/type", f"kibana.{_DOMAIN}/name"
_MEMORY: Manifest = {"requests": {"memory": "2Gi"}, "limits": {"memory": "2Gi"}}
_DATA = "elasticsearch-data"
_ZONE = "topology.kubernetes.io/zone"
_PREPARING: Manifest = {"requests": {"cpu": "100m", "memory": "50Mi"}, "limits": {"cpu": "100m", "memory": "50Mi"}}


def objects_of(resource: Fields, notes: list[str]) -> Iterator[Manifest]:
    """Yield the Services and a StatefulSet for each set of nodes, or the Deployment of a Kibana."""
    if resource.text("kind") == "Kibana":
        yield from _kibana(resource)
        return
    name = name_of(resource)
    yield service(f"{name}-es-http", {_CLUSTER: name, _TYPE: "elasticsearch"})
    node_sets = resource.at("spec").each("nodeSets")
    if (budget := _budget(resource.at("spec"), node_sets, name)) is not None:
        yield disruption_budget(f"{name}-es-default", budget)
    zones = [_zone_of(node_set) for node_set in node_sets if "zoneAwareness" in node_set]
    for node_set in node_sets:
        set_name = f"{name}-es-{node_set.text('name')}"
        labels = {_CLUSTER: name, _STATEFUL_SET: set_name, _TYPE: "elasticsearch"}
        template = _nodes(node_set, name, labels)
        if zones:
            _keep_to_zones(template["spec"], node_set, zones[0], {_CLUSTER: name, _STATEFUL_SET: set_name})
        yield service(set_name, labels)
        yield stateful_set(set_name, node_set.number("count", 0), labels, template, list(_claims(node_set)))


def _budget(spec: Fields, node_sets: list[Fields], cluster: str) -> Manifest | None:
    """Return what may be disrupted of a healthy cluster: a node, unless it is the only one for something."""
    if "podDisruptionBudget" in spec:
        return spec.at("podDisruptionBudget", "spec").value or None
    counts = dict.fromkeys(("", "master", "data", "ingest"), 0)
    for node_set in node_sets:
        for role in counts:
            if not role or _has_role(node_set, role):
                counts[role] += node_set.number("count", 0)
    spared = 0 if counts[""] > 1 and 1 in counts.values() else 1
    return {"minAvailable": max(0, counts[""] - spared), "selector": {"matchLabels": {_CLUSTER: cluster}}}


def _has_role(node_set: Fields, role: str) -> bool:
    """Return whether nodes have a role; those that name none have all."""
    config = node_set.at("config").value
    nested = config.get("node")
    roles = config.get("node.roles", nested.get("roles") if isinstance(nested, dict) else None)
    return not isinstance(roles, list) or any(str(each).partition("_")[0] == role for each in roles)


def _zone_of(node_set: Fields) -> str:
    return node_set.at("zoneAwareness").text("topologyKey", _ZONE)


def _keep_to_zones(spec: Manifest, node_set: Fields, zone: str, labels: dict[str, str]) -> None:
    """Spread a set of nodes that knows zones over them, and keep every set of its cluster to nodes in a zone."""
    needed: Manifest = {"key": zone, "operator": "Exists"}
    if "zoneAwareness" in node_set:
        needed["key"] = _zone_of(node_set)
        if zones := node_set.at("zoneAwareness").items("zones"):
            needed |= {"operator": "In", "values": zones}
        stated = spec.get("topologySpreadConstraints") or []
        if all(each.get("topologyKey") != needed["key"] for each in stated):
            spread = {"maxSkew": 1, "topologyKey": needed["key"], "whenUnsatisfiable": "DoNotSchedule"}
            stated = [*stated, {**spread, "labelSelector": {"matchLabels": labels}}]
        spec["topologySpreadConstraints"] = stated
    spec["affinity"] = with_node_requirement(Fields(spec).at("affinity"), needed)


def _nodes(node_set: Fields, cluster: str, labels: dict[str, str]) -> Manifest:
    template = node_set.at("podTemplate")
    spec = template.at("spec")
    # a pod that says nothing of affinity prefers to be apart from the others of its cluster
    apart = {"labelSelector": {"matchLabels": {_CLUSTER: cluster}}, "topologyKey": "kubernetes.io/hostname"}
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": apart}]}
    affinity = spec.at("affinity").value if "affinity" in spec else {"podAntiAffinity": preferred}
    containers = _containers(spec, "elasticsearch", node_set.at("resources"))
    preparing = _init_containers(spec, "elastic-internal-init-filesystem")
    return with_metadata(template, labels, affinity=affinity, containers=containers, initContainers=preparing)


def _containers(spec: Fields, name: str, overrides: Fields) -> list[Manifest]:
    """Return the containers of a template; what the resource says of requests and limits wins for the main one."""
    stated = [Fields({key: value for key, value in each.value.items() if value}) for each in spec.each("containers")]
    main = next((each for each in stated if each.text("name") == name), Fields({"name": name}))
    resources = main.at("resources").value or ({} if overrides.value else _MEMORY)
    for field in ("requests", "limits"):
        if field in overrides:
            resources = {**resources, field: {**resources.get(field, {}), **overrides.at(field).value}}
    others = [each for each in stated if each is not main]
    return with_containers([{"image": IMAGE, **main.value, "resources": resources}], others)


def _init_containers(spec: Fields, name: str) -> list[Any]:
    return [{"name": name, "image": IMAGE, "resources": _PREPARING}, *spec.items("initContainers")]


def _claims(node_set: Fields) -> Iterator[Manifest]:
    """Yield the claim templates: those given, and the operator's for the data where nothing else is that volume."""
    stated = [each.value for each in node_set.each("volumeClaimTemplates")]
    yield from stated
    names = {each.text("name") for each in node_set.at("podTemplate", "spec").each("volumes")}
    if not stated and _DATA not in names:
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        yield {"metadata": {"name": _DATA}, "spec": spec}


def _kibana(resource: Fields) -> Iterator[Manifest]:
    name, spec = name_of(resource), resource.at("spec")
    labels = {_KIBANA: name, _TYPE: "kibana"}
    template = spec.at("podTemplate")
    yield service(f"{name}-kb-http", labels)
    containers = _containers(template.at("spec"), "kibana", spec.at("resources"))
    preparing = _init_containers(template.at("spec"), "elastic-internal-init")
    pods = with_metadata(template, labels, containers=containers, initContainers=preparing)
    yield deployment(f"{name}-kb", spec.number("count", 1), labels, pods)

"""Elasticsearch and Kibana, as Elastic's operator (ECK) 3.6 (development) makes their StatefulSets and Deployments.

All nodes of an Elasticsearch are created together; what a configuration of the operator changes is not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedctl.sources.operators.fields import (
    IMAGE,
    Fields,
    Manifest,
    deployment,
    name_of,
    service,
    stateful_set,
    with_containers,
    with_metadata,
)

_DOMAIN = "k8s.elastic.co"
_CLUSTER, _STATEFUL_SET = f"elasticsearch.{_DOMAIN}/cluster-name", f"elasticsearch.{_DOMAIN}/statefulset-name"
_TYPE, _KIBANA = f"common.{_DOMAIN}/type", f"kibana.{_DOMAIN}/name"
_MEMORY: Manifest = {"requests": {"memory": "2Gi"}, "limits": {"memory": "2Gi"}}
_DATA = "elasticsearch-data"


def objects_of(resource: Fields, notes: list[str]) -> Iterator[Manifest]:
    """Yield the Services and a StatefulSet for each set of nodes, or the Deployment of a Kibana."""
    if resource.text("kind") == "Kibana":
        yield from _kibana(resource)
        return
    name = name_of(resource)
    yield service(f"{name}-es-http", {_CLUSTER: name, _TYPE: "elasticsearch"})
    for node_set in resource.at("spec").each("nodeSets"):
        set_name = f"{name}-es-{node_set.text('name')}"
        labels = {_CLUSTER: name, _STATEFUL_SET: set_name, _TYPE: "elasticsearch"}
        yield service(set_name, labels)
        yield stateful_set(
            set_name, node_set.number("count", 0), labels, _nodes(node_set, name, labels), list(_claims(node_set))
        )


def _nodes(node_set: Fields, cluster: str, labels: dict[str, str]) -> Manifest:
    template = node_set.at("podTemplate")
    spec = template.at("spec")
    # a pod that says nothing of affinity prefers to be apart from the others of its cluster
    apart = {"labelSelector": {"matchLabels": {_CLUSTER: cluster}}, "topologyKey": "kubernetes.io/hostname"}
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": apart}]}
    affinity = spec.at("affinity").value if "affinity" in spec else {"podAntiAffinity": preferred}
    return with_metadata(template, labels, affinity=affinity, containers=_containers(spec, "elasticsearch"))


def _containers(spec: Fields, name: str) -> list[Manifest]:
    stated = [Fields({key: value for key, value in each.value.items() if value}) for each in spec.each("containers")]
    return with_containers([{"name": name, "image": IMAGE, "resources": _MEMORY}], stated)


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
    pods = with_metadata(template, labels, containers=_containers(template.at("spec"), "kibana"))
    yield deployment(f"{name}-kb", spec.number("count", 1), labels, pods)

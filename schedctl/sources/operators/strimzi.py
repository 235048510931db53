"""Kafka and KafkaNodePool, as Strimzi 1.3 (development) makes brokers, controllers and the operators beside them.

Each object is read alone: a pool does not see the pod template and rack of its Kafka, and counts the ids of its nodes
from 0, where Strimzi counts over all pools of a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedctl.sources.operators.fields import (
    IMAGE,
    Fields,
    Manifest,
    claim,
    claim_volume,
    deployment,
    name_of,
    service,
)

_CLUSTER, _NAME, _KIND = "strimzi.io/cluster", "strimzi.io/name", "strimzi.io/kind"
_BROKER = "strimzi.io/broker-role"
_OF_THE_SPEC = (
    *("affinity", "tolerations", "topologySpreadConstraints", "priorityClassName", "schedulerName", "hostUsers"),
    *("terminationGracePeriodSeconds", "volumes"),
)


def objects_of(resource: Fields, notes: list[str]) -> Iterator[Manifest]:
    """Yield the Services and Deployments of a Kafka, and the claims and pods of a pool of nodes."""
    if resource.text("kind") == "KafkaNodePool":
        yield from _pool(resource, notes)
        return
    spec, name = resource.at("spec"), name_of(resource)
    kafka = spec.at("kafka")
    of_kafka = {_CLUSTER: name, _KIND: "Kafka", _NAME: f"{name}-kafka"}
    yield service(f"{name}-kafka-brokers", of_kafka)
    yield service(f"{name}-kafka-bootstrap", {**of_kafka, _BROKER: "true"})
    # brokers of a Kafka that has no pools, and ZooKeeper, which Strimzi before 0.46 made
    for part, fields in (("kafka", kafka), ("zookeeper", spec.at("zookeeper"))):
        if "replicas" in fields and not _has_pools(resource):
            labels = {_CLUSTER: name, _KIND: "Kafka", _NAME: f"{name}-{part}"}
            if part == "kafka":
                labels[_BROKER] = "true"
            for index in range(fields.number("replicas", 0)):
                yield from _node(
                    fields, f"{name}-{part}-{index}", labels, part, _rack(kafka) if part == "kafka" else ""
                )
    if "entityOperator" in spec:
        operators = spec.at("entityOperator")
        containers = [
            _container(operators.at(field), container)
            for field, container in (("topicOperator", "topic-operator"), ("userOperator", "user-operator"))
            if field in operators
        ]
        if containers:
            yield _deployment(name, "entity-operator", operators, containers)
    for field, part in (("kafkaExporter", "kafka-exporter"), ("cruiseControl", "cruise-control")):
        if field in spec:
            yield _deployment(name, part, spec.at(field), [_container(spec.at(field), part)])


def _has_pools(resource: Fields) -> bool:
    return resource.at("metadata", "annotations").text("strimzi.io/node-pools") == "enabled"


def _pool(resource: Fields, notes: list[str]) -> Iterator[Manifest]:
    spec, pool = resource.at("spec"), name_of(resource)
    cluster = resource.at("metadata", "labels").text(_CLUSTER)
    if not cluster:
        notes.append(f"has no label {_CLUSTER} and makes no pods")
        return
    notes.append(f"pod template and rack of Kafka {cluster} are not applied; node ids count from 0 in each pool")
    roles = spec.items("roles")
    labels = {
        _CLUSTER: cluster,
        _KIND: "Kafka",
        _NAME: f"{cluster}-kafka",
        "strimzi.io/pool-name": pool,
        _BROKER: "true" if "broker" in roles else "false",
        "strimzi.io/controller-role": "true" if "controller" in roles else "false",
    }
    for index in range(spec.number("replicas", 0)):
        yield from _node(spec, f"{cluster}-{pool}-{index}", labels, "kafka", "")


def _rack(kafka: Fields) -> str:
    return kafka.at("rack").text("topologyKey")


def _node(spec: Fields, name: str, labels: dict[str, str], container: str, rack: str) -> Iterator[Manifest]:
    """Yield the claims and the pod of one node."""
    storage, volumes = spec.at("storage"), []
    jbod = storage.text("type") == "jbod"
    for volume in storage.each("volumes") if jbod else [storage]:
        prefix = f"data-{volume.number('id', 0)}" if jbod else "data"
        if volume.text("type") != "persistent-claim":
            volumes.append({"name": prefix, "emptyDir": {}})
            continue
        yield claim(f"{prefix}-{name}", _claim_spec(volume))
        volumes.append(claim_volume(prefix, f"{prefix}-{name}"))
    template = spec.at("template", "pod")
    pod = _pod(template, labels, [_container(spec, container)], volumes)
    if rack:
        pod["spec"]["affinity"] = _with_rack(template.at("affinity"), rack)
    pod["metadata"]["name"] = name
    yield {"apiVersion": "v1", "kind": "Pod", **pod}


def _claim_spec(volume: Fields) -> Manifest:
    spec: Manifest = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": volume.value.get("size")}},
    }
    if storage_class := volume.text("class"):
        spec["storageClassName"] = storage_class
    if "selector" in volume:
        spec["selector"] = {"matchLabels": volume.at("selector").value}
    return spec


def _with_rack(affinity: Fields, topology: str) -> Manifest:
    """Return an affinity of nodes that have the rack's label, in each of the terms that are given."""
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    node_affinity = affinity.at("nodeAffinity")
    exists = {"key": topology, "operator": "Exists"}
    stated = node_affinity.at(required).each("nodeSelectorTerms")
    terms = [{**term.value, "matchExpressions": [*term.items("matchExpressions"), exists]} for term in stated]
    merged = {"nodeSelectorTerms": terms or [{"matchExpressions": [exists]}]}
    return {**affinity.value, "nodeAffinity": {**node_affinity.value, required: merged}}


def _container(fields: Fields, name: str) -> Manifest:
    return {"name": name, "image": fields.text("image", IMAGE), "resources": fields.at("resources").value}


def _pod(template: Fields, labels: dict[str, str], containers: list[Manifest], volumes: list[Manifest]) -> Manifest:
    metadata = template.at("metadata")
    spec = {**template.copied(*_OF_THE_SPEC), "containers": containers}
    return {
        "metadata": {
            "labels": {**metadata.at("labels").value, **labels},
            "annotations": metadata.at("annotations").value,
        },
        "spec": {**spec, "volumes": [*volumes, *template.items("volumes")]},
    }


def _deployment(cluster: str, part: str, fields: Fields, containers: list[Manifest]) -> Manifest:
    labels = {_CLUSTER: cluster, _KIND: "Kafka", _NAME: f"{cluster}-{part}"}
    template = _pod(fields.at("template", "pod"), labels, containers, [])
    return deployment(f"{cluster}-{part}", 1, labels, template)

"""Kafka and KafkaNodePool, as Strimzi 1.3 (development) makes brokers, controllers and the operators beside them.

The ids of nodes count over all pools of a cluster in the order of their names; annotations with ids are not read.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedctl.sources.operators.fields import (
    IMAGE,
    FieldError,
    Fields,
    Manifest,
    claim,
    claim_volume,
    deployment,
    disruption_budget,
    name_of,
    service,
    with_node_requirement,
)

_CLUSTER, _NAME, _KIND = "strimzi.io/cluster", "strimzi.io/name", "strimzi.io/kind"
_BROKER = "strimzi.io/broker-role"
_OF_KUBERNETES = "app.kubernetes.io"
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
    if nodes := _nodes_of(resource):
        # nodes of several pools are one workload to it, so it counts those that have to be there
        spared = kafka.at("template", "podDisruptionBudget").number("maxUnavailable", 1)
        budget = {"minAvailable": max(0, nodes - spared), "selector": {"matchLabels": of_kafka}}
        yield disruption_budget(f"{name}-kafka", budget)
    # brokers of a Kafka that has no pools, and ZooKeeper, which Strimzi before 0.46 made
    for part, fields in (("kafka", kafka), ("zookeeper", spec.at("zookeeper"))):
        if "replicas" in fields and not _has_pools(resource):
            labels = _labels(resource, name, part)
            if part == "kafka":
                labels[_BROKER] = "true"
            rack = _rack(kafka) if part == "kafka" else ""
            for index in range(fields.number("replicas", 0)):
                template = fields.at("template", "pod")
                yield from _node(fields, f"{name}-{part}-{index}", labels, part, rack, template)
    if "entityOperator" in spec:
        operators = spec.at("entityOperator")
        containers = [
            _container(operators.at(field), container)
            for field, container in (("topicOperator", "topic-operator"), ("userOperator", "user-operator"))
            if field in operators
        ]
        if containers:
            yield _deployment(resource, "entity-operator", operators, containers)
    for field, part in (("kafkaExporter", "kafka-exporter"), ("cruiseControl", "cruise-control")):
        if field in spec:
            yield _deployment(resource, part, spec.at(field), [_container(spec.at(field), part)])


def _has_pools(resource: Fields) -> bool:
    return resource.at("metadata", "annotations").text("strimzi.io/node-pools") == "enabled"


def _pool(resource: Fields, notes: list[str]) -> Iterator[Manifest]:
    spec, pool = resource.at("spec"), name_of(resource)
    cluster = resource.at("metadata", "labels").text(_CLUSTER)
    if not cluster:
        notes.append(f"has no label {_CLUSTER} and makes no pods")
        return
    kafka = _kafka_of(resource, cluster)
    if kafka is None:
        notes.append(f"Kafka {cluster} is not among the manifests: its pod template and rack are not known")
        kafka = Fields({})
    roles = spec.items("roles")
    labels = {
        **_labels(resource, cluster, "kafka"),
        "strimzi.io/pool-name": pool,
        _BROKER: "true" if "broker" in roles else "false",
        "strimzi.io/controller-role": "true" if "controller" in roles else "false",
    }
    # a template of the pool takes the place of the one of its Kafka
    templates = spec.at("template")
    template = templates.at("pod") if "pod" in templates else kafka.at("template", "pod")
    first = _first_id(resource, cluster)
    for number in range(first, first + spec.number("replicas", 0)):
        rack = _rack(kafka) if "broker" in roles else ""
        yield from _node(spec, f"{cluster}-{pool}-{number}", labels, "kafka", rack, template)


def _kafka_of(pool: Fields, cluster: str) -> Fields | None:
    """Return what the Kafka of a pool says of its nodes, None where it is not known."""
    for each in pool.company:
        if each.text("kind") == "Kafka" and name_of(each) == cluster and _namespace(each) == _namespace(pool):
            return each.at("spec", "kafka")
    return None


def _first_id(pool: Fields, cluster: str) -> int:
    """Return the first id of the nodes of a pool: ids count over all pools of a cluster."""
    return sum(count for name, count in _pools_beside(pool, cluster) if name < name_of(pool))


def _nodes_of(kafka: Fields) -> int:
    """Return how many nodes a Kafka has, 0 where its pools are not known."""
    if _has_pools(kafka) or "replicas" not in kafka.at("spec", "kafka"):
        return sum(count for _, count in _pools_beside(kafka, name_of(kafka)))
    return kafka.at("spec", "kafka").number("replicas", 0)


def _pools_beside(resource: Fields, cluster: str) -> Iterator[tuple[str, int]]:
    """Yield name and number of nodes of the pools of a cluster; a mistake in one is reported there."""
    for each in resource.company:
        try:
            of_cluster = each.at("metadata", "labels").text(_CLUSTER) == cluster
            if each.text("kind") == "KafkaNodePool" and of_cluster and _namespace(each) == _namespace(resource):
                yield name_of(each), each.at("spec").number("replicas", 0)
        except FieldError:
            continue


def _namespace(resource: Fields) -> str:
    return resource.at("metadata").text("namespace")


def _labels(resource: Fields, cluster: str, part: str) -> dict[str, str]:
    """Return the labels of nodes: those of the resource that makes them, and Strimzi's own."""
    stated = resource.at("metadata", "labels").value
    return {
        **{key: value for key, value in stated.items() if not key.startswith(f"{_OF_KUBERNETES}/")},
        _CLUSTER: cluster,
        _KIND: "Kafka",
        _NAME: f"{cluster}-{part}",
        "strimzi.io/component-type": part,
        f"{_OF_KUBERNETES}/name": part,
        f"{_OF_KUBERNETES}/instance": cluster,
        f"{_OF_KUBERNETES}/part-of": f"strimzi-{cluster}",
        f"{_OF_KUBERNETES}/managed-by": "strimzi-cluster-operator",
    }


def _rack(kafka: Fields) -> str:
    return kafka.at("rack").text("topologyKey")


def _node(
    spec: Fields, name: str, labels: dict[str, str], container: str, rack: str, template: Fields
) -> Iterator[Manifest]:
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
    pod = _pod(template, {**labels, "strimzi.io/pod-name": name}, [_container(spec, container)], volumes)
    if rack:
        needed = {"key": rack, "operator": "Exists"}
        pod["spec"]["affinity"] = with_node_requirement(template.at("affinity"), needed)
    pod["metadata"]["name"] = name
    yield {"apiVersion": "v1", "kind": "Pod", **pod}


def _claim_spec(volume: Fields) -> Manifest:
    spec: Manifest = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": volume.value.get("size")}},
    }
    if "class" in volume:
        spec["storageClassName"] = volume.text("class")
    if "selector" in volume:
        spec["selector"] = {"matchLabels": volume.at("selector").value}
    return spec


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


def _deployment(resource: Fields, part: str, fields: Fields, containers: list[Manifest]) -> Manifest:
    cluster = name_of(resource)
    selector = {_CLUSTER: cluster, _KIND: "Kafka", _NAME: f"{cluster}-{part}"}
    template = _pod(fields.at("template", "pod"), _labels(resource, cluster, part), containers, [])
    return deployment(f"{cluster}-{part}", 1, selector, template)

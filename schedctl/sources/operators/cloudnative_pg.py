"""CloudNativePG's Cluster, as its operator v1.30 makes instances and their claims.

The instances are created together, where the operator waits for each before it makes the next; the Jobs that prepare
them request the same and are gone by then, and so they are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedctl.sources.operators.fields import IMAGE, Fields, Manifest, claim, claim_volume, name_of, service

_CLUSTER, _ROLE = "cnpg.io/cluster", "cnpg.io/podRole"
_HOSTNAME = "kubernetes.io/hostname"
_PATCH = "cnpg.io/podPatch"


def objects_of(resource: Fields, notes: list[str]) -> Iterator[Manifest]:
    """Yield the Service of all instances, and the claims and the pod of each instance."""
    spec, name = resource.at("spec"), name_of(resource)
    if _PATCH in resource.at("metadata", "annotations"):
        notes.append(f"the patch in its annotation {_PATCH} is not applied")
    yield service(f"{name}-r", {_CLUSTER: name, _ROLE: "instance"})
    # instances are numbered from 1
    for serial in range(1, spec.number("instances", 1) + 1):
        yield from _instance(spec, name, f"{name}-{serial}")


def _instance(spec: Fields, cluster: str, name: str) -> Iterator[Manifest]:
    volumes = []
    for volume, claim_name, storage in _storages(spec, name):
        yield claim(claim_name, _claim_spec(storage))
        volumes.append(claim_volume(volume, claim_name))
    affinity = spec.at("affinity")
    container = {
        "name": "postgres",
        "image": spec.text("imageName", IMAGE),
        "resources": spec.at("resources").value,
        "ports": [{"containerPort": port} for port in (5432, 9187, 8000)],
    }
    inherited = spec.at("inheritedMetadata")
    labels = {
        _CLUSTER: cluster,
        _ROLE: "instance",
        "cnpg.io/instanceName": name,
        "app.kubernetes.io/name": "postgresql",
        "app.kubernetes.io/instance": cluster,
        "app.kubernetes.io/component": "database",
        "app.kubernetes.io/managed-by": "cloudnative-pg",
    }
    metadata = {
        "name": name,
        "labels": {**inherited.at("labels").value, **labels},
        "annotations": inherited.at("annotations").value,
    }
    pod = {
        **spec.copied("schedulerName", "priorityClassName", "topologySpreadConstraints"),
        **affinity.copied("nodeSelector", "tolerations"),
        "affinity": _affinity(affinity, cluster),
        "initContainers": [{**container, "name": "bootstrap-controller", "ports": []}],
        "containers": [container],
        "volumes": volumes,
    }
    yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod}


def _storages(spec: Fields, instance: str) -> Iterator[tuple[str, str, Fields]]:
    """Yield volume, claim and storage of an instance."""
    yield "pgdata", instance, spec.at("storage")
    if "walStorage" in spec:
        yield "pg-wal", f"{instance}-wal", spec.at("walStorage")
    for tablespace in spec.each("tablespaces"):
        name = tablespace.text("name").replace("_", "-")
        yield f"tbs-{name}", f"{instance}-tbs-{name}", tablespace.at("storage")


def _claim_spec(storage: Fields) -> Manifest:
    """Return the spec of a claim: the template, under the size and the class that stand beside it."""
    spec = {"accessModes": ["ReadWriteOnce"], **storage.at("pvcTemplate").value}
    if size := storage.text("size"):
        spec["resources"] = {"requests": {"storage": size}}
    if "storageClass" in storage:
        spec["storageClassName"] = storage.text("storageClass")
    return spec


def _affinity(config: Fields, cluster: str) -> Manifest:
    """Return the affinity of instances: apart from each other, if possible, unless the cluster says otherwise."""
    preferred, required = (
        f"{strength}DuringSchedulingIgnoredDuringExecution" for strength in ("preferred", "required")
    )
    apart: dict[str, list[Manifest]] = {required: [], preferred: []}
    if config.truth("enablePodAntiAffinity", True):
        among = [
            {"key": _CLUSTER, "operator": "In", "values": [cluster]},
            {"key": _ROLE, "operator": "In", "values": ["instance"]},
        ]
        topology = config.text("topologyKey", _HOSTNAME)
        term = {"labelSelector": {"matchExpressions": among}, "topologyKey": topology}
        if config.text("podAntiAffinityType", "preferred") == "required":
            apart[required].append(term)
        else:
            apart[preferred].append({"weight": 100, "podAffinityTerm": term})
    added = config.at("additionalPodAntiAffinity")
    for strength, terms in apart.items():
        terms += added.items(strength)
    affinity: Manifest = {"podAntiAffinity": apart, **config.copied("nodeAffinity")}
    if "additionalPodAffinity" in config:
        affinity["podAffinity"] = config.at("additionalPodAffinity").value
    return affinity

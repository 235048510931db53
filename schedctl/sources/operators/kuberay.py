"""RayCluster, RayJob and RayService, as KubeRay v1.7 makes their pods.

The autoscaler changes no number of workers here; the submitter of a RayJob is created with its cluster, where KubeRay
waits until that is ready.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedctl.sources.operators.fields import IMAGE, Fields, Manifest, name_of, service, with_metadata

_CLUSTER, _NODE_TYPE, _GROUP = "ray.io/cluster", "ray.io/node-type", "ray.io/group"
_MANY = (1 << 31) - 1
_LONGEST_PREFIX = 50


def objects_of(resource: Fields, notes: list[str]) -> Iterator[Manifest]:
    """Yield the Services, the head, the workers, and the Job that submits a RayJob."""
    spec, kind = resource.at("spec"), resource.text("kind")
    if spec.truth("suspend"):
        notes.append("is suspended and makes no pods")
        return
    cluster = {"RayJob": spec.at("rayClusterSpec"), "RayService": spec.at("rayClusterConfig")}.get(kind, spec)
    if resource.at("metadata", "labels").text("ray.io/gang-scheduling-enabled") == "true":
        notes.append("gang scheduling is left to the scheduler that KubeRay is configured with, which is not known")
    mode = spec.text("submissionMode", "K8sJobMode") if kind == "RayJob" else ""
    if kind == "RayJob" and "clusterSelector" in spec:
        notes.append("runs on an existing RayCluster (clusterSelector)")
    else:
        yield from _cluster(resource, cluster, with_submitter=mode == "SidecarMode")
    if mode == "K8sJobMode":
        yield _submitter(resource, cluster)


def _cluster(resource: Fields, cluster: Fields, *, with_submitter: bool) -> Iterator[Manifest]:
    # the cluster of a job or service has five random letters more
    name = name_of(resource)
    head = cluster.at("headGroupSpec")
    labels = _labels(name, "head", "headgroup")
    groups = cluster.each("workerGroupSpecs")
    yield service(f"{name}-head-svc", {_CLUSTER: name, _NODE_TYPE: "head", "ray.io/identifier": f"{name}-head"})
    if any(group.number("numOfHosts", 1) > 1 for group in groups):
        yield service(f"{name}-headless", {_CLUSTER: name, _NODE_TYPE: "worker"})
    extra = []
    if cluster.truth("enableInTreeAutoscaling"):
        options = cluster.at("autoscalerOptions")
        resources = options.value.get("resources") or _requests("500m", "512Mi")
        extra.append({"name": "autoscaler", "image": options.text("image", IMAGE), "resources": resources})
    if with_submitter:
        extra.append(_SUBMITTER)
    yield _pod(head, f"{name}-head-", labels, extra)
    for group in groups:
        group_name = group.text("groupName")
        labels = _labels(name, "worker", group_name)
        for _ in range(_replicas(group) * group.number("numOfHosts", 1)):
            yield _pod(group, f"{f'{name}-{group_name}'[:_LONGEST_PREFIX]}-worker-".lower(), labels, [], _WAITING)


def _replicas(group: Fields) -> int:
    """Return the number of replicas within its bounds, which the API server sets to 0 where the manifest does not."""
    if group.truth("suspend"):
        return 0
    least, most = group.number("minReplicas", 0), group.number("maxReplicas", _MANY)
    return max(least, min(group.number("replicas", 0), most))


def _labels(cluster: str, node_type: str, group: str) -> dict[str, str]:
    return {
        "ray.io/is-ray-node": "yes",
        _CLUSTER: cluster,
        _NODE_TYPE: node_type,
        _GROUP: group,
        "ray.io/identifier": f"{cluster}-{node_type}",
        "app.kubernetes.io/name": "kuberay",
        "app.kubernetes.io/created-by": "kuberay-operator",
    }


def _pod(
    group: Fields, prefix: str, labels: dict[str, str], extra: list[Manifest], init: Manifest | None = None
) -> Manifest:
    template = group.at("template")
    spec = template.at("spec")
    stated_labels = {**template.at("metadata", "labels").value, **group.at("labels").value}
    fixed = {key: labels[key] for key in (_CLUSTER, _NODE_TYPE, _GROUP)}  # the others may be overridden
    more: Manifest = {"containers": [*spec.items("containers"), *extra]} if extra else {}
    if init is not None:
        more["initContainers"] = [*spec.items("initContainers"), init]
    pod = with_metadata(template, {**labels, **stated_labels, **fixed}, **more)
    pod["metadata"]["generateName"] = prefix
    return {"apiVersion": "v1", "kind": "Pod", **pod}


def _requests(cpu: str, memory: str) -> Manifest:
    return {"requests": {"cpu": cpu, "memory": memory}}


_WAITING: Manifest = {"name": "wait-gcs-ready", "image": IMAGE, "resources": _requests("200m", "256Mi")}
"""Runs in each worker until the head answers."""
_SUBMITTER: Manifest = {"name": "ray-job-submitter", "image": IMAGE, "resources": _requests("500m", "200Mi")}


def _submitter(resource: Fields, cluster: Fields) -> Manifest:
    name, spec = name_of(resource), resource.at("spec")
    labels = {"ray.io/originated-from-cr-name": name, "app.kubernetes.io/created-by": "kuberay-operator"}
    if "submitterPodTemplate" in spec:
        template_fields = spec.at("submitterPodTemplate")
        template = with_metadata(
            template_fields, labels, restartPolicy=template_fields.at("spec").text("restartPolicy", "Never")
        )
    else:
        template = {"metadata": {"labels": labels}, "spec": {"restartPolicy": "Never", "containers": [_SUBMITTER]}}
    metadata = {"name": name, "labels": labels}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": template}}

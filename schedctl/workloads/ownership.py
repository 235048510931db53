"""Whose pods are in a cluster: by controller, and by what controls that, however far up."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from schedctl.api import workloads
from schedctl.api.defaults import DEFAULT_NAMESPACE, with_namespace
from schedctl.api.meta import controller_of
from schedctl.api.quantities import MAX_INT64
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.workloads.clusters import every_pod, find_pod
from schedctl.workloads.names import HASH_LABEL

Owned = tuple[str, str, str]
"""Kind, namespace and name of an owner."""


_PARENTS: tuple[tuple[type, str, str], ...] = (
    (workloads.ReplicaSet, "apps/v1", "ReplicaSet"),
    (workloads.Job, "batch/v1", "Job"),
    (workloads.Deployment, "apps/v1", "Deployment"),
    (workloads.StatefulSet, "apps/v1", "StatefulSet"),
    (workloads.DaemonSet, "apps/v1", "DaemonSet"),
    (workloads.ReplicationController, "v1", "ReplicationController"),
)
"""Kinds that are controlled by others and control pods."""
_WORKLOADS: dict[str, type] = {kind: struct for struct, _, kind in _PARENTS} | {"CronJob": workloads.CronJob}


def owner_key(api_version: str, kind: str, namespace: str, name: str) -> Owned:
    """Return what an owner is known by; the versions and old groups of Kubernetes' own kinds are one."""
    group = api_version.rpartition("/")[0]
    return (f"{kind}.{group}" if "." in group else kind), namespace, name


def pods_by_owner(cluster: Cluster) -> Mapping[Owned, list[PodInfo]]:
    """Return the pods of a cluster by each of their owners, however far up."""
    parent_of = _controllers(cluster).get
    owned: defaultdict[Owned, list[PodInfo]] = defaultdict(list)
    for info in every_pod(cluster):
        owned["Pod", info.namespace, info.pod.metadata.name].append(info)
        for owner in _owners(info, parent_of):
            owned[owner].append(info)
    return owned


def workload_of(info: PodInfo, cluster: Cluster) -> Owned | None:
    """Return the outermost controller of a pod, None for a pod without one."""
    owners = _owners(info, lambda owner: _controller_of(find_workload(owner, cluster), owner[1]))
    return next(iter(deque(owners, maxlen=1)), None)


def find_workload(owner: Owned, cluster: Cluster) -> Any | None:
    """Return the object that is known by that kind, namespace and name; None if it was not read, or is no workload."""
    kind, namespace, name = owner
    struct = _WORKLOADS.get(kind)
    if struct is None:
        return None
    found = cluster.get(struct, f"{namespace}/{name}")
    # A manifest need not write the namespace that kubectl would fill in.
    return found if found is not None or namespace != DEFAULT_NAMESPACE else cluster.get(struct, name)


def owner_name(pod: str, cluster: Cluster) -> str:
    """Return the workload of the pod of that ``namespace/name``, such as ``Deployment shop/web``.

    It is "" for a pod without a controller, and for one that is not in the cluster.
    """
    info = find_pod(pod, cluster)
    workload = workload_of(info, cluster) if info is not None else None
    if workload is None:
        return ""
    kind, namespace, name = workload
    return f"{kind} {namespace}/{name}"


def _controllers(cluster: Cluster) -> dict[Owned, Owned]:
    """Return what controls the objects that control pods, by what they are."""
    parents: dict[Owned, Owned] = {}
    for struct, api_version, kind in _PARENTS:
        objects: Iterable[Any] = cluster.every(struct).values()
        for obj in objects:
            metadata = with_namespace(obj.metadata)
            for reference in metadata.owner_references or ():
                if reference.controller:
                    owner = owner_key(reference.api_version, reference.kind, metadata.namespace, reference.name)
                    parents[owner_key(api_version, kind, metadata.namespace, metadata.name)] = owner
                    # the workers' StatefulSet of a LeaderWorkerSet belongs to the leader
                    pod = find_pod(f"{metadata.namespace}/{reference.name}", cluster) if owner[0] == "Pod" else None
                    if pod is not None and (above := controller_reference(pod))[2]:
                        parents[owner] = owner_key(above[0], above[2], metadata.namespace, above[1])
    return parents


def _controller_of(obj: Any | None, namespace: str) -> Owned | None:
    reference = controller_of(obj) if obj is not None else None
    return owner_key(reference.api_version, reference.kind, namespace, reference.name) if reference else None


def _owners(info: PodInfo, parent_of: Callable[[Owned], Owned | None]) -> Iterator[Owned]:
    """Yield the pod's controller, the controller of that, and so on; a ReplicaSet that is not given tells by name."""
    api_version, name, kind = controller_reference(info)
    if not kind:
        return
    owner = owner_key(api_version, kind, info.namespace, name)
    seen: set[Owned] = set()  # owners of hand-written objects may go round in a circle
    while owner not in seen:
        yield owner
        seen.add(owner)
        above = parent_of(owner)
        # A ReplicaSet that was not read along: its name is that of the Deployment and the hash that its pods carry.
        ending = f"-{info.labels.get(HASH_LABEL)}"
        if above is None and owner[0] == "ReplicaSet" and owner[2].endswith(ending):
            above = "Deployment", info.namespace, owner[2].removesuffix(ending)
        if above is None:
            return
        owner = above


def replicas_of(info: PodInfo, cluster: Cluster) -> int:
    """Return how many pods like this one its workload is to have at a time; 1 where that is not known."""
    _, name, kind = controller_reference(info)
    key = f"{info.namespace}/{name}"
    if kind == "ReplicaSet":
        replica_set = cluster.get(workloads.ReplicaSet, key)
        above = controller_of(replica_set) if replica_set is not None else None
        deployment = cluster.get(workloads.Deployment, f"{info.namespace}/{above.name}") if above is not None else None
        scaled = deployment if deployment is not None else replica_set
        return _or_one(scaled.spec.replicas) if scaled is not None else 1
    if kind == "Job":
        job = cluster.get(workloads.Job, key)
        return min(_or_one(job.spec.parallelism), job.spec.completions or MAX_INT64) if job is not None else 1
    scaled_kinds: dict[str, type] = {
        "StatefulSet": workloads.StatefulSet,
        "ReplicationController": workloads.ReplicationController,
    }
    workload = cluster.get(scaled_kinds[kind], key) if kind in scaled_kinds else None
    return _or_one(workload.spec.replicas) if workload is not None else 1


def _or_one(number: int | None) -> int:
    return 1 if number is None else number


def controller_reference(info: PodInfo) -> tuple[str, str, str]:
    """Return ``apiVersion``, name and kind of what controls a pod, empty texts where nothing does."""
    for reference in info.pod.metadata.owner_references or ():
        if reference.controller:
            return reference.api_version, reference.name, reference.kind
    return "", "", ""

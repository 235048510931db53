"""Pods that lose their node at once: removed, and replaced as their controllers would, on no node yet.

Grace periods, disruption budgets and what kubectl refuses are the business of ``drains``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from schedctl.api.meta import OwnerReference
from schedctl.api.pods import Pod
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.simulation.replacement import controller_of, successor, template_node
from schedctl.simulation.what_ifs.changes import WhatIfResult
from schedctl.simulation.what_ifs.phrases import describe_displaced
from schedctl.workloads import garbage, pod_templates
from schedctl.workloads.admission import RESOURCE_QUOTA
from schedctl.workloads.api_server import Admission, Created
from schedctl.workloads.expansion import Replica

MIRROR = "kubernetes.io/config.mirror"
"""The annotation of a pod that stands for a static one, which only its kubelet can end."""


def pods_on(cluster: Cluster, *nodes: str) -> list[PodInfo]:
    """Return the pods on some nodes, node by node, those of each by name."""
    each = cluster.pod_table.on_each([cluster.node_table.row_of[node] for node in nodes])
    return [info for pods in each for info in sorted(pods, key=lambda info: info.key)]


def is_mirror(pod: Pod) -> bool:
    """Return whether a pod stands for a static one."""
    return MIRROR in (pod.metadata.annotations or {})


def stays(pod: Pod) -> bool:
    """Return whether draining its node leaves a pod there: one of a DaemonSet, or of the kubelet itself."""
    owner = controller_of(pod)
    return is_mirror(pod) or (owner is not None and owner.kind == "DaemonSet")


def displace(cluster: Cluster, pods: Sequence[PodInfo], then: Callable[[], None] = lambda: None) -> dict[str, str]:
    """Remove running pods and let those come back that somebody makes again, on no node but one that they name.

    Pods of DaemonSets belong to their node and do not come back, nor do those that were on their way out already.

    Args:
        cluster: the cluster.
        pods: the pods.
        then: what happens before anybody makes them again.

    Returns:
        By key of a pod that came back, the key of the pod in its place.
    """
    cluster.remove_pods(pods)
    for info in pods:
        garbage.sweep(info.pod, cluster)
    then()
    admit = Admission(cluster, disabled=(RESOURCE_QUOTA,))
    successors: dict[str, str] = {}
    node_of: dict[tuple[str, OwnerReference | None], str] = {}  # that the templates name, of the pods of each owner
    for info in pods:
        made = None
        if not info.is_terminating and not stays(info.pod):
            owner = info.namespace, controller_of(info.pod)
            if owner not in node_of:
                node_of[owner] = template_node(info, cluster)
            made = successor(info.pod, lambda key: pod_templates.exists(key, cluster), node_of[owner])
        if made is not None:
            for key in create_pods(cluster, admit, (Replica(made),)):
                successors[info.key] = key
    return successors


def create_pods(cluster: Cluster, admit: Admission, replicas: Iterable[Replica]) -> list[str]:
    """Let pods join the cluster, on no node, and return the keys of those that were admitted."""
    keys = []
    for replica in replicas:
        created = admit.create(replica)
        if isinstance(created, Created):
            for claim in created.claims:
                cluster.put(claim)
            cluster.add_pod(PodInfo(created.pod))
            keys.append(created.pod.key)
    return keys


def displace_from(
    kind: str,
    done: str,
    cluster: Cluster,
    nodes: list[str],
    pods: Sequence[PodInfo],
    then: Callable[[], None] = lambda: None,
) -> WhatIfResult:
    """Displace pods and return that as a change of their nodes; see `displace`."""
    successors, gone = displace(cluster, pods, then), [info.key for info in pods]
    waiting = [key for key in successors.values() if key in cluster.pending]
    lost = [info for info in pods if info.key not in successors and not stays(info.pod) and not info.is_terminating]
    text = f"{done}{describe_displaced(waiting, lost)}"
    return WhatIfResult(kind=kind, text=text, nodes=nodes, waiting=waiting, gone=gone, successors=successors)

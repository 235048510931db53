"""What violations are recognised by from one run to the next: workloads and classes of nodes, whose names last.

Names of pods and nodes do not: a rollout or an autoscaler makes others of the same workload or pool.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from schedctl.api import topology
from schedctl.api.node_labels import INSTANCE_TYPE, POOL_LABELS
from schedctl.api.nodes import Node
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.workloads.ownership import workload_of


def owners(pods: Iterable[PodInfo], cluster: Cluster) -> dict[str, int]:
    """Return how many of some pods each workload has, e.g. ``{"Deployment shop/web": 2}``."""
    return dict(Counter(owner(pod, cluster) for pod in pods))


def owner(pod: PodInfo, cluster: Cluster) -> str:
    """Return the outermost controller of a pod, as messages name it; the pod itself if it has none."""
    kind, namespace, name = workload_of(pod, cluster) or ("Pod", pod.namespace, pod.pod.metadata.name)
    return f"{kind} {namespace}/{name}"


def node_class(node: Node) -> str:
    """Return the pool of a node, else its instance type, as ``label=value``; its name if it has neither."""
    for label in (*POOL_LABELS, INSTANCE_TYPE):
        if value := topology.group_of(node.metadata.labels, label):
            return f"{label}={value}"
    return f"node {node.metadata.name}"

"""Builders: Kubernetes objects in one line, with the defaults a test does not care about.

``cluster(node("a", cpu="4"), pod("web", on="a", cpu="500m"))`` is a cluster of one node with one running pod. Anything
the arguments do not reach goes in as a spec or status in Kubernetes' own JSON, as in ``pod("x", affinity={...})``.
"""

from __future__ import annotations

from typing import Any

import msgspec

from schedctl.api import defaults, topology
from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.handles import ProfileHandle
from schedctl.engine.nominators import Nominator
from schedctl.engine.queue.preemptors import Preemptors
from schedctl.engine.reporters import Reporter
from schedctl.releases import NEWEST, Release

HOSTNAME, ZONE = topology.HOSTNAME, topology.ZONE


def node(
    name: str,
    *,
    cpu: str = "4",
    memory: str = "16Gi",
    pods: str = "110",
    zone: str | None = None,
    labels: dict[str, str] | None = None,
    taints: list[dict[str, str]] | None = None,
    unschedulable: bool = False,
    images: list[dict[str, Any]] | None = None,
    declared_features: list[str] | None = None,
    **resources: str,
) -> Node:
    """Return a node; extra keyword arguments are further allocatable resources (``**{"nvidia.com/gpu": "2"}``)."""
    all_labels = {HOSTNAME: name, **({ZONE: zone} if zone else {}), **(labels or {})}
    return msgspec.convert(
        {
            "metadata": {"name": name, "labels": all_labels},
            "spec": {"taints": taints, "unschedulable": unschedulable},
            "status": {
                "allocatable": {"cpu": cpu, "memory": memory, "pods": pods, **resources},
                "images": images,
                "declaredFeatures": declared_features,
            },
        },
        Node,
    )


def pod(
    name: str = "web",
    *,
    namespace: str = "default",
    cpu: str | None = None,
    memory: str | None = None,
    labels: dict[str, str] | None = None,
    on: str | None = None,
    image: str = "registry.example/web:v1",
    ports: list[dict[str, Any]] | None = None,
    requests: dict[str, str] | None = None,
    metadata: dict[str, Any] | None = None,
    status: dict[str, Any] | None = None,
    **spec: Any,
) -> PodInfo:
    """Return a pod, running on the node `on` if given; extra keyword arguments are fields of its spec, in camelCase."""
    amounts = {**({"cpu": cpu} if cpu else {}), **({"memory": memory} if memory else {}), **(requests or {})}
    container = {"name": "main", "image": image, "resources": {"requests": amounts}, "ports": ports}
    obj = {
        "metadata": {"name": name, "namespace": namespace, "labels": labels, **(metadata or {})},
        "spec": {"containers": [container], "nodeName": on or "", **spec},
        "status": status or {"phase": "Running" if on else "Pending"},
    }
    return PodInfo(defaults.pod(msgspec.convert(obj, Pod)))


def cluster(*objects: Any, release: Release = NEWEST) -> Cluster:
    """Return a cluster of these nodes, pods and other API structs, in which the rules of a release hold."""
    made = Cluster(release)
    for obj in objects:
        if isinstance(obj, Node):
            made.add_node(obj)
    for obj in objects:
        if isinstance(obj, PodInfo):
            made.add_pod(obj)
        elif not isinstance(obj, Node):
            made.put(obj)
    return made


def handle(over: Cluster | None = None) -> ProfileHandle:
    """Return what a plugin that is made alone sees of a scheduler: a cluster, an empty one unless given."""
    over = over or Cluster()
    return ProfileHandle(over, Nominator(), Preemptors(over), Reporter())

"""Nodes: labels, taints, what they can hold, what they already have."""

from __future__ import annotations

import msgspec

from schedctl.api.meta import Int64, ObjectMeta, Struct
from schedctl.api.pods import ResourceList


class Taint(Struct, frozen=True):
    """``v1.Taint``."""

    key: str = ""
    value: str = ""
    effect: str = ""


class PodPreemptionPolicy(Struct, frozen=True):
    """``v1.NodePodPreemptionPolicy``: who has asked that no pod be evicted here for the sake of a resize."""

    disable_resize_preemption: list[str] | None = None


class NodeSpec(Struct, frozen=True):
    """``v1.NodeSpec``."""

    unschedulable: bool = False
    taints: list[Taint] | None = None
    pod_preemption_policy: PodPreemptionPolicy | None = None
    provider_id: str = msgspec.field(default="", name="providerID")


class ContainerImage(Struct, frozen=True):
    """An image on the node under all its names, size in bytes."""

    names: list[str] | None = None
    size_bytes: Int64 = 0


class NodeCondition(Struct, frozen=True):
    """One of the node's conditions; only explanations read them."""

    type: str = ""
    status: str = ""
    reason: str = ""


class NodeSystemInfo(Struct, frozen=True):
    """What a node is made of; only its kubelet's version is kept, by which the version of a cluster can be told."""

    kubelet_version: str = ""


class NodeStatus(Struct, frozen=True):
    """``v1.NodeStatus``."""

    allocatable: ResourceList | None = None
    capacity: ResourceList | None = None
    images: list[ContainerImage] | None = None
    conditions: list[NodeCondition] | None = None
    declared_features: list[str] | None = None
    node_info: NodeSystemInfo = NodeSystemInfo()


class Node(Struct, frozen=True):
    """``v1.Node``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

"""The changes to a cluster: cordons lifted, taints cleared, pods gone, features switched on, a node more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from schedctl.api.devices import ResourceSlice
from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.api.storage import CSINode
from schedctl.cache.cluster import Cluster
from schedctl.explain.changes import Change

UNSCHEDULABLE_TAINT = "node.kubernetes.io/unschedulable"
HOSTNAME = "kubernetes.io/hostname"
_replace = msgspec.structs.replace


@dataclass(frozen=True, slots=True)
class Uncordon(Change):
    """A cordoned node would do otherwise."""

    node: str

    kind: ClassVar[str] = "uncordon"
    effort: ClassVar[int] = 1

    @property
    def condition(self) -> str:
        """``node-3 were uncordoned``."""
        return f"{self.node} were uncordoned"

    @property
    def command(self) -> str:
        """``kubectl uncordon node-3``."""
        return f"kubectl uncordon {self.node}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Lift the cordon, and the taint that comes with it."""
        _change_node(cluster, self.node, lambda node: _untainted(node, UNSCHEDULABLE_TAINT))
        _change_node(cluster, self.node, lambda node: _replace(node, spec=_replace(node.spec, unschedulable=False)))
        return pod


@dataclass(frozen=True, slots=True)
class ClearTaint(Change):
    """A taint that Kubernetes itself put on a node because of its condition keeps the pod off."""

    node: str
    key: str

    kind: ClassVar[str] = "clear-taint"
    effort: ClassVar[int] = 2

    @property
    def condition(self) -> str:
        """``node-3 lost its taint node.kubernetes.io/not-ready``."""
        return f"{self.node} lost its taint {self.key}"

    @property
    def command(self) -> str:
        """``kubectl describe node node-3``."""
        return f"kubectl describe node {self.node}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Take the taint off the node."""
        _change_node(cluster, self.node, lambda node: _untainted(node, self.key))
        return pod


@dataclass(frozen=True, slots=True)
class RemovePods(Change):
    """Running pods hold a port the pod needs, or it and they must not meet."""

    pods: tuple[str, ...]

    kind: ClassVar[str] = "remove-pods"
    effort: ClassVar[int] = 4

    @property
    def condition(self) -> str:
        """``pod shop/db-0 were not there``."""
        return f"pod{'s' if len(self.pods) > 1 else ''} {' and '.join(self.pods)} were not there"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Remove the pods."""
        for key in self.pods:
            row = cluster.pod_table.row_of.get(key)
            info = cluster.pod_table.infos[row] if row is not None else None
            if info is not None:
                cluster.remove_pod(info)
        return pod


@dataclass(frozen=True, slots=True)
class DeclareFeatures(Change):
    """The kubelet of a node that would do otherwise lacks features the pod needs, or has them switched off."""

    node: str
    features: tuple[str, ...]

    kind: ClassVar[str] = "declare-features"
    effort: ClassVar[int] = 5

    @property
    def condition(self) -> str:
        """``the kubelet of node-3 had UserNamespacesHostNetworkSupport``."""
        return f"the kubelet of {self.node} had {' and '.join(self.features)}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Let the node declare the features."""

        def declaring(node: Node) -> Node:
            declared = sorted({*(node.status.declared_features or ()), *self.features})
            return _replace(node, status=_replace(node.status, declared_features=declared))

        _change_node(cluster, self.node, declaring)
        return pod


@dataclass(frozen=True, slots=True)
class AddNode(Change):
    """The nodes that would do are full."""

    like: str

    kind: ClassVar[str] = "add-node"
    effort: ClassVar[int] = 6

    @property
    def condition(self) -> str:
        """``there were another node like node-3``."""
        return f"there were another node like {self.like}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Add an empty node with the labels, taints, size, CSI drivers and devices of the other one."""
        model = cluster.node_table.objects[cluster.node_table.row_of[self.like]]
        name = f"another-{self.like}"
        metadata = _replace(model.metadata, name=name, uid="", labels={**(model.metadata.labels or {}), HOSTNAME: name})
        cluster.add_node(_replace(model, metadata=metadata))
        drivers = cluster.get(CSINode, self.like)
        if drivers is not None:
            cluster.put(_replace(drivers, metadata=_replace(drivers.metadata, name=name, uid="")))
        slices = [each for each in cluster.every(ResourceSlice).values() if each.spec.node_name == self.like]
        for each in slices:
            spec = _replace(
                each.spec, node_name=name, pool=_replace(each.spec.pool, name=f"another-{each.spec.pool.name}")
            )
            cluster.put(
                _replace(
                    each, metadata=_replace(each.metadata, name=f"another-{each.metadata.name}", uid=""), spec=spec
                )
            )
        return pod


def _change_node(cluster: Cluster, name: str, change: Callable[[Node], Node]) -> None:
    cluster.add_node(change(cluster.node_table.objects[cluster.node_table.row_of[name]]))


def _untainted(node: Node, key: str) -> Node:
    kept = [taint for taint in node.spec.taints or () if taint.key != key]
    return _replace(node, spec=_replace(node.spec, taints=kept or None))

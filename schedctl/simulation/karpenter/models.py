"""A cluster as Karpenter keeps it: nodes with what is left of them, NodePools, and what DaemonSets take of a node."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from schedctl.api import node_labels, topology
from schedctl.api.autoscalers import NodeClaim
from schedctl.api.meta import Namespace, controller_of
from schedctl.api.nodes import Taint
from schedctl.api.resources import allocatable
from schedctl.api.selectors import LabelQuery
from schedctl.api.workloads import DaemonSet
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.simulation.karpenter.offers import NODES, Pool
from schedctl.simulation.karpenter.value_sets import Requirements, of_labels
from schedctl.simulation.karpenter.waiting_pods import WaitingPod, waiting_pod
from schedctl.workloads import pod_templates

_INITIALIZED = "karpenter.sh/initialized"
_EPHEMERAL = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_EPHEMERAL_TAINTS = (*_EPHEMERAL, "node.cloudprovider.kubernetes.io/uninitialized", "karpenter.sh/unregistered")


@dataclass(slots=True)
class ModelNode:
    """A node that is there, or on its way.

    Attributes:
        name: its name.
        labels, taints: of it.
        allocatable: what pods can have of it.
        capacity: what it counts for in the limits of its pool.
        pods: those that run on it.
        exists: whether it is there; else a NodeClaim says what it is going to be like.
        initialized: whether it is ready for pods; those that are not come last.
        price: what it costs per hour, None where that is not known.
        requirements: what its labels come to.
    """

    name: str
    labels: Mapping[str, str]
    taints: Sequence[Taint]
    allocatable: Mapping[str, int]
    capacity: Mapping[str, int]
    pods: list[PodInfo] = field(default_factory=list)
    exists: bool = True
    initialized: bool = True
    price: float | None = None
    requirements: Requirements = field(init=False)

    def __post_init__(self) -> None:
        self.requirements = of_labels(self.labels)

    @property
    def pool(self) -> str:
        """The NodePool that it is of, "" for none."""
        return self.labels.get(node_labels.KARPENTER_POOL, "")

    @property
    def host(self) -> str:
        """Its host name."""
        return self.labels.get(topology.HOSTNAME) or self.name

    def rescheduled(self) -> list[PodInfo]:
        """Return the pods that find another node when this one goes: not those of DaemonSets, nor the kubelet's."""
        return [info for info in self.pods if not info.is_terminating and owner_kind(info) not in ("DaemonSet", "Node")]


class Model(msgspec.Struct):
    """A cluster as Karpenter keeps it.

    Attributes:
        nodes: by name.
        pools: in the order in which they are asked.
        daemons: a pod of each DaemonSet.
        namespaces: the labels of each namespace.
    """

    nodes: dict[str, ModelNode]
    pools: Sequence[Pool]
    daemons: Sequence[WaitingPod] = ()
    namespaces: Mapping[str, Mapping[str, str]] = msgspec.field(default_factory=dict)

    def namespaces_of(self, selector: LabelQuery) -> frozenset[str]:
        """Return the namespaces that a selector selects."""
        if selector.nothing:
            return frozenset()
        return frozenset(name for name, labels in self.namespaces.items() if selector.matches(labels))

    def left_of(self, pool: Pool, without: Collection[str] = ()) -> dict[str, int]:
        """Return what the limits of a pool leave once some nodes have gone."""
        left = dict(pool.limits)
        if not left:
            return left
        for node in self.nodes.values():
            if node.name not in without and node.pool == pool.name:
                for name in left:
                    left[name] -= 1 if name == NODES else node.capacity.get(name, 0)
        return left


def model_of(cluster: Cluster, pools: Sequence[Pool], prices: Mapping[str, float | None]) -> Model:
    """Return a cluster as Karpenter keeps it.

    Args:
        cluster: its nodes, pods, NodeClaims and DaemonSets.
        pools: what may be launched.
        prices: what nodes cost.
    """
    nodes = {name: _node(cluster, name, prices.get(name)) for name in sorted(cluster.node_table.row_of)}
    nodes |= {node.name: node for node in _claimed(cluster)}
    namespaces = {each.metadata.name: each.metadata.labels or {} for each in cluster.every(Namespace).values()}
    daemons = [
        waiting_pod(PodInfo(pod_templates.pod_of(each, cluster).pod)) for each in cluster.every(DaemonSet).values()
    ]
    return Model(nodes, pools, daemons, namespaces)


def owner_kind(info: PodInfo) -> str:
    """Return the kind of what owns a pod, "" for nothing."""
    owner = controller_of(info.pod)
    return owner.kind if owner is not None else ""


def _node(cluster: Cluster, name: str, price: float | None) -> ModelNode:
    node = cluster.node_table.objects[cluster.node_table.row_of[name]]
    labels = node.metadata.labels or {}
    offered = dict(allocatable(node.status.allocatable))
    initialized = not labels.get(node_labels.KARPENTER_POOL) or labels.get(_INITIALIZED, "true") == "true"
    taints = list(node.spec.taints or ())
    if not initialized:
        taints = [each for each in taints if each.key not in _EPHEMERAL_TAINTS]
    return ModelNode(
        name,
        labels,
        taints,
        offered,
        dict(allocatable(node.status.capacity or node.status.allocatable)),
        sorted(cluster.pod_table.on(cluster.node_table.row_of[name]), key=lambda info: info.key),
        initialized=initialized,
        price=price,
    )


def _claimed(cluster: Cluster) -> Iterator[ModelNode]:
    """Yield the nodes that were launched and have not joined; a claim without a machine says nothing."""
    for claim in cluster.every(NodeClaim).values():
        status, metadata = claim.status, claim.metadata
        is_launched = status.allocatable and metadata.deletion_timestamp is None
        if not is_launched or status.node_name in cluster.node_table.row_of:
            continue
        offered = dict(allocatable(status.allocatable))
        capacity = dict(allocatable(status.capacity)) or offered
        taints = claim.spec.taints or ()
        yield ModelNode(
            metadata.name, metadata.labels or {}, taints, offered, capacity, exists=False, initialized=False
        )

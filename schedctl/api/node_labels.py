"""The labels by which providers tell groups of nodes apart, and those that say what a node is."""

from __future__ import annotations

from collections.abc import Mapping

POOL_LABELS = (
    "karpenter.sh/nodepool",
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "doks.digitalocean.com/node-pool",
    "lke.linode.com/pool-id",
    "k8s.scaleway.com/pool-name",
    "oke.oraclecloud.com/pool.name",
    "cattle.io/node-pool",
    "node.cluster.x-k8s.io/pool",
    "machine-pool",
    "node-pool",
    "nodepool",
    "node-group",
    "nodegroup",
    "pool",
)
"""Labels by which clusters tell their node pools apart, those of providers first."""
KARPENTER_POOL = POOL_LABELS[0]
INSTANCE_TYPE, BETA_INSTANCE_TYPE = "node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"
ARCHITECTURE, OPERATING_SYSTEM = "kubernetes.io/arch", "kubernetes.io/os"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
SPOT, ON_DEMAND = "spot", "on-demand"
_CAPACITY_TYPES = (
    (CAPACITY_TYPE, SPOT),
    ("eks.amazonaws.com/capacityType", "SPOT"),
    ("cloud.google.com/gke-spot", "true"),
    ("kubernetes.azure.com/scalesetpriority", "spot"),
)
"""A label and the value by which a provider says that a node is spot capacity."""
_CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")


def instance_type_of(labels: Mapping[str, str] | None) -> str:
    """Return the instance type that a node names, "" for none."""
    labels = labels or {}
    return labels.get(INSTANCE_TYPE) or labels.get(BETA_INSTANCE_TYPE, "")


def is_spot(labels: Mapping[str, str] | None) -> bool:
    """Return whether a node is spot capacity, as far as its labels say."""
    return any((labels or {}).get(label) == value for label, value in _CAPACITY_TYPES)


def is_control_plane(labels: Mapping[str, str] | None) -> bool:
    """Return whether a node is one of the control plane, which no autoscaler adds or removes."""
    return any(label in (labels or {}) for label in _CONTROL_PLANE)

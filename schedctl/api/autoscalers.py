"""What node autoscalers keep in a cluster: Karpenter's pools and claims, Cluster API's machines, one ConfigMap.

No kube-scheduler reads any of it. `KINDS` are read beside Kubernetes' own where somebody asks about new nodes, and
snapshots hold them.
"""

from __future__ import annotations

import msgspec

from schedctl.api.kinds import Kind
from schedctl.api.meta import Int32, Int64, ObjectMeta, Struct
from schedctl.api.nodes import Taint
from schedctl.api.pods import ResourceList

KARPENTER, CLUSTER_API = "karpenter.sh", "cluster.x-k8s.io"


class Requirement(Struct, frozen=True):
    """What the nodes of a NodePool have: a label and its values."""

    key: str = ""
    operator: str = ""
    values: list[str] | None = None
    min_values: Int32 | None = None


class NodeClassReference(Struct, frozen=True):
    """The object that says how a cloud makes the nodes."""

    group: str = ""
    kind: str = ""
    name: str = ""


class NodeClaimSpec(Struct, frozen=True):
    """``karpenter.sh/v1.NodeClaimSpec``, which the template of a NodePool has as well."""

    requirements: list[Requirement] | None = None
    taints: list[Taint] | None = None
    startup_taints: list[Taint] | None = None
    node_class_ref: NodeClassReference | None = None


class NodeClaimTemplate(Struct, frozen=True):
    """The template of a NodePool."""

    metadata: ObjectMeta = ObjectMeta()
    spec: NodeClaimSpec = NodeClaimSpec()


class DisruptionBudget(Struct, frozen=True):
    """How many nodes of a pool may be disrupted at a time, a number or a percentage."""

    nodes: str | int = "10%"
    reasons: list[str] | None = None
    schedule: str | None = None
    duration: str | None = None


class Disruption(Struct, frozen=True):
    """When nodes of a pool may be disrupted."""

    consolidation_policy: str = "WhenEmptyOrUnderutilized"
    consolidate_after: str | None = None
    budgets: list[DisruptionBudget] | None = None


class NodePoolSpec(Struct, frozen=True):
    """``karpenter.sh/v1.NodePoolSpec``; `replicas` makes it a static pool."""

    template: NodeClaimTemplate = NodeClaimTemplate()
    disruption: Disruption = Disruption()
    limits: ResourceList | None = None
    weight: Int32 | None = None
    replicas: Int64 | None = None


class NodePoolCondition(Struct, frozen=True):
    """Whether something is true of a pool, as ``Ready`` is."""

    type: str = ""
    status: str = ""


class NodePoolStatus(Struct, frozen=True):
    """What the nodes of a pool have together, and whether it is ready."""

    resources: ResourceList | None = None
    conditions: list[NodePoolCondition] | None = None


class NodePool(Struct, frozen=True):
    """``karpenter.sh/v1.NodePool``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: NodePoolSpec = NodePoolSpec()
    status: NodePoolStatus = NodePoolStatus()


class NodeClaimStatus(Struct, frozen=True):
    """The machine that was launched for a claim."""

    node_name: str = ""
    capacity: ResourceList | None = None
    allocatable: ResourceList | None = None


class NodeClaim(Struct, frozen=True):
    """``karpenter.sh/v1.NodeClaim``: a node that Karpenter has asked for."""

    metadata: ObjectMeta = ObjectMeta()
    spec: NodeClaimSpec = NodeClaimSpec()
    status: NodeClaimStatus = NodeClaimStatus()


class KubeletReservations(Struct, frozen=True):
    """What the kubelets of a node class keep from pods."""

    max_pods: Int32 | None = None
    pods_per_core: Int32 | None = None
    system_reserved: ResourceList | None = None
    kube_reserved: ResourceList | None = None
    eviction_hard: dict[str, str] | None = None


class EC2NodeClassSpec(Struct, frozen=True):
    """``karpenter.k8s.aws/v1.EC2NodeClassSpec``, as far as it changes what fits on a node."""

    kubelet: KubeletReservations | None = None


class Subnet(Struct, frozen=True):
    """A subnet in which nodes of a node class are made."""

    zone: str = ""


class EC2NodeClassStatus(Struct, frozen=True):
    """What AWS has for a node class."""

    subnets: list[Subnet] | None = None


class EC2NodeClass(Struct, frozen=True):
    """``karpenter.k8s.aws/v1.EC2NodeClass``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: EC2NodeClassSpec = EC2NodeClassSpec()
    status: EC2NodeClassStatus = EC2NodeClassStatus()


class MachineGroupSpec(Struct, frozen=True):
    """The spec of a MachineDeployment, MachineSet or MachinePool."""

    replicas: Int32 | None = None


class MachineDeployment(Struct, frozen=True):
    """``cluster.x-k8s.io.MachineDeployment``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: MachineGroupSpec = MachineGroupSpec()


class MachineSet(Struct, frozen=True):
    """``cluster.x-k8s.io.MachineSet``, or OpenShift's."""

    metadata: ObjectMeta = ObjectMeta()
    spec: MachineGroupSpec = MachineGroupSpec()


class MachinePool(Struct, frozen=True):
    """``cluster.x-k8s.io.MachinePool``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: MachineGroupSpec = MachineGroupSpec()


class ConfigMap(Struct, frozen=True):
    """``v1.ConfigMap``, in one of which Cluster Autoscaler reports the sizes of its groups."""

    metadata: ObjectMeta = ObjectMeta()
    data: dict[str, str] | None = msgspec.field(default=None)


MachineGroup = MachineDeployment | MachineSet | MachinePool
STATUS_NAME = "cluster-autoscaler-status"
"""The name of the ConfigMap, in the namespace of the autoscaler."""
_STATUS_NAMESPACE = "kube-system"
_CLUSTER_API_VERSIONS = (f"{CLUSTER_API}/v1beta1",)

KINDS = (
    Kind(f"{KARPENTER}/v1", "NodePool", NodePool, namespaced=False, served=(f"{KARPENTER}/v1beta1",)),
    Kind(f"{KARPENTER}/v1", "NodeClaim", NodeClaim, namespaced=False, served=(f"{KARPENTER}/v1beta1",)),
    Kind("karpenter.k8s.aws/v1", "EC2NodeClass", EC2NodeClass, namespaced=False),
    Kind(f"{CLUSTER_API}/v1beta2", "MachineDeployment", MachineDeployment, served=_CLUSTER_API_VERSIONS),
    Kind(
        f"{CLUSTER_API}/v1beta2",
        "MachineSet",
        MachineSet,
        served=(*_CLUSTER_API_VERSIONS, "machine.openshift.io/v1beta1"),
    ),
    Kind(f"{CLUSTER_API}/v1beta2", "MachinePool", MachinePool, served=_CLUSTER_API_VERSIONS),
    Kind("v1", "ConfigMap", ConfigMap, only=f"{_STATUS_NAMESPACE}/{STATUS_NAME}"),
)
"""All of them; a kind that a cluster does not serve has no objects."""

"""Pods and everything nested in them that scheduling reads."""

from __future__ import annotations

import msgspec

from schedctl.api.meta import Int32, Int64, LabelSelector, ObjectMeta, Quantity, Struct, Time

ResourceList = dict[str, Quantity]
"""Resource name to quantity as written."""


class NodeSelectorRequirement(Struct, frozen=True):
    """One requirement on a node's labels or fields: In, NotIn, Exists, DoesNotExist, Gt or Lt."""

    key: str
    operator: str
    values: list[str] | None = None


class NodeSelectorTerm(Struct, frozen=True):
    """Requirements that must all hold; a term without any matches no node."""

    match_expressions: list[NodeSelectorRequirement] | None = None
    match_fields: list[NodeSelectorRequirement] | None = None


class NodeSelector(Struct, frozen=True):
    """Terms of which one must hold."""

    node_selector_terms: list[NodeSelectorTerm] | None = None


class PreferredSchedulingTerm(Struct, frozen=True):
    """A node selector term and what meeting it is worth, 1 to 100."""

    weight: Int32 = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(Struct, frozen=True):
    """``v1.NodeAffinity``."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: list[PreferredSchedulingTerm] | None = None


class PodAffinityTerm(Struct, frozen=True):
    """Pods (by labels and namespace) and the topology in which to be with or away from them."""

    topology_key: str = ""
    label_selector: LabelSelector | None = None
    namespaces: list[str] | None = None
    namespace_selector: LabelSelector | None = None
    match_label_keys: list[str] | None = None
    mismatch_label_keys: list[str] | None = None


class WeightedPodAffinityTerm(Struct, frozen=True):
    """A pod affinity term and what meeting it is worth, 1 to 100."""

    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(Struct, frozen=True):
    """``v1.PodAffinity``; ``v1.PodAntiAffinity`` has the same fields."""

    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] | None = None
    preferred_during_scheduling_ignored_during_execution: list[WeightedPodAffinityTerm] | None = None


class Affinity(Struct, frozen=True):
    """``v1.Affinity``."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Toleration(Struct, frozen=True):
    """``v1.Toleration``: without an operator it is Equal, without a key and with Exists it tolerates everything."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class TopologySpreadConstraint(Struct, frozen=True):
    """``v1.TopologySpreadConstraint``."""

    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: list[str] | None = None


class ContainerPort(Struct, frozen=True):
    """``v1.ContainerPort``; only one with a host port takes part in scheduling."""

    container_port: Int32 = 0
    host_port: Int32 = 0
    host_ip: str = msgspec.field(default="", name="hostIP")
    protocol: str = ""


class ContainerResourceClaim(Struct, frozen=True):
    """A container's use of one of the pod's resource claims."""

    name: str = ""
    request: str = ""


class ResourceRequirements(Struct, frozen=True):
    """``v1.ResourceRequirements``, of a container or of a whole pod."""

    requests: ResourceList | None = None
    limits: ResourceList | None = None
    claims: list[ContainerResourceClaim] | None = None


class ContainerRestartRule(Struct, frozen=True):
    """What happens when a container exits; restarting all containers is a feature not every node has."""

    action: str = ""


class VolumeMount(Struct, frozen=True):
    """A mounted volume; options of a bind mount are a feature not every node has."""

    name: str = ""
    bind_mount_options: list[str] | None = None


class Container(Struct, frozen=True):
    """A container or init container; ``restart_policy: Always`` makes an init container a sidecar."""

    name: str = ""
    image: str = ""
    resources: ResourceRequirements | None = None
    ports: list[ContainerPort] | None = None
    restart_policy: str | None = None
    restart_policy_rules: list[ContainerRestartRule] | None = None
    volume_mounts: list[VolumeMount] | None = None


class EphemeralContainer(Struct, frozen=True):
    """A container added to a running pod for debugging; it takes no resources."""

    volume_mounts: list[VolumeMount] | None = None


class PersistentVolumeClaimVolumeSource(Struct, frozen=True):
    """A volume that is a claim in the pod's namespace."""

    claim_name: str = ""
    read_only: bool = False


class PersistentVolumeClaimSpec(Struct, frozen=True):
    """``v1.PersistentVolumeClaimSpec``."""

    access_modes: list[str] | None = None
    selector: LabelSelector | None = None
    resources: ResourceRequirements | None = None
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimTemplate(Struct, frozen=True):
    """The claim an ephemeral volume brings along."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class EphemeralVolumeSource(Struct, frozen=True):
    """A volume whose claim is made with the pod, named ``<pod>-<volume>``."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class GCEPersistentDiskVolumeSource(Struct, frozen=True):
    """In-line GCE disk; two pods on a node may share it only read-only."""

    pd_name: str = msgspec.field(default="", name="pdName")
    read_only: bool = False


class AWSElasticBlockStoreVolumeSource(Struct, frozen=True):
    """In-line EBS volume; never shared on a node."""

    volume_id: str = msgspec.field(default="", name="volumeID")
    read_only: bool = False


class ISCSIVolumeSource(Struct, frozen=True):
    """In-line iSCSI target, known by its IQN."""

    target_portal: str = ""
    iqn: str = ""
    lun: Int32 = 0
    read_only: bool = False


class RBDVolumeSource(Struct, frozen=True):
    """In-line Ceph RBD image, known by monitors, pool (``rbd`` where none is given) and image."""

    monitors: list[str] | None = None
    image: str = ""
    pool: str = ""
    read_only: bool = False


class AzureDiskVolumeSource(Struct, frozen=True):
    """In-line Azure disk; counted against the attach limit of its CSI driver, which wants the kind Managed."""

    disk_name: str = ""
    disk_uri: str = msgspec.field(default="", name="diskURI")
    kind: str | None = None


class CinderVolumeSource(Struct, frozen=True):
    """In-line Cinder volume; counted against the attach limit of its CSI driver."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class PortworxVolumeSource(Struct, frozen=True):
    """In-line Portworx volume; counted against the attach limit of its CSI driver."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class AzureFileVolumeSource(Struct, frozen=True):
    """In-line Azure file share; it is not attached to nodes, so nothing limits it."""

    share_name: str = ""


class VsphereVirtualDiskVolumeSource(Struct, frozen=True):
    """In-line vSphere disk; the scheduler leaves its attach limit alone."""

    volume_path: str = ""


class CSIVolumeSource(Struct, frozen=True):
    """In-line ephemeral CSI volume."""

    driver: str = ""


class ImageVolumeSource(Struct, frozen=True):
    """A volume that is a container image; ImageLocality counts it."""

    reference: str = ""


class HostPathVolumeSource(Struct, frozen=True):
    """A folder of the node; which one is nothing to scheduling."""


class EmptyDirVolumeSource(Struct, frozen=True):
    """A folder of the node that lives as long as the pod; draining a node asks whether it may be lost."""


class Volume(Struct, frozen=True):
    """``v1.Volume``, with the sources that scheduling and draining read."""

    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    image: ImageVolumeSource | None = None
    empty_dir: EmptyDirVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None


class PodResourceClaim(Struct, frozen=True):
    """A resource claim of the pod, by name or from a template."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSchedulingGate(Struct, frozen=True):
    """A gate that keeps the pod out of the queue until somebody removes it."""

    name: str = ""


class PodSchedulingGroup(Struct, frozen=True):
    """The pod group (KEP-4671) a pod is scheduled with."""

    pod_group_name: str | None = None


class PodOS(Struct, frozen=True):
    """The operating system a pod declares."""

    name: str = ""


class PodSpec(Struct, frozen=True):
    """``v1.PodSpec``, as far as scheduling reads it."""

    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    ephemeral_containers: list[EphemeralContainer] | None = None
    node_name: str = ""
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: list[Toleration] | None = None
    topology_spread_constraints: list[TopologySpreadConstraint] | None = None
    scheduler_name: str = ""
    priority: Int32 | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    overhead: ResourceList | None = None
    resources: ResourceRequirements | None = None
    host_network: bool = False
    host_users: bool | None = None
    scheduling_gates: list[PodSchedulingGate] | None = None
    volumes: list[Volume] | None = None
    resource_claims: list[PodResourceClaim] | None = None
    runtime_class_name: str | None = None
    restart_policy: str = ""
    termination_grace_period_seconds: Int64 | None = None
    active_deadline_seconds: Int64 | None = None
    scheduling_group: PodSchedulingGroup | None = None
    os: PodOS | None = None


class PodCondition(Struct, frozen=True):
    """One of the pod's conditions; preemption, resizing and whoever looks back at a decision read them."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: Time | None = None


class ContainerStateWaiting(Struct, frozen=True):
    """Why a container has not started yet."""

    reason: str = ""
    message: str = ""


class ContainerStateRunning(Struct, frozen=True):
    """A container runs; since when is not kept, which would make every status one of its own."""


class ContainerStateTerminated(Struct, frozen=True):
    """How a container ended."""

    exit_code: Int32 = 0
    reason: str = ""
    message: str = ""


class ContainerState(Struct, frozen=True):
    """``v1.ContainerState``, one of the three; only explanations of bound pods read it."""

    waiting: ContainerStateWaiting | None = None
    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None


class ContainerStatus(Struct, frozen=True):
    """What the kubelet says of a container; in-place resize makes requests the larger of spec and status."""

    name: str = ""
    state: ContainerState | None = None
    last_state: ContainerState | None = None
    restart_count: Int32 = 0
    resources: ResourceRequirements | None = None
    allocated_resources: ResourceList | None = None


class PodResourceClaimStatus(Struct, frozen=True):
    """The claim that was made from a template for this pod."""

    name: str = ""
    resource_claim_name: str | None = None


class ContainerExtendedResourceRequest(Struct, frozen=True):
    """Which container asked for which extended resource through which request of the special claim."""

    container_name: str = ""
    resource_name: str = ""
    request_name: str = ""


class PodExtendedResourceClaimStatus(Struct, frozen=True):
    """The special claim that backs a pod's extended resources by devices."""

    resource_claim_name: str = ""
    request_mappings: list[ContainerExtendedResourceRequest] | None = None


class NodeAllocatableMappedResources(Struct, frozen=True):
    """How much of a resource of the node the devices of a claim stand for."""

    name: str = ""
    quantity: Quantity | None = None


class NodeAllocatableOverheadResources(Struct, frozen=True):
    """What the devices of a claim cost of a resource of the node, once and for each container that uses them."""

    name: str = ""
    per_pod: Quantity | None = None
    per_container: Quantity | None = None


class NodeAllocatableResourceClaimStatus(Struct, frozen=True):
    """What a claim of the pod takes of the resources of its node (KEP-5517)."""

    resource_claim_name: str = ""
    containers: list[str] | None = None
    mapping: list[NodeAllocatableMappedResources] | None = None
    overhead: list[NodeAllocatableOverheadResources] | None = None


class PodStatus(Struct, frozen=True):
    """``v1.PodStatus``, as far as scheduling and explanations of bound pods read it."""

    phase: str = ""
    reason: str = ""
    message: str = ""
    conditions: list[PodCondition] | None = None
    nominated_node_name: str = ""
    start_time: Time | None = None
    container_statuses: list[ContainerStatus] | None = None
    init_container_statuses: list[ContainerStatus] | None = None
    resize: str = ""
    resources: ResourceRequirements | None = None
    allocated_resources: ResourceList | None = None
    resource_claim_statuses: list[PodResourceClaimStatus] | None = None
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    node_allocatable_resource_claim_statuses: list[NodeAllocatableResourceClaimStatus] | None = None


FINISHED = ("Succeeded", "Failed")
"""The phases of pods that have run to their end; such pods take part in nothing."""


class Pod(Struct, frozen=True):
    """``v1.Pod``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def scheduled_condition(self) -> PodCondition | None:
        """The condition that says whether a node was found for it: by whom it was refused, or when it was bound."""
        return next((each for each in self.status.conditions or () if each.type == "PodScheduled"), None)

    @property
    def key(self) -> str:
        """``namespace/name``, which is how kube-scheduler and we name a pod in text."""
        return f"{self.metadata.namespace}/{self.metadata.name}"


class PodTemplateSpec(Struct, frozen=True):
    """The pod a workload makes."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()


class PodTemplate(Struct, frozen=True):
    """``v1.PodTemplate``."""

    metadata: ObjectMeta = ObjectMeta()
    template: PodTemplateSpec = PodTemplateSpec()


def is_pending_manifest(pod: Pod) -> bool:
    """Return whether a Pending pod is as somebody wrote it: neither an API server nor a kubelet has added anything."""
    status = pod.status
    reported = pod.metadata.uid or status.start_time or status.conditions or status.container_statuses
    return status.phase == "Pending" and not reported

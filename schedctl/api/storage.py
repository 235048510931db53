"""Storage: volumes, claims, classes, and what the CSI drivers of a node can hold.

The in-tree sources of a PersistentVolume are here only as far as the scheduler looks through them: it counts such a
volume under the handle it has after migration to CSI. In-line volumes of a pod, and what a claim asks for, are in
`schedctl.api.pods`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from schedctl.api import pods
from schedctl.api.meta import Int32, LabelSelector, ObjectMeta, ObjectReference, Quantity, Struct

WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"
"""The binding mode of classes whose claims wait for a pod."""
NO_PROVISIONER = "kubernetes.io/no-provisioner"
"""The provisioner of a StorageClass whose volumes are made by hand."""
SELECTED_NODE = "volume.kubernetes.io/selected-node"
"""The annotation of a claim that says for which node its volume is to be made."""
CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
"""The annotation that named the class of a volume or claim before there was a field; it still goes first."""
DEFAULT_CLASS_ANNOTATIONS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
"""Either makes a class the one of claims that name none."""


class CSIPersistentVolumeSource(Struct, frozen=True):
    """A volume of a CSI driver, known by driver and handle."""

    driver: str = ""
    volume_handle: str = ""


class PersistentVolumeDisk(Struct, frozen=True):
    """EBS, Cinder and Portworx volumes: each is known by its ``volumeID``."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class PersistentVolumeGCEDisk(Struct, frozen=True):
    """A GCE disk, known by its name."""

    pd_name: str = ""


class PersistentVolumeAzureDisk(Struct, frozen=True):
    """An Azure disk, known by its URI; only a disk of kind Managed has a CSI driver."""

    disk_name: str = ""
    disk_uri: str = msgspec.field(default="", name="diskURI")
    kind: str | None = None


class PersistentVolumeAzureFile(Struct, frozen=True):
    """An Azure file share."""

    share_name: str = ""
    secret_name: str = ""
    secret_namespace: str | None = None


class PersistentVolumeVsphere(Struct, frozen=True):
    """A vSphere disk, known by its path."""

    volume_path: str = ""


class LocalVolumeSource(Struct, frozen=True):
    """A disk or folder of one node; the volume's node affinity says which."""

    path: str = ""


class VolumeNodeAffinity(Struct, frozen=True):
    """The nodes a volume can be reached from."""

    required: pods.NodeSelector | None = None


class PersistentVolumeSpec(Struct, frozen=True):
    """``v1.PersistentVolumeSpec``, with the sources that scheduling reads."""

    capacity: pods.ResourceList | None = None
    access_modes: list[str] | None = None
    claim_ref: ObjectReference | None = None
    storage_class_name: str = ""
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    csi: CSIPersistentVolumeSource | None = None
    aws_elastic_block_store: PersistentVolumeDisk | None = None
    gce_persistent_disk: PersistentVolumeGCEDisk | None = None
    azure_disk: PersistentVolumeAzureDisk | None = None
    azure_file: PersistentVolumeAzureFile | None = None
    cinder: PersistentVolumeDisk | None = None
    portworx_volume: PersistentVolumeDisk | None = None
    vsphere_volume: PersistentVolumeVsphere | None = None
    local: LocalVolumeSource | None = None


class PersistentVolumeStatus(Struct, frozen=True):
    """``v1.PersistentVolumeStatus``; a claim is bound only to a volume in phase Available."""

    phase: str = ""


class PersistentVolume(Struct, frozen=True):
    """``v1.PersistentVolume``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()


class PersistentVolumeClaimStatus(Struct, frozen=True):
    """``v1.PersistentVolumeClaimStatus``; a claim in phase Lost keeps its pod from every node."""

    phase: str = ""
    access_modes: list[str] | None = None
    capacity: pods.ResourceList | None = None


class PersistentVolumeClaim(Struct, frozen=True):
    """``v1.PersistentVolumeClaim``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: pods.PersistentVolumeClaimSpec = pods.PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


def default_class(classes: Iterable[StorageClass]) -> str:
    """Return the class that claims get which name none: the newest default, the first by name; "" for none."""
    marked = [each for each in classes if _is_default(each.metadata.annotations or {})]
    newest = max((each.metadata.creation_timestamp or "" for each in marked), default="")
    return min(
        (each.metadata.name for each in marked if (each.metadata.creation_timestamp or "") == newest), default=""
    )


def _is_default(annotations: Mapping[str, str]) -> bool:
    return any(annotations.get(key) == "true" for key in DEFAULT_CLASS_ANNOTATIONS)


def class_of(obj: PersistentVolume | PersistentVolumeClaim) -> str:
    """Return the storage class of a volume or claim: the annotation of old, else the field; "" for none."""
    annotations = obj.metadata.annotations
    if annotations and CLASS_ANNOTATION in annotations:  # even an empty one
        return annotations[CLASS_ANNOTATION]
    return obj.spec.storage_class_name or ""


def claim_name(pod: pods.Pod, volume: pods.Volume) -> str | None:
    """Return the name of the claim behind a volume, None where it is none. An ephemeral one is named after the pod."""
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    return f"{pod.metadata.name}-{volume.name}" if volume.ephemeral is not None else None


class TopologySelectorLabelRequirement(Struct, frozen=True):
    """A label and the values of which a node must have one."""

    key: str = ""
    values: list[str] | None = None


class TopologySelectorTerm(Struct, frozen=True):
    """Requirements that must all hold; a class's ``allowedTopologies`` are alternatives of these."""

    match_label_expressions: list[TopologySelectorLabelRequirement] | None = None


class StorageClass(Struct, frozen=True):
    """``storage.k8s.io/v1.StorageClass``; an absent binding mode is Immediate."""

    metadata: ObjectMeta = ObjectMeta()
    provisioner: str = ""
    parameters: dict[str, str] | None = None
    volume_binding_mode: str | None = None
    allowed_topologies: list[TopologySelectorTerm] | None = None


class VolumeNodeResources(Struct, frozen=True):
    """How many volumes of a driver a node can attach; without a count there is no limit."""

    count: Int32 | None = None


class CSINodeDriver(Struct, frozen=True):
    """A CSI driver installed on a node."""

    name: str = ""
    node_id: str = msgspec.field(default="", name="nodeID")
    topology_keys: list[str] | None = None
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(Struct, frozen=True):
    """``storage.k8s.io/v1.CSINodeSpec``."""

    drivers: list[CSINodeDriver] | None = None


class CSINode(Struct, frozen=True):
    """``storage.k8s.io/v1.CSINode``, named like its node; an annotation lists the in-tree plugins migrated to CSI."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CSINodeSpec = CSINodeSpec()


class CSIDriverSpec(Struct, frozen=True):
    """``storage.k8s.io/v1.CSIDriverSpec``."""

    attach_required: bool | None = None
    storage_capacity: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CSIDriver(Struct, frozen=True):
    """``storage.k8s.io/v1.CSIDriver``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(Struct, frozen=True):
    """``storage.k8s.io/v1.CSIStorageCapacity``: what a driver can still provision for a class, and where."""

    metadata: ObjectMeta = ObjectMeta()
    node_topology: LabelSelector | None = None
    storage_class_name: str = ""
    capacity: Quantity | None = None
    maximum_volume_size: Quantity | None = None


class VolumeAttachmentSource(Struct, frozen=True):
    """Which volume is attached."""

    persistent_volume_name: str | None = None
    inline_volume_spec: PersistentVolumeSpec | None = None


class VolumeAttachmentSpec(Struct, frozen=True):
    """``storage.k8s.io/v1.VolumeAttachmentSpec``."""

    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()


class VolumeAttachment(Struct, frozen=True):
    """``storage.k8s.io/v1.VolumeAttachment``: a volume that takes one of a node's attach slots, whoever uses it."""

    metadata: ObjectMeta = ObjectMeta()
    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()

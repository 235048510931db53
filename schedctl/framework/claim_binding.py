"""A claim and its volume, bound to each other as the volume controller leaves them, and the volumes made for claims.

PreBind of VolumeBinding and ``workloads.volume_controller`` write them so.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from schedctl.api import annotation_keys, meta, storage
from schedctl.cache.cluster import Cluster
from schedctl.framework.csi_migration import BY_PLUGIN
from schedctl.framework.volume_matching import AVAILABLE, STORAGE, is_reserved_for

BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
_IN_TREE = "kubernetes.io/"
_PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
_PROVISIONER, _BETA_PROVISIONER = (
    "volume.kubernetes.io/storage-provisioner",
    "volume.beta.kubernetes.io/storage-provisioner",
)

T = TypeVar("T", storage.PersistentVolume, storage.PersistentVolumeClaim)


def fully_bound(claim: storage.PersistentVolumeClaim) -> bool:
    """Return whether a claim has a volume and the binding is over."""
    return bool(claim.spec.volume_name) and annotation_keys.BIND_COMPLETED in (claim.metadata.annotations or {})


def with_claim_ref(volume: storage.PersistentVolume, claim: storage.PersistentVolumeClaim) -> storage.PersistentVolume:
    """Return a volume with the reference to a claim, marked as put there by a controller; itself if it has it all."""
    metadata, replace = claim.metadata, msgspec.structs.replace
    before = volume.spec.claim_ref
    reference = meta.ObjectReference(
        api_version="v1",
        kind="PersistentVolumeClaim",
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid,
    )
    annotations = volume.metadata.annotations or {}
    changed = volume
    if before is None or (before.namespace, before.name, before.uid) != (
        reference.namespace,
        reference.name,
        reference.uid,
    ):
        changed = replace(changed, spec=replace(volume.spec, claim_ref=reference))
    if not is_reserved_for(volume, claim) and BOUND_BY_CONTROLLER not in annotations:
        changed = with_annotations(changed, {BOUND_BY_CONTROLLER: "yes"})
    return changed


def with_annotations(obj: T, annotations: dict[str, str]) -> T:
    """Return a volume or claim with further annotations."""
    replace = msgspec.structs.replace
    every = {**(obj.metadata.annotations or {}), **annotations}
    return replace(obj, metadata=replace(obj.metadata, annotations=every))


def bind(cluster: Cluster, volume: storage.PersistentVolume, claim: storage.PersistentVolumeClaim) -> None:
    """Put a volume and a claim into the cluster, bound to each other."""
    replace = msgspec.structs.replace
    volume = with_claim_ref(volume, claim)
    cluster.put(replace(volume, status=replace(volume.status, phase="Bound")))
    spec, status = volume.spec, claim.status
    # who names a volume in a claim has bound it, as far as the controller is concerned
    by = {} if claim.spec.volume_name else {BOUND_BY_CONTROLLER: "yes"}
    cluster.put(
        replace(
            with_annotations(claim, {annotation_keys.BIND_COMPLETED: "yes", **by}),
            spec=replace(claim.spec, volume_name=volume.metadata.name),
            status=replace(status, phase="Bound", access_modes=spec.access_modes, capacity=spec.capacity),
        )
    )


def provision(
    cluster: Cluster,
    claim: storage.PersistentVolumeClaim,
    storage_class: storage.StorageClass,
    reach: storage.VolumeNodeAffinity | None,
) -> storage.PersistentVolume:
    """Make a volume for a claim, bind it, and return it; what is left of a capacity is for the driver to publish.

    Args:
        cluster: where both are put.
        claim: the claim.
        storage_class: its class.
        reach: from where the volume can be reached, None for everywhere.
    """
    driver = driver_of(storage_class)  # with a slash in its name it is a provisioner of another kind, such as of NFS
    spec, metadata = claim.spec, claim.metadata
    # named after the claim's uid, as provisioners do
    name = "pvc-" + (metadata.uid or f"{metadata.namespace}-{metadata.name}").removeprefix("uid-").replace("/", "-")
    requests = spec.resources.requests if spec.resources is not None else None
    volume = storage.PersistentVolume(
        metadata=meta.ObjectMeta(name=name, annotations={_PROVISIONED_BY: driver}),
        spec=storage.PersistentVolumeSpec(
            capacity={STORAGE: (requests or {}).get(STORAGE, "0")},
            access_modes=spec.access_modes,
            storage_class_name=storage_class.metadata.name,
            volume_mode=spec.volume_mode,
            volume_attributes_class_name=spec.volume_attributes_class_name,
            node_affinity=reach,
            csi=None if "/" in driver else storage.CSIPersistentVolumeSource(driver=driver, volume_handle=name),
        ),
        status=storage.PersistentVolumeStatus(phase=AVAILABLE),
    )
    by = storage_class.provisioner
    bind(cluster, volume, with_annotations(claim, {_PROVISIONER: by, _BETA_PROVISIONER: by}))
    return volume


def is_provisioned(storage_class: storage.StorageClass) -> bool:
    """Return whether anybody makes volumes of a class: a CSI driver, or another provisioner outside of Kubernetes."""
    name = storage_class.provisioner
    return name in BY_PLUGIN or bool(name and not name.startswith(_IN_TREE))


def driver_of(storage_class: storage.StorageClass) -> str:
    """Return the CSI driver that makes the volumes of a class, which may still name the in-tree plugin before it."""
    migration = BY_PLUGIN.get(storage_class.provisioner)
    return migration.driver if migration is not None else storage_class.provisioner

"""Which volumes of CSI drivers a pod needs attached, as NodeVolumeLimits counts them.

A volume is known by its driver and its handle, so that a claim two pods share, or a disk that one pod names and another
claims, is one volume. `usage` counts those of running pods.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from schedctl.api import meta, pods, storage
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo
from schedctl.framework import csi_migration

COUNTED = frozenset(
    (csi_migration.EBS, csi_migration.GCE_PD, csi_migration.AZURE_DISK, csi_migration.CINDER, csi_migration.PORTWORX)
)
"""The migrations that count; vSphere disks and Azure file shares do not."""


class CSIVolume(NamedTuple):
    """A volume that takes one of a node's attach slots.

    Attributes:
        driver: the name of the CSI driver, or of whatever provisioner a class names.
        handle: the driver's name for the volume, or ``namespace/name`` of a claim that is not bound yet; where it does
            not matter which volume it is, its place among those of the pod.
        bound: whether it exists already.
    """

    driver: str
    handle: str | int
    bound: bool = True


class Fault(NamedTuple):
    """Why the volumes of a pod cannot be told.

    Attributes:
        text: what is wrong, as kube-scheduler words it; "" where a claim of the incoming pod is missing.
        claim: the claim it is about, as ``namespace/name``; "" for none.
    """

    text: str
    claim: str = ""


@dataclass(frozen=True, slots=True)
class Attachments:
    """The volumes of a pod.

    Attributes:
        volumes: each with the names it has in the pod, in their order there.
        fault: what is wrong with the first volume with which something is; those behind it are not looked at.
    """

    volumes: Mapping[CSIVolume, tuple[str, ...]]
    fault: Fault | None

    @property
    def content(self) -> Hashable:
        """All of it, as a value."""
        return tuple(self.volumes.items()), self.fault

    @property
    def drivers(self) -> list[str]:
        """The drivers of the volumes, each once."""
        return list(dict.fromkeys(volume.driver for volume in self.volumes))

    def of(self, driver: str) -> list[CSIVolume]:
        """Return the volumes of one driver."""
        return [volume for volume in self.volumes if volume.driver == driver]

    def names(self, driver: str) -> tuple[str, ...]:
        """Return what the pod calls the volumes of one driver."""
        return tuple(name for volume, names in self.volumes.items() if volume.driver == driver for name in names)


def is_attached(volume: pods.Volume) -> bool:
    """Return whether a volume is of a sort that may count: a claim, or an in-tree disk that has been migrated."""
    claimed = volume.persistent_volume_claim is not None or volume.ephemeral is not None
    return claimed or csi_migration.migration_of(volume) is not None


def attachments(cluster: ClusterView, info: PodInfo, *, migrating: bool, running: bool) -> Attachments:
    """Return the volumes a pod needs attached.

    Args:
        cluster: where the claims are.
        info: the pod.
        migrating: whether in-tree volumes count, as they do on a node that has a CSINode.
        running: whether it runs already, so that a claim that is not there is overlooked.
    """
    found: dict[CSIVolume, tuple[str, ...]] = {}
    for volume in info.pod.spec.volumes or ():
        counted = _volume(cluster, info, volume, migrating=migrating, running=running)
        if isinstance(counted, Fault):
            return Attachments(found, counted)
        if counted is not None:
            found[counted] = (*found.get(counted, ()), volume.name)
    return Attachments(found, None)


def _volume(
    cluster: ClusterView, info: PodInfo, volume: pods.Volume, *, migrating: bool, running: bool
) -> CSIVolume | Fault | None:
    name = storage.claim_name(info.pod, volume)
    if name is None:
        return _inline(volume) if migrating else None
    if not name:
        return Fault("PersistentVolumeClaim had no name")
    key = f"{info.namespace}/{name}"
    claim = cluster.get(storage.PersistentVolumeClaim, key)
    if claim is None:
        return None if running else Fault("", key)
    if volume.persistent_volume_claim is None and not meta.is_controlled_by(claim, info.pod):
        return Fault(f"PVC {key} was not created for pod {info.key} (pod is not owner)", key)
    return _volume_of_claim(cluster, claim, migrating=migrating)


def _inline(volume: pods.Volume) -> CSIVolume | Fault | None:
    migration = csi_migration.migration_of(volume)
    if migration not in COUNTED:
        return None
    try:
        return CSIVolume(migration.driver, csi_migration.inline_handle(volume))
    except csi_migration.UntranslatableError as fault:
        return Fault(f"converting volume({volume.name}) from inline to csi: {fault}")


def _volume_of_claim(
    cluster: ClusterView, claim: storage.PersistentVolumeClaim, *, migrating: bool
) -> CSIVolume | None:
    volume = cluster.get(storage.PersistentVolume, claim.spec.volume_name) if claim.spec.volume_name else None
    if volume is None:
        return _to_be_provisioned(cluster, claim, migrating=migrating)
    if volume.spec.csi is not None:
        driver, handle = volume.spec.csi.driver, volume.spec.csi.volume_handle
    else:
        # on a node that has a CSINode at all: its annotation that lists the migrated plugins is not looked at
        migration = csi_migration.migration_of(volume.spec)
        if not migrating or migration not in COUNTED:
            return None
        try:
            driver, handle = migration.driver, csi_migration.volume_handle(volume)
        except csi_migration.UntranslatableError:
            return None
    return CSIVolume(driver, handle) if driver and handle else None


def _to_be_provisioned(
    cluster: ClusterView, claim: storage.PersistentVolumeClaim, *, migrating: bool
) -> CSIVolume | None:
    storage_class = cluster.get(storage.StorageClass, storage.class_of(claim))
    if storage_class is None:
        return None
    # a claim that is not bound yet will be a volume of its own, of the driver that its class names
    driver = storage_class.provisioner
    migration = csi_migration.BY_PLUGIN.get(driver)
    if migration is not None:
        if not migrating or migration not in COUNTED:
            return None
        driver = migration.driver
    return CSIVolume(driver, meta.key_of(claim), bound=False) if driver else None

"""In-tree volume plugins whose work CSI drivers have taken over (KEP-625), and the handles their volumes have there.

The same disk, named in a pod, in a PersistentVolume or by its CSI handle, is one volume, counted with those of the
driver; the rules are those of ``k8s.io/csi-translation-lib``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from schedctl.api import topology, urls
from schedctl.api.pods import Volume
from schedctl.api.storage import PersistentVolume, PersistentVolumeSpec

_MANAGED, _SHARED = "Managed", "Shared"
_UNSPECIFIED = "UNSPECIFIED"
_EBS_ID = re.compile(r"vol-[^/]*")


class Migration(NamedTuple):
    """One in-tree plugin and its successor.

    Attributes:
        plugin: the name of the in-tree plugin, which classes give as their provisioner.
        driver: the name of the CSI driver.
        source: the field of a volume's source, in a pod as in a PersistentVolume.
        topology_key: the label by which the driver knows zones, "" where it has none.
    """

    plugin: str
    driver: str
    source: str
    topology_key: str


EBS = Migration("kubernetes.io/aws-ebs", "ebs.csi.aws.com", "aws_elastic_block_store", "topology.ebs.csi.aws.com/zone")
GCE_PD = Migration("kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "gce_persistent_disk", "topology.gke.io/zone")
AZURE_DISK = Migration(
    "kubernetes.io/azure-disk", "disk.csi.azure.com", "azure_disk", "topology.disk.csi.azure.com/zone"
)
AZURE_FILE = Migration("kubernetes.io/azure-file", "file.csi.azure.com", "azure_file", "")
CINDER = Migration(
    "kubernetes.io/cinder", "cinder.csi.openstack.org", "cinder", "topology.cinder.csi.openstack.org/zone"
)
PORTWORX = Migration("kubernetes.io/portworx-volume", "pxd.portworx.com", "portworx_volume", "")
VSPHERE = Migration(
    "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", "vsphere_volume", "topology.csi.vmware.com/zone"
)
# vSphere disks and Azure file shares are migrated too, but no plugin of the scheduler asks for their handles
MIGRATIONS = (EBS, GCE_PD, AZURE_DISK, AZURE_FILE, CINDER, PORTWORX, VSPHERE)
BY_PLUGIN = {migration.plugin: migration for migration in MIGRATIONS}


class UntranslatableError(ValueError):
    """A volume has no place with the CSI driver; the message is upstream's."""


def migration_of(source: Volume | PersistentVolumeSpec) -> Migration | None:
    """Return the migration of a volume in a pod, or of a PersistentVolume, None for any other kind of volume."""
    for migration in MIGRATIONS:
        if getattr(source, migration.source) is not None:
            return migration
    return None


def inline_handle(volume: Volume) -> str:
    """Return the CSI handle of an EBS, GCE, Azure, Cinder or Portworx disk named in a pod.

    Raises:
        UntranslatableError: there is none.
    """
    if volume.gce_persistent_disk is not None:
        return _gce_handle(volume.gce_persistent_disk.pd_name)
    return _handle(volume)


def volume_handle(volume: PersistentVolume) -> str:
    """Return the CSI handle of a PersistentVolume that is an EBS, GCE, Azure, Cinder or Portworx disk.

    Raises:
        UntranslatableError: there is none.
    """
    disk = volume.spec.gce_persistent_disk
    if disk is None:
        return _handle(volume.spec)
    labels = volume.metadata.labels or {}
    # csi-translation-lib reads the deprecated label first, and the current one where that is absent or empty
    zones = (labels.get(topology.BETA_ZONE) or labels.get(topology.ZONE, "")).split(topology.ZONE_SEPARATOR)
    if len(zones) > 1:
        return f"projects/{_UNSPECIFIED}/regions/{_gce_region(zones)}/disks/{disk.pd_name}"
    return _gce_handle(disk.pd_name, zones[0] or _UNSPECIFIED)


def _handle(source: Volume | PersistentVolumeSpec) -> str:
    if source.aws_elastic_block_store is not None:
        return _ebs_handle(source.aws_elastic_block_store.volume_id)
    if source.azure_disk is not None:
        kind = source.azure_disk.kind if source.azure_disk.kind is not None else _SHARED  # as the API server has it
        if kind.lower() != _MANAGED.lower():
            raise UntranslatableError(f"kind({kind}) is not supported in csi migration")
        return source.azure_disk.disk_uri
    disk = source.cinder or source.portworx_volume
    if disk is None:
        raise UntranslatableError("no in-tree disk")
    return disk.volume_id


def _ebs_handle(volume_id: str) -> str:
    """Return the handle of an EBS volume, which may be written ``aws://<zone>/<handle>``."""
    if not volume_id.startswith("aws://"):
        return volume_id
    wrong = "failed to translate Kubernetes ID to EBS Volume ID Invalid"
    try:
        handle = urls.path_of(volume_id).strip("/")
    except ValueError as fault:
        raise UntranslatableError(f"{wrong} disk name ({volume_id}): {fault}") from None
    if not _EBS_ID.fullmatch(handle):
        raise UntranslatableError(f"{wrong} format for AWS volume ({volume_id})")
    return handle


def _gce_handle(name: str, zone: str = _UNSPECIFIED) -> str:
    return f"projects/{_UNSPECIFIED}/zones/{zone}/disks/{name}"


def _gce_region(zones: list[str]) -> str:
    """Return the region of zones written ``<continent>-<region>-<zone>``, which must have one in common."""
    wrong = "failed to get region from zones:"
    for zone in zones:
        if zone.count("-") != 2:
            expected = "expected: {locale}-{region}-{zone}"
            raise UntranslatableError(f"{wrong} zone in unexpected format, {expected}, got: {zone}")
    regions = sorted({zone.rpartition("-")[0] for zone in zones})
    if len(regions) != 1:
        got = " ".join(f"{region}:{{}}" for region in regions)
        raise UntranslatableError(f"{wrong} multiple or no regions gotten from zones, got: map[{got}]")
    return regions[0]

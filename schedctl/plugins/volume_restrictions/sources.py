"""The disks and claims that pods mount, and which of them two pods cannot have on one node.

`plugin` compares a pod's with those of running pods, `events` with those of a pod that is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from typing_extensions import override

from schedctl.api.pods import Volume
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.mounts import Mounts

CLAIM, RBD = "persistentVolumeClaim", "rbd"
_DEFAULT_POOL = "rbd"


class Source(NamedTuple):
    """A disk or a claim as a pod mounts it.

    Attributes:
        kind: the kind of volume, as in a manifest.
        name: what it is known by: disk, volume, target, image or claim.
        place: the pool of an RBD image, the namespace of a claim.
        read_only: whether the pod only reads it; always False for EBS volumes, which are never shared.
        monitors: the monitors of a Ceph cluster.
    """

    kind: str
    name: str
    place: str = ""
    read_only: bool = False
    monitors: frozenset[str] = frozenset()

    def conflicts(self, other: Source) -> bool:
        """Return whether two pods cannot have these disks on one node."""
        if (self.kind, self.name, self.place) != (other.kind, other.name, other.place):
            return False
        if self.kind == RBD and not self.monitors & other.monitors:
            return False
        return not (self.read_only and other.read_only)


def sources_of(pod: PodInfo) -> list[Source]:
    """Return the disks and claims a pod mounts, in order, each as often as it is mounted."""
    return [source for volume in pod.pod.spec.volumes or () for source in _of_volume(pod, volume)]


def is_disk(volume: Volume) -> bool:
    """Return whether a volume is a disk that is named in the pod itself."""
    return not (
        volume.gce_persistent_disk is None
        and volume.aws_elastic_block_store is None
        and volume.iscsi is None
        and volume.rbd is None
    )


def _of_volume(pod: PodInfo, volume: Volume) -> list[Source]:
    found = []
    if volume.persistent_volume_claim is not None:
        found.append(Source(CLAIM, volume.persistent_volume_claim.claim_name, pod.namespace))
    if volume.gce_persistent_disk is not None:
        disk = volume.gce_persistent_disk
        found.append(Source("gcePersistentDisk", disk.pd_name, read_only=disk.read_only))
    if volume.aws_elastic_block_store is not None:  # two pods never share one, be it read-only
        found.append(Source("awsElasticBlockStore", volume.aws_elastic_block_store.volume_id))
    if volume.iscsi is not None:
        found.append(Source("iscsi", volume.iscsi.iqn, read_only=volume.iscsi.read_only))
    if volume.rbd is not None:
        rbd = volume.rbd
        monitors = frozenset(rbd.monitors or ())
        found.append(Source(RBD, rbd.image, rbd.pool or _DEFAULT_POOL, rbd.read_only, monitors))
    return found


class SourcesInUse(Mounts[Source]):
    """The disks and claims that running pods mount."""

    def __init__(self, cluster: ClusterView) -> None:
        super().__init__(cluster)
        self._named: dict[tuple[str, str], list[int]] = {}

    @override
    def read(self, cluster: ClusterView, info: PodInfo) -> Sequence[Source]:
        return sources_of(info)

    def add_thing(self, thing: Source, code: int) -> None:
        """File a source under its kind and name."""
        self._named.setdefault((thing.kind, thing.name), []).append(code)

    def conflicting_disks(self, disk: Source) -> list[int]:
        """Return the codes of the disks a pod with this one cannot stand beside."""
        known = self._named.get((disk.kind, disk.name), ())
        return [code for code in known if disk.conflicts(self.things.values[code])]

    def claims_named(self, claim: str) -> list[int]:
        """Return the codes of the claims of a name, in any namespace."""
        return self._named.get((CLAIM, claim), [])


def sources_in_use(cluster: ClusterView) -> SourcesInUse:
    """Return the disks and claims in use in a cluster, as it is now."""
    sources = cluster.derive(SourcesInUse)
    sources.catch_up(cluster)
    return sources

"""The volume controller of kube-controller-manager, and the provisioners that it waits for.

It acts on the clock of a run (``simulation``), and on a state that a person wrote (``complete_written``). Provisioners
act at once, and where they put volumes is assumed; what was bound here is found as `CompletedClaim`.
"""

from __future__ import annotations

import msgspec

from schedctl.api import annotation_keys, meta, storage
from schedctl.cache.cluster import Cluster
from schedctl.errors import PluginError
from schedctl.framework import claim_binding
from schedctl.framework.volume_matching import AVAILABLE, RELEASED, ClaimRequirements, Mismatch, is_reserved_for
from schedctl.workloads import provisioners
from schedctl.workloads.admission import default_storage_class
from schedctl.workloads.volume_index import VolumeIndex

_LOST, _PENDING = "Lost", "Pending"
_NOT_CHECKED = (Mismatch.LABELS, Mismatch.PHASE)
"""What does not keep a claim from the volume that it names."""
_replace = msgspec.structs.replace


class CompletedClaim(meta.Struct, frozen=True):
    """A claim that was bound here rather than in the cluster, kept among its objects so that a fork undoes it.

    Attributes:
        metadata: namespace and name of the claim.
        volume: the name of its volume.
        provisioned_by: the class of a volume that was made for it, None for a volume that was there.
    """

    metadata: meta.ObjectMeta
    volume: str
    provisioned_by: storage.StorageClass | None = None


class VolumeController:
    """Binds the claims of a cluster, and provisions for those whose class does not wait for a pod.

    A claim that has a uid was there before: if its provisioner has made no volume so far, none is made here. Where
    volumes or classes could not be listed, nothing is bound.
    """

    def __init__(self, cluster: Cluster, *, written_only: bool = False) -> None:
        """Watch a cluster; nothing happens yet.

        Args:
            cluster: the cluster, which changes.
            written_only: whether what came out of a cluster, so that it has a uid, is left as it is. A controller has
                seen it there.
        """
        self._cluster = cluster
        self._written_only = written_only
        self._volumes = VolumeIndex(cluster)

    def synchronize(self) -> None:
        """Bring all volumes and claims up to date."""
        cluster = self._cluster
        if cluster.missing.keys() & {storage.PersistentVolume, storage.StorageClass}:
            return
        with cluster.observe_reads(_NoObserver()):  # who asks about a pod reads its claims again
            for volume in list(cluster.every(storage.PersistentVolume).values()):
                self._update_phase(volume)
            for claim in list(cluster.every(storage.PersistentVolumeClaim).values()):
                self._bind_claim(claim)

    def on_object(self, obj: object) -> None:
        """Answer an object that was added or changed, or removed."""
        if isinstance(obj, storage.PersistentVolume | storage.StorageClass):
            self.synchronize()
        elif isinstance(obj, storage.PersistentVolumeClaim):
            claim = self._cluster.get(storage.PersistentVolumeClaim, meta.key_of(obj))
            if claim is not None and not self._cluster.missing.keys() & {
                storage.PersistentVolume,
                storage.StorageClass,
            }:
                with self._cluster.observe_reads(_NoObserver()):
                    self._bind_claim(claim)

    def _update_phase(self, volume: storage.PersistentVolume) -> None:
        """Give a volume its first phase."""
        if volume.status.phase not in ("", _PENDING) or (self._written_only and volume.metadata.uid):
            return
        phase, reference = AVAILABLE, volume.spec.claim_ref
        if reference is not None and reference.uid:
            claim = self._cluster.get(storage.PersistentVolumeClaim, f"{reference.namespace}/{reference.name}")
            if claim is not None and claim.metadata.uid == reference.uid:
                return  # gets its phase with the binding
            phase = RELEASED
        self._cluster.put(_replace(volume, status=_replace(volume.status, phase=phase)))

    def _bind_claim(self, claim: storage.PersistentVolumeClaim) -> None:
        """Bind a claim, or have a volume made for it, if either can be done."""
        if claim.status.phase == _LOST or annotation_keys.BIND_COMPLETED in (claim.metadata.annotations or {}):
            return
        cluster = self._cluster
        try:
            volume = self._requested_volume(claim) if claim.spec.volume_name else self._matching_volume(claim)
        except PluginError:  # its selector cannot be parsed, so that the controller never gets any further
            return
        if volume is not None:
            if not (self._written_only and claim.metadata.uid and volume.metadata.uid):
                claim_binding.bind(cluster, volume, claim)
                self._note(claim, volume)
            return
        if claim.spec.volume_name or (self._written_only and claim.metadata.uid):
            return
        if self._lacks_class(claim) and (name := default_storage_class(cluster)):
            claim = _replace(claim, spec=_replace(claim.spec, storage_class_name=name))
            cluster.put(claim)
            self._bind_claim(claim)
        else:
            self._provision(claim)

    def _requested_volume(self, claim: storage.PersistentVolumeClaim) -> storage.PersistentVolume | None:
        """Return the volume that a claim names, None where it cannot be bound to it."""
        volume = self._cluster.get(storage.PersistentVolume, claim.spec.volume_name)
        if volume is None or is_reserved_for(volume, claim):
            return volume
        suits = storage.class_of(volume) == storage.class_of(claim) and all(
            each in _NOT_CHECKED for each in ClaimRequirements(claim).objections(volume)
        )
        return volume if suits else None

    def _matching_volume(self, claim: storage.PersistentVolumeClaim) -> storage.PersistentVolume | None:
        storage_class = self._class_of(claim)
        delayed = storage_class is not None and storage_class.volume_binding_mode == storage.WAIT_FOR_FIRST_CONSUMER
        return self._volumes.best_match(claim, delayed=delayed)

    def _provision(self, claim: storage.PersistentVolumeClaim) -> None:
        """Have a volume made for a new claim whose class does not wait for a pod; provisioners heed no selector."""
        storage_class = self._class_of(claim)
        if (
            storage_class is None
            or storage_class.volume_binding_mode == storage.WAIT_FOR_FIRST_CONSUMER
            or claim.metadata.uid
            or claim.spec.selector is not None
            or not claim_binding.is_provisioned(storage_class)
        ):
            return
        reach = provisioners.allowed_reach(storage_class)
        volume = claim_binding.provision(self._cluster, claim, storage_class, reach)
        self._note(claim, volume, storage_class)

    def _note(
        self,
        claim: storage.PersistentVolumeClaim,
        volume: storage.PersistentVolume,
        provisioned_by: storage.StorageClass | None = None,
    ) -> None:
        metadata = meta.ObjectMeta(namespace=claim.metadata.namespace, name=claim.metadata.name)
        self._cluster.put(CompletedClaim(metadata, volume.metadata.name, provisioned_by))

    def _class_of(self, claim: storage.PersistentVolumeClaim) -> storage.StorageClass | None:
        name = storage.class_of(claim)
        return self._cluster.get(storage.StorageClass, name) if name else None

    def _lacks_class(self, claim: storage.PersistentVolumeClaim) -> bool:
        annotations = claim.metadata.annotations or {}
        return claim.spec.storage_class_name is None and storage.CLASS_ANNOTATION not in annotations


class _NoObserver:
    """Hears of missing kinds that are read, and does nothing about it."""

    def read(self, kind: type) -> None:
        """Do nothing."""


def complete_written(cluster: Cluster) -> None:
    """Bind what a person wrote, as the controller would have done in the cluster by now."""
    VolumeController(cluster, written_only=True).synchronize()

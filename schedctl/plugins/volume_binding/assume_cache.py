"""What a profile has assumed and the API server does not know yet: volumes for claims, nodes for claims.

Reserve fills it, PreBind and Unreserve empty it; other plugins, and VolumeBinding of other profiles, go on seeing what
the API server has. (``passiveAssumeCache`` of kube-scheduler.)
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from schedctl.api import annotation_keys, field_errors, meta, storage
from schedctl.cache.cluster import Cluster

BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"

T = TypeVar("T", storage.PersistentVolume, storage.PersistentVolumeClaim)


class AssumedVolume(meta.Struct, frozen=True):
    """A volume as it will be: bound to a claim.

    Attributes:
        metadata: the profile as namespace, and the name of the volume.
        stored: the volume of the API server.
        assumed: the volume with the claim's reference.
    """

    metadata: meta.ObjectMeta
    stored: storage.PersistentVolume
    assumed: storage.PersistentVolume


class AssumedClaim(meta.Struct, frozen=True):
    """A claim as it will be: with the node its volume is to be provisioned for.

    Attributes:
        metadata: the profile as namespace, and namespace and name of the claim.
        stored: the claim of the API server.
        assumed: the claim with the annotation.
    """

    metadata: meta.ObjectMeta
    stored: storage.PersistentVolumeClaim
    assumed: storage.PersistentVolumeClaim


class AssumeCache:
    """The assumed volumes and claims of one profile, kept as objects in the cluster so that a fork undoes them."""

    def __init__(self, cluster: Cluster, profile: str) -> None:
        self._cluster = cluster
        self._profile = profile

    def volume(self, name: str) -> storage.PersistentVolume | None:
        """Return a volume as assumed, or else as the API server has it; None if there is none."""
        stored = self._cluster.get(storage.PersistentVolume, name)
        known = self._cluster.get(AssumedVolume, self._key(name))
        # an assumption holds only for the object it was made about: a newer one of the API server voids it
        return known.assumed if known is not None and known.stored is stored else stored

    def claim(self, key: str) -> storage.PersistentVolumeClaim | None:
        """Return a claim as assumed, or else as the API server has it; None if there is none."""
        stored = self._cluster.get(storage.PersistentVolumeClaim, key)
        known = self._cluster.get(AssumedClaim, self._key(key))
        return known.assumed if known is not None and known.stored is stored else stored

    def assume_volume(self, volume: storage.PersistentVolume) -> None:
        """Assume a volume as it will be; the API server must have it.

        Raises:
            LookupError: it has not.
        """
        stored = self._get_stored(storage.PersistentVolume, meta.key_of(volume))
        self._cluster.put(AssumedVolume(metadata=self._metadata(volume), stored=stored, assumed=volume))

    def assume_claim(self, claim: storage.PersistentVolumeClaim) -> None:
        """Assume a claim as it will be; the API server must have it.

        Raises:
            LookupError: it has not.
        """
        stored = self._get_stored(storage.PersistentVolumeClaim, meta.key_of(claim))
        self._cluster.put(AssumedClaim(metadata=self._metadata(claim), stored=stored, assumed=claim))

    def forget(self, obj: storage.PersistentVolume | storage.PersistentVolumeClaim) -> None:
        """Drop what was assumed of a volume or claim, if anything was."""
        kind: type[AssumedVolume | AssumedClaim] = (
            AssumedVolume if isinstance(obj, storage.PersistentVolume) else AssumedClaim
        )
        known = self._cluster.get(kind, self._key(meta.key_of(obj)))
        if known is not None:
            self._cluster.delete(known)

    def _get_stored(self, kind: type[T], key: str) -> T:
        stored = self._cluster.get(kind, key)
        if stored is None:
            raise LookupError(f"{kind.__name__.lower()}s {field_errors.quote(key)} not found")
        return stored

    def _key(self, key: str) -> str:
        return f"{self._profile}/{key}" if self._profile else key

    def _metadata(self, obj: storage.PersistentVolume | storage.PersistentVolumeClaim) -> meta.ObjectMeta:
        return meta.ObjectMeta(namespace=self._profile, name=meta.key_of(obj))


def fully_bound(claim: storage.PersistentVolumeClaim) -> bool:
    """Return whether a claim has a volume and the binding is over."""
    return bool(claim.spec.volume_name) and annotation_keys.BIND_COMPLETED in (claim.metadata.annotations or {})


def is_reserved_for(volume: storage.PersistentVolume, claim: storage.PersistentVolumeClaim) -> bool:
    """Return whether a volume names a claim; one without a uid names any claim of that name."""
    reference, metadata = volume.spec.claim_ref, claim.metadata
    return (
        reference is not None
        and (reference.namespace, reference.name) == (metadata.namespace, metadata.name)
        and reference.uid in ("", metadata.uid)
    )


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

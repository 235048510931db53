"""What a profile has assumed and the API server does not know yet: volumes for claims, nodes for claims.

Reserve fills it, PreBind and Unreserve empty it; other plugins, and VolumeBinding of other profiles, go on seeing what
the API server has. (``passiveAssumeCache`` of kube-scheduler.)
"""

from __future__ import annotations

from typing import TypeVar

from schedctl.api import field_errors, meta, storage
from schedctl.cache.cluster import Cluster

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

"""The claims of a pod, and in which of three states each is: bound, waiting for a consumer, or not the scheduler's.

`plugin` sorts them in PreFilter; `search` looks for volumes for those that wait.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from schedctl.api import field_errors, meta, pods, storage
from schedctl.cache.nodes import ClusterView
from schedctl.errors import PluginError
from schedctl.framework.claim_binding import fully_bound, is_provisioned
from schedctl.framework.volume_matching import is_reserved_for
from schedctl.plugins.volume_binding.assume_cache import AssumeCache


class MountedClaim(NamedTuple):
    """A volume of a pod that is a claim: the claim's name, and whether the claim is made for the pod."""

    name: str
    ephemeral: bool


class Claims(NamedTuple):
    """The claims of a pod by state, each in the order of the pod's volumes and as often as it is mounted.

    Attributes:
        bound: those that have their volume.
        waiting: those that the scheduler finds a volume for.
        immediate: those that should have been bound before the pod came.
    """

    bound: Sequence[storage.PersistentVolumeClaim]
    waiting: Sequence[storage.PersistentVolumeClaim]
    immediate: Sequence[storage.PersistentVolumeClaim]


class UnboundReason(Enum):
    """Why a claim is not bound though the scheduler has nothing to do with it."""

    NO_VOLUME = "the volume it names does not exist"
    KEPT = "the volume it names is reserved for another claim"
    UNFINISHED = "its binding to the volume it names is not completed"
    CLASSLESS = "it has no class"
    NO_CLASS = "its class does not exist"
    SELECTIVE = "no volume matches its selector, and provisioners make none for a claim with one"
    IMMEDIATE = "its class binds immediately"


class Unbound(NamedTuple):
    """A claim that should have been bound before the pod came.

    Attributes:
        claim: the claim.
        because: why it is not.
        storage_class: its class, "" for none.
        volume: the volume it names, "" for none.
        kept_for: the claim that volume is kept for, "" for none or where it is kept for this one.
        provisioner: who makes volumes of the class, "" where nobody does or there is no such class.
    """

    claim: str
    because: UnboundReason
    storage_class: str = ""
    volume: str = ""
    kept_for: str = ""
    provisioner: str = ""


def mounted_claims(pod: pods.Pod) -> Iterator[MountedClaim]:
    """Yield the volumes of a pod that are claims, in order."""
    for volume in pod.spec.volumes or ():
        name = storage.claim_name(pod, volume)
        if name is not None:
            yield MountedClaim(name, ephemeral=volume.persistent_volume_claim is None)


def claims_of(pod: pods.Pod, cluster: ClusterView, assume_cache: AssumeCache) -> Claims:
    """Return the claims of a pod, all of which exist, by state.

    Raises:
        PluginError: a class has no binding mode, which no API server lets pass.
    """
    bound, waiting, immediate = [], [], []
    for name, _ in mounted_claims(pod):
        claim = assume_cache.claim(f"{pod.metadata.namespace}/{name}")
        assert claim is not None
        if fully_bound(claim):
            bound.append(claim)
        elif _waits(claim, cluster) and not claim.spec.volume_name:
            waiting.append(claim)  # one that names a volume is for the volume controller, whatever its class says
        else:
            immediate.append(claim)
    return Claims(bound, waiting, immediate)


def unbound(claim: storage.PersistentVolumeClaim, cluster: ClusterView) -> Unbound:
    """Return why a claim that is neither bound nor waiting is not bound."""
    name, key, volume_name = storage.class_of(claim), meta.key_of(claim), claim.spec.volume_name
    storage_class = cluster.get(storage.StorageClass, name) if name else None
    if volume_name:
        volume = cluster.get(storage.PersistentVolume, volume_name)
        if volume is None:
            return Unbound(key, UnboundReason.NO_VOLUME, name, volume_name)
        reference = volume.spec.claim_ref
        if reference is not None and not is_reserved_for(volume, claim):
            return Unbound(key, UnboundReason.KEPT, name, volume_name, f"{reference.namespace}/{reference.name}")
        return Unbound(key, UnboundReason.UNFINISHED, name, volume_name)
    if storage_class is None:
        return Unbound(key, UnboundReason.NO_CLASS if name else UnboundReason.CLASSLESS, name)
    provisioner = storage_class.provisioner if is_provisioned(storage_class) else ""
    because = UnboundReason.IMMEDIATE if claim.spec.selector is None else UnboundReason.SELECTIVE
    return Unbound(key, because, name, provisioner=provisioner)


def _waits(claim: storage.PersistentVolumeClaim, cluster: ClusterView) -> bool:
    """Return whether the class of a claim leaves the choice of a volume to the scheduler."""
    name = storage.class_of(claim)
    storage_class = cluster.get(storage.StorageClass, name) if name else None
    if storage_class is None:
        return False
    if storage_class.volume_binding_mode is None:
        raise PluginError(f"VolumeBindingMode not set for StorageClass {field_errors.quote(name)}")
    return storage_class.volume_binding_mode == storage.WAIT_FOR_FIRST_CONSUMER

"""The claims of a pod, and in which of three states each is: bound, waiting for a consumer, or not the scheduler's.

A claim is *bound* when it names its volume and the binding is over. It is *waiting* when it names none and its class
binds with the first consumer: then the scheduler chooses. Any other unbound claim is the volume controller's business
and holds the pod back. Claims of ephemeral volumes are named after pod and volume and must be the pod's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from schedctl.api.field_errors import quoted
from schedctl.api.pods import Pod
from schedctl.api.storage import PersistentVolumeClaim, StorageClass
from schedctl.cache.cluster import Cluster
from schedctl.errors import PluginError
from schedctl.plugins.volume_binding_assumed import Promises, class_of, fully_bound

_WITH_CONSUMER = "WaitForFirstConsumer"


class Mounted(NamedTuple):
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

    bound: Sequence[PersistentVolumeClaim]
    waiting: Sequence[PersistentVolumeClaim]
    immediate: Sequence[PersistentVolumeClaim]


def mounted(pod: Pod) -> Iterator[Mounted]:
    """Yield the volumes of a pod that are claims, in order."""
    for volume in pod.spec.volumes or ():
        if volume.persistent_volume_claim is not None:
            yield Mounted(volume.persistent_volume_claim.claim_name, ephemeral=False)
        elif volume.ephemeral is not None:
            yield Mounted(f"{pod.metadata.name}-{volume.name}", ephemeral=True)


def made_for(claim: PersistentVolumeClaim, pod: Pod) -> bool:
    """Return whether a pod is the controller of a claim."""
    owner = next((each for each in claim.metadata.owner_references or () if each.controller), None)
    return owner is not None and owner.uid == pod.metadata.uid


def claims_of(pod: Pod, cluster: Cluster, promises: Promises) -> Claims:
    """Return the claims of a pod, all of which exist, by state.

    Raises:
        PluginError: a class has no binding mode, which no API server lets pass.
    """
    bound, waiting, immediate = [], [], []
    for name, _ in mounted(pod):
        claim = promises.claim(f"{pod.metadata.namespace}/{name}")
        assert claim is not None
        if fully_bound(claim):
            bound.append(claim)
        elif _waits(claim, cluster) and not claim.spec.volume_name:
            waiting.append(claim)
        else:
            immediate.append(claim)
    return Claims(bound, waiting, immediate)


def _waits(claim: PersistentVolumeClaim, cluster: Cluster) -> bool:
    """Return whether the class of a claim leaves the choice of a volume to the scheduler."""
    name = class_of(claim)
    storage_class = cluster.get(StorageClass, name) if name else None
    if storage_class is None:
        return False
    if storage_class.volume_binding_mode is None:
        raise PluginError(f"VolumeBindingMode not set for StorageClass {quoted(name)}")
    return storage_class.volume_binding_mode == _WITH_CONSUMER

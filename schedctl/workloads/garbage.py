"""What goes when a pod is gone: the objects that it owned, and its use of resource claims, with the devices of those.

In a cluster the garbage collector and the controller of resource claims see to it, a moment later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from schedctl.api.devices import ResourceClaim, ResourceClaimStatus
from schedctl.api.meta import OwnerReference, key_of
from schedctl.api.pods import Pod
from schedctl.api.resources import is_extended
from schedctl.api.storage import PersistentVolumeClaim, claim_name
from schedctl.cache.cluster import Cluster

_FINALIZER = "resource.kubernetes.io/delete-protection"


def sweep(pod: Pod, cluster: Cluster, kinds: Iterable[type] = ()) -> None:
    """Take from a cluster what goes with a pod that has left it; nothing where that is gone already.

    Args:
        pod: the pod.
        cluster: the cluster.
        kinds: the kinds besides claims whose objects may belong to it, which plugins read and make.
    """
    objects = list(_claims(pod, cluster))
    for kind in kinds:
        objects += cluster.every(kind).values()
    for obj in objects:
        if _is_owned(obj, pod):
            cluster.delete(obj)
        elif isinstance(obj, ResourceClaim):
            _release(obj, pod, cluster)


def _claims(pod: Pod, cluster: Cluster) -> Iterator[Any]:
    """Yield the claims that a pod names, which are there."""
    status, namespace = pod.status, pod.metadata.namespace
    names = {each.resource_claim_name for each in pod.spec.resource_claims or ()}
    names |= {each.resource_claim_name for each in status.resource_claim_statuses or ()}
    names |= {key_of(each).partition("/")[2] for each in _special_claims(pod, cluster)}
    for name in sorted(filter(None, names)):
        if (claim := cluster.get(ResourceClaim, f"{namespace}/{name}")) is not None:
            yield claim
    for volume in pod.spec.volumes or ():
        if volume.ephemeral is not None:
            found = cluster.get(PersistentVolumeClaim, f"{namespace}/{claim_name(pod, volume)}")
            yield from () if found is None else (found,)


def _special_claims(pod: Pod, cluster: Cluster) -> Iterator[ResourceClaim]:
    """Yield the claim for extended resources that devices stand in for; a run does not write its name into the pod."""
    requests = [each.resources.requests or {} for each in pod.spec.containers or () if each.resources is not None]
    if any(is_extended(name) for names in requests for name in names):
        yield from (claim for claim in cluster.every(ResourceClaim).values() if _is_owned(claim, pod))


def _release(claim: ResourceClaim, pod: Pod, cluster: Cluster) -> None:
    """Take a pod off the users of a claim; the last one leaves it without devices."""
    users = claim.status.reserved_for or ()
    left = [user for user in users if user.uid != (pod.metadata.uid or f"{pod.metadata.namespace}/{pod.metadata.name}")]
    if len(left) == len(users):
        return
    if left:
        cluster.put(replace(claim, status=replace(claim.status, reserved_for=left)))
        return
    finalizers = [each for each in claim.metadata.finalizers or () if each != _FINALIZER]
    metadata = replace(claim.metadata, finalizers=finalizers or None)
    cluster.put(replace(claim, metadata=metadata, status=ResourceClaimStatus()))


def _is_owned(obj: Any, pod: Pod) -> bool:
    """Return whether a pod is the only owner of an object."""
    owners: list[OwnerReference] = getattr(obj.metadata, "owner_references", None) or []
    return bool(owners) and all(_is(owner, obj, pod) for owner in owners)


def _is(owner: OwnerReference, obj: Any, pod: Pod) -> bool:
    metadata = pod.metadata
    if owner.kind != "Pod" or owner.name != metadata.name or key_of(obj).partition("/")[0] != metadata.namespace:
        return False
    return not (owner.uid and metadata.uid) or owner.uid == metadata.uid

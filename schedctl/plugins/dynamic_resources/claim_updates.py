"""What becomes of claims when a pod takes them and gives them up: as objects in the cluster.

Reserve leaves the claim object alone and notes the allocation beside it (`PendingAllocation`), so that a second pod
has to wait for the first to write it. PreBind writes it, as the API server would then show it; the time of allocation
alone is left out, since only a wait that a dry run does not sit through reads it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from schedctl.api import devices, meta
from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo
from schedctl.devices.allocated import PendingAllocation
from schedctl.plugins.dynamic_resources.claims import is_reserved_for, uid_of
from schedctl.plugins.dynamic_resources.extended_resources import in_memory, written_name

FINALIZER = "resource.kubernetes.io/delete-protection"
MOST_USERS = 256
"""How many pods a claim can be reserved for; the API server refuses more."""


def pending_allocation(claim: devices.ResourceClaim, cluster: ClusterView) -> PendingAllocation | None:
    """Return the allocation of a claim that is not written yet, None if there is none."""
    return cluster.get(PendingAllocation, uid_of(claim))


def pending_claim(key: str, cluster: ClusterView) -> devices.ResourceClaim | None:
    """Return the claim of a key, ``namespace/name``, as the note of its allocation has it, None if there is none."""
    notes = cluster.every(PendingAllocation).values()
    return next((note.claim for note in notes if meta.key_of(note.claim) == key), None)


def add_pending_allocation(
    claim: devices.ResourceClaim, allocation: devices.AllocationResult, cluster: Cluster, group: str = ""
) -> None:
    """Note an allocation that is to be written; of several for one claim the first counts.

    Args:
        claim: the claim.
        allocation: what it is given.
        cluster: where the note is kept.
        group: the group of the pod, with whose other pods it is shared; "" for none.
    """
    known = pending_allocation(claim, cluster)
    if known is not None:
        cluster.put(replace(known, sharers=known.sharers + 1))
        return
    allocated = replace(_with_finalizer(claim), status=replace(claim.status, allocation=allocation))
    cluster.put(PendingAllocation(metadata=meta.ObjectMeta(name=uid_of(claim)), claim=allocated, group=group))


def give_up_pending_allocation(claim: devices.ResourceClaim, cluster: Cluster) -> None:
    """Take one pod off those that share the note of an allocation; the last one drops it."""
    known = pending_allocation(claim, cluster)
    if known is not None and known.sharers > 1:
        cluster.put(replace(known, sharers=known.sharers - 1))
    elif known is not None:
        cluster.delete(known)


def remove_pending_allocation(claim: devices.ResourceClaim, cluster: Cluster) -> None:
    """Drop the note of an allocation that is written, if there is one."""
    allocation = pending_allocation(claim, cluster)
    if allocation is not None:
        cluster.delete(allocation)


def write(
    claim: devices.ResourceClaim,
    allocation: devices.AllocationResult | None,
    user: devices.ResourceClaimConsumerReference,
    cluster: Cluster,
    *,
    shared: bool = False,
) -> devices.ResourceClaim | str:
    """Write an allocation and reserve the claim; return the claim as it is then, or why it cannot be done.

    Args:
        claim: as PreFilter found it; the one for extended resources is created.
        allocation: what Reserve noted, None for a claim that had one.
        user: who is to use it, a pod or its group.
        cluster: where the claim is.
        shared: whether another pod of the group may have written the allocation already.
    """
    if in_memory(claim):
        name = written_name(claim, cluster)  # the API server makes it up now, and the uid with it
        metadata = replace(claim.metadata, name=name, uid=f"{claim.metadata.namespace}/{name}")
        current: devices.ResourceClaim | None = replace(claim, metadata=metadata, status=devices.ResourceClaimStatus())
    else:
        current = cluster.get(devices.ResourceClaim, meta.key_of(claim))
    what = "reservation" if allocation is None else "allocation and reservation"
    if current is None:
        named = f'resourceclaims.resource.k8s.io "{claim.metadata.name}"'
        return f"add {what} to claim {meta.key_of(claim)}: {named} not found"
    if current.metadata.deletion_timestamp is not None:
        return f"claim {meta.key_of(claim)} got deleted in the meantime"
    status = current.status
    if allocation is not None and shared and status.allocation is not None:
        if any(each.uid == user.uid for each in status.reserved_for or ()):
            return current
    elif allocation is not None:
        if status.allocation is not None:
            return f"claim {meta.key_of(claim)} got allocated elsewhere in the meantime"
        current, status = _with_finalizer(current), replace(status, allocation=allocation)
    elif status.allocation is None:
        return f"claim {meta.key_of(claim)} got deallocated elsewhere in the meantime"
    users = list(status.reserved_for or ())
    wrong = ""  # what the validation of the API server would say
    if len(users) == MOST_USERS:
        wrong = f"status.reservedFor: Too many: {len(users) + 1}: must have at most {MOST_USERS} items"
    elif any(each.uid == user.uid for each in users):
        wrong = f'status.reservedFor[{len(users)}].uid: Duplicate value: "{user.uid}"'
    if wrong:
        named = f'ResourceClaim.resource.k8s.io "{claim.metadata.name}"'
        return f"add {what} to claim {meta.key_of(claim)}: {named} is invalid: {wrong}"
    users.append(user)
    written = replace(current, status=replace(status, reserved_for=users))
    cluster.put(written)
    return written


def release(claim: devices.ResourceClaim, pod: PodInfo, cluster: Cluster) -> None:
    """Take a pod off the users of an allocated claim, if it is one."""
    current = cluster.get(devices.ResourceClaim, meta.key_of(claim))
    if current is not None and current.status.allocation is not None and is_reserved_for(current, pod):
        users = [user for user in current.status.reserved_for or () if user.uid != pod.uid]
        cluster.put(replace(current, status=replace(current.status, reserved_for=users)))


def without_user(claim: devices.ResourceClaim, uid: str) -> devices.ResourceClaim:
    """Return the claim without one of its users."""
    users = [user for user in claim.status.reserved_for or () if user.uid != uid]
    return replace(claim, status=replace(claim.status, reserved_for=users))


def without_allocation(claim: devices.ResourceClaim) -> devices.ResourceClaim:
    """Return the claim without devices and without users."""
    return replace(claim, status=devices.ResourceClaimStatus())


def _with_finalizer(claim: devices.ResourceClaim) -> devices.ResourceClaim:
    """Return the claim with the finalizer that keeps it from vanishing while it is allocated."""
    finalizers: Sequence[str] = claim.metadata.finalizers or ()
    if FINALIZER in finalizers:
        return claim
    return replace(claim, metadata=replace(claim.metadata, finalizers=[*finalizers, FINALIZER]))

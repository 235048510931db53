"""The resource claims of a pod: which they are, who holds them, and whether their devices are ready.

A pod names a claim, or a template from which one is generated for it; its status says under which name. What is said
here of a claim is what kube-scheduler reads off the object alone: no other pod and no device is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from schedctl.api import devices, meta, pods, times
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.pod_groups import group_key

_SCHEDULING = "scheduling.k8s.io"


class Problem(Enum):
    """Why a claim that a pod refers to cannot be had."""

    UNNAMED = "it names neither a claim nor a template"
    NOT_GENERATED = "no claim was generated from the template yet"
    MISSING = "the claim does not exist"
    DELETED = "the claim is being deleted"
    FOREIGN = "the claim was generated for another pod"


class Resolved(NamedTuple):
    """The claims of a pod.

    Attributes:
        claims: in the order of its spec, without those that were deliberately not generated.
        problem: why they cannot be had, None when they can.
        reference: the entry of the spec with the problem.
        claim: ``namespace/name`` of the claim with the problem, "" where it has no name.
    """

    claims: tuple[devices.ResourceClaim, ...]
    problem: Problem | None = None
    reference: str = ""
    claim: str = ""


class Unready(NamedTuple):
    """Why the devices of an allocated claim will not do, although the allocation stands.

    Attributes:
        failed: whether the driver gave up, rather than that it took too long.
        reason, message: of the condition that says so.
    """

    failed: bool
    reason: str = ""
    message: str = ""


def uid_of(claim: devices.ResourceClaim) -> str:
    """Return the claim's uid, or its key where it has none."""
    return claim.metadata.uid or meta.key_of(claim)


def resolve(pod: PodInfo, cluster: ClusterView, *, of_groups: bool = False) -> Resolved:
    """Find the claims that a pod refers to; the first problem ends it.

    Args:
        pod: the pod.
        cluster: what has the claims.
        of_groups: whether a claim may have been generated for the pod's group (DRAWorkloadResourceClaims).
    """
    claims: list[devices.ResourceClaim] = []
    for reference in pod.pod.spec.resource_claims or ():
        name = _name(pod, reference)
        if name is None:
            continue
        if isinstance(name, Problem):
            return Resolved((), name, reference.name)
        key = f"{pod.namespace}/{name}"
        claim = cluster.get(devices.ResourceClaim, key)
        if claim is None:
            return Resolved((), Problem.MISSING, reference.name, key)
        if claim.metadata.deletion_timestamp is not None:
            return Resolved((), Problem.DELETED, reference.name, key)
        if reference.resource_claim_name is None and not _is_generated_for(claim, pod, of_groups):
            return Resolved((), Problem.FOREIGN, reference.name, key)
        claims.append(claim)
    return Resolved(tuple(claims))


def claim_keys(pod: PodInfo) -> Iterator[str]:
    """Yield the keys of the claims that a pod refers to, whether or not they can be had."""
    for reference in pod.pod.spec.resource_claims or ():
        name = _name(pod, reference)
        if isinstance(name, str):
            yield f"{pod.namespace}/{name}"


def keys_by_reference(pod: PodInfo) -> dict[str, str]:
    """Return the keys of the claims that a pod refers to, by the names that its containers call them."""
    references = ((reference.name, _name(pod, reference)) for reference in pod.pod.spec.resource_claims or ())
    return {reference: f"{pod.namespace}/{name}" for reference, name in references if isinstance(name, str)}


def is_pod(owner: meta.OwnerReference, pod: PodInfo) -> bool:
    """Return whether an owner is the pod: by uid, and by name where neither has one yet."""
    metadata = pod.pod.metadata
    return owner.uid == metadata.uid and bool(owner.uid or owner.name == metadata.name)


def is_reserved_for(claim: devices.ResourceClaim, pod: PodInfo, *, of_groups: bool = False) -> bool:
    """Return whether the pod, or its group if those count, is among those that may use the claim."""
    users = claim.status.reserved_for or ()
    return any(user.uid == pod.uid for user in users) or (of_groups and any(_is_group(user, pod) for user in users))


def users_of(claim: devices.ResourceClaim) -> tuple[str, ...]:
    """Return the pods that may use the claim, ``namespace/name``."""
    users = claim.status.reserved_for or ()
    return tuple(f"{claim.metadata.namespace}/{user.name}" for user in users if user.resource == "pods")


def idle(claim: devices.ResourceClaim, uid: str) -> bool:
    """Return whether nobody but perhaps one user may use the claim, so that its devices can be given up."""
    users = claim.status.reserved_for or ()
    return not users or (len(users) == 1 and users[0].uid == uid)


def needs_capable_node(allocation: devices.AllocationResult | None) -> bool:
    """Return whether a node must know of devices without node operations (DRAOptionalNodeOperations) to use it."""
    return allocation is not None and any(result.skip_node_operations for result in allocation.devices.results or ())


def waits_for_conditions(claim: devices.ResourceClaim) -> bool:
    """Return whether an allocated device is ready only once its driver says so (KEP-5007)."""
    allocation = claim.status.allocation
    return allocation is not None and any(result.binding_conditions for result in allocation.devices.results or ())


def unready(claim: devices.ResourceClaim, timeout: int, now: int) -> Unready | None:
    """Return why the devices of an allocated claim will never be ready; None while there is hope.

    Args:
        claim: an allocated claim.
        timeout: for how long after the allocation a device may get ready, in nanoseconds.
        now: nanoseconds since 1970.
    """
    allocation = claim.status.allocation
    assert allocation is not None
    results = allocation.devices.results or ()
    for result in results:
        if not result.binding_conditions:
            continue
        device_status = _device_status(result, claim)
        if device_status is None:
            break  # its driver has not written a word: only time is counted
        conditions: dict[str, devices.DeviceCondition] = {}
        for condition in device_status.conditions or ():
            conditions.setdefault(condition.type, condition)  # of several of a type the first counts
        for name in result.binding_failure_conditions or ():
            if name in conditions and conditions[name].status == "True":
                return Unready(True, conditions[name].reason, conditions[name].message)
        if not all(name in conditions and conditions[name].status == "True" for name in result.binding_conditions):
            break
    else:
        return None
    if allocation.allocation_timestamp is None or all(result.binding_conditions is None for result in results):
        return None
    return Unready(False) if times.unix_nanoseconds(allocation.allocation_timestamp) + timeout < now else None


def _name(pod: PodInfo, reference: pods.PodResourceClaim) -> str | Problem | None:
    """Return the name of the claim, None where there is deliberately none, or why there is none yet."""
    if reference.resource_claim_name is not None:
        return reference.resource_claim_name
    if reference.resource_claim_template_name is None:
        return Problem.UNNAMED
    for generated in pod.pod.status.resource_claim_statuses or ():
        if generated.name == reference.name:
            return generated.resource_claim_name
    return Problem.NOT_GENERATED


def _is_generated_for(claim: devices.ResourceClaim, pod: PodInfo, of_groups: bool) -> bool:
    owner = meta.controller_of(claim)
    if owner is None or is_pod(owner, pod):
        return owner is not None
    # a pod knows its group by name alone
    named = owner.kind == "PodGroup" and owner.api_version.startswith(f"{_SCHEDULING}/")
    return of_groups and named and owner.name == _group_name(pod)


def _is_group(user: devices.ResourceClaimConsumerReference, pod: PodInfo) -> bool:
    known = user.api_group == _SCHEDULING and user.resource == "podgroups"
    return known and user.name == _group_name(pod)


def _group_name(pod: PodInfo) -> str | None:
    return group_key(pod).partition("/")[2] or None


def _device_status(
    result: devices.DeviceRequestAllocationResult, claim: devices.ResourceClaim
) -> devices.AllocatedDeviceStatus | None:
    device = (result.driver, result.pool, result.device)
    return next((s for s in claim.status.devices or () if (s.driver, s.pool, s.device) == device), None)

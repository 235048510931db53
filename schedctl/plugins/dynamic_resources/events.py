"""What DynamicResources wants to hear of: nodes, classes and slices that bring devices, and claims that move."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from schedctl.api.devices import ResourceClaim
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.events import Action, Hint, Registration, Resource, registers
from schedctl.releases import Release, ReleaseChange

ClaimsOf = Callable[[PodInfo], Sequence[ResourceClaim] | None]
"""Returns the claims a pod refers to, None where one of them cannot be had."""


def registrations(claims_of: ClaimsOf, release: Release) -> tuple[Registration, ...]:
    """Return what DynamicResources of a release registers.

    Args:
        claims_of: finds the claims of a pod, as they are when an event is looked at.
        release: the kube-scheduler.
    """
    claim_actions = Action.ADD | Action.UPDATE
    if release.includes(ReleaseChange.DELETED_CLAIMS):
        claim_actions |= Action.DELETE

    def after_claim(pod: PodInfo, before: ResourceClaim | None, after: ResourceClaim | None) -> Hint:
        """Were devices given up, or does a claim of the pod itself exist or stand otherwise now?"""
        was_allocated = before is not None and before.status.allocation is not None
        if after is None:
            return Hint.QUEUE if was_allocated else Hint.SKIP
        claims = claims_of(pod)
        if claims is None:
            return Hint.SKIP
        if was_allocated and after.status.allocation is None:
            return Hint.QUEUE
        if not any(_is(claim, after) for claim in claims):
            return Hint.SKIP
        return Hint.SKIP if before is not None and before.status == after.status else Hint.QUEUE

    def after_generation(pod: PodInfo, before: PodInfo, after: PodInfo) -> Hint:
        return Hint.SKIP if claims_of(after) is None else Hint.QUEUE

    return (
        registers(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_ALLOCATABLE),
        registers(Resource.RESOURCE_CLAIM, claim_actions, after_claim),
        registers(Resource.TARGET_POD, Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM, after_generation),
        registers(Resource.DEVICE_CLASS, Action.ADD | Action.UPDATE),
        registers(Resource.RESOURCE_SLICE, Action.ADD | Action.UPDATE),
    )


def _is(claim: ResourceClaim, other: ResourceClaim) -> bool:
    mine, theirs = claim.metadata, other.metadata
    if mine.uid or theirs.uid:  # claims in files need not have one
        return mine.uid == theirs.uid
    return (mine.namespace, mine.name) == (theirs.namespace, theirs.name)

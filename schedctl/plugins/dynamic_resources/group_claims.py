"""Claims and pod groups: what pods of a group share within a cycle, and claims that are the group's own.

Sharing needs GenericWorkload alone: an allocation that is not written yet is known to the other pods of the group.
That a claim is reserved for a group, and given up by it, needs DRAWorkloadResourceClaims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from schedctl.api import devices, meta
from schedctl.api.pod_groups import PodGroup, PodGroupResourceClaim
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo
from schedctl.devices.features import features_of
from schedctl.errors import NotModelled
from schedctl.framework.cycles import Cycle
from schedctl.framework.group_points import GroupCycle
from schedctl.framework.pod_groups import group_key, group_of
from schedctl.framework.statuses import Code, Status, error, unschedulable
from schedctl.plugins.dynamic_resources import claim_updates
from schedctl.plugins.dynamic_resources.claims import Problem, is_reserved_for, needs_capable_node
from schedctl.releases import GENERIC_WORKLOAD

GATE = "DRAWorkloadResourceClaims"


def sharing_group(pod: PodInfo, cluster: ClusterView) -> str:
    """Return the group whose pods share what one of them was given in a cycle, "" for a pod of none."""
    return group_key(pod) if cluster.release.enabled(GENERIC_WORKLOAD) else ""


def shared_allocation(
    claim: devices.ResourceClaim, pod: PodInfo, cluster: ClusterView
) -> devices.AllocationResult | None:
    """Return what a claim without an allocation was given for another pod of the group in this cycle.

    Raises:
        NotModelled: what devices take of nodes counts, or they can be used on nodes alone that declare a feature.
    """
    group = sharing_group(pod, cluster)
    note = claim_updates.pending_allocation(claim, cluster) if group else None
    if note is None or note.group != group:
        return None
    allocation = note.claim.status.allocation
    features = features_of(cluster.release)
    what = ""
    if features.charges:
        what = "node resources of devices that pods of a group share"
    elif features.known_operations and needs_capable_node(allocation):
        what = "devices without node operations that pods of a group share"
    if what:
        raise NotModelled("DynamicResources", what, f"pod {pod.key}, claim {meta.key_of(claim)}")
    return allocation


def user_of(pod: PodInfo, index: int, cluster: ClusterView) -> devices.ResourceClaimConsumerReference:
    """Return for whom a claim of a pod, by index, is reserved: its group, if it is a claim of that, or itself."""
    group = group_of(pod, cluster) if cluster.release.enabled(GATE) else None
    references = pod.pod.spec.resource_claims or ()
    if group is not None and index < len(references) and group.has_claim(references[index]):
        name = group.metadata.name
        return devices.ResourceClaimConsumerReference("scheduling.k8s.io", "podgroups", name, _uid_of(group))
    return devices.ResourceClaimConsumerReference(resource="pods", name=pod.pod.metadata.name, uid=pod.uid)


def give_up(
    cycle: GroupCycle,
    cluster: ClusterView,
    unavailable: Callable[[Cycle, str], Iterator[devices.ResourceClaim]],
) -> tuple[list[devices.ResourceClaim], Status | None]:
    """Return a claim as a group without running pods gives it up, and what PodGroupPostFilter says then.

    Devices go back of a claim that no other may use, and that was of no use on some node; otherwise the group goes off
    the users of one of its claims.

    Args:
        cycle: the failed cycle.
        cluster: what has the claims.
        unavailable: yields of a pod's cycle the claims of no use that only the user with a uid may use.
    """
    uid = _uid_of(cycle.group)
    for tried in cycle.cycles.values():
        for claim in unavailable(tried, uid):
            written = [claim_updates.without_allocation(claim)] if claim.status.allocation is not None else []
            return written, unschedulable("deallocation of PodGroup ResourceClaim completed")
    for reference in cycle.group.spec.resource_claims or ():
        name = _name_of(cycle.group, reference)
        if isinstance(name, Problem):
            return [], error(f"PodGroup {cycle.group.key}: ResourceClaim not created yet")
        if name is None:
            continue
        key = f"{cycle.group.metadata.namespace}/{name}"
        current = cluster.get(devices.ResourceClaim, key)
        if current is None:
            return [], error(f'could not find ResourceClaim "{key}"')
        if reference.resource_claim_name is None and not _is_made_for(current, cycle.group):
            continue
        if current.status.allocation is not None and is_reserved_for(current, cycle.pods[0], of_groups=True):
            refused = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("ResourceClaim unreserved for PodGroup",))
            return [claim_updates.without_user(current, uid)], refused
    return [], None


def _uid_of(group: PodGroup) -> str:
    """Return the group's uid, or its key where it has none."""
    return group.metadata.uid or group.key


def _is_made_for(claim: devices.ResourceClaim, group: PodGroup) -> bool:
    owner = meta.controller_of(claim)
    return owner is not None and owner.uid == group.metadata.uid


def _name_of(group: PodGroup, reference: PodGroupResourceClaim) -> str | Problem | None:
    """Return the name of a group's claim, None where there is deliberately none, or why there is none yet."""
    if reference.resource_claim_name is not None:
        return reference.resource_claim_name
    statuses = group.status.resource_claim_statuses or ()
    named = (each.resource_claim_name for each in statuses if each.name == reference.name)
    return next(named, Problem.NOT_GENERATED)

"""What VolumeRestrictions wants to hear of: pods that let go of a disk or claim, new nodes, and new claims."""

from __future__ import annotations

from schedctl.cache.pod_info import PodInfo
from schedctl.framework.claim_hints import after_named_claim, hint
from schedctl.framework.events import Action, Hint, Registration, Resource, registers
from schedctl.plugins.volume_restrictions.sources import sources_of


def _after_deletion(pod: PodInfo, before: PodInfo, after: None) -> Hint:
    """A pod that had the same disk or claim is gone; whether that was the trouble is not looked into."""
    if before.namespace != pod.namespace:  # kube-scheduler asks this of disks too, which know no namespaces
        return Hint.SKIP
    theirs = sources_of(before)
    return hint(any(mine.conflicts(other) for mine in sources_of(pod) for other in theirs))


VOLUME_RESTRICTIONS: tuple[Registration, ...] = (
    registers(Resource.ASSIGNED_POD, Action.DELETE, _after_deletion),
    registers(Resource.NODE, Action.ADD),
    registers(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD, after_named_claim),
)
"""What VolumeRestrictions registers."""

"""What VolumeRestrictions wants to hear of: pods that let go of a disk or claim, new nodes, and new claims."""

from __future__ import annotations

from schedctl.api.pods import RBDVolumeSource, Volume
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.claim_hints import after_named_claim, claim_names, hint
from schedctl.framework.events import Action, Hint, Registration, Resource, registers

_DEFAULT_POOL = "rbd"


def _after_deletion(pod: PodInfo, before: PodInfo, after: None) -> Hint:
    """A pod that had the same disk or claim is gone; whether that was the trouble is not looked into."""
    if before.namespace != pod.namespace:
        return Hint.SKIP
    theirs = before.pod.spec.volumes or ()
    if any(_conflict(mine, other) for mine in pod.pod.spec.volumes or () for other in theirs):
        return Hint.QUEUE
    return hint(not set(claim_names(pod, generated=False)).isdisjoint(claim_names(before, generated=False)))


def _conflict(one: Volume, other: Volume) -> bool:
    """Whether two pods cannot use their volumes on one node: the same disk, and not both only read it."""
    gce, their_gce = one.gce_persistent_disk, other.gce_persistent_disk
    if gce and their_gce and gce.pd_name == their_gce.pd_name and not (gce.read_only and their_gce.read_only):
        return True
    ebs, their_ebs = one.aws_elastic_block_store, other.aws_elastic_block_store
    if ebs and their_ebs and ebs.volume_id == their_ebs.volume_id:
        return True
    iscsi, their_iscsi = one.iscsi, other.iscsi
    if iscsi and their_iscsi and iscsi.iqn == their_iscsi.iqn and not (iscsi.read_only and their_iscsi.read_only):
        return True
    rbd, their_rbd = one.rbd, other.rbd
    return bool(rbd and their_rbd and _same_image(rbd, their_rbd) and not (rbd.read_only and their_rbd.read_only))


def _same_image(one: RBDVolumeSource, other: RBDVolumeSource) -> bool:
    met = not set(one.monitors or ()).isdisjoint(other.monitors or ())
    pools = one.pool or _DEFAULT_POOL, other.pool or _DEFAULT_POOL
    return met and pools[0] == pools[1] and one.image == other.image


VOLUME_RESTRICTIONS: tuple[Registration, ...] = (
    registers(Resource.ASSIGNED_POD, Action.DELETE, _after_deletion),
    registers(Resource.NODE, Action.ADD),
    registers(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD, after_named_claim),
)
"""What VolumeRestrictions registers."""

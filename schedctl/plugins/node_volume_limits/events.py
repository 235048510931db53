"""What NodeVolumeLimits wants to hear of: pods and attachments that are gone, limits that grow, and new claims."""

from __future__ import annotations

from schedctl.api import pods, storage
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.claim_hints import after_claim, hint
from schedctl.framework.csi_migration import migration_of
from schedctl.framework.events import Action, Hint, Registration, Resource, registers


def _driver_of(volume: pods.Volume) -> str:
    """Return the CSI driver of a disk named in a pod, "" for other volumes."""
    migration = migration_of(volume)
    return migration.driver if migration is not None else ""


def _after_detaching_pod(pod: PodInfo, before: PodInfo, after: None) -> Hint:
    if not before.pod.spec.node_name and not before.pod.status.nominated_node_name:
        return Hint.SKIP
    volumes = before.pod.spec.volumes or ()
    return hint(any(v.persistent_volume_claim or v.ephemeral or _driver_of(v) for v in volumes))


def _after_detachment(pod: PodInfo, before: storage.VolumeAttachment, after: None) -> Hint:
    """An attach slot is free; only a disk named in the pod says which driver's slot it needs."""
    for volume in pod.pod.spec.volumes or ():
        if volume.persistent_volume_claim is not None or (_driver_of(volume) or None) == before.spec.attacher:
            return Hint.QUEUE
    return Hint.SKIP


def _after_limits(pod: PodInfo, before: storage.CSINode, after: storage.CSINode) -> Hint:
    had, has = _limits(before), _limits(after)
    return hint(any(limit > had.get(driver, 0) for driver, limit in has.items()))


def _limits(node: storage.CSINode) -> dict[str, int]:
    drivers = node.spec.drivers or ()
    return {d.name: (d.allocatable.count or 0) if d.allocatable is not None else 0 for d in drivers}


NODE_VOLUME_LIMITS: tuple[Registration, ...] = (
    registers(Resource.CSI_NODE, Action.ADD),
    registers(Resource.CSI_NODE, Action.UPDATE, _after_limits),
    registers(Resource.ASSIGNED_POD, Action.DELETE, _after_detaching_pod),
    registers(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD, after_claim),
    registers(Resource.VOLUME_ATTACHMENT, Action.DELETE, _after_detachment),
)
"""What NodeVolumeLimits registers."""

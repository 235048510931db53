"""What VolumeBinding wants to hear of: claims, volumes and classes, nodes, and what drivers say of their storage."""

from __future__ import annotations

from schedctl.api import annotation_keys, quantities, storage
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.claim_hints import after_claim, hint
from schedctl.framework.events import Action, Hint, Registration, Resource, registers


def _after_class(pod: PodInfo, before: storage.StorageClass | None, after: storage.StorageClass) -> Hint:
    return hint(before is None or (before.allowed_topologies or []) != (after.allowed_topologies or []))


def _after_csi_node(pod: PodInfo, before: storage.CSINode | None, after: storage.CSINode) -> Hint:
    return hint(before is None or _migrated_plugins(before) != _migrated_plugins(after))


def _migrated_plugins(node: storage.CSINode) -> str:
    return (node.metadata.annotations or {}).get(annotation_keys.MIGRATED_PLUGINS, "")


def _after_driver(pod: PodInfo, before: storage.CSIDriver, after: storage.CSIDriver) -> Hint:
    """An in-line volume of a driver that no longer publishes capacity is no longer held to it."""
    freed = bool(before.spec.storage_capacity) and not after.spec.storage_capacity
    volumes = pod.pod.spec.volumes or ()
    return hint(freed and any(v.csi is not None and v.csi.driver == after.metadata.name for v in volumes))


def _after_capacity(pod: PodInfo, before: storage.CSIStorageCapacity | None, after: storage.CSIStorageCapacity) -> Hint:
    if before is None:
        return Hint.QUEUE
    was, now = _largest_volume(before), _largest_volume(after)
    return hint(now is not None and (was is None or now > was))


def _largest_volume(capacity: storage.CSIStorageCapacity) -> int | None:
    limit = capacity.maximum_volume_size if capacity.maximum_volume_size is not None else capacity.capacity
    return quantities.stored_amount(limit).value if limit is not None else None


VOLUME_BINDING: tuple[Registration, ...] = (
    registers(Resource.STORAGE_CLASS, Action.ADD | Action.UPDATE, _after_class),
    registers(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD | Action.UPDATE, after_claim),
    registers(Resource.PERSISTENT_VOLUME, Action.ADD | Action.UPDATE),
    registers(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL),
    registers(Resource.CSI_NODE, Action.ADD | Action.UPDATE, _after_csi_node),
    registers(Resource.CSI_DRIVER, Action.UPDATE, _after_driver),
    registers(Resource.CSI_STORAGE_CAPACITY, Action.ADD | Action.UPDATE, _after_capacity),
)
"""What VolumeBinding registers."""

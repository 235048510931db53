"""What VolumeZone wants to hear of: claims, the labels of volumes, classes that wait, and nodes."""

from __future__ import annotations

from schedctl.api import storage, topology
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.claim_hints import after_named_claim, hint
from schedctl.framework.events import Action, Hint, Registration, Resource, registers


def _after_new_class(pod: PodInfo, before: None, after: storage.StorageClass) -> Hint:
    return hint(after.volume_binding_mode == storage.WAIT_FOR_FIRST_CONSUMER)


def _after_volume(pod: PodInfo, before: storage.PersistentVolume | None, after: storage.PersistentVolume) -> Hint:
    return hint(before is None or zones_by_label(before) != zones_by_label(after))


def zones_by_label(volume: storage.PersistentVolume) -> list[tuple[str, frozenset[str]]]:
    """Return each label that says in which zones or regions a volume is, with these."""
    labels = volume.metadata.labels or {}
    found = [
        (key, [zone.strip() for zone in labels[key].split(topology.ZONE_SEPARATOR)])
        for key in topology.LABELS
        if key in labels
    ]
    # upstream logs a label that names an empty zone, and overlooks it
    return [(key, frozenset(zones)) for key, zones in found if all(zones)]


VOLUME_ZONE: tuple[Registration, ...] = (
    registers(Resource.STORAGE_CLASS, Action.ADD, _after_new_class),
    registers(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL),
    registers(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD | Action.UPDATE, after_named_claim),
    registers(Resource.PERSISTENT_VOLUME, Action.ADD | Action.UPDATE, _after_volume),
)
"""What VolumeZone registers."""

"""What VolumeZone wants to hear of: claims, the labels of volumes, classes that wait, and nodes."""

from __future__ import annotations

from schedctl.api.storage import PersistentVolume, StorageClass
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.claim_hints import after_named_claim, hint
from schedctl.framework.events import Action, Hint, Registration, Resource, registers

_WAITS = "WaitForFirstConsumer"
_TOPOLOGY_LABELS = (
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
)
_SEVERAL = "__"
"""What stands between the zones of a label that names several."""


def _after_new_class(pod: PodInfo, before: None, after: StorageClass) -> Hint:
    return hint(after.volume_binding_mode == _WAITS)


def _after_volume(pod: PodInfo, before: PersistentVolume | None, after: PersistentVolume) -> Hint:
    return hint(before is None or _topology(before) != _topology(after))


def _topology(volume: PersistentVolume) -> list[tuple[str, frozenset[str]]]:
    """Return where the labels of a volume say it is; a label that names an empty zone says nothing."""
    labels = volume.metadata.labels or {}
    places = [
        (key, [zone.strip() for zone in labels[key].split(_SEVERAL)]) for key in _TOPOLOGY_LABELS if key in labels
    ]
    return [(key, frozenset(zones)) for key, zones in places if all(zones)]


VOLUME_ZONE: tuple[Registration, ...] = (
    registers(Resource.STORAGE_CLASS, Action.ADD, _after_new_class),
    registers(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL),
    registers(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD | Action.UPDATE, after_named_claim),
    registers(Resource.PERSISTENT_VOLUME, Action.ADD | Action.UPDATE, _after_volume),
)
"""What VolumeZone registers."""

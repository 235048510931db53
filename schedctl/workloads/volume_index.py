"""The volumes of a cluster as the volume controller looks for them: free ones by class, reserved ones by claim."""

from __future__ import annotations

from collections.abc import Iterator

from schedctl.api import meta, storage
from schedctl.cache.changes import ChangeKind
from schedctl.cache.cluster import Cluster
from schedctl.framework.volume_matching import AVAILABLE, ClaimRequirements, capacity, is_reserved_for, thousandths


class VolumeIndex:
    """Finds volumes for claims; a cluster may hold tens of thousands, so that only those in question are looked at."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._generation = -1
        self._place_of: dict[str, dict[str, storage.PersistentVolume]] = {}
        self._free: dict[str, dict[str, storage.PersistentVolume]] = {}
        self._reserved: dict[str, dict[str, storage.PersistentVolume]] = {}

    def best_match(self, claim: storage.PersistentVolumeClaim, *, delayed: bool) -> storage.PersistentVolume | None:
        """Return the volume that the controller binds a claim to which names none, None where there is none.

        Volumes with fewer access modes go first. Of those with as many, one that names the claim goes first, whatever
        its class, then the smallest of the class; of several such the controller takes any, here the first by name.

        Args:
            claim: the claim.
            delayed: whether the class leaves the choice among volumes that name no claim to the scheduler.

        Raises:
            PluginError: the claim's selector cannot be parsed.
        """
        self._catch_up()
        requirements = ClaimRequirements(claim)
        candidates = [*self._reserved_volumes(requirements)]
        if not delayed:
            candidates += self._free_volumes(requirements)
        return min(candidates, key=_order, default=None)

    def _reserved_volumes(self, requirements: ClaimRequirements) -> Iterator[storage.PersistentVolume]:
        for volume in self._reserved.get(meta.key_of(requirements.claim), {}).values():
            modes = set(volume.spec.access_modes or ())
            if (
                is_reserved_for(volume, requirements.claim)
                and requirements.is_met_by(volume)
                and requirements.access <= modes
            ):
                yield volume

    def _free_volumes(self, requirements: ClaimRequirements) -> Iterator[storage.PersistentVolume]:
        for volume in self._free.get(storage.class_of(requirements.claim), {}).values():
            if not any(requirements.objections(volume)):
                yield volume

    def _catch_up(self) -> None:
        generation = self._cluster.generation
        if generation == self._generation:
            return
        changes = self._cluster.changes_since(self._generation) if self._generation >= 0 else None
        self._generation = generation
        if changes is None:
            self._place_of, self._free, self._reserved = {}, {}, {}
            names = list(self._cluster.every(storage.PersistentVolume))
        else:
            subjects = (change.subject for change in changes if change.kind is ChangeKind.OBJECT)
            names = [each.metadata.name for each in subjects if isinstance(each, storage.PersistentVolume)]
        for name in dict.fromkeys(names):
            self._place(name)

    def _place(self, name: str) -> None:
        """Put a volume where it belongs now."""
        self._place_of.pop(name, {}).pop(name, None)
        volume = self._cluster.get(storage.PersistentVolume, name)
        if volume is None:
            return
        reference = volume.spec.claim_ref
        if reference is not None:
            place = self._reserved.setdefault(f"{reference.namespace}/{reference.name}", {})
        elif volume.status.phase == AVAILABLE:
            place = self._free.setdefault(storage.class_of(volume), {})
        else:
            return
        self._place_of[name] = place
        place[name] = volume


def _order(volume: storage.PersistentVolume) -> tuple[int, list[str], bool, int, str]:
    modes, is_free = sorted(set(volume.spec.access_modes or ())), volume.spec.claim_ref is None
    return len(modes), modes, is_free, thousandths(capacity(volume)) if is_free else 0, volume.metadata.name

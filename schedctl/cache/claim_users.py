"""`ClaimUsers`: how many running pods mount each PersistentVolumeClaim, kept current once somebody asks."""

from __future__ import annotations

from collections.abc import Hashable

from typing_extensions import override

from schedctl.cache.arrays import NO_ROWS, IndexArray
from schedctl.cache.counting import CountedCluster, Registry
from schedctl.cache.pod_info import PodInfo
from schedctl.cache.reads import Tracked


class ClaimUsers:
    """How many times running pods mount each PersistentVolumeClaim by name, once somebody asks for it."""

    def __init__(self, cluster: CountedCluster, registry: Registry) -> None:
        self._cluster = cluster
        self._registry = registry
        self._epoch = -1
        self._users: dict[str, int] = {}
        self._changed: dict[str, int] = {}
        self._begins = 0

    def of(self, key: str) -> int:
        """Return how many times a claim (``namespace/name``) is mounted."""
        self._refresh()
        aspect = _ClaimUse(self, key)
        self._cluster.reads.tracked[aspect.name] = aspect
        return self._users.get(key, 0)

    def changed_at(self, key: str) -> int:
        """Return the generation at which that last changed."""
        self._refresh()
        return max(self._changed.get(key, 0), self._begins)

    def count(self, info: PodInfo, sign: int) -> None:
        """Count a pod in (``+1``) or out (``-1``)."""
        for volume in info.pod.spec.volumes or ():
            if volume.persistent_volume_claim is not None:
                key = f"{info.namespace}/{volume.persistent_volume_claim.claim_name}"
                self._users[key] = self._users.get(key, 0) + sign
                self._changed[key] = self._cluster._generation

    def _refresh(self) -> None:
        if self._epoch == self._registry.epoch:
            return
        generation = self._cluster._generation
        if self._epoch < 0:
            self._begins = generation
        before, noted = self._users, self._changed
        self._epoch, self._users, self._changed = self._registry.epoch, {}, {}
        for info in self._cluster._pod_table:
            self.count(info, 1)
        # counted anew, most claims have the users they had: only the others have changed
        moved = [key for key in before.keys() | self._users.keys() if before.get(key, 0) != self._users.get(key, 0)]
        self._changed = noted | dict.fromkeys(moved, generation)


class _ClaimUse(Tracked):
    """Who mounts one claim, which concerns all rows."""

    __slots__ = ("_key", "_users")

    def __init__(self, users: ClaimUsers, key: str) -> None:
        self._users = users
        self._key = key

    @property
    def name(self) -> Hashable:
        """What it is known by."""
        return type(self), self._key

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        return None if self._users.changed_at(self._key) > since else NO_ROWS

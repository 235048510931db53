"""`ClaimUsers`: how many running pods mount each PersistentVolumeClaim, kept current once somebody asks."""

from __future__ import annotations

from collections.abc import Hashable

from typing_extensions import override

from schedctl.cache.arrays import NO_ROWS, IndexArray
from schedctl.cache.counting import CountedCluster, Counter, Registry
from schedctl.cache.pod_info import PodInfo
from schedctl.cache.reads import Tracked


class ClaimUsers(Counter):
    """How many times running pods mount each PersistentVolumeClaim by name, once somebody asks for it."""

    def __init__(self, cluster: CountedCluster, registry: Registry) -> None:
        super().__init__(cluster, registry)
        self._users: dict[str, int] = {}
        self._changed: dict[str, int] = {}
        self._begins = cluster._generation

    def of(self, key: str) -> int:
        """Return how many times a claim (``namespace/name``) is mounted."""
        self.refresh()
        self._cluster.reads.add_tracked(_ClaimUse(self, key))
        return self._users.get(key, 0)

    def last_change(self, key: str) -> int:
        """Return the generation at which that last changed."""
        self.refresh()
        return max(self._changed.get(key, 0), self._begins)

    def count(self, info: PodInfo, sign: int) -> None:
        """Count a pod in (``+1``) or out (``-1``)."""
        for volume in info.pod.spec.volumes or ():
            if volume.persistent_volume_claim is not None:
                key = f"{info.namespace}/{volume.persistent_volume_claim.claim_name}"
                self._users[key] = self._users.get(key, 0) + sign
                self._changed[key] = self._cluster._generation

    @override
    def recount(self) -> None:
        before, noted = self._users, self._changed
        self._users, self._changed = {}, {}
        for info in self._cluster._pod_table:
            self.count(info, 1)
        # counted anew, most claims have the users they had: only the others have changed
        moved = [key for key in before.keys() | self._users.keys() if before.get(key, 0) != self._users.get(key, 0)]
        self._changed = noted | dict.fromkeys(moved, self._cluster._generation)


class _ClaimUse(Tracked):
    """Who mounts one claim, which concerns all rows."""

    __slots__ = ("_key", "_users")

    def __init__(self, users: ClaimUsers, key: str) -> None:
        self._users = users
        self._key = key

    @property
    @override
    def name(self) -> Hashable:
        return type(self), self._key

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        return None if self._users.last_change(self._key) > since else NO_ROWS

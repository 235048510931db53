"""What running pods mount, as codes by row of the pod table.

Which nodes hold a disk, and what would change if some pods came or went, are questions about few things on many pods:
`Mounts` answers them with a comparison over one small matrix, kept current from the cluster's change log.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from schedctl.cache.arrays import CodeArray, IndexArray, IntArray, Interner, grow
from schedctl.cache.changes import Change, ChangeKind
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_changes import PodChanges
from schedctl.cache.pod_info import PodInfo

T = TypeVar("T", bound=Hashable)
NOTHING = -1
"""The code where a pod mounts no more."""


class MountChanges(NamedTuple):
    """What pods that come and go at the positions of a supposed column mount, one entry for each mount.

    Attributes:
        positions: intp (m,), where.
        things: intp (m,), what, by code.
        signs: int64 (m,), +1 for a mount gained, -1 for one lost.
    """

    positions: IndexArray
    things: IndexArray
    signs: IntArray


class Mounts(ABC, Generic[T]):
    """What running pods mount; one for each cluster, which `Cluster.derive` keeps.

    Attributes:
        things: everything any pod ever mounted, by code.
    """

    def __init__(self, cluster: ClusterView) -> None:
        self.things: Interner[T] = Interner()
        self._generation = -1
        # (slots, pods): by pod row, one thing in each slot, and as many slots as the pod with the most mounts needs
        self._codes: CodeArray = np.full((1, 16), NOTHING, np.int32)
        self._node: IndexArray = np.zeros(16, np.intp)
        self._row_of: dict[str, int] = {}

    @abstractmethod
    def read(self, cluster: ClusterView, info: PodInfo) -> Sequence[T]:
        """Return what a pod mounts, a thing once for each time it is mounted."""

    def add_thing(self, thing: T, code: int) -> None:
        """Take note of a thing that no pod mounted before."""

    def note_pod(self, cluster: ClusterView, info: PodInfo) -> None:
        """Take note of a running pod with volumes, before what it mounts is written down."""

    def forget_pod(self, key: str) -> None:
        """Forget what was noted of a pod when it came."""

    def affected_pods(self, change: Change) -> Iterable[str] | None:
        """Return the keys of the pods of which another object's change may tell something new; None for all pods."""
        return ()

    def clear_counts(self) -> None:
        """Forget what was counted: all running pods are about to be written down anew."""

    def count_mounts(self, node: int, codes: Sequence[int]) -> None:
        """Count things that a running pod mounts on a node, by row, a thing once for each time."""

    def uncount_mounts(self, node: int, codes: Sequence[int]) -> None:
        """Take back what was counted for a pod when it was written down."""

    def settle(self, cluster: ClusterView) -> None:
        """Take note that all that happened was taken in."""

    def catch_up(self, cluster: ClusterView) -> None:
        """Take in what happened to the cluster since it was asked last."""
        if self._generation == cluster.generation:
            return
        stale = self._stale(cluster.changes_since(self._generation) if self._generation >= 0 else None)
        self._generation = cluster.generation
        table = cluster.pod_table
        self._codes = grow(self._codes, len(table), NOTHING)
        self._node = grow(self._node, len(table))
        if stale is None:
            for key in self._row_of:
                self.forget_pod(key)
            self._row_of.clear()
            self._codes[:] = NOTHING
            self.clear_counts()
            for info in table:
                self._enter(cluster, info)
        else:
            # all leave before any enters: the row of a pod that is gone may be that of one that came since
            for key in stale:
                if key in self._row_of:
                    self._leave(key)
            for key in stale:
                if key in table.row_of:
                    self._enter(cluster, table.infos[table.row_of[key]])
        self.settle(cluster)

    def codes_of(self, things: Iterable[T]) -> list[int]:
        """Return the codes of things, giving one to each that is new."""
        codes = []
        for thing in things:
            code = self.things.codes.get(thing)
            if code is None:
                code = self.things.code(thing)
                self.add_thing(thing, code)
            codes.append(code)
        return codes

    def pods_mounting(self, cluster: ClusterView, codes: Collection[int]) -> IndexArray:
        """Return the rows of the running pods that mount one of some things, once for each mount, intp (m,)."""
        pods = len(cluster.pod_table)
        table = self._codes[:, :pods]
        if len(codes) == 1:
            found = table == next(iter(codes))
        else:
            is_wanted = np.zeros(len(self.things) + 1, np.bool_)  # the last is for `NOTHING`
            is_wanted[list(codes)] = True
            found = is_wanted[table]
        hits = np.flatnonzero(found)  # positions in the matrix laid out slot after slot
        return hits if len(table) == 1 else hits % pods

    def mount_changes(self, cluster: ClusterView, changes: PodChanges) -> MountChanges:
        """Return what the pods supposed to come and go mount."""
        codes = self._codes[:, changes.rows]
        codes[:, changes.rows < 0] = NOTHING  # -1, for a pod that does not run, has gathered the last column
        slots, which = np.nonzero(codes >= 0)
        things = codes[slots, which].astype(np.intp)
        strangers = np.flatnonzero(changes.rows < 0)
        if len(strangers):
            mounted = [self.codes_of(self.read(cluster, info)) for info in changes.pods[strangers].tolist()]
            which = np.concatenate((which, np.repeat(strangers, [len(each) for each in mounted])))
            things = np.concatenate((things, np.array([code for each in mounted for code in each], np.intp)))
        return MountChanges(changes.positions[which], things, changes.signs[which])

    # -- inside ------------------------------------------------------------------

    def _stale(self, changes: Iterable[Change] | None) -> dict[str, None] | None:
        """Return the keys of the pods to be looked at again, None for all."""
        if changes is None:
            return None
        stale: dict[str, None] = {}  # a set in order, so that new things get the same codes in every run
        for change in changes:
            if change.kind in (ChangeKind.POD_ADDED, ChangeKind.POD_REMOVED):
                if change.subject.pod.spec.volumes:
                    stale[change.subject.key] = None
                continue
            affected = self.affected_pods(change)
            if affected is None:
                return None
            stale |= dict.fromkeys(affected)
        return stale

    def _enter(self, cluster: ClusterView, info: PodInfo) -> None:
        """Write down what a running pod mounts."""
        if not info.pod.spec.volumes:
            return
        self.note_pod(cluster, info)
        mounted = self.codes_of(self.read(cluster, info))
        row = cluster.pod_table.row_of[info.key]
        self._row_of[info.key] = row
        self._node[row] = node = int(cluster.pod_table.node[row])
        if len(mounted) > len(self._codes):
            more = np.full((len(mounted) - len(self._codes), self._codes.shape[1]), NOTHING, np.int32)
            self._codes = np.concatenate((self._codes, more))
        self._codes[: len(mounted), row] = mounted
        self.count_mounts(node, mounted)

    def _leave(self, key: str) -> None:
        """Forget what a pod mounts."""
        self.forget_pod(key)
        row = self._row_of.pop(key)
        codes = self._codes[:, row]
        self.uncount_mounts(int(self._node[row]), codes[codes != NOTHING].tolist())
        codes[:] = NOTHING

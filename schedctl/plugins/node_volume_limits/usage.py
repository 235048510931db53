"""What NodeVolumeLimits knows of nodes: the drivers there, how many volumes each can attach, and how many it has.

Volumes count once on a node, however many pods there mount them, and so do those that a VolumeAttachment says are
attached though no pod there mounts them. `VolumesInUse` keeps the counts by driver and node as pods come and go;
`HypotheticalMounts` is what changes at the positions of a supposed column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from schedctl.api import meta, quantities, storage
from schedctl.cache.arrays import BoolArray, CodeArray, IndexArray, IntArray, Interner, grow
from schedctl.cache.changes import Change, ChangeKind
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.cache.reads import Journal, Tracked
from schedctl.framework.mounts import Mounts
from schedctl.plugins.node_volume_limits.volumes import CSIVolume, Fault, attachments

UNLIMITED = quantities.MAX_INT64
NO_DRIVER = -1
"""The driver of a fault."""
_FEW = 32
"""Up to how many nodes are asked about one by one."""
_SHIFT = 32
"""A node row and the code of a volume make a number: ``row << 32 | code``."""
_CODE = (1 << _SHIFT) - 1


@dataclass(frozen=True, slots=True)
class NodeDrivers:
    """What the CSINodes say, by node row.

    Attributes:
        known: bool (rows,), nodes that have a CSINode.
        known_everywhere: whether all nodes have one.
        limited: bool (rows,), nodes on which some driver has a limit.
        limited_somewhere: whether there is such a node.
        limits: by driver, int64 (rows,), how many volumes it attaches, `UNLIMITED` where it does not say.
        installed: by driver, bool (rows,), where it is.
    """

    known: BoolArray
    known_everywhere: bool
    limited: BoolArray
    limited_somewhere: bool
    limits: dict[str, IntArray]
    installed: dict[str, BoolArray]


def node_drivers(cluster: ClusterView) -> NodeDrivers:
    """Return what the CSINodes of a cluster say; for `Cluster.derive`, from CSINode and Node."""
    rows, row_of = len(cluster.node_table), cluster.node_table.row_of
    known, limited = np.zeros(rows, np.bool_), np.zeros(rows, np.bool_)
    limits: dict[str, IntArray] = {}
    installed: dict[str, BoolArray] = {}
    for name, csi_node in cluster.every(storage.CSINode).items():
        row = row_of.get(name)
        if row is None:
            continue
        known[row] = True
        for driver in csi_node.spec.drivers or ():
            if driver.name not in installed:
                installed[driver.name] = np.zeros(rows, np.bool_)
                limits[driver.name] = np.full(rows, UNLIMITED, np.int64)
            installed[driver.name][row] = True
            if driver.allocatable is not None and driver.allocatable.count is not None:
                limits[driver.name][row] = driver.allocatable.count
                limited[row] = True
    return NodeDrivers(known, bool(known[cluster.rows].all()), limited, bool(limited.any()), limits, installed)


@dataclass(frozen=True, slots=True)
class HypotheticalMounts:
    """What pods that come and go change at the positions of a supposed column, an entry for each volume they mount.

    Attributes:
        positions, things: intp (m,), where and which, each pair once.
        before: int64 (m,), how many mounts it has on that node.
        after: int64 (m,), how many it would have there.
        attached: bool (m,), whether a VolumeAttachment keeps it there in any case.
    """

    positions: IndexArray
    things: IndexArray
    before: IntArray
    after: IntArray
    attached: BoolArray


class MountedRows(Tracked):
    """Which nodes have got other volumes; for whoever keeps answers about them."""

    def __init__(self, volumes: VolumesInUse, cluster: ClusterView) -> None:
        self._volumes = volumes
        self._cluster = cluster
        self.journal = Journal(0)

    @override
    def rows_changed(self, since: int) -> IndexArray | None:
        self._volumes.catch_up(self._cluster)
        rows = self.journal.since(since)
        return None if rows is None else np.array(sorted(rows), np.intp)

    def note(self, row: int) -> None:
        """Note that a node has other volumes."""
        self.journal.note(self._cluster.generation, row)

    def begin(self) -> None:
        """Note that all nodes may have."""
        self.journal.begin(self._cluster.generation)


class VolumesInUse(Mounts[CSIVolume | Fault]):
    """The volumes that are attached to nodes. Pods count as on a node with a CSINode: no other has limits.

    Attributes:
        rows: which nodes have got others.
    """

    def __init__(self, cluster: ClusterView) -> None:
        super().__init__(cluster)
        self.rows = MountedRows(self, cluster)
        self._faults: list[int] = []
        self._drivers: Interner[str] = Interner()
        self._driver_of: CodeArray = np.empty(0, np.int32)
        self._mounts: dict[int, int] = {}
        self._mount_counts: dict[int, int] = {}
        self._counts: list[IntArray] = []
        self._rows = len(cluster.node_table)
        self._users: dict[tuple[type, str], set[str]] = {}
        self._used: dict[str, set[tuple[type, str]]] = {}
        self._attached: frozenset[int] = frozenset()
        self._attached_names: set[str] = set()
        self._attached_is_known = False

    # -- asking ------------------------------------------------------------------

    def used(self, nodes: Nodes, driver: str, supposed: HypotheticalMounts | None) -> IntArray:
        """Return how many volumes of a driver each node of a column has attached, int64 (n,)."""
        code = self._drivers.find_code(driver)
        used = np.array(nodes.gather(self._counts[code])) if code >= 0 else np.zeros(len(nodes), np.int64)
        if supposed is not None:
            ours = self._driver_of[supposed.things] == code
            gained = (supposed.after > 0).astype(np.int64) - (supposed.before > 0)
            np.add.at(used, supposed.positions, gained * (ours & ~supposed.attached))
        return used

    def is_fresh(self, volume: CSIVolume) -> bool:
        """Return whether no running pod mounts a volume."""
        return not self._mounts.get(self.things.find_code(volume))

    def count_mounted(
        self, nodes: Nodes, volumes: Sequence[CSIVolume], supposed: HypotheticalMounts | None
    ) -> IntArray | int:
        """Return how many of some volumes pods on each node mount already, int64 (n,); 0 where none does anywhere."""
        found: IntArray | int = 0
        cluster = nodes.cluster
        for volume in volumes:
            thing = self.things.find_code(volume)
            if thing < 0:
                continue
            if len(nodes) <= _FEW:  # a dry run asks about few nodes, often: cheaper than a pass over all pods
                here = np.array([row << _SHIFT | thing in self._mount_counts for row in nodes.rows.tolist()], np.bool_)
            else:
                by_row = np.zeros(len(cluster.node_table), np.bool_)
                by_row[cluster.pod_table.node[self.pods_mounting(cluster, (thing,))]] = True
                here = nodes.gather(by_row)
            if supposed is not None:
                here = here.copy()
                ours = supposed.things == thing
                here[supposed.positions[ours]] = supposed.after[ours] > 0
            found = found + here.astype(np.int64)
        return found

    def faulty(self, nodes: Nodes, supposed: HypotheticalMounts | None) -> BoolArray | None:
        """Return which nodes have a pod whose volumes cannot be told, bool (n,); None where no pod ever was such."""
        if not self._faults:
            return None
        cluster = nodes.cluster
        by_row = np.bincount(
            cluster.pod_table.node[self.pods_mounting(cluster, self._faults)], minlength=len(cluster.node_table)
        )
        faults = np.array(nodes.gather(by_row))
        if supposed is not None:
            ours = self._driver_of[supposed.things] == NO_DRIVER
            np.add.at(faults, supposed.positions[ours], (supposed.after - supposed.before)[ours])
        return faults > 0

    def hypothetical_mounts(self, nodes: Nodes) -> HypotheticalMounts | None:
        """Return what the pods supposed to come and go change, None where none does."""
        if nodes.changes is None:
            return None
        changed = self.mount_changes(nodes.cluster, nodes.changes)
        things = len(self.things)
        # a pod may come and another go with one volume: what counts is the sum for each node and volume
        pairs, which = np.unique(changed.positions * things + changed.things, return_inverse=True)
        positions, mounted = np.divmod(pairs, things)
        net = np.zeros(len(pairs), np.int64)
        np.add.at(net, which, changed.signs)
        pairs_there = (nodes.rows[positions] << _SHIFT | mounted).tolist()
        before = np.array([self._mount_counts.get(pair, 0) for pair in pairs_there], np.int64)
        attached = np.array([pair in self._attached for pair in pairs_there], np.bool_)
        return HypotheticalMounts(positions, mounted, before, before + net, attached)

    # -- keeping current ---------------------------------------------------------

    def read(self, cluster: ClusterView, info: PodInfo) -> Sequence[CSIVolume | Fault]:
        """Return the volumes of a running pod, and what is wrong with them."""
        found = attachments(cluster, info, migrating=True, running=True)
        return (*found.volumes, *((found.fault,) if found.fault is not None else ()))

    def add_thing(self, thing: CSIVolume | Fault, code: int) -> None:
        """Note the driver of a volume."""
        self._driver_of = grow(self._driver_of, code + 1)
        if isinstance(thing, Fault):
            self._faults.append(code)
            self._driver_of[code] = NO_DRIVER
        else:
            self._driver_of[code] = driver = self._drivers.code(thing.driver)
            if driver == len(self._counts):
                self._counts.append(np.zeros(self._rows, np.int64))

    def note_pod(self, cluster: ClusterView, info: PodInfo) -> None:
        """Note the claims that a pod uses, and the volumes they are bound to."""
        used = self._used[info.key] = set()
        for volume in info.pod.spec.volumes or ():
            name = storage.claim_name(info.pod, volume)
            if name is not None:
                key = f"{info.namespace}/{name}"
                used.add((storage.PersistentVolumeClaim, key))
                claim = cluster.get(storage.PersistentVolumeClaim, key)
                if claim is not None and claim.spec.volume_name:
                    used.add((storage.PersistentVolume, claim.spec.volume_name))
        for each in used:
            self._users.setdefault(each, set()).add(info.key)

    @override
    def forget_pod(self, key: str) -> None:
        for each in self._used.pop(key):
            users = self._users[each]
            users.remove(key)
            if not users:
                del self._users[each]

    def affected_pods(self, change: Change) -> Iterable[str] | None:
        """Return the pods that use a claim, or one that is bound to a volume; None, which is all pods, for a class."""
        subject = change.subject
        match subject:
            case storage.PersistentVolumeClaim():
                return self._users.get((storage.PersistentVolumeClaim, meta.key_of(subject)), ())
            case storage.PersistentVolume():
                if subject.metadata.name in self._attached_names:
                    self._attached_is_known = False
                return self._users.get((storage.PersistentVolume, subject.metadata.name), ())
            case storage.StorageClass():
                return None
            case storage.VolumeAttachment():
                self._attached_is_known = False
        if change.kind is ChangeKind.NODES:
            self._attached_is_known = False
        return ()

    @override
    def clear_counts(self) -> None:
        self.rows.begin()
        self._mounts.clear()
        self._mount_counts.clear()
        self._attached, self._attached_is_known = frozenset(), False
        for counts in self._counts:
            counts[:] = 0

    def count_mounts(self, node: int, codes: Sequence[int]) -> None:
        """Count the volumes that the node did not have yet."""
        self.rows.note(node)
        for code in codes:
            pair = node << _SHIFT | code
            before = self._mount_counts.get(pair, 0)
            self._mount_counts[pair] = before + 1
            self._mounts[code] = self._mounts.get(code, 0) + 1
            if not before and pair not in self._attached:
                self._count(node, code, 1)

    def uncount_mounts(self, node: int, codes: Sequence[int]) -> None:
        """Take back the volumes that nobody else has there."""
        self.rows.note(node)
        for code in codes:
            pair = node << _SHIFT | code
            self._mounts[code] -= 1
            left = self._mount_counts[pair] - 1
            if left:
                self._mount_counts[pair] = left
                continue
            del self._mount_counts[pair]
            if pair not in self._attached:
                self._count(node, code, -1)

    def settle(self, cluster: ClusterView) -> None:
        """Count what VolumeAttachments keep on nodes, where that may have changed."""
        if not self._attached_is_known:
            self._attach(cluster)
        if len(cluster.node_table) > self._rows:
            self._rows = len(cluster.node_table)
            self._counts = [grow(counts, self._rows) for counts in self._counts]

    def _count(self, node: int, code: int, by: int) -> None:
        driver = int(self._driver_of[code])
        if driver != NO_DRIVER:
            self._counts[driver] = counts = grow(self._counts[driver], node + 1)
            counts[node] += by

    def _attach(self, cluster: ClusterView) -> None:
        """Take in the VolumeAttachments; only those of volumes that are written as CSI volumes count."""
        self._attached_is_known = True
        self._attached_names.clear()
        attached: set[int] = set()
        for attachment in cluster.every(storage.VolumeAttachment).values():
            spec = attachment.spec
            name, row = spec.source.persistent_volume_name, cluster.node_table.row_of.get(spec.node_name)
            if name is None or row is None or not spec.attacher:
                continue
            self._attached_names.add(name)
            volume = cluster.get(storage.PersistentVolume, name)
            if volume is not None and volume.spec.csi is not None:
                (code,) = self.codes_of((CSIVolume(spec.attacher, volume.spec.csi.volume_handle),))
                attached.add(row << _SHIFT | code)
        # a volume that a pod there mounts is counted already, whether or not it is attached
        for pair in attached ^ self._attached:
            self.rows.note(pair >> _SHIFT)
            if pair not in self._mount_counts:
                self._count(pair >> _SHIFT, pair & _CODE, 1 if pair in attached else -1)
        self._attached = frozenset(attached)


def volumes_in_use(cluster: ClusterView) -> VolumesInUse:
    """Return the volumes in use in a cluster, as it is now."""
    with cluster.rest_on():  # for that, there is `rows`
        volumes = cluster.derive(VolumesInUse)
        cluster.note_reads(
            storage.PersistentVolumeClaim, storage.PersistentVolume, storage.StorageClass, storage.VolumeAttachment
        )
        volumes.catch_up(cluster)
    return volumes

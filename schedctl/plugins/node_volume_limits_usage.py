"""What NodeVolumeLimits knows of nodes: the drivers there, how many volumes each can attach, and how many it has.

Volumes count once on a node, however many pods there mount them, and so do those that a VolumeAttachment says are
attached though no pod there mounts them. `VolumesInUse` keeps the counts by driver and node as pods come and go;
`Supposed` is what changes at the positions of a supposed column.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from schedctl.api.meta import key_of
from schedctl.api.quantities import MAX_INT64
from schedctl.api.storage import (
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
    claim_name,
)
from schedctl.cache.arrays import BoolArray, CodeArray, IndexArray, IntArray, Interner, grown
from schedctl.cache.cluster import Change, ChangeKind, Cluster
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.mounts import Mounts
from schedctl.plugins.node_volume_limits_volumes import CSIVolume, Fault, attachments

UNLIMITED = MAX_INT64
NO_DRIVER = -1
"""The driver of a fault."""


@dataclass(frozen=True, slots=True)
class NodeDrivers:
    """What the CSINodes say, by node row.

    Attributes:
        known: bool (rows,), nodes that have a CSINode.
        limited: bool (rows,), nodes on which some driver has a limit.
        limits: by driver, int64 (rows,), how many volumes it attaches, `UNLIMITED` where it does not say.
        installed: by driver, bool (rows,), where it is.
    """

    known: BoolArray
    limited: BoolArray
    limits: dict[str, IntArray]
    installed: dict[str, BoolArray]


def node_drivers(cluster: Cluster) -> NodeDrivers:
    """Return what the CSINodes of a cluster say; for `Cluster.derived`, from CSINode and Node."""
    rows, row_of = len(cluster.node_table), cluster.node_table.row_of
    drivers = NodeDrivers(np.zeros(rows, np.bool_), np.zeros(rows, np.bool_), {}, {})
    for name, csi_node in cluster.every(CSINode).items():
        row = row_of.get(name)
        if row is None:
            continue
        drivers.known[row] = True
        for driver in csi_node.spec.drivers or ():
            if driver.name not in drivers.installed:
                drivers.installed[driver.name] = np.zeros(rows, np.bool_)
                drivers.limits[driver.name] = np.full(rows, UNLIMITED, np.int64)
            drivers.installed[driver.name][row] = True
            if driver.allocatable is not None and driver.allocatable.count is not None:
                drivers.limits[driver.name][row] = driver.allocatable.count
                drivers.limited[row] = True
    return drivers


@dataclass(frozen=True, slots=True)
class Supposed:
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


class VolumesInUse(Mounts[CSIVolume | Fault]):
    """The volumes that are attached to nodes. Pods count as on a node with a CSINode: no other has limits."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self._faults: list[int] = []
        self._drivers: Interner[str] = Interner()
        self._driver_of: CodeArray = np.empty(0, np.int32)
        self._counts: IntArray = np.zeros((0, 0), np.int64)
        self._users: dict[tuple[type, str], set[str]] = {}
        self._used: dict[str, set[tuple[type, str]]] = {}
        self._attached: tuple[IndexArray, IndexArray] = np.empty(0, np.intp), np.empty(0, np.intp)
        self._attached_names: set[str] = set()
        self._attached_is_known = False

    # -- asking ------------------------------------------------------------------

    def used(self, nodes: Nodes, driver: str, supposed: Supposed | None) -> IntArray:
        """Return how many volumes of a driver each node of a column has attached, int64 (n,)."""
        code = self._drivers.known(driver)
        counted = 0 <= code < len(self._counts)  # pods that do not run may bring drivers along
        used = np.array(nodes.gather(self._counts[code])) if counted else np.zeros(len(nodes), np.int64)
        if supposed is not None:
            ours = self._driver_of[supposed.things] == code
            gained = (supposed.after > 0).astype(np.int64) - (supposed.before > 0)
            np.add.at(used, supposed.positions, gained * (ours & ~supposed.attached))
        return used

    def mounted(self, nodes: Nodes, volumes: Sequence[CSIVolume], supposed: Supposed | None) -> IntArray | int:
        """Return how many of some volumes pods on each node mount already, int64 (n,); 0 where none does anywhere."""
        found: IntArray | int = 0
        cluster = nodes.cluster
        for volume in volumes:
            thing = self.things.known(volume)
            if thing < 0:
                continue
            by_row = np.zeros(len(cluster.node_table), np.bool_)
            by_row[cluster.pod_table.node[self.mounting(cluster, (thing,))]] = True
            here = nodes.gather(by_row)
            if supposed is not None:
                here = here.copy()
                ours = supposed.things == thing
                here[supposed.positions[ours]] = supposed.after[ours] > 0
            found = found + here.astype(np.int64)
        return found

    def faulty(self, nodes: Nodes, supposed: Supposed | None) -> BoolArray | None:
        """Return which nodes have a pod whose volumes cannot be told, bool (n,); None where no pod ever was such."""
        if not self._faults:
            return None
        cluster = nodes.cluster
        by_row = np.bincount(
            cluster.pod_table.node[self.mounting(cluster, self._faults)], minlength=len(cluster.node_table)
        )
        faults = np.array(nodes.gather(by_row))
        if supposed is not None:
            ours = self._driver_of[supposed.things] == NO_DRIVER
            np.add.at(faults, supposed.positions[ours], (supposed.after - supposed.before)[ours])
        return faults > 0

    def supposed(self, nodes: Nodes) -> Supposed | None:
        """Return what the pods supposed to come and go change, None where none does."""
        if nodes.changes is None:
            return None
        changed = self.changed(nodes.cluster, nodes.changes)
        things = len(self.things)
        pairs, which = np.unique(changed.positions * things + changed.things, return_inverse=True)
        positions, mounted = np.divmod(pairs, things)
        net = np.zeros(len(pairs), np.int64)
        np.add.at(net, which, changed.signs)
        there = nodes.rows[positions] * things + mounted
        before = _occurrences(there, *self.mounts_of(nodes.cluster, mounted), things)
        attached = _occurrences(there, *self._attached, things) > 0
        return Supposed(positions, mounted, before, before + net, attached)

    # -- keeping current ---------------------------------------------------------

    def read(self, cluster: Cluster, info: PodInfo) -> Sequence[CSIVolume | Fault]:
        """Return the volumes of a running pod, and what is wrong with them."""
        found = attachments(cluster, info, migrating=True, running=True)
        return (*found.volumes, *((found.fault,) if found.fault is not None else ()))

    def met(self, thing: CSIVolume | Fault, code: int) -> None:
        """Note the driver of a volume."""
        self._driver_of = grown(self._driver_of, code + 1)
        if isinstance(thing, Fault):
            self._faults.append(code)
            self._driver_of[code] = NO_DRIVER
        else:
            self._driver_of[code] = self._drivers.code(thing.driver)

    def came(self, cluster: Cluster, info: PodInfo) -> None:
        """Note the claims that a pod uses, and the volumes they are bound to."""
        used = self._used[info.key] = set()
        for volume in info.pod.spec.volumes or ():
            name = claim_name(info.pod, volume)
            if name is not None:
                key = f"{info.namespace}/{name}"
                used.add((PersistentVolumeClaim, key))
                claim = cluster.get(PersistentVolumeClaim, key)
                if claim is not None and claim.spec.volume_name:
                    used.add((PersistentVolume, claim.spec.volume_name))
        for each in used:
            self._users.setdefault(each, set()).add(info.key)

    def went(self, key: str) -> None:
        """Forget what a pod uses."""
        for each in self._used.pop(key):
            users = self._users[each]
            users.remove(key)
            if not users:
                del self._users[each]

    def affected(self, change: Change) -> Iterable[str] | None:
        """Return the pods that use a claim, or one that is bound to a volume; None, which is all pods, for a class."""
        subject = change.subject
        match subject:
            case PersistentVolumeClaim():
                return self._users.get((PersistentVolumeClaim, key_of(subject)), ())
            case PersistentVolume():
                if subject.metadata.name in self._attached_names:
                    self._attached_is_known = False
                return self._users.get((PersistentVolume, subject.metadata.name), ())
            case StorageClass():
                return None
            case VolumeAttachment():
                self._attached_is_known = False
        if change.kind is ChangeKind.NODES:
            self._attached_is_known = False
        return ()

    def moved(self, cluster: Cluster, nodes: Collection[int] | None) -> None:
        """Count the volumes of these nodes anew, and of those where a VolumeAttachment may have changed."""
        if nodes is None or not self._attached_is_known:
            before = self._attached[0].tolist()
            self._attach(cluster)
            nodes = None if nodes is None else {*nodes, *before, *self._attached[0].tolist()}
        if missing := len(self._drivers) - len(self._counts):
            self._counts = np.concatenate((self._counts, np.zeros((missing, self._counts.shape[1]), np.int64)))
        self._counts = grown(self._counts, len(cluster.node_table))
        if nodes is not None and not nodes:
            return
        self._counts[:, slice(None) if nodes is None else list(nodes)] = 0
        node, thing = self.mounts_on(cluster, nodes)
        if len(self._attached[0]):
            here = slice(None) if nodes is None else np.isin(self._attached[0], list(nodes))
            node = np.concatenate((node, self._attached[0][here]))
            thing = np.concatenate((thing, self._attached[1][here]))
        once = np.unique(node * len(self.things) + thing)
        node, thing = np.divmod(once, max(len(self.things), 1))
        driver = self._driver_of[thing]
        counted = driver != NO_DRIVER
        np.add.at(self._counts, (driver[counted], node[counted]), 1)

    def _attach(self, cluster: Cluster) -> None:
        """Take in the VolumeAttachments; only those of volumes that are written as CSI volumes count."""
        self._attached_is_known = True
        self._attached_names.clear()
        nodes: list[int] = []
        volumes: list[CSIVolume] = []
        for attachment in cluster.every(VolumeAttachment).values():
            spec = attachment.spec
            name, row = spec.source.persistent_volume_name, cluster.node_table.row_of.get(spec.node_name)
            if name is None or row is None or not spec.attacher:
                continue
            self._attached_names.add(name)
            volume = cluster.get(PersistentVolume, name)
            if volume is not None and volume.spec.csi is not None:
                nodes.append(row)
                volumes.append(CSIVolume(spec.attacher, volume.spec.csi.volume_handle))
        self._attached = np.array(nodes, np.intp), np.array(self.codes_of(volumes), np.intp)


def volumes_in_use(cluster: Cluster) -> VolumesInUse:
    """Return the volumes in use in a cluster, as it is now."""
    volumes = cluster.derived(VolumesInUse)
    cluster.rely_on(PersistentVolumeClaim, PersistentVolume, StorageClass, VolumeAttachment)
    volumes.catch_up(cluster)
    return volumes


def _occurrences(wanted: IntArray, nodes: IndexArray, things: IndexArray, number: int) -> IntArray:
    """Return how often each pair of node and thing, as ``node * number + thing``, is among some, int64 (m,)."""
    pairs = np.sort(nodes * number + things)
    return np.searchsorted(pairs, wanted, "right") - np.searchsorted(pairs, wanted)

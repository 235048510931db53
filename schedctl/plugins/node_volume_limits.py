"""NodeVolumeLimits: how many volumes of a CSI driver can be attached to a node.

A node's CSINode says which drivers it has and how many volumes each can attach. A pod is kept away where its volumes
would be too many, and, if the CSIDriver asks for that (KEP-5030), where a driver it needs is not installed. Which
volumes count is in ``node_volume_limits_volumes``, how many there are already in ``node_volume_limits_usage``.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

from schedctl.api.nodes import Node
from schedctl.api.storage import (
    CSIDriver,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
    claim_name,
)
from schedctl.cache.arrays import BoolArray
from schedctl.cache.cluster import Change, ChangeKind, Cluster
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.csi_migration import migration_of
from schedctl.framework.cycles import Cycle, StateKey
from schedctl.framework.events import Registration
from schedctl.framework.points import FilterPlugin, PreFilterPlugin, Scope
from schedctl.framework.reasons import ACCEPT, Reason, Verdicts
from schedctl.framework.statuses import SKIP, Code, Status
from schedctl.plugins.node_volume_limits_events import NODE_VOLUME_LIMITS
from schedctl.plugins.node_volume_limits_usage import NodeDrivers, node_drivers, volumes_in_use
from schedctl.plugins.node_volume_limits_volumes import (
    Attachments,
    CSIVolume,
    Fault,
    attachments,
    is_attached,
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the pod needs attached.

    Attributes:
        elsewhere: on nodes without a CSINode, where volumes of in-tree plugins do not count.
        here: on nodes with one.
    """

    elsewhere: Attachments
    here: Attachments


WANTED = StateKey[Wanted]("NodeVolumeLimits")


class NodeVolumeLimits(PreFilterPlugin, FilterPlugin):
    """Keeps a pod from nodes that can attach no more volumes of a CSI driver it needs."""

    reads = (CSIDriver, CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment)

    exceeded = Reason("node(s) exceed max volume count")
    driverless = Reason("{driver} CSI driver is not installed on the node")
    claimless = Reason('looking up PVC {claim}: persistentvolumeclaim "{name}" not found', unresolvable=True)
    unreadable = Reason("{fault}", code=Code.ERROR)

    def signature(self, pod: PodInfo) -> Hashable | None:
        """The volumes that may count; nothing is reused for a pod with ephemeral ones, which are its own."""
        sources: list[Hashable] = []
        for volume in pod.pod.spec.volumes or ():
            if volume.ephemeral is not None and volume.persistent_volume_claim is None:
                return None
            if is_attached(volume):
                migration = migration_of(volume)
                claim = claim_name(pod.pod, volume)
                sources.append((volume.name, claim, migration and getattr(volume, migration.source)))
        return (pod.namespace, *sources) if sources else ()

    def moved_by(self, cycle: Cycle, change: Change) -> Scope:
        """A pod with volumes changes its own node, for a pod that has some; so does everything about storage."""
        if not any(map(is_attached, cycle.pod.pod.spec.volumes or ())):
            return Scope.NOTHING
        if change.kind is ChangeKind.OBJECT:
            return Scope.EVERYTHING if isinstance(change.subject, self.reads) else Scope.NOTHING
        if change.kind in (ChangeKind.POD_ADDED, ChangeKind.POD_REMOVED):
            return Scope.ROW if any(map(is_attached, change.subject.pod.spec.volumes or ())) else Scope.NOTHING
        return Scope.ROW if change.kind is ChangeKind.NODES else Scope.NOTHING

    def events_to_register(self) -> tuple[Registration, ...]:
        """Attachments that end, and drivers and limits that change."""
        return NODE_VOLUME_LIMITS

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Skip pods without volumes that may count."""
        if not any(map(is_attached, cycle.pod.pod.spec.volumes or ())):
            return SKIP
        cycle.state[WANTED] = _wanted(nodes.cluster, cycle.pod)
        return None

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Refuse nodes that lack a driver, or where a driver would have more volumes than it can attach."""
        cluster = nodes.cluster
        wanted = cycle.state[WANTED] if WANTED in cycle.state else _wanted(cluster, cycle.pod)
        if not any(each.volumes or each.fault is not None for each in (wanted.here, wanted.elsewhere)):
            return ACCEPT
        drivers = cluster.derived(node_drivers, CSINode, Node)
        known = nodes.gather(drivers.known)
        verdicts = self._unready(wanted.here, nodes, known, drivers)
        if not known.all():
            verdicts |= self._unready(wanted.elsewhere, nodes, ~known, drivers)
        if wanted.here.volumes and wanted.here.fault is None and drivers.limited.any():
            verdicts = verdicts.then(self._overfull(wanted.here, nodes, drivers))
        return verdicts

    def _unready(self, wanted: Attachments, nodes: Nodes, where: BoolArray, drivers: NodeDrivers) -> Verdicts:
        """Refuse nodes, of those of a mask, because the volumes cannot be told, or a driver is missing."""
        if wanted.fault is not None:
            return self._fault(wanted.fault, where)
        verdicts = ACCEPT
        for driver in wanted.drivers:
            missing = where & ~nodes.gather(drivers.installed[driver]) if driver in drivers.installed else where.copy()
            opted = nodes.cluster.get(CSIDriver, driver) if missing.any() else None
            if opted is not None and opted.spec.prevent_pod_scheduling_if_missing:
                volumes = wanted.names(driver)
                verdicts = verdicts.then(self.driverless.where(missing, driver=driver, volumes=volumes))
        return verdicts

    def _overfull(self, wanted: Attachments, nodes: Nodes, drivers: NodeDrivers) -> Verdicts:
        """Refuse nodes on which a limit would be exceeded, fail on those whose volumes cannot be counted."""
        in_use = volumes_in_use(nodes.cluster)
        supposed = in_use.supposed(nodes)
        verdicts = ACCEPT
        faulty = in_use.faulty(nodes, supposed)
        if faulty is not None:
            faulty &= nodes.gather(drivers.limited)
            if faulty.any():
                verdicts = self.unreadable.where(faulty, fault=_FaultyPods(nodes, True), pod=_FaultyPods(nodes, False))
        for driver in wanted.drivers:
            if driver not in drivers.limits:
                continue
            volumes = wanted.of(driver)
            used = in_use.used(nodes, driver, supposed)
            limit = nodes.gather(drivers.limits[driver])
            new = len(volumes) - in_use.mounted(nodes, volumes, supposed)
            over = (used + new > limit) & (new > 0)
            if over.any():
                verdicts = verdicts.then(
                    self.exceeded.where(
                        over,
                        driver=driver,
                        limit=limit,
                        used=used,
                        new=new,
                        volumes=wanted.names(driver),
                        holders=_Holders(nodes, driver),
                        attached=_AttachedVolumes(nodes, driver),
                    )
                )
        return verdicts

    def _fault(self, fault: Fault, where: BoolArray) -> Verdicts:
        if not fault.text:
            return self.claimless.where(where.copy(), claim=fault.claim, name=fault.claim.partition("/")[2])
        return self.unreadable.where(where.copy(), fault=fault.text)


def _wanted(cluster: Cluster, pod: PodInfo) -> Wanted:
    return Wanted(
        attachments(cluster, pod, migrating=False, running=False),
        attachments(cluster, pod, migrating=True, running=False),
    )


@dataclass(frozen=True, slots=True)
class _Holders:
    """The pods of each node for which volumes of a driver are attached, and how many, found when asked for."""

    nodes: Nodes
    driver: str

    def at(self, position: int) -> dict[str, int]:
        cluster, holders = self.nodes.cluster, {}
        for pod in sorted(self.nodes.pods_on(position), key=lambda pod: pod.key):
            volumes = attachments(cluster, pod, migrating=True, running=True).of(self.driver)
            if volumes:
                holders[pod.key] = len(volumes)
        return holders


class Attached(NamedTuple):
    """A volume that a VolumeAttachment keeps attached to a node, whoever uses it.

    Attributes:
        volume: the PersistentVolume.
        attachment: the VolumeAttachment.
        pods: the pods there that mount it, by key.
    """

    volume: str
    attachment: str
    pods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _AttachedVolumes:
    """The volumes of a driver that VolumeAttachments keep attached to each node, found when asked for."""

    nodes: Nodes
    driver: str

    def at(self, position: int) -> list[Attached]:
        cluster = self.nodes.cluster
        written = cluster.derived(_attachments_by_node, VolumeAttachment).get(self.nodes.names[position], ())
        users: dict[CSIVolume, list[str]] = {}
        for pod in sorted(self.nodes.pods_on(position) if written else (), key=lambda pod: pod.key):
            for mounted in attachments(cluster, pod, migrating=True, running=True).of(self.driver):
                users.setdefault(mounted, []).append(pod.key)
        found = []
        for attachment in written:
            volume = cluster.get(PersistentVolume, attachment.spec.source.persistent_volume_name or "")
            if attachment.spec.attacher == self.driver and volume is not None and volume.spec.csi is not None:
                pods = users.get(CSIVolume(self.driver, volume.spec.csi.volume_handle), ())
                found.append(Attached(volume.metadata.name, attachment.metadata.name, tuple(pods)))
        return sorted(found)


def _attachments_by_node(cluster: Cluster) -> dict[str, list[VolumeAttachment]]:
    """Return the VolumeAttachments by node; for `Cluster.derived`."""
    by_node: dict[str, list[VolumeAttachment]] = {}
    for attachment in cluster.every(VolumeAttachment).values():
        by_node.setdefault(attachment.spec.node_name, []).append(attachment)
    return by_node


@dataclass(frozen=True, slots=True)
class _FaultyPods:
    """The first pod of each node, by key, whose volumes cannot be told, found when asked for: its fault, or its key.

    kube-scheduler takes the one that came first, which is the first by key when it has just been started.
    """

    nodes: Nodes
    what_is_wrong: bool

    def at(self, position: int) -> str:
        cluster = self.nodes.cluster
        for pod in sorted(self.nodes.pods_on(position), key=lambda pod: pod.key):
            fault = attachments(cluster, pod, migrating=True, running=True).fault
            if fault is not None:
                return fault.text if self.what_is_wrong else pod.key
        raise LookupError(f"no such pod on {self.nodes.names[position]}")

"""NodeVolumeLimits: how many volumes of a CSI driver can be attached to a node.

A node's CSINode says which drivers it has and how many volumes each can attach. A pod is kept away where its volumes
would be too many, and, if the CSIDriver asks for that (KEP-5030), where a driver it needs is not installed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from typing_extensions import override

from schedctl.api import storage
from schedctl.api.nodes import Node
from schedctl.cache.arrays import BoolArray
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.cycles import Cycle, StateKey
from schedctl.framework.events import Registration
from schedctl.framework.handles import Handle
from schedctl.framework.points import FilterPlugin, PreFilterPlugin
from schedctl.framework.reasons import ACCEPT, Reason, Verdicts
from schedctl.framework.signatures import AS_WRITTEN
from schedctl.framework.statuses import SKIP, Code, Status
from schedctl.plugins.node_volume_limits.events import NODE_VOLUME_LIMITS
from schedctl.plugins.node_volume_limits.usage import NodeDrivers, VolumesInUse, node_drivers, volumes_in_use
from schedctl.plugins.node_volume_limits.volumes import Attachments, CSIVolume, Fault, attachments, is_attached
from schedctl.releases import ReleaseChange

if TYPE_CHECKING:
    from schedctl.framework.remedies import Rejection, Remedies
    from schedctl.framework.wording import Wording


@dataclass(frozen=True, slots=True)
class PodAttachments:
    """What the pod needs attached.

    Attributes:
        elsewhere: on nodes without a CSINode, where volumes of in-tree plugins do not count.
        here: on nodes with one.
    """

    elsewhere: Attachments
    here: Attachments

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to attach, and nothing wrong with it."""
        here, elsewhere = self.here, self.elsewhere
        return not (here.volumes or here.fault is not None or elsewhere.volumes or elsewhere.fault is not None)


REQUIRED = StateKey[PodAttachments]("NodeVolumeLimits")
"""Written by PreFilter: what is required as long as no pods are supposed; see `_shareable_attachments`."""


class NodeVolumeLimits(PreFilterPlugin, FilterPlugin):
    """Keeps a pod from nodes that can attach no more volumes of a CSI driver it needs."""

    skips_resizes = True
    filters_all_nodes = True
    reads = (
        storage.CSIDriver,
        storage.CSINode,
        storage.PersistentVolume,
        storage.PersistentVolumeClaim,
        storage.StorageClass,
        storage.VolumeAttachment,
    )

    exceeded = Reason("node(s) exceed max volume count")
    driverless = Reason("{driver} CSI driver is not installed on the node")
    claimless = Reason('looking up PVC {claim}: persistentvolumeclaim "{name}" not found', unresolvable=True)
    unreadable = Reason("{fault}", code=Code.ERROR)

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._checks_drivers = self.release.enabled("VolumeLimitScaling")
        self._by_consent = self.release.includes(ReleaseChange.OPT_IN_DRIVERS)

    def signature(self, pod: PodInfo) -> Hashable:
        """The volumes to be attached, of those that no running pod mounts only the driver."""
        if not any(map(is_attached, pod.pod.spec.volumes or ())):
            return AS_WRITTEN
        required = _shareable_attachments(self.handle.cluster, pod)
        return required.here.content, required.elsewhere.content

    def events_to_register(self) -> tuple[Registration, ...]:
        """Attachments that end, and drivers and limits that change."""
        return NODE_VOLUME_LIMITS

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Skip pods without volumes that may count."""
        if not any(map(is_attached, cycle.pod.pod.spec.volumes or ())):
            return SKIP
        cluster = nodes.cluster
        with cluster.rest_on():  # what becomes of the pod's claims and volumes shows in its signature
            find = _pod_attachments if cluster.missing else _shareable_attachments
            cycle.state[REQUIRED] = find(cluster, cycle.pod)
        return None

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Refuse nodes that lack a driver, or where a driver would have more volumes than it can attach."""
        cluster = nodes.cluster
        # the state leaves out the handles of volumes that no running pod mounts; a supposed pod may mount them
        kept = REQUIRED in cycle.state and nodes.changes is None
        required = cycle.state[REQUIRED] if kept else _pod_attachments(cluster, cycle.pod)
        if required.nothing:
            return ACCEPT
        drivers = cluster.derive(node_drivers, storage.CSINode, Node)
        known = nodes.gather(drivers.known)
        verdicts = self._unready(required.here, nodes, known, drivers)
        if not known.all():
            verdicts |= self._unready(required.elsewhere, nodes, ~known, drivers)
        if required.here.volumes and required.here.fault is None and drivers.limited_somewhere:
            verdicts = verdicts.then(self._overfull(required.here, nodes, drivers))
        return verdicts

    def _unready(self, required: Attachments, nodes: Nodes, where: BoolArray, drivers: NodeDrivers) -> Verdicts:
        """Refuse nodes, of those of a mask, because the volumes cannot be told, or a driver is missing."""
        if required.fault is not None:
            return self._fault(required.fault, where)
        verdicts = ACCEPT
        for driver in required.drivers if self._checks_drivers else ():
            # a copy, because a verdict owns its mask
            missing = where & ~nodes.gather(drivers.installed[driver]) if driver in drivers.installed else where.copy()
            opted = nodes.cluster.get(storage.CSIDriver, driver) if missing.any() else None
            if opted is not None and (not self._by_consent or opted.spec.prevent_pod_scheduling_if_missing):
                volumes = required.names(driver)
                verdicts = verdicts.then(self.driverless.where(missing, driver=driver, volumes=volumes))
        return verdicts

    def _overfull(self, required: Attachments, nodes: Nodes, drivers: NodeDrivers) -> Verdicts:
        """Refuse nodes on which a limit would be exceeded, fail on those whose volumes cannot be counted."""
        cluster = nodes.cluster
        in_use = volumes_in_use(cluster)
        with cluster.rest_on(tracked=(in_use.rows,)):
            return self._exceeding(in_use, required, nodes, drivers)

    def _exceeding(self, in_use: VolumesInUse, required: Attachments, nodes: Nodes, drivers: NodeDrivers) -> Verdicts:
        supposed = in_use.hypothetical_mounts(nodes)
        verdicts = ACCEPT
        faulty = in_use.faulty(nodes, supposed)
        if faulty is not None:
            faulty &= nodes.gather(drivers.limited)
            if faulty.any():
                verdicts = self.unreadable.where(faulty, fault=_FaultyPods(nodes, True), pod=_FaultyPods(nodes, False))
        for driver in required.drivers:
            if driver not in drivers.limits:
                continue
            volumes = required.of(driver)
            used = in_use.used(nodes, driver, supposed)
            limit = nodes.gather(drivers.limits[driver])
            new = len(volumes) - in_use.count_mounted(nodes, volumes, supposed)
            over = (used + new > limit) & (new > 0)
            if over.any():
                verdicts = verdicts.then(
                    self.exceeded.where(
                        over,
                        driver=driver,
                        limit=limit,
                        used=used,
                        new=new,
                        volumes=required.names(driver),
                        holders=_Holders(nodes, driver),
                        attached=_AttachedVolumes(nodes, driver),
                    )
                )
        return verdicts

    def _fault(self, fault: Fault, where: BoolArray) -> Verdicts:
        if not fault.text:
            return self.claimless.where(where.copy(), claim=fault.claim, name=fault.claim.partition("/")[2])
        return self.unreadable.where(where.copy(), fault=fault.text)

    @override
    def wording(self) -> Mapping[str, Wording]:
        from schedctl.plugins.node_volume_limits.wording import WORDING

        return WORDING

    @override
    def remedies(self, pod: PodInfo, rejection: Rejection) -> Remedies:
        from schedctl.plugins.node_volume_limits.remedies import remedies

        return remedies(rejection)

    @override
    def notes(self, cycle: Cycle) -> Iterable[str]:
        from schedctl.plugins.node_volume_limits.wording import unknown_limits

        note = unknown_limits(cycle.pod, self.handle.cluster)
        return (note,) if note else ()


def _pod_attachments(cluster: ClusterView, pod: PodInfo) -> PodAttachments:
    return PodAttachments(
        attachments(cluster, pod, migrating=False, running=False),
        attachments(cluster, pod, migrating=True, running=False),
    )


def _shareable_attachments(cluster: ClusterView, pod: PodInfo) -> PodAttachments:
    """Return what a pod needs attached, so that it is the same for pods whose volumes are of nobody else.

    Where it is limited what a driver attaches, a volume that a running pod mounts is told by its handle. What is wanted
    elsewhere is left out where no node is without a CSINode.
    """
    drivers = cluster.derive(node_drivers, storage.CSINode, Node)
    required = attachments(cluster, pod, migrating=True, running=False)
    limited = any(volume.driver in drivers.limits for volume in required.volumes)
    in_use = volumes_in_use(cluster) if limited else None

    def with_handles(found: Attachments) -> Attachments:
        volumes = {
            volume if in_use is not None and not in_use.is_fresh(volume) else CSIVolume(volume.driver, place): names
            for place, (volume, names) in enumerate(found.volumes.items())
        }
        return Attachments(volumes, found.fault)

    here = with_handles(required)
    if drivers.known_everywhere:  # `elsewhere` is read on no node
        return PodAttachments(here, here)
    return PodAttachments(with_handles(attachments(cluster, pod, migrating=False, running=False)), here)


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
        written = cluster.derive(_attachments_by_node, storage.VolumeAttachment).get(self.nodes.names[position], ())
        users: dict[CSIVolume, list[str]] = {}
        for pod in sorted(self.nodes.pods_on(position) if written else (), key=lambda pod: pod.key):
            for mounted in attachments(cluster, pod, migrating=True, running=True).of(self.driver):
                users.setdefault(mounted, []).append(pod.key)
        found = []
        for attachment in written:
            volume = cluster.get(storage.PersistentVolume, attachment.spec.source.persistent_volume_name or "")
            if attachment.spec.attacher == self.driver and volume is not None and volume.spec.csi is not None:
                pods = users.get(CSIVolume(self.driver, volume.spec.csi.volume_handle), ())
                found.append(Attached(volume.metadata.name, attachment.metadata.name, tuple(pods)))
        return sorted(found)


def _attachments_by_node(cluster: ClusterView) -> dict[str, list[storage.VolumeAttachment]]:
    """Return the VolumeAttachments by node; for `Cluster.derive`."""
    by_node: dict[str, list[storage.VolumeAttachment]] = {}
    for attachment in cluster.every(storage.VolumeAttachment).values():
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

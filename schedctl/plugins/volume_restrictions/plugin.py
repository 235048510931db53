"""VolumeRestrictions: disks that two pods may not share, and claims that only one pod at a time may use.

A disk named in the pod itself keeps it from nodes where another pod has the disk and one of the two writes to it. A
claim of access mode ReadWriteOncePod (KEP-2485) that any running pod uses keeps it from all nodes. Preemption sees the
first through the pods of the node; the second is a count, which each pod that comes or goes changes by the number of
its volumes of that claim name, as upstream's AddPod and RemovePod do: namespaces are not looked at there.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from typing_extensions import override

from schedctl.api.pods import Volume
from schedctl.api.storage import PersistentVolumeClaim
from schedctl.cache.arrays import BoolArray, IntArray
from schedctl.cache.changes import Change, ChangeKind
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.cycles import Cycle, StateKey
from schedctl.framework.events import Registration
from schedctl.framework.mounts import MountChanges, Mounts
from schedctl.framework.points import FilterPlugin, PreFilterPlugin, Scope
from schedctl.framework.reasons import ACCEPT, Reason, Verdicts
from schedctl.framework.statuses import SKIP, Code, Status
from schedctl.plugins.volume_restrictions.events import VOLUME_RESTRICTIONS

if TYPE_CHECKING:
    from schedctl.framework.remedies import Rejection, Remedies
    from schedctl.framework.wording import Wording


ONE_POD = "ReadWriteOncePod"
CLAIM, RBD = "persistentVolumeClaim", "rbd"
_DEFAULT_POOL = "rbd"


class Source(NamedTuple):
    """A disk or a claim as a pod mounts it.

    Attributes:
        kind: the kind of volume, as in a manifest.
        name: what it is known by: disk, volume, target, image or claim.
        place: the pool of an RBD image, the namespace of a claim.
        read_only: whether the pod only reads it; always False for EBS volumes, which are never shared.
        monitors: the monitors of a Ceph cluster.
    """

    kind: str
    name: str
    place: str = ""
    read_only: bool = False
    monitors: frozenset[str] = frozenset()

    def conflicts(self, other: Source) -> bool:
        """Return whether two pods cannot have these disks on one node."""
        if (self.kind, self.name, self.place) != (other.kind, other.name, other.place):
            return False
        if self.kind == RBD and not self.monitors & other.monitors:
            return False
        return not (self.read_only and other.read_only)


@dataclass(frozen=True, slots=True)
class RestrictionState:
    """What PreFilter found.

    Attributes:
        disks: the disks the pod names itself.
        claims: the names of its claims that only one pod may use.
        in_use: how many of them running pods use.
        supposed: int64 (n,), what pods that come and go at each position of a supposed column add to that, or None.
    """

    disks: tuple[Source, ...]
    claims: frozenset[str]
    in_use: int
    supposed: IntArray | None = None


STATE = StateKey[RestrictionState]("PreFilterVolumeRestrictions")


class SourcesInUse(Mounts[Source]):
    """The disks and claims that running pods mount."""

    def __init__(self, cluster: ClusterView) -> None:
        super().__init__(cluster)
        self._named: dict[tuple[str, str], list[int]] = {}

    def read(self, cluster: ClusterView, info: PodInfo) -> Sequence[Source]:
        """Return the disks and claims of a pod."""
        return _sources(info)

    def add_thing(self, thing: Source, code: int) -> None:
        """File a source under its kind and name."""
        self._named.setdefault((thing.kind, thing.name), []).append(code)

    def conflicting_disks(self, disk: Source) -> list[int]:
        """Return the codes of the disks a pod with this one cannot stand beside."""
        known = self._named.get((disk.kind, disk.name), ())
        return [code for code in known if disk.conflicts(self.things.values[code])]

    def claims_named(self, claim: str) -> list[int]:
        """Return the codes of the claims of a name, in any namespace."""
        return self._named.get((CLAIM, claim), [])


def sources_in_use(cluster: ClusterView) -> SourcesInUse:
    """Return the disks and claims in use in a cluster, as it is now."""
    sources = cluster.derive(SourcesInUse)
    sources.catch_up(cluster)
    return sources


class VolumeRestrictions(PreFilterPlugin, FilterPlugin):
    """Keeps a pod from nodes where a disk it brings along is in use, and waits for claims only one pod may use."""

    reads = (PersistentVolumeClaim,)

    conflict = Reason("node(s) had no available disk")
    occupied = Reason(
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use"
        " by another pod"
    )
    claimless = Reason('persistentvolumeclaim "{name}" not found', unresolvable=True)
    unread = Reason('cannot read "PreFilterVolumeRestrictions" from cycleState', code=Code.ERROR)

    # -- filtering ---------------------------------------------------------------

    def events_to_register(self) -> tuple[Registration, ...]:
        """A disk or claim that a pod gives up."""
        return VOLUME_RESTRICTIONS

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Skip for a pod without in-line disks none of whose claims is taken; refuse one whose claim is missing."""
        found = self._find_conflicts(nodes.cluster, cycle.pod, _sources(cycle.pod))
        if found is None:
            return SKIP
        if isinstance(found, Status):
            return found
        cycle.state[STATE] = found
        return None

    def with_pods(self, cycle: Cycle, nodes: Nodes) -> None:
        """Count the volumes of pods gained and lost at each position that are named like one of the claims."""
        state, cluster = cycle.state[STATE], nodes.cluster
        if not state.claims or nodes.changes is None:
            return
        sources = sources_in_use(cluster)
        changed = sources.mount_changes(cluster, nodes.changes)
        codes = [code for name in state.claims for code in sources.claims_named(name)]
        cycle.state[STATE] = replace(state, supposed=_net(changed, codes, len(nodes)))

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Refuse nodes on which a pod has a disk of this one, and all of them while a claim is taken."""
        if STATE not in cycle.state:
            found = self._conflicts(_disks(_sources(cycle.pod)), nodes)
            return found.then(self.unread.where(np.ones(len(nodes), np.bool_)))
        state = cycle.state[STATE]
        verdicts = self._conflicts(state.disks, nodes)
        if not state.claims:
            return verdicts
        in_use = np.full(len(nodes), state.in_use) if state.supposed is None else state.in_use + state.supposed
        taken = in_use > 0
        if not taken.any():
            return verdicts
        users = _Users(nodes.cluster, cycle.pod.namespace, tuple(sorted(state.claims)))
        return verdicts.then(self.occupied.where(taken, claims=users))

    def _is_free(self, pod: PodInfo) -> bool:
        """Return whether nothing may keep a pod from nodes; disks may, and claims that are not there or are in use."""
        cluster = self.handle.cluster
        for volume in pod.pod.spec.volumes or ():
            if _is_disk(volume):
                return False
            if volume.persistent_volume_claim is not None:
                key = f"{pod.namespace}/{volume.persistent_volume_claim.claim_name}"
                claim = cluster.get(PersistentVolumeClaim, key)
                if claim is None or ONE_POD in (claim.spec.access_modes or ()):
                    return self._find_conflicts(cluster, pod, _sources(pod)) is None
        return True

    def _find_conflicts(
        self, cluster: ClusterView, pod: PodInfo, sources: Sequence[Source]
    ) -> RestrictionState | Status | None:
        """Return what may keep a pod with these disks and claims from nodes, None for nothing, or why it is refused."""
        once: set[str] = set()
        for source in sources:
            if source.kind != CLAIM:
                continue
            claim = cluster.get(PersistentVolumeClaim, f"{pod.namespace}/{source.name}")
            if claim is None:
                return self.claimless.status(name=source.name)
            if ONE_POD in (claim.spec.access_modes or ()):
                once.add(source.name)
        disks = _disks(sources)
        in_use = 0
        if once:
            in_use_by_pods = sources_in_use(cluster)
            for name in once:
                code = in_use_by_pods.things.find_code(Source(CLAIM, name, pod.namespace))
                in_use += code >= 0 and len(in_use_by_pods.pods_mounting(cluster, (code,))) > 0
        return RestrictionState(disks, frozenset(once), in_use) if disks or in_use else None

    def _conflicts(self, disks: Sequence[Source], nodes: Nodes) -> Verdicts:
        """Refuse nodes on which a pod has one of some disks, so that the two cannot share it."""
        if not disks:
            return ACCEPT
        cluster = nodes.cluster
        sources = sources_in_use(cluster)
        changed = sources.mount_changes(cluster, nodes.changes) if nodes.changes is not None else None
        codes = list({code for disk in disks for code in sources.conflicting_disks(disk)})
        if not codes:
            return ACCEPT
        users = cluster.pod_table.node[sources.pods_mounting(cluster, codes)]
        mounts = nodes.gather(np.bincount(users, minlength=len(cluster.node_table)))
        if changed is not None:
            mounts = mounts + _net(changed, codes, len(nodes))
        refused: BoolArray = mounts > 0
        return self.conflict.where(refused, disks=_Conflicts(nodes, tuple(disks))) if refused.any() else ACCEPT

    # -- reuse -------------------------------------------------------------------

    def signature(self, pod: PodInfo) -> Hashable:
        """The disks and claims it mounts, if they may keep it from nodes."""
        return () if self._is_free(pod) else tuple(_sources(pod))

    def moves_by_template(self, pod: PodInfo) -> bool:
        """By their disks and claims alone."""
        return True

    def moved_by(self, cycle: Cycle, change: Change) -> Scope:
        """A pod with a claim of this one may change all rows, one with a disk of it those of its node.

        Whether its disks and claims may keep it from nodes shows in its signature.
        """
        if self._is_free(cycle.pod):
            return Scope.NOTHING
        sources = _sources(cycle.pod)
        if change.kind is ChangeKind.NODES:
            return Scope.ROW
        if isinstance(change.subject, PersistentVolumeClaim):
            metadata = change.subject.metadata
            return Scope.EVERYTHING if Source(CLAIM, metadata.name, metadata.namespace) in sources else Scope.NOTHING
        if change.kind not in (ChangeKind.POD_ADDED, ChangeKind.POD_REMOVED):
            return Scope.NOTHING
        theirs = _sources(change.subject)
        if any(source.kind == CLAIM and source in sources for source in theirs):
            return Scope.EVERYTHING
        alike = {(source.kind, source.name) for source in sources}
        return Scope.ROW if any((source.kind, source.name) in alike for source in theirs) else Scope.NOTHING

    @override
    def wording(self) -> Mapping[str, Wording]:
        from schedctl.plugins.volume_restrictions.wording import WORDING

        return WORDING

    @override
    def remedies(self, pod: PodInfo, rejection: Rejection) -> Remedies:
        from schedctl.plugins.volume_restrictions.remedies import remedies

        return remedies(rejection)


def _sources(pod: PodInfo) -> list[Source]:
    """Return the disks and claims a pod mounts, in order, each as often as it is mounted."""
    return [source for volume in pod.pod.spec.volumes or () for source in _of_volume(pod, volume)]


def _disks(sources: Sequence[Source]) -> tuple[Source, ...]:
    return tuple(source for source in sources if source.kind != CLAIM)


def _is_disk(volume: Volume) -> bool:
    return not (
        volume.gce_persistent_disk is None
        and volume.aws_elastic_block_store is None
        and volume.iscsi is None
        and volume.rbd is None
    )


def _of_volume(pod: PodInfo, volume: Volume) -> list[Source]:
    found = []
    if volume.persistent_volume_claim is not None:
        found.append(Source(CLAIM, volume.persistent_volume_claim.claim_name, pod.namespace))
    if volume.gce_persistent_disk is not None:
        disk = volume.gce_persistent_disk
        found.append(Source("gcePersistentDisk", disk.pd_name, read_only=disk.read_only))
    if volume.aws_elastic_block_store is not None:
        found.append(Source("awsElasticBlockStore", volume.aws_elastic_block_store.volume_id))
    if volume.iscsi is not None:
        found.append(Source("iscsi", volume.iscsi.iqn, read_only=volume.iscsi.read_only))
    if volume.rbd is not None:
        rbd = volume.rbd
        monitors = frozenset(rbd.monitors or ())
        found.append(Source(RBD, rbd.image, rbd.pool or _DEFAULT_POOL, rbd.read_only, monitors))
    return found


def _net(changed: MountChanges, sources: Sequence[int], positions: int) -> IntArray:
    """Return how many mounts of some sources each position gains, int64 (positions,); negative where it loses them."""
    net = np.zeros(positions, np.int64)
    ours = np.isin(changed.things, sources)
    np.add.at(net, changed.positions[ours], changed.signs[ours])
    return net


class Occupied(NamedTuple):
    """A disk or claim of the pod, and the running pods that have it."""

    kind: str
    name: str
    pods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Conflicts:
    """Which disks of the pod are taken on a node, and by whom, found out when asked for."""

    nodes: Nodes
    disks: tuple[Source, ...]

    def at(self, position: int) -> tuple[Occupied, ...]:
        pods = self.nodes.pods_on(position)
        found = []
        for disk in self.disks:
            users = tuple(pod.key for pod in pods if any(disk.conflicts(other) for other in _sources(pod)))
            if users:
                found.append(Occupied(disk.kind, disk.name, users))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class _Users:
    """Which claims are taken, and by whom, found out when asked for; the same for all nodes."""

    cluster: ClusterView
    namespace: str
    claims: tuple[str, ...]

    def at(self, position: int) -> tuple[Occupied, ...]:
        found = []
        for name in self.claims:
            claim = Source(CLAIM, name, self.namespace)
            users = tuple(pod.key for pod in self.cluster.pod_table if claim in _sources(pod))
            if users:
                found.append(Occupied(CLAIM, name, users))
        return tuple(found)

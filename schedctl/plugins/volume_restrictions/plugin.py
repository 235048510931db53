"""VolumeRestrictions: disks that two pods may not share, and claims that only one pod at a time may use.

A disk named in the pod itself keeps it from nodes where another pod has the disk and one of the two writes to it. A
claim of access mode ReadWriteOncePod (KEP-2485) that any running pod uses keeps it from all nodes.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from typing_extensions import override

from schedctl.api.storage import PersistentVolumeClaim
from schedctl.cache.arrays import BoolArray, IntArray
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.cycles import Cycle, StateKey
from schedctl.framework.events import Registration
from schedctl.framework.mounts import MountChanges
from schedctl.framework.points import FilterPlugin, PreFilterPlugin
from schedctl.framework.reasons import ACCEPT, Reason, Verdicts
from schedctl.framework.signatures import AS_WRITTEN
from schedctl.framework.statuses import SKIP, Code, Status
from schedctl.plugins.volume_restrictions.events import VOLUME_RESTRICTIONS
from schedctl.plugins.volume_restrictions.sources import CLAIM, Source, is_disk, sources_in_use, sources_of

if TYPE_CHECKING:
    from schedctl.framework.remedies import Rejection, Remedies
    from schedctl.framework.wording import Wording


ONE_POD = "ReadWriteOncePod"


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


class VolumeRestrictions(PreFilterPlugin, FilterPlugin):
    """Keeps a pod from nodes where a disk it brings along is in use, and waits for claims only one pod may use."""

    skips_resizes = True
    filters_all_nodes = True
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
        found = self._find_conflicts(nodes.cluster, cycle.pod, sources_of(cycle.pod))
        if found is None:
            return SKIP
        if isinstance(found, Status):
            return found
        cycle.state[STATE] = found
        return None

    def with_pods(self, cycle: Cycle, nodes: Nodes) -> None:
        """Count the volumes of pods gained and lost at each position that are named like one of the claims.

        A disk needs no count: preemption sees it through the pods of the node.
        """
        state, cluster = cycle.state[STATE], nodes.cluster
        if not state.claims or nodes.changes is None:
            return
        sources = sources_in_use(cluster)
        changed = sources.mount_changes(cluster, nodes.changes)
        # of any namespace: upstream's AddPod and RemovePod compare the names of claims alone
        codes = [code for name in state.claims for code in sources.claims_named(name)]
        cycle.state[STATE] = replace(state, supposed=_net(changed, codes, len(nodes)))

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Refuse nodes on which a pod has a disk of this one, and all of them while a claim is taken."""
        if STATE not in cycle.state:  # upstream compares the disks before it reads the state, and then fails
            found = self._conflicts(_disks(sources_of(cycle.pod)), nodes)
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
            if is_disk(volume):
                return False
            if volume.persistent_volume_claim is not None:
                key = f"{pod.namespace}/{volume.persistent_volume_claim.claim_name}"
                claim = cluster.get(PersistentVolumeClaim, key)
                if claim is None or ONE_POD in (claim.spec.access_modes or ()):
                    return self._find_conflicts(cluster, pod, sources_of(pod)) is None
        return True

    def _find_conflicts(
        self, cluster: ClusterView, pod: PodInfo, sources: Sequence[Source]
    ) -> RestrictionState | Status | None:
        """Return what may keep a pod with these disks and claims from nodes, None for nothing, or why it is refused."""
        exclusive: set[str] = set()
        for source in sources:
            if source.kind != CLAIM:
                continue
            claim = cluster.get(PersistentVolumeClaim, f"{pod.namespace}/{source.name}")
            if claim is None:
                return self.claimless.status(name=source.name)
            if ONE_POD in (claim.spec.access_modes or ()):
                exclusive.add(source.name)
        disks = _disks(sources)
        in_use = sum(cluster.claim_users(f"{pod.namespace}/{name}") > 0 for name in exclusive)
        return RestrictionState(disks, frozenset(exclusive), in_use) if disks or in_use else None

    def _conflicts(self, disks: Sequence[Source], nodes: Nodes) -> Verdicts:
        """Refuse nodes on which a pod has one of some disks, so that the two cannot share it."""
        if not disks:
            return ACCEPT
        cluster = nodes.cluster
        with cluster.rest_on(occupancy=True):  # the disks of the pods on a node are looked up in an index
            sources = sources_in_use(cluster)
            changed = sources.mount_changes(cluster, nodes.changes) if nodes.changes is not None else None
            codes = list({code for disk in disks for code in sources.conflicting_disks(disk)})
            users = cluster.pod_table.node[sources.pods_mounting(cluster, codes)] if codes else ()
            by_row = np.bincount(users, minlength=len(cluster.node_table)) if codes else None
        if by_row is None:
            return ACCEPT
        mounts = nodes.gather(by_row)
        if changed is not None:
            mounts = mounts + _net(changed, codes, len(nodes))
        refused: BoolArray = mounts > 0
        return self.conflict.where(refused, disks=_Conflicts(nodes, tuple(disks))) if refused.any() else ACCEPT

    # -- reuse -------------------------------------------------------------------

    def signature(self, pod: PodInfo) -> Hashable:
        """The disks and claims it mounts, if they may keep it from nodes."""
        if not pod.pod.spec.volumes:
            return AS_WRITTEN
        return () if self._is_free(pod) else tuple(sources_of(pod))

    @override
    def wording(self) -> Mapping[str, Wording]:
        from schedctl.plugins.volume_restrictions.wording import WORDING

        return WORDING

    @override
    def remedies(self, pod: PodInfo, rejection: Rejection) -> Remedies:
        from schedctl.plugins.volume_restrictions.remedies import remedies

        return remedies(rejection)


def _disks(sources: Sequence[Source]) -> tuple[Source, ...]:
    return tuple(source for source in sources if source.kind != CLAIM)


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
            users = tuple(pod.key for pod in pods if any(disk.conflicts(other) for other in sources_of(pod)))
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
            users = tuple(pod.key for pod in self.cluster.pod_table if claim in sources_of(pod))
            if users:
                found.append(Occupied(CLAIM, name, users))
        return tuple(found)

"""VolumeBinding: claims that are bound, can be bound, or can be provisioned where the pod goes.

PreFilter sorts the pod's claims (`claims`); Filter, Score, Reserve and PreBind share one `search` over all nodes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from schedctl.api import field_errors, meta, storage
from schedctl.cache.arrays import IntArray
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.config.args import VolumeBindingArgs
from schedctl.errors import PluginError
from schedctl.framework import claim_binding
from schedctl.framework.cycles import Cycle, StateKey
from schedctl.framework.events import Registration
from schedctl.framework.handles import Handle
from schedctl.framework.idle_methods import idle_when_skipped
from schedctl.framework.points import (
    FilterPlugin,
    PreBindPlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ReservePlugin,
    ScorePlugin,
)
from schedctl.framework.reasons import NodeLookup, Part, Reason, Verdicts
from schedctl.framework.resource_scoring import shape_rate
from schedctl.framework.signatures import AS_WRITTEN
from schedctl.framework.statuses import SKIP, SUCCESS, Code, Status, error
from schedctl.plugins.volume_binding import assume_cache
from schedctl.plugins.volume_binding.binding import bind
from schedctl.plugins.volume_binding.claims import claims_of, mounted_claims, unbound
from schedctl.plugins.volume_binding.events import VOLUME_BINDING
from schedctl.plugins.volume_binding.migration import reached_everywhere
from schedctl.plugins.volume_binding.scores import scores
from schedctl.plugins.volume_binding.search import ConflictReason, PodVolumes, Search
from schedctl.plugins.volume_binding.volumes import Volumes

if TYPE_CHECKING:
    from schedctl.framework.remedies import Rejection, Remedies
    from schedctl.framework.wording import Allocation, Wording


STATE = StateKey[Search | None]("VolumeBinding")
"""Written by PreFilter unless it refuses; None where nothing is to be searched: no claims, or all of them settled."""

_TO_BIND = "node(s) didn't find available persistent volumes to bind"
_LOST = "Lost"
_SETTLED = "settled"
"""The signature of pods all of whose claims have volumes that every node can reach."""


class VolumeBinding(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, ReservePlugin, PreBindPlugin):
    """Finds nodes where all claims of a pod are bound or can be, and binds them before the pod."""

    skips_resizes = True
    filters_all_nodes = True
    reads = (
        storage.CSIDriver,
        storage.CSINode,
        storage.CSIStorageCapacity,
        storage.PersistentVolume,
        storage.PersistentVolumeClaim,
        storage.StorageClass,
    )
    memory_only = True
    reads_feasible_set = False

    missing = Reason('persistentvolumeclaim "{claim}" not found', unresolvable=True)
    awaited = Reason(
        'waiting for ephemeral volume controller to create the persistentvolumeclaim "{claim}"', unresolvable=True
    )
    lost = Reason(
        'persistentvolumeclaim "{claim}" bound to non-existent persistentvolume "{volume}"', unresolvable=True
    )
    deleting = Reason('persistentvolumeclaim "{claim}" is being deleted', unresolvable=True)
    foreign = Reason("PVC {key} was not created for pod {pod} (pod is not owner)", unresolvable=True)
    immediate = Reason("pod has unbound immediate PersistentVolumeClaims", unresolvable=True)

    unread = Reason("not found", code=Code.ERROR)
    faulty = Reason("{problem}", code=Code.ERROR)
    out_of_reach = Reason("node(s) didn't match PersistentVolume's node affinity", unresolvable=True)
    elsewhere = Reason(_TO_BIND, unresolvable=True)
    unmatched = Reason(_TO_BIND, unresolvable=True)
    outside = Reason(_TO_BIND, unresolvable=True)
    full = Reason("node(s) did not have enough free storage", unresolvable=True)
    vanished = Reason("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)", unresolvable=True)

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._rate = shape_rate((args or VolumeBindingArgs()).shape)
        self._scores_capacity = self.release.enabled("StorageCapacityScoring")
        self._known: Volumes | None = None
        self._reasons = {
            ConflictReason.FAULTY: self.faulty,
            ConflictReason.OUT_OF_REACH: self.out_of_reach,
            ConflictReason.ELSEWHERE: self.elsewhere,
            ConflictReason.UNMATCHED: self.unmatched,
            ConflictReason.OUTSIDE: self.outside,
            ConflictReason.FULL: self.full,
            ConflictReason.VANISHED: self.vanished,
        }

    def signature(self, pod: PodInfo) -> Hashable | None:
        """Nothing is read of pods without claims, or whose claims are settled; others share no answers."""
        if not any(mounted_claims(pod.pod)):
            return AS_WRITTEN
        return _SETTLED if self._is_settled(pod) else None

    def events_to_register(self) -> tuple[Registration, ...]:
        """Volumes, claims, classes, drivers and capacities that change what can be bound or made."""
        return VOLUME_BINDING

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Refuse a pod with a claim that nothing can be done about yet; Skip one without claims."""
        pod = cycle.pod
        if not any(mounted_claims(pod.pod)):
            cycle.state[STATE] = None
            return SKIP
        # where kinds are missing, each claim is read below, so that the answer says what it could not know
        if not nodes.cluster.missing and self._is_settled(pod):
            cycle.state[STATE] = None
            return None
        refusal = self._refusal(pod)
        if refusal is not None:
            return refusal
        try:
            claims = claims_of(pod.pod, nodes.cluster, self._assume_cache)
        except PluginError as fault:
            return error(str(fault))
        if claims.immediate:
            return self.immediate.status(unbound=[unbound(claim, nodes.cluster) for claim in claims.immediate])
        cycle.state[STATE] = Search(nodes.cluster, self._volumes, claims)
        return None

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Say which claims keep which nodes away, and find what is to be done on the others."""
        if STATE not in cycle.state:
            return self.unread.where(np.ones(len(nodes), np.bool_))
        search = cycle.state[STATE]
        if search is None:
            return Verdicts()
        outcome = search.outcome
        parts = tuple(
            Part(self._reasons[each.why], nodes.gather(each.rows), None, each.evidence_of(nodes.rows))
            for each in outcome.objections
        )
        return Verdicts(parts, NodeLookup(outcome.at, nodes.rows) if search.claims.waiting else None)

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Go on, even for a pod without claims; skip where StorageCapacityScoring is off."""
        if not self._scores_capacity:
            return SKIP
        return None if STATE in cycle.state else error("not found")

    def score(self, cycle: Cycle, nodes: Nodes) -> IntArray:
        """Rate how full the storage would get; 0 where no claim waits, or none of what it takes is counted.

        Raises:
            PluginError: PreFilter did not run, or kube-scheduler would crash.
        """
        if STATE not in cycle.state:
            raise PluginError("not found")
        search = cycle.state[STATE]
        if search is None or self.name not in cycle.findings:
            return np.zeros(len(nodes), np.int64)
        return scores(search.outcome, nodes.rows, self._rate)

    @idle_when_skipped
    def reserve(self, cycle: Cycle, node_name: str) -> Status:
        """Assume volumes bound to claims, and the node selected for claims that are to be provisioned."""
        if STATE not in cycle.state:
            return error("not found")
        found = self._volumes_at(cycle, node_name)
        if found is None or self._all_bound(cycle.pod):
            return SUCCESS
        try:
            for claim, volume in found.static:
                with_claim = claim_binding.with_claim_ref(volume, claim)
                if with_claim is not volume:
                    self._assume_cache.assume_volume(with_claim)
            for claim, _ in found.dynamic:
                self._assume_cache.assume_claim(
                    claim_binding.with_annotations(claim, {storage.SELECTED_NODE: node_name})
                )
        except LookupError as gone:
            self._forget_assumed(found)
            return error(str(gone))
        return SUCCESS

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        """Drop what Reserve assumed."""
        found = self._volumes_at(cycle, node_name)
        if found is not None:
            self._forget_assumed(found)

    @idle_when_skipped
    def pre_bind(self, cycle: Cycle, node_name: str) -> Status:
        """Bind and provision what Reserve assumed; fail where a volume cannot be reached from the node after all."""
        if STATE not in cycle.state:
            return error("not found")
        found = self._volumes_at(cycle, node_name)
        if found is None or self._all_bound(cycle.pod):
            return SUCCESS
        self._forget_assumed(found)  # the API server has it next
        problem = bind(self.handle.cluster, found, node_name)
        return error(f"binding volumes: {problem}") if problem else SUCCESS

    def pre_bind_pre_flight(self, cycle: Cycle, node_name: str) -> bool:
        """Return whether there are volumes to bind."""
        return STATE not in cycle.state or not (
            self._volumes_at(cycle, node_name) is None or self._all_bound(cycle.pod)
        )

    # -- inside ------------------------------------------------------------------

    @property
    def _assume_cache(self) -> assume_cache.AssumeCache:
        return assume_cache.AssumeCache(self.handle.cluster, self.handle.profile_name)

    @property
    def _volumes(self) -> Volumes:
        cluster = self.handle.cluster
        if self._known is None or self._known.cluster is not cluster:
            self._known = Volumes(cluster, self._assume_cache)
        return self._known

    def _is_settled(self, pod: PodInfo) -> bool:
        """Return whether all claims of a pod are bound, and to volumes that no node is kept from."""
        cluster = self.handle.cluster
        for name, ephemeral in mounted_claims(pod.pod):
            claim = cluster.get(storage.PersistentVolumeClaim, f"{pod.namespace}/{name}")
            if claim is None or not claim_binding.fully_bound(claim):
                return False
            if claim.status.phase == _LOST or claim.metadata.deletion_timestamp is not None:
                return False
            if ephemeral and not meta.is_controlled_by(claim, pod.pod):
                return False
            volume = cluster.get(storage.PersistentVolume, claim.spec.volume_name)
            if volume is None or not reached_everywhere(volume):
                return False
        return True

    def _refusal(self, pod: PodInfo) -> Status | None:
        """Return what is wrong with the first claim with which something is, as the API server has it."""
        namespace = pod.namespace
        for name, ephemeral in mounted_claims(pod.pod):
            claim = self.handle.cluster.get(storage.PersistentVolumeClaim, f"{namespace}/{name}")
            shown = field_errors.quote(name)[1:-1]  # escaped as by Go's %q, whose quotes the reasons have
            if claim is None:
                return (self.awaited if ephemeral else self.missing).status(claim=shown)
            if claim.status.phase == _LOST:
                return self.lost.status(claim=shown, volume=field_errors.quote(claim.spec.volume_name)[1:-1])
            if claim.metadata.deletion_timestamp is not None:
                return self.deleting.status(claim=shown, finalizers=claim.metadata.finalizers or ())
            if ephemeral and not meta.is_controlled_by(claim, pod.pod):
                return self.foreign.status(key=meta.key_of(claim), pod=pod.key)
        return None

    def _all_bound(self, pod: PodInfo) -> bool:
        claims = (self._assume_cache.claim(f"{pod.namespace}/{name}") for name, _ in mounted_claims(pod.pod))
        return all(claim is not None and claim_binding.fully_bound(claim) for claim in claims)

    def _volumes_at(self, cycle: Cycle, node_name: str) -> PodVolumes | None:
        """Return what Filter found is to be done on a node, None for nothing."""
        found = cycle.findings.get(self.name)
        volumes: PodVolumes | None = None
        if found is not None:
            volumes = found.at(self.handle.cluster.node_table.row_of[node_name])
        return volumes

    def _forget_assumed(self, found: PodVolumes) -> None:
        for _, volume in found.static:
            self._assume_cache.forget(volume)
        for claim, _ in found.dynamic:
            self._assume_cache.forget(claim)

    @override
    def wording(self) -> Mapping[str, Wording]:
        from schedctl.plugins.volume_binding.wording import WORDING

        return WORDING

    @override
    def remedies(self, pod: PodInfo, rejection: Rejection) -> Remedies:
        from schedctl.plugins.volume_binding.remedies import remedies

        return remedies(pod, rejection, self.handle.cluster)

    @override
    def allocations(self, finding: PodVolumes) -> Iterable[Allocation]:
        from schedctl.plugins.volume_binding.wording import allocations

        return allocations(finding, self.handle.cluster)

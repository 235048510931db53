"""VolumeZone: persistent volumes that are labelled with the zone or region they are in.

Only bound claims have a volume whose labels can be read; one that waits for its first consumer is VolumeBinding's, and
any other that is not bound keeps its pod from every node.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from typing_extensions import override

from schedctl.api import storage, topology
from schedctl.cache.arrays import ABSENT, BoolArray, CodeArray
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.cycles import Cycle, StateKey
from schedctl.framework.events import Registration
from schedctl.framework.points import FilterPlugin, PreFilterPlugin
from schedctl.framework.reasons import ACCEPT, Reason, Verdict, Verdicts
from schedctl.framework.signatures import AS_WRITTEN
from schedctl.framework.statuses import SKIP, Status
from schedctl.plugins.volume_zone.events import VOLUME_ZONE, zones_by_label

if TYPE_CHECKING:
    from schedctl.framework.remedies import Rejection, Remedies
    from schedctl.framework.wording import Wording


@dataclass(frozen=True, slots=True)
class Topology:
    """Where a label of a volume says it is.

    Attributes:
        claim: the claim bound to it.
        volume: its name.
        key: the label.
        values: the zones or regions it can be reached from.
    """

    claim: str
    volume: str
    key: str
    values: frozenset[str]


TOPOLOGIES = StateKey[tuple[Topology, ...]]("PreFilterVolumeZone")


class VolumeZone(PreFilterPlugin, FilterPlugin):
    """Keeps a pod in the zones and regions its bound volumes are labelled with."""

    skips_resizes = True
    filters_all_nodes = True
    reads = (storage.PersistentVolume, storage.PersistentVolumeClaim, storage.StorageClass)

    elsewhere = Reason("node(s) had no available volume zone", unresolvable=True)
    nameless = Reason("PersistentVolumeClaim had no name", unresolvable=True)
    missing = Reason('{kind} "{name}" not found', unresolvable=True)
    classless = Reason("PersistentVolumeClaim had no pv name and storageClass name", unresolvable=True)
    modeless = Reason('VolumeBindingMode not set for StorageClass "{storage_class}"', unresolvable=True)
    unbound = Reason("PersistentVolume had no name", unresolvable=True)

    def signature(self, pod: PodInfo) -> Hashable:
        """The claims it mounts, if one of them is in some zone or cannot be used."""
        claims = _claims(pod)
        if not claims:
            return AS_WRITTEN
        return (pod.namespace, *claims) if self._topologies(self.handle.cluster, pod) != () else ()

    def events_to_register(self) -> tuple[Registration, ...]:
        """Classes, claims and volumes that come to be, or to be labelled otherwise."""
        return VOLUME_ZONE

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Look up the labels of the volumes; Skip where there are none, refuse a pod whose claims cannot be bound."""
        found = self._topologies(nodes.cluster, cycle.pod)
        if isinstance(found, Verdict):
            return found.reason.status(**found.evidence)
        if not found:
            return SKIP
        cycle.state[TOPOLOGIES] = found
        return None

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Compare the labels of volumes with those of nodes; a node without any of them is in no zone at all."""
        found = cycle.state[TOPOLOGIES] if TOPOLOGIES in cycle.state else self._topologies(nodes.cluster, cycle.pod)
        if isinstance(found, Verdict):
            return found.reason.where(np.ones(len(nodes), np.bool_), **found.evidence)
        verdicts = ACCEPT
        for place in found:
            strings = nodes.cluster.strings
            outside = ~_is_one_of(_labels(nodes, place.key), [strings.find_code(value) for value in place.values])
            if outside.any():  # seldom: only then is it worth asking which nodes have labels at all
                outside &= _has_zone_label(nodes)
            if outside.any():
                verdicts = verdicts.then(
                    self.elsewhere.where(
                        outside,
                        claim=place.claim,
                        volume=place.volume,
                        label=place.key,
                        wanted=tuple(sorted(place.values)),
                        has=_Labels(nodes, place.key),
                    )
                )
        return verdicts

    def _topologies(self, cluster: ClusterView, pod: PodInfo) -> tuple[Topology, ...] | Verdict:
        """Return where the volumes of a pod are, or why that cannot be told."""
        found: list[Topology] = []
        for name in _claims(pod):
            if not name:
                return self.nameless()
            claim = cluster.get(storage.PersistentVolumeClaim, f"{pod.namespace}/{name}")
            if claim is None:
                return self.missing(kind="persistentvolumeclaim", name=name)
            if not claim.spec.volume_name:
                refusal = self._unbound(cluster, claim)
                if refusal is not None:
                    return refusal
                continue
            volume = cluster.get(storage.PersistentVolume, claim.spec.volume_name)
            if volume is None:
                return self.missing(kind="persistentvolume", name=claim.spec.volume_name, claim=name)
            found += [Topology(name, volume.metadata.name, key, zones) for key, zones in zones_by_label(volume)]
        return tuple(found)

    def _unbound(self, cluster: ClusterView, claim: storage.PersistentVolumeClaim) -> Verdict | None:
        """Return what speaks against a claim without a volume, None where it waits for its first consumer."""
        name = claim.metadata.name
        class_name = storage.class_of(claim)
        if not class_name:
            return self.classless(claim=name)
        storage_class = cluster.get(storage.StorageClass, class_name)
        if storage_class is None:
            return self.missing(kind="storageclass.storage.k8s.io", name=class_name, claim=name)
        if storage_class.volume_binding_mode is None:
            return self.modeless(storage_class=class_name, claim=name)
        return (
            None if storage_class.volume_binding_mode == storage.WAIT_FOR_FIRST_CONSUMER else self.unbound(claim=name)
        )

    @override
    def wording(self) -> Mapping[str, Wording]:
        from schedctl.plugins.volume_zone.wording import WORDING

        return WORDING

    @override
    def remedies(self, pod: PodInfo, rejection: Rejection) -> Remedies:
        from schedctl.plugins.volume_zone.remedies import remedies

        return remedies(rejection, self.handle.cluster)


def _claims(pod: PodInfo) -> tuple[str, ...]:
    volumes = pod.pod.spec.volumes or ()
    return tuple(v.persistent_volume_claim.claim_name for v in volumes if v.persistent_volume_claim is not None)


def _labels(nodes: Nodes, key: str) -> CodeArray:
    """Return the codes of a label of nodes, of the current label where a deprecated one is absent, int32 (n,)."""
    codes, current = nodes.label(key), topology.CURRENT_LABELS.get(key)
    return codes if current is None else np.where(codes == ABSENT, nodes.label(current), codes)


def _is_one_of(codes: CodeArray, values: list[int]) -> BoolArray:
    return codes == values[0] if len(values) == 1 else np.isin(codes, values)


def _has_zone_label(nodes: Nodes) -> BoolArray:
    """Return which nodes have one of the labels, bool (n,)."""
    labelled = np.zeros(len(nodes), np.bool_)
    for key in topology.LABELS:
        labelled |= nodes.label(key) != ABSENT
    return labelled


@dataclass(frozen=True, slots=True)
class _Labels:
    """What nodes say of the zone or region a volume is in, found out when asked for; None where they say nothing."""

    nodes: Nodes
    key: str

    def at(self, position: int) -> str | None:
        labels = self.nodes.object(position).metadata.labels or {}
        return labels.get(self.key, labels.get(topology.CURRENT_LABELS.get(self.key, self.key)))

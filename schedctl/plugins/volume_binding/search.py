"""One pod's storage on every node: what keeps nodes away, and what would be bound or provisioned on the others.

Nothing of it depends on the pods a node runs, so it is worked out once per cycle over the whole node table, when Filter
asks first, and each column is a gather. (``FindPodVolumes`` of kube-scheduler.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from schedctl.api import meta, pods, selectors, storage
from schedctl.cache.arrays import BoolArray, IndexArray, IntArray
from schedctl.cache.labels import LabelColumns
from schedctl.cache.nodes import ClusterView
from schedctl.errors import PluginError
from schedctl.framework.reasons import NodeLookup
from schedctl.framework.volume_matching import ClaimRequirements, Mismatch, capacity, requested_storage, size
from schedctl.plugins.volume_binding.claims import Claims
from schedctl.plugins.volume_binding.migration import migrated_nodes, translate
from schedctl.plugins.volume_binding.node_terms import NOTHING, TermsIndex, affinity_terms, select_nodes
from schedctl.plugins.volume_binding.provisioning import Capacities, Provisioning, dynamic_provisioning
from schedctl.plugins.volume_binding.volumes import Choices, Volumes, volume_terms

_DIFFICULTY = {mismatch: rank for rank, mismatch in enumerate(Mismatch)}


class ConflictReason(Enum):
    """How a claim can keep a node away, in the order in which kube-scheduler names them."""

    FAULTY = "an object cannot be read"
    OUT_OF_REACH = "its volume cannot be reached"
    ELSEWHERE = "its volume is being provisioned for another node"
    UNMATCHED = "no volume matches, and none can be provisioned"
    OUTSIDE = "no volume matches, and the class provisions none there"
    FULL = "no volume matches, and too little capacity is left to provision one"
    VANISHED = "its volume does not exist"


@dataclass(frozen=True, slots=True)
class Objection:
    """Nodes that one claim keeps away.

    Attributes:
        why: in which way.
        rows: bool (rows,), the nodes.
        evidence: by name, plain values, or functions of the node row.
    """

    why: ConflictReason
    rows: BoolArray
    evidence: Mapping[str, Any]

    def evidence_of(self, rows: IndexArray) -> dict[str, Any]:
        """Return the evidence for a column of these node rows, intp (n,)."""
        return {name: NodeLookup(each, rows) if callable(each) else each for name, each in self.evidence.items()}


class Static(NamedTuple):
    """A claim and the volume it gets on each node: a position among the choices, int64 (rows,), `NOTHING` for none."""

    claim: storage.PersistentVolumeClaim
    choices: Choices
    positions: IntArray


class Dynamic(NamedTuple):
    """A claim that is provisioned on some nodes.

    Attributes:
        claim: the claim.
        rows: bool (rows,), the nodes.
        capacities: what is left for its class, None where nobody counts.
        positions: the capacity used on each node, int64 (rows,), `NOTHING` for none; None where nobody counts.
    """

    claim: storage.PersistentVolumeClaim
    rows: BoolArray
    capacities: Capacities | None
    positions: IntArray | None


class PodVolumes(NamedTuple):
    """What is to be done on one node before the pod can run there.

    Attributes:
        static: claims and the volumes they are bound to.
        dynamic: claims that are provisioned, and the capacity that was found for each, None where nobody counts.
    """

    static: tuple[tuple[storage.PersistentVolumeClaim, storage.PersistentVolume], ...]
    dynamic: tuple[tuple[storage.PersistentVolumeClaim, storage.CSIStorageCapacity | None], ...]


class Search:
    """The storage of one pod.

    Attributes:
        claims: the pod's claims.
    """

    def __init__(self, cluster: ClusterView, volumes: Volumes, claims: Claims) -> None:
        self.claims = claims
        self._cluster = cluster
        self._volumes = volumes

    @cached_property
    def outcome(self) -> Outcome:
        """What came of it."""
        return _Steps(self._cluster, self._volumes).run(self.claims)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the search for a pod's storage.

    Attributes:
        objections: what keeps nodes away.
        refused: bool (rows,), the nodes kept away; None where none is.
        static, dynamic: what claims get; of no meaning on nodes kept away.
    """

    objections: Sequence[Objection]
    refused: BoolArray | None
    static: Sequence[Static]
    dynamic: Sequence[Dynamic]

    def at(self, row: int) -> PodVolumes | None:
        """Return what is to be done on a node, None where it is kept away."""
        if self.refused is not None and self.refused[row]:
            return None
        static = ((each, int(each.positions[row])) for each in self.static)
        dynamic = (each for each in self.dynamic if each.rows[row])
        return PodVolumes(
            tuple((each.claim, each.choices.volume(at)) for each, at in static if at != NOTHING),
            tuple((each.claim, _capacity(each, row)) for each in dynamic),
        )


class _Steps:
    """The steps of one search.

    Attributes:
        rest: bool (rows,), the nodes that unbound claims have no objection to so far.
    """

    def __init__(self, cluster: ClusterView, volumes: Volumes) -> None:
        self._cluster = cluster
        self._volumes = volumes
        self._labels = cluster.node_table.labels
        self._all = np.ones(len(cluster.node_table), np.bool_)
        self._objections: list[Objection] = []
        self._static: list[Static] = []
        self._dynamic: list[Dynamic] = []
        self._rest = self._all
        self._faulty = np.zeros_like(self._all)

    def run(self, claims: Claims) -> Outcome:
        """Go through the claims, in kube-scheduler's order, and return what came of it."""
        self._check_bound(claims.bound)
        if claims.waiting:
            self._find(claims.waiting)
        objections = self._without_faulty()
        refused: BoolArray | None = None
        for objection in objections:
            refused = objection.rows if refused is None else refused | objection.rows
        return Outcome(objections, refused, self._static, self._dynamic)

    def _object(self, why: ConflictReason, rows: BoolArray, **evidence: Any) -> None:
        if rows.any():
            self._objections.append(Objection(why, rows, evidence))

    def _fail(self, rows: BoolArray, problem: str) -> None:
        """Give nodes up for a fault; the first fault of a node counts, and nothing else does then."""
        rows = rows & ~self._faulty
        self._object(ConflictReason.FAULTY, rows, problem=problem)
        self._faulty = self._faulty | rows

    def _without_faulty(self) -> list[Objection]:
        """Return the objections, of which a fault is the only one on its nodes."""
        if not self._faulty.any():
            return self._objections
        return [
            each if each.why is ConflictReason.FAULTY else Objection(each.why, each.rows & ~self._faulty, each.evidence)
            for each in self._objections
        ]

    # -- bound claims ------------------------------------------------------------

    def _check_bound(self, claims: Sequence[storage.PersistentVolumeClaim]) -> None:
        """Let the first claim object to each node that cannot reach its volume."""
        rest = self._all
        for claim in claims:
            name = claim.spec.volume_name
            volume = self._cluster.get(storage.PersistentVolume, name)
            if volume is None:
                self._object(ConflictReason.VANISHED, rest, claim=meta.key_of(claim), volume=name)
                return
            affinity = volume.spec.node_affinity
            required = affinity.required if affinity is not None else None
            migration = translate(volume)
            if migration is None:
                rest = self._check_affinity(claim, required, rest)
                continue
            handed_over = migrated_nodes(self._cluster, migration.plugin)
            kept = self._check_affinity(claim, required, rest & ~handed_over)
            if migration.fault:
                self._fail(rest & handed_over, migration.fault)
                rest = kept
            else:
                rest = kept | self._check_affinity(claim, migration.required, rest & handed_over)

    def _check_affinity(
        self, claim: storage.PersistentVolumeClaim, required: pods.NodeSelector | None, rows: BoolArray
    ) -> BoolArray:
        """Let a claim object to those of some nodes that its volume cannot be reached from; return the others."""
        terms = affinity_terms(required)
        if terms is None:
            return rows
        within = select_nodes(self._labels, terms)
        beyond = rows & ~within
        self._object(
            ConflictReason.OUT_OF_REACH,
            beyond,
            claim=meta.key_of(claim),
            volume=claim.spec.volume_name,
            unmet=_Unmet(self._labels, terms).of,
        )
        return rows & within

    # -- waiting claims ----------------------------------------------------------

    def _find(self, claims: Sequence[storage.PersistentVolumeClaim]) -> None:
        assumed = [claim for claim in claims if _selected_node(claim) is not None]
        # the smallest first, as kube-scheduler goes, and a claim takes the smallest volume that suits it
        free = sorted((claim for claim in claims if _selected_node(claim) is None), key=size)
        for claim in assumed:
            self._keep_to_selected_node(claim)
        if not self._rest.any():
            return  # a claim that has another node selected ends the search: no volume is looked for
        unmatched = self._bind(free)
        if unmatched is not None:
            for claim in assumed:  # no volume is looked for: a driver has been asked to make one
                self._provision(claim, self._all, None)
            for claim, requirements, rows in unmatched:
                self._provision(claim, rows, requirements)

    def _keep_to_selected_node(self, claim: storage.PersistentVolumeClaim) -> None:
        """Let a claim whose volume is being made for a node object to all others."""
        selected = _selected_node(claim) or ""
        row = self._cluster.node_table.row_of.get(selected)
        others = self._rest.copy()
        if row is not None:
            others[row] = False
        self._object(ConflictReason.ELSEWHERE, others, claim=meta.key_of(claim), selected_node=selected)
        self._rest = self._rest & ~others

    def _bind(
        self, claims: Sequence[storage.PersistentVolumeClaim]
    ) -> list[tuple[storage.PersistentVolumeClaim, ClaimRequirements, BoolArray]] | None:
        """Give claims the volumes that are there; return the nodes without one for each, None in case of a fault."""
        by_class: dict[str, Choices] = {}
        unmatched = []
        attributes_classes = self._cluster.release.enabled("VolumeAttributesClass")
        for claim in claims:
            try:
                requirements = ClaimRequirements(claim, attributes_classes=attributes_classes)
            except PluginError as fault:
                self._fail(self._rest, str(fault))
                return None
            name = storage.class_of(claim)
            if name not in by_class:
                by_class[name] = Choices(self._cluster, self._volumes, name)
            positions = by_class[name].take(requirements)
            self._static.append(Static(claim, by_class[name], positions))
            unmatched.append((claim, requirements, positions == NOTHING))
        return unmatched

    def _provision(
        self, claim: storage.PersistentVolumeClaim, rows: BoolArray, requirements: ClaimRequirements | None
    ) -> None:
        """Have a claim provisioned on some nodes, or let it object."""
        rows = rows & self._rest
        if not rows.any():
            return
        found = dynamic_provisioning(claim, self._cluster)
        evidence: dict[str, Any] = {
            "claim": meta.key_of(claim),
            "storage_class": found.storage_class.metadata.name,
            "requested": requested_storage(claim).value,
        }
        if requirements is not None:
            evidence["volumes"] = _Tally(self._volumes, requirements).of
        if not found.possible:
            if requirements is not None:
                evidence["nearest"] = _Nearest(self._volumes, requirements).of
            self._object(ConflictReason.UNMATCHED, rows, **evidence, provisioner=found.storage_class.provisioner)
            self._rest = self._rest & ~rows
            return
        rows = self._provision_in(found, rows, evidence)
        positions: IntArray | None = None
        if found.capacities is not None and found.size is not None:
            positions = found.capacities.first(found.size)
            full = rows & (positions == NOTHING)
            self._object(ConflictReason.FULL, full, **evidence, largest=_Largest(found.capacities).of)
            rows = rows & ~full
            self._rest = self._rest & ~full
        self._dynamic.append(Dynamic(claim, rows, found.capacities, positions))

    def _provision_in(self, found: Provisioning, rows: BoolArray, evidence: Mapping[str, Any]) -> BoolArray:
        """Let a claim object to those of some nodes that are outside the allowed topologies; return the others."""
        allowed = found.allowed_nodes(self._cluster)
        if allowed is None:
            return rows
        outside = rows & ~allowed
        self._object(ConflictReason.OUTSIDE, outside, **evidence, unmet=_Unmet(self._labels, found.topologies or ()).of)
        self._rest = self._rest & ~outside
        return rows & allowed


@dataclass(frozen=True, slots=True)
class _Unmet:
    """Which requirements of each alternative a node does not meet."""

    labels: LabelColumns
    terms: tuple[selectors.LabelQuery, ...]

    def of(self, row: int) -> tuple[tuple[selectors.Requirement, ...], ...]:
        mine = self.labels.maps[row]
        return tuple(tuple(each for each in query.requirements if not each.matches(mine)) for query in self.terms)


class _Tally:
    """What is wrong with the volumes of a claim's class, and with how many; the same for every node."""

    def __init__(self, volumes: Volumes, requirements: ClaimRequirements) -> None:
        self._volumes = volumes
        self._requirements = requirements

    def of(self, row: int) -> Mapping[str, int]:
        return self._counts

    @cached_property
    def _counts(self) -> Mapping[str, int]:
        volumes = self._volumes.of_class(storage.class_of(self._requirements.claim))
        return Counter(next(self._requirements.objections(volume), Mismatch.REACH) for volume in volumes)


class Miss(NamedTuple):
    """A volume within reach of a node that a claim cannot have.

    Attributes:
        volume: its name.
        objections: what keeps it from the claim; nothing where another claim of the pod has it.
        capacity: what it holds, in bytes.
        access_modes: those it has.
        phase: its phase.
        kept_for: the claim it names, "" for none.
    """

    volume: str
    objections: tuple[Mismatch, ...]
    capacity: int
    access_modes: tuple[str, ...]
    phase: str
    kept_for: str


class _Nearest:
    """Which volume within reach of a node misses being the claim's by the least; None where there is none."""

    def __init__(self, volumes: Volumes, requirements: ClaimRequirements) -> None:
        self._volumes = volumes
        self._requirements = requirements

    def of(self, row: int) -> Miss | None:
        position = int(self._first[row])
        return None if position == NOTHING else _miss(*self._rank_volumes[position])

    @cached_property
    def _rank_volumes(self) -> list[tuple[storage.PersistentVolume, tuple[Mismatch, ...]]]:
        """The volumes of the class, the nearest miss first."""
        volumes = self._volumes.of_class(storage.class_of(self._requirements.claim))
        return sorted(((volume, tuple(self._requirements.objections(volume))) for volume in volumes), key=_remoteness)

    @cached_property
    def _first(self) -> IntArray:
        """The first of them that each node reaches, int64 (rows,), or `NOTHING`."""
        index = TermsIndex(self._volumes.cluster)
        codes = [index.terms.code(volume_terms(volume)) for volume, _ in self._rank_volumes]
        ranks = np.full(len(index.terms), NOTHING, np.int64)
        ranks[codes[::-1]] = np.arange(len(codes))[::-1]  # of several values for one index the last stays
        return index.first(ranks)


def _remoteness(judged: tuple[storage.PersistentVolume, tuple[Mismatch, ...]]) -> tuple[list[int], int, str]:
    volume, objections = judged
    hardest_first = sorted(map(_DIFFICULTY.__getitem__, objections), reverse=True)
    return hardest_first, -capacity(volume).value, volume.metadata.name


def _miss(volume: storage.PersistentVolume, objections: tuple[Mismatch, ...]) -> Miss:
    reference = volume.spec.claim_ref
    return Miss(
        volume.metadata.name,
        objections,
        capacity(volume).value,
        tuple(volume.spec.access_modes or ()),
        volume.status.phase,
        f"{reference.namespace}/{reference.name}" if reference is not None else "",
    )


class _Largest:
    """How large a volume could be made for a node, in bytes; None where no capacity is within its reach."""

    def __init__(self, capacities: Capacities) -> None:
        self._capacities = capacities

    def of(self, row: int) -> int | None:
        largest = int(self._sizes[row])
        return None if largest < 0 else largest

    @cached_property
    def _sizes(self) -> IntArray:
        return self._capacities.largest()


def _selected_node(claim: storage.PersistentVolumeClaim) -> str | None:
    return (claim.metadata.annotations or {}).get(storage.SELECTED_NODE)


def _capacity(dynamic: Dynamic, row: int) -> storage.CSIStorageCapacity | None:
    if dynamic.capacities is None or dynamic.positions is None:
        return None
    return dynamic.capacities.objects[int(dynamic.positions[row])]

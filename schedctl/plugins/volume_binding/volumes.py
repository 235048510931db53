"""Static binding: which of the volumes that are there already a claim gets on each node (``FindMatchingVolume``).

All but reachability is the same for every node, so a claim is compared with the free volumes of its class once, as
columns sorted by size (`FreeVolumes`), and then each node gets the first it can reach.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from schedctl.api import meta, storage
from schedctl.cache.arrays import CodeArray, IndexArray, IntArray, Interner
from schedctl.cache.changes import ChangeKind
from schedctl.cache.labels import LabelColumns
from schedctl.cache.nodes import ClusterView
from schedctl.framework.volume_matching import (
    AVAILABLE,
    ClaimRequirements,
    attributes_of,
    capacity,
    is_reserved_for,
    mode_of,
    thousandths,
)
from schedctl.plugins.volume_binding.assume_cache import AssumeCache, AssumedVolume
from schedctl.plugins.volume_binding.node_terms import NOTHING, Terms, TermsIndex, affinity_terms, select_nodes


class FreeVolumes:
    """The free volumes of one class, the smallest first, of equally large ones the first by name.

    Attributes:
        volumes: the volumes; those taken since are closed.
        positions: by name.
        index: the distinct node affinities.
        classes: the classes that volumes name in their specs.
    """

    def __init__(self, cluster: ClusterView, volumes: Iterable[storage.PersistentVolume]) -> None:
        # of equally large volumes kube-scheduler takes any; here it is the first by name
        sized = sorted((thousandths(capacity(each)), each.metadata.name, each) for each in volumes)
        self.volumes = [volume for _, _, volume in sized]
        self.positions = {name: position for position, (_, name, _) in enumerate(sized)}
        self.index = TermsIndex(cluster)
        self.classes: Interner[str] = Interner()
        self._strings = cluster.strings
        self._sizes = [size for size, _, _ in sized]
        self._open = np.ones(len(sized), np.bool_)
        self._kinds: Interner[tuple[str, str, frozenset[str]]] = Interner()
        self._kind = np.array([self._kinds.code(_kind(volume)) for volume in self.volumes], np.int32)
        codes = [self.index.terms.code(volume_terms(volume)) for volume in self.volumes]
        self._term_codes = np.array(codes, np.intp)

    def __len__(self) -> int:
        return len(self.volumes)

    def mark(self, name: str, *, free: bool) -> None:
        """Close the entry of a volume that was taken, or open it again."""
        self._open[self.positions[name]] = free

    def first(self, requirements: ClaimRequirements, taken: Sequence[IntArray]) -> IntArray:
        """Return the position of the smallest volume for a claim on each node, int64 (rows,), `NOTHING` for none.

        Args:
            requirements: what the claim asks for.
            taken: int64 (rows,) each: positions that other claims of the pod have on a node.
        """
        fitting = self._suitable_volumes(requirements)
        best, *others = (self.index.first(ranks, taken) for ranks in self._layers(fitting, len(taken) + 1))
        for other in others:
            np.minimum(best, other, out=best)
        return best

    def _suitable_volumes(self, requirements: ClaimRequirements) -> IndexArray:
        """Return the positions of volumes that suit a claim, wherever they can be reached from, in order."""
        suits = np.fromiter((_suits(kind, requirements) for kind in self._kinds.values), np.bool_, len(self._kinds))
        fitting = self._open & suits[self._kind]
        fitting[: bisect_left(self._sizes, requirements.size)] = False
        if requirements.selector is not None:
            fitting &= self._labels.select(requirements.selector)
        return np.flatnonzero(fitting)

    def _layers(self, fitting: IndexArray, depth: int) -> Iterable[IntArray]:
        """Yield the first fitting position of each condition, then the second, and so on, int64 (conditions,).

        A pod's k-th claim has k - 1 volumes to pass over, so it never needs more than the k-th of any condition.
        """
        for _ in range(depth):
            ranks = np.full(len(self.index.terms), NOTHING, np.int64)
            codes = self._term_codes[fitting]
            ranks[codes[::-1]] = fitting[::-1]  # of several values for one index the last stays
            yield ranks
            fitting = fitting[ranks[codes] != fitting]

    @cached_property
    def capacities(self) -> IntArray:
        """What each volume holds, in bytes, int64 (volumes,)."""
        return np.array([capacity(volume).value for volume in self.volumes], np.int64)

    @cached_property
    def class_codes(self) -> CodeArray:
        """The class each volume names in its spec, which the annotation may contradict, int32 (volumes,)."""
        return np.array([self.classes.code(volume.spec.storage_class_name) for volume in self.volumes], np.int32)

    @cached_property
    def _labels(self) -> LabelColumns:
        columns = LabelColumns(self._strings)
        for position, volume in enumerate(self.volumes):
            columns.put(position, volume.metadata.labels)
        return columns


class Volumes:
    """The volumes as VolumeBinding of one profile sees them: free by class, or reserved by claim.

    Attributes:
        cluster: where they are.
    """

    def __init__(self, cluster: ClusterView, assume_cache: AssumeCache) -> None:
        self.cluster = cluster
        self._assume_cache = assume_cache
        self._generation = -1
        self._places: dict[str, tuple[dict[str, dict[str, storage.PersistentVolume]], str]] = {}
        self._free: dict[str, dict[str, storage.PersistentVolume]] = {}
        self._reserved: dict[str, dict[str, storage.PersistentVolume]] = {}
        self._sorted: dict[str, FreeVolumes] = {}

    def free(self, storage_class: str) -> FreeVolumes:
        """Return the free volumes of a class; valid until the cluster changes."""
        self._catch_up()
        known = self._sorted.get(storage_class)
        if known is None:
            known = FreeVolumes(self.cluster, self._free.get(storage_class, {}).values())
            self._sorted[storage_class] = known
        return known

    def reserved_volumes(self, claim: storage.PersistentVolumeClaim) -> list[storage.PersistentVolume]:
        """Return the volumes of the claim's class that name the claim, by name."""
        self._catch_up()
        named = self._reserved.get(meta.key_of(claim), {})
        storage_class = storage.class_of(claim)
        return [
            named[name]
            for name in sorted(named)
            if is_reserved_for(named[name], claim) and storage.class_of(named[name]) == storage_class
        ]

    def of_class(self, storage_class: str) -> list[storage.PersistentVolume]:
        """Return every volume of a class."""
        names = self.cluster.every(storage.PersistentVolume)
        seen = (self._assume_cache.volume(name) for name in names)
        return [volume for volume in seen if volume is not None and storage.class_of(volume) == storage_class]

    def _catch_up(self) -> None:
        self.cluster.note_reads(storage.PersistentVolume)
        generation = self.cluster.generation
        if generation == self._generation:
            return
        changes = self.cluster.changes_since(self._generation) if self._generation >= 0 else None
        self._generation = generation
        if changes is None:
            self._places, self._free, self._reserved, self._sorted = {}, {}, {}, {}
            for name in self.cluster.every(storage.PersistentVolume):
                self._place(name)
            return
        subjects = (change.subject for change in changes if change.kind is ChangeKind.OBJECT)
        touched = (each for each in subjects if isinstance(each, storage.PersistentVolume | AssumedVolume))
        for name in dict.fromkeys(each.metadata.name for each in touched):
            self._place(name)

    def _place(self, name: str) -> None:
        """Put a volume where it belongs now."""
        shelf, key = self._places.pop(name, (self._free, ""))
        before = shelf.get(key, {}).pop(name, None)
        if before is not None and shelf is self._free and key in self._sorted:
            self._sorted[key].mark(name, free=False)
        volume = self._assume_cache.volume(name)
        if volume is None:
            return
        reference = volume.spec.claim_ref
        if reference is not None:
            shelf, key = self._reserved, f"{reference.namespace}/{reference.name}"
        elif volume.status.phase == AVAILABLE and volume.metadata.deletion_timestamp is None:
            shelf, key = self._free, storage.class_of(volume)
        else:
            return
        self._places[name] = shelf, key
        shelf.setdefault(key, {})[name] = volume
        known = self._sorted.get(key) if shelf is self._free else None
        if known is not None:
            position = known.positions.get(name)
            if position is not None and known.volumes[position] is volume:
                known.mark(name, free=True)
            else:
                del self._sorted[key]


class Choices:
    """The volumes that the claims of one pod and class can have, each on each node.

    A position below ``len(free)`` is that of a free volume, one beyond it of a volume that names a claim.

    Attributes:
        classes: the classes that volumes name in their specs.
    """

    def __init__(self, cluster: ClusterView, volumes: Volumes, storage_class: str) -> None:
        self._cluster = cluster
        self._volumes = volumes
        self._free = volumes.free(storage_class)
        self.classes = self._free.classes
        self._named: Interner[str] = Interner()
        self._reserved: list[storage.PersistentVolume] = []
        self._taken: list[IntArray] = []

    def take(self, requirements: ClaimRequirements) -> IntArray:
        """Return the position of the volume a claim gets on each node, int64 (rows,), `NOTHING` for none.

        Later claims pass over it.
        """
        chosen = self._choose_by_node(requirements)
        self._taken.append(chosen)
        return chosen

    def volume(self, position: int) -> storage.PersistentVolume:
        """Return the volume at a position."""
        free = len(self._free)
        return self._free.volumes[position] if position < free else self._reserved[position - free]

    def capacities(self, positions: IntArray) -> tuple[IntArray, CodeArray]:
        """Return what the volumes at some positions hold, in bytes, int64 (n,), and the codes of their `classes`."""
        reserved = np.array([capacity(volume).value for volume in self._reserved], np.int64)
        codes = np.array([self.classes.code(volume.spec.storage_class_name) for volume in self._reserved], np.int32)
        return (
            np.concatenate((self._free.capacities, reserved))[positions],
            np.concatenate((self._free.class_codes, codes))[positions],
        )

    def _choose_by_node(self, requirements: ClaimRequirements) -> IntArray:
        rows = len(self._cluster.node_table)
        chosen = np.full(rows, NOTHING, np.int64)
        undecided = np.ones(rows, np.bool_)
        # a volume that names the claim is the claim's, or the node will not do: free ones are not looked at there
        for volume in filter(requirements.is_met_by, self._volumes.reserved_volumes(requirements.claim)):
            position = self._position(volume)
            here = undecided.copy()
            for taken in self._taken:
                here &= taken != position
            chosen[here & select_nodes(self._cluster.node_table.labels, volume_terms(volume))] = position
            undecided &= ~here
            if not undecided.any():
                return chosen
        return np.where(undecided, self._free.first(requirements, self._taken), chosen)

    def _position(self, volume: storage.PersistentVolume) -> int:
        place = self._named.code(volume.metadata.name)
        if place == len(self._reserved):
            self._reserved.append(volume)
        return len(self._free) + place


def volume_terms(volume: storage.PersistentVolume) -> Terms:
    """Return the condition on nodes that a volume can be reached from."""
    affinity = volume.spec.node_affinity
    return affinity_terms(affinity.required) if affinity is not None else None


def _kind(volume: storage.PersistentVolume) -> tuple[str, str, frozenset[str]]:
    return mode_of(volume), attributes_of(volume), frozenset(volume.spec.access_modes or ())


def _suits(kind: tuple[str, str, frozenset[str]], requirements: ClaimRequirements) -> bool:
    mode, attributes, access = kind
    return mode == requirements.mode and attributes == requirements.attributes and requirements.access <= access

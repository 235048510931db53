"""Dynamic provisioning: where a volume for a claim can be made, and from which CSIStorageCapacity (KEP-1472)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from schedctl.api import quantities, selectors, storage
from schedctl.cache.arrays import BoolArray, IndexArray, IntArray
from schedctl.cache.nodes import ClusterView
from schedctl.framework.volume_matching import STORAGE, requested_storage
from schedctl.plugins.volume_binding.node_terms import NOTHING, Terms, TermsIndex, select_nodes


class Capacities:
    """What is left for one class, by namespace and name.

    Attributes:
        objects: the capacities that some node could reach.
        values: int64 (capacities,), what each has left in total, in bytes.
        known: bool (capacities,), whether it says so.
    """

    def __init__(self, cluster: ClusterView, objects: Mapping[str, storage.CSIStorageCapacity]) -> None:
        self.objects: list[storage.CSIStorageCapacity] = []
        limits, codes = [], []
        self._index = TermsIndex(cluster)
        for key in sorted(objects):
            each = objects[key]
            largest = each.capacity if each.maximum_volume_size is None else each.maximum_volume_size
            terms = _topology(each)
            if largest is None or not terms:
                continue  # it does not say how much, or can be reached from no node
            self.objects.append(each)
            limits.append(quantities.parse(largest).value)
            codes.append(self._index.terms.code(terms))
        totals = [each.capacity for each in self.objects]
        self.values = np.array([0 if each is None else quantities.parse(each).value for each in totals], np.int64)
        self.known = np.array([each is not None for each in totals], np.bool_)
        self._limits = np.array(limits, np.int64)
        self._codes = np.array(codes, np.intp)

    def first(self, size: int) -> IntArray:
        """Return the first capacity with room for a volume that each node reaches, int64 (rows,), or `NOTHING`."""
        # of several with room kube-scheduler takes any; here it is the first by namespace and name
        return self._first(np.flatnonzero(self._limits >= size))

    def largest(self) -> IntArray:
        """Return the size of the largest volume that can be made for each node, int64 (rows,), -1 for none at all."""
        first = self._first(np.argsort(-self._limits, kind="stable"))
        sizes = np.full(len(first), -1, np.int64)
        in_reach = first != NOTHING
        sizes[in_reach] = self._limits[first[in_reach]]
        return sizes

    def _first(self, order: IndexArray) -> IntArray:
        """Return which of some capacities, in this order, is the first that each node reaches, int64 (rows,)."""
        ranks = np.full(len(self._index.terms), NOTHING, np.int64)
        ranks[self._codes[order[::-1]]] = np.arange(len(order))[::-1]  # of several values for one index the last stays
        first = self._index.first(ranks)
        found = first != NOTHING
        first[found] = order[first[found]]
        return first


class Provisioning(NamedTuple):
    """What dynamic provisioning can do for a claim.

    Attributes:
        claim: the claim.
        storage_class: its class.
        size: what it asks for, in bytes; None where it does not say.
        topologies: the class's allowed topologies.
        capacities: what is left for the class, None where nobody counts.
    """

    claim: storage.PersistentVolumeClaim
    storage_class: storage.StorageClass
    size: int | None
    topologies: Terms
    capacities: Capacities | None

    @property
    def possible(self) -> bool:
        """Whether there is somebody to make the volume."""
        return self.storage_class.provisioner not in ("", storage.NO_PROVISIONER)

    def allowed_nodes(self, cluster: ClusterView) -> BoolArray | None:
        """Return the nodes in the allowed topologies, bool (rows,), None for all."""
        return None if self.topologies is None else select_nodes(cluster.node_table.labels, self.topologies)


def dynamic_provisioning(claim: storage.PersistentVolumeClaim, cluster: ClusterView) -> Provisioning:
    """Return what dynamic provisioning can do for a claim whose class exists."""
    storage_class = cluster.get(storage.StorageClass, storage.class_of(claim))
    assert storage_class is not None
    resources = claim.spec.resources
    says = resources is not None and STORAGE in (resources.requests or {})
    driver = cluster.get(storage.CSIDriver, storage_class.provisioner)
    counted = driver is not None and bool(driver.spec.storage_capacity)
    left = cluster.derive(_by_class, storage.CSIStorageCapacity) if counted else {}
    return Provisioning(
        claim,
        storage_class,
        requested_storage(claim).value if says else None,
        _allowed_topologies(storage_class.allowed_topologies or ()),
        left.get(storage_class.metadata.name, Capacities(cluster, {})) if counted else None,
    )


def _by_class(cluster: ClusterView) -> Mapping[str, Capacities]:
    by_class: dict[str, dict[str, storage.CSIStorageCapacity]] = {}
    for key, each in cluster.every(storage.CSIStorageCapacity).items():
        by_class.setdefault(each.storage_class_name, {})[key] = each
    return {name: Capacities(cluster, objects) for name, objects in by_class.items()}


def _allowed_topologies(topologies: Sequence[storage.TopologySelectorTerm]) -> Terms:
    """Return the condition of allowed topologies; terms that are empty or cannot be parsed allow no node."""
    if not topologies:
        return None
    queries = []
    for term in topologies:
        try:
            conditions = [
                selectors.requirement(each.key, "In", each.values) for each in term.match_label_expressions or ()
            ]
        except selectors.SelectorError:
            continue
        if conditions:
            queries.append(selectors.LabelQuery(tuple(conditions)))
    return tuple(queries)


def _topology(capacity: storage.CSIStorageCapacity) -> Terms:
    """Return the condition on nodes that a capacity can be reached from: () where there is none or it is malformed."""
    try:
        query = selectors.compile_selector(capacity.node_topology)
    except selectors.SelectorError:
        return ()
    return () if query.nothing else (query,)

"""What a NodePool may launch: instance types with their zones and prices, as Karpenter's cloud providers offer them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from schedctl.api import node_labels, topology
from schedctl.api.autoscalers import NodePool
from schedctl.api.nodes import Taint
from schedctl.api.resources import allocatable
from schedctl.autoscaling.groups import NodeGroup, NodeTemplate
from schedctl.autoscaling.instance_types import Catalogue
from schedctl.autoscaling.requirements import is_well_known
from schedctl.simulation.karpenter import value_sets
from schedctl.simulation.karpenter.value_sets import Requirements, ValueSet, conflict, first_disjoint, narrow

NODES = "nodes"
"""The resource of a limit on how many nodes a pool has."""
_MAX_TYPES = 600
"""How many instance types a NodeClaim names at most, the cheapest."""


class Offering(msgspec.Struct, frozen=True):
    """Where a type can be had, and for how much.

    Attributes:
        zone: the zone.
        capacity_type: ``spot`` or ``on-demand``.
        price: per hour, None where that is not known.
        requirements: zone and capacity type as requirements.
        template: a node of it.
    """

    zone: str
    capacity_type: str
    price: float | None
    requirements: Requirements
    template: NodeTemplate | None = None


class OfferedType(msgspec.Struct, frozen=True):
    """An instance type as a NodePool may launch it.

    Attributes:
        name: its name.
        requirements: the labels of its nodes, those of all its zones and capacity types among them.
        allocatable: what pods can have of a node.
        capacity: what a node counts for in the limits of a pool.
        offerings: where it can be had.
    """

    name: str
    requirements: Requirements
    allocatable: Mapping[str, int]
    capacity: Mapping[str, int]
    offerings: tuple[Offering, ...]

    def offerings_for(self, requirements: Requirements) -> Iterator[Offering]:
        """Yield where it can be had so that requirements are met."""
        for each in self.offerings:
            if not conflict(requirements, each.requirements, of_new_node=True):
                yield each

    def suits(self, requirements: Requirements, requests: Mapping[str, int]) -> bool:
        """Return whether a node of it meets requirements and has room, and can be had there."""
        if not fits(requests, self.allocatable) or first_disjoint(self.requirements, requirements):
            return False
        return any(True for _ in self.offerings_for(requirements))

    def least_price(self, requirements: Requirements) -> float | None:
        """Return what it costs at least, None where that is not known."""
        prices = [each.price for each in self.offerings_for(requirements) if each.price is not None]
        return min(prices, default=None)


class Pool(msgspec.Struct, frozen=True):
    """A NodePool as far as Karpenter launches nodes of it.

    Attributes:
        name: its name.
        weight: the higher, the earlier it is asked.
        requirements: what all its nodes meet, its labels among them.
        taints: of its nodes.
        limits: the most that its nodes have together.
        types: what it may launch.
        known_types: all instance types there are, whose zones count as domains although it may not launch them.
        written: the NodePool.
    """

    name: str
    weight: int
    requirements: Requirements
    taints: tuple[Taint, ...] = ()
    limits: Mapping[str, int] = msgspec.field(default_factory=dict)
    types: tuple[OfferedType, ...] = ()
    known_types: tuple[OfferedType, ...] = ()
    written: NodePool = msgspec.field(default_factory=NodePool)


def fits(requests: Mapping[str, int], room: Mapping[str, int]) -> bool:
    """Return whether requests find room; nothing does where any amount is negative."""
    if any(amount > room.get(name, 0) for name, amount in requests.items()):
        return False
    return all(amount >= 0 for amount in room.values())


def in_price_order(types: Iterable[OfferedType], requirements: Requirements) -> list[OfferedType]:
    """Return the types that a NodeClaim names, the cheapest first and those of unknown price last."""

    def rank(each: OfferedType) -> tuple[bool, float]:
        price = each.least_price(requirements)
        return price is None, price or 0.0

    return sorted(types, key=rank)[:_MAX_TYPES]


def enough_values(types: Sequence[OfferedType], requirements: Requirements) -> bool:
    """Return whether types leave as many different values of labels as ``minValues`` asks for."""
    for key, values in requirements.items():
        if values.min_values is None:
            continue
        found = set().union(*(each.requirements[key].values for each in types if key in each.requirements))
        if len(found) < values.min_values:
            return False
    return True


def pools_of(groups: Iterable[NodeGroup], node_pools: Mapping[str, NodePool], catalogue: Catalogue) -> list[Pool]:
    """Return the NodePools that Karpenter launches nodes of, in the order in which it asks them.

    Args:
        groups: the groups of nodes, of which those of Karpenter count.
        node_pools: the NodePools by name.
        catalogue: the instance types there are; without any a pool has those that its nodes have.
    """
    found = []
    for group in groups:
        node_pool = node_pools.get(group.name)
        if node_pool is None or node_pool.spec.replicas is not None or not is_ready(node_pool):
            continue
        found.append(_pool(node_pool, group, catalogue))
    # of equal weights the later name comes first
    return sorted(sorted(found, key=lambda each: each.name, reverse=True), key=lambda each: -each.weight)


def is_ready(node_pool: NodePool) -> bool:
    """Return whether a pool is there to stay and ready; one whose status says nothing counts as ready."""
    if node_pool.metadata.deletion_timestamp is not None:
        return False
    ready = [each.status for each in node_pool.status.conditions or () if each.type == "Ready"]
    return all(each == "True" for each in ready)


def _pool(node_pool: NodePool, group: NodeGroup, catalogue: Catalogue) -> Pool:
    spec, name = node_pool.spec, node_pool.metadata.name
    written = [
        (each.key, value_sets.value_set(each.operator, each.values, each.min_values))
        for each in spec.template.spec.requirements or ()
    ]
    labels = {**(spec.template.metadata.labels or {}), node_labels.KARPENTER_POOL: name}
    requirements = narrow(narrow({}, written), value_sets.of_labels(labels).items())
    types = tuple(_types(group.templates))
    types = tuple(each for each in types if each.suits(requirements, {}))
    if not enough_values(types, requirements):
        types = ()
    known = tuple(_known(catalogue)) if catalogue else types
    return Pool(
        name,
        spec.weight or 0,
        requirements,
        tuple(spec.template.spec.taints or ()),
        dict(allocatable(spec.limits)),
        types,
        known,
        node_pool,
    )


def _types(templates: Iterable[NodeTemplate]) -> Iterator[OfferedType]:
    """Yield the instance types of a group, each with its zones and capacity types."""
    by_name: dict[str, list[NodeTemplate]] = {}
    for each in templates:
        by_name.setdefault(each.instance_type, []).append(each)
    for name, same in by_name.items():
        # those that differ in labels of the pool's own are one offering, which pods narrow down
        offered = {(each.zone, each.spot): each for each in reversed(same)}
        offerings = tuple(_offering(offered[each]) for each in dict.fromkeys((one.zone, one.spot) for one in same))
        status = same[0].node.status
        labels = {
            key: value
            for key, value in (same[0].node.metadata.labels or {}).items()
            if is_well_known(key) and key != node_labels.KARPENTER_POOL
        }
        yield OfferedType(
            name,
            _with_offerings(value_sets.of_labels(labels), offerings),
            dict(allocatable(status.allocatable)),
            dict(allocatable(status.capacity or status.allocatable)),
            offerings,
        )


def _offering(template: NodeTemplate) -> Offering:
    capacity_type = node_labels.SPOT if template.spot else node_labels.ON_DEMAND
    return Offering(template.zone, capacity_type, template.price, _of_offering(template.zone, capacity_type), template)


def _of_offering(zone: str, capacity_type: str) -> Requirements:
    labels = {topology.ZONE: zone} if zone else {}
    return value_sets.of_labels({**labels, node_labels.CAPACITY_TYPE: capacity_type})


def _with_offerings(requirements: Requirements, offerings: Sequence[Offering]) -> Requirements:
    """Return what a type comes to with all zones and capacity types that it can be had in."""
    found = {key: values for key, values in requirements.items() if key not in _OFFERED}
    zones = frozenset(each.zone for each in offerings if each.zone)
    capacity_types = frozenset(each.capacity_type for each in offerings)
    if zones:
        found[topology.ZONE] = ValueSet(zones)
    return {**found, node_labels.CAPACITY_TYPE: ValueSet(capacity_types)}


_OFFERED = (topology.ZONE, node_labels.CAPACITY_TYPE)


def _known(catalogue: Catalogue) -> Iterator[OfferedType]:
    """Yield all types of a catalogue, of which only the labels count."""
    for each in catalogue.types.values():
        offerings = tuple(
            Offering(zone, capacity_type, offer.price, _of_offering(zone, capacity_type))
            for offer in each.offerings
            for capacity_type in (node_labels.SPOT if offer.spot else node_labels.ON_DEMAND,)
            for zone in offer.zones or ("",)
        )
        yield OfferedType(each.name, _with_offerings(value_sets.of_labels(each.labels), offerings), {}, {}, offerings)

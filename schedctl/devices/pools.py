"""Pools of devices as one node sees them.

A node sees the devices that can be reached from it, but a pool counts only as a whole: *incomplete* when slices of it
are missing, *invalid* when it contradicts itself, and then nothing is allocated from it. The rules are those of
``structured/internal/incubating`` (``GatherPools``); `slices` lists the slices, `reach` knows who reaches them, and
`groups` compares what nodes see.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from schedctl.api.devices import CounterSet, Device, DeviceAttribute, DeviceTaint, DeviceTaintRule, ResourceSlice
from schedctl.api.nodes import Node
from schedctl.api.quantities import nano_units
from schedctl.cache.arrays import IndexArray, Interner
from schedctl.cache.nodes import ClusterView
from schedctl.devices.allocated import DeviceID, PoolID
from schedctl.devices.features import features_of
from schedctl.devices.reach import Reach
from schedctl.devices.selectors import DeviceView
from schedctl.devices.slices import effective_slices, pool_of

_PREVENTING = frozenset(("NoSchedule", "NoExecute"))
"""Effects of taints that keep claims away; any other is ignored."""

OPTIONAL_NODE_OPERATIONS = "DRAOptionalNodeOperations"
"""The feature a node must declare for devices that need no work on the node."""

Counted = tuple[tuple[str, str], int]
"""A counter as (counter set, counter), and an amount of it in nano-units."""


class GatherError(Exception):
    """Pools cannot be gathered, which ends the cycle.

    The text is kube-scheduler's, but for devices: we name them, where it prints all there is, addresses in memory too.
    """


class DeviceModel(msgspec.Struct, frozen=True, eq=False):
    """What devices that differ in nothing but name have in common.

    Attributes:
        number: counts up; stands for the model in comparisons.
        device: the first one seen.
        view: what CEL sees.
        shareable: whether several claims may hold shares of it.
        taints: those that keep claims away.
        consumes: the counters it draws on while it is in use.
    """

    number: int
    device: Device
    view: DeviceView
    shareable: bool
    taints: tuple[DeviceTaint, ...]
    consumes: tuple[Counted, ...]


class PooledDevice(msgspec.Struct, frozen=True, eq=False):
    """A device in its place.

    Attributes:
        id: what it is called.
        device: what its driver says of it.
        model: the same, shared with its like.
        slice: where it is listed.
        pool: the pool it belongs to.
        reached: whether the node may use it, or the text of the error that finding out ends in.
        operable: whether it is known on the node what work there it needs.
        skipped_operations: the work on the node that it does not need, as far as that is noticed.
    """

    id: DeviceID
    device: Device
    model: DeviceModel
    slice: ResourceSlice
    pool: Pool
    reached: bool | str
    operable: bool
    skipped_operations: list[str] | None

    @property
    def signature(self) -> Hashable:
        """What matters of it to a search, as far as it is no name."""
        if self.operable and not self.slice.spec.per_device_node_selection:
            return self.model.number
        return self.model.number, self.reached, self.operable


class Pool:
    """A pool as a node, or several nodes alike, see it.

    Attributes:
        id: what it is called.
        incomplete: slices are missing.
        invalid: what is wrong with it, "" if nothing is.
        devices: in order of slice name and then as listed, where it is neither; until v1.34 where it is not invalid.
        elsewhere: devices that other nodes reach and that draw on the counters.
        counters: how much there is of each counter, in nano-units.
        node: the one node that all slices of the pool name, "" if it can be seen from others.
        published: where slices are missing, how many there are and how many there should be.
        slices: the slices reached, by name.
    """

    __slots__ = ("counters", "devices", "elsewhere", "id", "incomplete", "invalid", "node", "published", "slices")

    def __init__(self, pool_id: PoolID, node: str, slices: tuple[str, ...]) -> None:
        self.id = pool_id
        self.node = node
        self.slices = slices
        self.incomplete = False
        self.invalid = ""
        self.published = (0, 0)
        self.devices: tuple[PooledDevice, ...] = ()
        self.elsewhere: tuple[PooledDevice, ...] = ()
        self.counters: Mapping[tuple[str, str], int] = {}

    @property
    def sound(self) -> bool:
        """Whether devices may be allocated from it."""
        return not (self.incomplete or self.invalid)

    @property
    def problem(self) -> str:
        """What is wrong with a pool that is not sound, in words."""
        there, stated = self.published
        return self.invalid or f"{there} of {stated} slices, so its devices are ignored"

    @property
    def waits(self) -> bool:
        """Whether one of the devices is ready only after binding conditions hold; such pools come last."""
        # An empty list is enough, as for kube-scheduler.
        return any(each.device.binding_conditions is not None for each in self.devices)

    def signature(self) -> Hashable:
        """Return a value that is equal for pools of two nodes only if they differ in names alone."""
        # A pool that several nodes see is the same pool for all of them, name and all: what one takes of it, none has.
        if not self.node:
            return self.id, self.slices, tuple((each.reached, each.operable) for each in self.devices)
        return (
            self.id.driver,
            self.incomplete,
            bool(self.invalid),
            self.waits,
            tuple(each.signature for each in self.devices),
            tuple(self.counters.items()),
        )


class Offer(NamedTuple):
    """What one node can choose from.

    Attributes:
        pools: in order of driver and name, those that wait for binding conditions after the others.
        devices: those of the pools, in order.
        local: the pools that no other node sees.
    """

    pools: tuple[Pool, ...]
    devices: tuple[PooledDevice, ...]
    local: tuple[Pool, ...]


def device_pools(cluster: ClusterView) -> DevicePools:
    """Return what every node sees; worked out anew when a node, a slice or a taint rule changes."""
    return cluster.derive(DevicePools, ResourceSlice, DeviceTaintRule, Node)


class DevicePools:
    """The pools of all nodes, gathered when a node is first asked about.

    Attributes:
        features: how devices are allocated.
        rows: how many rows there are.
        home_rows: the row of the node that a pool is local to, for pools that are.
        signatures_by_pool: for other pools, the numbers of what the nodes that see it see, as far as they were asked
            about.
        matches: which models, by number, an expression is true of, as far as a search has asked.
    """

    def __init__(self, cluster: ClusterView) -> None:
        slices = effective_slices(cluster)
        self.features = features_of(cluster.release)
        self._nodes = cluster.node_table
        # Slices that are left out are missing in their pool, whose slices state how many they are: it is incomplete.
        self._on_node = {name: list(filter(self._counts, named)) for name, named in slices.on_node.items()}
        self._shared = list(filter(self._counts, slices.shared))
        if not self.features.counters_by_node:  # they are relevant everywhere, whatever node they name
            wide = [each for named in self._on_node.values() for each in named if each.spec.shared_counters]
            self._on_node = {
                name: [each for each in named if not each.spec.shared_counters] for name, named in self._on_node.items()
            }
            self._shared += wide
        self._local_to = {pool: _only_node(every) for pool, every in slices.of_pool.items()}
        self._newest = {
            pool: max(each.spec.pool.generation for each in every) for pool, every in slices.of_pool.items()
        }
        self._whole = {
            (pool, generation): _Whole.of(every, generation, groups=self.features.groups)
            for pool, every in slices.of_pool.items()
            for generation in {each.spec.pool.generation for each in every}
        }
        counters_by_node = self.features.counters_by_node
        self._reach = Reach(self._nodes, self._shared, self._on_node.values(), counters_by_node=counters_by_node)
        self._offers: dict[int, Offer | GatherError] = {}
        self._wide: dict[Hashable, Offer] = {}  # of nodes without slices of their own, by `Reach.signature`
        self._models: dict[tuple[str, bytes], DeviceModel] = {}
        self._signatures: Interner[Hashable] = Interner()
        self._signature_of_offer: dict[int, int] = {}  # by identity, which lasts: `_offers` and `_wide` keep the offers
        self._signature: IndexArray = np.full(len(self._nodes), -1, np.intp)  # by row, -1 where not asked yet
        self.signatures_by_pool: dict[PoolID, set[int]] = {}
        row_of = self._nodes.row_of
        self.home_rows = {pool: row_of[node] for pool, node in self._local_to.items() if node in row_of}
        self.rows = len(self._nodes)
        self.matches: dict[tuple[str, int], bool] = {}

    def offer(self, row: int) -> Offer:
        """Return what a node can choose from.

        Raises:
            GatherError: a slice or device that might be for the node says so in a way that cannot be read.
        """
        known = self._offers.get(row)
        if known is None:
            try:
                known = self._gather(row)
            except GatherError as error:
                known = error
            self._offers[row] = known
        if isinstance(known, GatherError):
            raise known
        return known

    def signatures(self, rows: IndexArray) -> IndexArray:
        """Return a number for what each node sees, intp (n,): equal only where offers differ in names alone.

        Nodes whose pools cannot be gathered have numbers of their own.
        """
        unknown = rows[self._signature[rows] < 0]
        for row in dict.fromkeys(unknown.tolist()):
            self._signature[row] = self._new_signature(row)
        signatures: IndexArray = self._signature[rows]
        return signatures

    def signature_of(self, row: int) -> int:
        """Return the number of what one node sees."""
        if self._signature[row] < 0:
            self._signature[row] = self._new_signature(row)
        return int(self._signature[row])

    def name(self, row: int) -> str:
        """Return a node's name."""
        return self._nodes.names[row]

    def _new_signature(self, row: int) -> int:
        try:
            offer = self.offer(row)
        except GatherError:
            # A number of its own, since the error names what cannot be read. No pool's signature is an integer.
            return self._signatures.code(row)
        signature = self._signature_of_offer.get(id(offer))
        if signature is None:
            signature = self._signatures.code(tuple(pool.signature() for pool in offer.pools))
            self._signature_of_offer[id(offer)] = signature
            for pool in offer.pools:
                if not pool.node:
                    self.signatures_by_pool.setdefault(pool.id, set()).add(signature)
        return signature

    # -- gathering ---------------------------------------------------------------

    def _gather(self, row: int) -> Offer:
        """Gather a node's pools; nodes that reach the same of what is shared share the pools, and often the offer."""
        local = self._on_node.get(self._nodes.names[row], [])
        # A pool with slices both of the node and of others can only be gathered from all of them together.
        if not all(self._local_to[pool_of(each)] for each in local):
            return _offer(self._pools([*local, *self._reach.candidates(row)], row))
        signature = self._reach.signature(row), self._operates(row)
        wide = self._wide.get(signature)
        if wide is None:
            wide = self._wide[signature] = _offer(self._pools(self._reach.candidates(row), row))
        return _offer([*self._pools(local, row), *wide.pools]) if local else wide

    def _pools(self, slices: Sequence[ResourceSlice], row: int) -> list[Pool]:
        reached: dict[PoolID, list[ResourceSlice]] = {}
        for each in slices:
            if self._relevant(each, row):
                _add(reached.setdefault(pool_of(each), []), each)
        pools = (self._pool(pool_id, seen, row) for pool_id, seen in reached.items())
        return [pool for pool in pools if pool is not None]

    def _counts(self, each: ResourceSlice) -> bool:
        """Return whether a slice takes part where it is relevant."""
        spec = each.spec
        partitioned = spec.per_device_node_selection is not None or (spec.shared_counters and self.features.whole_pools)
        if partitioned and not self.features.partitions:
            return False
        return not (self.features.groups and _groups(each))

    def _relevant(self, each: ResourceSlice, row: int) -> bool:
        """Return whether a slice has a device for the node."""
        spec = each.spec
        if spec.shared_counters and not self.features.counters_by_node:
            return True
        if spec.node_name or spec.all_nodes or spec.node_selector is not None:
            reached = self._reach.of(spec, row)
            if isinstance(reached, str):
                raise GatherError(f"failed to perform node selection for slice {each.metadata.name}: {reached}")
            return reached
        if spec.per_device_node_selection:
            for device in spec.devices or ():
                reached = self._reach.of(device, row)
                if isinstance(reached, str):
                    where = f"device {device.name} in slice {each.metadata.name}"
                    raise GatherError(f"failed to perform node selection for {where}: {reached}")
                if reached:
                    return True
        return False

    def _pool(self, pool_id: PoolID, slices: list[ResourceSlice], row: int) -> Pool | None:
        """Return the pool of these slices, None if there is a newer generation of it elsewhere."""
        stated = slices[0].spec.pool  # before they are sorted: where slices disagree on the count, the first counts
        slices.sort(key=lambda each: each.metadata.name)
        pool = Pool(pool_id, self._local_to[pool_id], tuple(each.metadata.name for each in slices))
        others: Sequence[ResourceSlice] = ()
        if not self.features.whole_pools:
            pool.incomplete = len(slices) != stated.resource_slice_count
            pool.published = len(slices), stated.resource_slice_count
            self._fill(pool, slices, others, row)
            return pool
        # Slices that cannot be reached are looked at only when some seem to be missing. So a newer generation elsewhere
        # goes unnoticed as long as the older one looks complete from here: kube-scheduler's quirk.
        if len(slices) != stated.resource_slice_count:
            if self._newest[pool_id] > stated.generation:
                return None
            whole = self._whole[pool_id, stated.generation]
            if whole.number != stated.resource_slice_count:
                pool.incomplete = True
                pool.published = whole.number, stated.resource_slice_count
                return pool
            others = [each for each in whole.counting if each.metadata.name not in pool.slices]
        self._fill(pool, slices, others, row)
        return pool

    def _fill(self, pool: Pool, slices: Sequence[ResourceSlice], others: Sequence[ResourceSlice], row: int) -> None:
        """Set the pool's devices and counters, or what is wrong with it."""
        sets = [counters for each in (*slices, *others) for counters in each.spec.shared_counters or ()]
        counters = counters_of(sets)
        # Devices that are listed beside shared counters are overlooked; the API allows only either.
        overlooks = self.features.whole_pools
        listing = [each for each in slices if not (overlooks and each.spec.shared_counters)]
        devices = tuple(
            self._pool_device(device, pool, each, reached, operable=self._operates(row))
            for each in listing
            for device, reached in zip(each.spec.devices or (), self._reachable_devices(each, row), strict=True)
        )
        elsewhere = tuple(
            self._pool_device(device, pool, each, reached=False, operable=False)
            for each in others
            if not each.spec.shared_counters
            for device in each.spec.devices or ()
            if device.consumes_counters
        )
        pool.invalid = _first_duplicate(devices)
        if not pool.invalid and self.features.partitions and self.features.whole_pools:
            pool.invalid = _contradiction(sets, (*devices, *elsewhere))
        if not pool.invalid:
            pool.devices, pool.elsewhere, pool.counters = devices, elsewhere, counters

    def _pool_device(
        self, device: Device, pool: Pool, listing: ResourceSlice, reached: bool | str, *, operable: bool
    ) -> PooledDevice:
        skipped = listing.spec.skip_node_operations if self.features.reads_operations else None
        operable = not skipped or (self.features.operations and operable)
        name, model = DeviceID(*pool.id, device.name), self._model(device, pool.id)
        return PooledDevice(name, device, model, listing, pool, reached, operable, skipped)

    def _operates(self, row: int) -> bool:
        """Return whether a node knows of devices that need no work there."""
        declared = self._nodes.objects[row].status.declared_features if self.features.operations else None
        return OPTIONAL_NODE_OPERATIONS in (declared or ())

    def _reachable_devices(self, each: ResourceSlice, row: int) -> tuple[bool | str, ...]:
        devices = each.spec.devices or ()
        if not each.spec.per_device_node_selection:
            return (True,) * len(devices)
        return tuple(self._reach.of(device, row) for device in devices)

    def _model(self, device: Device, pool_id: PoolID) -> DeviceModel:
        # The driver, too: it is the domain of the attributes that are written without one.
        key = pool_id.driver, msgspec.json.encode(msgspec.structs.replace(device, name=""))
        model = self._models.get(key)
        if model is None:
            declared = bool(device.allow_multiple_allocations)
            # the variant of the allocator that knows no amounts does not show it to selectors either
            shown = declared and self.features.amounts
            attributes = device.attributes or {}
            if not self.features.known_lists:
                attributes = {name: _single(attribute) for name, attribute in attributes.items()}
            view = DeviceView(pool_id.driver, attributes, device.capacity or {}, shown)
            counted = (device.taints or ()) if self.features.taints else ()
            taints = tuple(taint for taint in counted if self.features.all_taints or taint.effect in _PREVENTING)
            consumes = tuple(
                ((each.counter_set, counter), nano_units(amount.value))
                for each in device.consumes_counters or ()
                for counter, amount in (each.counters or {}).items()
            )
            shareable = declared and self.features.shares
            model = DeviceModel(len(self._models), device, view, shareable, taints, consumes)
            self._models[key] = model
        return model


class _Whole(NamedTuple):
    """One generation of a pool, whoever reaches it.

    Attributes:
        number: how many slices there are, without those left out.
        counting: those of them that have counters or devices that draw on some.
    """

    number: int
    counting: Sequence[ResourceSlice]

    @classmethod
    def of(cls, slices: Sequence[ResourceSlice], generation: int, *, groups: bool) -> _Whole:
        whole = [each for each in slices if each.spec.pool.generation == generation and not (groups and _groups(each))]
        return cls(len(whole), [each for each in whole if each.spec.shared_counters or _draws(each)])


def counters_of(sets: Iterable[CounterSet]) -> dict[tuple[str, str], int]:
    """Return how much there is of each counter of some sets, in nano-units."""
    return {
        (each.name, counter): nano_units(amount.value)
        for each in sets
        for counter, amount in (each.counters or {}).items()
    }


def _single(attribute: DeviceAttribute) -> DeviceAttribute:
    """Return an attribute as a release sees it that knows no lists."""
    return msgspec.structs.replace(
        attribute, int_values=None, bool_values=None, string_values=None, version_values=None
    )


def _only_node(slices: Sequence[ResourceSlice]) -> str:
    """The node that all these slices name, "" if they do not."""
    names = {each.spec.node_name or "" for each in slices}
    return names.pop() if len(names) == 1 else ""


def _groups(each: ResourceSlice) -> bool:
    """Return whether a device of the slice names compatibility groups."""
    return any(
        consumption.compatibility_groups
        for device in each.spec.devices or ()
        for consumption in device.consumes_counters or ()
    )


def _draws(each: ResourceSlice) -> bool:
    """Return whether a device of the slice draws on counters."""
    return any(device.consumes_counters for device in each.spec.devices or ())


def _offer(pools: list[Pool]) -> Offer:
    """Put pools in order."""
    pools.sort(key=lambda pool: (pool.waits, pool.id))
    devices = tuple(device for pool in pools for device in pool.devices)
    return Offer(tuple(pools), devices, tuple(pool for pool in pools if pool.node))


def _add(slices: list[ResourceSlice], each: ResourceSlice) -> None:
    """Add a slice to those of its pool; the newest generation drives out older ones."""
    generation = each.spec.pool.generation
    if slices and generation > slices[0].spec.pool.generation:
        slices.clear()
    if not slices or generation == slices[0].spec.pool.generation:
        slices.append(each)


def _first_duplicate(devices: Sequence[PooledDevice]) -> str:
    names: set[str] = set()
    for each in devices:
        if each.id.device in names:
            return f"duplicate device name {each.id.device}"
        names.add(each.id.device)
    return ""


def _contradiction(sets: Sequence[CounterSet], devices: Sequence[PooledDevice]) -> str:
    """What is wrong with the counters of a pool, "" if nothing is."""
    known: dict[str, CounterSet] = {}
    for each in sets:
        if each.name in known:
            return f"duplicate counter set name {each.name}"
        known[each.name] = each
    for device in devices:
        for consumption in device.device.consumes_counters or ():
            if consumption.counter_set not in known:
                return f"counter set {consumption.counter_set} not found"
            for counter in consumption.counters or ():
                if counter not in (known[consumption.counter_set].counters or {}):
                    return f"counter {counter} not found in counter set {consumption.counter_set}"
    return ""

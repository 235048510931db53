"""What PreFilter makes of a pod's claims, and what Filter asks of it: where are all of them to be had?

A `ClaimSearch` is the state of one cycle; it answers by node row. `schedctl.devices` allocates, `claims` and
`extended_resources` say what.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from schedctl.api import devices, meta, node_selectors, pods
from schedctl.cache.arrays import BoolArray, IndexArray
from schedctl.cache.node_matching import nodes_matching
from schedctl.cache.node_table import NodeTable
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo
from schedctl.devices import allocator
from schedctl.devices.features import features_of
from schedctl.devices.pools import OPTIONAL_NODE_OPERATIONS
from schedctl.devices.shortages import Refusal, Shortage
from schedctl.errors import Inconclusive
from schedctl.framework.device_classes import can_be_devices, is_listed, shares_devices
from schedctl.plugins.dynamic_resources.claims import Unready, needs_capable_node, users_of
from schedctl.plugins.dynamic_resources.extended_resources import NodeClaim, on_node, on_node_unshared
from schedctl.plugins.dynamic_resources.node_charges import Charge, ClaimStatuses, charge_on, is_held_by_others

_UNSEARCHED = -1
_PASSED_OVER = ("elsewhere", "incapable")
"""Why a claim cannot be used on a node, so that nothing else is looked at there."""
_MOST_DEVICES = 5
"""Of how many devices it is told what speaks against them."""


class Outcome(IntEnum):
    """What became of one node."""

    FITS = 0
    LEFT_BEHIND = 1
    NOT_OFFERED = 2
    NOT_ALLOCATED = 3
    FAILED_HERE = 4
    FAULT = 5
    UNAVAILABLE = 6
    SHARED = 7


class Held(NamedTuple):
    """An allocated claim that cannot be used from a node.

    Attributes:
        claim: its key.
        because: ``elsewhere``, the node is not among those from where its devices are reached; ``unready``, its
            driver gave up; ``timeout``, they took too long to get ready; ``incapable``, the node does not declare
            a feature they need.
        detail: what the driver said, or the feature.
        reach: the nodes from where its devices are reached, where the node is not among them.
    """

    claim: str
    because: str
    detail: str = ""
    reach: pods.NodeSelector | None = None


class Lack(NamedTuple):
    """A request for which a node has not enough devices.

    Attributes:
        claim: the claim's key.
        request: the request, ``request/alternative`` where it has several.
        device_class: the class it asks for.
        wanted: how many devices it needs; 0 for all of them where there is none.
        found: how many there were when the search got stuck.
        too_many: whether it was the most a claim can hold that was in the way.
        passed_over: how many devices were left, by the first reason.
        closest: the device that came closest, None if there is no device.
        others: the next ones, each with other reasons against it.
    """

    claim: str
    request: str
    device_class: str
    wanted: int
    found: int
    too_many: bool
    passed_over: Mapping[str, int]
    closest: Closest | None
    others: tuple[Closest, ...]


class Closest(NamedTuple):
    """A device and what speaks against it.

    Attributes:
        device: ``driver/pool/device``.
        refusals: all that does.
    """

    device: str
    refusals: tuple[Refusal, ...]


class Scarcity(NamedTuple):
    """Why claims cannot be allocated on a node.

    Attributes:
        lacking: the request the search could not get past, each of its alternatives.
        pools: the pools that do not count, and why not.
        error: what else went wrong.
        incomplete: those of the pools of which slices are missing.
        users: of the claims that hold devices, the pods they are reserved for, ``namespace/name``.
    """

    lacking: tuple[Lack, ...]
    pools: Mapping[str, str]
    error: str = ""
    incomplete: tuple[str, ...] = ()
    users: Mapping[str, tuple[str, ...]] = MappingProxyType({})


class Finding(NamedTuple):
    """What Filter found out about one node.

    Attributes:
        unavailable: the claims, by index, that are allocated and cannot be used there.
        allocations: what the claims that need it would be given, in order; None where nothing is to be allocated.
        special: the claim for extended resources as this node needs it.
        claims: all the claims, where the node is feasible.
        charged: what its claims take of the node's own resources.
    """

    unavailable: tuple[int, ...] = ()
    allocations: tuple[devices.AllocationResult, ...] | None = None
    special: NodeClaim | None = None
    claims: tuple[devices.ResourceClaim, ...] = ()
    charged: ClaimStatuses = ()


class Batch(NamedTuple):
    """Nodes that were searched at once, for the same claims.

    Attributes:
        special: the claim for extended resources among them.
        claims: the claims to be allocated.
        found: the allocations by position.
    """

    special: NodeClaim | None
    claims: tuple[devices.ResourceClaim, ...]
    found: allocator.Findings


class _ByRow(NamedTuple):
    """What a search knows of nodes, by row.

    Attributes:
        outcomes: int8 (rows,) of `Outcome`, `_UNSEARCHED` where it has not been asked.
        batch_of: in which batch they were searched, int32 (rows,); -1 where nothing was to be allocated.
        place: where in the batch, intp (rows,).
    """

    outcomes: npt.NDArray[np.int8]
    batch_of: npt.NDArray[np.int32]
    place: IndexArray

    @classmethod
    def of(cls, rows: int) -> _ByRow:
        """Return what is known of so many rows before any has been asked about: nothing."""
        known = cls(np.empty(rows, np.int8), np.empty(rows, np.int32), np.zeros(rows, np.intp))
        known.outcomes.fill(_UNSEARCHED)
        known.batch_of.fill(-1)
        return known


class ClaimSearch:
    """The claims of one pod and where they are to be had, in one state of the cluster.

    It remembers what it answered of a node, because no pod supposed there changes which devices are free: an eviction
    frees none, and a nominated pod holds none yet. So passes with nominated pods and all of preemption cost nothing.
    What devices take of a node's own resources is remembered, too; whether it fits there is for the caller to see.

    Attributes:
        pod: the pod.
        claims: the user's in the order of the spec, then the one for extended resources.
        special: the one for extended resources, None if the pod has no such.
        shareable: whether all that is to be done is to allocate the user's claims; that is the same for equal claims.
        charges: whether devices may take some of a node's own resources.
    """

    def __init__(
        self,
        pod: PodInfo,
        cluster: ClusterView,
        claims: tuple[devices.ResourceClaim, ...],
        special: devices.ResourceClaim | None,
        reached_from: Mapping[int, node_selectors.NodeQuery],
        unready: Mapping[int, Unready],
        device_allocator: allocator.Allocator | None,
        classes: Mapping[str, devices.DeviceClass],
        pending: Mapping[int, devices.AllocationResult] | None = None,
    ) -> None:
        """Make the search.

        Args:
            pod: the pod.
            cluster: where it is to go.
            claims: all claims, the special one last.
            special: the claim for extended resources.
            reached_from: for allocated claims, by index, the nodes from where their devices are reached.
            unready: for allocated claims, by index, why their devices will not do.
            device_allocator: what allocates the other claims; None if there are none.
            classes: which class stands in for which extended resource.
            pending: for claims that another pod of the group was given in this cycle, by index, what they have.
        """
        self._pending = pending or {}
        self.pod = pod
        self.claims = claims
        self.special = special
        self._cluster = cluster
        self._reached_from = reached_from
        self._unready = unready
        self._allocator = device_allocator
        features = features_of(cluster.release)
        self._reads_operations = features.known_operations
        self._classes = classes
        self.charges = features.charges
        unallocated = all(claim.status.allocation is None for claim in claims)
        # what claims take of a node is added to what each pod asks for itself
        self.shareable = special is None and unallocated and not self._pending and not self.charges
        self._held: tuple[int, ...] = ()
        if self.charges:
            self._held = tuple(i for i, claim in enumerate(claims) if is_held_by_others(claim, pod, cluster))
        self._charges: dict[int, Charge | None] = {}
        self._batches: list[Batch] = []
        self._found: dict[int, Finding | None] = {}

    @cached_property
    def _by_row(self) -> _ByRow:
        # when it is asked: most searches are not, since that of an earlier pod with equal claims is
        return _ByRow.of(len(self._cluster.node_table))

    def allocates_by(self, device_allocator: allocator.Allocator | None) -> bool:
        """Return whether an allocator, such as that of the devices as they are now, is its own."""
        return self._allocator is device_allocator

    def equivalence_key(self, row: int) -> Hashable:
        """Return something that is equal for nodes, asked about before, on which claims get equal devices."""
        number = int(self._by_row.batch_of[row])
        fits = self._by_row.outcomes[row] == Outcome.FITS
        return fits, number, self._batches[number].found.group(int(self._by_row.place[row])) if number >= 0 else 0

    @property
    def user_claims(self) -> tuple[devices.ResourceClaim, ...]:
        """The claims but for the one for extended resources."""
        return self.claims if self.special is None else self.claims[:-1]

    @property
    def pending(self) -> tuple[int, ...]:
        """The claims, by index, that another pod of the group was given in this cycle."""
        return tuple(self._pending)

    @property
    def to_allocate(self) -> tuple[tuple[int, devices.ResourceClaim], ...]:
        """The claims without an allocation that is written, by index."""
        return tuple((i, claim) for i, claim in enumerate(self.claims) if claim.status.allocation is None)

    def outcomes(self, rows: IndexArray) -> npt.NDArray[np.int8]:
        """Return what becomes of nodes by row, int8 (n,) of `Outcome`.

        Raises:
            Inconclusive: the search was given up on one of them.
        """
        outcomes = self._by_row.outcomes[rows]
        unsearched = rows[outcomes == _UNSEARCHED]
        if len(unsearched) > 1:  # a supposed column may have a node at several positions
            once = np.zeros(len(self._by_row.outcomes), np.bool_)
            once[unsearched] = True
            unsearched = np.flatnonzero(once)
        if len(unsearched):
            self._search_rows(unsearched)
            outcomes = self._by_row.outcomes[rows]
        return outcomes

    def text(self, row: int) -> str:
        """Return what went wrong on a node whose search failed."""
        batch = self._batches[self._by_row.batch_of[row]]
        return str(batch.found.fault(int(self._by_row.place[row])))

    def finding(self, row: int) -> Finding | None:
        """Return what was found out about a node, None where there was nothing to find out or no way to use it."""
        if row not in self._found:
            self._found[row] = self._find(row)
        return self._found[row]

    def charge(self, row: int) -> Charge | None:
        """Return what the claims take of a node's own resources, where it was searched and they can be had."""
        if row not in self._charges:
            self._charges[row] = self._charge(row)
        return self._charges[row]

    def shared_claim(self, row: int) -> str:
        """Return the claim that is held by another pod and cannot be shared, by name; the first that counts here."""
        elsewhere = {index for index, held in self._claims_out_of_reach(row) if held.because in _PASSED_OVER}
        return next((self.claims[i].metadata.name for i in self._held if i not in elsewhere), "")

    def unusable_claims(self, row: int) -> tuple[Held, ...]:
        """Return the allocated claims that cannot be used from a node, and why."""
        return tuple(held for _, held in self._claims_out_of_reach(row))

    def missing_resources(self, row: int) -> tuple[str, ...]:
        """Return the resources that are neither devices nor listed by a node."""
        table, rows = self._cluster.node_table, np.array([row], np.intp)
        return tuple(
            name
            for name in self._device_resources()
            if name not in self._classes and not is_listed(table, name, rows)[0]
        )

    def scarcity(self, row: int) -> Scarcity:
        """Return why the claims cannot be allocated on a node; dear, and true only of the cluster as it was asked."""
        assert self._allocator is not None
        found = self._allocator.explain(row, self._batches[self._by_row.batch_of[row]].claims)
        lacking = tuple(map(_lack, found.shortages))
        pools = {str(pool): why for pool, why in found.pools}
        return Scarcity(lacking, pools, found.error, tuple(map(str, found.incomplete)), self._users(lacking))

    # -- inside ------------------------------------------------------------------

    def _users(self, lacking: Iterable[Lack]) -> dict[str, tuple[str, ...]]:
        """Return the pods that use the claims which hold the devices told of, by claim; pending claims have none."""
        judged = (each for lack in lacking for each in (lack.closest, *lack.others) if each is not None)
        holders = {holder for each in judged for refusal in each.refusals for holder in refusal.holders}
        known = self._cluster.every(devices.ResourceClaim)
        return {key: users_of(known[key]) for key in sorted(holders & known.keys())}

    def _search_rows(self, rows: IndexArray) -> None:
        """Work out the outcome of rows that were not searched before, each given once."""
        if self.special is None:
            self._search(rows, None)
            return
        if self.special.spec.devices.requests is not None:
            self._by_row.outcomes[rows] = Outcome.LEFT_BEHIND
            return
        table = self._cluster.node_table
        for name in self._device_resources():
            if name not in self._classes:
                self._by_row.outcomes[rows[~is_listed(table, name, rows)]] = Outcome.NOT_OFFERED
        rows = rows[self._by_row.outcomes[rows] == _UNSEARCHED]
        # nodes differ in which resources their device plugins offer: each combination makes one claim
        backed = [name for name in self._device_resources() if name in self._classes]
        absent = np.array([self._absent(name, rows) for name in backed], np.bool_)
        kinds, kind = np.unique(absent, axis=1, return_inverse=True)
        for number, needed in enumerate(kinds.T):
            names = [name for name, is_needed in zip(backed, needed.tolist(), strict=True) if is_needed]
            self._search_with_devices(rows[kind.ravel() == number], names)

    def _absent(self, resource: str, rows: IndexArray) -> BoolArray:
        """Return on which nodes a resource has to be devices."""
        table = self._cluster.node_table
        if not shares_devices(self._cluster.release):
            return ~is_listed(table, resource, rows)
        absent: BoolArray = table.column(table.allocatable, resource)[rows] == 0
        return absent

    def _device_resources(self) -> list[str]:
        """Return the resources the pod asks for that could be devices."""
        release = self._cluster.release
        requests = self.pod.demand.fit_requests.items()
        return [name for name, amount in requests if amount and can_be_devices(name, release)]

    def _search_with_devices(self, rows: IndexArray, resources: Sequence[str]) -> None:
        """Search rows on which these resources have to be devices."""
        assert self.special is not None
        allocated = self.special.status.allocation is not None
        if not self.user_claims and (allocated or not resources):
            self._by_row.outcomes[rows] = Outcome.FITS
            self._charges.update(dict.fromkeys(rows.tolist()))
        elif allocated:
            self._search(rows, None)
        elif shares_devices(self._cluster.release):
            self._search(rows, on_node(self.special, self.pod, resources, self._classes))
        else:
            every = [name for name in self._device_resources() if name in self._classes]
            self._search(rows, on_node_unshared(self.special, self.pod, every, self._classes))

    def _search(self, rows: IndexArray, special: NodeClaim | None) -> None:
        outcomes = np.zeros(len(rows), np.int8)
        outcomes[self._unavailable(rows)] = Outcome.UNAVAILABLE
        if self._allocator is not None:
            claims = tuple(
                special.claim if special is not None and claim is self.special else claim
                for index, claim in self.to_allocate
                if index not in self._pending
            )
            found = self._allocator.allocate_all(rows, claims)
            if not found.is_feasible_everywhere:
                outcomes[~found.feasible] = Outcome.NOT_ALLOCATED
                outcomes[found.invalid] = Outcome.FAILED_HERE
                outcomes[found.faulty] = Outcome.FAULT
                inconclusive = found.inconclusive
                if inconclusive.any():
                    raise self._inconclusive(int(rows[inconclusive.argmax()]))
            self._by_row.batch_of[rows] = len(self._batches)
            self._by_row.place[rows] = np.arange(len(rows))
            self._batches.append(Batch(special, claims, found))
        if self._held:
            outcomes[[bool(self.shared_claim(row)) for row in rows.tolist()]] = Outcome.SHARED
        self._by_row.outcomes[rows] = outcomes

    def _charge(self, row: int) -> Charge | None:
        number = int(self._by_row.batch_of[row])
        found = self._batches[number].found.at(int(self._by_row.place[row])) if number >= 0 else None
        new = iter(found or ())
        allocations = [claim.status.allocation or next(new, None) for claim in self.claims]
        return charge_on(row, self.pod, self.claims, allocations, self._cluster)

    def _inconclusive(self, row: int) -> Inconclusive:
        node = self._cluster.node_table.names[row]
        claims = ", ".join(f'"{meta.key_of(claim)}"' for claim in self.claims)
        what = f"the search for devices on node {node} was given up after {allocator.BUDGET} steps"
        return Inconclusive("DynamicResources", what, f"pod {self.pod.key}, claims {claims}")

    def _unavailable(self, rows: IndexArray) -> BoolArray:
        """Return the rows from which some allocated claim cannot be used, bool (n,)."""
        if self._unready:
            return np.ones(len(rows), np.bool_)
        unavailable = np.zeros(len(rows), np.bool_)
        table = self._cluster.node_table
        for query in self._reached_from.values():
            unavailable |= ~nodes_matching(table, query)[rows]
        if any(map(self._needs_capable_node, self.claims)):
            unavailable |= np.array([not _capable(table, row) for row in rows.tolist()], np.bool_)
        return unavailable

    def _claims_out_of_reach(self, row: int) -> Iterator[tuple[int, Held]]:
        """Yield the claims, by index, that are allocated and cannot be used from a node."""
        table = self._cluster.node_table
        for index, claim in enumerate(self.claims):
            if index in self._reached_from and not _matches(table, self._reached_from[index], row):
                reach = claim.status.allocation.node_selector if claim.status.allocation is not None else None
                yield index, Held(meta.key_of(claim), "elsewhere", reach=reach)
            elif self._needs_capable_node(claim) and not _capable(table, row):
                yield index, Held(meta.key_of(claim), "incapable", OPTIONAL_NODE_OPERATIONS)
            elif index in self._unready:
                why = self._unready[index]
                yield index, Held(meta.key_of(claim), "unready" if why.failed else "timeout", why.message or why.reason)

    def _needs_capable_node(self, claim: devices.ResourceClaim) -> bool:
        return self._reads_operations and needs_capable_node(claim.status.allocation)

    def _find(self, row: int) -> Finding | None:
        outcome, number = self._by_row.outcomes[row], int(self._by_row.batch_of[row])
        if outcome == Outcome.UNAVAILABLE:
            return Finding(tuple(index for index, _ in self._claims_out_of_reach(row)))
        if outcome != Outcome.FITS:
            return None
        charge = self.charge(row) if self.charges else None
        charged = charge.statuses if charge is not None else ()
        of_others = tuple(self._pending.values())
        if number < 0:
            return Finding((), of_others or None, claims=self.claims, charged=charged)
        batch = self._batches[number]
        new = batch.found.at(int(self._by_row.place[row]))
        # kube-scheduler appends what others were given, and Reserve hands out all of it in the order of the claims
        return Finding((), (*new, *of_others) if new is not None else None, batch.special, self.claims, charged)


def _lack(shortage: Shortage) -> Lack:
    nearest = [Closest(str(each.device), each.refusals) for each in shortage.nearest[:_MOST_DEVICES]]
    return Lack(
        shortage.claim,
        shortage.request,
        shortage.class_name,
        shortage.needed,
        shortage.found,
        shortage.limit,
        {why.value: number for why, number in shortage.histogram().most_common()},
        next(iter(nearest), None),
        tuple(nearest[1:]),
    )


def _matches(table: NodeTable, query: node_selectors.NodeQuery, row: int) -> bool:
    return query.matches(table.names[row], table.objects[row].metadata.labels)


def _capable(table: NodeTable, row: int) -> bool:
    return OPTIONAL_NODE_OPERATIONS in (table.objects[row].status.declared_features or ())

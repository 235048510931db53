"""The allocator: which devices a pod's unallocated claims would be given on a node, for one node or a column of them.

It follows ``structured/internal/incubating`` of dynamic-resource-allocation, the variant that kube-scheduler uses with
default feature gates. `pools` says what a node sees, `search` finds devices on one, and since many nodes look alike,
each group of them (`groups`) is searched once and its answer put in the names of the node that is asked about.
"""

from __future__ import annotations

import uuid
from collections.abc import Hashable, Sequence

import msgspec
import numpy as np

from schedctl.api import devices
from schedctl.api.devices import DeviceClass, DeviceTaintRule, ResourceClaim, ResourceSlice
from schedctl.api.nodes import Node
from schedctl.api.pods import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from schedctl.cache.arrays import BoolArray, IndexArray
from schedctl.cache.nodes import ClusterView
from schedctl.devices.allocated import AllocatedState, PendingAllocation, devices_in_use
from schedctl.devices.eligibility import AllocationError
from schedctl.devices.groups import Groups, groups_of
from schedctl.devices.pools import DevicePools, GatherError, Offer, PooledDevice, device_pools
from schedctl.devices.search import BudgetExceeded, NodeAllocationError, Pick, Search
from schedctl.devices.shortages import Explanation

BUDGET = 1_000_000
"""Steps a search may take by default; kube-scheduler stops after ten seconds, which depends on the machine."""

_SHARES = uuid.UUID("6d0c2b0e-7f5e-5b0a-9a51-1d6f0a9f0c11")
"""The name space of the ids of shares."""

_ONE = np.zeros(1, np.intp)
"""Where a single row is among its kind."""

Picks = tuple[tuple[Pick, ...], ...]
"""The devices chosen for each claim."""

Fault = AllocationError | NodeAllocationError | BudgetExceeded

_Outcome = Picks | Fault | None
"""What came of a search for a group; the text of a fault may name pools of the node that was searched."""


class Allocator:
    """Answers for one scheduling cycle; making one is cheap.

    Args:
        cluster: the cluster as the cycle sees it.
        state: what is in use, normally `allocated.devices_in_use`; it may not change during the cycle.
        budget: the most steps (devices looked at, and calls) of a search on one node.
    """

    def __init__(self, cluster: ClusterView, state: AllocatedState, *, budget: int = BUDGET) -> None:
        self._cluster = cluster
        self._state = state
        self._budget = budget
        self._pools: DevicePools = device_pools(cluster)
        self._classes = cluster.every(DeviceClass)
        self._groups: Groups = groups_of(cluster, self._pools, state)

    def allocate(self, row: int, claims: Sequence[ResourceClaim]) -> tuple[devices.AllocationResult, ...] | None:
        """Return what each claim would be given on a node, None if they cannot all be satisfied there.

        The results are in the order of the claims. They have no allocation timestamp.

        Args:
            row: of the node, in the node table.
            claims: those without an allocation, in the order of the pod's.

        Raises:
            AllocationError: something is wrong with a claim, a class or a pool that ends the whole cycle.
            NodeAllocationError: not on this node, because one of its pools is invalid.
            BudgetExceeded: the search took more steps than it may.
        """
        offer = self._offer(row)
        picks = self._search(offer, claims).run()
        return None if picks is None else _results(offer, self._pools.name(row), claims, picks)

    def allocate_all(self, rows: IndexArray, claims: Sequence[ResourceClaim]) -> Findings:
        """Return what `allocate` would return for each row, intp (n,); nodes that are alike are searched once.

        Faults are part of the findings, not raised.
        """
        if len(rows) == 1:  # as after a placement
            return Findings(self, rows, claims, _ONE, [self._outcome_on(rows.item(), claims)])
        context = self._context(claims)
        numbers, first, inverse = np.unique(self._groups.of(rows), return_index=True, return_inverse=True)
        outcomes = [
            self._outcome_for(number, int(rows[position]), claims, context)
            for number, position in zip(numbers.tolist(), first.tolist(), strict=True)
        ]
        return Findings(self, rows, claims, inverse, outcomes)

    def can_allocate(self, row: int, claims: Sequence[ResourceClaim]) -> bool:
        """Return whether claims can be allocated on a node, which is known where that was asked of one alike."""
        return isinstance(self._outcome_on(row, claims), tuple)

    def allocate_by_group(
        self, row: int, claims: Sequence[ResourceClaim]
    ) -> tuple[devices.AllocationResult, ...] | None:
        """Return what `allocate` returns, from what was found for a node that is alike; None in case of a fault."""
        picks = self._outcome_on(row, claims)
        return self.results(row, claims, picks) if isinstance(picks, tuple) else None

    def explain(self, row: int, claims: Sequence[ResourceClaim]) -> Explanation:
        """Return what comes of an attempt on a node and where it gets stuck, with every reason against every device.

        This takes its time: ask about one node.
        """
        try:
            offer = self._offer(row)
        except AllocationError as error:
            return Explanation(fits=False, error=str(error))
        pools = tuple((pool.id, pool.problem) for pool in offer.pools if not pool.sound)
        incomplete = tuple(pool.id for pool in offer.pools if pool.incomplete)
        search = self._search(offer, claims, explain=True)
        try:
            picks = search.run()
            if picks is not None:
                _results(offer, self._pools.name(row), claims, picks)
                return Explanation(fits=True, pools=pools, incomplete=incomplete)
        except BudgetExceeded:
            return Explanation(False, "", True, search.shortages, pools, incomplete)
        except (AllocationError, NodeAllocationError) as error:
            return Explanation(False, str(error), False, search.shortages, pools, incomplete)
        return Explanation(False, "", False, search.shortages, pools, incomplete)

    def results(self, row: int, claims: Sequence[ResourceClaim], picks: Picks) -> tuple[devices.AllocationResult, ...]:
        """Return picks made for a node that looks like this one, in the words of this one."""
        return _results(self._offer(row), self._pools.name(row), claims, picks)

    def _offer(self, row: int) -> Offer:
        try:
            return self._pools.offer(row)
        except GatherError as error:
            raise AllocationError(f"gather pool information: {error}") from None

    def _search(self, offer: Offer, claims: Sequence[ResourceClaim], *, explain: bool = False) -> Search:
        pools = self._pools
        return Search(
            offer, self._state, self._classes, claims, pools.matches, self._budget, pools.features, explain=explain
        )

    def _context(self, claims: Sequence[ResourceClaim]) -> Hashable:
        """Return all that an outcome depends on beside what the node sees."""
        # The requests as text: claims made from one template are equal, and their names do not matter to a search.
        requests = tuple(msgspec.json.encode(claim.spec.devices) for claim in claims)
        return requests, self._cluster.version(DeviceClass), self._budget

    def _outcome_on(self, row: int, claims: Sequence[ResourceClaim]) -> _Outcome:
        return self._outcome_for(self._groups.of_row(row), row, claims, self._context(claims))

    def _outcome_for(self, number: int, row: int, claims: Sequence[ResourceClaim], context: Hashable) -> _Outcome:
        """Return what comes of a search on the nodes of a group, of which one is given."""
        groups = self._groups
        key: Hashable = number, groups.state_version(number), context
        if key not in groups.outcomes:
            groups.outcomes[key] = self._outcome(row, claims)
        outcome: _Outcome = groups.outcomes[key]  # type: ignore[assignment]
        return outcome

    def _outcome(self, row: int, claims: Sequence[ResourceClaim]) -> _Outcome:
        try:
            offer = self._offer(row)
            picks = self._search(offer, claims).run()
            if picks is not None:
                # Only for its errors: devices were found, but the nodes they can be used from cannot be written down.
                _results(offer, self._pools.name(row), claims, picks)
        except (AllocationError, NodeAllocationError, BudgetExceeded) as fault:
            return fault.with_traceback(None)  # it is kept, and frames would keep the whole search
        return picks


def allocator_of(cluster: ClusterView) -> Allocator:
    """Return what allocates devices as they are now; it is another one once something has happened to them."""
    kinds = DeviceClass, DeviceTaintRule, PendingAllocation, ResourceClaim, ResourceSlice, Node
    return cluster.derive(_allocator, *kinds)


def _allocator(cluster: ClusterView) -> Allocator:
    return Allocator(cluster, devices_in_use(cluster))


class Findings:
    """What allocating claims came to on each row of a column.

    Attributes:
        is_feasible_everywhere: whether all claims can be satisfied wherever that was asked.
    """

    def __init__(
        self,
        allocator: Allocator,
        rows: IndexArray,
        claims: Sequence[ResourceClaim],
        group: IndexArray,
        outcomes: Sequence[_Outcome],
    ) -> None:
        self._allocator = allocator
        self._rows = rows
        self._claims = claims
        self._group = group
        self._outcomes = outcomes
        self.is_feasible_everywhere = all(isinstance(outcome, tuple) for outcome in outcomes)

    @property
    def feasible(self) -> BoolArray:
        """Where all claims can be satisfied, bool (n,)."""
        return self._where(tuple)

    @property
    def faulty(self) -> BoolArray:
        """Where it ended in an `AllocationError`, which ends the cycle, bool (n,)."""
        return self._where(AllocationError)

    @property
    def invalid(self) -> BoolArray:
        """Where it ended in a `NodeAllocationError`, bool (n,)."""
        return self._where(NodeAllocationError)

    @property
    def inconclusive(self) -> BoolArray:
        """Where it took too many steps, and is not known, bool (n,)."""
        return self._where(BudgetExceeded)

    def at(self, position: int) -> tuple[devices.AllocationResult, ...] | None:
        """Return what each claim would be given, None where they cannot all be satisfied, for whatever reason."""
        picks = self._outcomes[self._group[position]]
        if not isinstance(picks, tuple):
            return None
        return self._allocator.results(int(self._rows[position]), self._claims, picks)

    def group(self, position: int) -> int:
        """Return a number that is equal for rows that are alike."""
        return int(self._group[position])

    def fault(self, position: int) -> Fault | None:
        """Return the fault that a row ended in, None if it did not.

        The names in the text of an `AllocationError` are those of the row's own pools, as long as nothing has been
        taken or given back since; after that they may be those of a node that is alike.
        """
        outcome = self._outcomes[self._group[position]]
        if isinstance(outcome, AllocationError):
            # Searched again: the text that is kept names the pools and devices of the node that stood for the group.
            try:
                self._allocator.allocate(int(self._rows[position]), self._claims)
            except AllocationError as fault:
                return fault
        return None if isinstance(outcome, tuple) else outcome

    def _where(self, kind: type) -> BoolArray:
        here = [isinstance(outcome, kind) for outcome in self._outcomes]
        if not any(here):
            return np.zeros(len(self._rows), np.bool_)
        chosen: BoolArray = np.array(here, np.bool_)[self._group]
        return chosen


def _results(
    offer: Offer, node_name: str, claims: Sequence[ResourceClaim], picks: Picks
) -> tuple[devices.AllocationResult, ...]:
    """Write down the devices chosen on a node.

    Raises:
        AllocationError: a device is meant for nodes by a selector with several terms.
    """
    return tuple(
        devices.AllocationResult(
            devices=devices.DeviceAllocationResult(
                results=[_result(claim, index, pick, offer.devices[pick.device]) for index, pick in enumerate(chosen)]
            ),
            node_selector=_node_selector(claim, node_name, [offer.devices[pick.device] for pick in chosen]),
        )
        for claim, chosen in zip(claims, picks, strict=True)
    )


def _result(
    claim: ResourceClaim, index: int, pick: Pick, chosen: PooledDevice
) -> devices.DeviceRequestAllocationResult:
    request = pick.request
    return devices.DeviceRequestAllocationResult(
        request=request.full_name,
        driver=chosen.id.driver,
        pool=chosen.id.pool,
        device=chosen.id.device,
        admin_access=True if request.admin else None,
        tolerations=list(request.tolerations) or None,
        binding_conditions=chosen.device.binding_conditions,
        binding_failure_conditions=chosen.device.binding_failure_conditions,
        share_id=_share_id(claim, index) if pick.share else None,
        consumed_capacity=dict(pick.consumed) or None,
        skip_node_operations=chosen.skipped_operations,
    )


def _share_id(claim: ResourceClaim, index: int) -> str:
    # kube-scheduler draws it at random; worked out from claim and place, it is the same in every run.
    metadata = claim.metadata
    return str(uuid.uuid5(_SHARES, f"{metadata.namespace}/{metadata.name}/{metadata.uid}/{index}"))


def _node_selector(claim: ResourceClaim, node_name: str, chosen: Sequence[PooledDevice]) -> NodeSelector | None:
    """The nodes from which all these devices can be used, None for all nodes."""
    fields: list[NodeSelectorRequirement] = []
    expressions: list[NodeSelectorRequirement] = []
    for each in chosen:
        where = each.device if each.slice.spec.per_device_node_selection else each.slice.spec
        # One device that can be used from one node alone decides for the claim, whatever the others say.
        if where.node_name is not None or each.device.binds_to_node:
            here = NodeSelectorRequirement(key="metadata.name", operator="In", values=[node_name])
            return NodeSelector(node_selector_terms=[NodeSelectorTerm(match_fields=[here])])
        terms = (where.node_selector and where.node_selector.node_selector_terms) or ()
        if len(terms) > 1:
            raise AllocationError(
                f"create NodeSelector for claim {claim.metadata.name}:"
                f" unsupported ResourceSlice.NodeSelector with {len(terms)} terms"
            )
        for term in terms:
            _add_new(fields, term.match_fields or ())
            _add_new(expressions, term.match_expressions or ())
    if not (fields or expressions):
        return None
    term = NodeSelectorTerm(match_fields=fields or None, match_expressions=expressions or None)
    return NodeSelector(node_selector_terms=[term])


def _add_new(requirements: list[NodeSelectorRequirement], more: Sequence[NodeSelectorRequirement]) -> None:
    for each in more:
        if not any(
            (each.key, each.operator, set(each.values or ())) == (other.key, other.operator, set(other.values or ()))
            for other in requirements
        ):
            requirements.append(each)

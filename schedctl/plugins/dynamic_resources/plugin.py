"""DynamicResources: devices that pods claim (KEP-4381), by resource claims or as extended resources (KEP-5004).

A pod's claims that are allocated already tie it to the nodes their devices can be reached from; for the others
Filter searches devices node by node (`search`). What the search found is noted by Reserve and written by PreBind
(`claim_updates`); until then no other pod can use the claim.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt
from typing_extensions import override

from schedctl.api import devices, field_errors, meta, node_selectors, resources, selectors
from schedctl.api.nodes import Node
from schedctl.cache.arrays import IntArray
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.devices.features import features_of
from schedctl.errors import PluginError
from schedctl.framework.arithmetic import default_normalize
from schedctl.framework.cycles import Cycle, StateKey
from schedctl.framework.device_classes import can_be_devices, classes_by_resource
from schedctl.framework.events import Registration
from schedctl.framework.group_points import (
    GroupCycle,
    GroupOutcome,
    PodGroupPostFilterPlugin,
    PodGroupPostFilterResult,
)
from schedctl.framework.handles import Handle
from schedctl.framework.idle_methods import idle_when_skipped
from schedctl.framework.pod_groups import group_key
from schedctl.framework.points import (
    FilterPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    ReservePlugin,
    ScorePlugin,
)
from schedctl.framework.reasons import ACCEPT, CodeColumn, NodeLookup, Reason, Verdicts
from schedctl.framework.signatures import AsWritten
from schedctl.framework.statuses import SKIP, SUCCESS, Code, Status, error, unschedulable
from schedctl.plugins.dynamic_resources import claim_updates, group_claims
from schedctl.plugins.dynamic_resources.claims import (
    Problem,
    Resolved,
    Unready,
    claim_keys,
    idle,
    is_reserved_for,
    resolve,
    unready,
    waits_for_conditions,
)
from schedctl.plugins.dynamic_resources.events import registrations
from schedctl.plugins.dynamic_resources.extended_resources import asks_for_devices, in_memory, special_claim
from schedctl.releases import ReleaseChange

if TYPE_CHECKING:
    from schedctl.devices.allocator import Allocator
    from schedctl.framework.remedies import Rejection, Remedies
    from schedctl.framework.wording import Allocation, Wording
    from schedctl.plugins.dynamic_resources.node_charges import Shortage
    from schedctl.plugins.dynamic_resources.search import ClaimSearch, Finding


STATE = StateKey["ClaimSearch | None"]("DynamicResources")
"""Written by PreFilter; None for a pod that needs no devices, or was refused as a whole.

It may be the search of an earlier pod with equal claims.
"""
_KINDS = (devices.DeviceClass, devices.DeviceTaintRule, devices.ResourceSlice)
_DEMANDS_KEPT = 256
_NOT_FOUND = "claim allocation not found for node"
BEST_ALTERNATIVE = 8
"""What the first alternative of a request is worth; each after it is worth one less."""


class UnscoredDynamicResources(
    PreEnqueuePlugin,
    PreFilterPlugin,
    FilterPlugin,
    PostFilterPlugin,
    ReservePlugin,
    PreBindPlugin,
    PodGroupPostFilterPlugin,
):
    """Finds nodes where the devices a pod claims are available, and takes them for it."""

    name = "DynamicResources"
    memory_only = True
    reads = (devices.DeviceClass, devices.DeviceTaintRule, devices.ResourceClaim, devices.ResourceSlice)
    reads_feasible_set = False

    unread = Reason("not found", code=Code.ERROR)
    unnamed = Reason(
        'pod "{pod}", spec.resourceClaim "{reference}": none of the supported fields are set', unresolvable=True
    )
    not_generated = Reason('pod "{pod}": ResourceClaim not created yet', unresolvable=True)
    missing = Reason('could not find ResourceClaim "{claim}"', unresolvable=True)
    deleted = Reason('resourceclaim "{name}" is being deleted', unresolvable=True)
    foreign = Reason("ResourceClaim {claim} was not created for {kind} {pod} ({kind} is not owner)", unresolvable=True)
    foreign_to_group = Reason(
        "ResourceClaim {claim} was not created for {kind} {pod} (neither {kind} nor PodGroup {group} is the owner)",
        unresolvable=True,
    )
    being_allocated = Reason("resource claim {claim} is in the process of being allocated", unresolvable=True)
    unknown_request = Reason("resource claim {claim}, request {request}: unknown request type", unresolvable=True)
    no_alternatives = Reason(
        "resource claim {claim}, request {request}: has subrequests, but the DRAPrioritizedList feature is disabled",
        unresolvable=True,
    )
    no_class = Reason("request {request}: device class {device_class} does not exist", unresolvable=True)

    left_behind = Reason("cannot schedule extended resource claim", unresolvable=True)
    not_offered = Reason("cannot fit resource", unresolvable=True)
    not_allocated = Reason("cannot allocate all claims", unresolvable=True)
    failed_here = Reason("{text}", unresolvable=True)
    failed = Reason("{text}", code=Code.ERROR)
    unavailable = Reason("resourceclaim not available on the node", unresolvable=True)
    shared = Reason(
        "node allocatable resource claim {claim} has a mapped device and cannot be shared across pods",
        unresolvable=True,
    )
    insufficient = Reason("Insufficient {resource}")
    uncovered_request = Reason(
        "pod level request for {resource} is insufficient to cover the aggregated container and node-allocatable"
        " DRA requests",
        unresolvable=True,
    )
    uncovered_limit = Reason(
        "pod level limit for {resource} is insufficient to cover the aggregated container and node-allocatable"
        " DRA limits",
        unresolvable=True,
    )
    uncovered_container_limit = Reason(
        "pod level limit for {resource} is insufficient to cover the limit and DRA overhead for container {container}",
        unresolvable=True,
    )

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._features = features_of(self.release)
        self._conditions = self._features.conditions
        self._of_groups = self.release.enabled("DRAWorkloadResourceClaims")
        silent = self.release.includes(ReleaseChange.SILENT_DEVICES)
        self._no_claims = unschedulable() if silent else unschedulable("no new claims to deallocate")
        self._no_help = unschedulable() if silent else unschedulable("still not schedulable")
        self._latest: ClaimSearch | None = None
        self._last: tuple[PodInfo, int, Resolved] | None = None
        self._requested: dict[int, tuple[resources.Demand, frozenset[str], bool]] = {}

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Keep a pod out of the queue until all its claims exist."""
        return self._claims_or_status(pod)[1] if pod.pod.spec.resource_claims else SUCCESS

    def events_to_register(self) -> tuple[Registration, ...]:
        """Nodes, classes and slices that bring devices, and claims that move."""
        return registrations(self._claims_of, self.release)

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Find the pod's claims and whether they can be used or allocated at all; skip a pod that needs no devices."""
        pod, cluster = cycle.pod, nodes.cluster
        extended = asks_for_devices(pod, cluster)
        cycle.state[STATE] = None  # also of a pod that is refused below: PostFilter reads it
        if not extended and not pod.pod.spec.resource_claims:
            return SKIP
        with cluster.rest_on(*_KINDS):  # what becomes of the pod's claims shows in its signature
            return self._prepare(cycle, extended=extended)

    def _prepare(self, cycle: Cycle, *, extended: bool) -> Status | None:
        """Write the search for the pod's claims to the state."""
        pod, cluster = cycle.pod, self.handle.cluster
        user_claims, status = self._claims_or_status(pod)
        if not status.successful:
            return status
        special = special_claim(pod, cluster) if extended else None
        claims = user_claims if special is None else (*user_claims, special)
        if not claims:
            return SKIP
        reached_from: dict[int, node_selectors.NodeQuery] = {}
        unusable: dict[int, Unready] = {}
        pending: dict[int, devices.AllocationResult] = {}
        for index, claim in enumerate(claims):
            allocation = claim.status.allocation
            if allocation is None:
                allocation = group_claims.shared_allocation(claim, pod, cluster)
                if allocation is not None:
                    pending[index] = allocation
            if allocation is None:
                status = self._allocatable(claim, cluster, check=claim is not special)
                if not status.successful:
                    return status
                continue
            if allocation.node_selector is not None:
                try:
                    reached_from[index] = node_selectors.compile_node_selector(allocation.node_selector).require_valid()
                except selectors.SelectorError as fault:
                    return error(str(fault))
            written = claim.status.allocation is not None
            why = unready(claim, self.args.binding_timeout, cluster.now()) if self._conditions and written else None
            if why is not None:
                unusable[index] = why
        # The search and the allocator below it are large, and few pods have claims.
        from schedctl.plugins.dynamic_resources.search import ClaimSearch

        allocator = _allocator([claim for index, claim in enumerate(claims) if index not in pending], cluster)
        classes = classes_by_resource(cluster) if extended else {}
        cycle.state[STATE] = ClaimSearch(
            pod, cluster, claims, special, reached_from, unusable, allocator, classes, pending
        )
        return None

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Refuse nodes from which an allocated claim cannot be used, or for which the others cannot be allocated."""
        if STATE not in cycle.state:
            return self.unread.where(np.ones(len(nodes), np.bool_))
        search, rows = cycle.state[STATE], nodes.rows
        if search is None:
            return ACCEPT
        from schedctl.devices.row_changes import device_rows_of
        from schedctl.plugins.dynamic_resources.search import Outcome

        if search.shareable:
            device_rows = device_rows_of(nodes.cluster)
            with nodes.cluster.rest_on(*_KINDS, Node, tracked=(device_rows,)):
                search = self._as_of_now(search)
                outcomes = search.outcomes(rows)
        else:
            outcomes = search.outcomes(rows)
        findings = NodeLookup(search.finding, rows)
        parts = _judge_charges(search, nodes, outcomes) if search.charges else ACCEPT
        if parts.parts:  # nothing else is found out about a node that is refused for that
            taken, found = parts.mask, search.finding
            outcomes = np.where(taken, np.int8(Outcome.FITS), outcomes)
            findings = NodeLookup(lambda at: None if taken[at] else found(int(rows[at])), np.arange(len(rows)))
        if not outcomes.any():
            return Verdicts(parts.parts, findings)
        claims = [meta.key_of(claim) for claim in search.claims]
        for outcome in np.unique(outcomes).tolist():
            mask = outcomes == outcome
            match outcome:
                case Outcome.LEFT_BEHIND:
                    parts |= self.left_behind.where(mask, claim=claims[-1])
                case Outcome.NOT_OFFERED:
                    parts |= self.not_offered.where(mask, resources=NodeLookup(search.missing_resources, rows))
                case Outcome.NOT_ALLOCATED:
                    parts |= self.not_allocated.where(mask, claims=claims, scarcity=NodeLookup(search.scarcity, rows))
                case Outcome.FAILED_HERE:
                    parts |= self.failed_here.where(mask, text=NodeLookup(search.text, rows))
                case Outcome.FAULT:
                    parts |= self.failed.where(mask, text=NodeLookup(search.text, rows))
                case Outcome.UNAVAILABLE:
                    parts |= self.unavailable.where(mask, claims=NodeLookup(search.unusable_claims, rows))
                case Outcome.SHARED:
                    parts |= self.shared.where(mask, claim=NodeLookup(search.shared_claim, rows))
        return Verdicts(parts.parts, findings)

    def post_filter(self, cycle: Cycle, nodes: Nodes, codes: CodeColumn) -> PostFilterResult:
        """Deallocate an idle claim that was not available on some node reached, or drop a claim left behind.

        Fails where an earlier plugin ended PreFilter.
        """
        if STATE not in cycle.state:
            return PostFilterResult(error("not found"))
        search = cycle.state[STATE]
        if search is None:
            return PostFilterResult(self._no_claims)
        claim = self._claim_to_deallocate(cycle)
        if claim is not None:
            status = unschedulable("deallocation of ResourceClaim completed")
            return PostFilterResult(status, objects=(claim_updates.without_allocation(claim),))
        if search.special is not None and not in_memory(search.special):
            return PostFilterResult(unschedulable("deletion of ResourceClaim completed"), removed=(search.special,))
        return PostFilterResult(self._no_help)

    def pod_group_post_filter(
        self, cycle: GroupCycle, try_again: Callable[[], GroupOutcome]
    ) -> PodGroupPostFilterResult:
        """Do for each pod that was tried what PostFilter does for one; not for groups with a topology.

        Where that helps some pod with claims not, claims of the group are given up, unless pods of it run.
        """
        topology_aware = self.release.enabled("TopologyAwareWorkloadScheduling")
        if cycle.group.spec.scheduling_constraints is not None and topology_aware:
            return PodGroupPostFilterResult(unschedulable())
        objects: list[devices.ResourceClaim] = []
        removed: list[devices.ResourceClaim] = []
        unhelped = False
        for pod in cycle.pods:
            tried = cycle.cycles.get(pod.key)
            if tried is None:
                continue
            search, claim = _search_of(tried), self._claim_to_deallocate(tried)
            if claim is not None:
                objects += [claim_updates.without_allocation(claim)] if _allocated(claim) else []
            elif search is not None and search.special is not None and not in_memory(search.special):
                removed.append(search.special)
            else:
                unhelped = True
        status = unschedulable("deallocation and deletion of ResourceClaims completed")
        if unhelped and self._of_groups and not cycle.scheduled:
            more, other = group_claims.give_up(cycle, self.handle.cluster, self._unavailable_claims)
            objects += more
            status = other or status
        return PodGroupPostFilterResult(status, objects=tuple(objects), removed=tuple(removed))

    @override
    def pod_on_node(self, cycle: Cycle, pod: PodInfo, node_name: str) -> PodInfo:
        """Write down in the pod's status what its claims take of the node."""
        if not self._features.charges:
            return pod
        from schedctl.plugins.dynamic_resources.node_charges import with_statuses

        search = _search_of(cycle)
        row = self.handle.cluster.node_table.row_of[node_name]
        found = search.finding(row) if search is not None else None
        statuses = found.charged if found is not None else ()
        return with_statuses(pod, statuses, self.handle.cluster.request_rules)

    @idle_when_skipped
    def reserve(self, cycle: Cycle, node_name: str) -> Status:
        """Note what Filter found for the node, so that nobody else takes it."""
        if STATE not in cycle.state:
            return error("not found")
        search, cluster = cycle.state[STATE], self.handle.cluster
        if search is None or not search.to_allocate:
            return SUCCESS
        row = cluster.node_table.row_of[node_name]
        if search.shareable:  # perhaps that of an earlier pod; what is to be had is known by group, whoever asks
            return self._reserve(cycle.pod, row)
        filtered = cycle.findings.get(self.name)
        found: Finding | None = search.finding(row) if filtered is None else filtered.at(row)
        if found is None or not found.allocations:
            device_plugin_has_it = all(claim is search.special for _, claim in search.to_allocate)
            return SUCCESS if device_plugin_has_it else error(_NOT_FOUND)
        for (_, claim), allocation in zip(search.to_allocate, found.allocations, strict=True):
            on_node = found.special.claim if found.special is not None and claim is search.special else claim
            claim_updates.add_pending_allocation(
                on_node, allocation, cluster, group_claims.sharing_group(cycle.pod, cluster)
            )
        return SUCCESS

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        """Give back what Reserve noted and what PreBind wrote, but for allocations: those stay with their claims."""
        search, cluster = _search_of(cycle), self.handle.cluster
        if search is None:
            return
        claims = self._reserved_claims(search, cycle.pod)
        for claim in claims:
            claim_updates.give_up_pending_allocation(claim, cluster)
        for claim in claims:
            if claim is not search.special:
                claim_updates.release(claim, cycle.pod, cluster)
        if search.special is not None:
            left = special_claim(cycle.pod, cluster)
            if not in_memory(left):
                cluster.delete(left)

    @idle_when_skipped
    def pre_bind(self, cycle: Cycle, node_name: str) -> Status:
        """Write the allocations and reserve the claims for the pod.

        A device that becomes ready only after its driver has done something is taken to become so; a driver that gave
        up, or took too long, is a fault.
        """
        if STATE not in cycle.state:
            return error("not found")
        search, cluster = cycle.state[STATE], self.handle.cluster
        if search is None:
            return SUCCESS
        claims = self._reserved_claims(search, cycle.pod)
        found: Finding | None = None
        if search.shareable:
            notes = ((index, claim_updates.pending_allocation(claim, cluster)) for index, claim in enumerate(claims))
            allocations = {index: note.claim.status.allocation for index, note in notes if note is not None}
        else:
            found = search.finding(cluster.node_table.row_of[node_name])
            in_order = (found and found.allocations) or ()
            allocations = dict(zip((i for i, _ in search.to_allocate), in_order, strict=False))
        written = list(claims)
        for index, claim in enumerate(claims):
            if is_reserved_for(claim, cycle.pod, of_groups=self._of_groups):
                continue
            current, allocation = claim, allocations.get(index)
            if claim is search.special:
                if allocation is None and claim.spec.devices.requests is None:
                    continue  # device plugins of the node offer all that the pod asks for
                if in_memory(claim) and found is not None and found.special is not None:
                    current = found.special.claim
            shared = bool(group_claims.sharing_group(cycle.pod, cluster)) and claim is not search.special
            result = claim_updates.write(
                current, allocation, group_claims.user_of(cycle.pod, index, cluster), cluster, shared=shared
            )
            if isinstance(result, str):
                return error(result)
            if claim is search.special and not (found and found.special and found.special.mappings):
                which = f"no update of pod {cycle.pod.key} ExtendedResourceClaimStatus"
                return error(f"nil or empty request mappings, {which}")
            written[index] = result
        status = self._ready(written)
        if status.successful:
            for claim in claims:
                claim_updates.remove_pending_allocation(claim, cluster)
        return status

    def pre_bind_pre_flight(self, cycle: Cycle, node_name: str) -> bool:
        """Return whether the pod has claims."""
        return STATE not in cycle.state or cycle.state[STATE] is not None

    def signature(self, pod: PodInfo) -> Hashable | None:
        """The resources the pod asks for, any of which a DeviceClass may come to back, and what its claims ask for.

        None if the resources are devices, or a claim is not one that is only to be allocated, or devices may take some
        of what a node has for pods.
        """
        demand = pod.demand
        known = self._requested.get(id(demand))
        if known is None:
            if len(self._requested) >= _DEMANDS_KEPT:
                self._requested.clear()
            names = frozenset(name for name, amount in demand.fit_requests.items() if amount)
            # the demand is kept beside its id, so that no other gets the same one while it is known
            known = self._requested[id(demand)] = (
                demand,
                names,
                any(can_be_devices(name, self.release) for name in names),
            )
        _, names, perhaps_devices = known
        if perhaps_devices and asks_for_devices(pod, self.handle.cluster):
            return None
        if not pod.pod.spec.resource_claims:
            return (names,) if perhaps_devices else AsWritten((names,))
        claims = None if self._features.charges else self._shareable(pod)
        return None if claims is None else (names, *(msgspec.json.encode(claim.spec.devices) for claim in claims))

    # -- inside ------------------------------------------------------------------

    def _as_of_now(self, search: ClaimSearch) -> ClaimSearch:
        """Return the search with the devices as they are now; what shareable claims ask for stays what it was."""
        if not search.shareable:
            return search
        cluster, claims, latest = self.handle.cluster, search.claims, self._latest
        now = _allocator(claims, cluster)
        if search.allocates_by(now):
            return search
        if latest is None or latest.claims is not claims or not latest.allocates_by(now):
            from schedctl.plugins.dynamic_resources.search import ClaimSearch

            latest = self._latest = ClaimSearch(search.pod, cluster, claims, None, {}, {}, now, {})
        return latest

    def _reserve(self, pod: PodInfo, row: int) -> Status:
        """Take devices on a node for a pod of whose claims it is known that they can be allocated there."""
        cluster, claims = self.handle.cluster, self._resolve(pod).claims
        allocator = _allocator(claims, cluster)
        allocations = allocator.allocate_by_group(row, claims) if allocator is not None else None
        if not allocations:
            return error(_NOT_FOUND)
        for claim, allocation in zip(claims, allocations, strict=True):
            claim_updates.add_pending_allocation(claim, allocation, cluster, group_claims.sharing_group(pod, cluster))
        return SUCCESS

    def _reserved_claims(self, search: ClaimSearch, pod: PodInfo) -> Sequence[devices.ResourceClaim]:
        """Return the claims that a search took devices for in the name of a pod, be they deleted in the meantime."""
        if search.pod is pod:
            return search.claims
        cluster = self.handle.cluster
        found = (
            cluster.get(devices.ResourceClaim, key) or claim_updates.pending_claim(key, cluster)
            for key in claim_keys(pod)
        )
        return [claim for claim in found if claim is not None]

    def _shareable(self, pod: PodInfo) -> tuple[devices.ResourceClaim, ...] | None:
        """Return the claims of a pod if all of them are there and only to be allocated."""
        cluster, resolved = self.handle.cluster, self._resolve(pod)
        if resolved.problem is not None:
            return None
        for claim in resolved.claims:
            if claim.status.allocation is not None or not self._allocatable(claim, cluster, check=True).successful:
                return None
        return resolved.claims

    def _claims_of(self, pod: PodInfo) -> tuple[devices.ResourceClaim, ...] | None:
        resolved = self._resolve(pod)
        return resolved.claims if resolved.problem is None else None

    def _resolve(self, pod: PodInfo) -> Resolved:
        """Find the claims of a pod; the answer about the pod asked for last is kept while no claim changes."""
        cluster = self.handle.cluster
        now = cluster.version(devices.ResourceClaim)
        if self._last is not None and self._last[:2] == (pod, now) and not cluster.missing:
            return self._last[2]
        resolved = resolve(pod, cluster, of_groups=self._of_groups)
        self._last = pod, now, resolved
        return resolved

    def _claims_or_status(self, pod: PodInfo) -> tuple[tuple[devices.ResourceClaim, ...], Status]:
        resolved = self._resolve(pod)
        if resolved.problem is None:
            return resolved.claims, SUCCESS
        name = resolved.claim.partition("/")[2]
        evidence = {"pod": pod.key, "reference": resolved.reference, "claim": resolved.claim, "name": name}
        evidence["kind"] = "Pod" if self.release.includes(ReleaseChange.CAPITAL_POD) else "pod"
        reason = _PROBLEMS[resolved.problem]
        if reason is DynamicResources.foreign and self._of_groups and (group := group_key(pod)):
            evidence["group"] = group.partition("/")[2]
            reason = self.foreign_to_group
        return (), reason.status(**evidence)

    def _allocatable(self, claim: devices.ResourceClaim, cluster: ClusterView, *, check: bool) -> Status:
        """Say whether a claim without an allocation may be given one; `check` its requests, too."""
        if claim_updates.pending_allocation(claim, cluster) is not None:
            return self.being_allocated.status(claim=meta.key_of(claim))
        for request in (claim.spec.devices.requests or ()) if check else ():
            classes = _classes_of(request)
            if request.exactly is None and request.first_available and not self._features.alternatives:
                return self.no_alternatives.status(claim=meta.key_of(claim), request=request.name)
            if not classes:
                return self.unknown_request.status(claim=meta.key_of(claim), request=request.name)
            for name, device_class in classes:
                if not device_class:
                    return error(f"request {name}: unsupported request type")
                if cluster.get(devices.DeviceClass, device_class) is None:
                    return self.no_class.status(claim=meta.key_of(claim), request=name, device_class=device_class)
        return SUCCESS

    def _claim_to_deallocate(self, cycle: Cycle) -> devices.ResourceClaim | None:
        """Return the first claim that can be deallocated and could not be used from some node reached.

        Of several kube-scheduler picks one by chance; here it is the first in the order of the pod's spec.
        """
        return next(self._unavailable_claims(cycle, cycle.pod.uid), None)

    def _unavailable_claims(self, cycle: Cycle, uid: str) -> Iterator[devices.ResourceClaim]:
        """Yield the claims that only one user may use and that were of no use on some node reached."""
        search, found = _search_of(cycle), cycle.findings.get(self.name)
        if search is None or found is None:
            return
        usable = ((i, claim) for i, claim in enumerate(search.user_claims) if i in search.pending or _allocated(claim))
        candidates = [index for index, claim in usable if idle(claim, uid)]
        if candidates:
            every = (finding.unavailable for _, finding in found.every() if finding is not None)
            unavailable = {index for indices in every for index in indices}
            yield from (search.claims[index] for index in candidates if index in unavailable)

    def _ready(self, claims: Sequence[devices.ResourceClaim]) -> Status:
        """Say whether the devices that the claims hold can still become ready."""
        if not self._conditions or not any(map(waits_for_conditions, claims)):
            return SUCCESS
        now = self.handle.cluster.now()
        for written in claims:
            claim = self.handle.cluster.get(devices.ResourceClaim, meta.key_of(written)) or written
            why = unready(claim, self.args.binding_timeout, now) if claim.status.allocation is not None else None
            if why is not None and why.failed:
                condition = f"reason={why.reason}, message={field_errors.quote(why.message)}"
                return error(f"device binding failed: claim={claim.metadata.name}, {condition}")
            if why is not None:
                return error(f"device binding timeout: claim={claim.metadata.name}")
        return SUCCESS

    @override
    def wording(self) -> Mapping[str, Wording]:
        from schedctl.plugins.dynamic_resources.wording import WORDING

        return WORDING

    @override
    def remedies(self, pod: PodInfo, rejection: Rejection) -> Remedies:
        from schedctl.plugins.dynamic_resources.remedies import remedies

        return remedies(rejection, self.handle.cluster)

    @override
    def allocations(self, finding: Finding) -> Iterable[Allocation]:
        from schedctl.plugins.dynamic_resources.wording import allocations

        return allocations(finding)


class DynamicResources(UnscoredDynamicResources, ScorePlugin):
    """Finds nodes where the devices a pod claims are available, and takes them for it."""

    skips_resizes = True
    normalizes_by_extremes = True

    def score(self, cycle: Cycle, nodes: Nodes) -> IntArray:
        """Count for each request with alternatives which one the node would give, int64 (n,): the first is worth 8.

        Raises:
            PluginError: PreFilter did not run, or, until v1.35, a claim has devices and another is to get some.
        """
        if STATE not in cycle.state:
            raise PluginError("not found")
        scores = np.zeros(len(nodes), np.int64)
        search = cycle.state[STATE]
        paired = self.release.includes(ReleaseChange.PAIRED_ALLOCATIONS)
        worth_of = _worth if paired else _worth_by_place
        # until v1.35 the gate of alternatives makes no difference to scores
        if search is None or (
            paired and not (self._features.alternatives and any(map(_has_alternatives, search.claims)))
        ):
            return scores
        from schedctl.devices.row_changes import device_rows_of

        with nodes.cluster.rest_on(*_KINDS, Node, tracked=(device_rows_of(nodes.cluster),)):
            return self._worth_of_nodes(search, nodes, worth_of)

    def _worth_of_nodes(
        self,
        search: ClaimSearch,
        nodes: Nodes,
        worth_of: Callable[[Sequence[devices.ResourceClaim], Finding], int],
    ) -> IntArray:
        scores = np.zeros(len(nodes), np.int64)
        search = self._as_of_now(search)
        search.outcomes(nodes.rows)
        worth: dict[Hashable, int] = {}
        for position, row in enumerate(nodes.rows.tolist()):
            key = search.equivalence_key(row)
            if key not in worth:
                found = search.finding(row)
                noted = found is not None and (found.allocations is not None or bool(found.charged))
                allocated = found if noted else None
                worth[key] = worth_of(search.claims, allocated) if allocated is not None else 0
            scores[position] = worth[key]
        return scores

    def normalize(self, cycle: Cycle, nodes: Nodes, scores: IntArray) -> IntArray:
        """Scale the best to 100."""
        return default_normalize(scores)


_PROBLEMS = {
    Problem.UNNAMED: DynamicResources.unnamed,
    Problem.NOT_GENERATED: DynamicResources.not_generated,
    Problem.MISSING: DynamicResources.missing,
    Problem.DELETED: DynamicResources.deleted,
    Problem.FOREIGN: DynamicResources.foreign,
}


def _allocator(claims: Sequence[devices.ResourceClaim], cluster: ClusterView) -> Allocator | None:
    """Return what allocates claims; None if all of them are."""
    if all(claim.status.allocation is not None for claim in claims):
        return None
    from schedctl.devices.allocator import allocator_of

    return allocator_of(cluster)


def _judge_charges(search: ClaimSearch, nodes: Nodes, outcomes: npt.NDArray[np.int8]) -> Verdicts:
    """Refuse nodes for what devices take of their own resources, where the claims could be had otherwise."""
    from schedctl.plugins.dynamic_resources.charge_verdicts import ChargeReasons, judge_charges

    plugin = UnscoredDynamicResources
    uncovered: dict[Shortage, Reason] = {
        "request": plugin.uncovered_request,
        "limit": plugin.uncovered_limit,
        "containerLimit": plugin.uncovered_container_limit,
    }
    return judge_charges(search, nodes, outcomes, ChargeReasons(plugin.failed, plugin.insufficient, uncovered))


def _allocated(claim: devices.ResourceClaim) -> bool:
    return claim.status.allocation is not None


def _search_of(cycle: Cycle) -> ClaimSearch | None:
    if STATE not in cycle.state:
        return None
    return cycle.state[STATE]


def _classes_of(request: devices.DeviceRequest) -> list[tuple[str, str]]:
    """Return (name, device class) of what a request asks for, its alternatives each; none if it asks for nothing."""
    if request.exactly is not None:
        return [(request.name, request.exactly.device_class_name)]
    return [(f"{request.name}/{each.name}", each.device_class_name) for each in request.first_available or ()]


def _has_alternatives(claim: devices.ResourceClaim) -> bool:
    return any(request.exactly is None for request in claim.spec.devices.requests or ())


def _worth(claims: Sequence[devices.ResourceClaim], found: Finding) -> int:
    """Return what the alternatives are worth that the claims have, or would be given."""
    new = iter(found.allocations or ())
    return sum(_worth_of(claim, claim.status.allocation or next(new)) for claim in claims)


def _worth_by_place(claims: Sequence[devices.ResourceClaim], found: Finding) -> int:
    """Return the same as until v1.35, which takes the first new allocation for that of the first claim, and so on.

    Raises:
        PluginError: there are fewer than claims.
    """
    new = found.allocations or ()
    if len(new) < len(claims):
        raise PluginError(f"number of allocations {len(new)} is smaller than number of claims")
    return sum(_worth_of(claim, allocation) for claim, allocation in zip(claims, new, strict=False))


def _worth_of(claim: devices.ResourceClaim, allocation: devices.AllocationResult) -> int:
    chosen = {result.request for result in allocation.devices.results or ()}
    return sum(
        (BEST_ALTERNATIVE - place) * (f"{request.name}/{each.name}" in chosen)
        for request in claim.spec.devices.requests or ()
        if request.exactly is None
        for place, each in enumerate(request.first_available or ())
    )

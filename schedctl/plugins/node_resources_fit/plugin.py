"""NodeResourcesFit: a node must have room for what a pod asks for, and emptier or fuller ones are the better choice.

What is asked for is compared with what is free: allocatable less the requests of the pods there, whatever they really
use. An extended resource for which a DeviceClass stands in is left to DynamicResources on nodes whose device plugin
offers none of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from schedctl.api import devices, resources
from schedctl.api.nodes import Node
from schedctl.cache.arrays import BoolArray, IntArray
from schedctl.cache.nodes import ClusterView, Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework import resource_scoring
from schedctl.framework.cycles import Cycle, StateKey
from schedctl.framework.device_classes import (
    DEVICE_KINDS,
    IMPLICIT_PREFIX,
    classes_by_resource,
    is_listed,
    shares_devices,
)
from schedctl.framework.events import Action, Hint, Registration, Resource, registers
from schedctl.framework.group_points import Assignment, GroupCycle, Placement, PlacementScorePlugin
from schedctl.framework.handles import Handle
from schedctl.framework.points import FilterPlugin, PreFilterPlugin, PreScorePlugin, ScorePlugin
from schedctl.framework.reasons import ACCEPT, Reason, Verdicts
from schedctl.framework.statuses import Code
from schedctl.plugins.node_resources_fit import resizes
from schedctl.plugins.node_resources_fit.placement_scores import placement_score
from schedctl.plugins.node_resources_fit.requested_parts import RequestedParts, naming
from schedctl.plugins.node_resources_fit.resizes import Requests
from schedctl.plugins.node_resources_fit.slips import Slips, TooLarge
from schedctl.releases import Release, ReleaseChange

if TYPE_CHECKING:
    from schedctl.framework.remarks import Remark, Trials
    from schedctl.framework.remedies import Rejection, Remedies
    from schedctl.framework.wording import Wording


REQUESTS = StateKey[Requests]("PreFilterNodeResourcesFit")


class NodeResourcesFit(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, PlacementScorePlugin):
    """Rejects nodes without room for the pod, and ranks the others by how full they would be.

    Placements of a group it ranks by how full they would be as a whole, fuller ones first, whatever the strategy.
    """

    filters_all_nodes = True
    reads = DEVICE_KINDS
    reads_feasible_set = False
    foreseeable = True
    too_many_pods = Reason("Too many pods")
    insufficient = Reason("Insufficient {resource}")
    unprepared = Reason(f'error reading "{REQUESTS.name}" from cycleState: not found', code=Code.ERROR)

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._ignored = frozenset(args.ignored_resources)
        self._ignored_groups = frozenset(args.ignored_resource_groups)
        strategy = args.scoring_strategy
        self._resources = strategy.resources
        self._plain = resource_scoring.PlainResources(self._resources, minimum=True)
        self._mean = resource_scoring.weighted_mean
        self._rate: resource_scoring.Rate = resource_scoring.least_allocated
        if strategy.type == "MostAllocated":
            self._rate = resource_scoring.most_allocated
        elif strategy.type == "RequestedToCapacityRatio":
            self._mean = resource_scoring.mean_of_positive
            self._rate = resource_scoring.shape_rate(strategy.requested_to_capacity_ratio.shape)

    def signature(self, pod: PodInfo) -> Hashable | None:
        """Its requests, as written, and the names by which the evidence calls their parts; none of a resize."""
        names = naming(pod.pod)
        if self.handle.cluster.tries_resize(pod):
            return None
        return (pod.demand.needs, names) if names else pod.demand.needs

    def events_to_register(self) -> tuple[Registration, ...]:
        """Room that was made, on a node or by one, and classes that stand in for what nodes do not offer."""
        release = self.release
        room = [
            registers(Resource.ASSIGNED_POD, Action.DELETE, _after_deletion),
            registers(Resource.NODE, Action.ADD | Action.UPDATE_NODE_ALLOCATABLE, self._after_node),
        ]
        if release.enabled("DRAExtendedResource") and release.includes(ReleaseChange.CLASS_EVENTS):
            room.append(registers(Resource.DEVICE_CLASS, Action.ADD | Action.UPDATE, _after_device_class))
        if not release.enabled("InPlacePodVerticalScaling"):
            return tuple(room)
        room += (
            registers(Resource.ASSIGNED_POD, Action.UPDATE_POD_SCALE_DOWN, _after_scaling_down),
            registers(Resource.TARGET_POD, Action.UPDATE_POD_SCALE_DOWN),
        )
        return resizes.registrations(room) if self.handle.cluster.schedules_resizes else tuple(room)

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> None:
        """Add up what the pod asks for."""
        amounts = cycle.pod.demand.fit_requests
        some = {resources.PODS: 1} | {name: amount for name, amount in amounts.items() if amount}
        least = np.array([*some.values()], np.int64)[:, np.newaxis]
        requests = Requests(amounts, tuple(some), least)
        cycle.state[REQUESTS] = resizes.less_what_it_has(cycle.pod, requests, nodes.cluster)

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Refuse nodes that lack a pod slot or a resource; what exceeds their very size no preemption can help."""
        if REQUESTS not in cycle.state:
            return self.unprepared.where(np.ones(len(nodes), np.bool_))
        requests = cycle.state[REQUESTS]
        if _has_room(nodes, requests):
            return ACCEPT
        verdicts = ACCEPT
        used, capacity = nodes.pod_count, nodes.allowed_pods
        full = used >= capacity
        if full.any():
            # copies, here and below: the columns are the cluster's, and a verdict outlives what they show now
            verdicts = self.too_many_pods.where(full, requested=1, used=used.copy(), capacity=capacity.copy())
        for resource, amount in requests.amounts.items():
            if amount and not self._ignores(resource):
                verdicts |= self._without_room(cycle.pod, nodes, resource, requests)
        return verdicts

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> None:
        """Has nothing to prepare; what the pod counts as is worked out once for all pods written alike."""

    def score(self, cycle: Cycle, nodes: Nodes) -> IntArray:
        """Rate each configured resource with the pod added, and take the mean by weight."""
        requests = cycle.pod.demand.fit_score_requests
        if self._mean is resource_scoring.weighted_mean:
            scores = self._plain.weighted_mean(nodes, requests, self._rate)
            if scores is not None:
                return scores
        columns = resource_scoring.resource_columns(nodes, self._resources, requests, minimum=True)
        return self._mean(columns, self._rate, len(nodes))

    def placement_score(self, cycle: GroupCycle, placement: Placement, assignments: Sequence[Assignment]) -> int:
        """Rate each configured resource over all nodes of the placement, and take the mean by weight."""
        return placement_score(placement.nodes, self._resources, [each.pod for each in assignments])

    def _after_node(self, pod: PodInfo, before: Node | None, after: Node) -> Hint:
        """Would the pod fit on the node if it were empty, and does the node offer more than it did?

        Resources that the profile ignores count here, as they do in kube-scheduler.
        """
        requests = {name: amount for name, amount in pod.demand.fit_requests.items() if amount}
        offered = resources.allocatable(after.status.allocatable)
        delegated = {name for name in filter(resources.is_scalar, requests) if self._is_delegated(name, after, offered)}
        short = any(amount > offered.get(name, 0) for name, amount in requests.items() if name not in delegated)
        if short or offered.get(resources.PODS, 0) < 1:
            return Hint.SKIP
        if before is None or delegated:
            return Hint.QUEUE
        had = resources.allocatable(before.status.allocatable)
        more = any(offered.get(name, 0) > had.get(name, 0) for name in (resources.PODS, *requests))
        return Hint.QUEUE if more else Hint.SKIP

    def _is_delegated(self, resource: str, node: Node, offered: Mapping[str, int]) -> bool:
        """Return whether a node that changes would leave a resource to DynamicResources."""
        cluster = self.handle.cluster
        if _looks_at_listed(cluster.release):
            return resource not in (node.status.allocatable or {})
        return not offered.get(resource, 0) and resource in classes_by_resource(cluster)

    def _ignores(self, resource: str) -> bool:
        if not resources.is_extended(resource):
            return False
        return resource in self._ignored or resource.partition("/")[0] in self._ignored_groups

    def _without_room(self, pod: PodInfo, nodes: Nodes, resource: str, requests: Requests) -> Verdicts:
        amount, used, capacity = requests.amounts[resource], nodes.requested(resource), nodes.allocatable(resource)
        needed = resizes.still_needed(nodes, resource, requests)
        short = needed > capacity - used
        # what a node does not offer may be devices there, which is for DynamicResources to judge
        unoffered = resources.is_scalar(resource) and bool((short & (capacity <= 0)).any())
        if unoffered and _delegates(pod, nodes.cluster, resource):
            listed = _looks_at_listed(nodes.cluster.release)
            short &= is_listed(nodes.cluster.node_table, resource, nodes.rows) if listed else capacity > 0
        if not short.any():
            return ACCEPT
        # of scalars kube-scheduler compares what is still to be had with all that the node has
        exceeds = (needed if resources.is_scalar(resource) else amount) > capacity
        return self.insufficient.where(
            short,
            unresolvable=exceeds,
            resource=resource,
            requested=amount,
            used=used.copy(),
            capacity=capacity.copy(),
            **_about_the_request(pod, nodes, resource, amount, exceeds),
        )

    @override
    def wording(self) -> Mapping[str, Wording]:
        from schedctl.plugins.node_resources_fit.wording import WORDING

        return WORDING

    @override
    def remedies(self, pod: PodInfo, rejection: Rejection) -> Remedies:
        from schedctl.plugins.node_resources_fit.remedies import remedies

        return remedies(pod.pod, rejection)

    @override
    def remarks(self, cycle: Cycle, trials: Trials) -> Sequence[Remark]:
        from schedctl.plugins.node_resources_fit.slips import remarks

        return remarks(cycle.pod.pod, trials)


def _has_room(nodes: Nodes, requests: Requests) -> bool:
    """Return whether all of some nodes are sure to have room, as mostly they have; False says nothing."""
    found = nodes.amounts(requests.names)
    if found is None:
        return False
    offered, taken = found
    return bool((offered - taken >= requests.least).all())


def _delegates(pod: PodInfo, cluster: ClusterView, resource: str) -> bool:
    """Return whether a resource that a node does not offer is left to DynamicResources."""
    if resource in classes_by_resource(cluster):
        return True
    # Until v1.34 kube-scheduler looks for classes only where a pod asks for an extended resource, and leaves all that a
    # node does not list to DynamicResources where it did not look.
    requests = pod.demand.fit_requests.items()
    return _looks_at_listed(cluster.release) and not any(
        amount and resources.is_extended(name) for name, amount in requests
    )


def _looks_at_listed(release: Release) -> bool:
    """Return whether it counts for devices that a node lists a resource, be it none of it, as until v1.34."""
    return release.enabled("DRAExtendedResource") and not shares_devices(release)


def _about_the_request(pod: PodInfo, nodes: Nodes, resource: str, amount: int, exceeds: BoolArray) -> dict[str, Any]:
    """Return the evidence about the request itself, where there is more to it than the sum of its containers."""
    evidence: dict[str, Any] = {}
    if pod.demand.needs.overhead or pod.demand.needs.requests or naming(pod.pod):
        evidence["parts"] = RequestedParts(pod.pod, resource, amount)
    # the column may be a choice of nodes, of which one that is left out may be the largest
    if exceeds.all() and _exceeds_all(nodes.cluster, resource, amount):
        too_large = TooLarge(nodes.cluster, resource, amount)
        evidence |= {"largest": too_large, "slips": Slips(pod.pod, resource, too_large)}
    return evidence


def _exceeds_all(cluster: ClusterView, resource: str, amount: int) -> bool:
    table = cluster.table_of_nodes()
    return bool((table.column(table.allocatable, resource)[cluster.rows] < amount).all())


def _after_deletion(pod: PodInfo, before: PodInfo, after: None) -> Hint:
    made_room = before.pod.spec.node_name or before.pod.status.nominated_node_name
    return Hint.QUEUE if made_room else Hint.SKIP


def _after_scaling_down(pod: PodInfo, before: PodInfo, after: PodInfo) -> Hint:
    if not after.pod.spec.node_name:
        return Hint.SKIP
    had, has = before.requests.exact, after.requests.exact
    names = (name for name, amount in pod.requests.exact.items() if amount)
    return Hint.QUEUE if any(had.get(name, 0) > has.get(name, 0) for name in names) else Hint.SKIP


def _after_device_class(pod: PodInfo, before: devices.DeviceClass | None, after: devices.DeviceClass) -> Hint:
    explicit, requests = after.spec.extended_resource_name, pod.demand.fit_requests
    if before is not None and (before.spec.extended_resource_name or "") == (explicit or ""):
        return Hint.SKIP
    if before is None and IMPLICIT_PREFIX + after.metadata.name in requests:
        return Hint.QUEUE
    return Hint.QUEUE if explicit is not None and explicit in requests else Hint.SKIP

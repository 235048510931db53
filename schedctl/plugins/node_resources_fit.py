"""NodeResourcesFit: a node must have room for what a pod asks for, and emptier or fuller ones are the better choice.

What is asked for is compared with what is free: allocatable less the requests of the pods there, whatever they really
use. An extended resource for which a DeviceClass stands in is left to DynamicResources on nodes whose device plugin
offers none of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from schedctl.api.resources import is_extended, is_scalar
from schedctl.cache.arrays import IntArray
from schedctl.cache.cluster import Change, ChangeKind
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.cycles import Cycle, StateKey
from schedctl.framework.device_classes import classes_by_resource, devices_moved
from schedctl.framework.handles import Handle
from schedctl.framework.points import FilterPlugin, PreFilterPlugin, PreScorePlugin, Scope, ScorePlugin
from schedctl.framework.reasons import ACCEPT, Reason, Verdicts
from schedctl.framework.resource_scoring import (
    Rate,
    least_allocated,
    mean_of_positive,
    most_allocated,
    resource_columns,
    shaped,
    weighted_mean,
)
from schedctl.framework.statuses import Code

REQUESTS = StateKey[Mapping[str, int]]("PreFilterNodeResourcesFit")


class NodeResourcesFit(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    """Rejects nodes without room for the pod, and ranks the others by how full they would be."""

    reads_feasible_set = False
    too_many_pods = Reason("Too many pods")
    insufficient = Reason("Insufficient {resource}")
    unprepared = Reason(f'error reading "{REQUESTS.name}" from cycleState: not found', code=Code.ERROR)

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._ignored = frozenset(args.ignored_resources)
        self._ignored_groups = frozenset(args.ignored_resource_groups)
        strategy = args.scoring_strategy
        self._resources = strategy.resources
        self._mean = weighted_mean
        self._rate: Rate = least_allocated
        if strategy.type == "MostAllocated":
            self._rate = most_allocated
        elif strategy.type == "RequestedToCapacityRatio":
            self._mean = mean_of_positive
            self._rate = shaped(strategy.requested_to_capacity_ratio.shape)

    def signature(self, pod: PodInfo) -> Hashable:
        """Its requests, as written."""
        return pod.demand.needs

    def moved_by(self, cycle: Cycle, change: Change) -> Scope:
        """Only what the node offers and what is taken there matter, and the devices that resources may be."""
        if change.kind is not ChangeKind.OBJECT:
            return Scope.ROW
        return Scope.EVERYTHING if devices_moved(cycle.pod.demand.pending, change) else Scope.NOTHING

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> None:
        """Add up what the pod asks for."""
        cycle.state[REQUESTS] = cycle.pod.demand.pending

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Refuse nodes that lack a pod slot or a resource; what exceeds their very size no preemption can help."""
        if REQUESTS not in cycle.state:
            return self.unprepared.where(np.ones(len(nodes), np.bool_))
        verdicts = ACCEPT
        used, capacity = nodes.pod_count, nodes.allowed_pods
        full = used >= capacity
        if full.any():
            verdicts = self.too_many_pods.where(full, requested=1, used=used.copy(), capacity=capacity.copy())
        for resource, amount in cycle.state[REQUESTS].items():
            if amount and not self._ignores(resource):
                verdicts |= self._without_room(nodes, resource, amount)
        return verdicts

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> None:
        """Has nothing to prepare; what the pod counts as is worked out once for all pods written alike."""

    def score(self, cycle: Cycle, nodes: Nodes) -> IntArray:
        """Rate each configured resource with the pod added, and take the mean by weight."""
        columns = resource_columns(nodes, self._resources, cycle.pod.demand.scored, minimum=True)
        return self._mean(columns, self._rate, len(nodes))

    def _ignores(self, resource: str) -> bool:
        if not is_extended(resource):
            return False
        return resource in self._ignored or resource.partition("/")[0] in self._ignored_groups

    def _without_room(self, nodes: Nodes, resource: str, amount: int) -> Verdicts:
        used, capacity = nodes.requested(resource), nodes.allocatable(resource)
        short = amount > capacity - used
        if is_scalar(resource) and resource in classes_by_resource(nodes.cluster):
            short &= capacity > 0
        if not short.any():
            return ACCEPT
        return self.insufficient.where(
            short,
            unresolvable=amount > capacity,
            resource=resource,
            requested=amount,
            used=used.copy(),
            capacity=capacity.copy(),
        )

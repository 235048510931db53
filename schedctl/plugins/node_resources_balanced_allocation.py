"""NodeResourcesBalancedAllocation: prefers nodes where the pod makes the use of resources more even.

A node with its cpu taken and its memory idle can take no more pods, so a pod is worth most where it fills what is
left over. Since v1.36 the score says what the pod improves, not how even the node is.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from schedctl.cache.arrays import IntArray
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.cycles import Cycle
from schedctl.framework.device_classes import DEVICE_KINDS
from schedctl.framework.handles import Handle
from schedctl.framework.points import PreScorePlugin, ScorePlugin
from schedctl.framework.resource_scoring import (
    PlainResources,
    evenness,
    improvement,
    resource_columns,
)
from schedctl.framework.statuses import SKIP, Status
from schedctl.releases import ReleaseChange


class NodeResourcesBalancedAllocation(PreScorePlugin, ScorePlugin):
    """Prefers nodes where the pod makes the use of cpu and memory, or of the configured resources, more even."""

    reads = DEVICE_KINDS
    reads_feasible_set = False
    foreseeable = True

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._improves = self.release.includes(ReleaseChange.BALANCE_IMPROVEMENT)
        self._rate = improvement if self._improves else evenness
        self._names = [spec.name for spec in args.resources]
        self._plain = PlainResources(args.resources, minimum=False)

    def signature(self, pod: PodInfo) -> Hashable:
        """Its requests, as written."""
        return pod.demand.needs

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Skip pods that ask for none of the resources: they balance nothing, and would all go to one node."""
        return None if self._requests_any(cycle.pod.demand.balanced_allocation_requests) else SKIP

    def score(self, cycle: Cycle, nodes: Nodes) -> IntArray:
        """Compare the spread of the fractions in use before and after the pod.

        Raises:
            PluginError: kube-scheduler v1.37.1 crashes: a resource that the pod asks for is backed by a DeviceClass
                with selectors. With one node to choose it scores nothing, and the fractions are those it should take.
        """
        requests = cycle.pod.demand.balanced_allocation_requests
        if not self._requests_any(requests):
            return np.zeros(len(nodes), np.int64)
        scores = self._plain.balance(nodes, requests, improves=self._improves)
        if scores is not None:
            return scores
        columns = resource_columns(nodes, self.args.resources, requests, minimum=False, selectors=False)
        return self._rate(columns, len(nodes))

    def _requests_any(self, requests: Mapping[str, int]) -> bool:
        return any(map(requests.get, self._names))

"""How full a placement would be with a group in it: NodeResourcesFit's word at PlacementScore (KEP-5732)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from schedctl.api.resources import CPU, EPHEMERAL_STORAGE, MEMORY, is_scalar
from schedctl.cache.arrays import IntArray
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.config.args import ResourceSpec
from schedctl.framework.resource_scoring import ResourceColumn, most_allocated, weighted_mean


def placement_score(nodes: Nodes, resources: Sequence[ResourceSpec], pods: Sequence[PodInfo]) -> int:
    """Return the share of a placement's resources that is taken with these pods, 0..100, the mean by weight.

    Devices that stand in for an extended resource do not count.
    """
    requests: Counter[str] = Counter()
    for pod in pods:
        requests.update(pod.demand.fit_score_requests)
    columns = []
    for spec in resources:
        amount = requests[spec.name]
        if spec.name not in (CPU, MEMORY, EPHEMERAL_STORAGE) and not (amount and is_scalar(spec.name)):
            continue
        allocatable = nodes.allocatable(spec.name)
        allocated = _allocated(nodes, spec.name).sum(where=allocatable != 0, keepdims=True)
        total = allocatable.sum(keepdims=True)
        columns.append(ResourceColumn(spec.weight, total, allocated, allocated + amount, bool(total[0])))
    return int(weighted_mean(columns, most_allocated, 1)[0])


def _allocated(nodes: Nodes, resource: str) -> IntArray:
    """Return what pods have taken, containers without a request counted by a minimum, int64 (n,)."""
    if resource == CPU:
        return nodes.scored_cpu()
    return nodes.scored_memory() if resource == MEMORY else nodes.requested(resource)

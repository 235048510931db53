"""RackPacking: a group goes where its pods are close to each other, by a matrix of distances between racks.

For training over a network in which hops cost time. A node says its rack by a label; the matrix says how far racks are
from each other. Of the placements in which a pod group can start, the one with the shortest way between any two of its
pods is the best::

    schedctl explain podgroup train -n ml -f cluster.yaml --plugin examples/plugins/rack_packing.py \
        --scheduler-config examples/profiles/rack-packing.yaml \
        --feature-gates GenericWorkload=true,TopologyAwareWorkloadScheduling=true

Extension point: ``placementScore``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import msgspec
import numpy as np

from schedctl.cache.arrays import IntArray
from schedctl.config.args import PluginArgs
from schedctl.framework.arithmetic import MAX_NODE_SCORE
from schedctl.framework.group_points import Assignment, GroupCycle, Placement, PlacementScorePlugin


class RackPackingArgs(PluginArgs, frozen=True):
    """Where racks are.

    Attributes:
        label: the label of a node that names its rack.
        distances: by rack, how far others are from it; what is written one way holds both ways.
        unknown: the distance of racks of which nothing is written.
    """

    label: str = "topology.example.com/rack"
    distances: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)
    unknown: int = 100


class RackPacking(PlacementScorePlugin):
    """Prefers placements in which the pods of a group are close to each other.

    The raw score is the distance between two pods of the group, in thousandths, averaged over all pairs; pods of one
    rack are at no distance. The closest placement scores 100, the widest 0, and those between them in proportion.
    """

    args_type = RackPackingArgs

    def placement_score(self, cycle: GroupCycle, placement: Placement, assignments: Sequence[Assignment]) -> int:
        """Return the average distance of the pods, those that run already included."""
        racks = Counter(self._racks(cycle, assignments))
        pods = sum(racks.values())
        pairs = pods * (pods - 1) // 2
        total = sum(racks[one] * racks[other] * self._distance(one, other) for one, other in combinations(racks, 2))
        return 1000 * total // pairs if pairs else 0

    def normalize_placements(self, cycle: GroupCycle, scores: IntArray) -> IntArray:
        """Turn distances into scores."""
        least, most = int(scores.min(initial=scores.max(initial=0))), int(scores.max(initial=0))
        if least == most:
            return np.full_like(scores, MAX_NODE_SCORE)
        return (most - scores) * MAX_NODE_SCORE // (most - least)

    def _racks(self, cycle: GroupCycle, assignments: Sequence[Assignment]) -> list[str]:
        pods, nodes = self.handle.cluster.pod_table, self.handle.cluster.node_table
        rows = [nodes.row_of[each.node_name] for each in assignments]
        rows += [int(pods.node[pods.row_of[info.key]]) for info in cycle.scheduled if info.key in pods.row_of]
        return [(nodes.objects[row].metadata.labels or {}).get(self._args.label, "") for row in rows]

    def _distance(self, one: str, other: str) -> int:
        distances = self._args.distances
        known = distances.get(one, {}).get(other)
        if known is None:
            known = distances.get(other, {}).get(one)
        return self._args.unknown if known is None else known

    @property
    def _args(self) -> RackPackingArgs:
        args: RackPackingArgs = self.args or RackPackingArgs()
        return args

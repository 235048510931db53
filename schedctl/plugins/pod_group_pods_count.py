"""PodGroupPodsCount: of several placements, the one that takes more pods of the group is better (KEP-5732)."""

from __future__ import annotations

from collections.abc import Sequence

from schedctl.cache.arrays import IntArray
from schedctl.errors import PluginError
from schedctl.framework.arithmetic import MAX_NODE_SCORE
from schedctl.framework.group_points import Assignment, GroupCycle, Placement, PlacementScorePlugin


class PodGroupPodsCount(PlacementScorePlugin):
    """Counts the pods of the group that would run, those that run already included."""

    def placement_score(self, cycle: GroupCycle, placement: Placement, assignments: Sequence[Assignment]) -> int:
        """Count them."""
        return len(cycle.scheduled) + len(assignments)

    def normalize_placements(self, cycle: GroupCycle, scores: IntArray) -> IntArray:
        """Relate each count to the largest."""
        most = int(scores.max(initial=0))
        if not most:
            raise PluginError("no pods from pod group are assigned to any of the candidate placements")
        return scores * MAX_NODE_SCORE // most

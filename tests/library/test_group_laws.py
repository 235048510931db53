"""The laws of groups: Kubernetes' own plugins keep them, and plugins that do not are told apart."""

from __future__ import annotations

import pytest

from schedctl.framework.group_points import (
    Placement,
    PlacementFeasiblePlugin,
    PlacementGeneratePlugin,
    PlacementScorePlugin,
)
from schedctl.framework.statuses import SUCCESS, Code, Status
from schedctl.plugins.gang_scheduling import GangScheduling
from schedctl.plugins.pod_group_pods_count import PodGroupPodsCount
from schedctl.plugins.topology_placement_generator import TopologyPlacementGenerator
from schedctl.testing.group_laws import broken_group_laws, draw_group, group_laws_of

TestGangScheduling = group_laws_of(GangScheduling)
TestTopologyPlacementGenerator = group_laws_of(TopologyPlacementGenerator)
TestPodGroupPodsCount = group_laws_of(PodGroupPodsCount)


class OneName(PlacementGeneratePlugin):
    """Calls all placements the same."""

    def placement_generate(self, cycle, nodes):
        return [Placement("all", nodes), Placement("all", nodes)]


class FewerIsBetter(PlacementFeasiblePlugin, PlacementScorePlugin):
    """Content with one pod, but not with two."""

    def placement_feasible(self, cycle, progress):
        return SUCCESS if progress.scheduled == 1 else Status(Code.UNSCHEDULABLE, ("too many",))

    def placement_score(self, cycle, placement, assignments):
        return 0


class Boundless(PlacementScorePlugin):
    """Does not normalise."""

    def placement_score(self, cycle, placement, assignments):
        return 1000 * len(assignments)


class Moody(PlacementScorePlugin):
    """Says something else each time."""

    asked = 0

    def placement_score(self, cycle, placement, assignments):
        self.asked += 1
        return self.asked % 2


@pytest.mark.parametrize(
    ("plugin", "law"),
    [(OneName, "placements"), (FewerIsBetter, "progress"), (Boundless, "range"), (Moody, "repetition")],
)
def test_a_plugin_that_breaks_a_law_is_caught(plugin, law):
    broken = broken_group_laws(plugin)
    assert law in broken
    assert plugin.__name__ in broken[law] or law == "range"
    assert "(in the cluster of seed " in broken[law]


def test_other_seeds_draw_other_groups():
    drawn = {
        (group.spec.scheduling_policy.gang.min_count, len(cluster.pending))
        for cluster, group in map(draw_group, range(20))
    }
    assert len(drawn) > 5

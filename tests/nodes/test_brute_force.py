"""Small random clusters: every plan and every shrink is carried out, and no better one exists."""

from __future__ import annotations

import pytest

from schedctl.autoscaling.detection import detect
from schedctl.scheduler import Scheduler
from schedctl.simulation.scale_downs.removals import shrink
from schedctl.simulation.scale_downs.rules import RemovalRules
from schedctl.simulation.scale_ups.options import options_of
from schedctl.simulation.scale_ups.planning import plan
from tests.nodes import random_clusters


@pytest.mark.parametrize("seed", range(12))
def test_a_plan_is_carried_out_and_no_cheaper_one_is(seed):
    scheduler = Scheduler(random_clusters.pending_cluster(seed))
    options, _ = options_of(detect(scheduler.cluster).groups, "count")
    facts = plan(scheduler, list(scheduler.cluster.pending.values()), options)
    assert facts.placement is not None
    with random_clusters.settled(scheduler, facts):
        assert random_clusters.is_complete(scheduler, options, facts.counts, facts.pods)
        best = random_clusters.least_cost(scheduler, options, facts.pods, facts.cost)
    assert facts.cost == best
    assert facts.bound.value <= best


@pytest.mark.parametrize("seed", range(12))
def test_a_shrink_is_carried_out_and_no_larger_one_is(seed):
    scheduler = Scheduler(random_clusters.running_cluster(seed))
    facts = shrink(scheduler, detect(scheduler.cluster), RemovalRules())
    names = [each.name for each in facts.removals]
    assert not names or random_clusters.can_go(scheduler, names)
    best = random_clusters.most_removed(scheduler)
    assert len(names) == best
    assert facts.bound >= best

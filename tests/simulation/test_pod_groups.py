"""Runs with pod groups: a group is bound as far as it gets or not at all, and tried again as one."""

from __future__ import annotations

import pytest

from schedctl.config import loading
from schedctl.framework.pod_groups import group_key
from schedctl.plugins.in_tree import plugins_of
from schedctl.releases import NEWEST, OF_GROUPS
from schedctl.scheduler import Scheduler
from schedctl.simulation.events import SimulatedEvent
from schedctl.simulation.group_results import of_run
from schedctl.simulation.outcomes import PodState, RunEnd
from schedctl.simulation.runs import Options, run
from schedctl.simulation.tie_breaking import ReplayError, draw_ties, replay_nodes
from schedctl.testing.builders import cluster, node, pod
from tests.engine.test_group_queue import group

RELEASE = NEWEST.with_gates(dict.fromkeys(OF_GROUPS, True))


def members(count, of="train", cpu="3", **spec):
    return [pod(f"{of}-{i}", cpu=cpu, schedulingGroup={"podGroupName": of}, **spec) for i in range(count)]


def scheduler_of(*objects, nodes=3, pods=()):
    there = cluster(*(node(f"n{i}", cpu="4") for i in range(nodes)), *objects, release=RELEASE)
    for info in pods:
        there.add_pod(info)
    return Scheduler(there, loading.default(RELEASE), plugins_of(RELEASE))


def states(facts):
    return [outcome.state for outcome in facts.pods.values()]


@pytest.mark.parametrize(
    ("pods", "least", "bound"),
    [
        pytest.param(3, 3, 3, id="a gang that fits is bound"),
        pytest.param(4, 4, 0, id="of a gang that does not fit nothing is bound"),
        pytest.param(4, 3, 3, id="a gang that needs fewer pods than it has starts with those that fit"),
        pytest.param(4, 0, 3, id="a group that is no gang takes what there is"),
        pytest.param(2, 3, 0, id="a gang with too few pods is not tried"),
    ],
)
def test_what_is_bound_of_a_group(pods, least, bound):
    facts = run(scheduler_of(group(least), pods=members(pods)))
    assert states(facts).count(PodState.BOUND) == bound


def test_pods_of_a_group_go_where_a_replay_has_them():
    there = {"default/train-0": "n2", "default/train-1": "n1", "default/train-2": "n0"}
    facts = run(scheduler_of(group(3), pods=members(3)), options=Options(choose=replay_nodes(there)))
    assert {key: outcome.node for key, outcome in facts.pods.items()} == there


def test_a_replay_that_no_trial_of_the_group_can_follow_is_an_error():
    there = {"default/train-0": "n1", "default/train-1": "n1"}
    with pytest.raises(ReplayError, match="train-1 cannot be placed on node n1"):
        run(scheduler_of(group(2), pods=members(2)), options=Options(choose=replay_nodes(there)))


def test_a_seed_draws_among_equally_good_nodes_for_pods_of_groups_too():
    def nodes(seed):
        facts = run(scheduler_of(group(3), nodes=9, pods=members(3)), options=Options(choose=draw_ties(seed)))
        return tuple(outcome.node for outcome in facts.pods.values())

    assert nodes(1) == nodes(1)
    assert len({nodes(seed) for seed in range(5)}) > 1


def test_pods_without_their_group_stay_gated_with_kube_schedulers_words():
    facts = run(scheduler_of(pods=members(1)))
    (outcome,) = facts.pods.values()
    assert outcome.state is PodState.GATED
    assert outcome.message == 'waiting for pods\'s pod group "train" to appear in scheduling queue'


def test_a_gang_starts_when_a_node_comes():
    scheduler = scheduler_of(group(3), nodes=2, pods=members(3))
    facts = run(scheduler, events=[SimulatedEvent(node("late", cpu="4"), at=20)])
    assert states(facts) == [PodState.BOUND] * 3
    assert facts.clock >= 20


def test_a_gang_that_was_refused_is_answered_from_memory_while_nothing_changes():
    scheduler = scheduler_of(group(3), nodes=2, pods=members(3))
    facts = run(scheduler, events=[SimulatedEvent(node("late", cpu="4"), at=300)])
    assert facts.remembered > 0
    assert states(facts) == [PodState.BOUND] * 3


def test_a_run_ends_when_nothing_can_help_a_gang_any_more():
    facts = run(scheduler_of(group(4), pods=members(4)))
    assert facts.end is RunEnd.STUCK
    assert states(facts) == [PodState.UNSCHEDULABLE] * 4


def test_a_gang_starts_once_its_last_pod_is_created():
    last = members(3)[2]
    facts = run(scheduler_of(group(3), pods=members(2)), events=[SimulatedEvent(last, at=5)])
    assert states(facts) == [PodState.BOUND] * 3


def test_a_gang_starts_once_its_group_is_created():
    facts = run(scheduler_of(pods=members(2)), events=[SimulatedEvent(group(2), at=5)])
    assert states(facts) == [PodState.BOUND] * 2


def test_of_two_gangs_that_compete_the_more_important_one_starts_and_the_other_waits_whole():
    scheduler = scheduler_of(
        group(2, "low"),
        group(2, "high", priority=9),
        pods=[*members(2, "low"), *members(2, "high", priority=9)],
    )
    facts = run(scheduler)
    bound = {group_key(each.pod) for each in facts.of(PodState.BOUND)}
    assert bound == {"default/high"}
    assert len(facts.of(PodState.UNSCHEDULABLE)) == 2


def test_a_gang_evicts_and_starts_once_its_victims_are_gone():
    running = [pod(f"old-{i}", on=f"n{i}", cpu="3", terminationGracePeriodSeconds=5) for i in range(3)]
    scheduler = scheduler_of(group(2, priority=9), *running, pods=members(2, priority=9))
    facts = run(scheduler)
    assert states(facts) == [PodState.BOUND] * 2
    assert [eviction.by for eviction in facts.evictions] == ["default/train-0", "default/train-1"]
    assert facts.clock >= 5


def test_a_group_and_single_pods_share_the_nodes():
    single = pod("single", cpu="3", priority=5)
    facts = run(scheduler_of(group(2), pods=[*members(2), single]))
    assert states(facts) == [PodState.BOUND] * 3


def test_the_timeline_of_equal_runs_is_equal():
    def once():
        facts = run(scheduler_of(group(3), nodes=2, pods=members(3)), options=Options(trace=True))
        return facts.timeline

    assert once() == once()


def test_what_a_run_says_of_its_groups():
    scheduler = scheduler_of(group(2), group(3, "large"), pods=[*members(2), *members(3, "large")])
    facts = run(scheduler)
    _, results = of_run(facts, scheduler.cluster)
    assert [(each.name, each.text) for each in results] == [
        ("train", "GANG WOULD START: 2 of 2 placed, needs 2"),
        ("large", "GANG WAITS: 1 of 3 placed, needs 3"),
    ]
    assert [each.reason for each in results] == ["Scheduled", "Unschedulable"]


def test_a_condition_that_is_true_stays_so_when_the_rest_is_refused():
    scheduler = scheduler_of(group(2), pods=members(4))
    facts = run(scheduler)
    _, (result,) = of_run(facts, scheduler.cluster)
    assert (result.reason, result.text) == ("Scheduled", "GANG WOULD START: 3 of 4 placed, needs 2")


def test_while_groups_are_off_pods_are_placed_one_by_one():
    there = cluster(node("n0", cpu="4"), group(2))
    for info in members(2):
        there.add_pod(info)
    facts = run(Scheduler(there))
    assert states(facts) == [PodState.BOUND, PodState.UNSCHEDULABLE]
    assert of_run(facts, there) == ([], [])

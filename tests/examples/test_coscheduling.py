"""Coscheduling: a group starts together or not at all, and says why not."""

from __future__ import annotations

import pytest

from schedctl.api.gaps import Gap
from schedctl.explain.explanations import explain
from schedctl.reports.explanations import Verdict
from schedctl.scheduler.gaps import missing_kinds
from schedctl.simulation.events import SimulatedEvent
from schedctl.simulation.outcomes import PodState, RunEnd
from schedctl.simulation.runs import Options, run
from schedctl.simulation.timeline import Bound, Waiting
from schedctl.testing.builders import cluster, node, pod

LABEL = "scheduling.x-k8s.io/pod-group"


@pytest.fixture
def coscheduling(example):
    return example("coscheduling")


@pytest.fixture
def group(coscheduling):
    """A PodGroup."""

    def group(name, members, seconds=60, created=None):
        metadata = coscheduling.module.ObjectMeta(name=name, namespace="default", creation_timestamp=created)
        spec = coscheduling.module.PodGroupSpec(min_member=members, schedule_timeout_seconds=seconds)
        return coscheduling.module.PodGroup(metadata=metadata, spec=spec)

    return group


def members(name, count, cpu="1", **spec):
    return [pod(f"{name}-{i}", labels={LABEL: name}, cpu=cpu, **spec) for i in range(count)]


def bound_at(facts):
    return {record.pod.removeprefix("default/"): record.at for record in facts.timeline if isinstance(record, Bound)}


def test_a_gang_of_eight_on_a_cluster_with_room_for_seven_leaves_none_bound(coscheduling, group):
    made = cluster(node("a", cpu="4"), node("b", cpu="3"), group("train", 8), *members("train", 8))
    facts = run(coscheduling.scheduler(made))
    assert facts.count() == {PodState.UNSCHEDULABLE: 8}
    assert (facts.end, facts.period) == (RunEnd.REPEATING, 390)
    assert len(made.pod_table.row_of) == 0
    assert len(made.pending) == 8
    waited = [record for record in facts.timeline if isinstance(record, Waiting)]
    assert {record.at for record in waited[:7]} == {0}


def test_a_gang_that_fits_is_bound_together(coscheduling, group):
    made = cluster(node("a", cpu="4"), node("b", cpu="4"), group("train", 8), *members("train", 8))
    facts = run(coscheduling.scheduler(made))
    assert facts.count() == {PodState.BOUND: 8}
    assert (facts.attempts, facts.clock, facts.end) == (8, 0, RunEnd.SETTLED)
    kinds = [type(record) for record in facts.timeline if isinstance(record, Waiting | Bound)]
    assert kinds == [Waiting] * 7 + [Bound] * 8


def test_members_beyond_the_minimum_follow_as_far_as_there_is_room(coscheduling, group):
    made = cluster(node("a", cpu="4"), group("train", 3), *members("train", 6))
    facts = run(coscheduling.scheduler(made))
    assert facts.count() == {PodState.BOUND: 4, PodState.UNSCHEDULABLE: 2}


def test_a_gang_waits_for_a_late_member_until_its_timeout(coscheduling, group):
    first, late = members("train", 3)[:2], members("train", 3)[2]
    made = cluster(node("a", cpu="4"), group("train", 3), *first)
    unready = run(coscheduling.scheduler(made), first)
    assert "PodGroup train has 2 of 3 pods." in unready.pods["default/train-0"].message
    made = cluster(node("a", cpu="4"), group("train", 3), *first)
    facts = run(coscheduling.scheduler(made), first, events=[SimulatedEvent(late, at=10)])
    assert bound_at(facts) == {"train-0": 10, "train-1": 10, "train-2": 10}


def test_a_gang_whose_last_member_is_gated_gives_its_nodes_back_after_the_timeout(coscheduling, group):
    gated = pod("train-2", labels={LABEL: "train"}, cpu="1", schedulingGates=[{"name": "data"}])
    made = cluster(node("a", cpu="2"), group("train", 3, seconds=30), *members("train", 2), gated, pod("x", cpu="2"))
    facts = run(coscheduling.scheduler(made), options=Options(patience=100))
    assert facts.pods["default/x"].node == "a"
    assert bound_at(facts) == {"x": 30}


def test_a_gang_without_room_comes_back_when_a_node_is_added(coscheduling, group):
    made = cluster(node("a", cpu="7"), group("train", 8), *members("train", 8))
    facts = run(coscheduling.scheduler(made), events=[SimulatedEvent(node("b"), at=100)])
    assert set(bound_at(facts).values()) == {100}
    assert facts.count() == {PodState.BOUND: 8}


def test_of_two_gangs_with_room_for_one_the_older_starts_and_neither_blocks_the_other_for_good(coscheduling, group):
    interleaved = [each for pair in zip(members("a", 4), members("b", 4), strict=True) for each in pair]
    old, new = group("b", 4, created="2026-01-01T00:00:00Z"), group("a", 4, created="2026-02-01T00:00:00Z")
    made = cluster(node("n", cpu="5"), old, new, *interleaved)
    facts = run(coscheduling.scheduler(made))
    assert {key for key, outcome in facts.pods.items() if outcome.node} == {f"default/b-{i}" for i in range(4)}


def test_two_gangs_that_hold_half_of_the_room_each_are_undone_and_one_starts(coscheduling, group):
    """Even where they came in turns: the members of one give up as soon as one of them finds no node."""
    made = cluster(node("n", cpu="5"), group("a", 4), group("b", 4), *members("a", 2), *members("b", 3))
    late = [SimulatedEvent(each, at=1) for each in (*members("a", 4)[2:], *members("b", 4)[3:])]
    facts = run(coscheduling.scheduler(made), events=late)
    bound = {key.removeprefix("default/")[0] for key, outcome in facts.pods.items() if outcome.state is PodState.BOUND}
    assert len(bound) == 1
    assert facts.count()[PodState.BOUND] == 4


def test_pods_without_a_group_are_left_alone(coscheduling, ends):
    assert ends(run(coscheduling.scheduler(cluster(node("a"), pod("x"))))) == {"x": "a"}


def test_an_unknown_group_is_named(coscheduling):
    facts = run(coscheduling.scheduler(cluster(node("a"), *members("train", 1))))
    assert "there is no PodGroup train." in facts.pods["default/train-0"].message


def test_the_same_gangs_leave_the_same_records(coscheduling, group):
    def records():
        made = cluster(node("n", cpu="5"), group("a", 4), group("b", 4), *members("a", 4), *members("b", 4))
        return run(coscheduling.scheduler(made)).timeline

    assert records() == records()


# -- the explanation -------------------------------------------------------------


def test_an_explanation_says_which_member_finds_no_room_why_and_which_minimum_would(coscheduling, group):
    made = cluster(node("a", cpu="4"), node("b", cpu="3"), group("train", 8), *members("train", 8))
    answer = explain(coscheduling.scheduler(made), made.pending["default/train-3"])
    (remark,) = answer.remarks
    assert remark.plugin == "Coscheduling"
    assert remark.text == "PodGroup train: 7 of 8 pods find room together, minMember 8: none starts"
    assert remark.details == [
        "minMember 7 would find room",
        "train-7: 0/2 nodes are available: 2 Insufficient cpu. [NodeResourcesFit]",
    ]
    assert remark.evidence["passingMinimum"] == 7
    assert remark.evidence["refused"] == [
        {
            "pod": "default/train-7",
            "plugins": ["NodeResourcesFit"],
            "message": "0/2 nodes are available: 2 Insufficient cpu.",
        }
    ]
    assert answer.reservation.waits == {"Coscheduling": 60}


def test_the_members_are_refused_each_for_its_own_reason(coscheduling, group):
    pods = [*members("train", 2), pod("train-9", labels={LABEL: "train"}, nodeSelector={"disk": "ssd"})]
    made = cluster(node("a"), group("train", 3), *pods)
    (remark,) = explain(coscheduling.scheduler(made), pods[0]).remarks
    assert remark.details[1].endswith("[NodeAffinity]")
    assert "1 node(s) didn't match Pod's node affinity/selector" in remark.details[1]


def test_the_remark_of_a_complete_group_says_so(coscheduling, group):
    made = cluster(node("a"), group("train", 2), *members("train", 2))
    (remark,) = explain(coscheduling.scheduler(made), made.pending["default/train-0"]).remarks
    assert remark.text == "PodGroup train: 2 of 2 pods find room together, minMember 2: they start"
    assert remark.details == []


def test_an_explanation_leaves_the_cluster_and_the_queue_unchanged(coscheduling, group):
    made = cluster(node("a", cpu="4"), group("train", 3), *members("train", 3))
    scheduler = coscheduling.scheduler(made)
    explain(scheduler, made.pending["default/train-0"])
    assert list(made.pending) == [f"default/train-{i}" for i in range(3)]
    assert not made.pod_table.row_of
    assert all(not handle.activated and not handle.waiting for handle in scheduler.handles.values())


def test_where_pod_groups_may_not_be_listed_the_answer_is_an_assumption(coscheduling):
    made = cluster(node("a"), *members("train", 1))
    made.lack([Gap("PodGroup", "Forbidden")], coscheduling.chosen.registry.kinds)
    answer = explain(coscheduling.scheduler(made), made.pending["default/train-0"])
    assert answer.verdict is Verdict.INCONCLUSIVE
    assert "Coscheduling would also look at PodGroups, which may not be listed" in answer.guesses[0].text
    (missing,) = missing_kinds(made, coscheduling.chosen.registry)
    assert (missing.kind, missing.plugins) == ("PodGroup", ["Coscheduling"])


def test_a_pod_that_would_wait_is_scheduled_and_the_reservation_says_for_how_long(coscheduling, group):
    made = cluster(node("a"), group("train", 2, seconds=90), *members("train", 2))
    answer = explain(coscheduling.scheduler(made), made.pending["default/train-0"])
    assert (answer.verdict, answer.chosen, answer.reservation.code) == (Verdict.SCHEDULED, "a", "Wait")
    assert answer.reservation.text == "Permit holds the pod back on a: Coscheduling for at most 90s"

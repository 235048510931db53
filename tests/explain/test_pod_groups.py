"""A pod group explained: verdict, placements, who fails and why, what is missing, and what would let it start."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from schedctl.api.pod_groups import PodGroupSchedulingConstraints, TopologyConstraint
from schedctl.cache.pod_info import PodInfo
from schedctl.config import loading
from schedctl.explain.pod_groups import explain_group
from schedctl.plugins.in_tree import plugins_of
from schedctl.releases import NEWEST, OF_GROUPS
from schedctl.reports.explanations import Verdict
from schedctl.reports.pod_groups import GroupVerdict
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod
from tests.engine import test_pod_groups as engine
from tests.engine.test_group_queue import group

RELEASE = NEWEST.with_gates(dict.fromkeys(OF_GROUPS, True))
NODES = [node(f"{rack}-{i}", cpu="4", labels={"rack": rack, "hall": "h"}) for rack in "ab" for i in (1, 2)]


def members(count, cpu="3", **spec):
    return [pod(f"train-{i}", cpu=cpu, schedulingGroup={"podGroupName": "train"}, **spec) for i in range(count)]


def explained(of_group, pods, *running, nodes=NODES, **options):
    there = cluster(*nodes, *running, of_group, release=RELEASE)
    for info in pods:
        there.add_pod(info)
    scheduler = Scheduler(there, loading.default(RELEASE), plugins_of(RELEASE))
    return explain_group(scheduler, there.every(type(of_group))["default/train"], **options)


def in_racks(least):
    return engine.group(gang=least, rack=True)


@pytest.mark.parametrize(
    ("of_group", "pods", "text"),
    [
        pytest.param(group(4), 4, "GANG WOULD START: 4 of 4 placed, needs 4", id="a gang that fits"),
        pytest.param(group(5), 5, "GANG WAITS: 4 of 5 placed, needs 5", id="a gang of which one pod does not fit"),
        pytest.param(group(3), 5, "GANG WOULD START: 4 of 5 placed, needs 3", id="a gang that starts without all pods"),
        pytest.param(group(0), 5, "GROUP WOULD START: 4 of 5 placed", id="a group that is no gang"),
        pytest.param(in_racks(3), 3, "GANG WAITS: 2 of 3 placed, needs 3", id="no rack holds the gang"),
        pytest.param(
            group(3),
            2,
            "GANG GATED: waiting for minCount pods from a gang to appear in scheduling queue",
            id="a gang with too few pods",
        ),
        pytest.param(group(1), 0, "GANG WAITS: it has no pods, needs 1", id="a gang without pods"),
    ],
)
def test_the_verdict_on_a_group(of_group, pods, text):
    assert explained(of_group, members(pods)).result.text == text


def test_a_group_whose_pods_run_already_needs_nothing():
    running = [pod("train-9", on="a-1", cpu="1", schedulingGroup={"podGroupName": "train"})]
    result = explained(group(1), [], *running).result
    assert (result.text, result.verdict) == ("GANG RUNS: 1 of 1 placed, needs 1", GroupVerdict.PLACED)
    assert result.nodes == {"a-1": 1}


def test_how_far_the_group_got_in_each_placement():
    taken = pod("other", on="a-1", cpu="4")
    trials = explained(in_racks(3), members(3), taken).result.trials
    assert [(each.placement, each.placed, each.tried, each.feasible) for each in trials] == [
        ("a", 1, 2, False),
        ("b", 2, 3, False),
    ]


def test_pods_that_kube_scheduler_no_longer_tries_are_tried_in_a_second_pass_which_is_told_apart():
    causes = explained(group(8), members(8)).result.causes
    assert [(each.pods, each.reached) for each in causes] == [
        (["default/train-4"], True),
        (["default/train-5", "default/train-6", "default/train-7"], False),
    ]
    assert {reason.text for each in causes for reason in each.reasons} == {"Insufficient cpu"}


def test_pods_that_fail_for_other_reasons_are_other_causes():
    tied = members(1, nodeSelector={"rack": "nowhere"})
    causes = explained(group(0), [*tied, *members(6)[1:]]).result.causes
    assert sorted(len(each.pods) for each in causes) == [1, 1]
    assert {reason.text for each in causes for reason in each.reasons} == {
        "Insufficient cpu",
        "node(s) didn't match Pod's node affinity/selector",
    }


@pytest.mark.parametrize(
    ("of_group", "pods", "cpu", "text"),
    [
        pytest.param(group(6), 6, "4", "8 cpu for 2 pods, 0 left there", id="in the whole cluster"),
        pytest.param(in_racks(3), 3, "4", "4 cpu for 1 pod in rack=a, 0 left there", id="in the rack that took most"),
        pytest.param(
            group(6), 6, "3", "6 cpu for 2 pods, 4 left there: 2 more", id="what is left is not enough for them"
        ),
        pytest.param(
            group(5), 5, "3", "3 cpu for 1 pod, 4 left there, but in pieces too small for a pod", id="it is in pieces"
        ),
        pytest.param(group(5), 8, "4", "4 cpu for 1 pod, 0 left there", id="only what it needs to start counts"),
    ],
)
def test_what_a_group_lacks_in_total(of_group, pods, cpu, text):
    assert [each.text for each in explained(of_group, members(pods, cpu)).result.missing] == [text]


def fixes(of_group, pods, *running, **options):
    return {each.type: each for each in explained(of_group, pods, *running, **options).result.hints}


def test_fewer_pods_would_let_a_gang_start():
    fix = fixes(group(5), members(5))["lower-min-count"]
    assert fix.text == "minCount 4 instead of 5: 4 pods would start, the rest wait"
    assert fix.tried
    assert '"minCount":4' in fix.command


def test_the_smallest_number_of_nodes_that_would_do_is_found():
    assert fixes(group(7), members(7))["add-nodes"].text == "3 more nodes like a-1"


def test_nodes_are_added_where_the_topology_wants_them():
    assert fixes(in_racks(3), members(3))["add-nodes"].text == "1 more node like a-1 in rack=a"


def test_a_wider_topology_key_is_tried_before_none():
    wide = [
        node(f"{hall}-{rack}-{i}", cpu="4", labels={"rack": f"{hall}{rack}", "hall": hall})
        for hall in "xy"
        for rack in "ab"
        for i in (1, 2)
    ]
    found = fixes(in_racks(3), members(3), nodes=wide)
    assert found["wider-topology"].text.startswith("topology key hall instead of rack: it would start in hall=x")
    assert "no-topology" not in found


def test_a_misspelt_topology_key_is_told_with_the_one_that_was_meant():
    of_group = in_racks(2)
    constraints = PodGroupSchedulingConstraints(topology=[TopologyConstraint(key="rakc")])
    misspelt = replace(of_group, spec=replace(of_group.spec, scheduling_constraints=constraints))
    result = explained(misspelt, members(2)).result
    (note,) = (each for each in result.notes if "no node has the label" in each)
    assert note.startswith('no node has the label rakc (did you mean "rack"?)')
    found = {each.type: each for each in result.hints}
    assert found["rename-topology"].tried
    assert found["rename-topology"].text.startswith("topology key rack instead of rakc: it would start in rack=a")
    assert "no-topology" not in found


def test_without_the_topology_key_a_group_may_start():
    assert fixes(in_racks(3), members(3))["no-topology"].tried


def test_whom_the_group_would_evict_if_it_were_more_important():
    low = [
        pod(f"low-{i}", on=name, cpu="3", schedulingGroup={"podGroupName": "low"})
        for i, name in enumerate(("a-1", "a-2"))
    ]
    found = fixes(group(4), members(4), *low, group(1, "low"))
    assert found["raise-priority"].text == "with a priority above 0 it would evict PodGroup default/low (2 pods)"


def test_a_group_that_preempts_waits_for_its_victims():
    low = [pod(f"low-{i}", on=name, cpu="3") for i, name in enumerate(("a-1", "a-2"))]
    result = explained(group(4, priority=5), members(4, priority=5), *low).result
    assert result.verdict is GroupVerdict.PREEMPTS
    assert sorted(result.victims) == ["default/low-0", "default/low-1"]
    assert not result.starts


def test_what_is_tried_leaves_the_cluster_as_it_was():
    there = cluster(*NODES, group(6), release=RELEASE)
    for info in members(6):
        there.add_pod(info)
    before = list(there.pending), len(there.node_table.row_of)
    explain_group(Scheduler(there, loading.default(RELEASE), plugins_of(RELEASE)), group(6))
    assert (list(there.pending), len(there.node_table.row_of)) == before


@pytest.mark.parametrize(
    ("of_group", "pods", "verdicts"),
    [
        pytest.param(group(4), 4, [Verdict.SCHEDULED] * 4, id="all placed"),
        pytest.param(group(5), 5, [Verdict.UNSCHEDULABLE] * 5, id="none is placed where the gang waits"),
        pytest.param(group(1), 5, [Verdict.SCHEDULED] * 4 + [Verdict.UNSCHEDULABLE], id="the rest waits"),
        pytest.param(group(3), 2, [Verdict.GATED] * 2, id="gated"),
    ],
)
def test_the_verdict_on_a_member_follows_its_group(of_group, pods, verdicts):
    answers = explained(of_group, members(pods)).members
    assert [each.verdict for each in answers.values()] == verdicts
    assert {each.pod_group for each in answers.values()} == {"default/train"}


TWO_PROFILES = b"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: default-scheduler}, {schedulerName: volcano}]
"""


def of_volcano():
    return pod("train-9", cpu="1", schedulerName="volcano", schedulingGroup={"podGroupName": "train"})


def test_pods_of_another_scheduler_do_not_count_for_the_group():
    result = explained(group(2), [*members(1), of_volcano()]).result
    assert (result.verdict, result.message) == (
        GroupVerdict.GATED,
        "waiting for minCount pods from a gang to appear in scheduling queue",
    )
    assert result.notes == [
        "pod default/train-9 belongs to scheduler volcano, and kube-scheduler counts its own pods alone",
        "1 pod of 2 exists: 1 more would have to be created",
    ]
    assert result.hints[0].text == "schedulerName default-scheduler for pod default/train-9, which has volcano"


def test_a_gang_with_enough_pods_of_its_own_starts_without_those_of_another_scheduler():
    result = explained(group(1), [*members(1), of_volcano()]).result
    assert result.text == "GANG WOULD START: 1 of 1 placed, needs 1"


def test_pods_of_two_profiles_are_an_error_in_kube_schedulers_words():
    there = cluster(*NODES, group(2), release=RELEASE)
    for info in (*members(1), of_volcano()):
        there.add_pod(info)
    result = explain_group(Scheduler.configured(there, TWO_PROFILES), group(2)).result
    assert [hint.text for hint in result.hints] == [
        "schedulerName default-scheduler for pod default/train-9, which has volcano"
    ]
    assert result.verdict is GroupVerdict.ERROR
    assert result.reason == "SchedulerError"
    assert result.message == (
        "all pods in a single pod group should have the same .spec.schedulerName set, "
        'got: "volcano" and "default-scheduler"'
    )


@pytest.mark.parametrize(
    ("first", "other", "fix"),
    [
        pytest.param(
            {}, {"priority": 7}, "priority 0 for pod default/train-9, or theirs for the group", id="two priorities"
        ),
        pytest.param(
            {},
            {"preemptionPolicy": "Never"},
            "preemptionPolicy PreemptLowerPriority for pod default/train-9",
            id="two preemption policies",
        ),
        pytest.param(
            {"priority": 7},
            {"priority": 7},
            "priority 0 for 5 pods such as default/train-0, or theirs for the group",
            id="all pods unlike their group",
        ),
    ],
)
def test_what_makes_pods_alike_that_differ(first, other, fix):
    different = pod("train-9", cpu="1", schedulingGroup={"podGroupName": "train"}, **other)
    result = explained(group(2), [*members(4, **first), different]).result
    assert result.verdict is GroupVerdict.ERROR
    assert [hint.text for hint in result.hints] == [fix]


def test_a_topology_key_that_no_node_has_is_named():
    bare = [node("a", cpu="4")]
    result = explained(in_racks(1), members(1), nodes=bare).result
    assert result.message.startswith("no feasible placements found")
    assert result.notes == ["no node has the label rack, of which all nodes of the group need one value"]


def test_what_waits_behind_a_group_is_named():
    later = pod("later", cpu="1")
    result = explained(group(5), [*members(5), later]).result
    assert result.waiting == ["Pod default/later"]


def test_names_that_nothing_has_are_told_of_the_pods_of_a_group_as_of_a_single_pod():
    (note,) = explained(group(2), members(2, nodeSelector={"rakc": "a"})).result.notes
    assert note == 'label "rakc" is on no node (did you mean "rack"?)'
    claim = [{"name": "data", "persistentVolumeClaim": {"claimName": "nope"}}]
    (note,) = explained(group(2), members(2, volumes=claim)).result.notes
    assert 'claim "nope"' in note


def test_pods_that_are_being_deleted_are_told_where_they_are_missed():
    leaving, *others = members(3)
    metadata = replace(leaving.pod.metadata, deletion_timestamp="2026-01-01T00:00:00Z", uid="u")
    leaving = PodInfo(replace(leaving.pod, metadata=metadata))
    assert "1 pod of it is being deleted and not tried any more" in explained(group(3), [leaving, *others]).result.notes
    assert explained(group(2), [leaving, *others]).result.notes == []

"""A pod group's cycle: all of a gang or nothing, one placement after another, and what would have to go."""

import pytest

from schedctl.api.meta import ObjectMeta
from schedctl.api.pod_groups import (
    AllDisruptionMode,
    BasicSchedulingPolicy,
    DisruptionMode,
    GangSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingConstraints,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
    TopologyConstraint,
)
from schedctl.config import loading
from schedctl.engine.call_recorder import CallRecorder
from schedctl.engine.groups import trials
from schedctl.framework.points import FilterPlugin, ReservePlugin
from schedctl.framework.reasons import ACCEPT
from schedctl.framework.statuses import SUCCESS, Code
from schedctl.plugins.in_tree import plugins_of
from schedctl.releases import NEWEST, OF_GROUPS
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod

RELEASE = NEWEST.with_gates(dict.fromkeys(OF_GROUPS, True))
RACKS = {"a-1": "a", "a-2": "a", "b-1": "b", "b-2": "b", "b-3": "b"}


def group(gang=None, rack=False, priority=0, whole=False):
    policy = (
        PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=gang))
        if gang
        else PodGroupSchedulingPolicy(basic=BasicSchedulingPolicy())
    )
    constraints = PodGroupSchedulingConstraints(topology=[TopologyConstraint(key="rack")]) if rack else None
    return PodGroup(
        metadata=ObjectMeta(name="train", namespace="default"),
        spec=PodGroupSpec(
            scheduling_policy=policy,
            scheduling_constraints=constraints,
            priority=priority,
            disruption_mode=DisruptionMode(all=AllDisruptionMode()) if whole else None,
        ),
    )


def members(count, **spec):
    of_group = {"schedulingGroup": {"podGroupName": "train"}}
    return [pod(f"train-{i}", **{"cpu": "3", **of_group, **spec}) for i in range(count)]


def scheduler_of(of_group, pods, running=(), release=RELEASE):
    objects = [node(name, labels={"rack": rack}, cpu="4") for name, rack in RACKS.items()]
    there = cluster(*objects, *running, of_group, release=release)
    for info in pods:
        there.add_pod(info)
    return Scheduler(there, loading.default(release), plugins_of(release))


def placed(outcome):
    return [member.node_name for member in outcome.members if outcome.status.successful and member.node_name]


@pytest.mark.parametrize(
    ("pods", "of_group", "nodes"),
    [
        pytest.param(5, {"gang": 5}, ["a-1", "a-2", "b-1", "b-2", "b-3"], id="a gang that fits"),
        pytest.param(6, {"gang": 6}, [], id="a gang of which one pod fits nowhere"),
        pytest.param(6, {"gang": 4}, ["a-1", "a-2", "b-1", "b-2", "b-3"], id="a gang that needs fewer than it has"),
        pytest.param(6, {}, ["a-1", "a-2", "b-1", "b-2", "b-3"], id="a group that is no gang takes what there is"),
        pytest.param(3, {"gang": 3, "rack": True}, ["b-1", "b-2", "b-3"], id="a rack that holds all of them"),
        pytest.param(4, {"gang": 4, "rack": True}, [], id="no rack holds all of them"),
        pytest.param(3, {"gang": 2, "rack": True}, ["b-1", "b-2", "b-3"], id="the rack that takes more of them"),
    ],
)
def test_where_a_group_is_placed(pods, of_group, nodes):
    infos = members(pods)
    outcome = scheduler_of(group(**of_group), infos).attempt_group(group(**of_group), infos)
    assert placed(outcome) == nodes


def test_a_group_is_tried_no_further_than_it_can_still_succeed():
    infos = members(7)
    outcome = scheduler_of(group(gang=6), infos).attempt_group(group(gang=6), infos)
    assert [member.node_name for member in outcome.members] == ["a-1", "a-2", "b-1", "b-2", "b-3", "", ""]
    assert outcome.status.message.startswith(
        "pod group is unschedulable, 0/1 placements are available, first placement status: "
        "minCount (6) cannot be satisfied: 5 scheduled, 0 remaining"
    )


def test_trying_a_group_leaves_the_cluster_as_it_was():
    infos = members(3)
    scheduler = scheduler_of(group(gang=3, rack=True), infos)
    before = list(scheduler.cluster.pending), len(list(scheduler.cluster.pod_table))
    scheduler.attempt_group(group(gang=3, rack=True), infos)
    assert (list(scheduler.cluster.pending), len(list(scheduler.cluster.pod_table))) == before


class Licences(ReservePlugin):
    """Holds a licence of its own for each pod that is reserved."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.calls = []

    def reserve(self, cycle, node_name):
        self.calls.append((cycle.pod.key, 1))
        return SUCCESS

    def unreserve(self, cycle, node_name):
        self.calls.append((cycle.pod.key, -1))


class CountsFilters(FilterPlugin):
    """Counts how often it is asked, and lets every pod pass."""

    foreseeable = True

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.calls = 0

    def signature(self, pod):
        return ()

    def filter(self, cycle, nodes):
        self.calls += 1
        return ACCEPT


def test_members_of_one_template_are_judged_once_in_each_placement_and_not_one_by_one():
    infos = members(24, cpu="100m")
    there = scheduler_of(group(gang=24, rack=True), infos).cluster
    scheduler = Scheduler.configured(there, plugins=[CountsFilters])
    outcome = scheduler.attempt_group(group(gang=24, rack=True), infos)
    assert [len(trial.assignments) for trial in outcome.trials] == [24, 24]
    calls = scheduler.profiles["default-scheduler"].plugins["CountsFilters"].calls
    assert calls <= 2 * len(outcome.trials)


@pytest.mark.parametrize("spec", [{}, {"spread": True}, {"anti": True}], ids=["plain", "spread", "anti-affinity"])
def test_what_is_remembered_in_a_placement_changes_no_decision(monkeypatch, spec):
    alike = {"labelSelector": {"matchLabels": {"app": "train"}}, "topologyKey": "kubernetes.io/hostname"}
    of_pods = {"cpu": "700m", "labels": {"app": "train"}}
    if "spread" in spec:
        constraint = {**alike, "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}
        of_pods["topologySpreadConstraints"] = [constraint]
    if "anti" in spec:
        term = {"weight": 50, "podAffinityTerm": alike}
        of_pods["affinity"] = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    infos, found = members(12, **of_pods), []
    for few in (0, 1000):
        monkeypatch.setattr(trials, "FEW_PODS", few)
        outcome = scheduler_of(group(gang=12, rack=True), infos).attempt_group(group(gang=12, rack=True), infos)
        found.append([[(each.node_name, each.status) for each in trial.members] for trial in outcome.trials])
    assert found[0] == found[1]
    assert [len(trial) for trial in found[0]] == [11, 12]


def test_what_plugins_reserve_for_a_group_that_is_tried_they_release_the_last_pod_first():
    infos = members(2)
    there = scheduler_of(group(gang=2), infos).cluster
    scheduler = Scheduler.configured(there, plugins=[Licences])
    assert scheduler.attempt_group(group(gang=2), infos).status.successful
    licences = scheduler.profiles["default-scheduler"].plugins["Licences"]
    assert licences.calls == [
        ("default/train-0", 1),
        ("default/train-1", 1),
        ("default/train-1", -1),
        ("default/train-0", -1),
    ]


def test_calls_about_a_group_are_counted():
    infos = members(2)
    scheduler = scheduler_of(group(gang=2, rack=True), infos)
    recorder = CallRecorder()
    for plugin in scheduler.profiles["default-scheduler"].plugins.values():
        recorder.watch(plugin)
    scheduler.attempt_group(group(gang=2, rack=True), infos)
    points = {point for point, _, _ in recorder.in_cycle_order()}
    assert {"placementGenerate", "placementFeasible", "placementScore"} <= points


def test_pods_that_run_already_count_towards_the_gang_and_fix_its_rack():
    running = pod("train-old", on="a-1", cpu="1", schedulingGroup={"podGroupName": "train"})
    infos = members(2)
    outcome = scheduler_of(group(gang=2, rack=True), infos, [running]).attempt_group(group(gang=2, rack=True), infos)
    assert [trial.placement.name for trial in outcome.trials] == ["a"]
    assert sorted(placed(outcome)) == ["a-1", "a-2"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            {"priority": 5},
            "all pods in a single pod group should have the same priority as the pod group's priority, got 5 and 0",
            id="another priority",
        ),
        pytest.param(
            {"schedulerName": "other"},
            'profile not found for scheduler name "other"',
            id="a scheduler that is not there",
        ),
    ],
)
def test_what_pods_of_a_group_have_in_common(change, message):
    infos = members(2, **change)
    scheduler = scheduler_of(group(gang=2), infos)
    outcome = scheduler.attempt_group(group(gang=2), infos)
    assert (outcome.status.code, outcome.status.message) == (Code.ERROR, message)


@pytest.mark.parametrize(
    ("whole", "victims"),
    [
        pytest.param(False, ["old-0"], id="the least that will do"),
        pytest.param(True, ["old-0", "old-1"], id="a group that is disrupted whole goes whole"),
    ],
)
def test_a_group_preempts(whole, victims):
    old = group(priority=-1, whole=whole)
    old = PodGroup(metadata=ObjectMeta(name="old", namespace="default"), spec=old.spec)
    of_old = {"podGroupName": "old"}
    running = [
        pod(f"old-{i}", on=name, cpu="3", priority=-1, schedulingGroup=of_old) for i, name in enumerate(["a-1", "b-3"])
    ]
    infos = members(4)
    scheduler = scheduler_of(group(gang=4), infos, [*running, old])
    outcome = scheduler.attempt_group(group(gang=4), infos)
    assert outcome.awaits_preemption
    assert sorted(victim.pod.metadata.name for victim in outcome.post_filter.victims) == victims
    assert set(outcome.post_filter.nominations) == {info.key for info in infos}

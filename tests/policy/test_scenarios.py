"""Scenarios: which cases there are, what they do on top of the manifests, and what may be left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from schedctl.api.meta import ObjectMeta
from schedctl.api.pod_groups import PodGroup, PodGroupSpec
from schedctl.cache.cluster import Cluster
from schedctl.errors import UsageError
from schedctl.policy import documents, evaluations, scenarios, situations
from schedctl.policy.documents import Scenario
from schedctl.policy.situations import Situation
from schedctl.releases import NEWEST
from schedctl.scheduler import Scheduler
from schedctl.simulation.pod_state import terminating_pod
from schedctl.simulation.runs import Options
from schedctl.simulation.simulations import simulate
from schedctl.testing.builders import HOSTNAME, ZONE, cluster, node
from tests.policy.evaluating import (
    LOSE_ZONE,
    bare,
    check,
    deployment,
    manifests_of,
    policy,
    priority_class,
    report,
    running,
    zoned,
)


def placed(state: Cluster, *manifests: dict[str, Any]) -> Situation:
    """The manifests placed on a state."""
    scheduler = Scheduler(state)
    facts = simulate(scheduler, manifests_of(*manifests).objects, options=Options(trace=False))
    return situations.released_situation(facts, scheduler, {})


def fates(situation: Situation) -> Mapping[str, str]:
    """The node of each pod of the manifests, or what became of it instead."""
    return {pod.name: pod.node or pod.fate.value for judged in situation.workloads for pod in judged.pods}


def play(scenario: Scenario, before: Situation) -> dict[str, Mapping[str, str]]:
    """What becomes of the manifests' pods in each case."""
    fates_by_case = {}
    for case in scenarios.cases(scenario, before.cluster):
        with scenarios.play(case, before) as situation:
            fates_by_case[situation.name] = fates(situation)
    return fates_by_case


# -- cases -----------------------------------------------------------------------


def test_a_scenario_with_a_topology_key_has_a_case_for_each_value() -> None:
    assert [case.name for case in scenarios.cases(LOSE_ZONE, cluster(*zoned(1, 2, 1)))] == [
        "lose-zone=eu-1a",
        "lose-zone=eu-1b",
        "lose-zone=eu-1c",
    ]


def test_a_scenario_without_one_has_one_case() -> None:
    scenario = Scenario("grow", changes=({"addNode": {"like:a0": 2}},))
    assert [case.name for case in scenarios.cases(scenario, cluster(*zoned(1)))] == ["grow"]


def test_the_value_stands_in_keys_and_values_of_changes() -> None:
    scenario = Scenario("taint-zone", ZONE, ({"taint": {f"{ZONE}=$value": "lost=$value:NoSchedule"}},))
    before = placed(cluster(*zoned(1, 1)), deployment(replicas=1))
    with scenarios.play(scenarios.cases(scenario, before.cluster)[1], before) as situation:
        assert situation.changes == ["tainted b0 with lost=eu-1b:NoSchedule"]


def test_a_shorthand_will_do_for_a_topology_key() -> None:
    scenario = Scenario("lose", "zone", ({"lose": {"zone": "$value"}},))
    assert [case.name for case in scenarios.cases(scenario, cluster(*zoned(1, 1)))] == ["lose=eu-1a", "lose=eu-1b"]


def test_nodes_are_selected_by_all_labels_given() -> None:
    state = cluster(node("a", labels={"pool": "spot", "tier": "web"}), node("b", labels={"pool": "spot"}), node("c"))
    scenario = Scenario("no-spot-web", changes=({"remove": {"nodeSelector": {"pool": "spot", "tier": "web"}}},))
    before = placed(state, deployment(replicas=3))
    (case,) = scenarios.cases(scenario, before.cluster)
    with scenarios.play(case, before) as situation:
        assert sorted(situation.cluster.node_table.row_of) == ["b", "c"]


def test_a_topology_key_that_no_node_has_cannot_be_played() -> None:
    with pytest.raises(UsageError, match="no node has a label"):
        scenarios.cases(LOSE_ZONE, cluster(node("a")))


# -- what happens ----------------------------------------------------------------


def test_pods_that_lose_their_node_come_back_where_there_is_room() -> None:
    before = placed(cluster(*zoned(1, 1)), deployment(replicas=2, cpu="1"))
    assert fates(before) == {"web[0]": "a0", "web[1]": "b0"}
    assert play(LOSE_ZONE, before) == {
        "lose-zone=eu-1a": {"web[0]": "b0", "web[1]": "b0"},
        "lose-zone=eu-1b": {"web[0]": "a0", "web[1]": "a0"},
    }


def test_pods_of_others_come_back_too_and_before_those_of_the_manifests() -> None:
    before = placed(cluster(*zoned(1, 1, 1), running("zz-0", "a0", cpu="3")), deployment(replicas=1, cpu="3"))
    assert fates(before) == {"web[0]": "b0"}
    assert play(Scenario("lose-two", changes=({"removeNode": ["a0", "b0"]},)), before) == {
        "lose-two": {"web[0]": "Unschedulable"}
    }


def test_a_pod_of_a_higher_priority_is_scheduled_first_in_a_scenario() -> None:
    state = cluster(*zoned(1, 1), running("old-0", "a0", cpu="3"))
    before = placed(state, priority_class("high", 1000), deployment(replicas=1, cpu="3", priorityClassName="high"))
    with scenarios.play(scenarios.cases(LOSE_ZONE, state)[1], before) as situation:
        assert fates(situation) == {"web[0]": "a0"}
        assert [eviction.pod.key for eviction in situation.evictions] == ["default/old-0"]


def test_pods_pending_before_find_the_room_that_a_scenario_makes() -> None:
    before = placed(cluster(*zoned(1)), deployment(replicas=2, cpu="3"))
    assert fates(before) == {"web[0]": "a0", "web[1]": "Unschedulable"}
    assert play(Scenario("grow", changes=({"addNode": "like:a0"},)), before) == {
        "grow": {"web[0]": "a0", "web[1]": "a0-new-1"}
    }


def test_a_pod_that_nobody_makes_again_is_lost() -> None:
    before = placed(cluster(*zoned(1, 1)), bare("one", nodeSelector={ZONE: "eu-1a"}))
    with scenarios.play(scenarios.cases(LOSE_ZONE, before.cluster)[0], before) as situation:
        (pod,) = situation.workloads[0].pods
        assert pod.lost
        assert pod.is_pending


def test_a_pod_whose_template_names_a_node_that_is_lost_is_not_scheduled_elsewhere() -> None:
    before = placed(cluster(*zoned(1, 1)), deployment(replicas=2, nodeName="a0"))
    deciding_keys = {pod.keys[-1] for pod in before.workloads[0].pods}
    lost, kept = scenarios.cases(LOSE_ZONE, before.cluster)
    for deciding in (None, deciding_keys):
        with scenarios.play(lost, before, deciding) as situation:
            assert fates(situation) == {"web[0]": "Orphaned", "web[1]": "Orphaned"}
            assert {
                "node a0 of spec.nodeName does not exist" in pod.message for pod in situation.workloads[0].pods
            } == {True}
            assert situation.changes == ["removed a0"]
        with scenarios.play(kept, before, deciding) as situation:
            assert fates(situation) == {"web[0]": "a0", "web[1]": "a0"}


def test_a_case_leaves_no_trace() -> None:
    before = placed(cluster(*zoned(2, 2), running("old-0", "a0")), deployment(replicas=3))
    pods = {info.key: before.node_of(info.key) for info in before.cluster.pod_table}
    play(LOSE_ZONE, before)
    assert {info.key: before.node_of(info.key) for info in before.cluster.pod_table} == pods
    assert sorted(before.cluster.node_table.row_of) == ["a0", "a1", "b0", "b1"]
    assert not before.cluster.pending


# -- what may be left out ----------------------------------------------------------


def test_no_pod_is_placed_anew_where_all_are_certain_to_find_a_node() -> None:
    state = cluster(*zoned(2, 2), *(running(f"old-{n}", "a0", owner=f"old-{n}", cpu="100m") for n in range(5)))
    before = placed(state, deployment(replicas=4))
    deciding_keys = {pod.keys[-1] for judged in before.workloads for pod in judged.pods}
    with scenarios.play(scenarios.cases(LOSE_ZONE, state)[0], before, deciding_keys) as situation:
        assert len(situation.cluster.pending) == 7
        assert all(pod.is_placed for judged in situation.workloads for pod in judged.pods)


def test_a_deciding_pod_that_is_leaving_is_followed_to_its_end() -> None:
    leaving = terminating_pod(running("web-0", "b0", owner="web", cpu="100m"), 5.0, 5.0, preempted=False)
    state = cluster(*zoned(2, 2), leaving)
    before = placed(state, deployment(replicas=1))
    with scenarios.play(scenarios.cases(LOSE_ZONE, state)[0], before, {leaving.key}) as situation:
        assert leaving.key not in situation.cluster.pod_table.row_of


def test_pods_of_a_lower_priority_are_left_out_where_only_others_decide() -> None:
    state = cluster(*zoned(2, 2), *(running(f"old-{n}", "a0", owner=f"old-{n}", cpu="100m") for n in range(5)))
    # of two constraints at once nothing is certain, so that a run is made
    rule = {"maxSkew": 9, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "web"}}}
    spread = [{**rule, "topologyKey": key} for key in (ZONE, HOSTNAME)]
    high = deployment(replicas=4, priorityClassName="high", topologySpreadConstraints=spread)
    before = placed(state, priority_class("high", 1000), high)
    deciding_keys = {pod.keys[-1] for judged in before.workloads for pod in judged.pods}
    with scenarios.play(scenarios.cases(LOSE_ZONE, state)[0], before, deciding_keys) as situation:
        assert len(situation.cluster.pending) == 5
        assert not any(pod.is_pending for judged in situation.workloads for pod in judged.pods)


def test_all_pods_are_placed_where_one_that_decides_finds_no_room() -> None:
    state = cluster(*zoned(1, 1), running("old-0", "a0", cpu="1", priority=-1))
    before = placed(state, deployment(replicas=2, cpu="3"))
    deciding_keys = {pod.keys[-1] for judged in before.workloads for pod in judged.pods}
    with scenarios.play(scenarios.cases(LOSE_ZONE, state)[0], before, deciding_keys) as situation:
        assert len(situation.run.pods) == 2


def test_all_pods_are_placed_beside_pod_groups_which_go_by_a_priority_of_their_own() -> None:
    group = PodGroup(metadata=ObjectMeta(name="train", namespace="default"), spec=PodGroupSpec(priority=5000))
    train = running("train-0", "a0", cpu="1", schedulingGroup={"podGroupName": "train"})
    for gates, pods in (({}, 1), ({"GenericWorkload": True}, 2)):
        state = cluster(*zoned(1, 1), train, group, release=NEWEST.with_gates(gates))
        before = placed(state, priority_class("high", 1000), deployment(replicas=1, priorityClassName="high"))
        deciding_keys = {pod.keys[-1] for pod in before.workloads[0].pods}
        lost = scenarios.cases(Scenario("lose", changes=({"removeNode": "a0"},)), state)[0]
        with scenarios.play(lost, before, deciding_keys) as situation:
            assert (before.node_of(*deciding_keys), len(situation.run.pods)) == ("b0", pods - 1)


PRIORITIES = (0, 500, 1000)
CPUS = st.sampled_from(("500m", "1", "2", "3"))


@st.composite
def losses(draw: st.DrawFn) -> tuple[list[Any], list[dict[str, Any]], int]:
    """A state with running pods of several priorities, manifests with as many, and the priority that decides."""
    sizes = draw(st.lists(st.integers(1, 2), min_size=2, max_size=3))
    nodes = zoned(*sizes, cpu=draw(st.sampled_from(("4", "8"))))
    pods = []
    for number in range(draw(st.integers(2, 10))):
        on, owner = draw(st.sampled_from(nodes)).metadata.name, f"old-{draw(st.integers(0, 2))}"
        priority = draw(st.sampled_from(PRIORITIES))
        made = running(f"old-{number}", on, owner=owner, cpu=draw(CPUS), priority=priority)
        pods.append(made if draw(st.integers(0, 19)) else terminating_pod(made, 5.0, 5.0, preempted=False))
    chosen = draw(st.lists(st.sampled_from(PRIORITIES), min_size=1, max_size=3))
    workloads = []
    for number, value in enumerate(chosen):
        spec: dict[str, Any] = {"priorityClassName": f"p{value}"}
        if draw(st.booleans()):
            rule = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
            spec["topologySpreadConstraints"] = [{**rule, "labelSelector": {"matchLabels": {"app": f"new-{number}"}}}]
        kind = draw(st.sampled_from(("Deployment", "StatefulSet")))
        workloads.append(deployment(f"new-{number}", draw(st.integers(1, 3)), cpu=draw(CPUS), kind=kind, **spec))
    classes = [priority_class(f"p{value}", value) for value in PRIORITIES]
    return [*nodes, *pods], [*classes, *workloads], draw(st.sampled_from(chosen))


def test_a_pod_that_decides_may_be_evicted_though_it_kept_its_node() -> None:
    state = cluster(
        *zoned(1, 1, 1),
        running("high-0", "b0", owner="high", cpu="3", priority=500),
        running("low-0", "b0", owner="low", cpu="1"),
        running("full-0", "c0", owner="full", cpu="3500m", priority=500),
    )
    before = placed(state, deployment(replicas=1, cpu="3", nodeSelector={ZONE: "eu-1a"}))
    deciding_keys = {pod.keys[-1] for pod in before.workloads[0].pods}
    case = scenarios.cases(LOSE_ZONE, state)[1]
    with scenarios.play(case, before, deciding_keys) as part:
        assert fates(part) == {"web[0]": "Unschedulable"}


@settings(max_examples=settings.default.max_examples // 3, deadline=None)
@drawn(losses())
def test_leaving_pods_out_changes_no_outcome_of_deciding_pods(scene: tuple[list[Any], list[Any], int]) -> None:
    state, manifests, bound = scene
    before = placed(cluster(*state), *manifests)
    deciding_keys = {
        pod.keys[-1] for judged in before.workloads for pod in judged.pods if pod.keys and pod.info.priority >= bound
    }

    def outcomes(situation: Situation) -> list[tuple[str, str]]:
        return [
            (pod.name, pod.fate.value)  # where all are certain to find a node, nobody says which
            for judged in situation.workloads
            for pod in judged.pods
            if pod.info.priority >= bound
        ]

    for case in scenarios.cases(LOSE_ZONE, before.cluster):
        with scenarios.play(case, before) as whole:
            expected = outcomes(whole)
        with scenarios.play(case, before, deciding_keys) as part:
            assert outcomes(part) == expected


SURVIVES = [
    check("survives", documents.Survives(scenario="lose-zone", **options), f"survives-{number}")
    for number, options in enumerate(
        ({}, {"allow_preemption": True}, {"allow_pending": "priority < 1000", "allow_preemption": True})
    )
]


@settings(max_examples=settings.default.max_examples // 3, deadline=None)
@drawn(losses(), st.sampled_from(SURVIVES))
def test_a_report_has_the_same_bytes_whether_pods_are_left_out_or_not(
    scene: tuple[list[Any], list[Any], int], survives: documents.Check
) -> None:
    state, manifests, _ = scene

    def written() -> bytes:
        found = report(cluster(*state), manifests_of(*manifests), policy(survives, scenarios=[LOSE_ZONE]))
        return msgspec.json.encode(found)

    part = written()
    with patch.object(evaluations._Evaluation, "_decisive_keys", lambda self, rules: None):
        assert written() == part

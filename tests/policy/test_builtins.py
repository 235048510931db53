"""Every built-in check, sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from schedctl.api.durations import Duration
from schedctl.policy import documents
from schedctl.policy.builtins import JUDGES
from schedctl.policy.evaluations import Conditions
from schedctl.reports.checks import CheckResult
from schedctl.reports.metadata import Metadata
from schedctl.testing.builders import ZONE, cluster, node, pod
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

GPU = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
ELSEWHERE: dict[str, Any] = {"schedulerName": "volcano"}
HIGH = priority_class("high", 1000)
QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "few", "namespace": "shop"},
    "spec": {"hard": {"pods": "2"}},
}


def budget(least: int) -> dict[str, Any]:
    """A disruption budget of the pods of web."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"minAvailable": least, "selector": {"matchLabels": {"app": "web"}}},
    }


class Case(NamedTuple):
    """What is there, what comes, what is demanded, and what is said."""

    sentence: str
    state: Sequence[Any]
    manifests: Sequence[dict[str, Any]]
    builtin: str
    arguments: documents.Arguments
    outcomes: Sequence[str]
    message: str


SURVIVES = documents.Survives(scenario="lose-zone")
CASES = (
    # -- schedulable
    Case(
        "every pod on a node passes",
        zoned(1, 1),
        [deployment(replicas=2)],
        "schedulable",
        documents.Schedulable(),
        ["Passed"],
        "2 of 2 pods can be scheduled",
    ),
    Case(
        "a pod without a node is a violation",
        zoned(1),
        [deployment(replicas=3, cpu="2")],
        "schedulable",
        documents.Schedulable(),
        ["Violated"],
        "only 2 of 3 pods can be scheduled",
    ),
    Case(
        "a percentage lets some pods be pending",
        zoned(1),
        [deployment(replicas=3, cpu="2")],
        "schedulable",
        documents.Schedulable(min_percent=60),
        ["Passed"],
        "only 2 of 3 pods can be scheduled, needs 60 %",
    ),
    Case(
        "a pod that the API server rejects is a violation",
        zoned(1),
        [deployment(replicas=1, priorityClassName="nobody-knows")],
        "schedulable",
        documents.Schedulable(),
        ["Violated"],
        "0 of 1 pod can be scheduled",
    ),
    Case(
        "a pod of another scheduler is inconclusive",
        zoned(1),
        [deployment(replicas=1, **ELSEWHERE)],
        "schedulable",
        documents.Schedulable(),
        ["Inconclusive"],
        "0 of 1 pod can be scheduled; 1 inconclusive",
    ),
    Case(
        "a gated pod is a violation",
        zoned(1),
        [deployment(replicas=1, schedulingGates=[{"name": "example.com/wait"}])],
        "schedulable",
        documents.Schedulable(),
        ["Violated"],
        "0 of 1 pod can be scheduled",
    ),
    Case(
        "a workload without pods passes",
        zoned(1),
        [deployment(replicas=0)],
        "schedulable",
        documents.Schedulable(),
        ["Passed"],
        "it has 0 replicas",
    ),
    # -- no-preemption
    Case(
        "nobody evicted passes",
        zoned(1),
        [deployment(replicas=1)],
        "no-preemption",
        documents.NoPreemption(),
        ["Passed"],
        "would preempt 0 pods, none allowed",
    ),
    Case(
        "an eviction is a violation",
        [node("a"), running("old-0", "a", cpu="4")],
        [HIGH, deployment(replicas=1, cpu="4", priorityClassName="high")],
        "no-preemption",
        documents.NoPreemption(),
        ["Violated"],
        "would preempt 1 pod, none allowed",
    ),
    Case(
        "evictions up to a number pass",
        [node("a"), running("old-0", "a", cpu="4")],
        [HIGH, deployment(replicas=1, cpu="4", priorityClassName="high")],
        "no-preemption",
        documents.NoPreemption(max=1),
        ["Passed"],
        "would preempt 1 pod, at most 1 allowed",
    ),
    Case(
        "evictions of pods with a low priority do not count",
        [node("a"), running("old-0", "a", cpu="4", priority=-5)],
        [HIGH, deployment(replicas=1, cpu="4", priorityClassName="high")],
        "no-preemption",
        documents.NoPreemption(below_priority=0),
        ["Passed"],
        "would preempt 0 pods, none allowed",
    ),
    # -- spread
    Case(
        "pods in enough zones pass",
        zoned(1, 1, 1),
        [deployment(replicas=3)],
        "spread",
        documents.Spread(min_domains=3, max_skew=1),
        ["Passed"],
        "3 zones (eu-1a 1, eu-1b 1, eu-1c 1)",
    ),
    Case(
        "pods in too few zones are a violation",
        [*zoned(1, 1), node("c0", zone="eu-1c", taints=[GPU])],
        [deployment(replicas=4)],
        "spread",
        documents.Spread(min_domains=3),
        ["Violated"],
        "2 zones, needs 3 (eu-1a 2, eu-1b 2, eu-1c 0)",
    ),
    Case(
        "pods in uneven zones are a violation",
        [node("a0", zone="eu-1a", cpu="8"), node("b0", zone="eu-1b", cpu="1")],
        [deployment(replicas=4, cpu="900m")],
        "spread",
        documents.Spread(max_skew=1),
        ["Violated"],
        "2 zones, skew 2, at most 1 allowed (eu-1a 3, eu-1b 1)",
    ),
    Case(
        "pods of which nobody can tell are inconclusive where they could make the difference",
        zoned(1, 1, 1),
        [deployment(replicas=3, **ELSEWHERE)],
        "spread",
        documents.Spread(min_domains=3),
        ["Inconclusive"],
        "0 zones, needs 3 (eu-1a 0, eu-1b 0, eu-1c 0); 3 pods inconclusive",
    ),
    Case(
        "too few of them to make it are a violation",
        zoned(1, 1, 1),
        [deployment(replicas=2, **ELSEWHERE)],
        "spread",
        documents.Spread(min_domains=3),
        ["Violated"],
        "0 zones, needs 3 (eu-1a 0, eu-1b 0, eu-1c 0)",
    ),
    # -- survives
    Case(
        "room in the zones that are left passes in each case",
        zoned(1, 1, 1),
        [deployment(replicas=3)],
        "survives",
        SURVIVES,
        ["Passed", "Passed", "Passed"],
        "0 pods of 3 pending, none allowed",
    ),
    Case(
        "no room in the zones that are left is a violation",
        zoned(1, 1),
        [deployment(replicas=2, cpu="3")],
        "survives",
        SURVIVES,
        ["Violated", "Violated"],
        "1 pod of 2 pending, none allowed",
    ),
    Case(
        "pending pods up to a number pass",
        zoned(1, 1),
        [deployment(replicas=2, cpu="3")],
        "survives",
        documents.Survives(scenario="lose-zone", allow_pending="1"),
        ["Passed", "Passed"],
        "1 pod of 2 pending, at most 1 allowed",
    ),
    Case(
        "pods below a priority may be pending",
        zoned(1, 1),
        [deployment(replicas=2, cpu="3")],
        "survives",
        documents.Survives(scenario="lose-zone", allow_pending="priority < 1000"),
        ["Passed", "Passed"],
        "all of its pods may be pending",
    ),
    Case(
        "a pod that is pending already is a violation once, whatever the scenario makes of the others",
        [*zoned(1, 1), running("old-0", "a0", cpu="3")],
        [deployment(replicas=1, cpu="3", nodeSelector={ZONE: "eu-1b"}), deployment("app", 1, cpu="3")],
        "survives",
        documents.Survives(scenario="lose-zone"),
        ["Violated", "Passed", "Violated"],
        "1 pod of 1 pending, none allowed",
    ),
    Case(
        "room made by evictions is a violation unless they are allowed",
        [*zoned(1, 1), running("old-0", "b0", cpu="4")],
        [HIGH, deployment(replicas=1, cpu="4", priorityClassName="high")],
        "survives",
        SURVIVES,
        ["Violated", "Passed"],
        "survives only by preempting 1 pod",
    ),
    Case(
        "allowed evictions pass",
        [*zoned(1, 1), running("old-0", "b0", cpu="4")],
        [HIGH, deployment(replicas=1, cpu="4", priorityClassName="high")],
        "survives",
        documents.Survives(scenario="lose-zone", allow_preemption=True),
        ["Passed", "Passed"],
        "0 pods of 1 pending, none allowed",
    ),
    Case(
        "a pod that nobody makes again does not survive",
        zoned(1, 1),
        [bare("one", nodeSelector={ZONE: "eu-1a"})],
        "survives",
        SURVIVES,
        ["Violated", "Passed"],
        "1 pod of 1 pending, none allowed",
    ),
    Case(
        "a daemon is not missed where its node is gone",
        zoned(1, 1),
        [deployment(kind="DaemonSet")],
        "survives",
        SURVIVES,
        ["Passed", "Passed"],
        "0 pods of 1 pending, none allowed",
    ),
    Case(
        "a scenario that cannot be simulated is inconclusive",
        [node("a")],
        [deployment(replicas=1)],
        "survives",
        SURVIVES,
        ["Inconclusive"],
        f'lose-zone cannot be simulated: no node has a label "{ZONE}"',
    ),
    # -- headroom
    Case(
        "enough left in every zone passes for each",
        zoned(1, 1),
        [deployment(replicas=2, cpu="1")],
        "headroom",
        documents.Headroom(resource="cpu", percent=20, by=ZONE),
        ["Passed", "Passed"],
        "75 % of cpu free, needs 20 % (3 of 4)",
    ),
    Case(
        "too little left in one zone is a violation there",
        [node("a0", zone="eu-1a", cpu="1"), node("b0", zone="eu-1b")],
        [deployment(replicas=1, cpu="900m", nodeSelector={ZONE: "eu-1a"})],
        "headroom",
        documents.Headroom(resource="cpu", percent=20, by="zone"),
        ["Violated", "Passed"],
        "10 % of cpu free, needs 20 % (100m of 1000m)",
    ),
    Case(
        "a cordoned node has no room",
        [node("a"), node("b", unschedulable=True)],
        [deployment(replicas=1, cpu="3")],
        "headroom",
        documents.Headroom(resource="cpu", absolute="2"),
        ["Violated"],
        "1 of cpu free, needs 2",
    ),
    Case(
        "what only a cordoned node offers is not free",
        [node("a"), node("b", unschedulable=True, **{"nvidia.com/gpu": "2"})],
        [deployment(replicas=1)],
        "headroom",
        documents.Headroom(resource="nvidia.com/gpu", percent=10),
        ["Violated"],
        "0 % of nvidia.com/gpu free, needs 10 % (0 of 0)",
    ),
    Case(
        "pods of which nobody can tell are inconclusive where what they ask for could be missing",
        [node("a")],
        [deployment(replicas=2, cpu="1500m", **ELSEWHERE)],
        "headroom",
        documents.Headroom(resource="cpu", percent=50),
        ["Inconclusive"],
        "100 % of cpu free, needs 50 % (4 of 4)",
    ),
    Case(
        "room for more replicas passes",
        [node("a")],
        [deployment(replicas=1, cpu="1")],
        "headroom",
        documents.Headroom(replicas_of="deploy/web", absolute="3"),
        ["Passed"],
        "3 more replicas of deploy/web would fit",
    ),
    Case(
        "room for fewer replicas is a violation",
        [node("a")],
        [deployment(replicas=1, cpu="1")],
        "headroom",
        documents.Headroom(replicas_of="deploy/web", absolute="5"),
        ["Violated"],
        "only 3 more of deploy/web would fit, needs 5",
    ),
    Case(
        "more of a pod of the state can be asked about",
        [node("a"), pod("alone", on="a", cpu="1")],
        [deployment(replicas=1, cpu="1")],
        "headroom",
        documents.Headroom(replicas_of="pod/alone", absolute="2"),
        ["Passed"],
        "2 more replicas of pod/alone would fit",
    ),
    Case(
        "more of what is not there is inconclusive",
        [node("a")],
        [deployment(replicas=1)],
        "headroom",
        documents.Headroom(replicas_of="deploy/wbe", absolute="1"),
        ["Inconclusive"],
        "deploy/wbe is neither in the manifests nor in the cluster",
    ),
    Case(
        "where only a cordoned node offers a resource nothing can be said of its use",
        [node("a"), node("b", unschedulable=True, **{"nvidia.com/gpu": "2"})],
        [deployment(replicas=1)],
        "max-utilization",
        documents.MaxUtilization(resource="nvidia.com/gpu", percent=50),
        ["Inconclusive"],
        "no schedulable node offers nvidia.com/gpu",
    ),
    Case(
        "more replicas than a quota allows are a violation",
        [node("a")],
        [QUOTA, deployment(replicas=1, cpu="100m")],
        "headroom",
        documents.Headroom(replicas_of="deploy/web", absolute="2"),
        ["Violated"],
        "the ResourceQuota allows 1 more of deploy/web, needs 2",
    ),
    # -- placement
    Case(
        "pods on nodes with what they must have pass",
        [node("a", labels={"pool": "web"})],
        [deployment(replicas=1)],
        "placement",
        documents.Placement(must=documents.NodeDemand(node_selector={"pool": "web"})),
        ["Passed"],
        "1 pod on allowed nodes",
    ),
    Case(
        "a pod on a node without it is a violation",
        [node("a", labels={"pool": "spot"}), node("b", cpu="100m", labels={"pool": "web"})],
        [deployment(replicas=1)],
        "placement",
        documents.Placement(must=documents.NodeDemand(node_selector={"pool": "web"})),
        ["Violated"],
        "1 of 1 pod on a node that is not allowed",
    ),
    Case(
        "a pod on a node with a taint that it must not have is a violation",
        [node("a", taints=[GPU])],
        [deployment(replicas=1, tolerations=[{"operator": "Exists"}])],
        "placement",
        documents.Placement(must_not=documents.NodeDemand(taint="dedicated=gpu")),
        ["Violated"],
        "1 of 1 pod on a node that is not allowed",
    ),
    Case(
        "a pending pod is nowhere it may not be, for a policy that ignores pending pods",
        [node("a", taints=[GPU])],
        [deployment(replicas=1)],
        "placement",
        documents.Placement(must_not=documents.NodeDemand(taint="dedicated"), ignore_pending=True),
        ["Passed"],
        "0 pods on allowed nodes",
    ),
    # -- no-regression
    Case(
        "nothing that ran is missing",
        [node("a"), running("old-0", "a")],
        [deployment(replicas=1)],
        "no-regression",
        documents.NoRegression(),
        ["Passed"],
        "all 1 pod that ran before run",
    ),
    Case(
        "an eviction is a regression",
        [node("a"), running("old-0", "a", cpu="4")],
        [HIGH, deployment(replicas=1, cpu="4", priorityClassName="high")],
        "no-regression",
        documents.NoRegression(),
        ["Violated"],
        "1 regression among 1 pod that ran before",
    ),
    # -- drain-safe
    Case(
        "a node whose pods find room elsewhere can be drained",
        zoned(1, 1),
        [deployment(replicas=1)],
        "drain-safe",
        documents.DrainSafe(node_selector={ZONE: "eu-1a"}),
        ["Passed"],
        "can be drained; 1 pod would move",
    ),
    Case(
        "a node whose pods find no room elsewhere cannot",
        [node("a")],
        [deployment(replicas=1)],
        "drain-safe",
        documents.DrainSafe(),
        ["Violated"],
        "1 of 1 pod cannot be evicted and placed elsewhere",
    ),
    Case(
        "a pod that nobody makes again keeps a node from being drained",
        zoned(1, 1),
        [bare("one")],
        "drain-safe",
        documents.DrainSafe(),
        ["Violated"],
        "kubectl drain would refuse it: "
        "cannot delete Pods that declare no controller (use --force to override): shop/one",
    ),
    Case(
        "a pod that another scheduler would place makes it inconclusive",
        [*zoned(1, 1), running("old-0", "a0", **ELSEWHERE)],
        [deployment(replicas=1, nodeSelector={ZONE: "eu-1b"})],
        "drain-safe",
        documents.DrainSafe(node_selector={ZONE: "eu-1a"}),
        ["Inconclusive"],
        "1 pod inconclusive",
    ),
    Case(
        "a disruption budget lets go of a pod that was placed a moment ago",
        zoned(1, 1),
        [budget(1), deployment(replicas=2)],
        "drain-safe",
        documents.DrainSafe(node_selector={ZONE: "eu-1a"}),
        ["Passed"],
        "can be drained; 1 pod would move",
    ),
    Case(
        "a disruption budget that needs all pods does not",
        zoned(1, 1),
        [budget(2), deployment(replicas=2)],
        "drain-safe",
        documents.DrainSafe(node_selector={ZONE: "eu-1a"}),
        ["Violated"],
        "1 of 1 pod cannot be evicted and placed elsewhere",
    ),
    # -- max-nodes
    Case(
        "few nodes pass",
        zoned(2),
        [deployment(replicas=2)],
        "max-nodes",
        documents.MaxNodes(count=2),
        ["Passed"],
        "on 2 nodes, at most 2 allowed",
    ),
    Case(
        "more nodes are a violation",
        zoned(3),
        [deployment(replicas=3)],
        "max-nodes",
        documents.MaxNodes(count=2),
        ["Violated"],
        "on 3 nodes, at most 2 allowed",
    ),
    # -- max-utilization
    Case(
        "little requested passes",
        [node("a")],
        [deployment(replicas=1, cpu="2")],
        "max-utilization",
        documents.MaxUtilization(resource="cpu", percent=50),
        ["Passed"],
        "50 % of cpu requested, at most 50 % allowed (2 of 4)",
    ),
    Case(
        "much requested is a violation",
        [node("a")],
        [deployment(replicas=1, cpu="3")],
        "max-utilization",
        documents.MaxUtilization(resource="cpu", percent=50),
        ["Violated"],
        "75 % of cpu requested, at most 50 % allowed (3 of 4)",
    ),
)


def outcome(case: Case) -> list[CheckResult]:
    """What a case comes to."""
    judged = policy(check(case.builtin, case.arguments), scenarios=[LOSE_ZONE])
    return report(cluster(*case.state), manifests_of(*case.manifests), judged).results


@pytest.mark.parametrize("case", CASES, ids=[f"{case.builtin}: {case.sentence}" for case in CASES])
def test_a_built_in_judges_a_workload(case: Case) -> None:
    results = outcome(case)
    assert [result.outcome.value for result in results] == list(case.outcomes)
    assert results[0].message == case.message


def test_there_is_a_judge_for_every_built_in_that_policies_know() -> None:
    assert list(JUDGES) == list(documents.BUILTINS)


def test_every_built_in_has_cases() -> None:
    elsewhere = {"snapshot-fresh", "gang-schedulable"}
    assert {case.builtin for case in CASES} | elsewhere == set(documents.BUILTINS)


def test_a_missing_zone_is_explained_by_its_nodes_with_a_hint_that_was_tried() -> None:
    state = [*zoned(1, 1, memory="8Gi"), node("c0", zone="eu-1c", memory="1Gi"), node("c1", zone="eu-1c", taints=[GPU])]
    judged = policy(check("spread", documents.Spread(min_domains=3)))
    (result,) = report(cluster(*state), manifests_of(deployment(replicas=4, memory="2Gi")), judged).results
    assert result.reasons == [
        "eu-1c: 2 nodes rejected: 1 Insufficient memory (1Gi free of 1Gi (0 used), 1Gi missing),"
        " 1 node(s) had untolerated taint(s) (taint dedicated=gpu:NoSchedule)"
    ]
    assert "fits in eu-1c if memory <= 1Gi" in result.hints
    assert result.location.path == "spec.template.spec.containers[0].resources.requests.memory"


def test_a_feasible_zone_is_explained_by_what_keeps_the_pods_out_of_it() -> None:
    judged = policy(check("spread", documents.Spread(min_domains=2)))
    (result,) = report(cluster(*zoned(1, 1)), manifests_of(deployment(replicas=1)), judged).results
    assert result.reasons == ["eu-1b: b0 would take one more pod; nothing spreads its pods over " + ZONE]
    assert result.hints == ["it has 1 pod, fewer than 2 zones"]


def test_pods_tied_to_a_node_are_in_no_other_zone_because_of_that() -> None:
    judged = policy(check("spread", documents.Spread(min_domains=2)))
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    tied = deployment(replicas=2, nodeName="a0", topologySpreadConstraints=[constraint])
    (result,) = report(cluster(*zoned(1, 1)), manifests_of(tied), judged).results
    assert result.reasons == ["eu-1b: nodeName ties its pods to a0; no scheduler chooses a node"]
    assert result.location.path == "spec.template.spec.nodeName"


def test_pending_pods_are_explained_with_the_field_that_decides() -> None:
    judged = policy(check("schedulable", documents.Schedulable()))
    (result,) = report(cluster(*zoned(2)), manifests_of(deployment(replicas=2, cpu="5")), judged).results
    assert result.reasons[0] == "web[0..1]: unschedulable, 0/2 nodes feasible"
    assert result.reasons[1].strip().startswith("2 nodes: Insufficient cpu")
    assert result.location.path == "spec.template.spec.containers[0].resources.requests.cpu"
    assert any("cpu" in hint for hint in result.hints)


def test_a_field_that_admission_filled_in_is_no_place() -> None:
    judged = policy(check("schedulable", documents.Schedulable()))
    (result,) = report(cluster(node("a", taints=[GPU])), manifests_of(deployment(replicas=1)), judged).results
    assert result.reasons[1].strip().startswith("1 node: node(s) had untolerated taint(s)")
    assert result.location.path == ""


@pytest.mark.parametrize(
    ("taken", "outcome"),
    [
        pytest.param("2026-03-01T10:00:00Z", "Passed", id="a state of two hours ago passes"),
        pytest.param("2026-02-27T10:00:00Z", "Violated", id="a state of two days ago does not"),
        pytest.param("", "Inconclusive", id="a state of no date is inconclusive"),
        pytest.param("2026-03-01T14:00:00Z", "Inconclusive", id="a state of a time to come is inconclusive"),
    ],
)
def test_a_snapshot_is_fresh(taken: str, outcome: str) -> None:
    noon = 1772366400.0
    conditions = Conditions(metadata=Metadata(state_taken=taken), now=lambda: noon)
    judged = policy(check("snapshot-fresh", documents.SnapshotFresh(max_age=Duration.parse("24h"))))
    (result,) = report(cluster(node("a")), manifests_of(deployment()), judged, conditions=conditions).results
    assert result.outcome.value == outcome


def test_a_release_that_replaces_more_pods_than_come_up_again_is_a_regression() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "u", "controller": True}
    labels = {"app": "web"}
    objects = manifests_of(deployment(replicas=2, cpu="1", namespace="default")).objects
    existing = objects[0].object
    old = [
        pod(
            f"web-abc-{number}",
            on="a",
            cpu="1",
            labels=labels,
            metadata={"ownerReferences": [{**owner, "kind": "ReplicaSet", "name": "web-abc", "uid": "rs"}]},
        )
        for number in range(2)
    ]
    replica_set = manifests_of(
        {
            **deployment("web", 2, namespace="default", kind="ReplicaSet"),
            "metadata": {"name": "web-abc", "namespace": "default", "uid": "rs", "ownerReferences": [owner]},
        }
    )
    state = cluster(node("a", cpu="4"), existing, replica_set.objects[0].object, *old)
    judged = policy(check("no-regression", documents.NoRegression()))
    (result,) = report(state, manifests_of(deployment(replicas=2, cpu="3", namespace="default")), judged).results
    assert result.outcome.value == "Violated"
    assert result.reasons[0] == "Deployment default/web: 2 pods ran before, 1 of the new ones run"

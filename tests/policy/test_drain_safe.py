"""``drain-safe`` tells every reason, takes kubectl's flags, and counts only pods that the policy matches."""

from __future__ import annotations

from typing import Any

import pytest

from schedctl.policy import documents
from schedctl.reports.checks import CheckResult
from schedctl.testing.builders import cluster, node, pod
from tests.policy.evaluating import bare, check, deployment, manifests_of, outcomes_of, policy, report, running, zoned

BUDGET: dict[str, Any] = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
}
UNMANAGED = "kubectl drain would refuse it: cannot delete Pods that declare no controller (use --force to override): "
SCRATCH = {"volumes": [{"name": "scratch", "emptyDir": {}}]}


def judge(
    state: list[Any], *manifests: dict[str, Any], match: documents.Match | None = None, **arguments: Any
) -> CheckResult:
    """The result for the node that has pods."""
    drained = policy(check("drain-safe", documents.DrainSafe(**arguments)), match=match or documents.Match())
    (result,) = report(cluster(*state), manifests_of(*manifests), drained).results
    return result


def test_a_pod_without_a_controller_does_not_hide_a_disruption_budget() -> None:
    result = judge([node("a"), node("b", unschedulable=True)], BUDGET, deployment(replicas=1), bare("one"))
    assert result.outcome.value == "Violated"
    assert result.message == f"{UNMANAGED}shop/one; 1 of 2 pods cannot be evicted and placed elsewhere"
    assert len(result.reasons) == 1
    assert "eviction refused" in result.reasons[0]
    assert "disruption budget web" in result.reasons[0]


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
@pytest.mark.parametrize(
    ("replicas", "least", "most", "budget", "outcome"),
    [
        pytest.param(1, 3, 6, {"minAvailable": "100%"}, "Violated", id="all of the autoscaler's minimum have to stay"),
        pytest.param(None, 3, 6, {"minAvailable": "100%"}, "Violated", id="also where the manifest has no replicas"),
        pytest.param(30, 3, 6, {"maxUnavailable": 1}, "Passed", id="one of the autoscaler's maximum may go"),
    ],
)
def test_a_disruption_budget_counts_by_the_replicas_of_the_autoscaler(
    kind: str, replicas: int | None, least: int, most: int, budget: dict[str, Any], outcome: str
) -> None:
    web = deployment(replicas=1, kind=kind, cpu="100m")
    web["spec"]["replicas"] = replicas
    scaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": kind, "name": "web"},
            "minReplicas": least,
            "maxReplicas": most,
        },
    }
    selected = {**BUDGET, "spec": {"selector": BUDGET["spec"]["selector"], **budget}}
    drained = policy(check("drain-safe", documents.DrainSafe()))
    results = report(cluster(node("a"), node("b")), manifests_of(selected, scaler, web), drained).results
    assert {result.outcome.value for result in results} == {outcome}


def test_a_disruption_budget_beside_a_pod_without_a_controller_is_another_violation() -> None:
    state = [node("a"), node("b", unschedulable=True)]
    before = judge(state, bare("one"), force=False)
    after = judge(state, BUDGET, deployment(replicas=1), bare("one"))
    assert before.subject == after.subject
    assert before.fingerprint != after.fingerprint


def test_every_reason_of_kubectl_is_told() -> None:
    result = judge(
        [node("a"), node("b", unschedulable=True)],
        bare("one"),
        deployment(replicas=1, **SCRATCH),
        delete_empty_dir_data=False,
    )
    told = " ".join([result.message, *result.reasons])
    assert "declare no controller" in told
    assert "Pods with local storage (use --delete-emptydir-data to override)" in told


def test_pods_with_one_cause_are_told_in_one_line() -> None:
    result = judge([node("a")], deployment(replicas=12, cpu="100m"))
    assert result.message == "12 of 12 pods cannot be evicted and placed elsewhere"
    assert len(result.reasons) == 1
    assert " more: its replacement would stay pending" in result.reasons[0]


def test_with_force_pods_without_a_controller_may_be_lost() -> None:
    result = judge([node("a"), node("b")], bare("one"), force=True)
    assert (result.outcome.value, result.message) == ("Passed", "can be drained; 0 pods would move, 1 would be lost")


def test_with_force_a_pending_replacement_is_a_violation_still() -> None:
    result = judge([node("a")], bare("one"), deployment(replicas=1), force=True)
    assert (result.outcome.value, result.message) == ("Violated", "1 of 2 pods cannot be evicted and placed elsewhere")


@pytest.mark.parametrize(
    ("option", "spec", "outcome"),
    [
        pytest.param({}, SCRATCH, "Passed", id="emptyDir volumes may be lost unless the policy says otherwise"),
        pytest.param({"delete_empty_dir_data": False}, SCRATCH, "Violated", id="they may not if the policy says so"),
    ],
)
def test_the_data_of_empty_dirs(option: dict[str, Any], spec: dict[str, Any], outcome: str) -> None:
    result = judge([node("a"), node("b", cpu="1")], deployment(replicas=1, **spec), **option)
    assert result.outcome.value == outcome


@pytest.mark.parametrize(
    ("ignored", "outcome"),
    [
        pytest.param(True, ["Passed"], id="pods of DaemonSets stay unless the policy says otherwise"),
        pytest.param(False, ["Violated"], id="they keep a node from being drained if it says so"),
    ],
)
def test_pods_of_daemon_sets(ignored: bool, outcome: list[str]) -> None:
    drained = check("drain-safe", documents.DrainSafe(ignore_daemon_sets=ignored))
    found = report(cluster(node("a")), manifests_of(deployment("agent", kind="DaemonSet")), policy(drained))
    assert [result.outcome.value for result in found.results] == outcome


def test_a_pod_of_the_state_that_the_policy_does_not_match_does_not_count() -> None:
    state = [node("a", labels={"pool": "web"}), node("b", cpu="1"), pod("alone", on="a")]
    match = documents.Match(namespaces=("shop",))
    pinned = documents.DrainSafe(node_selector={"pool": "web"})
    for chosen, outcome, message in (
        (match, "Passed", "can be drained; 0 pods would move; 1 pod not matched by the policy"),
        (documents.Match(), "Violated", f"{UNMANAGED}default/alone"),
    ):
        drained = policy(check("drain-safe", pinned), match=chosen)
        web = deployment(replicas=1, nodeSelector={"kubernetes.io/hostname": "b"})
        (result,) = report(cluster(*state), manifests_of(web), drained).results
        assert (result.outcome.value, result.message) == (outcome, message)


def test_a_pod_of_the_state_is_matched_by_its_controller() -> None:
    state = [node("a"), running("old-0", "a", kind="StatefulSet", owner="old")]
    web = deployment(replicas=1, cpu="100m")
    assert judge(state, web, match=documents.Match(kinds=("Deployment",))).message.startswith("1 of 1 pod cannot")
    assert judge(state, web, match=documents.Match(kinds=("Deployment", "StatefulSet"))).message.startswith("2 of 2")


def test_a_pod_of_the_manifests_that_the_policy_does_not_match_does_not_count() -> None:
    state = [node("a"), node("b", unschedulable=True)]
    result = judge(state, deployment(replicas=1), bare("one"), match=documents.Match(kinds=("Pod",)))
    assert result.message == f"{UNMANAGED}shop/one"


def test_nodes_that_a_scenario_removes_are_no_mistake_of_the_policy() -> None:
    removed = documents.Scenario("without-a", changes=({"removeNode": "a"},))
    drained = check("drain-safe", documents.DrainSafe(node_selector={"pool": "web"}), scenarios=("without-a",))
    found = report(
        cluster(node("a", labels={"pool": "web"}), node("b")),
        manifests_of(deployment(replicas=1)),
        policy(drained, scenarios=[removed]),
    )
    assert [(result.message, result.hints) for result in found.results] == [
        ("no node has pool=web", ["without-a removes them"])
    ]


def test_pods_without_a_node_leave_open_which_nodes_have_to_be_drained() -> None:
    state = cluster(*zoned(1, 1))
    found = report(
        state, manifests_of(deployment(replicas=2, cpu="64")), policy(check("drain-safe", documents.DrainSafe()))
    )
    assert outcomes_of(found.results) == [
        ("the run", "Inconclusive", "schedctl cannot tell which nodes would run 2 pods")
    ]

"""Namespaces and quotas: what checks of scope namespace and quota see of them, and what is left in them."""

from __future__ import annotations

from typing import Any

import pytest

from schedctl.policy import documents
from schedctl.policy.documents import Headroom, Scenario, Scope
from schedctl.policy.evaluations import Conditions
from schedctl.reports.checks import CheckReport
from schedctl.testing.builders import cluster, node
from tests.policy.evaluating import check, deployment, manifests_of, outcomes_of, policy, report

SHOP = "Namespace shop"


def quota(name: str = "team", namespace: str = "shop", **more: Any) -> dict[str, Any]:
    """A quota on 4 cpus and 10 pods, unless its spec says otherwise."""
    spec = {"hard": {"requests.cpu": "4", "pods": "10"}, **more}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def team(name: str, of: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": of}}}


def asking(text: str, scope: Scope, **more: Any) -> documents.Check:
    return documents.Check(
        name="asks", scope=scope, validations=(documents.Validation(documents.Expression(text)),), **more
    )


def judge(wanted: documents.Check, *objects: dict[str, Any], **more: Any) -> CheckReport:
    """Judge objects on two nodes of 8 cpus."""
    state = cluster(node("a", cpu="8"), node("b", cpu="8"))
    scenarios = more.pop("scenarios", ())
    return report(state, manifests_of(*objects), policy(wanted, scenarios=scenarios), **more)


EXPRESSIONS: dict[str, tuple[str, Scope, str]] = {
    "what is used of a quota includes the manifests": ("quota.used['requests.cpu'] == 1500", Scope.QUOTA, "Passed"),
    "what a quota allows is in millicores and whole units": (
        "quota.hard['requests.cpu'] == 4000 && quota.hard['pods'] == 10",
        Scope.QUOTA,
        "Passed",
    ),
    "a quota that is used up too far is violated": (
        "percent(quota.used['pods'], quota.hard['pods']) <= 20",
        Scope.QUOTA,
        "Violated",
    ),
    "a quota knows its namespace": ("namespaceObject.labels['team'] == 'red'", Scope.QUOTA, "Passed"),
    "a namespace has what its pods request": ("namespaceObject.requested['cpu'] == 1500", Scope.NAMESPACE, "Passed"),
    "a namespace has what its quotas leave, by the names that pods request": (
        "namespaceObject.headroom['cpu'] == 2500 && namespaceObject.headroom['pods'] == 7",
        Scope.NAMESPACE,
        "Passed",
    ),
    "a resource that no quota limits has no headroom, which is no answer": (
        "namespaceObject.headroom['memory'] > 0",
        Scope.NAMESPACE,
        "Inconclusive",
    ),
    "a namespace has its quotas": ("namespaceObject.quotas.map(q, q.name) == ['team']", Scope.NAMESPACE, "Passed"),
    "a pod sees its namespace": ("namespaceObject.labels['team'] == pod.labels['app']", Scope.POD, "Violated"),
    "a workload sees its namespace": ("namespaceObject.pods.total == workload.replicas", Scope.WORKLOAD, "Passed"),
    "a run sees all namespaces and quotas": (
        "namespaces.exists(n, n.name == 'shop') && quotas.all(q, q.used['pods'] == 3)",
        Scope.RUN,
        "Passed",
    ),
}


@pytest.mark.parametrize(("text", "scope", "outcome"), EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_expressions_see_namespaces_and_quotas_after_the_run(text: str, scope: Scope, outcome: str) -> None:
    found = judge(asking(text, scope), team("shop", "red"), quota(), deployment(replicas=3))
    assert [result.outcome for result in found.results] == [outcome]


def test_results_are_about_the_quota_and_stand_where_it_is_written() -> None:
    found = judge(asking("false", Scope.QUOTA), quota(), deployment(replicas=1))
    (result,) = found.results
    assert (result.subject, result.kind, result.namespace) == ("ResourceQuota shop/team", "ResourceQuota", "shop")
    assert (result.location.file, result.location.line) == ("release.json", 1)


def test_a_quota_on_its_own_is_judged() -> None:
    found = judge(asking("quota.hard['pods'] >= 20", Scope.QUOTA), quota())
    assert [(result.subject, result.outcome) for result in found.results] == [("ResourceQuota shop/team", "Violated")]


def test_a_namespace_without_a_quota_is_no_pass_of_a_check_of_quotas() -> None:
    text = "quota.used['pods'] <= quota.hard['pods']"
    (result,) = judge(asking(text, Scope.QUOTA), deployment(replicas=1)).results
    assert (result.subject, result.outcome) == (SHOP, "Inconclusive")
    assert result.message == "the state has no ResourceQuota of this namespace"
    assert judge(asking(text, Scope.QUOTA, allow_unknown_names=True), deployment(replicas=1)).results == []


def test_the_labels_of_a_namespace_that_is_not_in_the_state_are_unknown() -> None:
    (result,) = judge(asking("namespaceObject.labels['team'] == 'red'", Scope.NAMESPACE), deployment()).results
    assert result.outcome == "Inconclusive"
    assert "the state has no Namespace object" in result.message


def test_pods_that_a_quota_rejects_leave_the_namespace_in_doubt() -> None:
    # 3 of 4 pods are created, and use 3 of 4 cpus; the fourth would be over it.
    objects = quota(hard={"requests.cpu": "3500m"}), deployment(replicas=4, cpu="1")
    doubted, judged = (
        judge(asking(text, Scope.NAMESPACE), *objects).results[0]
        for text in (
            "namespaceObject.headroom['cpu'] >= 500",
            "namespaceObject.rejected == 0 && namespaceObject.headroom['cpu'] >= 500",
        )
    )
    assert (doubted.outcome, judged.outcome) == ("Inconclusive", "Violated")
    assert "pods that would not exist (web[3]) count in no namespace" in doubted.message


def test_where_admission_counts_no_quotas_what_is_used_is_unknown() -> None:
    conditions = Conditions(disabled=("ResourceQuota",))
    (result,) = judge(
        asking("quota.used['pods'] < 5", Scope.QUOTA), quota(), deployment(), conditions=conditions
    ).results
    assert result.outcome == "Inconclusive"
    assert "the use of the quota is not counted" in result.message


SCENARIOS = {
    "pods that come back are counted already": ({"drain": "a"}, "Passed"),
    "nobody counts pods of another number of replicas": ({"scale": {"deploy/shop/web": 5}}, "Inconclusive"),
}


@pytest.mark.parametrize(("change", "outcome"), SCENARIOS.values(), ids=SCENARIOS)
def test_quotas_in_a_scenario(change: dict[str, Any], outcome: str) -> None:
    wanted = asking("quota.used['pods'] == 3", Scope.QUOTA, scenarios=("changed",))
    found = judge(wanted, quota(), deployment(replicas=3), scenarios=[Scenario("changed", changes=(change,))])
    assert [result.outcome for result in found.results] == [outcome]


HEADROOM: dict[str, tuple[Headroom, str, str, str]] = {
    "what the quota leaves is enough": (
        Headroom(resource="cpu", percent=60, by_namespace=True),
        SHOP,
        "Passed",
        "62.5 % of cpu free, needs 60 % (2500m of 4000m)",
    ),
    "what the quota leaves is too little": (
        Headroom(resource="cpu", absolute="3", by_namespace=True),
        SHOP,
        "Violated",
        "2500m of cpu free, needs 3000m",
    ),
    "no quota limits the resource": (
        Headroom(resource="memory", percent=10, by_namespace=True),
        SHOP,
        "Inconclusive",
        "no ResourceQuota of the namespace limits what all of its pods request of memory",
    ),
    "what the pods of a team leave of its limit is enough": (
        Headroom(resource="cpu", percent=20, by_pod_label="team", limits={"red": "2"}),
        "pods with team=red",
        "Passed",
        "25 % of cpu free, needs 20 % (500m of 2000m)",
    ),
    "what the pods of a team leave of its limit is too little": (
        Headroom(resource="cpu", percent=30, by_pod_label="team", limits={"red": "2"}),
        "pods with team=red",
        "Violated",
        "25 % of cpu free, needs 30 % (500m of 2000m)",
    ),
    "a team has no limit": (
        Headroom(resource="cpu", percent=20, by_pod_label="team", limits={"rad": "2"}),
        "pods with team=red",
        "Inconclusive",
        "no limit for pods with team=red",
    ),
}


@pytest.mark.parametrize(("arguments", "subject", "outcome", "message"), HEADROOM.values(), ids=HEADROOM)
def test_headroom_by_namespace_and_by_a_label_of_pods(
    arguments: Headroom, subject: str, outcome: str, message: str
) -> None:
    found = judge(check("headroom", arguments), quota(), deployment(replicas=3, labels={"team": "red"}))
    assert outcomes_of(found.results) == [(subject, outcome, message)]


def test_pods_without_the_label_have_no_limit() -> None:
    arguments = Headroom(resource="cpu", percent=20, by_pod_label="team", limits={"red": "2"})
    (result,) = judge(check("headroom", arguments), deployment()).results
    assert (result.subject, result.outcome) == ("pods without team", "Inconclusive")


def test_a_rejected_pod_leaves_headroom_in_doubt() -> None:
    arguments = Headroom(resource="cpu", absolute="500m", by_namespace=True)
    objects = quota(hard={"requests.cpu": "3500m"}), deployment(replicas=4, cpu="1")
    (result,) = judge(check("headroom", arguments), *objects).results
    assert (result.outcome, result.message) == (
        "Inconclusive",
        "500m of cpu free, needs 500m, without pods that would not exist (web[3])",
    )

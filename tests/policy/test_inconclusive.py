"""What nobody can tell, or nobody has looked at, is never a pass."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from schedctl.errors import ConfigError, Problem
from schedctl.policy import documents, reading
from schedctl.policy.evaluations import Conditions
from schedctl.policy.summaries import fails
from schedctl.reports.checks import Acceptance, CheckReport
from schedctl.sources import Manifests
from schedctl.testing.builders import ZONE, cluster, node
from tests.cluster.volume_stories import claim, storage_class
from tests.cluster.volume_stories import pod as claiming_pod
from tests.policy.evaluating import (
    LOSE_ZONE,
    check,
    deployment,
    manifests_of,
    outcomes_of,
    policy,
    priority_class,
    report,
    running,
    zoned,
)


def asking(text: str, scope: documents.Scope) -> documents.Check:
    return documents.Check(name="asks", scope=scope, validations=(documents.Validation(documents.Expression(text)),))


def outcomes(found: CheckReport) -> list[str]:
    return [result.outcome.value for result in found.results]


def left(**more: Any) -> dict[str, Any]:
    """A Deployment of one pod, left to another scheduler."""
    return deployment("web", 1, schedulerName="volcano", **more)


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("!pod.scheduled || pod.node.zone != 'eu-1a'", documents.Scope.POD),
        ("!has(pod.node)", documents.Scope.POD),
        ("workload.zones.all(zone, workload.zones[zone] < 2)", documents.Scope.POD),
        ("workload.pods.all(p, !p.scheduled)", documents.Scope.WORKLOAD),
        ("workload.zones.all(zone, workload.zones[zone] < 2)", documents.Scope.WORKLOAD),
        ("result.preemptions == 0", documents.Scope.RUN),
        ("result.pods.pending <= baseline.pods.pending + 1", documents.Scope.RUN),
        ("node.free['cpu'] > 0", documents.Scope.NODE),
        ("nodes.exists(n, n.free['cpu'] > 0)", documents.Scope.RUN),
        ("variables.where == 0", documents.Scope.WORKLOAD),
    ],
)
def test_an_expression_about_where_pods_go_of_which_nobody_can_tell_is_inconclusive(
    text: str, scope: documents.Scope
) -> None:
    where = documents.Variable("where", documents.Expression("workload.ready"))
    found = report(cluster(node("a")), manifests_of(left()), policy(asking(text, scope), variables=(where,)))
    assert set(outcomes(found)) == {"Inconclusive"}
    assert found.results[0].message == "the expression cannot be evaluated: schedctl cannot tell where web[0] would go"


@pytest.mark.parametrize(
    ("text", "scope", "outcome"),
    [
        ("pod.labels['app'] == 'web'", documents.Scope.POD, "Passed"),
        ("pod.labels['app'] == 'api'", documents.Scope.POD, "Violated"),
        ("pod.inconclusive || pod.scheduled", documents.Scope.POD, "Passed"),
        ("workload.pods.all(p, p.inconclusive)", documents.Scope.WORKLOAD, "Passed"),
        ("node.unschedulable == false", documents.Scope.NODE, "Passed"),
        ("baseline.pods.total == 0", documents.Scope.RUN, "Passed"),
    ],
)
def test_an_expression_about_something_else_or_about_inconclusive_is_evaluated(
    text: str, scope: documents.Scope, outcome: str
) -> None:
    assert outcomes(report(cluster(node("a")), manifests_of(left()), policy(asking(text, scope)))) == [outcome]


def test_a_clear_pod_is_judged_beside_unclear_ones() -> None:
    found = report(
        cluster(node("a")),
        manifests_of(left(), deployment("api", 1)),
        policy(asking("pod.scheduled", documents.Scope.POD)),
    )
    assert outcomes(found) == ["Inconclusive", "Passed"]


@pytest.mark.parametrize(
    "text", ["variables.?x.orValue(true)", "!has(variables.x)", "cel.bind(v, variables, !has(v.x))"]
)
def test_a_variable_that_fails_is_not_one_that_is_missing(text: str) -> None:
    failing = documents.Variable("x", documents.Expression("pod.labels['none'] == 'x'"))
    found = report(
        cluster(node("a")),
        manifests_of(deployment(replicas=1)),
        policy(asking(text, documents.Scope.POD), variables=(failing,)),
    )
    assert outcomes(found) == ["Inconclusive"]


def test_a_pending_pod_has_no_node() -> None:
    found = report(
        cluster(node("a")),
        manifests_of(deployment(replicas=1, cpu="9")),
        policy(asking("has(pod.node)", documents.Scope.POD)),
    )
    assert outcomes(found) == ["Violated"]


@pytest.mark.parametrize(
    ("builtin", "arguments"),
    [
        ("no-regression", documents.NoRegression()),
        ("drain-safe", documents.DrainSafe()),
        ("headroom", documents.Headroom(replicas_of="deploy/api", absolute="1")),
    ],
)
def test_a_built_in_of_the_cluster_is_inconclusive_where_nobody_can_tell_of_a_pod(builtin: str, arguments: Any) -> None:
    found = report(
        cluster(*zoned(2)),
        manifests_of(left(), deployment("api", 1)),
        policy(check(builtin, arguments)),
    )
    assert outcomes(found)[-1] == "Inconclusive"


def test_a_selector_of_nodes_that_selects_none_judges_nothing() -> None:
    drained = check("drain-safe", documents.DrainSafe(node_selector={"pool": "gpu"}))
    state = cluster(node("a", labels={"pool": "web"}))
    found = report(state, manifests_of(deployment(replicas=1)), policy(drained))
    assert outcomes_of(found.results) == [("the run", "Inconclusive", "no node has pool=gpu")]


def test_a_check_without_results_is_worth_a_note() -> None:
    never = documents.Check(
        name="never", scope=documents.Scope.POD, validations=(documents.Validation(documents.Expression("true")),)
    )
    only = {"kind": "DaemonSet", "nodeSelector": {"pool": "none"}}
    found = report(
        cluster(node("a")),
        manifests_of(deployment("agent", **only)),
        policy(never, check("schedulable", documents.Schedulable())),
    )
    assert found.notes == [
        "DaemonSet shop/agent: no node meets its node selector, affinity and tolerations; no pod of it was judged",
        "check never of policy policy applied to nothing",
    ]
    assert outcomes_of(found.results) == [("DaemonSet shop/agent", "Passed", "no node matches its pod template")]


def test_a_scenario_in_which_nothing_is_judged_is_worth_a_note() -> None:
    fits = check("schedulable", documents.Schedulable())
    found = report(cluster(node("a")), manifests_of(deployment()), policy(fits, scenarios=[LOSE_ZONE]))
    assert found.notes == ["scenario lose-zone of policy policy is not used by any check"]


def test_a_misspelt_namespace_of_a_match_is_worth_a_note() -> None:
    fits = check("schedulable", documents.Schedulable())
    misspelt = policy(fits, match=documents.Match(namespaces=("shpo", "batch")))
    found = report(cluster(node("a")), manifests_of(deployment()), misspelt, policy(fits))
    assert found.notes == [
        "policy policy matches namespace shpo, which has no pods; did you mean shop?",
        "policy policy matches nothing in the manifests",
    ]


def test_require_match_refuses_empty_manifests() -> None:
    with pytest.raises(ConfigError, match="matches nothing"):
        report(
            cluster(node("a")),
            Manifests(objects=[]),
            policy(check("schedulable", documents.Schedulable()), require_match=True),
        )


def unread(*problems: Problem) -> Manifests:
    """Manifests with a Deployment, and with what cannot be read."""
    return replace(manifests_of(deployment("api", 1)), problems=list(problems))


class Everything:
    """Accepts whatever it is asked about."""

    def acceptance(self, *arguments: Any) -> Acceptance:
        return Acceptance(by="policy", reason="all of it")

    def notes(self) -> list[str]:
        return []


def test_what_cannot_be_read_fails_whatever_is_accepted() -> None:
    lenient = check("schedulable", documents.Schedulable(), severity=documents.Severity.INFO)
    found = report(
        cluster(node("a")),
        unread(Problem("this is not JSON", "a.json", 1, 1)),
        policy(lenient),
        conditions=Conditions(fail_on="never", on_inconclusive="ignore"),
        accepting=Everything(),
    )
    refused = [result for result in found.results if result.refused]
    assert [(result.outcome.value, result.severity.value) for result in refused] == [("Violated", "error")]
    assert found.summary.exit_code == 1
    assert fails(refused[0], "never", "ignore")


def test_no_two_findings_share_a_fingerprint() -> None:
    broken = unread(Problem("this is not JSON", "a.json", 1, 1), Problem("this is not JSON", "b.json", 1, 1))
    found = report(cluster(node("a")), broken, policy(check("schedulable", documents.Schedulable())))
    assert len({result.fingerprint for result in found.results}) == len(found.results) == 3


def test_pods_of_owners_with_one_name_have_fingerprints_of_their_own() -> None:
    both = manifests_of(deployment(replicas=1), deployment(replicas=1, kind="ReplicaSet"))
    found = report(cluster(node("a")), both, policy(asking("true", documents.Scope.POD)))
    assert [result.name for result in found.results] == ["web[0]", "web[0]"]
    assert len({result.fingerprint for result in found.results}) == 2


def test_a_workload_whose_namespace_is_not_written_has_to_be_the_only_one() -> None:
    more = check("headroom", documents.Headroom(replicas_of="deploy/web", absolute="1"))
    both = manifests_of(deployment(replicas=1), deployment(replicas=1, namespace="other"))
    found = report(cluster(node("a")), both, policy(more))
    assert outcomes_of(found.results) == [
        ("the run", "Inconclusive", "deploy/web is in the namespaces shop, other"),
    ]
    assert found.results[0].hints == ["write the namespace, too: deploy/shop/web"]
    assert outcomes(report(cluster(node("a")), both, policy(more, match=documents.Match(namespaces=("other",))))) == [
        "Passed"
    ]


TAINT = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}


def test_nodes_that_keep_pods_away_have_no_room_unless_they_are_named() -> None:
    state = cluster(node("a", cpu="4"), node("cp", cpu="4", labels={"pool": "cp"}, taints=[TAINT]))
    named = {"pool": "cp"}
    checks = (
        check("headroom", documents.Headroom(resource="cpu", absolute="5"), "free"),
        check("headroom", documents.Headroom(resource="cpu", absolute="4", node_selector=named), "named"),
        check("max-utilization", documents.MaxUtilization(percent=60), "used"),
    )
    found = report(state, manifests_of(deployment(replicas=1, cpu="3")), policy(*checks))
    assert outcomes(found) == ["Violated", "Passed", "Violated"]


def test_pods_outside_every_domain_are_a_group_of_their_own() -> None:
    state = cluster(*zoned(1, 1, cpu="1"), node("x", cpu="8"))
    spread = check("spread", documents.Spread(min_domains=2, max_skew=1))
    found = report(state, manifests_of(deployment(replicas=8, cpu="800m")), policy(spread))
    assert outcomes(found) == ["Violated"]
    assert "without the label 6" in found.results[0].message


def test_a_domain_that_the_pods_leave_out_themselves_is_not_missed() -> None:
    rule = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "nodeTaintsPolicy": "Honor",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    state = cluster(*zoned(1, 1), node("c0", zone="eu-1c", taints=[TAINT]))
    web = manifests_of(deployment(replicas=4, topologySpreadConstraints=[rule]))
    spread = check("spread", documents.Spread(min_domains=2, max_skew=1))
    assert outcomes(report(state, web, policy(spread))) == ["Passed"]


def test_evictions_of_the_release_are_counted_in_a_scenario() -> None:
    state = cluster(*zoned(1, 1, cpu="2"), *(running(f"old-{at}", at, cpu="2") for at in ("a0", "b0")))
    high = [priority_class("high", 1000), deployment(replicas=1, cpu="2", priorityClassName="high")]
    counts = documents.Check(
        name="asks",
        scope=documents.Scope.RUN,
        scenarios=("baseline", "lose-zone"),
        validations=(documents.Validation(documents.Expression("result.preemptions >= 1")),),
    )
    found = report(state, manifests_of(*high), policy(counts, scenarios=[LOSE_ZONE]))
    assert set(outcomes(found)) == {"Passed"}


@pytest.mark.parametrize(
    ("check_of_it", "message"),
    [
        (
            "{name: c, builtin: survives, scenarios: [s], with: {scenario: s}}",
            "`scenarios` is not allowed for survives",
        ),
        ("{name: c, builtin: schedulable, scenarios: [s, s]}", 'duplicate "s"'),
    ],
)
def test_scenarios_that_would_be_ignored_are_refused(check_of_it: str, message: str) -> None:
    text = f"""apiVersion: schedctl.dev/v1alpha1
kind: CheckPolicy
metadata: {{name: p}}
spec:
  scenarios: [{{name: s, changes: [{{cordon: a}}]}}]
  checks: [{check_of_it}]
"""
    _, wrong = reading.policies_in(text.encode(), "p.yaml")
    assert [problem.message for problem in wrong] == [message]


@pytest.mark.parametrize(
    ("parameters", "outcome"),
    [
        pytest.param({"numberOfReplicas": "3"}, "Passed", id="nothing speaks against it"),
        pytest.param({"zone": "eu-1a"}, "Inconclusive", id="the class names a zone"),
    ],
)
def test_a_volume_that_a_provisioner_makes_is_assumed_to_be_reachable_from_everywhere_unless(
    parameters: dict[str, str], outcome: str
) -> None:
    disks = {**storage_class("disks"), "parameters": parameters}
    objects = manifests_of(disks, claim("shop", storage_class="disks"), claiming_pod("shop"))
    found = report(cluster(*zoned(1, 1)), objects, policy(check("schedulable", documents.Schedulable())))
    assert outcomes(found) == [outcome]
    said = found.notes if outcome == "Passed" else found.results[0].reasons
    assert any("every node can reach the volume of class disks" in text for text in said)


def test_a_check_of_the_run_sees_the_nodes_of_the_scenario_and_what_is_free_there() -> None:
    text = "nodes.filter(n, n.zone == 'eu-1a').map(n, n.free['cpu']).sum() == 3500 && nodes.size() == 2"
    scenarios = (documents.BASELINE, LOSE_ZONE.name)
    asked = policy(replace(asking(text, documents.Scope.RUN), scenarios=scenarios), scenarios=[LOSE_ZONE])
    found = report(cluster(*zoned(1, 1), running("old", "b0", cpu="4")), manifests_of(deployment(replicas=1)), asked)
    assert [(each.scenario, each.outcome.value) for each in found.results] == [
        ("baseline", "Passed"),
        ("lose-zone=eu-1a", "Violated"),
        ("lose-zone=eu-1b", "Violated"),
    ]

"""Whole evaluations: results in order, exit codes, acceptance, what takes no part, and no trace in the cluster."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from schedctl.cache.cluster import Cluster
from schedctl.errors import ConfigError
from schedctl.policy import documents
from schedctl.policy.evaluations import Conditions, evaluate
from schedctl.reports.checks import Acceptance, CheckOutcome, CheckResult, Severity
from schedctl.scheduler import Scheduler
from schedctl.sources import Terms, load_text
from schedctl.testing.builders import ZONE, cluster, node, pod
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

GPU = "nvidia.com/gpu"
BIG = (documents.Condition("big", documents.Expression("workload.replicas >= 3")),)


def expression(name: str, text: str, scope: documents.Scope = documents.Scope.POD, **more: Any) -> documents.Check:
    """A check by an expression."""
    message = more.pop("message", "")
    made = documents.Expression(more.pop("made")) if "made" in more else None
    return documents.Check(
        name=name, scope=scope, validations=(documents.Validation(documents.Expression(text), message, made),), **more
    )


SIX = policy(
    check("schedulable", documents.Schedulable(), "all-fit"),
    check("no-preemption", documents.NoPreemption(), "no-preemption"),
    check("spread", documents.Spread(min_domains=3, max_skew=1), "three-zones", conditions=BIG),
    check(
        "survives",
        documents.Survives(scenario="lose-zone", allow_pending="priority < 1000", allow_preemption=True),
        "zone-loss",
    ),
    check(
        "headroom", documents.Headroom(resource="cpu", percent=20, by=ZONE), "cpu-headroom", severity=Severity.WARNING
    ),
    check(
        "headroom", documents.Headroom(replicas_of="deploy/web", absolute="5"), "web-room", severity=Severity.WARNING
    ),
    expression(
        "gpu-nodes-for-gpu-pods",
        f"!pod.scheduled || !('{GPU}' in pod.node.allocatable) || pod.requests[?'{GPU}'].orValue(0) > 0",
        made="'no GPU asked, but lands on GPU node ' + pod.node.name",
    ),
    expression(
        "no-new-pending",
        "result.pods.pending <= baseline.pods.pending",
        documents.Scope.RUN,
        message="rollout leaves more pods pending than before",
    ),
    scenarios=[LOSE_ZONE],
)
"""The six policies of the design, as one."""


def worst(results: Sequence[CheckResult]) -> dict[str, str]:
    """The worst outcome of each check."""
    order = [CheckOutcome.PASSED, CheckOutcome.INCONCLUSIVE, CheckOutcome.VIOLATED]
    found: dict[str, CheckOutcome] = {}
    for result in results:
        found[result.check] = max(found.get(result.check, CheckOutcome.PASSED), result.outcome, key=order.index)
    return {name: outcome.value for name, outcome in found.items()}


def image(state: Cluster) -> tuple[Any, ...]:
    """All of a cluster that a check could change."""
    pods = sorted((info.key, info.pod.spec.node_name, info.priority) for info in state.pod_table)
    column = state.nodes_by_name
    nodes = list(zip(column.names, column.requested("cpu").tolist(), column.pod_count.tolist(), strict=True))
    return pods, nodes, sorted(state.pending), sorted(state.strays)


# -- the six policies --------------------------------------------------------------


def test_the_six_policies_pass_on_a_cluster_with_room() -> None:
    found = report(cluster(*zoned(2, 2, 2)), manifests_of(deployment(replicas=3)), SIX)
    assert set(worst(found.results).values()) == {"Passed"}
    assert found.summary.exit_code == 0


@pytest.mark.parametrize(
    ("violated", "state", "manifests"),
    [
        pytest.param("all-fit", zoned(2, 2, 2), [deployment(replicas=1, cpu="9")], id="a pod that is too large"),
        pytest.param(
            "no-preemption",
            [*zoned(1, 1, 1), *(running(f"old-{zone}", f"{zone}0", cpu="4") for zone in "abc")],
            [priority_class("high", 1000), deployment(replicas=1, cpu="4", priorityClassName="high")],
            id="an eviction",
        ),
        pytest.param("three-zones", zoned(2, 2), [deployment(replicas=3)], id="two zones"),
        pytest.param(
            "zone-loss",
            zoned(1, 1, 1),
            [priority_class("high", 1000), deployment(replicas=3, cpu="3", priorityClassName="high")],
            id="no room for critical pods with a zone less",
        ),
        pytest.param("cpu-headroom", zoned(1, 1, 1), [deployment(replicas=3, cpu="3500m")], id="full zones"),
        pytest.param("web-room", zoned(1, 1, 1), [deployment(replicas=3, cpu="2")], id="no room for five more"),
        pytest.param(
            "gpu-nodes-for-gpu-pods",
            zoned(1, 1, 1, **{GPU: "8"}),
            [deployment(replicas=3)],
            id="only nodes with GPUs",
        ),
        pytest.param("no-new-pending", zoned(1, 1, 1), [deployment(replicas=5, cpu="3")], id="more pending pods"),
    ],
)
def test_each_of_the_six_policies_is_violated_where_it_should_be(
    violated: str, state: list[Any], manifests: list[dict[str, Any]]
) -> None:
    assert worst(report(cluster(*state), manifests_of(*manifests), SIX).results)[violated] == "Violated"


def test_an_expression_makes_its_message() -> None:
    state = cluster(*zoned(1, **{GPU: "8"}))
    checked = policy(SIX.checks[6])
    assert outcomes_of(report(state, manifests_of(deployment(replicas=1)), checked).results) == [
        ("Pod shop/web[0]", "Violated", "no GPU asked, but lands on GPU node a0")
    ]


def test_what_an_expression_cannot_answer_is_inconclusive() -> None:
    checked = policy(expression("tier", "pod.labels['tier'] == 'web'"))
    (result,) = report(cluster(node("a")), manifests_of(deployment(replicas=1)), checked).results
    assert result.outcome is CheckOutcome.INCONCLUSIVE
    assert "tier" in result.message


def test_conditions_leave_objects_out() -> None:
    checked = policy(check("spread", documents.Spread(), conditions=BIG))
    found = report(cluster(*zoned(1)), manifests_of(deployment("small", 2), deployment("large", 3)), checked)
    assert [result.name for result in found.results] == ["large"]


def test_variables_are_seen_by_conditions_of_built_ins_too() -> None:
    large = documents.Variable("large", documents.Expression("workload.replicas >= 3"))
    checked = policy(
        check(
            "spread",
            documents.Spread(),
            conditions=(documents.Condition("large", documents.Expression("variables.large")),),
        ),
        variables=(large,),
    )
    found = report(cluster(*zoned(1)), manifests_of(deployment("small", 2), deployment("big", 3)), checked)
    assert [result.name for result in found.results] == ["big"]


def test_expressions_are_judged_in_scenarios_with_what_is_true_there() -> None:
    checked = policy(
        expression("fits", "result.pods.pending == 0", documents.Scope.RUN, scenarios=("baseline", "lose-zone")),
        scenarios=[LOSE_ZONE],
    )
    found = report(cluster(*zoned(1, 1)), manifests_of(deployment(replicas=2, cpu="3")), checked)
    assert [(result.scenario, result.outcome.value) for result in found.results] == [
        ("baseline", "Passed"),
        ("lose-zone=eu-1a", "Violated"),
        ("lose-zone=eu-1b", "Violated"),
    ]


def test_nodes_are_judged_by_name() -> None:
    checked = policy(expression("small", "node.requested['cpu'] <= 1000", documents.Scope.NODE))
    found = report(cluster(node("b"), node("a")), manifests_of(deployment(replicas=1, cpu="2", nodeName="b")), checked)
    assert outcomes_of(found.results) == [
        ("Node a", "Passed", "holds"),
        ("Node b", "Violated", "does not hold: node.requested['cpu'] <= 1000"),
    ]


# -- what is matched -----------------------------------------------------------------


def test_a_policy_is_about_what_it_matches() -> None:
    checked = policy(
        check("schedulable", documents.Schedulable()), match=documents.Match(namespaces=("shop",), names=("w*",))
    )
    found = report(
        cluster(node("a")),
        manifests_of(deployment("web"), deployment("api"), deployment("web", namespace="other")),
        checked,
    )
    assert [result.subject for result in found.results] == ["Deployment shop/web"]


def test_a_policy_that_matches_nothing_is_worth_a_note() -> None:
    checked = policy(check("schedulable", documents.Schedulable()), match=documents.Match(namespaces=("nowhere",)))
    found = report(cluster(node("a")), manifests_of(deployment()), checked)
    assert found.results == []
    assert found.notes == [
        "policy policy matches nothing in the manifests",
        "1 workload not judged: Deployment shop/web (no check of the policies applies to it)",
    ]


def test_a_policy_with_require_match_that_matches_nothing_is_refused() -> None:
    checked = policy(
        check("schedulable", documents.Schedulable()),
        match=documents.Match(namespaces=("nowhere",)),
        require_match=True,
    )
    with pytest.raises(ConfigError, match="matches nothing"):
        report(cluster(node("a")), manifests_of(deployment()), checked)


def test_a_policy_with_require_match_says_which_object_could_not_be_read() -> None:
    refused = deployment("db", tolerations=[{"operator": "Exists", "effect": "NoSchedul"}])
    checked = policy(
        check("schedulable", documents.Schedulable()), match=documents.Match(names=("db",)), require_match=True
    )
    with pytest.raises(ConfigError) as caught:
        report(cluster(node("a")), manifests_of(refused, deployment()), checked)
    first, second = caught.value.problems
    assert (first.subject, first.path) == ("Deployment shop/db", "spec.template.spec.tolerations[0].effect")
    assert second.message == "policy policy matches nothing in the manifests"


# -- objects that take no part -------------------------------------------------------


BROKEN = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "broken", "namespace": "shop"}, "spec": {}}


def test_an_object_that_cannot_be_read_violates_schedulable_at_its_place() -> None:
    found = report(
        cluster(node("a")),
        manifests_of(deployment(replicas=1), BROKEN),
        policy(check("schedulable", documents.Schedulable())),
    )
    assert [result.subject for result in found.results] == ["Deployment shop/web", "Pod shop/broken"]
    result = found.results[1]
    assert (result.outcome, result.kind, result.namespace, result.name) == (
        CheckOutcome.VIOLATED,
        "Pod",
        "shop",
        "broken",
    )
    assert result.message.startswith("not checked: spec.containers")
    assert result.location.file == "release.json"
    assert found.summary.exit_code == 1


def test_an_unreadable_object_violates_the_built_in_policy_where_no_check_selects_it() -> None:
    found = report(
        cluster(node("a")),
        manifests_of(deployment(replicas=1), BROKEN),
        policy(check("no-preemption", documents.NoPreemption())),
    )
    assert [(result.policy, result.subject) for result in found.results] == [
        ("policy", "Deployment shop/web"),
        ("built-in", "Pod shop/broken"),
    ]
    assert [rules.name for rules in found.policies] == ["policy", "built-in"]
    assert found.summary.exit_code == 1


# -- exit codes ----------------------------------------------------------------------


TOO_LARGE, UNCLEAR = deployment("large", 1, cpu="9"), deployment("unclear", 1, schedulerName="volcano")


@pytest.mark.parametrize(
    ("manifests", "severity", "conditions", "code"),
    [
        pytest.param([deployment()], Severity.ERROR, Conditions(), 0, id="all is well"),
        pytest.param([TOO_LARGE], Severity.ERROR, Conditions(), 1, id="an error fails"),
        pytest.param([TOO_LARGE], Severity.WARNING, Conditions(), 0, id="a warning does not"),
        pytest.param([TOO_LARGE], Severity.WARNING, Conditions(fail_on="warning"), 1, id="unless it shall"),
        pytest.param([TOO_LARGE], Severity.ERROR, Conditions(fail_on="never"), 0, id="nothing fails if nothing shall"),
        pytest.param([UNCLEAR], Severity.ERROR, Conditions(), 5, id="what cannot be told fails with its own code"),
        pytest.param([UNCLEAR], Severity.WARNING, Conditions(), 0, id="but not of a check that would not fail"),
        pytest.param([UNCLEAR], Severity.ERROR, Conditions(on_inconclusive="warn"), 0, id="nor where it shall warn"),
        pytest.param([UNCLEAR, TOO_LARGE], Severity.ERROR, Conditions(), 1, id="what is proved wins"),
    ],
)
def test_the_exit_code_follows_from_the_results(
    manifests: list[dict[str, Any]], severity: Severity, conditions: Conditions, code: int
) -> None:
    checked = policy(check("schedulable", documents.Schedulable(), severity=severity))
    found = report(cluster(node("a")), manifests_of(*manifests), checked, conditions=conditions)
    assert found.summary.exit_code == code


class Accepted:
    """Accepts what a check finds, and keeps what it was asked."""

    def __init__(self, name: str, by: str) -> None:
        self.name, self.by = name, by
        self.questions: list[tuple[str, list[str]]] = []

    def acceptance(
        self, policy: documents.CheckPolicy, result: CheckResult, objects: Sequence[Any]
    ) -> Acceptance | None:
        self.questions.append((result.subject, [type(obj).__name__ for obj in objects]))
        return Acceptance(by=self.by, reason="known") if result.check == self.name else None  # type: ignore[arg-type]

    def notes(self) -> list[str]:
        return ["an exemption has expired"]


def test_accepted_findings_stay_and_do_not_fail() -> None:
    accepting = Accepted("schedulable", "policy")
    checked = policy(check("schedulable", documents.Schedulable()), check("no-preemption", documents.NoPreemption()))
    found = report(cluster(node("a")), manifests_of(TOO_LARGE), checked, accepting=accepting)
    assert [result.outcome for result in found.results] == [CheckOutcome.EXEMPTED, CheckOutcome.PASSED]
    assert (found.summary.exit_code, found.summary.exempted) == (0, 1)
    assert accepting.questions == [("Deployment shop/large", ["Deployment"])]
    assert found.notes == ["an exemption has expired"]


def test_a_finding_about_a_pod_may_be_accepted_by_the_pod_or_its_workload() -> None:
    accepting = Accepted("never", "baseline")
    checked = policy(expression("never", "false"))
    found = report(cluster(node("a")), manifests_of(deployment(replicas=1)), checked, accepting=accepting)
    assert accepting.questions == [("Pod shop/web[0]", ["Pod", "Deployment"])]
    assert found.results[0].outcome is CheckOutcome.BASELINED


# -- places and fingerprints -----------------------------------------------------------


WEB = b"""\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: main
          image: registry.example/web:v1
          resources:
            requests:
              cpu: 3
"""


def test_a_finding_points_to_the_field_that_decides() -> None:
    manifests = load_text(WEB, "deploy/web.yaml", terms=Terms(creating=True))
    checked = policy(check("schedulable", documents.Schedulable()))
    (result,) = evaluate([checked], Scheduler(cluster(node("a"))), manifests).results
    assert (result.location.file, result.location.line) == ("deploy/web.yaml", 15)
    assert result.location.path == "spec.template.spec.containers[0].resources.requests.cpu"


def test_a_finding_about_a_generated_name_points_to_the_manifest_it_comes_from() -> None:
    one = b"apiVersion: v1\nkind: Pod\nmetadata: {generateName: one-}\nspec: {nodeName: '', containers: [%s]}\n"
    huge = b"{name: a, image: a, resources: {requests: {cpu: 100}}}"
    manifests = load_text(b"---\n".join([one % huge] * 2), "deploy/web.yaml", terms=Terms(creating=True))
    checked = policy(check("schedulable", documents.Schedulable()))
    results = evaluate([checked], Scheduler(cluster(node("a"))), manifests).results
    assert [(result.location.file, result.location.line) for result in results] == [
        ("deploy/web.yaml", 4),
        ("deploy/web.yaml", 9),
    ]


def test_a_fingerprint_stays_while_numbers_change() -> None:
    def once(size: int) -> str:
        checked = policy(check("schedulable", documents.Schedulable()))
        return (
            report(cluster(node("a")), manifests_of(deployment(replicas=size, cpu="3")), checked).results[0].fingerprint
        )

    assert once(2) == once(4)


def test_pods_are_known_by_their_workload_whatever_their_template() -> None:
    def once(cpu: str) -> list[str]:
        checked = policy(expression("never", "false"))
        found = report(cluster(node("a")), manifests_of(deployment(replicas=2, cpu=cpu)), checked)
        return [result.fingerprint for result in found.results]

    assert once("100m") == once("200m")


# -- purity and order ------------------------------------------------------------------


def test_the_cluster_is_as_before() -> None:
    state = cluster(*zoned(1, 1, 1), running("old-0", "a0", cpu="3"), pod("stuck", cpu="9"))
    before = image(state)
    report(state, manifests_of(priority_class("high", 1000), deployment(cpu="3", priorityClassName="high")), SIX)
    assert image(state) == before


def test_the_same_input_makes_the_same_bytes() -> None:
    def once() -> bytes:
        return msgspec.json.encode(report(cluster(*zoned(1, 1)), manifests_of(deployment(replicas=5, cpu="1")), SIX))

    assert once() == once()


CHECKS = (
    *SIX.checks,
    check("survives", documents.Survives(scenario="lose-zone"), "all-survive"),
    check("schedulable", documents.Schedulable(), "schedulable-without-a-zone", scenarios=("lose-zone",)),
    check("no-regression", documents.NoRegression()),
    check("max-utilization", documents.MaxUtilization(resource="cpu", percent=60)),
)


@settings(max_examples=15, deadline=None)
@drawn(
    st.permutations(range(len(CHECKS))),
    st.integers(1, 4),
    st.sampled_from(("500m", "2", "3")),
    st.booleans(),
)
def test_the_order_of_checks_changes_no_result(order: list[int], replicas: int, cpu: str, high: bool) -> None:
    def found(places: Sequence[int]) -> dict[str, list[CheckResult]]:
        state = cluster(*zoned(1, 1, 2), running("old-0", "a0", cpu="2"), running("old-1", "b0", cpu="2"))
        more = {"priorityClassName": "high"} if high else {}
        manifests = manifests_of(priority_class("high", 1000), deployment(replicas=replicas, cpu=cpu, **more))
        results = report(state, manifests, policy(*(CHECKS[n] for n in places), scenarios=[LOSE_ZONE])).results
        return {name: list(each) for name, each in itertools.groupby(results, key=lambda result: result.check)}

    assert found(order) == found(range(len(CHECKS)))


def budget(**spec: Any) -> dict[str, Any]:
    """A PodDisruptionBudget."""
    metadata = {"name": "web", "namespace": "shop"}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec}


UNSELECTED = (
    "PodDisruptionBudget shop/web: spec.selector: selects no pod in namespace shop, of the manifests or of the state"
)
BUDGETS = {
    "one that selects pods of the manifests": ("web", deployment(), None),
    "one that selects a pod of the state alone": ("old", deployment(), None),
    "one that selects pods of a workload without replicas": ("web", deployment(replicas=0), None),
    "a misspelt one": ("wbe", deployment(), f'{UNSELECTED}: selector app=wbe (did you mean "app=web"?)'),
    "one whose pods are gone": ("web", deployment("cart"), f"{UNSELECTED}: selector app=web"),
    "one whose pods are in another namespace": (
        "web",
        deployment(namespace="pay"),
        f"{UNSELECTED}: selector app=web",
    ),
}


@pytest.mark.parametrize(("app", "workload", "expected"), BUDGETS.values(), ids=BUDGETS)
def test_a_disruption_budget_that_protects_no_pod_is_worth_a_note(
    app: str, workload: dict[str, Any], expected: str | None
) -> None:
    state = [*zoned(2), pod("old", namespace="shop", on="a0", labels={"app": "old"})]
    manifests = manifests_of(workload, budget(maxUnavailable=1, selector={"matchLabels": {"app": app}}))
    judged = report(cluster(*state), manifests, policy(check("schedulable", documents.Schedulable())))
    found = [note for note in judged.notes if "PodDisruptionBudget" in note]
    assert [note.partition(": ")[2] for note in found] == ([] if expected is None else [expected])

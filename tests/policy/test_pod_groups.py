"""Pods of one workload are judged by their template: what came out equal is one finding, with one fingerprint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from schedctl.policy import documents
from schedctl.policy.pod_groups import group_names
from schedctl.reports.checks import Acceptance, CheckResult
from schedctl.testing.builders import cluster, node
from tests.policy.evaluating import deployment, manifests_of, outcomes_of, policy, report, zoned


def judged(expression: str, *objects: Any, message: str = "", state: Any = None, accepting: Any = None):
    """What a check of the pods finds in a cluster of one large node."""
    validation = documents.Validation(
        documents.Expression(expression),
        "no",
        documents.Expression(message) if message else None,
    )
    checked = documents.Check(name="rule", scope=documents.Scope.POD, validations=(validation,))
    state = state or cluster(node("a", cpu="1000", pods="1000"))
    return report(state, manifests_of(*objects), policy(checked), accepting=accepting).results


def test_equal_pods_of_a_workload_are_one_finding() -> None:
    (found,) = judged("false", deployment("big", 60))
    assert outcomes_of([found]) == [("Pod shop/big[0..59]", "Violated", "no")]
    assert (found.workload, found.pods, found.name) == ("Deployment shop/big", 60, "big[0..59]")


def test_pods_of_a_stateful_set_are_one_finding_by_their_ordinals() -> None:
    (found,) = judged("false", deployment("db", 11, kind="StatefulSet"))
    assert found.subject == "Pod shop/db-[0..10]"


def test_scaling_is_no_new_finding() -> None:
    (before,), (after,) = judged("false", deployment("big", 60)), judged("false", deployment("big", 61))
    assert before.fingerprint == after.fingerprint
    assert after.subject == "Pod shop/big[0..60]"


def test_one_replica_has_the_fingerprint_of_many() -> None:
    (one,), (many,) = judged("false", deployment("big", 1)), judged("false", deployment("big", 2))
    assert one.fingerprint == many.fingerprint


def test_pods_of_two_workloads_are_two_findings() -> None:
    found = judged("false", deployment("web", 2), deployment("api", 2))
    assert [result.subject for result in found] == ["Pod shop/web[0..1]", "Pod shop/api[0..1]"]
    assert len({result.fingerprint for result in found}) == 2


def test_what_is_violated_is_not_mixed_with_what_is_not() -> None:
    found = judged("pod.node.name != 'b0'", deployment("web", 4), state=cluster(*zoned(1, 1)))
    assert sorted((result.outcome.value, result.pods) for result in found) == [("Passed", 2), ("Violated", 2)]
    assert found[0].outcome.value == "Violated"


def test_messages_that_differ_are_all_told_with_their_pods() -> None:
    found = judged("false", deployment("web", 4), message="'lands on ' + pod.node.name", state=cluster(*zoned(1, 1)))
    (result,) = found
    assert result.message in ("lands on a0 (and 1 other message)", "lands on b0 (and 1 other message)")
    assert sorted(reason.partition(": ")[2] for reason in result.reasons) == ["lands on a0", "lands on b0"]
    assert all(reason.startswith("web[") for reason in result.reasons)


def test_a_message_that_names_the_pod_names_all_of_them() -> None:
    (found,) = judged("false", deployment("web", 12), message="pod.name + ' is one too many'")
    assert found.message == "web[0..11] is one too many"
    assert found.reasons == []


def test_pods_that_somebody_accepts_hide_no_others() -> None:
    class First:
        def acceptance(
            self, policy: documents.CheckPolicy, result: CheckResult, objects: Sequence[Any]
        ) -> Acceptance | None:
            return Acceptance(by="policy", reason="canary") if result.name == "web[0]" else None

        def notes(self) -> list[str]:
            return []

    found = judged("false", deployment("web", 3), accepting=First())
    assert [(result.name, result.outcome.value) for result in found] == [
        ("web[1..2]", "Violated"),
        ("web[0]", "Exempted"),
    ]


@pytest.mark.parametrize(
    ("names", "together"),
    [
        pytest.param(["web[0]"], "web[0]", id="one is itself"),
        pytest.param(["web[0]", "web[1]"], "web[0..1]", id="two"),
        pytest.param(["web[0]", "web[2]", "web[3]"], "web[0,2..3]", id="with a gap"),
        pytest.param(["web[10]", "web[9]"], "web[9..10]", id="by number, not by letter"),
        pytest.param(["db-0", "db-1"], "db-[0..1]", id="ordinals"),
        pytest.param(["db-1-0", "db-1-1"], "db-1-[0..1]", id="a name that ends in a number itself"),
        pytest.param(["a", "b"], "a, b", id="names without numbers"),
        pytest.param(["web[0]", "api[1]", "web[1]"], "web[0..1], api[1]", id="of two workloads"),
        pytest.param(
            [f"web[{number}]" for number in range(0, 20, 2)], "web[0,2,4,6,8,10 and 4 more]", id="with many gaps"
        ),
    ],
)
def test_names_of_a_group(names: list[str], together: str) -> None:
    assert ", ".join(group_names(names)) == together

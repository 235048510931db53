"""What rests on pods without a node is inconclusive, unless the policy ignores them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import pytest

from schedctl.policy import documents
from schedctl.reports.checks import CheckResult
from schedctl.testing.builders import cluster, node, pod
from tests.policy.evaluating import check, deployment, manifests_of, policy, report, zoned

NO_GPU = documents.NodeDemand(taint="dedicated")
RESERVED = node("r", taints=[{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}])
TOO_LARGE = deployment(replicas=3, cpu="9")
"""Three replicas that fit nowhere."""


class Case(NamedTuple):
    """A check that pods without a node pass as long as they are left out."""

    sentence: str
    state: Sequence[Any]
    manifests: Sequence[dict[str, Any]]
    builtin: str
    arguments: Any
    message: str
    reasons: Sequence[str] = ()


CASES = (
    Case(
        "free cpu that pending pods request",
        [node("a")],
        [TOO_LARGE],
        "headroom",
        documents.Headroom(resource="cpu", percent=20),
        "100 % of cpu free, needs 20 % (4 of 4)",
        ["3 pods without a node request 27 cores"],
    ),
    Case(
        "free cpu that pending pods of the state request",
        [node("a"), pod("waits", cpu="9")],
        [deployment(replicas=1)],
        "headroom",
        documents.Headroom(resource="cpu", percent=20),
        "87.5 % of cpu free, needs 20 % (3500m of 4000m)",
        ["1 pod without a node requests 9 cores"],
    ),
    Case(
        "room for replicas that pending pods may want",
        [node("a")],
        [TOO_LARGE, deployment("app", 1)],
        "headroom",
        documents.Headroom(replicas_of="deploy/app", absolute="2"),
        "2 more replicas of deploy/app would fit, apart from 3 pods without a node",
    ),
    Case(
        "little requested while pods are pending that request more",
        [node("a")],
        [TOO_LARGE],
        "max-utilization",
        documents.MaxUtilization(percent=50),
        "0 % of cpu requested, at most 50 % allowed (0 of 4)",
        ["3 pods without a node request 27 cores"],
    ),
    Case(
        "pending pods on no node that they must not run on",
        [node("a"), RESERVED],
        [TOO_LARGE],
        "placement",
        documents.Placement(must_not=NO_GPU),
        "no pod has a node; 3 pods pending",
    ),
    Case(
        "pending pods on no node at all",
        [node("a")],
        [TOO_LARGE],
        "max-nodes",
        documents.MaxNodes(count=3),
        "on 0 nodes, at most 3 allowed; 3 pods pending",
    ),
    Case(
        "few nodes while the other pods are pending",
        [node("a"), node("b")],
        [deployment(replicas=3, cpu="3")],
        "max-nodes",
        documents.MaxNodes(count=2),
        "on 2 nodes, at most 2 allowed; 1 pod pending",
    ),
    Case(
        "even zones while pods are pending that could all go to one of them",
        zoned(1, 1),
        [deployment(replicas=4, cpu="3")],
        "spread",
        documents.Spread(min_domains=2, max_skew=1),
        "2 zones (eu-1a 1, eu-1b 1); 2 pods pending",
    ),
)


def judged(case: Case, *, ignore_pending: bool = False) -> CheckResult:
    """The result of a case."""
    arguments = msgspec.structs.replace(case.arguments, ignore_pending=ignore_pending)
    (result,) = report(
        cluster(*case.state), manifests_of(*case.manifests), policy(check(case.builtin, arguments))
    ).results
    return result


@pytest.mark.parametrize("case", CASES, ids=[f"{case.builtin}: {case.sentence}" for case in CASES])
def test_what_rests_on_pods_without_a_node_is_inconclusive(case: Case) -> None:
    result = judged(case)
    assert (result.outcome.value, result.message) == ("Inconclusive", case.message)
    assert result.reasons[: len(case.reasons)] == list(case.reasons)
    # Last, behind what would find nodes for the pods.
    assert result.hints[-1] == "`ignorePending: true` judges without the pods that have no node"


@pytest.mark.parametrize("case", CASES, ids=[f"{case.builtin}: {case.sentence}" for case in CASES])
def test_a_policy_can_ignore_pods_without_a_node(case: Case) -> None:
    assert judged(case, ignore_pending=True).outcome.value == "Passed"


@pytest.mark.parametrize(
    ("builtin", "arguments"),
    [
        pytest.param("headroom", documents.Headroom(resource="memory", percent=20), id="they request none of it"),
        pytest.param("max-nodes", documents.MaxNodes(count=3), id="there are as many nodes as pods to use"),
        pytest.param("spread", documents.Spread(min_domains=2, max_skew=1), id="the skew stays small wherever it goes"),
        pytest.param("spread", documents.Spread(min_domains=2), id="there are domains enough without it"),
    ],
)
def test_pods_without_a_node_that_cannot_make_a_difference_let_a_check_pass(builtin: str, arguments: Any) -> None:
    manifests = manifests_of(deployment(replicas=3, cpu="3"))
    (result,) = report(cluster(*zoned(1, 1)), manifests, policy(check(builtin, arguments))).results
    assert result.outcome.value == "Passed"


def test_what_is_proved_wrong_stays_violated_while_pods_are_pending() -> None:
    spread = check("spread", documents.Spread(min_domains=3))
    manifests = manifests_of(deployment(replicas=3, cpu="3"))
    state = cluster(*zoned(1, 1), node("c0", zone="eu-1c", cpu="1"))
    (result,) = report(state, manifests, policy(spread)).results
    assert (result.outcome.value, result.message) == ("Violated", "2 zones, needs 3 (eu-1a 1, eu-1b 1, eu-1c 0)")

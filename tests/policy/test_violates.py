"""What a finding says is violated, and how far: by it a baseline tells what is new or worse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from schedctl.policy import documents
from schedctl.policy.fingerprints import rule_and_object
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

SPOT = {"karpenter.sh/nodepool": "spot"}
URGENT = deployment(cpu="3", replicas=1, priorityClassName="high")
HIGH = priority_class("high", 1000)


@pytest.mark.parametrize(
    ("state", "manifests", "builtin", "arguments", "violates"),
    [
        pytest.param(
            zoned(1),
            [deployment(replicas=50, cpu="9")],
            "schedulable",
            documents.Schedulable(),
            {"pods pending": 50},
            id="pods that stay pending",
        ),
        pytest.param(
            [node("a", cpu="4"), running("old-1", "a", cpu="2", owner="old")],
            [HIGH, URGENT],
            "no-preemption",
            documents.NoPreemption(),
            {"preempts ReplicaSet default/old": 1},
            id="the workloads whose pods are preempted",
        ),
        pytest.param(
            [node("a", cpu="4"), running("old-1", "a", cpu="2", owner="old")],
            [HIGH, URGENT],
            "no-regression",
            documents.NoRegression(),
            {"ReplicaSet default/old": 1},
            id="the workloads that ran before",
        ),
        pytest.param(
            zoned(2),
            [deployment(replicas=2)],
            "spread",
            documents.Spread(ZONE, min_domains=3),
            {"domains missing": 2},
            id="domains",
        ),
        pytest.param(
            [node("a", labels=SPOT, cpu="4")],
            [deployment(replicas=2)],
            "placement",
            documents.Placement(must_not=documents.NodeDemand(SPOT)),
            {"karpenter.sh/nodepool=spot has karpenter.sh/nodepool=spot": 2},
            id="the pools of nodes, whatever their nodes are called",
        ),
        pytest.param(
            zoned(1, 1, 1),
            [deployment(replicas=3, cpu="3")],
            "max-nodes",
            documents.MaxNodes(2),
            {"nodes": 3},
            id="nodes",
        ),
        pytest.param(
            zoned(1),
            [deployment(replicas=1, cpu="3")],
            "max-utilization",
            documents.MaxUtilization("cpu", 50),
            {"cpu, percent over": 25},
            id="percent over what is allowed",
        ),
        pytest.param(
            zoned(1),
            [deployment(replicas=1, cpu="3")],
            "headroom",
            documents.Headroom(resource="cpu", percent=50),
            {"cpu, percent missing": 50},
            id="percent of what has to be free",
        ),
        pytest.param(
            zoned(1),
            [deployment(replicas=1, cpu="3")],
            "headroom",
            documents.Headroom(replicas_of="deployment/web", absolute="3"),
            {"replicas missing": 3},
            id="replicas for which there is no room",
        ),
        pytest.param(
            zoned(1, 1),
            [deployment(replicas=2, cpu="3")],
            "survives",
            documents.Survives("lose-zone"),
            {"pods pending": 1},
            id="pods pending in a scenario",
        ),
    ],
)
def test_a_violation_says_what_is_violated_and_how_far(
    state: Sequence[Any], manifests: Sequence[Any], builtin: str, arguments: documents.Arguments, violates: Any
) -> None:
    scenarios = [LOSE_ZONE] if builtin == "survives" else []
    found = report(cluster(*state), manifests_of(*manifests), policy(check(builtin, arguments), scenarios=scenarios))
    result = next(each for each in found.results if each.outcome == "Violated")
    assert result.violates == violates
    assert result.fingerprint != rule_and_object(result.fingerprint)


def test_an_expression_names_itself() -> None:
    text = "pod.scheduled  &&\n false"
    rule = documents.Check(
        name="never",
        scope=documents.Scope.POD,
        validations=(documents.Validation(documents.Expression(text)),),
    )
    found = report(cluster(*zoned(1), pod("other", on="a0")), manifests_of(bare("one")), policy(rule))
    assert found.results[0].violates == {"pod.scheduled && false": 1}


def test_what_passes_violates_nothing() -> None:
    found = report(
        cluster(*zoned(1)), manifests_of(deployment()), policy(check("schedulable", documents.Schedulable()))
    )
    assert [(each.outcome.value, each.violates) for each in found.results] == [("Passed", {})]

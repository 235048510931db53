"""``schedctl nodes --as-autoscaler``: what Karpenter would do, beside schedctl's own answer."""

from __future__ import annotations

import json

import pytest

STATE = (
    "-f",
    "fixtures/clusters/shop",
    "-f",
    "fixtures/autoscalers/karpenter.yaml",
    "--instance-types",
    "fixtures/autoscalers/instance-types.csv",
)


def test_report_has_both_answers(schedctl):
    result = schedctl("nodes", "--as-autoscaler", "karpenter", *STATE, "-o", "json")
    report = json.loads(result.out)
    answer = report["karpenter"]
    assert answer["text"] == "Karpenter would launch 2 nodes: 1 batch, 1 general; it does nothing for 2 pods"
    assert [each["group"] for each in answer["launched"]] == ["general", "batch"]
    assert answer["placed"] + len(answer["unplaced"]) == answer["pods"] == 4
    assert report["summary"]["added"] == 3


def test_steps_are_shown_on_demand(schedctl):
    result = schedctl("nodes", "--as-autoscaler", "karpenter", *STATE, "-o", "wide")
    assert "step by step, the largest pod first:" in result.out
    assert "launches general-new-1" in result.out


def test_shrink_says_what_keeps_karpenter_from_a_node(schedctl):
    result = schedctl("nodes", "--shrink", "--as-autoscaler", "karpenter", *STATE, "-o", "wide")
    assert result.out.startswith("Karpenter would consolidate no node")
    assert "it is not a node of a NodePool, and Karpenter leaves it alone" in result.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--as-autoscaler", "foo", *STATE), 'unknown autoscaler "foo"'),
        (("--as-autoscaler", "karpenter", "-f", "fixtures/clusters/shop"), "there is no NodePool of Karpenter"),
    ],
)
def test_what_cannot_be_answered_is_an_error(schedctl, arguments, message):
    result = schedctl("nodes", *arguments)
    assert result.code == 2
    assert message in result.err
    assert "hint: " in result.err

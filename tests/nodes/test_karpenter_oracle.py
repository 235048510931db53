"""Random clusters, and which nodes the real Karpenter launches for them: schedctl says the same."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.nodes.karpenter_answers import ask, outcome_of, solution_of
from tests.nodes.karpenter_cases import case

HARNESS = Path(__file__).parents[2] / "conformance" / "karpenter"
SEEDS = tuple(int(each) for each in os.environ.get("SCHEDCTL_KARPENTER_SEEDS", "0:300").split(":"))
MANY = 200
"""How often a case is solved again in which Karpenter's choice among equal domains, the order of a Go map, decides."""

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(shutil.which("go") is None, reason="Go is not installed"),
]


@pytest.fixture(scope="module")
def karpenter() -> str:
    """The path of the harness, which is built if need be."""
    return subprocess.run([HARNESS / "build"], check=True, capture_output=True, text=True).stdout.strip()


def counts(outcome) -> tuple[int, int]:
    """How many nodes are launched, and how many pods stay pending."""
    return len(outcome["nodeClaims"]), len(outcome["unplaced"])


def test_as_many_nodes_are_launched_as_by_the_real_karpenter(karpenter):
    cases = [case(seed) for seed in range(*SEEDS)]
    differences, launching, varying = [], 0, 0
    for each, answer in zip(cases, ask(karpenter, cases), strict=True):
        assert not answer.get("error"), each["id"]
        ours = counts(outcome_of(solution_of(each)))
        theirs = {counts(outcome) for outcome in answer["outcomes"]}
        launching += bool(ours[0])
        if ours not in theirs:
            # which of equal domains Karpenter takes is chance: is ours among what may come out?
            (again,) = ask(karpenter, [{**each, "runs": MANY}])
            theirs = {counts(outcome) for outcome in again["outcomes"]}
            varying += 1
        if ours not in theirs:
            differences.append((each["id"], ours, sorted(theirs)))
    assert not differences
    assert launching > len(cases) // 2
    assert varying <= len(cases) // 10


def test_pods_and_instance_types_of_nodes_are_the_same_where_nothing_is_left_to_chance(karpenter):
    cases = [case(seed) for seed in range(0, 120, 6)]
    for each, answer in zip(cases, ask(karpenter, cases), strict=True):
        (outcome,) = answer["outcomes"]
        claims = [
            {field: claim[field] for field in ("nodePool", "pods", "instanceTypes")} for claim in outcome["nodeClaims"]
        ]
        assert outcome_of(solution_of(each)) == {**outcome, "nodeClaims": claims}, each["id"]

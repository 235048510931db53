"""Random clusters, and which nodes the real Karpenter launches for them, or takes away: schedctl says the same."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.nodes.karpenter_answers import ask, command_of, outcome_of, solution_of
from tests.nodes.karpenter_cases import case, case_with_slots, consolidation_case

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


def test_labels_of_which_pools_list_values_choose_pools_and_no_instance_types(karpenter):
    cases = [case_with_slots(seed) for seed in range(60)]
    launching = 0
    for each, answer in zip(cases, ask(karpenter, cases), strict=True):
        ours = outcome_of(solution_of(each))
        assert counts(ours) in {counts(outcome) for outcome in answer["outcomes"]}, each["id"]
        launching += bool(ours["nodeClaims"])
    assert launching > len(cases) // 2


def comparable(command):
    """A command as far as chance leaves it: which of the empty nodes go within a budget is the order of a Go map."""
    if command is None:
        return None
    replacements = [(each["nodePool"], tuple(sorted(each["instanceTypes"]))) for each in command["replacements"] or ()]
    nodes = len(command["nodes"]) if command["method"] == "empty" else tuple(command["nodes"])
    return command["method"], nodes, tuple(replacements)


def can_be_launched(command, types) -> bool:
    """Whether the cloud has what a command asks for; Karpenter does not look whether there is spot capacity."""
    for claim in command["replacements"] or ():
        offerings = [each for name in claim["instanceTypes"] for each in types[name]["offerings"]]
        zones = claim["zones"] or [each["zone"] for each in offerings]
        if not any(each["capacityType"] in claim["capacityTypes"] and each["zone"] in zones for each in offerings):
            return False
    return True


def test_the_next_command_of_consolidation_is_that_of_the_real_karpenter(karpenter):
    cases = [consolidation_case(seed) for seed in range(*SEEDS)]
    differences, methods, passed_over = [], Counter[str](), 0
    for each, answer in zip(cases, ask(karpenter, cases), strict=True):
        assert not answer.get("error"), each["id"]
        types = {one["name"]: one for one in each["instanceTypes"]}
        ours = comparable(command_of(each))
        theirs = [outcome.get("command") for outcome in answer["outcomes"]]
        if ours not in map(comparable, theirs):
            (again,) = ask(karpenter, [{**each, "runs": MANY}])
            theirs = [outcome.get("command") for outcome in again["outcomes"]]
        methods[ours[0] if ours else ""] += 1
        if ours not in map(comparable, theirs):
            if any(command and not can_be_launched(command, types) for command in theirs):
                passed_over += 1
            else:
                differences.append((each["id"], ours, theirs))
    assert not differences
    assert passed_over <= len(cases) // 20
    assert min(methods[method] for method in ("empty", "multi", "single")) > len(cases) // 20

"""What fails before any scenario is told once, and next steps in a scenario know what it has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from schedctl.policy import documents
from schedctl.reports.checks import CheckReport
from schedctl.testing.builders import ZONE, cluster, node
from tests.policy.evaluating import (
    LOSE_ZONE,
    check,
    deployment,
    manifests_of,
    policy,
    priority_class,
    report,
    running,
    zoned,
)

SURVIVES = check("survives", documents.Survives(scenario="lose-zone"))


def judge(
    state: Sequence[Any], manifest: dict[str, Any], checked: documents.Check, scenario: documents.Scenario = LOSE_ZONE
) -> CheckReport:
    """The report about a workload."""
    return report(cluster(*state), manifests_of(manifest), policy(checked, scenarios=[scenario]))


def told(found: CheckReport) -> list[tuple[str, str, str]]:
    """Scenario, outcome and message of each result."""
    return [(result.scenario, result.outcome.value, result.message) for result in found.results]


def changing(**change: Mapping[str, Any] | str) -> documents.Scenario:
    """A scenario of one change."""
    return documents.Scenario("changed", changes=(change,))


# -- failures ----------------------------------------------------------------------


def test_a_failure_that_stands_before_the_scenario_is_told_once() -> None:
    found = judge(zoned(1, 1, 1), deployment(replicas=3, cpu="9"), SURVIVES)
    assert told(found) == [("baseline", "Violated", "3 pods of 3 pending, none allowed")]
    assert found.results[0].reasons[-1] == "the same in lose-zone=eu-1a, lose-zone=eu-1b, lose-zone=eu-1c"
    assert "3 nodes: Insufficient cpu" in found.results[0].reasons[1]
    assert found.summary.exit_code == 1


def test_what_grows_worse_in_a_scenario_is_told_of_the_scenario() -> None:
    found = judge(zoned(1, 1), deployment(replicas=3, cpu="3"), SURVIVES)
    assert told(found) == [
        ("lose-zone=eu-1a", "Violated", "2 pods of 3 pending, none allowed"),
        ("lose-zone=eu-1b", "Violated", "2 pods of 3 pending, none allowed"),
    ]


def test_a_check_that_is_judged_before_scenarios_too_tells_a_standing_failure_there() -> None:
    fits = check("schedulable", documents.Schedulable(), scenarios=("baseline", "lose-zone"))
    found = judge(zoned(1, 1), deployment(replicas=1, cpu="9"), fits)
    assert told(found) == [("baseline", "Violated", "0 of 1 pod can be scheduled")]
    assert found.results[0].reasons[-1] == "the same in lose-zone=eu-1a, lose-zone=eu-1b"


def test_a_failure_that_scenarios_mend_is_not_told_of_a_check_in_scenarios_alone() -> None:
    fits = check("schedulable", documents.Schedulable(), scenarios=("changed",))
    found = judge(zoned(1), deployment(replicas=2, cpu="3"), fits, changing(addNode={"like:a0": 1}))
    assert told(found) == [("changed", "Passed", "2 of 2 pods can be scheduled")]


def test_names_that_match_nothing_are_told_once() -> None:
    headroom = check("headroom", documents.Headroom(resource="cpuu", percent=1), scenarios=("lose-zone",))
    found = judge(zoned(1, 1), deployment(replicas=1), headroom)
    assert told(found) == [("baseline", "Inconclusive", "no node offers cpuu")]


def test_a_preemption_by_the_release_is_not_one_by_the_scenario() -> None:
    state = [*zoned(1, 1), running("old-0", "a0", cpu="4"), running("old-1", "b0", cpu="4")]
    high = [priority_class("high", 1000), deployment(replicas=1, cpu="4", priorityClassName="high")]
    found = report(cluster(*state), manifests_of(*high), policy(SURVIVES, scenarios=[LOSE_ZONE]))
    assert {result.scenario for result in found.results} == {"lose-zone=eu-1a", "lose-zone=eu-1b"}
    assert "survives only by preempting 1 pod" in {result.message for result in found.results}


# -- next steps --------------------------------------------------------------------


def test_what_a_scenario_removes_is_not_taken_for_a_misspelt_name() -> None:
    found = judge(zoned(1, 1, 1), deployment(replicas=1, nodeSelector={ZONE: "eu-1a"}), SURVIVES)
    hints = found.results[0].hints
    assert f"lose-zone=eu-1a leaves no node with {ZONE}=eu-1a, which the pod requires" in hints
    assert not any("did you mean" in hint for hint in hints)


def test_a_misspelt_name_of_before_the_scenario_is_one_still() -> None:
    found = judge(zoned(1, 1), deployment(replicas=1, nodeSelector={ZONE: "eu-1c"}), SURVIVES)
    assert [result.scenario for result in found.results] == ["baseline"]
    assert any("did you mean" in hint for hint in found.results[0].hints)


def test_no_next_step_undoes_what_the_scenario_does() -> None:
    state = [node("a"), node("b", cpu="1")]
    for scenario in (changing(drain="a"), changing(taint={"a": "x=y:NoExecute"})):
        survives = check("survives", documents.Survives(scenario="changed"))
        found = judge(state, deployment(replicas=1, cpu="2"), survives, scenario)
        hints = found.results[0].hints
        assert "would fit on b if cpu <= 1" in hints
        assert not any("uncordoned" in hint or "loses" in hint for hint in hints)


def test_a_node_that_was_cordoned_before_the_scenario_may_be_uncordoned() -> None:
    state = [*zoned(1, 1), node("c0", zone="eu-1b", unschedulable=True)]
    found = judge(state, deployment(replicas=2, cpu="3"), SURVIVES)
    assert any("c0 is uncordoned" in hint for result in found.results for hint in result.hints)

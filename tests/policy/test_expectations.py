"""Tests of policies: what they expect, in what a report differs from it, and how that is rewritten."""

from __future__ import annotations

import jsonschema
import pytest

from schedctl.documents.yaml_trees import read_yaml
from schedctl.policy import expectations
from schedctl.reports import checks
from schedctl.session.schemas import SCHEMAS

TEST = """\
apiVersion: schedctl.dev/v1alpha1
kind: CheckPolicyTest
metadata: {name: two zones}
spec:
  state: [../cluster.yaml]
  manifests: [web.yaml]
  policies: [policy.yaml]
  # what must come
  expect:
    exitCode: 1  # no
    results:
      - {check: zones, subject: Deployment shop/web, outcome: Violated, message: needs 3}
  options: {failOn: warning}  # last
"""


def result(
    check="zones", name="web", outcome=checks.CheckOutcome.VIOLATED, scenario="baseline", message="2 zones, needs 3"
):
    return checks.CheckResult(
        policy="p",
        check=check,
        scenario=scenario,
        severity=checks.Severity.ERROR,
        outcome=outcome,
        kind="Deployment",
        namespace="shop",
        name=name,
        subject=f"Deployment shop/{name}",
        message=message,
        fingerprint="",
    )


def report(*results, code=1):
    rules = [
        checks.PolicyRules(
            name="p", checks=[checks.CheckRule(name=name, severity=checks.Severity.ERROR) for name in ("zones", "fits")]
        )
    ]
    return checks.CheckReport(
        summary=checks.CheckSummary(exit_code=code, results=len(results)), policies=rules, results=list(results)
    )


def read(text):
    tests, problems = expectations.tests_in(text.encode(), "policies/web.test.yaml")
    return tests, [str(problem) for problem in problems]


def expecting(*lines, code=1):
    expected = "".join(f"      - {{{line}}}\n" for line in lines) or " []\n"
    before, _, after = TEST.partition("    exitCode")
    written = f"{before}    exitCode: {code}\n    results:{'' if not lines else chr(10)}{expected}"
    (test,), problems = read(written + after.partition("needs 3}\n")[2])
    assert problems == []
    return test


def test_paths_of_a_test_are_relative_to_its_file():
    (test,), problems = read(TEST)
    assert problems == []
    assert (test.name, test.line, test.exit_code, test.expect) == ("two zones", 1, 1, (9, 3))
    assert (test.state, test.manifests, test.policies) == (
        ("policies/../cluster.yaml",),
        ("policies/web.yaml",),
        ("policies/policy.yaml",),
    )
    assert test.options.fail_on == "warning"


def test_the_schema_accepts_what_is_read():
    def plain(node):
        if node.is_mapping:
            return {key.value: plain(value) for key, value in node.value}
        return [plain(each) for each in node.value] if node.is_list else node.value

    jsonschema.validate(plain(read_yaml(TEST)), SCHEMAS["CheckPolicyTest"]())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(("state: [../cluster.yaml]", ""), "spec.state: a test needs state", id="no state"),
        pytest.param(("outcome: Violated", "outcome: violeted"), 'unknown outcome "violeted"', id="an outcome"),
        pytest.param(("check: zones, ", ""), "`check` is required", id="no check"),
        pytest.param(("exitCode: 1", "exitCode: 7"), "7 is not an exit code of `schedctl check`", id="a code"),
        pytest.param(("exitCode", "exitcode"), 'unknown field "exitcode"', id="a field"),
        pytest.param(("failOn: warning", "now: noon"), '"noon" is not a time', id="a time"),
    ],
)
def test_a_problem_is_reported_with_its_place(change, message):
    _, problems = read(TEST.replace(*change))
    assert len(problems) == 1
    assert problems[0].startswith("policies/web.test.yaml:")
    assert message in problems[0]


WANTED = "check: zones, subject: Deployment shop/web, outcome: Violated"


@pytest.mark.parametrize(
    ("expected", "results", "differences"),
    [
        pytest.param([WANTED], [result()], [], id="what is expected came"),
        pytest.param(
            ["check: zones, kind: Deployment, name: web, outcome: Violated"], [result()], [], id="by its name"
        ),
        pytest.param(
            [WANTED],
            [result(), result("fits", outcome=checks.CheckOutcome.PASSED)],
            [],
            id="what passes need not be expected",
        ),
        pytest.param(
            [WANTED],
            [result(outcome=checks.CheckOutcome.PASSED, message="3 zones")],
            ["zones of Deployment shop/web: expected Violated, got Passed: 3 zones"],
            id="another outcome",
        ),
        pytest.param(
            [f"{WANTED}, message: needs 4"],
            [result()],
            ['zones of Deployment shop/web: expected Violated with "needs 4" in its message, got "2 zones, needs 3"'],
            id="another message",
        ),
        pytest.param(
            ["check: zones, subject: Deployment shop/wbe, outcome: Violated"],
            [result()],
            [
                "expected zones of Deployment shop/wbe, but no such object was checked;"
                " the nearest is Deployment shop/web",
                "not expected: zones of Deployment shop/web: Violated: 2 zones, needs 3",
            ],
            id="a misspelt object",
        ),
        pytest.param(
            ["check: zone, outcome: Passed"],
            [],
            ["expected zone, but the run has no such check; the nearest is zones"],
            id="a misspelt check",
        ),
        pytest.param(
            ["check: zones, outcome: Passed"],
            [],
            ["expected zones, but the check applied to no object"],
            id="a check that was about nothing",
        ),
        pytest.param(
            ["check: zones, scenario: lose-zone=b, outcome: Violated"],
            [result(scenario="lose-zone=a", outcome=checks.CheckOutcome.PASSED)],
            ["expected zones in lose-zone=b, but the run has no such scenario; the nearest is lose-zone=a"],
            id="another scenario",
        ),
        pytest.param(
            [],
            [result()],
            ["not expected: zones of Deployment shop/web: Violated: 2 zones, needs 3"],
            id="a violation nobody expected",
        ),
    ],
)
def test_a_missing_result_is_reported_with_the_nearest_one(expected, results, differences):
    assert expectations.differences(expecting(*expected), report(*results)) == differences


def test_the_exit_code_is_expected_too():
    assert expectations.differences(expecting(WANTED, code=0), report(result())) == ["expected exit code 0, got 1"]


def test_where_no_results_are_expected_the_exit_code_is_all():
    (test,), _ = read(TEST.partition("    results:")[0] + "  options: {}\n")
    assert expectations.differences(test, report(result())) == []


def test_what_is_rewritten_is_met_and_nothing_else_changes():
    (test,), _ = read(TEST)
    new = report(result(message="1 zone, needs 3"), result("fits", "api", scenario="lose-zone=a", message="no"), code=0)
    text = expectations.rewrite_expectation(TEST, test, new)
    assert text == TEST.partition("  expect:")[0] + (
        "  expect:\n"
        "    exitCode: 0\n"
        "    results:\n"
        "      - check: zones\n"
        "        subject: Deployment shop/web\n"
        "        outcome: Violated\n"
        "        message: needs 3\n"
        "      - check: fits\n"
        "        scenario: lose-zone=a\n"
        "        subject: Deployment shop/api\n"
        "        outcome: Violated\n"
        "  options: {failOn: warning}  # last\n"
    )
    (again,), problems = read(text)
    assert problems == []
    assert expectations.differences(again, new) == []


def test_names_that_are_odd_are_still_met_when_rewritten():
    (test,), _ = read(TEST)
    new = report(result(name='a: "b" #c'), result("fits", "yes", scenario="s=true"))
    (again,), problems = read(expectations.rewrite_expectation(TEST, test, new))
    assert problems == []
    assert expectations.differences(again, new) == []


def test_what_is_on_one_line_is_not_rewritten():
    text = TEST.partition("spec:")[0] + "spec: {state: [a], manifests: [b], expect: {exitCode: 0}}\n"
    (test,), _ = read(text)
    assert expectations.rewrite_expectation(text, test, report()) is None

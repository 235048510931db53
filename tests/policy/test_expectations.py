"""Tests of policies: what they expect, in what a report differs from it, and how that is rewritten."""

from __future__ import annotations

import json

import jsonschema
import pytest

from schedctl.documents.yaml_trees import read_yaml
from schedctl.policy import expectation_updates, expectations
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
    text = expectation_updates.rewrite_expectation(TEST, test, new)
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
    (again,), problems = read(expectation_updates.rewrite_expectation(TEST, test, new))
    assert problems == []
    assert expectations.differences(again, new) == []


@pytest.mark.parametrize(
    ("written", "rewritten"),
    [
        pytest.param(
            "spec: {state: [a], expect: {exitCode: 0}, manifests: [b]}  # last\n",
            "spec: {state: [a], expect: {exitCode: 1, results: [{check: zones, subject: Deployment shop/web,"
            " outcome: Violated}]}, manifests: [b]}  # last\n",
            id="on one line",
        ),
        pytest.param(
            "spec: {\n  state: [a],\n  expect: {\n    exitCode: 0, # }\n    message: 'it}''s'\n  },\n"
            "  manifests: [b]\n}\n",
            "spec: {\n  state: [a],\n  expect: {exitCode: 1, results: [{check: zones, subject: Deployment shop/web,"
            " outcome: Violated}]},\n  manifests: [b]\n}\n",
            id="on several lines, with braces in a comment and in a text",
        ),
        pytest.param(
            "spec:\n  state: [a]\n  expect: {exitCode: 0}  # why\n  manifests: [b]\n",
            "spec:\n  state: [a]\n  expect:\n    exitCode: 1\n    results:\n      - check: zones\n"
            "        subject: Deployment shop/web\n        outcome: Violated  # why\n  manifests: [b]\n",
            id="in braces below a key of its own, which becomes a block",
        ),
    ],
)
def test_what_is_in_braces_is_rewritten_too(written, rewritten):
    head = TEST.partition("spec:")[0]
    (test,), _ = read(head + written)
    assert expectation_updates.rewrite_expectation(head + written, test, report(result())) == head + rewritten


def test_names_with_signs_of_flow_style_are_met_when_rewritten():
    text = TEST.partition("spec:")[0] + "spec: {state: [a], manifests: [b], expect: {exitCode: 0}}\n"
    (test,), _ = read(text)
    new = report(result(name="a, {b}: [c]"), result("fits", "web[0..2]"))
    (again,), problems = read(expectation_updates.rewrite_expectation(text, test, new))
    assert problems == []
    assert expectations.differences(again, new) == []


def test_json_stays_json():
    text = (
        '{"apiVersion": "schedctl.dev/v1alpha1", "kind": "CheckPolicyTest", "metadata": {"name": "x"},'
        ' "spec": {"expect": {"exitCode": 0}, "state": ["a"], "manifests": ["b"]}}'
    )
    (test,), problems = read(text)
    assert problems == []
    rewritten = json.loads(expectation_updates.rewrite_expectation(text, test, report(result())))
    assert rewritten["spec"]["expect"]["results"] == [
        {"check": "zones", "subject": "Deployment shop/web", "outcome": "Violated"}
    ]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        pytest.param(("state: [../cluster.yaml]", "state: [../../etc/passwd]"), "spec.state[0]", id="above"),
        pytest.param(
            ("manifests: [web.yaml]", "manifests: [web.yaml, /etc/passwd]"), "spec.manifests[1]", id="absolute"
        ),
        pytest.param(("manifests: [web.yaml]", "manifests: [link/passwd]"), "spec.manifests[0]", id="by a link"),
        pytest.param(("manifests: [web.yaml]", 'manifests: ["l*/passwd"]'), "spec.manifests[0]", id="by a glob"),
        pytest.param(("policies: [policy.yaml]", "policies: [../.git/config]"), "spec.policies[0]", id="of git"),
        pytest.param(
            ("policies: [policy.yaml]", "policies: ['link/passwd@sha256:0']"), "spec.policies[0]", id="by a digest"
        ),
        pytest.param(("failOn: warning", "baseline: ../../b.yaml"), "spec.options.baseline", id="a baseline"),
        pytest.param(
            ("failOn: warning", "schedulerConfig: ../../c.yaml"), "spec.options.schedulerConfig", id="a configuration"
        ),
    ],
)
@pytest.mark.parametrize("repository", [True, False])
def test_a_test_names_no_file_outside_of_its_repository(tmp_path, monkeypatch, change, path, repository):
    root, outside = tmp_path / "root", tmp_path / "etc"
    (root / "policies").mkdir(parents=True)
    outside.mkdir()
    (outside / "passwd").write_text("root:x:0:0\n")
    (root / "policies/link").symlink_to(outside)
    if repository:
        (root / ".git").mkdir()
    monkeypatch.chdir(tmp_path if repository else root)
    source = "root/policies/web.test.yaml" if repository else "policies/web.test.yaml"
    _, problems = expectations.tests_in(TEST.replace(*change).encode(), source)
    assert [(problem.path, problem.message.partition('" ')[2]) for problem in problems] == [
        (path, "is outside of the repository")
    ]

"""``schedctl test`` as a command: what it finds, how it ends, and what it rewrites."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from junitparser import JUnitXml

NODE = """\
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "20"}}
"""
BIG = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: big, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: a, image: a, resources: {requests: {cpu: "3"}}}]
"""
POLICY = """\
apiVersion: schedctl.dev/v1alpha1
kind: CheckPolicy
metadata: {name: mine}
spec:
  checks: [{name: fits, builtin: schedulable}]
"""
TEST = """\
apiVersion: schedctl.dev/v1alpha1
kind: CheckPolicyTest
metadata: {name: too big}
spec:
  state: [../node.yaml]
  manifests: [big.yaml]
  policies: [policy.yaml]
  expect:
    exitCode: 1
    results:
      - {check: fits, subject: Deployment shop/big, outcome: Violated, message: 1 of 2 pods}
"""
WRONG = TEST.replace("shop/big", "shop/bog").replace("too big", "wrong")


@pytest.fixture
def tested(schedctl, tmp_path, monkeypatch):
    """``schedctl test`` in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policies").mkdir()
    (tmp_path / "node.yaml").write_text(NODE)
    for name, text in {"big.yaml": BIG, "policy.yaml": POLICY, "a.test.yaml": TEST}.items():
        (tmp_path / "policies" / name).write_text(text)

    def tested(*arguments):
        return schedctl("test", *arguments)

    return tested


def write(name, text):
    Path("policies", name).write_text(text)


def test_a_test_that_passes(tested):
    for arguments in ((), ("policies",), ("policies/a.test.yaml",)):
        ended = tested(*arguments)
        assert ended == (0, "ok   policies/a.test.yaml:1: too big\ntest: 1 test, 1 passed, 0 failed\n", "")


def test_a_test_that_fails_says_in_what(tested):
    write("b.test.yaml", f"---\n{WRONG}")
    ended = tested()
    assert (ended.code, ended.err) == (1, "")
    assert ended.out.splitlines() == [
        "ok   policies/a.test.yaml:1: too big",
        "FAIL policies/b.test.yaml:2: wrong",
        "     expected fits of Deployment shop/bog, but no such object was checked; the nearest is Deployment shop/big",
        "     not expected: fits of Deployment shop/big: Violated: only 1 of 2 pods can be scheduled",
        "test: 2 tests, 1 passed, 1 failed",
    ]


def test_every_form_says_the_same(tested):
    write("b.test.yaml", WRONG)
    document = json.loads(tested("-o", "json").out)
    assert [result["outcome"] for result in document["results"]] == ["Passed", "Failed"]
    assert document["summary"] == {
        "exitCode": 1,
        "tests": 2,
        "passed": 1,
        "failed": 1,
        "updated": 0,
        "notSelected": 0,
    }
    ended = tested("-o", "junit")
    assert ended.code == 1
    suites = JUnitXml.fromstring(ended.out.encode())
    assert (suites.tests, suites.failures) == (2, 1)
    ended = tested("-o", "tap")
    assert ended.out.splitlines()[1:4:2] == ["1..2", "not ok 2 - policies/b.test.yaml:1: wrong"]
    assert tested("-o", "sarif").code == 2


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(("empty",), 3, id="no tests are no pass"),
        pytest.param(("empty", "--allow-empty"), 0, id="unless that is fine"),
        pytest.param(("none",), 3, id="no such folder"),
    ],
)
def test_a_folder_without_tests(tested, arguments, code):
    Path("empty").mkdir()
    Path("empty/policy.yaml").write_text(POLICY)
    assert tested(*arguments).code == code


def test_a_test_that_cannot_be_read_ends_everything(tested):
    write("b.test.yaml", TEST.replace("outcome: Violated", "outcome: Violeted"))
    ended = tested()
    assert (ended.code, ended.out) == (2, "")
    assert 'b.test.yaml:11:62: spec.expect.results[0].outcome: unknown outcome "Violeted"' in ended.err


def test_a_fault_is_a_difference_and_may_be_expected(tested):
    write("policy.yaml", POLICY.replace("schedulable", "schedulabel"))
    ended = tested()
    assert ended.code == 1
    assert "     expected exit code 1, got 2\n" in ended.out
    assert 'unknown built-in check "schedulabel" (did you mean "schedulable"?)' in ended.out
    write("a.test.yaml", TEST.partition("  expect:")[0] + "  expect: {exitCode: 2}\n")
    assert tested().code == 0
    write("a.test.yaml", TEST.replace("exitCode: 1", "exitCode: 2"))
    assert tested("--update").code == 1, "what is broken is no expectation"
    assert "exitCode: 2" in Path("policies/a.test.yaml").read_text()


def test_update_shows_what_it_rewrites(tested):
    text = f"{TEST}---\n# two in one file\n{WRONG}  # behind\n"
    write("a.test.yaml", text)
    ended = tested("--update")
    assert ended.code == 0
    assert "test: 2 tests, 1 passed, 0 failed, 1 updated" in ended.out
    assert "-      - {check: fits, subject: Deployment shop/bog" in ended.err
    assert "+        subject: Deployment shop/big" in ended.err
    now = Path("policies/a.test.yaml").read_text()
    assert now.startswith(f"{TEST}---\n# two in one file\n")
    assert now.endswith("        outcome: Violated\n  # behind\n")
    assert tested() == (
        0,
        "ok   policies/a.test.yaml:1: too big\nok   policies/a.test.yaml:14: wrong\n"
        "test: 2 tests, 2 passed, 0 failed\n",
        "",
    )


def test_update_leaves_alone_what_is_as_expected(tested):
    before = Path("policies/a.test.yaml").stat().st_mtime_ns
    assert tested("--update").code == 0
    assert Path("policies/a.test.yaml").stat().st_mtime_ns == before


def test_the_time_may_be_set(tested):
    exempting = "  exemptions: [{checks: [fits], match: {}, reason: later, expires: 2026-11-20}]\n"
    write("policy.yaml", POLICY + exempting)
    for day, outcome, code in (("20", "Exempted", 0), ("21", "Violated", 1)):
        results = f"{{check: fits, outcome: {outcome}}}"
        write(
            "a.test.yaml",
            TEST.partition("  expect:")[0]
            + f"  options: {{now: '2026-11-{day}T12:00:00Z'}}\n"
            + f"  expect: {{exitCode: {code}, results: [{results}]}}\n",
        )
        ended = tested()
        assert ended.code == 0, ended.out


def test_an_expected_fault_may_be_named_by_its_message(tested):
    write("policy.yaml", POLICY.replace("schedulable", "schedulabel"))
    head = TEST.partition("  expect:")[0]
    write("a.test.yaml", f"{head}  expect: {{exitCode: 2, message: unknown built-in check}}\n")
    assert tested().code == 0
    write("a.test.yaml", f"{head}  expect: {{exitCode: 2, message: no scenario}}\n")
    ended = tested()
    assert (ended.code, 'expected "no scenario" in the message' in ended.out) == (1, True)
    write("a.test.yaml", f"{head}  expect: {{exitCode: 1, message: x}}\n")
    assert "`message` needs exitCode 2, 3 or 4" in tested().err


@pytest.mark.parametrize(
    ("written", "message"),
    [
        pytest.param("options: {rollout: bogus}", 'spec.options.rollout: rollout cannot be "bogus"', id="rollout"),
        pytest.param("options: {failOn: eror}", 'spec.options.failOn: failOn cannot be "eror"', id="failOn"),
        pytest.param("options: {onInconclusive: x}", "spec.options.onInconclusive", id="onInconclusive"),
        pytest.param("options: {maxAge: old}", 'spec.options.maxAge: "old" is not a duration', id="maxAge"),
    ],
)
def test_a_mistake_of_the_test_is_no_fault_that_it_may_expect(tested, written, message):
    write("a.test.yaml", f"{TEST.partition('  expect:')[0]}  {written}\n  expect: {{exitCode: 2}}\n")
    ended = tested()
    assert (ended.code, message in ended.err) == (2, True), ended


def test_no_test_reads_standard_input(tested):
    write("a.test.yaml", TEST.replace("manifests: [big.yaml]", 'manifests: ["-"]'))
    assert "spec.manifests[0]: a test cannot read standard input" in tested().err


def test_a_time_without_a_zone_is_utc_wherever_the_test_runs(tested, monkeypatch):
    exempting = "  exemptions: [{checks: [fits], match: {}, reason: later, expires: 2026-11-20}]\n"
    write("policy.yaml", POLICY + exempting)
    expected = "expect: {exitCode: 0, results: [{check: fits, outcome: Exempted}]}"
    head = TEST.partition("  expect:")[0]
    write("a.test.yaml", f"{head}  options: {{now: '2026-11-20T23:30:00'}}\n  {expected}\n")
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert tested().code == 0
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    "flow",
    [
        pytest.param("expect: {exitCode: 0}\n", id="on one line"),
        pytest.param("expect: {\n    exitCode: 0\n  }\n", id="on several"),
        pytest.param("expect:\n    {exitCode: 0\n}\n", id="with the brace in the first column"),
    ],
)
def test_what_is_in_braces_is_rewritten_into_what_passes(tested, flow):
    write("a.test.yaml", TEST.partition("  expect:")[0] + f"  {flow}")
    assert tested().code == 1
    assert tested("--update").code == 0
    ended = tested()
    assert (ended.code, "1 passed" in ended.out) == (0, True), ended


def test_what_cannot_be_rewritten_stays_as_it_is(tested):
    text = TEST.partition("  expect:")[0] + "  expect: &x {exitCode: 0}\n"
    write("a.test.yaml", text)
    ended = tested("--update")
    assert (ended.code, "cannot update it" in ended.out) == (1, True), ended
    assert Path("policies/a.test.yaml").read_text() == text


def test_no_file_outside_of_the_repository_is_read_and_none_is_printed(tested, tmp_path):
    (tmp_path.parent / "passwd").write_text("root:x:0:0:secret\n")
    write("a.test.yaml", TEST.replace("../node.yaml", "../../passwd"))
    ended = tested()
    assert (ended.code, ended.out) == (2, "")
    assert 'spec.state[0]: "../../passwd" is outside of the repository' in ended.err
    assert "secret" not in ended.err


def test_a_name_selects_tests_and_says_how_many_it_leaves_out(tested):
    write("b.test.yaml", WRONG)
    assert tested("-k", "TOO BIG") == (
        0,
        "ok   policies/a.test.yaml:1: too big\ntest: 1 test, 1 passed, 0 failed, 1 not selected\n",
        "",
    )
    assert tested("-k", "b.test").code == 1
    assert "2 tests" in tested("-k", "big", "-k", "wrong").out
    document = json.loads(tested("-k", "big", "-o", "json").out)
    assert document["summary"]["notSelected"] == 1


def test_a_name_that_no_test_has_is_no_pass(tested):
    ended = tested("-k", "too bog")
    assert (ended.code, ended.out) == (3, "")
    assert 'no test is called "too bog"' in ended.err
    assert 'did you mean "too big"?' in ended.err


CONDITIONAL = """\
apiVersion: schedctl.dev/v1alpha1
kind: CheckPolicy
metadata: {name: mine}
spec:
  checks:
    - name: fits
      builtin: schedulable
      matchConditions: [{name: many, expression: workload.replicas > 1}]
    - {name: alone, builtin: max-nodes, with: {count: 1, ignorePending: true}}
---
apiVersion: schedctl.dev/v1alpha1
kind: CheckPolicy
metadata: {name: other}
spec:
  checks: [{name: never, builtin: schedulable}]
"""


def test_coverage_tells_what_no_test_exercises(tested):
    write("policy.yaml", CONDITIONAL)
    write("a.test.yaml", TEST.partition("  expect:")[0] + "  expect: {exitCode: 1}\n")
    write("untested.yaml", POLICY)
    write("broken.yaml", POLICY.replace("schedulable", "schedulabel"))
    ended = tested("--coverage")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[1:-1] == [
        "coverage: 40 %: 4 of 10 outcomes of checks and match conditions",
        "  policies/policy.yaml:6: check fits: never passed",
        "  policies/policy.yaml:8: match condition many of check fits: never false",
        "  policies/policy.yaml:9: check alone: never violated",
        "  policies/policy.yaml:15: check never: never passed",
        "  policies/untested.yaml:5: check fits: never exercised",
        "  policies/broken.yaml: not counted, it cannot be read",
    ]


@pytest.mark.parametrize(("least", "code"), [("50", 0), ("50.1", 1)])
def test_too_little_coverage_is_exit_code_1_in_every_form(tested, least, code):
    # The one test violates the one check, which never passes: half of it.
    ended = tested("--min-coverage", least)
    assert ended.code == code
    assert ("coverage: 50 %, needs 50.1 %: 1 of 2" in ended.out) == bool(code)
    assert json.loads(tested("--min-coverage", least, "-o", "json").out)["coverage"]["isEnough"] == (not code)
    suites = JUnitXml.fromstring(tested("--min-coverage", least, "-o", "junit").out.encode())
    assert suites.failures == code
    assert ("not ok 2 - coverage" in tested("--min-coverage", least, "-o", "tap").out) == bool(code)


def test_what_is_exercised_by_any_test_counts_for_all(tested):
    write("small.yaml", BIG.replace("replicas: 2", "replicas: 1"))
    passing = (
        TEST.partition("  expect:")[0]
        .replace("big.yaml", "small.yaml")
        .replace("policy.yaml", "../policies/policy.yaml")
    )
    write("b.test.yaml", f"{passing}  expect: {{exitCode: 0}}\n")
    assert "coverage: 100 %: 2 of 2" in tested("--min-coverage", "100").out


def test_without_policies_there_is_no_coverage_and_no_pass(tested):
    Path("policies/policy.yaml").unlink()
    write("a.test.yaml", TEST.replace("  policies: [policy.yaml]\n", "").replace("check: fits", "check: schedulable"))
    assert tested().code == 0
    ended = tested("--min-coverage", "1")
    assert (ended.code, "there are no policies" in ended.out) == (1, True)


def test_coverage_is_not_in_a_report_that_was_not_asked_for_it(tested):
    assert json.loads(tested("-o", "json").out)["coverage"] is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("# c\n" + "".join(f"  {line}\n" for line in TEST.splitlines()), 0, id="indented"),
        pytest.param(TEST.replace("kind: ", "kind: !!str "), 0, id="with a tag"),
        pytest.param(TEST.replace("CheckPolicyTest", "CheckpolicyTest"), 2, id="misspelt"),
        pytest.param(TEST.replace("CheckPolicyTest", "CheckTest"), 2, id="no kind of ours"),
    ],
)
def test_no_test_is_passed_over_for_how_it_is_written(tested, text, code):
    write("a.test.yaml", TEST)
    write("b.test.yaml", text)
    ended = tested()
    assert ended.code == code, ended
    assert code or "2 passed" in ended.out


def test_quiet_prints_what_failed_and_verbose_what_every_check_says(tested):
    write("b.test.yaml", WRONG)
    plain, quiet, verbose = (tested(*options).out.splitlines() for options in ((), ("-q",), ("-v",)))
    assert quiet == [line for line in plain if not line.startswith("ok ")]
    results = [line.strip() for line in verbose if line not in plain]
    assert results
    assert all(": Violated: " in line or ": Passed: " in line for line in results)
    document = json.loads(tested("-o", "json", "-q").out)
    assert [line for each in document["results"] for line in each["results"]] == results


HELD_TO_A_VERSION = POLICY.replace("spec:\n", 'spec:\n  kubeVersion: ">=1.36"\n')
ACCEPTS_ONE = TEST.replace("too big", "of a version")


@pytest.mark.parametrize(
    ("options", "arguments", "code"),
    [
        pytest.param("", ("--kube-version", "1.36"), 0, id="the command line says which version judges"),
        pytest.param("{kubeVersion: '1.37'}", ("--kube-version", "1.35"), 0, id="the test itself goes before"),
        pytest.param("{kubeVersion: '1.35'}", ("--kube-version", "1.36"), 1, id="a version that the policy is not for"),
        pytest.param("", (), 1, id="nobody says"),
        pytest.param("{featureGates: Nope=true}", (), 1, id="a gate that is none fails the test"),
    ],
)
def test_a_test_may_be_judged_by_another_version_of_kube_scheduler(tested, options, arguments, code):
    Path("policies/policy.yaml").write_text(HELD_TO_A_VERSION)
    written = ACCEPTS_ONE.replace("  expect:\n", f"  options: {options}\n  expect:\n") if options else ACCEPTS_ONE
    Path("policies/a.test.yaml").write_text(written)
    assert tested("policies", *arguments).code == code


def test_a_version_that_is_none_is_no_failure_of_a_test(tested):
    ended = tested("policies", "--kube-version", "new")
    assert (ended.code, ended.out) == (2, "")
    assert 'error: --kube-version "new" is no version of Kubernetes' in ended.err

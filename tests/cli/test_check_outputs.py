"""The ready policies on what passes and what fails: in every form the same exit code, and what its readers accept."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import jsonschema
import pytest
import tap.parser
import yaml
from junitparser import JUnitXml

from schedctl.reports.check_formats import CHECK_FORMATS

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "tests/render/checks/schemas"
POLICIES = sorted(path.parent.name for path in (ROOT / "fixtures/policies").glob("*/policy.yaml"))
SARIF = jsonschema.Draft4Validator(json.loads((SCHEMAS / "sarif-2.1.0-rtm.5.json").read_text()))
GITLAB = jsonschema.Draft202012Validator(json.loads((SCHEMAS / "gitlab-code-quality.json").read_text()))


def arguments(policy, manifests):
    folder = f"fixtures/policies/{policy}"
    return (f"{folder}/{manifests}.yaml", "-f", "fixtures/policies/cluster.yaml", "-p", f"{folder}/policy.yaml")


def test_there_are_sixteen_policies_each_with_manifests_that_pass_and_that_fail():
    assert len(POLICIES) == 16
    for policy in POLICIES:
        files = {path.name for path in (ROOT / "fixtures/policies" / policy).iterdir()}
        assert files >= {"policy.yaml", "passes.yaml", "fails.yaml"}


@pytest.mark.parametrize(("manifests", "code"), [("passes", 0), ("fails", 1)])
@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_is_kept_or_violated(schedctl, policy, manifests, code):
    ended = schedctl("check", *arguments(policy, manifests))
    assert (ended.code, ended.err) == (code, "")
    assert ("error [" in ended.out) == (code == 1)
    assert ended.out.splitlines()[-1].startswith("check: ")


def test_the_tests_of_the_policies_pass_and_expect_one_that_passes_and_one_that_fails(schedctl):
    ended = schedctl("test", "fixtures/policies")
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "test: 32 tests, 32 passed, 0 failed")
    for policy in POLICIES:
        for manifests, code in (("passes", 0), ("fails", 1)):
            test = yaml.safe_load((ROOT / f"fixtures/policies/{policy}/{manifests}.test.yaml").read_text())
            assert test["spec"]["expect"]["exitCode"] == code
            assert test["spec"]["manifests"] == [f"{manifests}.yaml"]


def test_what_came_of_tests_is_read_by_those_who_collect_test_reports(schedctl, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # tests of policies read nothing that is not below
    folder = shutil.copytree(ROOT / "fixtures/policies", tmp_path / "policies")
    text = (folder / "all-fit/fails.test.yaml").read_text().replace("exitCode: 1", "exitCode: 0")
    wrong = folder / "all-fit/wrong # SKIP.test.yaml"
    wrong.write_text(text)
    junit, taps = (schedctl("test", str(wrong), "-o", form) for form in ("junit", "tap"))
    assert (junit.code, taps.code) == (1, 1)
    assert JUnitXml.fromstring(junit.out.encode()).failures == 1
    (test,) = (each for each in tap.parser.Parser().parse(io.StringIO(taps.out)) if each.category == "test")
    assert (test.ok, test.skip) == (False, False)


def without_time(report):
    """Return a report without the second in which it was made, which reports for clusters must have."""
    return re.sub(r'"seconds": \d+', '"seconds": 0', report)


def test_no_form_changes_the_verdict_and_files_hold_what_is_printed(schedctl, tmp_path):
    inputs = arguments("zone-loss", "fails")
    reports = [word for form in CHECK_FORMATS for word in ("--report", f"{form}={tmp_path / form}")]
    assert schedctl("check", *inputs, *reports).code == 1
    for form in CHECK_FORMATS:
        ended = schedctl("check", *inputs, "-o", form)
        assert (ended.code, ended.err) == (1, "")
        assert without_time((tmp_path / form).read_text(encoding="utf-8")) == without_time(ended.out), form
    SARIF.validate(json.loads((tmp_path / "sarif").read_text()))
    GITLAB.validate(json.loads((tmp_path / "gitlab").read_text()))
    assert JUnitXml.fromfile(str(tmp_path / "junit")).failures == 3
    parsed = tap.parser.Parser().parse(io.StringIO((tmp_path / "tap").read_text()))
    assert [each.ok for each in parsed if each.category == "test"] == [False] * 3
    assert yaml.safe_load((tmp_path / "yaml").read_text()) == json.loads((tmp_path / "json").read_text())


def test_fingerprints_do_not_change_with_the_numbers(schedctl, tmp_path):
    manifest = (ROOT / "fixtures/policies/all-fit/fails.yaml").read_text()
    seen = set()
    for number, text in enumerate((manifest, f"# moved down\n\n{manifest.replace('replicas: 3', 'replicas: 5')}")):
        file = tmp_path / f"{number}.yaml"
        file.write_text(text)
        rest = arguments("all-fit", "fails")[1:]
        for form, fingerprint in (
            ("gitlab", lambda read: read[0]["fingerprint"]),
            ("sarif", lambda read: read["runs"][0]["results"][0]["partialFingerprints"]["schedctl/v1"]),
        ):
            seen.add(fingerprint(json.loads(schedctl("check", str(file), *rest, "-o", form).out)))
    assert len(seen) == 1


@pytest.mark.slow
def test_the_action_checks_for_real(tmp_path):
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (step,) = (step for step in action["runs"]["steps"] if step.get("id") == "check")
    programs = tmp_path / "schedctl/bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to(sys.executable)
    (programs / "schedctl").symlink_to(Path(sysconfig.get_path("scripts")) / "schedctl")
    environment = {
        "PATH": os.environ["PATH"],
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "FILES": "fixtures/policies/three-zones/fails.yaml",
        "SNAPSHOT": "fixtures/policies/cluster.yaml",
        "POLICY": "fixtures/policies/three-zones/policy.yaml\nfixtures/policies/all-fit/policy.yaml",
        "FAIL_ON": "error",
        "CONFIG": "",
        "BASELINE": "",
        "INLINE_IGNORES": "false",
        "ARGS": "--limit\n1",
    }
    ended = subprocess.run(["bash", "-c", step["run"]], cwd=ROOT, env=environment, text=True, capture_output=True)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    commands = [line for line in ended.stdout.splitlines() if line.startswith("::error ")]
    assert [line.partition(",")[0] for line in commands] == ["::error file=fixtures/policies/three-zones/fails.yaml"]
    assert (tmp_path / "summary").read_text().startswith("### schedctl check: failed\n")
    outputs = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    SARIF.validate(json.loads(Path(outputs["sarif"]).read_text()))
    assert outputs["exit-code"] == "1"

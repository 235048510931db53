"""The steps of the action one after another, for real, from what the image is built from: no daemon is needed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.packaging.locks import ROOT, pins

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
RECIPE = (ROOT / "Containerfile").read_text()
POLICIES = ROOT / "fixtures/policies"
NO_INDEX = ("No matching distribution found", "Connection")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("bash") is None, reason="the steps are for bash, which is not here"),
]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """What ``COPY . /src`` of the Containerfile sees, which is enough for the action as well."""
    folder = tmp_path_factory.mktemp("src")
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    for line in lines:
        if line.startswith("!") and f"{line[1:]}/*" not in lines:
            source, target = ROOT / line[1:], folder / line[1:]
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, target)
    return folder


class Runner:
    """A runner of GitHub as far as the steps see it: variables, and files that they append to."""

    def __init__(self, temp: Path, checkout: Path) -> None:
        self.temp, self.checkout = temp, checkout
        self.output, self.summary = temp / "output", temp / "summary"

    def run(self, **given: str) -> list[subprocess.CompletedProcess[str]]:
        """Run all steps but the cache, until one fails; each file begins empty, as for a new job."""
        inputs = {name: str(each.get("default", "")) for name, each in ACTION["inputs"].items()} | given
        self.output.write_text("")
        self.summary.write_text("")
        ended = []
        for step in ACTION["runs"]["steps"]:
            if "uses" in step or (step["name"] == "Install schedctl" and (self.temp / "schedctl").exists()):
                continue
            environment = dict(os.environ) | {
                "RUNNER_TEMP": str(self.temp),
                "GITHUB_OUTPUT": str(self.output),
                "GITHUB_STEP_SUMMARY": str(self.summary),
                "PIP_NO_COMPILE": "0",  # 0 is pip's word for yes; most of what is installed is not imported here
            }
            for name, value in step.get("env", {}).items():
                wanted = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", value)
                environment[name] = inputs[wanted[1]] if wanted else str(self.checkout)
            command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
            ended.append(subprocess.run(command, env=environment, cwd=self.temp, capture_output=True, text=True))
            if ended[-1].returncode:
                break
        return ended

    def outputs(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.output.read_text().splitlines())


@pytest.fixture(scope="module")
def runner(checkout, tmp_path_factory):
    made = Runner(tmp_path_factory.mktemp("runner"), checkout)
    ended = made.run(files=str(POLICIES / "all-fit/passes.yaml"), snapshot=str(POLICIES / "cluster.yaml"))
    if any(text in ended[-1].stderr for text in NO_INDEX):
        pytest.skip("no package index can be reached")
    assert [each.returncode for each in ended] == [0, 0, 0], ended[-1].stderr
    return made


def test_a_pull_request_that_fits_passes(runner):
    files = f"{POLICIES / 'all-fit/passes.yaml'}\r\n"
    *_, check = runner.run(files=files, snapshot=str(POLICIES / "cluster.yaml"))
    assert (check.returncode, runner.outputs()["exit-code"]) == (0, "0")
    assert runner.summary.read_text().startswith("### schedctl check: passed")


def test_one_that_does_not_fit_fails_with_annotations_a_summary_and_sarif(runner):
    *_, check = runner.run(files=str(POLICIES / "all-fit/fails.yaml"), snapshot=str(POLICIES / "cluster.yaml"))
    assert check.returncode == 1
    finding, basis = check.stdout.splitlines()[-2:]
    assert finding.startswith("::error file=")
    assert basis.startswith("::notice title=schedctl::1 result, ")
    assert runner.summary.read_text().startswith("### schedctl check: failed")
    (run,) = json.loads(Path(runner.outputs()["sarif"]).read_text())["runs"]
    assert [each["ruleId"] for each in run["results"]] == ["built-in/schedulable"]


def test_the_installer_installs_what_is_locked_and_nothing_else(runner):
    python = runner.temp / "schedctl/bin/python"
    ended = subprocess.run([python, "-I", "-m", "pip", "freeze"], capture_output=True, text=True, check=True)
    installed = {
        line.partition("==")[0].partition(" @")[0].lower().replace("_", "-") for line in ended.stdout.split("\n")
    }
    assert "schedctl" in installed
    assert installed - {"", "schedctl"} <= set(pins("requirements.txt"))
    ended = subprocess.run([runner.temp / "schedctl/bin/schedctl", "demo"], capture_output=True, text=True)
    assert (ended.returncode, "try next" in ended.stdout + ended.stderr) == (0, True)


def test_the_image_runs_what_was_installed_by_the_same_step(runner):
    (step,) = (json.loads(line.removeprefix("RUN ")) for line in RECIPE.splitlines() if line.startswith("RUN "))
    assert step == ["python3", "-I", "/src/ci/install.py", "/opt/schedctl"]
    (entry,) = (json.loads(line.removeprefix("ENTRYPOINT ")) for line in RECIPE.splitlines() if "ENTRYPOINT " in line)
    environment = {"PATH": f"{runner.temp / 'schedctl/bin'}:{os.defpath}", "PYTHONDONTWRITEBYTECODE": "1"}
    arguments = [*entry, "check", "fails.yaml", "-f", "../cluster.yaml"]
    ended = subprocess.run(arguments, env=environment, cwd=POLICIES / "all-fit", capture_output=True, text=True)
    assert ended.returncode == 1, ended.stderr
    assert "0 of 3 pods can be scheduled" in ended.stdout

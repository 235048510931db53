"""What is shipped for CI is what its readers accept, and what its shell does with names it must not trust."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
import yaml
from pre_commit.clientlib import load_manifest

import schedctl

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"] if "run" in step}
GITLAB = yaml.safe_load((ROOT / "ci/gitlab/schedctl.gitlab-ci.yml").read_text())
RECIPE = (ROOT / "Containerfile").read_text()
BASH = shutil.which("bash")


def vendored_schema(name: str) -> jsonschema.protocols.Validator:
    """A validator of a schema that check-jsonschema brings."""
    folder = resources.files("check_jsonschema") / "builtin_schemas/vendor"
    return jsonschema.Draft7Validator(json.loads((folder / f"{name}.json").read_text(encoding="utf-8")))


# -- GitHub ------------------------------------------------------------------------


def test_action_matches_the_schema_of_actions():
    vendored_schema("github-actions").validate(ACTION)


def test_action_scripts_contain_no_expressions():
    for step in STEPS.values():
        assert "${{" not in step["run"], "inputs come through the environment"
        assert step["run"].startswith("set -euo pipefail\n")


def test_every_input_is_described_and_used():
    used = re.findall(r"\binputs\.([\w-]+)", json.dumps(ACTION["runs"]))
    assert sorted(used) == sorted(ACTION["inputs"])
    assert all(each["description"] for each in ACTION["inputs"].values())


@pytest.mark.skipif(BASH is None, reason="no bash here")
@pytest.mark.parametrize(
    "script",
    [
        *(step["run"] for step in STEPS.values()),
        *GITLAB["schedctl-check"]["before_script"],
        *GITLAB["schedctl-check"]["script"],
    ],
    ids=[*STEPS, "GitLab, before", "GitLab"],
)
def test_shell_scripts_parse(script):
    assert subprocess.run([BASH, "-n"], input=script, text=True, capture_output=True).stderr == ""


class Runner:
    """A folder and an environment as a runner makes them for a step."""

    def __init__(self, folder: Path, program: str) -> None:
        self.folder = folder
        programs = folder / "temp/schedctl/bin"
        programs.mkdir(parents=True)
        (programs / "python").symlink_to(sys.executable)
        (programs / "schedctl").write_text(program)
        (programs / "schedctl").chmod(0o755)

    def check(self, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run the step that checks; inputs that are not given have their default."""
        values = {name: inputs.get(name, each.get("default", "")) for name, each in ACTION["inputs"].items()}
        step = STEPS["Check"]
        environment = {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: values[found[1]], text)
            for name, text in step["env"].items()
        }
        environment |= {
            "PATH": os.environ["PATH"],
            "RUNNER_TEMP": str(self.folder / "temp"),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
        }
        arguments = [BASH, "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
        return subprocess.run(arguments, cwd=self.folder, env=environment, text=True, capture_output=True)

    def outputs(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in (self.folder / "output").read_text().splitlines())


TOLD = """#!/usr/bin/env python3
import json, sys
json.dump(sys.argv[1:], open("arguments", "w"))
for argument in sys.argv[1:]:
    form, _, file = argument.partition("=")
    if form in ("sarif", "markdown", "github"):
        open(file, "w").write(f"::error::{form}\\n")
print("::error::of others")
sys.exit(CODE)
"""


@pytest.fixture
def runner(tmp_path):
    if BASH is None:
        pytest.skip("no bash here")
    return lambda code=0: Runner(tmp_path, TOLD.replace("CODE", str(code)))


def test_inputs_are_passed_as_single_arguments(runner, tmp_path):
    nasty = 'a b.yaml\n$(touch owned)\n"; touch owned #\n\n  --live  \n*'
    ended = runner().check(
        files=nasty, snapshot="c 1.json\nc2.json", policy="p.yaml", args="--max-age=1h\n--allow-empty"
    )
    assert ended.returncode == 0, ended.stderr
    arguments = json.loads((tmp_path / "arguments").read_text())
    reports = [arguments[at + 1].partition("=")[0] for at, each in enumerate(arguments) if each == "--report"]
    assert reports == ["sarif", "markdown", "github"]
    assert arguments[:5] == ["check", "--fail-on", "error", "--no-config", "--no-inline-ignores"]
    assert arguments[11:] == [
        *("-f", "c 1.json", "-f", "c2.json", "-p", "p.yaml", "--max-age=1h", "--allow-empty"),
        *("--", "a b.yaml", "$(touch owned)", '"; touch owned #', "--live", "*"),
    ]
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("code", [0, 1, 5])
def test_step_has_the_exit_code_and_reports_of_check(runner, tmp_path, code):
    made = runner(code)
    ended = made.check(files="deploy", snapshot="cluster.json")
    assert ended.returncode == code
    assert made.outputs()["exit-code"] == str(code)
    assert Path(made.outputs()["sarif"]).read_text() == "::error::sarif\n"
    assert (tmp_path / "summary").read_text() == "::error::markdown\n"


def test_check_output_is_no_workflow_command_but_annotations_are(runner):
    before, of_others, after, annotation = runner(1).check(files="a", snapshot="b").stdout.splitlines()
    assert of_others == "::error::of others"
    assert before == f"::stop-commands::{after.strip(':')}"
    assert annotation == "::error::github"


def test_failed_check_leaves_no_sarif(tmp_path):
    if BASH is None:
        pytest.skip("no bash here")
    made = Runner(tmp_path, "#!/bin/sh\nexit 3\n")
    assert made.check(files="a", snapshot="b").returncode == 3
    assert made.outputs() == {"sarif": "", "exit-code": "3"}


def test_failed_check_is_an_error_annotation(tmp_path):
    if BASH is None:
        pytest.skip("no bash here")
    ended = Runner(tmp_path, "#!/bin/sh\nexit 3\n").check(files="a", snapshot="b")
    annotation = "::error title=schedctl::the check could not be made (exit code 3); why is said above"
    assert ended.stdout.splitlines()[-1] == annotation


@pytest.mark.parametrize("line", ["--max-age 24h", "-p policies", "--fail-on=never\n  --max-age 24h"])
def test_option_and_value_on_one_line_are_an_error_annotation(runner, tmp_path, line):
    ended = runner().check(files="a", snapshot="b", args=line)
    assert ended.returncode == 2
    assert ended.stdout.startswith("::error title=schedctl::the input args has an option and its value on one line")
    assert not (tmp_path / "arguments").exists()


def test_values_of_arguments_may_have_spaces(runner, tmp_path):
    assert runner().check(files="a", snapshot="b", args="--report=json=my report\n--baseline\na b.yaml").returncode == 0
    arguments = json.loads((tmp_path / "arguments").read_text())
    assert arguments[-5:-2] == ["--report=json=my report", "--baseline", "a b.yaml"]


def test_pull_request_configuration_is_read_only_if_named(runner, tmp_path):
    runner().check(files="a", snapshot="b", config=".schedctl.yaml")
    arguments = json.loads((tmp_path / "arguments").read_text())
    assert "--config=.schedctl.yaml" in arguments
    assert "--no-config" not in arguments


@pytest.mark.parametrize(("value", "ignored"), [("", 2), ("false", 0), ("true", 0), ("yes", 2)])
def test_annotations_of_a_pull_request_accept_nothing_unless_asked_for(runner, tmp_path, value, ignored):
    assert runner().check(files="a", snapshot="b", **{"inline-ignores": value}).returncode == ignored
    if not ignored:
        arguments = json.loads((tmp_path / "arguments").read_text())
        assert ("--no-inline-ignores" in arguments) is (value == "false")
    assert ACTION["inputs"]["inline-ignores"]["default"] == "false"


def test_a_baseline_is_one_argument(runner, tmp_path):
    runner().check(files="a", snapshot="b", baseline="base line.yaml")
    assert "--baseline=base line.yaml" in json.loads((tmp_path / "arguments").read_text())


def test_inputs_may_have_the_line_ends_of_windows(runner, tmp_path):
    inputs = {
        "files": "a.yaml\r\nb.yaml\r\n",
        "snapshot": "c.json\r",
        "policy": "p\r\n",
        "fail-on": "warning\r",
        "baseline": "b.json\r",
        "inline-ignores": "false\r",
        "args": "--max-age\r\n24h\r\n",
    }
    assert runner().check(**inputs).returncode == 0
    arguments = json.loads((tmp_path / "arguments").read_text())
    assert not [each for each in arguments if "\r" in each]
    assert arguments[:4] == ["check", "--fail-on", "warning", "--no-config"]
    assert arguments[-9:] == ["-f", "c.json", "-p", "p", "--max-age", "24h", "--", "a.yaml", "b.yaml"]


def test_packages_are_kept_by_lock_python_and_system(tmp_path):
    if BASH is None:
        pytest.skip("no bash here")
    (keep,) = (step for step in ACTION["runs"]["steps"] if "uses" in step)
    assert keep["uses"].startswith("actions/cache@")
    assert keep["with"]["key"] == "${{ runner.os }}-${{ steps.python.outputs.key }}"
    keys = []
    for text in ("a==1", "a==2"):
        (tmp_path / "ci").mkdir(exist_ok=True)
        (tmp_path / "ci/requirements.txt").write_text(text)
        environment = {"PATH": os.environ["PATH"], "ACTION_PATH": str(tmp_path), "GITHUB_OUTPUT": str(tmp_path / "o")}
        subprocess.run([BASH, "-c", STEPS["Look at Python"]["run"]], env=environment, check=True)
        keys.append((tmp_path / "o").read_text().splitlines()[-1])
    assert len(set(keys)) == 2
    assert keys[0].startswith(f"key=schedctl-{sys.version_info[0]}-{sys.version_info[1]}-")


HOSTILE = "import pathlib; pathlib.Path(__file__).with_name('owned').touch()\n"


def test_no_step_imports_python_of_the_working_folder(tmp_path):
    if BASH is None:
        pytest.skip("no bash here")
    for name in (
        "venv",
        "pip",
        "secrets",
        "hashlib",
        "random",
        "ensurepip",
        "subprocess",
        "tempfile",
        "encodings",
        "sitecustomize",
        "runpy",
    ):
        (tmp_path / f"{name}.py").write_text(HOSTILE)
    programs, temp, action = tmp_path / "bin", tmp_path / "temp", tmp_path / "action"
    for each in (programs, temp, action / "ci"):
        each.mkdir(parents=True)
    # Locked to what is not there, the installer comes as far as to pip.
    shutil.copy(ROOT / "ci/install.py", action / "ci")
    for name in ("requirements.txt", "build-requirements.txt"):
        (action / "ci" / name).write_text(f"{tmp_path}/none.whl --hash=sha256:{'0' * 64}\n")
    (programs / "python3").symlink_to(sys.executable)
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "RUNNER_TEMP": str(temp),
        "GITHUB_OUTPUT": str(temp / "output"),
        "GITHUB_STEP_SUMMARY": str(temp / "summary"),
        "BASELINE": "",
        "INLINE_IGNORES": "false",
        "ACTION_PATH": str(action),
        "FILES": "a",
        "SNAPSHOT": "b",
        "POLICY": "",
        "FAIL_ON": "error",
        "CONFIG": "",
        "ARGS": "",
    }
    said = ""
    for step in STEPS.values():
        arguments = [BASH, "--noprofile", "--norc", "-c", step["run"]]
        ended = subprocess.run(arguments, cwd=tmp_path, env=environment, text=True, capture_output=True, check=False)
        said += ended.stderr
    assert "none.whl" in said, "the installer came as far as to pip"
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize(
    "script", [*(step["run"] for step in STEPS.values()), *GITLAB["schedctl-check"]["before_script"]]
)
def test_python_is_isolated_wherever_it_is_started(script):
    assert not re.findall(r"python3?\"? (?!-I )-", script)


WORKFLOWS = [
    block
    for block in re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/ci.md").read_text(), re.DOTALL)
    if "jobs:" in block
]


@pytest.mark.parametrize("text", WORKFLOWS, ids=["the check", "the snapshot"])
def test_the_workflows_of_the_page_are_complete(text):
    workflow = yaml.safe_load(text)
    vendored_schema("github-workflows").validate(
        {("on" if key is True else key): each for key, each in workflow.items()}
    )
    assert workflow["permissions"]["contents"] == "read"


def test_the_workflow_of_the_page_gives_inputs_that_the_action_has():
    steps = yaml.safe_load(WORKFLOWS[0])["jobs"]["check"]["steps"]
    (ours,) = (step for step in steps if "schedctl@" in step.get("uses", ""))
    assert set(ours["with"]) <= set(ACTION["inputs"])
    assert {name for name, each in ACTION["inputs"].items() if each.get("required")} <= set(ours["with"])


# -- GitLab ------------------------------------------------------------------------


def test_template_matches_the_schema_of_gitlab():
    vendored_schema("gitlab-ci").validate(GITLAB)


def test_the_template_reports_tests_and_code_quality_also_of_failures():
    job = GITLAB["schedctl-check"]
    assert job["artifacts"]["when"] == "always"
    (script,) = job["script"]
    for report, form in (("junit", "junit"), ("codequality", "gitlab")):
        assert f"--report {form}={job['artifacts']['reports'][report]}" in script


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_template_takes_a_path_on_each_line_and_nothing_for_code(tmp_path, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    (tmp_path / "schedctl").write_text(TOLD.replace("CODE", "0"))
    (tmp_path / "schedctl").chmod(0o755)
    variables = {
        "SCHEDCTL_TARGET": "target",
        "SCHEDCTL_BASELINE": "b.yaml",
        "SCHEDCTL_FILES": "a b.yaml\r\n$(touch owned)\n\n*",
        "SCHEDCTL_SNAPSHOT": "c 1.json\nc2.json",
        "SCHEDCTL_POLICY": "`touch owned`\nEND",
    }
    environment = {**GITLAB["schedctl-check"]["variables"], **variables, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    (script,) = GITLAB["schedctl-check"]["script"]
    ended = subprocess.run([shell, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    arguments = json.loads((tmp_path / "arguments").read_text())
    assert arguments[:4] == ["check", "--fail-on", "error", "--no-config"]
    assert arguments[4:6] == ["--baseline=target/b.yaml", "--no-inline-ignores"]
    assert arguments[10:] == [
        *("-f", "c 1.json", "-f", "c2.json", "-p", "target/`touch owned`", "-p", "target/END"),
        *("--", "a b.yaml", "$(touch owned)", "*"),
    ]
    assert not (tmp_path / "owned").exists()


def test_policies_of_a_merge_request_are_those_of_the_target_branch(tmp_path):
    """The part of before_script that fetches them, in a clone whose branch has loosened its policy."""
    (script,) = GITLAB["schedctl-check"]["before_script"]
    part = "set -eu\n" + script[script.index("SCHEDCTL_TARGET=") :] + '\ncat "$SCHEDCTL_TARGET/policies/a.yaml"\n'
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"]
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    (origin / "policies").mkdir(parents=True)
    (origin / "policies/a.yaml").write_text("strict\n")
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "a"]):
        subprocess.run([*git, *arguments], cwd=origin, check=True)
    subprocess.run([*git, "clone", "-q", origin.as_uri(), str(clone)], check=True)
    (clone / "policies/a.yaml").write_text("loose\n")
    environment = {
        "PATH": os.environ["PATH"],
        "SCHEDCTL_HOME": str(tmp_path),
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
    }
    ended = subprocess.run(["sh", "-c", part], cwd=clone, env=environment, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, "strict\n"), ended.stderr


# -- pre-commit, the container -----------------------------------------------------


def test_hook_matches_pre_commit_and_sees_all_files():
    (hook,) = load_manifest(ROOT / ".pre-commit-hooks.yaml")
    assert (hook["id"], hook["pass_filenames"]) == ("schedctl-check", False)
    assert os.access(ROOT / hook["entry"], os.X_OK)


def test_hook_installs_once_and_passes_on_arguments_and_exit_code(tmp_path):
    clone = tmp_path / "clone"
    (clone / "ci").mkdir(parents=True)
    shutil.copy(ROOT / "ci/hook.py", clone / "ci")
    (clone / "ci/install.py").write_text(
        "import os, sys\n"
        "os.makedirs(sys.argv[1] + '/bin')\n"
        "program = sys.argv[1] + '/bin/schedctl'\n"
        "open(program, 'w').write('#!/bin/sh\\necho \"$@\"; exit 5\\n')\n"
        "os.chmod(program, 0o755)\n"
    )
    for _ in range(2):
        ended = subprocess.run(
            [clone / "ci/hook.py", "deploy", "-f", "a b"], capture_output=True, text=True, cwd=tmp_path
        )
        assert (ended.returncode, ended.stdout) == (5, "check deploy -f a b\n"), ended.stderr


def test_the_base_image_is_a_build_argument():
    argument = re.search(r"^ARG (\w+)=\S+$", RECIPE, re.MULTILINE)
    assert argument is not None
    assert set(re.findall(r"^FROM (\S+)", RECIPE, re.MULTILINE)) == {f"${{{argument[1]}}}"}
    assert RECIPE.index(argument[0]) < RECIPE.index("FROM"), "before the first stage, so that both see it"


def test_container_runs_without_shell_and_privileges():
    instructions = [line.split(None, 1) for line in RECIPE.splitlines() if re.match("[A-Z]+ ", line)]
    last = {name: text for name, text in instructions}  # noqa: C416
    assert last["USER"] == "65532:65532"
    for name, text in instructions:
        if name in ("RUN", "ENTRYPOINT", "CMD"):
            assert isinstance(json.loads(text), list), f"{name} starts a shell"
    assert json.loads(last["ENTRYPOINT"]) == ["schedctl"]


def test_container_build_gets_the_sources_of_the_wheel():
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert kept >= {
        "schedctl",
        "ci",
        "profiles",
        "deploy",
        "fixtures",
        "conformance/proof.json",
        "LICENSE",
        "README.md",
        "pyproject.toml",
    }
    assert all((ROOT / each).exists() for each in kept)


def test_the_version_of_the_image_is_that_of_the_package():
    named = re.findall(r"(?<![\d.])v?(\d+\.\d+\.\d+)(?![\d.])", RECIPE)
    assert set(named) == {schedctl.__version__}


@pytest.mark.parametrize("file", ["ci/gitlab/schedctl.gitlab-ci.yml", "docs/ci.md", ".pre-commit-hooks.yaml"])
def test_no_page_names_a_release_that_nobody_may_have(file):
    assert re.findall(r"schedctl(?:==|@)v?\d|rev: v\d|ref: v\d", (ROOT / file).read_text()) == []

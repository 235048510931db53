"""Starting is cheap: what a command does not need, it does not import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # a process for each case

ROOT = Path(__file__).parents[2]
HEAVY = {"kubernetes", "numpy", "yaml"}
RUN = "import sys; sys.argv = ['schedctl', *{arguments!r}]; from schedctl.cli import main; main()"


def imported_modules(code: str) -> set[str]:
    """The top-level modules a fresh interpreter imports to run `code`, from its own import log."""
    run = subprocess.run([sys.executable, "-X", "importtime", "-c", code], capture_output=True, text=True)
    log = [line.rpartition("|")[2].strip() for line in run.stderr.splitlines() if line.startswith("import time:")]
    assert run.returncode == 0, run.stderr
    assert "schedctl" in log
    return {module.partition(".")[0] for module in log}


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("import schedctl", id="importing the package"),
        pytest.param(RUN.format(arguments=["version"]), id="schedctl version"),
        pytest.param(RUN.format(arguments=["--help"]), id="schedctl --help"),
        pytest.param(RUN.format(arguments=["explain", "--help"]), id="schedctl explain --help"),
        pytest.param(RUN.format(arguments=["simulate", "--help"]), id="schedctl simulate --help"),
        pytest.param(RUN.format(arguments=["drain", "--help"]), id="schedctl drain --help"),
        pytest.param(RUN.format(arguments=["capacity", "--help"]), id="schedctl capacity --help"),
        pytest.param(RUN.format(arguments=["snapshot", "create", "--help"]), id="schedctl snapshot create --help"),
        pytest.param(RUN.format(arguments=["bind", "--help"]), id="schedctl bind --help"),
    ],
)
def test_nothing_heavy_is_imported_by(code):
    assert imported_modules(code) & HEAVY == set()


POD_OF_THE_SHOP = ["explain", "pod", "shop/web-7d9c6b5f4d-jbljm", "-f", "fixtures/clusters/shop"]
UNNEEDED = (
    *("kubernetes", "pydantic", "rich", "schedctl.cel", "schedctl.config.legacy", "schedctl.policy"),
    *("schedctl.devices.allocator", "schedctl.devices.selectors", "schedctl.explain.histories"),
    *("schedctl.framework.device_scoring", "schedctl.plugins.dynamic_resources.search", "schedctl.snapshots.documents"),
)


def test_a_pod_without_claims_is_explained_without_what_only_others_need():
    code = "import sys\ntry:\n    " + RUN.format(arguments=POD_OF_THE_SHOP)
    code += f"\nfinally:\n    print([name for name in {UNNEEDED!r} if name in sys.modules], file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.stderr == "[]\n"


MORE_PODS = ["capacity", "--like", "pod/web-7d9c6b5f4d-jbljm", "-n", "shop", "-f", "fixtures/clusters/shop"]


def test_a_number_on_the_command_line_needs_no_validator():
    code = "import sys\ntry:\n    " + RUN.format(arguments=[*MORE_PODS, "--max", "3"])
    code += "\nfinally:\n    print('pydantic' in sys.modules, file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.stderr.splitlines()[-1] == "False"

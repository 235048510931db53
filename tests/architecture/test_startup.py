"""Starting is cheap: what a command does not need, it does not import."""

from __future__ import annotations

import subprocess
import sys

import pytest

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

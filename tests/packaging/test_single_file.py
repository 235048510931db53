"""The program as a single file: what `make pex` makes runs where nothing is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_single_file_checks_manifests_where_nothing_is_installed(tmp_path):
    pytest.importorskip("pex", reason="`make pex` installs it")
    program = tmp_path / "bin/schedctl"
    try:
        command = [sys.executable, str(ROOT / "ci/single_file.py"), str(program)]
        subprocess.run(command, check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        if "No matching distribution found" in error.stderr or "Connection" in error.stderr:
            pytest.skip("no package index can be reached")
        raise
    python = tmp_path / "python"
    python.mkdir()
    (python / "python3").symlink_to(Path(sys.base_prefix) / "bin/python3")
    policies = ROOT / "fixtures/policies"
    arguments = ["check", str(policies / "all-fit/fails.yaml"), "-f", str(policies / "cluster.yaml"), "--no-config"]
    environment = {"PATH": f"{python}:{os.defpath}", "HOME": str(tmp_path)}
    ended = subprocess.run([program, *arguments], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (1, "")
    assert ended.stdout.splitlines()[-1].startswith("check: 1 result, 0 passed, 1 error")

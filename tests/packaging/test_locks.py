"""What the action, the hook and the image install is locked, with hashes, and as fresh as pyproject.toml."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
_spec = spec_from_file_location("lock", ROOT / "ci/lock.py")
assert _spec is not None
assert _spec.loader is not None
lock = module_from_spec(_spec)
sys.modules["lock"] = lock
_spec.loader.exec_module(lock)
LOCKS = lock.locks()


def pins(file: str) -> dict[str, list[str]]:
    """The locked requirements by name, each with its markers; their hashes are looked at on the way."""
    found: dict[str, list[str]] = {}
    text = (ROOT / "ci" / file).read_text().partition("\n")[2].replace("\\\n", " ")
    for line in text.splitlines():
        requirement, *hashes = line.split("--hash=")
        assert hashes, f"{requirement} has no hash"
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each.strip()) for each in hashes)
        name = Requirement(requirement.strip()).name.lower().replace("_", "-")
        found.setdefault(name, []).append(requirement.strip())
    return found


@pytest.mark.parametrize("each", LOCKS, ids=[each.file for each in LOCKS])
def test_a_lock_is_of_the_requirements_of_today(each):
    head = (ROOT / "ci" / each.file).read_text().partition("\n")[0]
    assert head == each.head.rstrip("\n"), "pyproject.toml has changed: `make lock`"


@pytest.mark.parametrize("each", LOCKS, ids=[each.file for each in LOCKS])
def test_every_requirement_is_locked_at_a_version_it_allows(each):
    locked = pins(each.file)
    for requirement in map(Requirement, each.requirements):
        for pin in map(Requirement, locked[requirement.name.lower().replace("_", "-")]):
            (exact,) = pin.specifier
            assert exact.operator == "=="
            assert requirement.specifier.contains(exact.version), f"{pin} is not {requirement}"


@pytest.mark.parametrize("each", LOCKS, ids=[each.file for each in LOCKS])
def test_a_lock_names_no_index(each):
    assert "://" not in (ROOT / "ci" / each.file).read_text()


@pytest.mark.slow
def test_the_installer_installs_what_is_locked_and_nothing_else(tmp_path):
    try:
        command = [sys.executable, "-I", str(ROOT / "ci/install.py"), str(tmp_path / "there")]
        subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path)
    except subprocess.CalledProcessError as error:
        if "No matching distribution found" in error.stderr or "Connection" in error.stderr:
            pytest.skip("no package index can be reached")
        raise
    python = tmp_path / "there/bin/python"
    ended = subprocess.run([python, "-I", "-m", "pip", "freeze"], capture_output=True, text=True, check=True)
    installed = {
        line.partition("==")[0].partition(" @")[0].lower().replace("_", "-") for line in ended.stdout.split("\n")
    }
    installed -= {"", "schedctl"}
    assert installed <= set(pins("requirements.txt"))
    ended = subprocess.run([tmp_path / "there/bin/schedctl", "demo"], capture_output=True, text=True)
    assert (ended.returncode, "try next" in ended.stdout + ended.stderr) == (0, True)

"""The guides in docs/ are run: their files are written, their commands print what they show, their Python runs.

``SCHEDCTL_UPDATE_GOLDEN=1 pytest tests/docs`` writes the outputs into them.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from schedctl.cli.running import run

ROOT = Path(__file__).parents[2]
PLUGINS, LIBRARY = ROOT / "docs/plugins.md", ROOT / "docs/library.md"
FILE = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^```console\n(\$ schedctl ([^\n]*)\n)(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WRITTEN = [name for name, _ in FILE.findall(PLUGINS.read_text(encoding="utf-8")) if name.endswith(".py")]
TESTS = [name for name in WRITTEN if name.startswith("test_")]
MODULES = [name for name in WRITTEN if name not in TESTS and name != "odd.py"]  # which is odd
UPDATE = "SCHEDCTL_UPDATE_GOLDEN"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of somebody who has followed the guide to plugins."""
    for name, text in FILE.findall(PLUGINS.read_text(encoding="utf-8")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("number", range(len(COMMAND.findall(PLUGINS.read_text(encoding="utf-8")))))
def test_command_prints_what_the_guide_shows(number, folder, capsys):
    text = PLUGINS.read_text(encoding="utf-8")
    example = list(COMMAND.finditer(text))[number]
    assert run(shlex.split(example[2])) != 70
    printed = capsys.readouterr()
    if os.environ.get(UPDATE):
        shown = printed.out + printed.err
        PLUGINS.write_text(text[: example.start(3)] + shown + text[example.end(3) :], encoding="utf-8")
    else:
        assert printed.out + printed.err == example[3]


def test_the_tests_of_the_guide_pass(folder):
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
    ran = subprocess.run(tests, cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout


def test_the_python_of_the_library_runs(monkeypatch):
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    for block in PYTHON.findall(LIBRARY.read_text(encoding="utf-8")):
        exec(compile(block, str(LIBRARY), "exec"), names)


@pytest.mark.slow
def test_python_of_the_guides_type_checks(folder):
    (folder / "example.py").write_text("\n".join(PYTHON.findall(LIBRARY.read_text(encoding="utf-8"))))
    check = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", *MODULES, "example.py"]
    ran = subprocess.run(check, cwd=folder, capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(ROOT)})
    assert ran.returncode == 0, ran.stdout

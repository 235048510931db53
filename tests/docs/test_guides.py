"""The Python of the guides runs: the plugins pass their tests, the examples of the library and the types hold."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.consoles import files

ROOT = Path(__file__).parents[2]
PLUGINS, LIBRARY = ROOT / "docs/plugins.md", ROOT / "docs/library.md"
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILES = files(PLUGINS.read_text(encoding="utf-8"))
TESTS = [name for name in FILES if name.startswith("test_")]
MODULES = [name for name in FILES if name.endswith(".py") and name not in TESTS and name != "odd.py"]  # which is odd


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of somebody who has followed the guide to plugins."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


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
    files = [str(folder / name) for name in (*MODULES, "example.py")]
    # From the checkout, so that what mypy knows of schedctl since `make test` began, or before, is known here.
    check = [sys.executable, "-m", "mypy", *files]
    ran = subprocess.run(check, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(folder)})
    assert ran.returncode == 0, ran.stdout

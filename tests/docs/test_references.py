"""What prose and docstrings name of ours in backticks exists: a rename that forgets a mention fails here."""

from __future__ import annotations

import importlib
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REFERENCE = re.compile(r"`(schedctl(?:\.[A-Za-z_]\w*)+)`")
TELLS_OF_EARLIER_NAMES = {"CHANGELOG.md"}


def references() -> dict[str, list[str]]:
    """The files that name something, by what they name."""
    listed = subprocess.run(["git", "ls-files", "-z", "*.md", "*.py"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    found: dict[str, list[str]] = {}
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if name not in TELLS_OF_EARLIER_NAMES and path.is_file():
            for reference in set(REFERENCE.findall(path.read_text(encoding="utf-8"))):
                found.setdefault(reference, []).append(name)
    return found


def exists(reference: str) -> bool:
    """Whether a dotted name is a module of ours, or something in one; a field of a class counts."""
    names = reference.split(".")
    for end in range(len(names), 0, -1):
        try:
            thing = importlib.import_module(".".join(names[:end]))
        except ModuleNotFoundError:
            continue
        for name in names[end:]:
            if name in getattr(thing, "__annotations__", {}):
                return True
            if not hasattr(thing, name):
                return False
            thing = getattr(thing, name)
        return True
    return False


def test_a_name_in_backticks_is_one_there_is():
    assert {reference: files for reference, files in references().items() if not exists(reference)} == {}

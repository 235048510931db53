"""Whole outputs, byte for byte: one file each in ``golden``, the command on its first line.

``SCHEDCTL_UPDATE_GOLDEN=1 pytest tests/cli/test_golden.py`` writes them anew; a new case is a file with the first line.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

GOLDEN = Path(__file__).with_name("golden")
CASES = sorted(GOLDEN.glob("*.txt"))
UPDATE = "SCHEDCTL_UPDATE_GOLDEN"


def transcript(first: str, schedctl, monkeypatch) -> str:
    """The first line, what the command printed on both streams, and how it ended."""
    words = shlex.split(first.removeprefix("$ "))
    while "=" in words[0]:
        monkeypatch.setenv(*words.pop(0).split("=", 1))
    assert words[0] == "schedctl"
    ended = schedctl(*words[1:])
    assert ended.code != 70, ended.err
    # the times of the calls of plugins (-v) are never the same
    said, calls, _ = ended.err.partition("\nPOINT ")
    talk = f"--- standard error\n{said}{calls and chr(10)}" if said else ""
    return f"{first}\n{ended.out}{talk}--- exit code {ended.code}\n"


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_output(path, schedctl, monkeypatch):
    expected = path.read_text(encoding="utf-8")
    printed = transcript(expected.partition("\n")[0], schedctl, monkeypatch)
    if os.environ.get(UPDATE):
        path.write_text(printed, encoding="utf-8")
    else:
        assert printed == expected


def test_every_pod_of_the_fixtures_has_one():
    names = {path.stem for path in (GOLDEN.parents[2] / "fixtures/pods").rglob("*.yaml")}
    assert {path.stem for path in CASES} >= {f"pod-{name}" for name in names}

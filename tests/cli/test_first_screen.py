"""What a person sees first: the answer about one pod fits 80 columns and 24 rows."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

PODS = sorted(Path(__file__).with_name("golden").glob("pod-*.txt"))


@pytest.mark.parametrize("path", PODS, ids=lambda path: path.stem)
def test_the_answer_about_a_pod_of_the_fixtures_fits_the_first_screen(path, schedctl, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, _, *arguments = shlex.split(path.read_text(encoding="utf-8").partition("\n")[0])
    lines = schedctl(*arguments).out.splitlines()
    assert len(lines) <= 24, "\n".join(lines)
    # Words are never broken, such as an expression without spaces.
    assert [line for line in lines if len(line) > 80 and max(map(len, line.split())) < 40] == []

"""The README's examples are run, and what they print is what it shows.

``SCHEDCTL_UPDATE_GOLDEN=1 pytest tests/docs`` writes the outputs into the README.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from schedctl.cli.running import run

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"^```console\n(\$ schedctl ([^\n]*)\n)(.*?)^```$", re.MULTILINE | re.DOTALL)
UPDATE = "SCHEDCTL_UPDATE_GOLDEN"


def test_the_readme_shows_commands():
    assert len(BLOCK.findall(README.read_text(encoding="utf-8"))) >= 4


@pytest.mark.parametrize("number", range(len(BLOCK.findall(README.read_text(encoding="utf-8")))))
def test_an_example_prints_what_the_readme_shows(number, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    text = README.read_text(encoding="utf-8")
    example = list(BLOCK.finditer(text))[number]
    assert run(shlex.split(example[2])) != 70
    printed = capsys.readouterr().out
    if os.environ.get(UPDATE):
        README.write_text(text[: example.start(3)] + printed + text[example.end(3) :], encoding="utf-8")
    else:
        assert printed == example[3]


def test_files_the_readme_names_exist():
    named = re.findall(
        r"(?<![\w/.-])((?:fixtures|profiles|conformance|tests|schedctl)/[\w./-]*|[A-Z]+\.md)", README.read_text()
    )
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_fixtures_are_all_described():
    described = (ROOT / "fixtures/README.md").read_text(encoding="utf-8")
    files = [path for path in (ROOT / "fixtures").rglob("*.yaml") if f"`{path.name}`" not in described]
    assert files == []


@pytest.mark.parametrize("folder", ["pods", "workloads"])
def test_a_fixture_says_what_it_teaches_and_what_to_expect(folder):
    for path in sorted((ROOT / "fixtures" / folder).rglob("*.yaml")):
        comment = "".join(line for line in path.read_text().splitlines(True) if line.startswith("#"))
        assert comment.startswith("# Teaches: "), path
        assert "\n# Expect: " in comment, path

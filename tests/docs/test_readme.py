"""What the README and the fixtures say of files is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


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

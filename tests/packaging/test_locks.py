"""What the action, the hook and the image install is locked, with hashes, and as fresh as pyproject.toml."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement

from tests.packaging.locks import LOCKS, ROOT, pins


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

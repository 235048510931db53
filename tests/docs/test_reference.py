"""The pages of docs/reference say what the code has; ``SCHEDCTL_UPDATE_GOLDEN=1 pytest tests/docs`` writes them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from docs._reference import (
    commands,
    exit_codes,
    kube_versions,
    plugins,
    policy_fields,
    ready_policies,
    schemas,
    settings,
)

FOLDER = Path(__file__).parents[2] / "docs/reference"
PAGES = {
    "commands.md": commands.page,
    "exit-codes.md": exit_codes.page,
    "kube-versions.md": kube_versions.page,
    "plugins.md": plugins.page,
    "policy-fields.md": policy_fields.page,
    "ready-policies.md": ready_policies.page,
    "schemas.md": schemas.page,
    "settings.md": settings.page,
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_what_the_code_has(name):
    written = PAGES[name]()
    if os.environ.get("SCHEDCTL_UPDATE_GOLDEN"):
        (FOLDER / name).write_text(written, encoding="utf-8")
    else:
        assert (FOLDER / name).read_text(encoding="utf-8") == written


def test_every_page_of_the_reference_is_made_from_the_code():
    assert {path.name for path in FOLDER.iterdir()} == set(PAGES)

"""The files in `profiles/` load, and the default one says what kube-scheduler does without any."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedctl.config.loading import default, load

FILES = sorted((Path(__file__).parents[2] / "profiles").glob("*.yaml"))


def test_the_default_profile_is_the_built_in_default_written_out():
    assert load((FILES[0].parent / "default.yaml").read_bytes()) == default()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_shipped_profile_is_accepted(file, problems_of):
    assert problems_of(file.read_bytes()) == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_shipped_profile_begins_with_when_to_use_it(file):
    comment = [line for line in file.read_text(encoding="utf-8").split("apiVersion")[0].splitlines() if line]
    assert all(line.startswith("#") for line in comment)
    assert any(line.startswith("# Use it ") for line in comment)

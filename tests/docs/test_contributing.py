"""The map in CONTRIBUTING is true: its files exist, and its drawing has every package in the enforced layers."""

from __future__ import annotations

import configparser
import re
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
DRAWING = re.search(r"^## The house\n\n```\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
PATHS = sorted(
    set(
        re.findall(
            r"`((?:schedctl|tests|docs|conformance|fixtures|profiles|benchmarks|examples|deploy)/[^`\s]*)`", TEXT
        )
    )
)
PACKAGES = {path.parent.name for path in ROOT.glob("schedctl/*/__init__.py")}
MODULES = {path.stem for path in ROOT.glob("schedctl/[a-z]*.py")}
FOR_TESTS = {"testing", "conformance"}


def drawn_layers() -> list[set[str]]:
    """The rows of the drawing that name packages, from the top."""
    assert DRAWING is not None
    rows = (re.match(r" ([a-z]+(?: · [a-z]+)*)(?:  |$)", line) for line in DRAWING[1].splitlines())
    return [set(row[1].split(" · ")) for row in rows if row]


def enforced_layers() -> list[set[str]]:
    """The layers of `.importlinter`, from the top."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter", encoding="utf-8")
    lines = contracts["importlinter:contract:layers"]["layers"].split("\n")
    return [set(re.findall(r"[a-z]+", line)) - {"main"} for line in lines if line.strip() and "__main__" not in line]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_the_map_names_exists(path):
    assert list(ROOT.glob(path.replace("<name>", "*").rstrip("/")))


def test_every_package_is_drawn_once():
    drawn = [name for layer in drawn_layers() for name in layer]
    assert sorted(drawn) == sorted((PACKAGES | MODULES) - FOR_TESTS)


def test_no_package_is_drawn_above_one_that_may_not_import_it():
    enforced = {name: depth for depth, layer in enumerate(enforced_layers()) for name in layer}
    depths = [[enforced[name] for name in layer] for layer in drawn_layers()]
    for upper, lower in pairwise(depths):
        assert max(upper) <= min(lower)

"""The README is short, its first screen says how to try schedctl, and its figures are the recorded ones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from schedctl import shipped
from schedctl.versions import KUBERNETES_VERSION

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FRONT = (ROOT / "docs/index.md").read_text(encoding="utf-8")
PROOF = json.loads(shipped.proof().read_text(encoding="utf-8"))
SHAPES = (ROOT / "benchmarks/results/shapes.md").read_text(encoding="utf-8")
MIXES = (ROOT / "benchmarks/results/mixes.md").read_text(encoding="utf-8")
GROWTH = (ROOT / "benchmarks/results/growth.md").read_text(encoding="utf-8")


def test_the_readme_is_read_in_minutes():
    assert len(README) <= 10_000


@pytest.mark.parametrize("text", [README, FRONT], ids=["README", "index"])
def test_the_first_screen_shows_a_picture_and_the_version_of_kubernetes(text):
    first = text[:1500]
    assert "demo.svg)" in first
    assert f"kube-scheduler {KUBERNETES_VERSION}" in first


def test_the_first_screen_of_the_readme_says_how_to_try_it():
    assert {"make demo", "make test"} <= set(re.findall(r"^make \w+", README[:1500], re.MULTILINE))


def proved(name: str) -> int:
    return sum(family[name] for family in PROOF["families"].values())


def measured(pattern: str, text: str) -> str:
    (figure,) = re.findall(pattern, text)
    return figure


def placements(text: str) -> int:
    return int(measured(r"([\d,]+) placements of kube-scheduler replayed, none", text).replace(",", ""))


@pytest.mark.parametrize(
    "sentence",
    [
        pytest.param(
            f"{proved('cases'):,} random cases ({proved('cycles'):,} scheduling cycles) in {len(PROOF['families'])}",
            id="cases",
        ),
        pytest.param(measured(r"together, .* median (\d+)x", MIXES) + " times the rate", id="mixes and shapes"),
        pytest.param(
            measured(r"Median over (\d+) mixes", MIXES)
            + " mixes of a hundred templates ("
            + measured(r"Median over \d+ mixes: (\d+)x", MIXES)
            + " times alone)",
            id="mixes",
        ),
        pytest.param(measured(r"Median over (\d+) shapes: .* sampling", SHAPES) + " shapes", id="shapes"),
        pytest.param(measured(r"judging every node .* same first pods (\d+)x", SHAPES) + " times)", id="shapes alone"),
        pytest.param(f"{sum(map(placements, (SHAPES, MIXES))):,} placements of kube-scheduler", id="placements"),
        pytest.param(
            measured(r"each of 150,000 running pods .*; (\d+) MB in all", GROWTH) + " MB of memory", id="memory"
        ),
    ],
)
def test_a_figure_is_the_recorded_one(sentence):
    assert sentence in " ".join(README.split())


def test_no_case_of_the_proof_differs():
    assert proved("differences") == 0

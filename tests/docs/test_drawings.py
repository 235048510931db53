"""The drawings of the site are true to the code, and can be read without being seen."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DRAWINGS = sorted((ROOT / "docs/drawings").glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"
FOR_TESTS = {"testing", "conformance"}


@pytest.mark.parametrize("path", DRAWINGS, ids=lambda path: path.stem)
def test_a_drawing_has_a_title_and_a_description(path):
    drawing = ElementTree.parse(path).getroot()
    labels = drawing.get("aria-labelledby", "").split()
    assert drawing.get("role") == "img"
    assert [drawing.find(f"*[@id='{each}']").tag for each in labels] == [f"{SVG}title", f"{SVG}desc"]


def test_the_house_has_every_package():
    drawing = (ROOT / "docs/drawings/house.svg").read_text(encoding="utf-8")
    packages = {path.parent.name for path in ROOT.glob("schedctl/*/__init__.py")} - FOR_TESTS
    assert set(re.findall(r'<text class="(?:name|small)"[^>]*>(\w+)</text>', drawing)) == packages


def test_every_drawing_is_shown_on_a_page():
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    assert [path.name for path in DRAWINGS if f"(drawings/{path.name})" not in pages] == []

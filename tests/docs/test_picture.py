"""The picture of a terminal shows what `schedctl demo` prints; SCHEDCTL_UPDATE_GOLDEN=1 draws it anew."""

from __future__ import annotations

import os
from xml.etree import ElementTree

import pytest

from docs._picture import ADVANCE, MARGIN, PICTURE, picture
from docs._picture import recording as record

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def recording() -> str:
    return record()


def test_the_picture_is_that_of_todays_run(recording):
    drawn = picture(recording)
    if os.environ.get("SCHEDCTL_UPDATE_GOLDEN"):
        PICTURE.write_text(drawn, encoding="utf-8")
    assert PICTURE.read_text(encoding="utf-8") == drawn


def test_the_lines_stand_in_the_order_of_a_terminal(recording):
    lines = recording.splitlines()
    assert lines[0] == "$ schedctl demo"
    assert lines[1].startswith("$ schedctl explain pod shop/")
    assert "UNSCHEDULABLE" in lines[2]
    assert "try next on this cluster:" in lines[-4]


def test_text_keeps_its_columns_and_colours_whatever_the_font():
    drawn = ElementTree.fromstring(picture("\x1b[1;31mno\x1b[0m  a <b>  c\n  \x1b[2mfaint\x1b[0m\n"))
    found = [
        (text.text, float(text.attrib["x"]), float(text.attrib["textLength"]), text.get("class"))
        for text in drawn.iter(f"{SVG}text")
    ]
    expected = [("no", 0, 2, "bold red"), ("a <b>  c", 4, 8, None), ("faint", 2, 5, "dim")]
    assert found == [
        (text, pytest.approx(MARGIN + column * ADVANCE), pytest.approx(length * ADVANCE), style)
        for text, column, length, style in expected
    ]


def test_the_picture_asks_nobody_for_anything():
    drawn = PICTURE.read_text(encoding="utf-8")
    assert not [
        word for word in ("http:", "https:", "url(", "@import", "<script") if word in drawn.replace(SVG[1:-1], "")
    ]

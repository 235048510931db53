"""Where a character of a YAML or JSON scalar stands in the file, whatever the style."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedctl.documents import scalar_positions
from schedctl.documents.json_trees import read_json
from schedctl.documents.yaml_trees import read_yaml
from schedctl.policy.documents import Expression


def pointed_to(text, read=read_yaml):
    """Yield each character of the first value, and what stands in the text where it is said to stand."""
    node = read(text).value[0][1]
    lines = [f"{line}\n" for line in text.split("\n")]
    expression = Expression(node.value, runs=scalar_positions.stretches(lines, node.line, node.column, node.value))
    for offset, character in enumerate(node.value):
        line, column = expression.place_of(offset)
        yield character, lines[line - 1][column - 1 :]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: one two\n", id="plain"),
        pytest.param("a: one two  # three\n", id="plain before a comment"),
        pytest.param("{a: one two, b: c}\n", id="plain in a flow mapping"),
        pytest.param("a: one\n   two\n\n\n   three\n", id="plain over several lines"),
        pytest.param("a: 'it''s one'\n", id="in single quotes"),
        pytest.param("a: 'it''s\n  two\n\n  three'\n", id="in single quotes over several lines"),
        pytest.param('a: "one two"\n', id="in double quotes"),
        pytest.param('a: "one \\\n   two\n   three"\n', id="in double quotes over several lines"),
        pytest.param("a: |\n  one\n    two\n\n  three\n", id="literal"),
        pytest.param("a: |-\n\n    one\n    two\n", id="literal that begins with an empty line"),
        pytest.param("a: >\n  one\n  two\n\n  three\n    four\n", id="folded"),
        pytest.param("a: &x !!str 'one'\n", id="behind an anchor and a tag"),
        pytest.param("a: 'é one ü'\n", id="with letters of two bytes"),
    ],
)
def test_every_character_that_is_written_as_it_is_is_found(text):
    for character, there in pointed_to(text):
        if character.isalnum():
            assert there.startswith(character)


def test_an_escape_is_found_where_it_begins():
    found = [there for character, there in pointed_to('a: "x\\u00e9y\\tz"\n') if character in "é\tz"]
    assert [each[:2] for each in found] == ["\\u", "\\t", 'z"']


@given(st.text(st.characters(codec="utf-8", exclude_characters="\ufffd")))
def test_in_json_what_is_found_means_the_character(value):
    for ascii_only in (True, False):
        text = json.dumps({"a": value}, ensure_ascii=ascii_only)
        for character, there in pointed_to(text, read_json):
            assert there.startswith((character, "\\"))


@given(st.text())
def test_no_text_makes_it_fail(text):
    assert all(
        run.line >= 1 for run in scalar_positions.stretches([f"{line}\n" for line in text.split("\n")], 1, 1, "value")
    )

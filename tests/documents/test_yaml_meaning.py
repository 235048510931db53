"""Keys, merges, anchors, tags and block scalars mean what kubectl makes of them (recorded from kubectl 1.32.4)."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from schedctl.documents import yaml_values
from schedctl.documents.findings import Place

RECORDED = json.loads((Path(__file__).parent / "kubectl_documents.json").read_text())["documents"]


def document(text: str):
    """The value of a document and the warnings about it."""
    warnings = []
    try:
        values = list(yaml_values.read(text.encode(), Place(1, 1), lambda finding, place: warnings.append(finding)))
    except yaml_values.YAMLProblem:
        return "refused", None, warnings
    return "ok", values[-1].value if values else None, warnings


@pytest.mark.parametrize(("text", "outcome", "value"), RECORDED, ids=[ascii(row[0])[:70] for row in RECORDED])
def test_a_document_means_what_kubectl_makes_of_it(text, outcome, value):
    if not text.startswith("anc:"):  # recorded below a key
        text = "zz:\n" + textwrap.indent(text, "  ", lambda line: True) + "\n"
        value = {"zz": value} if outcome == "ok" else None
    assert (outcome, value) == document(text)[:2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("a: 1\na: 2", 'the key "a" is written twice; the last one counts', id="a repeated key"),
        pytest.param(
            "items: [1]\nitems: [2]",
            'the key "items" is written twice; the items of all lists under it are read',
            id="a repeated list of items, which are handed over as they come",
        ),
        pytest.param("1: a\n'1': b", 'the key "1" is written twice; the last one counts', id="keys that become equal"),
        pytest.param(
            "x: &x {b: 1}\ny:\n  b: 2\n  <<: *x",
            'the merge replaces the key "b" written before it',
            id="a merge behind the key it replaces",
        ),
        pytest.param("a: !foo 1", 'the tag "!foo" has no meaning here and is ignored', id="an unknown tag"),
        pytest.param(
            "a: 1\n...\nb: 2",
            'the text after the document end marker "..." is not read',
            id="text behind the end marker",
        ),
    ],
)
def test_what_kubectl_passes_over_in_silence_is_said(text, message):
    outcome, _, warnings = document(text)
    assert outcome == "ok"
    assert [warning.message for warning in warnings] == [message]
    assert all(warning.warning for warning in warnings)


def test_a_key_that_overrides_a_merged_one_is_as_it_should_be():
    assert document("x: &x {a: 1, b: 1}\nz:\n  <<: *x\n  a: 2") == (
        "ok",
        {"x": {"a": 1, "b": 1}, "z": {"a": 2, "b": 1}},
        [],
    )


def test_of_anchors_with_one_name_the_one_that_began_last_counts():
    assert document("x: &a\n  k: &a inner\nz: *a") == ("ok", {"x": {"k": "inner"}, "z": "inner"}, [])
    assert document("x: &a [1]\ny1: &a [2]\nz: *a") == ("ok", {"x": [1], "y1": [2], "z": [2]}, [])


def test_items_are_handed_over_one_by_one():
    text = b"kind: List\nitems:\n- a: 1\n- &x [2]\n- *x\n- 3\nafter: [items]\n"
    values = list(yaml_values.read(text, Place(10, 1), lambda finding, place: None))
    assert [(value.item, value.value, value.place) for value in values[:-1]] == [
        (0, {"a": 1}, (12, 3)),
        (1, [2], (13, 3)),
        (2, [2], (14, 3)),
        (3, 3, (15, 3)),
    ]
    assert values[-1].value == {"kind": "List", "items": [None] * 4, "after": ["items"]}

"""JSON, YAML and names: for scripts, and harmless to terminals."""

import json

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from schedctl.render import machine
from schedctl.testing.builders import cluster, node, pod

EVIL = "\x1b[31m\x9b\u202e\u2028\ud7ff\U000e0001 é →"


class Box(msgspec.Struct):
    value: object = None


def test_json_is_the_report(show):
    found = json.loads(show(cluster(node("a")), pod(), output="json"))
    assert (found["apiVersion"], found["kind"]) == ("schedctl.dev/v1alpha1", "ExplainReport")
    assert list(found) == ["apiVersion", "kind", "metadata", "summary", "results", "groups", "nodeMap"]
    assert found["metadata"]["kubernetesVersion"] == "v1.37.1"
    assert found["results"][0]["chosen"] == "a"
    assert found["summary"]["exitCode"] == 0


def test_amounts_are_exact(show):
    found = json.loads(show(cluster(node("a", memory="1717986919")), pod(memory="2Gi"), output="json"))
    (group,) = found["results"][0]["reasons"][0]["groups"]
    assert group["evidence"]["capacity"] == 1717986919


def test_json_and_yaml_say_the_same(show):
    state = cluster(node("a", cpu="1"), node("b", taints=[{"key": "no", "effect": "NoSchedule"}], labels={"y": "1e3"}))
    options = {"matrix": True, "node": "b"}
    as_json, as_yaml = (show(state, pod(cpu="3"), output=form, **options) for form in ("json", "yaml"))
    assert yaml.safe_load(as_yaml) == json.loads(as_json)


@pytest.mark.parametrize(("write", "read"), [(machine.json, json.loads), (machine.yaml, yaml.safe_load)])
def test_a_terminal_is_not_steered_and_nothing_is_lost(write, read):
    text = write(Box(EVIL))
    assert not set(text) & set("\x1b\x9b\u202e\u2028\U000e0001")
    assert read(text) == {"value": EVIL}


@pytest.mark.parametrize(
    "word",
    [
        "y",
        "No",
        "on",
        "TRUE",
        "null",
        "~",
        "",
        "0644",
        "1e3",
        "12:30",
        "0x1f",
        ".inf",
        "2026-11-21",
        "- a",
        "a: b",
        "#",
        "a ",
        "=",
        "<<",
    ],
)
def test_texts_that_other_parsers_would_misread_are_quoted(word):
    assert machine.yaml(Box(word)) == f"value: {json.dumps(word)}\n"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_yaml_is_read_back_as_it_was(value):
    assert yaml.safe_load(machine.yaml(Box(value))) == {"value": value}


def test_names_are_a_line_for_each_pod(show):
    state = cluster(node("a"))
    text = show(state, pod("web"), pod("big", cpu="64"), pod("x\ny"), output="name")
    assert text == "pod/web node/a\npod/big\npod/x\\x0ay node/a\n"


def test_half_a_surrogate_pair_becomes_a_replacement_character():
    document = {"a\ud800": ["\udfff"]}
    assert machine.json_line(document) == '{"a\ufffd":["\ufffd"]}\n'
    assert machine.json(document) == '{\n  "a\ufffd": [\n    "\ufffd"\n  ]\n}\n'
    machine.yaml(document).encode()

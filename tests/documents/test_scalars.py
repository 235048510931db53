"""Every scalar means what kubectl and kube-scheduler make of it.

The table was recorded from kubectl 1.32.4, which no test needs; `YAMLToJSON` and `YAMLToJSONStrict` of sigs.k8s.io/yaml
1.6.0, by which kube-scheduler reads its configuration, give the same 419 answers.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from schedctl.documents import scalars, yaml_values
from schedctl.documents.decoding import Decoder
from schedctl.documents.findings import Place
from schedctl.documents.trees import DocumentError
from schedctl.documents.yaml_trees import read_yaml

RECORDED = json.loads((Path(__file__).parent / "kubectl_scalars.json").read_text())["scalars"]


def value_of(text: str):
    """The value as JSON has it, "refused" where there is none."""
    try:
        *_, document = yaml_values.read(f"v: {text}\n".encode(), Place(1, 1), lambda finding, place: None)
    except yaml_values.YAMLProblem:
        return "refused", None
    return "value", document.value["v"]


@pytest.mark.parametrize(("text", "outcome", "value"), RECORDED, ids=[ascii(row[0]) for row in RECORDED])
def test_a_scalar_means_what_kubectl_makes_of_it(text, outcome, value):
    assert (outcome, value) == value_of(text)
    assert isinstance(value, bool) == isinstance(value_of(text)[1], bool)


def value_in_tree(text: str):
    """The same, read with places, as configurations and policies are."""
    try:
        node = read_yaml(f"v: {text}\n")
    except DocumentError:
        return "refused", None
    return "value", Decoder().free(node, "")["v"]


@pytest.mark.parametrize(("text", "outcome", "value"), RECORDED, ids=[ascii(row[0]) for row in RECORDED])
def test_a_scalar_of_a_configuration_means_the_same(text, outcome, value):
    assert (outcome, value) == value_in_tree(text)
    assert isinstance(value, bool) == isinstance(value_in_tree(text)[1], bool)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        pytest.param("1", "1", id="an integer key is its digits"),
        pytest.param("0x10", "16", id="a hexadecimal key is decimal"),
        pytest.param("0644", "420", id="an octal key is decimal"),
        pytest.param("-0", "0", id="minus zero is zero"),
        pytest.param("-0.0", "-0", id="minus zero as a float keeps its sign"),
        pytest.param("yes", "true", id="a boolean key is true or false"),
        pytest.param("y", "true", id="the key y is a boolean too"),
        pytest.param("1.0", "1", id="a float key without a fraction has none"),
        pytest.param("1.5", "1.5", id="a float key keeps its fraction"),
        pytest.param("123456789.125", "1.2345679e+08", id="a float key has the precision of 32 bits"),
        pytest.param("18446744073709551616", "1.8446744e+19", id="an integer beyond 64 bits is a float"),
        pytest.param("1e6", "1e+06", id="a float key of seven digits has an exponent"),
        pytest.param("1e5", "100000", id="a float key of six digits has none"),
        pytest.param("0.0001", "0.0001", id="a small float key has no exponent"),
        pytest.param("1e-7", "1e-07", id="a very small float key has one"),
        pytest.param(".inf", ".inf", id="an infinite key is written out"),
        pytest.param("-.inf", "-.inf", id="a negative infinite key is written out"),
        pytest.param(".nan", ".nan", id="a key that is no number is written out"),
        pytest.param("1e300", ".inf", id="a key beyond 32-bit floats is infinite"),
        pytest.param("2026-03-01", "2026-03-01", id="a date is text"),
    ],
)
def test_a_key_becomes_the_text_that_kubectl_makes_of_it(text, key):
    assert scalars.key(scalars.plain(text), text) == key


@pytest.mark.parametrize("text", ["~", "null", "9223372036854775808"])
def test_a_key_that_kubectl_refuses_is_refused(text):
    with pytest.raises(ValueError):
        scalars.key(scalars.plain(text), text)


def test_infinities_and_nan_have_no_counterpart_in_json():
    assert math.isinf(scalars.plain(".inf"))
    assert value_of(".inf") == ("refused", None)
    assert value_of("!!float .nan") == ("refused", None)


def test_a_number_of_a_hundred_thousand_digits_is_text():
    digits = "9" * 100_000
    assert scalars.plain(digits) == digits

"""Label syntax and the wording of field errors."""

import pytest

from schedctl.api.field_errors import aggregate, label_key_problems, label_value_problems, not_supported, quote


@pytest.mark.parametrize(
    "key",
    ["app", "A.b_c-1", "a.b_c-D1", "example.com/app", "x" * 63, f"{'a.' * 126}b/app"],
    ids=lambda key: f"{key[:20]} is a key",
)
def test_a_label_key(key):
    assert label_key_problems(key) == ()


@pytest.mark.parametrize(
    ("key", "beginnings"),
    [
        pytest.param("", ["name part must be non-empty", "name part must consist of"], id="empty"),
        pytest.param("a b", ["name part must consist of"], id="a space"),
        pytest.param("-a", ["name part must consist of"], id="a dash at the beginning"),
        pytest.param("é", ["name part must consist of"], id="a letter outside of ASCII"),
        pytest.param(
            "example.com/", ["name part must be non-empty", "name part must consist of"], id="nothing but a prefix"
        ),
        pytest.param("x" * 64, ["name part must be no more than 63 bytes"], id="too long"),
        pytest.param("/app", ["prefix part must be non-empty"], id="an empty prefix"),
        pytest.param("Example/app", ["prefix part a lowercase RFC 1123 subdomain"], id="capitals in the prefix"),
        pytest.param("a" * 254 + "/app", ["prefix part must be no more than 253 bytes"], id="a long prefix"),
        pytest.param("a/b/c", ["a valid label key must consist of"], id="two slashes"),
        pytest.param("app\n", ["name part must consist of"], id="a newline at the end"),
    ],
)
def test_what_is_wrong_with_a_label_key(key, beginnings):
    problems = label_key_problems(key)
    assert [p[: len(b)] for p, b in zip(problems, beginnings, strict=True)] == beginnings


@pytest.mark.parametrize("value", ["", "a", "1.2_3-x", "x" * 63], ids=lambda value: f"'{value[:20]}' is a value")
def test_a_label_value(value):
    assert label_value_problems(value) == ()


@pytest.mark.parametrize("value", ["-", "a" * 64])
def test_what_is_no_label_value(value):
    assert label_value_problems(value) != ()


def test_a_label_value_may_be_too_long_and_malformed_at_once():
    assert len(label_value_problems("-" * 64)) == 2


@pytest.mark.parametrize(
    ("text", "go"),
    [('a"b\\', r'"a\"b\\"'), ("\x00\t\x7f", r'"\x00\t\x7f"'), ("é\u200b\U000e0001", '"é\\u200b\\U000e0001"')],
)
def test_text_is_quoted_as_go_quotes_it(text, go):
    assert quote(text) == go


def test_several_messages_are_joined_each_once():
    assert aggregate(["a", "b", "a"]) == "[a, b]"
    assert aggregate(["a", "a"]) == "a"


def test_an_unsupported_value_is_reported_with_those_that_are():
    assert (
        not_supported("x.op", "Q", ["In", "NotIn"]) == 'x.op: Unsupported value: "Q": supported values: "In", "NotIn"'
    )

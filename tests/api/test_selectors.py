"""Label selectors: what each operator means, and how a malformed one is reported."""

import msgspec
import pytest

from schedctl.api import selectors
from schedctl.api.meta import LabelSelector

KEY_FORM = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VALUE_FORM = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


def selector(**fields):
    return selectors.compile_selector(msgspec.convert(fields, LabelSelector))


def expression(operator, *values, key="app"):
    return {"key": key, "operator": operator, "values": list(values)}


@pytest.mark.parametrize(
    ("operator", "values", "labels", "matches"),
    [
        pytest.param("In", ["a", "b"], {"app": "b"}, True, id="In holds for a listed value"),
        pytest.param("In", ["a"], {}, False, id="In does not hold for an absent key"),
        pytest.param("In", [""], {}, False, id="In with an empty value does not hold for an absent key"),
        pytest.param("In", [""], {"app": ""}, True, id="In with an empty value holds for an empty value"),
        pytest.param("NotIn", ["a"], {"app": "b"}, True, id="NotIn holds for another value"),
        pytest.param("NotIn", ["a"], {}, True, id="NotIn holds for an absent key"),
        pytest.param("NotIn", ["a"], {"app": "a"}, False, id="NotIn does not hold for a listed value"),
        pytest.param("Exists", [], {"app": ""}, True, id="Exists holds for an empty value"),
        pytest.param("DoesNotExist", [], {}, True, id="DoesNotExist holds for an absent key"),
        pytest.param("DoesNotExist", [], {"app": ""}, False, id="DoesNotExist does not hold for an empty value"),
    ],
)
def test_what_an_operator_means(operator, values, labels, matches):
    assert selector(matchExpressions=[expression(operator, *values)]).matches(labels) is matches


@pytest.mark.parametrize(
    ("operator", "bound", "value", "matches"),
    [
        pytest.param("Gt", "4", "5", True, id="Gt is greater than"),
        pytest.param("Gt", "5", "5", False, id="Gt is not greater or equal"),
        pytest.param("Lt", "10", "9", True, id="Lt compares numbers, not text"),
        pytest.param("Gt", "4", "+5", True, id="a label may have a sign"),
        pytest.param("Gt", "4", "5.0", False, id="a label that is no integer never compares"),
        pytest.param("Gt", "4", "9223372036854775808", False, id="a label beyond int64 never compares"),
        pytest.param("Lt", "4", "", False, id="an empty label never compares"),
    ],
)
def test_gt_and_lt_compare_int64(operator, bound, value, matches):
    assert selectors.requirement("n", operator, [bound]).matches({"n": value}) is matches


def test_an_absent_key_never_compares():
    assert not selectors.Requirement("n", "Lt", frozenset(("4",))).matches({})


def test_all_conditions_must_hold():
    query = selector(matchLabels={"app": "web"}, matchExpressions=[expression("Exists", key="tier")])
    assert query.matches({"app": "web", "tier": "x"})
    assert not query.matches({"app": "web"})
    assert not query.matches({"tier": "x"})


def test_an_absent_selector_selects_nothing_and_an_empty_one_everything():
    assert selectors.compile_selector(None) is selectors.NOTHING
    assert not selectors.NOTHING.matches({})
    assert selector().everything
    assert selectors.EVERYTHING.matches(None)


def test_further_requirements_narrow_a_selector_but_cannot_widen_nothing():
    more = selectors.Requirement("app", "Exists")
    assert selectors.EVERYTHING.also(more).matches({"app": "x"})
    assert not selectors.EVERYTHING.also(more).matches({})
    assert not selectors.NOTHING.also(more).matches({"app": "x"})


def test_a_plain_label_map_is_not_checked():
    assert selectors.compile_labels({"not a key!": "-"}).matches({"not a key!": "-"})
    assert selectors.compile_labels(None).everything


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        pytest.param(
            {"matchExpressions": [expression("Near", "x")]},
            '"Near" is not a valid label selector operator',
            id="an unknown operator",
        ),
        pytest.param(
            {"matchExpressions": [expression("In")]},
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
            id="In without values",
        ),
        pytest.param(
            {"matchExpressions": [expression("Exists", "x", "y")]},
            'values: Invalid value: ["x","y"]: values set must be empty for exists and does not exist',
            id="Exists with values",
        ),
        pytest.param({"matchLabels": {"!": "x"}}, f'key: Invalid value: "!": {KEY_FORM}', id="a key that is none"),
        pytest.param(
            {"matchLabels": {"é\x01": "<x>"}},
            f'[key: Invalid value: "é\\x01": {KEY_FORM}, values[0][é\x01]: Invalid value: "<x>": {VALUE_FORM}]',
            id="a key and a value that are none are reported together",
        ),
        pytest.param(
            {"matchExpressions": [expression("In", "-x", "-x")]},
            f'[values[0][app]: Invalid value: "-x": {VALUE_FORM}, values[1][app]: Invalid value: "-x": {VALUE_FORM}]',
            id="every malformed value is reported",
        ),
    ],
)
def test_a_malformed_selector_is_reported_in_the_words_of_kubernetes(fields, message):
    with pytest.raises(selectors.SelectorError) as error:
        selector(**fields)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("values", "problems"),
    [
        pytest.param(
            ["1", "2"],
            ["a.values: Invalid value: [\"1\",\"2\"]: for 'Gt', 'Lt' operators, exactly one value is required"],
            id="two bounds",
        ),
        pytest.param(
            ["x"],
            ["a.values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer"],
            id="a bound that is no integer",
        ),
        pytest.param(["-1"], [f'a.values[0][n]: Invalid value: "-1": {VALUE_FORM}'], id="a bound below zero"),
    ],
)
def test_a_bound_must_be_one_integer_that_is_a_label_value(values, problems):
    with pytest.raises(selectors.SelectorError) as error:
        selectors.requirement("n", "Gt", values, "a")
    assert list(error.value.problems) == problems


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("007", 7),
        ("-9223372036854775808", -(2**63)),
        ("9223372036854775808", None),
        ("1_0", None),
        ("-" + "0" * 5000 + "7", -7),
        ("9" * 5000, None),
        (" 1", None),
    ],
)
def test_integers_are_read_as_go_reads_them(text, value):
    assert selectors.parse_int64(text) == value

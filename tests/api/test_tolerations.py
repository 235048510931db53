"""Which tolerations cover which taints."""

import pytest

from schedctl.api.nodes import Taint
from schedctl.api.pods import Toleration
from schedctl.api.tolerations import comparable_number, first_untolerated, tolerates

TAINT = Taint(key="team", value="red", effect="NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "covers"),
    [
        pytest.param({"key": "team", "value": "red"}, True, id="without an operator values must be equal"),
        pytest.param({"key": "team", "operator": "Equal", "value": "blue"}, False, id="another value does not cover"),
        pytest.param({"key": "team", "operator": "Exists"}, True, id="Exists covers any value"),
        pytest.param({"key": "team", "operator": "Exists", "value": "blue"}, True, id="Exists overlooks a value"),
        pytest.param({"operator": "Exists"}, True, id="Exists without a key covers everything"),
        pytest.param({"operator": "Equal", "value": "red"}, True, id="no key stands for any key"),
        pytest.param({"key": "team"}, False, id="an empty value equals only an empty value"),
        pytest.param({"key": "other", "operator": "Exists"}, False, id="another key does not cover"),
        pytest.param({"key": "team", "operator": "Exists", "effect": "NoExecute"}, False, id="nor another effect"),
        pytest.param({"key": "team", "operator": "Exists", "effect": "NoSchedule"}, True, id="the same effect does"),
        pytest.param({"key": "team", "operator": "Gt", "value": "1"}, False, id="Gt covers no value that is a word"),
        pytest.param(
            {"key": "team", "operator": "Maybe", "value": "red"}, False, id="an unknown operator never covers"
        ),
    ],
)
def test_what_a_toleration_covers(toleration, covers):
    assert tolerates(Toleration(**toleration), TAINT, compares=True) is covers


@pytest.mark.parametrize(
    ("operator", "bound", "value", "covers"),
    [
        pytest.param("Gt", "950", "999", True, id="Gt covers a larger value"),
        pytest.param("Gt", "950", "950", False, id="and not an equal one"),
        pytest.param("Lt", "-3", "-4", True, id="Lt covers a smaller one"),
        pytest.param("Lt", "9", "10", False, id="numbers are compared and not words"),
        pytest.param("Lt", "9", "", False, id="no value is no number"),
        pytest.param("Gt", "many", "9", False, id="nor is a word in the toleration"),
    ],
)
def test_comparisons_cover_numbers_beyond_their_bound_and_nothing_while_their_gate_is_off(
    operator, bound, value, covers
):
    toleration, taint = Toleration(key="sla", operator=operator, value=bound), Taint(key="sla", value=value)
    assert tolerates(toleration, taint, compares=True) is covers
    assert not tolerates(toleration, taint, compares=False)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("0", 0),
        ("-12", -12),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        *((value, None) for value in ("", "-", "-0", "007", "+7", "7.5", " 7", "7\n", "٧", "9223372036854775808")),
    ],
)
def test_a_number_is_an_int64_as_people_write_it(value, number):
    assert comparable_number(value) == number


def test_the_first_taint_that_keeps_a_pod_off_is_found_in_the_order_of_the_node():
    soft = Taint(key="a", effect="PreferNoSchedule")
    evicting = Taint(key="b", effect="NoExecute")
    assert first_untolerated([soft, evicting, TAINT], [], compares=False) is evicting
    every_b = [Toleration(key="b", operator="Exists")]
    assert first_untolerated([soft, evicting, TAINT], every_b, compares=False) is TAINT
    assert first_untolerated([soft], [], compares=False) is None
    assert first_untolerated([soft, TAINT], [], compares=False, effects={"PreferNoSchedule"}) is soft

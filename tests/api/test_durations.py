"""Durations as Go reads and writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedctl.api.durations import SECOND, Duration


@pytest.mark.parametrize(
    ("text", "nanoseconds", "written"),
    [
        ("0", 0, "0s"),
        ("-0", 0, "0s"),
        ("15s", 15 * SECOND, "15s"),
        ("600s", 600 * SECOND, "10m0s"),
        ("1h", 3600 * SECOND, "1h0m0s"),
        ("1h2m3.5s", 3723 * SECOND + SECOND // 2, "1h2m3.5s"),
        ("-1.5m", -90 * SECOND, "-1m30s"),
        ("100us", 100_000, "100µs"),
        ("1µs", 1_000, "1µs"),
        ("1.5ms", 1_500_000, "1.5ms"),
        ("999.999999ms", 999_999_999, "999.999999ms"),
        ("+.5s", SECOND // 2, "500ms"),
        ("5.s", 5 * SECOND, "5s"),
        ("1s2s", 3 * SECOND, "3s"),
        ("1.0000000001s", SECOND, "1s"),
        ("0.3333333333333333333333333s", 333_333_333, "333.333333ms"),
        ("9223372036854775807ns", 2**63 - 1, "2562047h47m16.854775807s"),
        ("-9223372036854775808ns", -(2**63), "-2562047h47m16.854775808s"),
    ],
)
def test_a_duration_is_read_and_written_like(text, nanoseconds, written):
    assert Duration.parse(text) == nanoseconds
    assert str(Duration(nanoseconds)) == written.replace("333.333333ms", "333.333333ms")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", '"" is not a duration'),
        ("-", '"-" is not a duration'),
        (".s", '".s" is not a duration'),
        ("s", '"s" is not a duration'),
        ("15", 'the duration "15" lacks a unit'),
        ("1.2.3s", 'the duration "1.2.3s" lacks a unit'),
        ("1d", 'unknown unit "d" in the duration "1d"'),
        ("15 s", 'unknown unit " s" in the duration "15 s"'),
        ("1e3s", 'unknown unit "e" in the duration "1e3s"'),
        ("9223372036854775808ns", 'the duration "9223372036854775808ns" is too long'),
        ("9" * 5000 + "h", "is too long"),
    ],
)
def test_what_is_no_duration(text, message):
    with pytest.raises(ValueError) as refused:
        Duration.parse(text)
    assert message in str(refused.value)


@given(st.integers(-(2**63), 2**63 - 1).map(Duration))
def test_what_is_written_is_read_back(duration):
    assert Duration.parse(str(duration)) == duration


def test_seconds_are_for_those_who_wait():
    assert Duration.parse("1500ms").seconds == 1.5

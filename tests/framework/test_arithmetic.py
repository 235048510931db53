"""Go's arithmetic, to the last bit."""

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedctl.framework import arithmetic
from schedctl.framework.arithmetic import default_normalize, natural_log, round_half_away, round_half_up, truncdiv

INT64 = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(INT64, min_size=1), INT64.filter(lambda b: b not in (0, -1)))
def test_division_truncates_toward_zero(dividends, divisor):
    exact = [abs(a) // abs(divisor) * (1 if (a < 0) == (divisor < 0) else -1) for a in dividends]
    assert truncdiv(np.array(dividends, np.int64), divisor).tolist() == exact


@given(st.floats(-1e15, 1e15))
def test_halves_are_rounded_away_from_zero(value):
    exact = Fraction(value)
    nearest = math.floor(abs(exact) + Fraction(1, 2))
    assert round_half_away(np.array([value]))[0] == math.copysign(nearest, value)
    assert round_half_up(np.array([abs(value)]))[0] == nearest
    assert arithmetic.nearest(abs(value)) == nearest


@pytest.mark.parametrize(
    ("value", "bits"),
    [
        (2, 0x3FE62E42FEFA39EF),
        (3, 0x3FF193EA7AAD030A),
        (14, 0x40051CCA16D7BBA8),
        (48, 0x400EF8383C50BB74),
        (5002, 0x40210901F6DC84B9),
    ],
)
def test_the_logarithm_is_that_of_go_even_where_the_c_library_is_nearer(value, bits):
    assert struct.unpack("<Q", struct.pack("<d", natural_log(value)))[0] == bits


@given(st.integers(1, 2**40))
def test_the_logarithm_is_one(value):
    assert math.isclose(natural_log(value), math.log(value), rel_tol=1e-15)


@pytest.mark.parametrize(
    ("scores", "reverse", "normalized"),
    [
        pytest.param([1, 2, 3], False, [33, 66, 100], id="in proportion to the largest"),
        pytest.param([1, 2, 3], True, [67, 34, 0], id="the smallest is best when reversed"),
        pytest.param([0, 0], False, [0, 0], id="nothing stays nothing"),
        pytest.param([0, 0], True, [100, 100], id="nothing is best when reversed"),
        pytest.param([-5, 10], False, [-50, 100], id="negative scores stay negative"),
    ],
)
def test_default_normalization(scores, reverse, normalized):
    assert default_normalize(np.array(scores, np.int64), reverse=reverse).tolist() == normalized

"""Quantities, held against what apimachinery makes of the same text, and against exact fractions."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedctl.api import quantities

MIN_INT64 = -quantities.MAX_INT64 - 1


@pytest.mark.parametrize(
    ("text", "value", "milli"),
    [
        pytest.param("500m", 1, 500, id="a fraction rounds up to a whole unit"),
        pytest.param("1500u", 1, 2, id="micro-units round up to thousandths"),
        pytest.param("1n", 1, 1, id="the smallest amount is not nothing"),
        pytest.param("999999999n", 1, 1000, id="nano-units round up, not to the nearest"),
        pytest.param("1e-12", 1, 1, id="amounts finer than nano are rounded up to it"),
        pytest.param("-1500m", -2, -1500, id="negative amounts round away from zero"),
        pytest.param(".5", 1, 500, id="the digits before the point may be missing"),
        pytest.param("1.", 1, 1000, id="the digits behind the point may be missing"),
        pytest.param("+3", 3, 3000, id="a plus sign is allowed"),
        pytest.param("0", 0, 0, id="zero is zero"),
        pytest.param("0Pi", 0, 0, id="zero of a large unit is zero"),
        pytest.param("7e3", 7000, 7_000_000, id="an exponent is decimal"),
        pytest.param("1E", 10**18, 0, id="E without digits is the suffix Exa"),
        pytest.param("1Ki", 1024, 1_024_000, id="i makes a suffix binary"),
        pytest.param("1.5Gi", 3 << 29, (3 << 29) * 1000, id="a fraction may have a binary suffix"),
        pytest.param("1.0000000001Ki", 1025, 1_024_001, id="a binary fraction rounds up to a whole unit"),
        pytest.param(2, 2, 2000, id="a bare number counts as its text"),
        pytest.param(0.1, 1, 100, id="a bare fraction counts as its text"),
        pytest.param("9Ei", quantities.MAX_INT64, -1000, id="binary amounts are capped, and their thousandths wrap"),
        pytest.param(
            "10000000000000000", 10**16, quantities.wrap_int64(10**19), id="thousandths wrap in one multiplication"
        ),
        pytest.param("1e17", 10**17, 0, id="thousandths are 0 where it takes several multiplications"),
        pytest.param("100E", 0, 0, id="a scaled integer too large for int64 is 0"),
        pytest.param(
            "12345678901234567890", -6101065172474983726, 4807115922877858896, id="more digits than int64 has wrap"
        ),
    ],
)
def test_a_quantity_is_worth_so_many_units_and_thousandths(text, value, milli):
    assert (quantities.stored_amount(text).value, quantities.stored_amount(text).milli_value) == (value, milli)


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        pytest.param(("1", "500m"), 2, id="amounts of different units add up exactly before rounding"),
        pytest.param(("5Ei", "6Ei"), quantities.wrap_int64(11 << 60), id="a sum beyond int64 wraps"),
        pytest.param(("100E", "100E"), 0, id="a sum of two that are too large stays 0"),
        pytest.param(("9223372036854775807", "1"), MIN_INT64, id="one more than the largest wraps"),
    ],
)
def test_quantities_add_up_as_in_go(texts, value):
    first, second = map(quantities.stored_amount, texts)
    assert first.plus(second).value == value


def test_the_larger_amount_takes_on_the_representation_it_was_compared_with():
    small, large = quantities.stored_amount("0Pi"), quantities.stored_amount("100E")
    assert small.big
    assert not large.big
    assert small.or_more(large).value == quantities.wrap_int64(10**20)
    assert large.or_more(small).value == 0


@pytest.mark.parametrize("text", ["", ".", "lots", "1 Gi", "1Zi", "1e", "--1", "1e99999", "١", "0x1", "1,5"])
def test_what_is_not_a_quantity_is_refused(text):
    with pytest.raises(ValueError, match="not a quantity"):
        quantities.parse(text)


amounts = st.builds(quantities.Amount, st.integers(-(10**17), 10**17), st.integers(-9, 3))


@pytest.mark.parametrize("text", ["9" * 5000, "0." + "9" * 5000, "9" * 5000 + "Ki", "1e" + "9" * 5000])
def test_a_quantity_of_thousands_of_digits_is_refused(text):
    with pytest.raises(ValueError, match="a quantity of more than 4000 digits"):
        quantities.parse(text)


def exact(amount):
    return Fraction(amount.unscaled) * Fraction(10) ** amount.exponent


@given(amounts, amounts)
def test_adding_is_exact_and_its_order_does_not_matter(a, b):
    assert exact(a.plus(b)) == exact(a) + exact(b) == exact(b.plus(a))


@given(amounts, amounts)
def test_comparing_is_exact(a, b):
    assert a.compare(b) == (exact(a) > exact(b)) - (exact(a) < exact(b))
    assert exact(a.or_more(b)) == max(exact(a), exact(b))


@given(amounts, st.integers(-9, 3))
def test_rounding_up_adds_less_than_one_unit_and_never_shrinks(a, exponent):
    unit = Fraction(10) ** exponent
    rounded = abs(exact(a.round_up(exponent)))
    assert abs(exact(a)) <= rounded < abs(exact(a)) + unit
    assert a.round_up(exponent).exponent >= exponent


@given(amounts)
def test_reading_a_positive_amount_that_fits_is_rounding_it_up(a):
    positive = a._replace(unscaled=abs(a.unscaled))
    rounded = exact(positive.round_up(0))
    if rounded <= quantities.MAX_INT64:
        assert positive.value == rounded


@given(st.integers(-(2**70), 2**70))
def test_wrapping_keeps_the_low_64_bits(value):
    assert MIN_INT64 <= quantities.wrap_int64(value) <= quantities.MAX_INT64
    assert (quantities.wrap_int64(value) - value) % 2**64 == 0


@given(st.integers(0, 10**9), st.sampled_from(["n", "u", "m", "", "k", "M", "G", "Ki", "Mi", "Gi"]))
def test_text_is_worth_its_digits_times_its_suffix(digits, suffix):
    decimal = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9}
    unit = (
        Fraction(10) ** decimal[suffix]
        if suffix in decimal
        else Fraction(1024 ** (1 + ["Ki", "Mi", "Gi"].index(suffix)))
    )
    assert exact(quantities.parse(f"{digits}{suffix}")) == digits * unit


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("1000m", "1"),
        ("0.5", "500m"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("1500Mi", "1500Mi"),
        ("512", "512"),
        ("0.5Gi", "512Mi"),
        ("0.5Ki", "512"),
        ("10000", "10k"),
        ("12e6", "12e6"),
        ("1500", "1500"),
        ("0", "0"),
        ("-1000m", "-1"),
        (2, "2"),
    ],
)
def test_amounts_are_written_as_the_server_writes_them(written, text):
    assert quantities.canonical(quantities.parse(written), quantities.form_of(written)) == text

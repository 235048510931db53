"""Quantities: what ``500m``, ``1.5Gi`` or ``12e6`` are worth, to the unit and to the overflow.

kube-scheduler adds up exact decimal amounts and then takes int64 millicores or bytes, rounding up. Verdicts at the rim
of int64 show how apimachinery's ``resource.Quantity`` holds an amount, so `Amount` keeps the representation along with
the value.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from functools import lru_cache
from typing import Literal, NamedTuple

from schedctl.api.meta import Quantity

MAX_INT64 = (1 << 63) - 1
MIN_INT64 = -(1 << 63)
NANO, MILLI = -9, -3

_GRAMMAR = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?[0-9]+))?")
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_SUFFIXES = ("", *_BINARY)
_DECIMAL_SUFFIXES = {0: "", **{exponent: suffix for suffix, exponent in _DECIMAL.items()}}
Form = Literal["DecimalSI", "BinarySI", "DecimalExponent"]
"""How an amount is written: ``500m``, ``2Gi`` or ``1e3``."""
_FAST_DIGITS = 18
"""Decimal digits that are sure to fit an int64."""
_LARGEST_EXPONENT = 10_000
"""Beyond it lie only amounts that kube-scheduler could not add up either."""
_MOST_DIGITS = 4_000
"""Python itself refuses to read integers that are a little longer."""
_WRAPPING_STEPS = frozenset((1, 2, 3, 6, 9))
"""Powers of ten by which a scaled int64 is multiplied in one step, whose overflow wraps instead of giving 0."""


def wrap_int64(value: int) -> int:
    """Return ``value`` as a two's complement int64 would hold it."""
    return ((value + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)


class Amount(NamedTuple):
    """An exact amount, ``unscaled * 10**exponent``.

    Go has two representations, a scaled int64 for ordinary numbers and a big decimal (`big`) for the rest, which
    overflow each in its own way when read as int64.
    """

    unscaled: int
    exponent: int
    big: bool = False

    def plus(self, other: Amount) -> Amount:
        """Return the exact sum; it becomes a big decimal when a scaled int64 would overflow."""
        big = self.big or other.big
        if not big:  # Go keeps the exponent of the one that is not zero, and with it the way the sum overflows
            if other.unscaled == 0:
                return self
            if self.unscaled == 0:
                return other
        exponent = min(self.exponent, other.exponent)
        mine, theirs = self._at(exponent), other._at(exponent)
        total = mine + theirs
        return Amount(total, exponent, big or not (_fits(mine) and _fits(theirs) and _fits(total)))

    def minus(self, other: Amount) -> Amount:
        """Return the exact difference; the least int64 is its own opposite where no big decimal is needed."""
        difference = self.plus(Amount(wrap_int64(-other.unscaled), other.exponent))
        if other.big or difference.big:
            return self.plus(Amount(-other.unscaled, other.exponent, True))
        return difference

    def times(self, factor: int) -> Amount:
        """Return a multiple; it becomes a big decimal when a scaled int64 would overflow."""
        unscaled = self.unscaled * factor
        return Amount(unscaled, self.exponent, self.big or not _fits(unscaled))

    def scaled_by(self, factor: Amount) -> Amount:
        """Return the exact product, which is a big decimal."""
        return Amount(self.unscaled * factor.unscaled, self.exponent + factor.exponent, True)

    def or_more(self, other: Amount) -> Amount:
        """Return the larger of both, this one if they are equal.

        An amount that replaces one of the other representation becomes a big decimal.
        """
        if other.compare(self) <= 0:
            return self
        return other if self.big == other.big else Amount(other.unscaled, other.exponent, True)

    def compare(self, other: Amount) -> int:
        """Return -1, 0 or 1 as this amount is less than, equal to or greater than the other."""
        exponent = min(self.exponent, other.exponent)
        mine, theirs = self._at(exponent), other._at(exponent)
        return (mine > theirs) - (mine < theirs)

    def round_up(self, exponent: int) -> Amount:
        """Return the amount in units of ``10**exponent``, rounded away from zero when it is finer."""
        if self.exponent < exponent:
            return Amount(_divide_away(self.unscaled, 10 ** (exponent - self.exponent)), exponent, self.big)
        return Amount(self._at(exponent), exponent, True) if self.big else self

    def scaled_value(self, exponent: int) -> int:
        """Return the amount as int64 in units of ``10**exponent``, rounded up; amounts too large are garbage.

        The garbage is Go's: a big decimal wraps; a scaled int64 wraps where one multiplication gets there and is 0
        where it takes several.
        """
        steps = self.exponent - exponent
        if self.big:
            return _scale_big(self.unscaled, steps)
        if steps < 0:
            return self.round_up(exponent).unscaled
        value = self._at(exponent)
        if _fits(value):
            return value
        return wrap_int64(value) if steps in _WRAPPING_STEPS else 0

    @property
    def value(self) -> int:
        """The amount in whole units (bytes, devices), rounded up."""
        return self.scaled_value(0)

    @property
    def milli_value(self) -> int:
        """The amount in thousandths (millicores), rounded up."""
        return self.scaled_value(MILLI)

    @property
    def nano_units(self) -> int:
        """The amount in nano-units, exactly."""
        return int(self.unscaled * 10 ** (self.exponent - NANO))

    @property
    def whole(self) -> int | None:
        """The amount in whole units where it is written so, None where it is written finer or is too large."""
        if self.big or self.exponent < 0:
            return None
        value = self._at(0)
        return value if _fits(value) else None

    def _at(self, exponent: int) -> int:
        return int(self.unscaled * 10 ** (self.exponent - exponent))


@lru_cache(maxsize=65536, typed=True)
def parse(quantity: Quantity) -> Amount:
    """Return the exact amount of a quantity as written, no finer than a nano-unit.

    Raises:
        ValueError: it is not a quantity in Kubernetes' grammar, or is longer than we are willing to read.
    """
    text = quantity if isinstance(quantity, str) else repr(quantity)
    match = _GRAMMAR.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        raise ValueError(f"not a quantity: {text!r}")
    sign, digits, fraction, binary, decimal, power = match.groups()
    digits, fraction, power = digits.lstrip("0") or "0", fraction or "", power or ""
    if max(len(digits) + len(fraction), len(power)) > _MOST_DIGITS:
        raise ValueError(f"a quantity of more than {_MOST_DIGITS} digits")
    unscaled = int(digits + fraction)
    if sign == "-":
        unscaled = -unscaled
    if binary:
        shift = _BINARY[binary]
        # Go's own estimate of what fits an int64: 2**shift has about 3/10 of shift decimal digits
        if not fraction and 15 - len(digits) - shift * 3 // 10 - 1 >= 0:
            return Amount(unscaled << shift, 0)
        return _decimal(unscaled << shift, -len(fraction), capped=True)
    exponent = int(power) if power else _DECIMAL.get(decimal, 0)
    if abs(exponent) > _LARGEST_EXPONENT:
        raise ValueError(f"not a quantity: {text!r}")
    exponent -= len(fraction)
    if len(digits) + len(fraction) <= _FAST_DIGITS and exponent >= NANO:
        return Amount(unscaled, exponent)
    return _decimal(unscaled, exponent, capped=False)


@lru_cache(maxsize=65536, typed=True)
def stored_amount(quantity: Quantity) -> Amount:
    """Return the amount of a quantity in a resource list, which the API server rounds up to thousandths.

    Raises:
        ValueError: it is not a quantity in Kubernetes' grammar.
    """
    return parse(quantity).round_up(MILLI)


@lru_cache(maxsize=65536, typed=True)
def nano_units(quantity: Quantity) -> int:
    """Return a quantity in nano-units, of which every quantity is a whole number.

    Raises:
        ValueError: it is not a quantity in Kubernetes' grammar.
    """
    return parse(quantity).nano_units


@lru_cache(maxsize=8192, typed=True)
def form_of(quantity: Quantity) -> Form:
    """Return the form in which a quantity is written, which sums and results of rounding inherit."""
    match = _GRAMMAR.fullmatch(quantity if isinstance(quantity, str) else repr(quantity))
    if match is None:
        return "DecimalSI"
    return "BinarySI" if match[4] else "DecimalExponent" if match[6] else "DecimalSI"


@lru_cache(maxsize=8192, typed=True)
def representation(quantity: Quantity) -> Hashable | None:
    """Return what Go compares when two quantities are compared as structs, None where they are never equal.

    That is the scaled integer, the form, and the text where it was in canonical form already.
    """
    text = str(quantity)
    amount = parse(quantity)
    if amount.big:
        return None  # a big decimal is a pointer, each of its own
    if text == "0":
        return amount.unscaled, amount.exponent, "DecimalSI", text
    form = form_of(quantity)
    match = _GRAMMAR.fullmatch(text)
    assert match is not None
    digits = (match[2].lstrip("0") or "0") + (match[3] or "")
    if form == "BinarySI":
        kept = int(digits) & 7 != 0
    else:
        kept = amount.exponent % 3 == 0 and not digits.endswith("000") and not digits.startswith("0")
    return amount.unscaled, amount.exponent, form, text if kept else ""


def canonical(amount: Amount, form: Form = "DecimalSI") -> str:
    """Return an amount as the API server writes it: the shortest whole number with a suffix of its form.

    A binary amount below 1024, or finer than whole units, is written as a decimal. What is beyond the last suffix loses
    its magnitude, as it does in Go.
    """
    value, exponent = amount.unscaled, amount.exponent
    if not value:
        return "0"
    while value % 10 == 0:
        value, exponent = value // 10, exponent + 1
    if form == "BinarySI" and exponent >= 0 and abs(value * 10**exponent) >= 1024:
        value, times = value * 10**exponent, 0
        while value % 1024 == 0:
            value, times = value // 1024, times + 1
        return f"{value}{_BINARY_SUFFIXES[times] if times < len(_BINARY_SUFFIXES) else ''}"
    value, exponent = value * 10 ** (exponent % 3), exponent - exponent % 3
    if form == "DecimalExponent":
        return f"{value}e{exponent}" if exponent else str(value)
    return f"{value}{_DECIMAL_SUFFIXES.get(exponent, '')}"


def _decimal(unscaled: int, exponent: int, *, capped: bool) -> Amount:
    """A big decimal: rounded away from zero to nano; binary amounts are capped at the largest int64."""
    amount = Amount(unscaled, exponent, True)
    if unscaled:
        amount = amount.round_up(NANO)
    # as in Go: 16Ei becomes the largest int64, and 16e18 stays what it is
    if capped and abs(amount.unscaled) > MAX_INT64 * 10**9:
        return Amount(MAX_INT64 if unscaled > 0 else -MAX_INT64, 0, True)
    return amount


def _scale_big(unscaled: int, steps: int) -> int:
    """A big decimal times ``10**steps`` as int64; each branch has an overflow of its own."""
    if steps >= 0:
        return wrap_int64(wrap_int64(unscaled) * (10**steps if steps <= _FAST_DIGITS else MIN_INT64))
    divisor = int(10**-steps)
    if unscaled < MAX_INT64 and -steps <= _FAST_DIGITS:
        unscaled = wrap_int64(unscaled)
        quotient, remainder = divmod(abs(unscaled), divisor)
        return (quotient if unscaled >= 0 else -quotient) + (remainder != 0)
    quotient, remainder = divmod(unscaled, divisor)
    return wrap_int64(wrap_int64(quotient) + (remainder != 0))


def _divide_away(value: int, divisor: int) -> int:
    quotient, remainder = divmod(abs(value), divisor)
    magnitude = quotient + (remainder != 0)
    return magnitude if value >= 0 else -magnitude


def _fits(value: int) -> bool:
    return MIN_INT64 <= value <= MAX_INT64

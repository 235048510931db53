"""Integer arithmetic as Go does it, for columns: int64 that wraps, division that truncates toward zero."""

from __future__ import annotations

import math

import numpy as np

from schedctl.cache.arrays import FloatArray, IntArray

MAX_NODE_SCORE = 100
"""The best a normalised score can be; the least is 0."""
_BELOW_HALF = math.nextafter(0.5, 0.0)
_HALF_SQRT2 = 7.07106781186547524401e-01
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_LOG = (
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
)


def truncdiv(a: IntArray | int, b: IntArray | int) -> IntArray:
    """Return ``a / b`` truncated toward zero, int64; the divisor must not be 0."""
    quotient = np.asarray(np.floor_divide(a, b), np.int64)
    # rounding down and toward zero differ only below zero, and there only where something is left over
    if quotient.min(initial=0) < 0:
        quotient = quotient + ((quotient < 0) & (quotient * b != a))
    return quotient


def round_half_away(values: FloatArray) -> FloatArray:
    """Return the nearest integers, halves away from zero, as Go's ``math.Round``."""
    # the number just below a half: 0.49999999999999994 + 0.5 is 1.0 in float64, and rounds to 1
    result: FloatArray = np.trunc(values + np.copysign(_BELOW_HALF, values))
    return result


def round_half_up(values: FloatArray) -> IntArray:
    """Return the nearest integers, int64, of values none of which is negative, as `round_half_away` in fewer steps."""
    return (values + _BELOW_HALF).astype(np.int64)


def nearest(value: float) -> int:
    """Return the nearest integer of a value that is not negative, as `round_half_up`."""
    return int(value + _BELOW_HALF)


def default_normalize(scores: IntArray, *, reverse: bool = False, largest: int = MAX_NODE_SCORE) -> IntArray:
    """Return scores scaled so that the largest becomes `largest`; reversed, small scores are the good ones.

    All-zero scores stay 0, or become `largest` when reversed (upstream's ``DefaultNormalizeScore``).
    """
    top = int(scores.max(initial=0))
    if top == 0:
        return np.full_like(scores, largest) if reverse else scores
    scaled = truncdiv(largest * scores, top)
    return largest - scaled if reverse else scaled


def largest_unsigned(scores: IntArray) -> int:
    """Return the largest of some scores, 0 for none, with negative ones as what they are as unsigned integers.

    So one comparison tells whether all of them are in a range that begins with 0.
    """
    return int(np.maximum.reduce(scores.view(np.uint64), initial=0))


def natural_log(x: float) -> float:
    """Return ``math.Log(x)`` of a positive number to the last bit as Go on amd64 computes it.

    The C library's logarithm is the nearer one and differs in the last bit for about one integer in a hundred; Go's
    is the classic reduction to ``2**exponent * (1 + f)`` with a polynomial in ``f / (2 + f)``.
    """
    mantissa, exponent = math.frexp(x)
    if mantissa < _HALF_SQRT2:
        mantissa, exponent = 2 * mantissa, exponent - 1
    f = mantissa - 1
    s = f / (2 + f)
    even = s * s
    fourth = even * even
    odd_terms = even * (_LOG[0] + fourth * (_LOG[2] + fourth * (_LOG[4] + fourth * _LOG[6])))
    even_terms = fourth * (_LOG[1] + fourth * (_LOG[3] + fourth * _LOG[5]))
    half = 0.5 * f * f
    return exponent * _LN2_HIGH - ((half - (s * (half + (odd_terms + even_terms)) + exponent * _LN2_LOW)) - f)

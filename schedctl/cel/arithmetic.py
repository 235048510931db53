"""Arithmetic: that of Go's fixed-width integers, with overflows as errors, and of doubles, texts, lists and times.

The first value decides what is meant; the second must be of the same type, but for times.
"""

from __future__ import annotations

import math

from schedctl.cel import times, values
from schedctl.cel.values import Failure, Value

INT_OVERFLOW, UINT_OVERFLOW = Failure("integer overflow"), Failure("unsigned integer overflow")
_DIVISION, _MODULUS = Failure("division by zero"), Failure("modulus by zero")


def _int(value: int) -> Value:
    return value if values.MIN_INT64 <= value <= values.MAX_INT64 else INT_OVERFLOW


def _uint(value: int) -> Value:
    return values.Uint(value) if 0 <= value <= values.MAX_UINT64 else UINT_OVERFLOW


def add(a: Value, b: Value) -> Value:
    """Return the sum, or one text or list after the other."""
    kind = a.__class__
    if kind is values.Duration or kind is values.Timestamp:
        return _add_time(a, b)
    if kind is list or kind is values.Mutable:
        if not isinstance(b, list):
            return values.failure_or_no_overload(b)
        if kind is values.Mutable:
            # A loop builds its list in place; a new one in each round would make it quadratic.
            a.extend(b)
            return a
        return [*a, *b]
    if b.__class__ is not kind:
        return values.failure_or_no_overload(b)
    if kind is int:
        return _int(a + b)
    if kind is values.Uint:
        return _uint(a + b)
    return a + b


def _add_time(a: Value, b: Value) -> Value:
    if a.__class__ is values.Timestamp:
        return times.shift_timestamp(a, b) if b.__class__ is values.Duration else values.failure_or_no_overload(b)
    if b.__class__ is values.Timestamp:
        return times.shift_timestamp(b, a)
    return times.add_durations(a, b) if b.__class__ is values.Duration else values.failure_or_no_overload(b)


def subtract(a: Value, b: Value) -> Value:
    """Return the difference."""
    kind = a.__class__
    if kind is values.Timestamp:
        if b.__class__ is values.Timestamp:
            return times.between_timestamps(a, b)
        return times.shift_timestamp(a, b, -1) if b.__class__ is values.Duration else values.failure_or_no_overload(b)
    if b.__class__ is not kind:
        return values.failure_or_no_overload(b)
    if kind is values.Duration:
        return times.subtract_durations(a, b)
    if kind is int:
        return _int(a - b)
    return _uint(a - b) if kind is values.Uint else a - b


def multiply(a: Value, b: Value) -> Value:
    """Return the product."""
    kind = a.__class__
    if b.__class__ is not kind:
        return values.failure_or_no_overload(b)
    if kind is int:
        return _int(a * b)
    return _uint(a * b) if kind is values.Uint else a * b


def divide(a: Value, b: Value) -> Value:
    """Return the quotient; of integers, truncated toward zero."""
    kind = a.__class__
    if b.__class__ is not kind:
        return values.failure_or_no_overload(b)
    if kind is float:
        if b:
            return a / b
        # Python raises where Go, by IEEE 754, has an infinity with the signs of both, or NaN.
        return math.nan if a != a or not a else math.copysign(math.inf, a) * math.copysign(1, b)
    if not b:
        return _DIVISION
    # Python's `//` rounds down, Go's `/` toward zero; the one overflow is that of the least integer by -1.
    quotient = abs(a) // abs(b)
    return values.Uint(quotient) if kind is values.Uint else _int(quotient if (a < 0) is (b < 0) else -quotient)


def modulo(a: Value, b: Value) -> Value:
    """Return the remainder of integers, with the sign of the first."""
    kind = a.__class__
    if b.__class__ is not kind:
        return values.failure_or_no_overload(b)
    if not b:
        return _MODULUS
    if a == values.MIN_INT64 and b == -1:
        return INT_OVERFLOW
    remainder = abs(a) % abs(b)
    return values.Uint(remainder) if kind is values.Uint else -remainder if a < 0 else remainder


def negate(a: Value) -> Value:
    """Return the opposite."""
    # Go can negate a Bool (for `!`), so the engine lets one through to here.
    if a.__class__ is bool:
        return values.NO_SUCH_OVERLOAD
    if a.__class__ is values.Duration:
        return times.negate_duration(a)
    return _int(-a) if a.__class__ is int else -a

"""CEL's extensions that Kubernetes leaves out and policies have: ``math``, and ``reverse`` of texts."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

from schedctl.cel import values
from schedctl.cel.declarations import Overload, declare
from schedctl.cel.values import Failure, Value

_NUMBERS = ("int", "uint", "double")
_MOST_ARGUMENTS = 8
_OVERFLOW = Failure("integer overflow")


def extreme(elements: list[Value], sign: int) -> Value:
    """Return the greatest (1) or the least (-1) of a list that is not empty, the failure where two have no order."""
    found = elements[0]
    for value in elements[1:]:
        order = values.compare(value, found)
        if isinstance(order, Failure):
            return order
        if order == sign:
            found = value
    return found


def _extremes(name: str, sign: int) -> list[Overload]:
    def call(*arguments: Value) -> Value:
        numbers = arguments[0] if isinstance(arguments[0], list) else list(arguments)
        return extreme(numbers, sign) if numbers else Failure("an empty list has no extreme")

    lines = [f"list_{kind} (list({kind})) {kind}" for kind in _NUMBERS]
    for count in range(1, _MOST_ARGUMENTS + 1):
        lines += [f"{kind}_{count} ({', '.join([kind] * count)}) {kind}" for kind in _NUMBERS]
    lines += [f"{a}_{b} ({a}, {b}) dyn" for a, b in product(_NUMBERS, repeat=2) if a != b]
    return [declare(f"math.{name} math_{name}_{line}", call) for line in lines]


def _doubles(name: str, result: str, call: Callable[[float], Any]) -> Overload:
    return declare(f"math.{name} math_{name}_double (double) {result}", call)


def _round(value: float) -> float:
    """Return a double rounded to a whole one, halves away from zero."""
    if not math.isfinite(value):
        return value
    return math.copysign(math.floor(abs(value) + 0.5) if abs(value) < 2.0**52 else abs(value), value)


def _keep_special(call: Callable[[float], float]) -> Callable[[float], float]:
    return lambda value: float(call(value)) if math.isfinite(value) else value


def _absolute(value: int) -> Value:
    return _OVERFLOW if value == values.MIN_INT64 else abs(value)


def _sign(value: float) -> float:
    return value if value != value else float((value > 0) - (value < 0))


def _square_root(value: float) -> float:
    return math.sqrt(value) if value >= 0 else math.nan


def _shift(left: bool, unsigned: bool) -> Callable[[int, int], Value]:
    def shift(value: int, places: int) -> Value:
        if places < 0:
            return Failure(f"math.bitShift{'Left' if left else 'Right'}() negative offset: {places}")
        bits = value & values.MAX_UINT64
        bits = 0 if places >= 64 else (bits << places) & values.MAX_UINT64 if left else bits >> places
        return values.Uint(bits) if unsigned else bits - (1 << 64) if bits > values.MAX_INT64 else bits

    return shift


def _bits() -> list[Overload]:
    found = [
        declare("math.bitAnd math_bitAnd_int (int, int) int", lambda a, b: a & b),
        declare("math.bitAnd math_bitAnd_uint (uint, uint) uint", lambda a, b: values.Uint(a & b)),
        declare("math.bitOr math_bitOr_int (int, int) int", lambda a, b: a | b),
        declare("math.bitOr math_bitOr_uint (uint, uint) uint", lambda a, b: values.Uint(a | b)),
        declare("math.bitXor math_bitXor_int (int, int) int", lambda a, b: a ^ b),
        declare("math.bitXor math_bitXor_uint (uint, uint) uint", lambda a, b: values.Uint(a ^ b)),
        declare("math.bitNot math_bitNot_int (int) int", lambda a: ~a),
        declare("math.bitNot math_bitNot_uint (uint) uint", lambda a: values.Uint(~a & values.MAX_UINT64)),
    ]
    for name, left in (("bitShiftLeft", True), ("bitShiftRight", False)):
        found.append(declare(f"math.{name} math_{name}_int (int, int) int", _shift(left, unsigned=False)))
        found.append(declare(f"math.{name} math_{name}_uint (uint, int) uint", _shift(left, unsigned=True)))
    return found


LIBRARY = [
    *_extremes("greatest", 1),
    *_extremes("least", -1),
    _doubles("ceil", "double", _keep_special(math.ceil)),
    _doubles("floor", "double", _keep_special(math.floor)),
    _doubles("trunc", "double", _keep_special(math.trunc)),
    _doubles("round", "double", _round),
    _doubles("isNaN", "bool", math.isnan),
    _doubles("isInf", "bool", math.isinf),
    _doubles("isFinite", "bool", math.isfinite),
    _doubles("abs", "double", abs),
    declare("math.abs math_abs_int (int) int", _absolute),
    declare("math.abs math_abs_uint (uint) uint", lambda value: value),
    _doubles("sign", "double", _sign),
    declare("math.sign math_sign_int (int) int", lambda value: (value > 0) - (value < 0)),
    declare("math.sign math_sign_uint (uint) uint", lambda value: values.Uint(value > 0)),
    _doubles("sqrt", "double", _square_root),
    declare("math.sqrt math_sqrt_int (int) double", _square_root),
    declare("math.sqrt math_sqrt_uint (uint) double", _square_root),
    *_bits(),
    declare(".reverse string_reverse (string) string", lambda text: text[::-1]),
]

"""Operators, and the few functions that are one implementation for all their overloads.

What short-circuits (``&&``, ``||``, ``?:``), equality and indexing are declared here but evaluated by `steps`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from schedctl.cel import arithmetic, conversions, lists, patterns, values
from schedctl.cel.declarations import Implementation, declare
from schedctl.cel.values import Failure, Value


class Operator(NamedTuple):
    """One implementation for all overloads.

    Attributes:
        takes: the classes its first argument may be of; None where the implementation looks itself.
    """

    implementation: Implementation
    takes: frozenset[type] | None = None


def _not(a: Value) -> Value:
    return not a if a.__class__ is bool else values.NO_SUCH_OVERLOAD


def _comparison(holds: Callable[[int], bool]) -> Implementation:
    def operator(a: Value, b: Value) -> Value:
        order = values.compare(a, b)
        return order if isinstance(order, Failure) else holds(order)

    return operator


def _in(a: Value, b: Value) -> Value:
    if isinstance(b, list):
        return lists.contains(b, a)
    # A map answers for the entries that are really there, not for what a lookup falls back to.
    return b.own(a) is not values.MISSING if b.__class__ is values.Map else values.NO_SUCH_OVERLOAD


def _not_strictly_false(a: Value) -> Value:
    return a if a.__class__ is bool else True


_LISTS = frozenset((list, values.Mutable))
_INTEGERS = frozenset((int, values.Uint))
_NUMBERS = _INTEGERS | {float}
_TIMES = frozenset((values.Duration, values.Timestamp))
_ORDERED = _NUMBERS | _TIMES | {bool, bytes, str}

OPERATORS: dict[str, Operator] = {
    "_+_": Operator(arithmetic.add, _NUMBERS | _TIMES | _LISTS | {bytes, str}),
    "_-_": Operator(arithmetic.subtract, _NUMBERS | _TIMES),
    "_*_": Operator(arithmetic.multiply, _NUMBERS),
    "_/_": Operator(arithmetic.divide, _NUMBERS),
    "_%_": Operator(arithmetic.modulo, _INTEGERS),
    "-_": Operator(arithmetic.negate, frozenset((bool, int, float, values.Duration))),
    "!_": Operator(_not),
    "_<_": Operator(_comparison(lambda order: order < 0), _ORDERED),
    "_<=_": Operator(_comparison(lambda order: order <= 0), _ORDERED),
    "_>_": Operator(_comparison(lambda order: order > 0), _ORDERED),
    "_>=_": Operator(_comparison(lambda order: order >= 0), _ORDERED),
    "@in": Operator(_in),
    "@not_strictly_false": Operator(_not_strictly_false),
    "size": Operator(len, _LISTS | {bytes, values.Map, str}),
    "type": Operator(conversions.type_of),
    "dyn": Operator(lambda value: value),
    "matches": Operator(patterns.matches, frozenset((str,))),
    "sort": Operator(lists.sort, _LISTS),
    "@sortByAssociatedKeys": Operator(lists.sort_by_keys, _LISTS),
}

"""By name. A first argument that an operator does not take is refused in words of its own, see `overloads`."""

_ORDERINGS = {"_<_": "less", "_<=_": "less_equals", "_>_": "greater", "_>=_": "greater_equals"}
_COMPARED = (
    *(("bool", "bool", "bool"), ("int64", "int", "int"), ("int64_double", "int", "double")),
    *(("int64_uint64", "int", "uint"), ("uint64", "uint", "uint"), ("uint64_double", "uint", "double")),
    *(("uint64_int64", "uint", "int"), ("double", "double", "double"), ("double_int64", "double", "int")),
    *(("double_uint64", "double", "uint"), ("string", "string", "string"), ("bytes", "bytes", "bytes")),
    *(("timestamp", "timestamp", "timestamp"), ("duration", "duration", "duration")),
)
_ARITHMETIC = """\
!_ logical_not (bool) bool
-_ negate_double (double) double
-_ negate_int64 (int) int
@in in_list (A, list(A)) bool
@in in_map (A, map(A, B)) bool
@not_strictly_false not_strictly_false (bool) bool
_!=_ not_equals (A, A) bool
_==_ equals (A, A) bool
_%_ modulo_int64 (int, int) int
_%_ modulo_uint64 (uint, uint) uint
_&&_ logical_and (bool, bool) bool
_||_ logical_or (bool, bool) bool
_?_:_ conditional (bool, A, A) A
_*_ multiply_double (double, double) double
_*_ multiply_int64 (int, int) int
_*_ multiply_uint64 (uint, uint) uint
_+_ add_bytes (bytes, bytes) bytes
_+_ add_double (double, double) double
_+_ add_duration_duration (duration, duration) duration
_+_ add_duration_timestamp (duration, timestamp) timestamp
_+_ add_timestamp_duration (timestamp, duration) timestamp
_+_ add_int64 (int, int) int
_+_ add_list (list(A), list(A)) list(A)
_+_ add_string (string, string) string
_+_ add_uint64 (uint, uint) uint
_-_ subtract_double (double, double) double
_-_ subtract_duration_duration (duration, duration) duration
_-_ subtract_int64 (int, int) int
_-_ subtract_timestamp_duration (timestamp, duration) timestamp
_-_ subtract_timestamp_timestamp (timestamp, timestamp) duration
_-_ subtract_uint64 (uint, uint) uint
_/_ divide_double (double, double) double
_/_ divide_int64 (int, int) int
_/_ divide_uint64 (uint, uint) uint
_?._ select_optional_field (dyn, string) optional(V)
_[?_] list_optindex_optional_int (list(V), int) optional(V)
_[?_] optional_list_optindex_optional_int (optional(list(V)), int) optional(V)
_[?_] map_optindex_optional_value (map(K, V), K) optional(V)
_[?_] optional_map_optindex_optional_value (optional(map(K, V)), K) optional(V)
_[_] index_list (list(A), int) A
_[_] index_map (map(A, B), A) B
_[_] optional_list_index_int (optional(list(V)), int) optional(V)
_[_] optional_map_index_value (optional(map(K, V)), K) optional(V)
dyn to_dyn (A) dyn
type type (A) type(A)
matches matches (string, string) bool
.matches matches_string (string, string) bool
size size_bytes (bytes) int
.size bytes_size (bytes) int
size size_list (list(A)) int
.size list_size (list(A)) int
size size_map (map(A, B)) int
.size map_size (map(A, B)) int
size size_string (string) int
.size string_size (string) int"""

LIBRARY = [
    *(declare(line) for line in _ARITHMETIC.splitlines()),
    *(
        declare(f"{operator} {name}_{suffix} ({a}, {b}) bool")
        for operator, name in _ORDERINGS.items()
        for suffix, a, b in _COMPARED
    ),
]

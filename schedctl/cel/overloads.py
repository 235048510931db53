"""Which implementation computes a call: an operator, the one overload that fits, or the first that takes the values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schedctl.cel import values
from schedctl.cel.declarations import Implementation, Overload
from schedctl.cel.operators import OPERATORS
from schedctl.cel.syntax import Call
from schedctl.cel.types import Kind, Type
from schedctl.cel.values import Failure, Value

_VARIADIC = frozenset(("string_format",))
"""Overloads that take their arguments one by one although there are only two."""


def implementation_of(call: Call, functions: Mapping[str, Sequence[Overload]]) -> tuple[Implementation, bool]:
    """Return what computes a call, and whether it takes its arguments one by one, up to the first failure."""
    operator = OPERATORS.get(call.function)
    if operator is not None:
        return _operator(call.function, operator.implementation, operator.takes), False
    overloads = functions[call.function]
    if len(call.overloads) == 1:
        overload = next(o for o in overloads if o.id == call.overloads[0])
        return _guard(overload), overload.id in _VARIADIC
    if len(overloads) == 1:
        return _guard(overloads[0]), overloads[0].id in _VARIADIC
    return _dispatcher(call.function, overloads), True


_RECEIVERS = frozenset((str, values.Duration, values.Timestamp))
"""Values that refuse a function they do not know in words of their own."""


def _operator(name: str, implementation: Implementation, takes: frozenset[type] | None) -> Implementation:
    if takes is None:
        return implementation
    refusal = Failure(f"no such overload: {name}")

    def operator(first: Value, *others: Value) -> Value:
        if first.__class__ in takes:
            return implementation(first, *others)
        return values.NO_SUCH_OVERLOAD if first.__class__ in _RECEIVERS else refusal

    return operator


def _guard(overload: Overload) -> Implementation:
    implementation = overload.implementation
    assert implementation is not None
    if overload.unguarded:
        return implementation
    parameters = overload.parameters
    if all(p.kind in _BY_CLASS for p in parameters):
        classes = tuple(_BY_CLASS[p.kind] for p in parameters)

        def call_guarded(*arguments: Value) -> Value:
            if tuple(value.__class__ for value in arguments) == classes:
                return implementation(*arguments)
            return _no_overload(overload.function, arguments)

        return call_guarded

    def call_checked(*arguments: Value) -> Value:
        if all(map(_is_of, parameters, arguments)):
            return implementation(*arguments)
        return _no_overload(overload.function, arguments)

    return call_checked


def _dispatcher(function: str, overloads: Sequence[Overload]) -> Implementation:
    def dispatch(*arguments: Value) -> Value:
        for overload in overloads:
            fits = len(arguments) == len(overload.parameters) and (
                overload.unguarded or all(map(_is_of, overload.parameters, arguments))
            )
            if fits and overload.implementation:
                return overload.implementation(*arguments)
        return _no_overload(function, arguments)

    return dispatch


def _no_overload(function: str, arguments: Sequence[Value]) -> Failure:
    return Failure(f"no such overload: {function}({', '.join(map(values.type_name, arguments))})")


_BY_CLASS: dict[Kind, type] = {
    Kind.BOOL: bool,
    Kind.BYTES: bytes,
    Kind.DOUBLE: float,
    Kind.DURATION: values.Duration,
    Kind.INT: int,
    Kind.STRING: str,
    Kind.TIMESTAMP: values.Timestamp,
    Kind.UINT: values.Uint,
}


def _is_of(type_: Type, value: Value) -> bool:
    """Return whether a value can be passed for a type; of a list or map only the first entry is looked at."""
    kind = type_.kind
    if kind in _BY_CLASS:
        return value.__class__ is _BY_CLASS[kind]
    if kind is Kind.DYN or kind is Kind.PARAMETER:
        return True
    if type_.name != values.type_name(value):
        return False
    if kind is Kind.LIST:
        return not value or _is_of(type_.parameters[0], value[0])
    if kind is Kind.MAP and len(value):
        key = next(iter(value))
        return _is_of(type_.parameters[0], key) and _is_of(type_.parameters[1], value.find(key))
    return True

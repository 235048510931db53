"""The functions that expressions of policies have on top of CEL's own.

``quantity`` and its methods are those of Kubernetes' CEL library, ``milliValue`` besides, because pods and nodes count
cpu in millicores. The engine knows no foreign values, so a quantity is one kind of thing to its type checker
(`QUANTITY`) and the text of an exact number to its evaluator. ``sum``, ``min`` and ``max`` of a list do not count
towards the limit on iterations that macros have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, NamedTuple

from schedctl.api import label_selectors, quantities
from schedctl.api.meta import Quantity
from schedctl.api.selectors import compile_labels
from schedctl.errors import UsageError

QUANTITY: Final = "kubernetes.Quantity"


class Overload(NamedTuple):
    """A function for arguments of these types: types as in `schedctl.policy.variables`, or `QUANTITY`.

    Attributes:
        name: of the function.
        arguments: their types; the first is what stands before the dot of a method.
        result: the type of what comes out.
        call: works it out.
        method: whether it is called behind a dot.
    """

    name: str
    arguments: tuple[str, ...]
    result: str
    call: Callable[..., Any]
    method: bool = False


_GRAMMAR: Final = re.compile(next(meta.pattern for meta in Quantity.__args__[0].__metadata__))


def _quantity(text: str) -> str:
    if not _GRAMMAR.fullmatch(text):
        raise ValueError(f'"{text}" is no quantity')
    amount = quantities.parse(text)
    return str(amount.unscaled * Fraction(10) ** amount.exponent)


def is_quantity(text: str) -> bool:
    """Return whether a text is a quantity."""
    return _GRAMMAR.fullmatch(text) is not None


def _whole(number: Fraction) -> int:
    if number.denominator != 1:
        raise ValueError("the quantity is not a whole number")
    return int(number)


def _compared(one: Fraction, other: Fraction) -> int:
    return (one > other) - (one < other)


def _percent(part: float, whole: float) -> float:
    if not whole:
        raise ValueError("percent of nothing")
    return part * 100 / whole


def _smallest(values: list[Any]) -> Any:
    if not values:
        raise ValueError("min of an empty list")
    return min(values)


def _largest(values: list[Any]) -> Any:
    if not values:
        raise ValueError("max of an empty list")
    return max(values)


@lru_cache(maxsize=256)
def _selector(text: str) -> Any:
    try:
        return label_selectors.parse(text)
    except UsageError as error:
        raise ValueError(str(error)) from None


def _label_match(selector: str | Mapping[str, str], labels: Mapping[str, str]) -> bool:
    query = _selector(selector) if isinstance(selector, str) else compile_labels(selector)
    return bool(query.matches(labels))


def _method(name: str, result: str, call: Callable[..., Any], *more: str) -> Overload:
    """Return a method of a quantity, whose quantities are handed over as fractions."""
    arguments = (QUANTITY, *more)

    def called(*given: Any) -> Any:
        out = call(*(Fraction(each) for each in given))
        return str(out) if result == QUANTITY else out

    return Overload(name, arguments, result, called, method=True)


def _of_lists(name: str, call: Callable[[list[Any]], Any]) -> list[Overload]:
    return [Overload(name, ("list<dyn>",), "dyn", call, method) for method in (False, True)]


OVERLOADS: Final = (
    Overload("quantity", ("string",), QUANTITY, _quantity),
    Overload("isQuantity", ("string",), "bool", is_quantity),
    _method("isInteger", "bool", lambda number: number.denominator == 1),
    _method("asInteger", "int", _whole),
    _method("asApproximateFloat", "double", float),
    _method("milliValue", "int", lambda number: -(-number * 1000 // 1)),
    _method("sign", "int", lambda number: _compared(number, Fraction(0))),
    _method("isGreaterThan", "bool", lambda one, other: one > other, QUANTITY),
    _method("isLessThan", "bool", lambda one, other: one < other, QUANTITY),
    _method("compareTo", "int", _compared, QUANTITY),
    _method("add", QUANTITY, lambda one, other: one + other, QUANTITY),
    _method("add", QUANTITY, lambda one, other: one + other, "int"),
    _method("sub", QUANTITY, lambda one, other: one - other, QUANTITY),
    _method("sub", QUANTITY, lambda one, other: one - other, "int"),
    *_of_lists("sum", sum),
    *_of_lists("min", _smallest),
    *_of_lists("max", _largest),
    *(Overload("percent", (part, whole), "dyn", _percent) for part in ("int", "double") for whole in ("int", "double")),
    Overload("labelMatch", ("string", "map<string,string>"), "bool", _label_match),
    Overload("labelMatch", ("map<string,string>", "map<string,string>"), "bool", _label_match),
)
"""Every function. ``percent`` has a result of any type so that it compares with whole numbers and others."""

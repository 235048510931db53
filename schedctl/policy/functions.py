"""The functions that expressions of policies have: Kubernetes' own, and these on top of them.

``quantity`` and its methods are those of Kubernetes' CEL library, ``milliValue`` besides, because pods and nodes count
cpu in millicores. ``sum``, ``min`` and ``max`` of a list do not count towards the limit on steps that macros have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, Final

from schedctl.api import label_selectors, quantities
from schedctl.api.selectors import compile_labels
from schedctl.cel import arithmetic, extensions, library, values
from schedctl.cel.declarations import Implementation, Overload, declare
from schedctl.cel.values import Failure, Value
from schedctl.errors import UsageError
from schedctl.policy.arguments import is_quantity


class ExactQuantity(values.Opaque):
    """A quantity as an exact number."""

    # Not `schedctl.cel.quantities`, which answers as kube-scheduler does: to it 1000m is no integer, 0.3 approximately
    # 0.30000000000000004, what is beyond int64 no integer, and a sum equals nothing that stands on its left.

    __slots__ = ("number",)
    type_name = "kubernetes.Quantity"

    def __init__(self, number: Fraction) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExactQuantity) and self.number == other.number

    def __hash__(self) -> int:
        return hash(self.number)


def _quantity(text: str) -> Value:
    if not is_quantity(text):
        return Failure(f'"{text}" is not a quantity')
    try:
        amount = quantities.parse(text)
    except ValueError as error:  # it has more digits than anybody writes
        return Failure(str(error))
    return ExactQuantity(amount.unscaled * Fraction(10) ** amount.exponent)


def _is_integer(quantity: ExactQuantity) -> bool:
    """Return whether a quantity is a whole number that an int of CEL can hold."""
    return quantity.number.denominator == 1 and values.MIN_INT64 <= quantity.number <= values.MAX_INT64


def _as_integer(quantity: ExactQuantity) -> Value:
    return int(quantity.number) if _is_integer(quantity) else Failure("the quantity is not an integer of 64 bits")


def _as_float(quantity: ExactQuantity) -> Value:
    try:
        return float(quantity.number)
    except OverflowError:
        return Failure("the quantity is too large for a double")


def _milli_value(quantity: ExactQuantity) -> Value:
    milli = -(-quantity.number * 1000 // 1)  # rounded up, as Kubernetes rounds
    return milli if values.MIN_INT64 <= milli <= values.MAX_INT64 else arithmetic.INT_OVERFLOW


def _order(one: Fraction, other: Fraction) -> int:
    return (one > other) - (one < other)


def _number(value: ExactQuantity | int) -> Fraction:
    return value.number if isinstance(value, ExactQuantity) else Fraction(value)


def _percent(part: float, whole: float) -> Value:
    return part * 100 / whole if whole else Failure("percent of nothing")


def _sum(elements: list[Value]) -> Value:
    total: Value = 0
    for position, value in enumerate(elements):
        if isinstance(total, float) and value.__class__ is int:
            value = float(value)
        elif total.__class__ is int and isinstance(value, float):
            total = float(total)
        total = arithmetic.add(total, value) if position else value
        if isinstance(total, Failure):
            return total
    return total


def _extreme(name: str, sign: int) -> Implementation:
    def call(elements: list[Value]) -> Value:
        return extensions.extreme(elements, sign) if elements else Failure(f"{name} of an empty list")

    return call


@lru_cache(maxsize=256)
def _parse_selector(text: str) -> Any:
    try:
        return label_selectors.parse(text)
    except UsageError as error:
        return Failure(str(error))


def _label_match(selector: str | values.Map, labels: values.Map) -> Value:
    query = compile_labels(selector.entries) if isinstance(selector, values.Map) else _parse_selector(selector)
    return query if isinstance(query, Failure) else bool(query.matches(labels.entries))


def _of_list(name: str, call: Callable[[list[Value]], Value]) -> list[Overload]:
    return [
        declare(f"{name} {name}_of_list (list(dyn)) dyn", call),
        declare(f".{name} list_{name} (list(dyn)) dyn", call),
    ]


LIBRARY: Final = (
    declare("quantity string_to_quantity (string) Quantity", _quantity),
    declare("isQuantity is_quantity_string (string) bool", is_quantity),
    declare(".isInteger quantity_is_integer (Quantity) bool", _is_integer),
    declare(".asInteger quantity_get_int (Quantity) int", _as_integer),
    declare(".asApproximateFloat quantity_get_float (Quantity) double", _as_float),
    declare(".milliValue quantity_milli_value (Quantity) int", _milli_value),
    declare(".sign quantity_sign (Quantity) int", lambda q: _order(q.number, Fraction(0))),
    declare(".isGreaterThan quantity_is_greater_than (Quantity, Quantity) bool", lambda a, b: a.number > b.number),
    declare(".isLessThan quantity_is_less_than (Quantity, Quantity) bool", lambda a, b: a.number < b.number),
    declare(".compareTo quantity_compare_to (Quantity, Quantity) int", lambda a, b: _order(a.number, b.number)),
    *(
        overload
        for kind, suffix in (("Quantity", ""), ("int", "_int"))
        for overload in (
            declare(
                f".add quantity_add{suffix} (Quantity, {kind}) Quantity",
                lambda a, b: ExactQuantity(a.number + _number(b)),
            ),
            declare(
                f".sub quantity_sub{suffix} (Quantity, {kind}) Quantity",
                lambda a, b: ExactQuantity(a.number - _number(b)),
            ),
        )
    ),
    *_of_list("sum", _sum),
    *_of_list("min", _extreme("min", -1)),
    *_of_list("max", _extreme("max", 1)),
    *(
        declare(f"percent percent_{part}_{whole} ({part}, {whole}) dyn", _percent)
        for part in ("int", "double")
        for whole in ("int", "double")
    ),
    declare("labelMatch label_match_text (string, map(string, string)) bool", _label_match),
    declare("labelMatch label_match_map (map(string, string), map(string, string)) bool", _label_match),
)
"""The functions of our own. ``percent`` has a result of any type so that it compares with whole numbers and others."""

_NUMBERS: Final = ("int64", "uint64", "double")
_MIXED_COMPARISONS: Final = frozenset(
    f"{order}_{one}_{other}"
    for order in ("less", "less_equals", "greater", "greater_equals")
    for one in _NUMBERS
    for other in _NUMBERS
    if one != other
)
"""Kubernetes compares numbers of two types. Policies refuse that while compiling, since it is mostly a mistake."""


@cache
def functions() -> Mapping[str, Sequence[Overload]]:
    """Return the overloads of every function of policies."""
    of_policies: dict[str, list[Overload]] = {}
    for overload in LIBRARY:
        of_policies.setdefault(overload.function, []).append(overload)
    of_cel = {
        name: [overload for overload in overloads if overload.id not in _MIXED_COMPARISONS]
        for name, overloads in library.functions().items()
    }
    for overload in extensions.LIBRARY:
        of_cel.setdefault(overload.function, []).append(overload)
    # A function of ours takes the place of Kubernetes' with all its overloads, as `quantity` does.
    return {**of_cel, **of_policies}

"""Kubernetes' quantities in CEL: ``quantity("1Gi")`` and the capacities of a device.

A quantity that was computed (``add``, ``sub``) is, to kube-scheduler, not quite of the type of one that was not:
on the right of ``==`` it makes the comparison fail. That is kept.
"""

from __future__ import annotations

import math
import re

from typing_extensions import override

from schedctl.api import quantities
from schedctl.api.quantities import Amount
from schedctl.cel.declarations import declare
from schedctl.cel.errors import Unsupported
from schedctl.cel.values import NO_SUCH_OVERLOAD, Failure, Opaque, Value

_BAD_FORMAT = Failure("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
_BAD_NUMBER = Failure("unable to parse numeric part of quantity")
_BAD_SUFFIX = Failure("unable to parse quantity's suffix")
_SHAPE = re.compile(r"[+-]?([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)")
_SUFFIX = re.compile("[KMGTPE]i|[numkMGTPE]?|[eE][+-]?[0-9]+")
_ZERO = Amount(0, 0)


class QuantityValue(Opaque):
    """A quantity; `computed` if it is a sum or difference."""

    __slots__ = ("amount", "computed")
    type_name = "kubernetes.Quantity"

    def __init__(self, amount: Amount, *, computed: bool = False) -> None:
        self.amount, self.computed = amount, computed

    @property
    @override
    def go_type(self) -> str:
        return "*cel.Quantity" if self.computed else "cel.Quantity"

    def equals(self, other: Value) -> bool | Failure:
        """Return whether both are worth the same; fails where the other one is computed or is no quantity."""
        if not isinstance(other, QuantityValue) or other.computed:
            return other if isinstance(other, Failure) else NO_SUCH_OVERLOAD
        return self.amount.compare(other.amount) == 0


def _parse(text: str) -> Amount | Failure:
    """Return what a text is worth; one without digits is worth nothing, but nearly always a quantity."""
    shape = _SHAPE.fullmatch(text) if text else None
    if shape is None:
        return _BAD_FORMAT
    digits, fraction, suffix = shape.groups()
    if not _SUFFIX.fullmatch(suffix):
        return _BAD_SUFFIX
    if not digits and not fraction:
        # Upstream reads no digits as zero, but for suffixes too large for its arithmetic in int64.
        return _BAD_NUMBER if suffix in ("Pi", "Ei") else _ZERO
    try:
        return quantities.parse(text)
    except ValueError as error:
        raise Unsupported("quantities with such exponents", str(error)) from None


def _quantity(text: str) -> Value:
    amount = _parse(text)
    return amount if isinstance(amount, Failure) else QuantityValue(amount)


def _as_float(quantity: QuantityValue) -> float:
    amount = quantity.amount
    try:
        base = float(amount.unscaled)
    except OverflowError:
        base = math.inf if amount.unscaled > 0 else -math.inf
    if not amount.exponent:
        return base
    power = 0.0 if amount.exponent < -323 else math.inf if amount.exponent > 308 else float(f"1e{amount.exponent}")
    return base * power


def _as_integer(quantity: QuantityValue) -> Value:
    value = quantity.amount.whole
    return Failure("cannot convert value to integer") if value is None else value


def _sum(a: QuantityValue, b: QuantityValue | int, sign: int = 1) -> QuantityValue:
    other = b.amount if isinstance(b, QuantityValue) else Amount(b, 0)
    if sign < 0:
        return QuantityValue(a.amount.minus(other), computed=True)
    return QuantityValue(a.amount.plus(other), computed=True)


LIBRARY = [
    declare("quantity string_to_quantity (string) Quantity", _quantity),
    declare("isQuantity is_quantity_string (string) bool", lambda text: isinstance(_parse(text), Amount)),
    declare("sign quantity_sign (Quantity) int", lambda q: (q.amount.unscaled > 0) - (q.amount.unscaled < 0)),
    declare(
        ".isGreaterThan quantity_is_greater_than (Quantity, Quantity) bool", lambda a, b: a.amount.compare(b.amount) > 0
    ),
    declare(".isLessThan quantity_is_less_than (Quantity, Quantity) bool", lambda a, b: a.amount.compare(b.amount) < 0),
    declare(".compareTo quantity_compare_to (Quantity, Quantity) int", lambda a, b: a.amount.compare(b.amount)),
    declare(".asApproximateFloat quantity_get_float (Quantity) double", _as_float),
    declare(".asInteger quantity_get_int (Quantity) int", _as_integer),
    declare(".isInteger quantity_is_integer (Quantity) bool", lambda q: q.amount.whole is not None),
    declare(".add quantity_add (Quantity, Quantity) Quantity", _sum),
    declare(".add quantity_add_int (Quantity, int) Quantity", _sum),
    declare(".sub quantity_sub (Quantity, Quantity) Quantity", lambda a, b: _sum(a, b, -1)),
    declare(".sub quantity_sub_int (Quantity, int) Quantity", lambda a, b: _sum(a, b, -1)),
]

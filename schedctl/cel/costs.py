"""What a call costs, in the units of kube-scheduler's limit on an evaluation.

A cost depends on the sizes of arguments and result: texts and lists are charged by length. The charges are those of
cel-go's runtime and of Kubernetes' estimator on top of it; names, attributes, literals and loops are charged by
`planning`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from schedctl.cel import values
from schedctl.cel.declarations import Cost
from schedctl.cel.errors import Aborted, Unsupported
from schedctl.cel.formats import Format
from schedctl.cel.networks import CIDR, IP
from schedctl.cel.quantities import QuantityValue
from schedctl.cel.semvers import Semver
from schedctl.cel.urls import URL
from schedctl.cel.values import Value

NAME, LIST, MAP = 1, 10, 30
"""A name or a step into a value; a list or map that is not constant."""


def cost_of(function: str, overload: str) -> Cost | None:
    """Return how a call is charged; None when it always costs 1."""
    # cel-go's order: what extensions charge for an overload, then Kubernetes' estimator, then the core.
    return _BY_OVERLOAD.get(overload) or _BY_FUNCTION.get(function) or _BY_CORE_OVERLOAD.get(overload)


def size(value: Value) -> int:
    """Return the size of a value: its length if it has one, else 1."""
    kind = value.__class__
    if kind is str or kind is bytes or kind is values.Map or isinstance(value, list):
        return len(value)
    if kind is IP or kind is CIDR:
        return int(value.size)
    return 1


def _size(value: Value) -> int:
    """Return the size of a value, or of what an optional holds."""
    # An optional may hold an optional.
    while value.__class__ is values.Optional and value.value is not values.MISSING:
        value = value.value
    return size(value)


def _scan(length: float) -> int:
    return math.ceil(length * 0.1)


def _traversal(value: Value) -> int:
    if isinstance(value, str):
        return int(len(value.encode(errors="surrogatepass")) * 0.1)
    if isinstance(value, bytes):
        return int(len(value) * 0.1)
    if isinstance(value, list):
        return sum(map(_traversal, value))
    if isinstance(value, values.Map):
        return sum(_traversal(key) + _traversal(value.find(key)) for key in value)
    return 1


def _pattern(text: int, pattern: int) -> int:
    return math.ceil((1.0 + text) * 0.1) * math.ceil(pattern * 0.25)


def _contains_ip(a: Sequence[Value], _: Value) -> int:
    return _scan(2 * size(a[0]))


def _contains_cidr(a: Sequence[Value], _: Value) -> int:
    return _scan(2 * size(a[0])) + _scan(size(a[0])) + 1


def _and_text(cost: Cost) -> Cost:
    """Return a cost with that of reading the second argument on top."""
    return lambda a, result: cost(a, result) + _scan(size(a[1]))


def _validate(a: Sequence[Value], _: Value) -> int:
    return _pattern(size(a[1]), a[0].kind.pattern_size) if isinstance(a[0], Format) else 1


_CONSTANT_EQUALITY = frozenset((QuantityValue, IP, CIDR, Format, URL, Semver))


def equality(a: Value, b: Value) -> int:
    """Return the cost of ``!=``: that of the smaller side."""
    return _scan(min(_size(a), _size(b)))


def kubernetes_equality(a: Value, b: Value) -> int:
    """Return the cost of ``==``, which is 1 for the values of Kubernetes' own types."""
    return 1 if a.__class__ in _CONSTANT_EQUALITY else equality(a, b)


def _allocation_cost(factor: float, length: int) -> int:
    return int(length * (1.0 if factor < 0 else factor)) + 1 + LIST


def _flatten_cost(a: Sequence[Value], _: Value) -> int:
    depth = 1.0
    if len(a) == 2:
        _expect(a[1], int)
        depth = float(a[1])
    return _allocation_cost(depth, size(a[0]))


def _ordering_cost(position: int) -> Cost:
    def cost(a: Sequence[Value], _: Value) -> int:
        elements = a[position]
        _expect(elements, list)
        factor = 2.1 if elements and isinstance(elements[0], str | bytes) else 2.0
        return _allocation_cost(factor, len(elements) ** 2)

    return cost


_WITH_ADD = frozenset((int, values.Uint, float, str, bytes, values.Duration, values.Timestamp))


def _expect(value: Value, kind: type) -> None:
    """Stumble where kube-scheduler stumbles when it charges for a call that has failed already.

    Raises:
        Aborted: the value is not of the kind that a cost is computed from.
    """
    if isinstance(value, kind):
        return
    # What Go says depends on the methods of the opaque value's type, which are not known here.
    if isinstance(value, values.Opaque):
        raise Unsupported("list functions applied to Kubernetes' own values")
    if kind is int:
        why = f"ref.Val is {values.go_type(value)}, not types.Int"
    else:
        missing = "Contains" if value.__class__ in _WITH_ADD else "Add"
        why = f"{values.go_type(value)} is not traits.Lister: missing method {missing}"
    raise Aborted(f"internal error: interface conversion: {why}")


def _comparison_cost(factor: float) -> Cost:
    return lambda a, _: 1 + int(size(a[0]) * size(a[1]) * factor)


def _result_list(_: Sequence[Value], result: Value) -> int:
    return _allocation_cost(1, size(result))


_SORTED = ("int", "uint", "double", "bool", "google.protobuf.Duration", "google.protobuf.Timestamp", "string", "bytes")
_BY_OVERLOAD: dict[str, Cost] = {
    **dict.fromkeys(("list_slice", "lists_range", "list_reverse"), _result_list),
    **dict.fromkeys(("list_flatten", "list_flatten_int"), _flatten_cost),
    "list_distinct": _ordering_cost(0),
    **{f"list_{name}_sort": _ordering_cost(0) for name in _SORTED},
    **{f"list_{name}_sortByAssociatedKeys": _ordering_cost(1) for name in _SORTED},
    **dict.fromkeys(("list_sets_contains_list", "list_sets_intersects_list"), _comparison_cost(1)),
    "list_sets_equivalent_list": _comparison_cost(2),
    "cidr_ip": lambda a, _: 1,
    "cidr_contains_ip_string": _and_text(_contains_ip),
    "cidr_contains_cidr_string": _and_text(_contains_cidr),
}
_BY_FUNCTION: dict[str, Cost] = {
    **dict.fromkeys(
        ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"), lambda a, _: _traversal(a[0])
    ),
    **dict.fromkeys(
        (
            *("url", "lowerAscii", "upperAscii", "substring", "trim", "cidr", "isIP", "isCIDR", "ip"),
            *("quantity", "isQuantity", "semver", "isSemver"),
        ),
        lambda a, _: _scan(size(a[0])),
    ),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), lambda a, _: math.ceil(size(a[0]) * 2 * 0.1)),
    "join": lambda _, result: math.ceil(size(result) * 2 * 0.1),
    **dict.fromkeys(("find", "findAll"), lambda a, _: _pattern(size(a[0]), size(a[1]))),
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
}
_COMPARED = tuple(
    f"{order}_{kind}" for order in ("less", "less_equals", "greater", "greater_equals") for kind in ("string", "bytes")
)
_BY_CORE_OVERLOAD: dict[str, Cost] = {
    **dict.fromkeys(("starts_with_string", "ends_with_string"), lambda a, _: _scan(_size(a[1]))),
    **dict.fromkeys(
        ("string_to_bytes", "bytes_to_string", "strings_quote", "string_format"), lambda a, _: _scan(_size(a[0]))
    ),
    "in_list": lambda a, _: _size(a[1]),
    **dict.fromkeys(_COMPARED, lambda a, _: equality(a[0], a[1])),
    **dict.fromkeys(("add_string", "add_bytes"), lambda a, _: _scan(_size(a[0]) + _size(a[1]))),
    **dict.fromkeys(("matches", "matches_string"), lambda a, _: _pattern(_size(a[0]), _size(a[1]))),
    "contains_string": lambda a, _: _scan(_size(a[0])) * _scan(_size(a[1])),
}

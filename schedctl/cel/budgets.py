"""A budget of work: how many elements and bytes an evaluation may read and make.

Kubernetes' cost (`costs`) is charged when a call has been made, and one call can fill the memory. A budget is charged
before each call with the most that the call can read and make, so that no expression runs away.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from schedctl.cel import syntax, values
from schedctl.cel.errors import BudgetExceeded
from schedctl.cel.macros import MAP_INSERT, SORT_BY_KEYS
from schedctl.cel.values import Value

Charge = Callable[["Budget", Sequence[Value]], float]
"""Returns the units that a call with these arguments needs at most."""

_BYTES_OF_UNIT = 16
"""Bytes that are copied, compared or searched in the time of one element."""
_PATTERN_BYTES = 64
"""Bytes of a text, times those of the pattern, that are searched in the time of one element."""
_TO_COMPARE = 3
"""Units to compare an element."""
TO_TURN = 2
"""Units of a turn of a loop, besides those of its parts."""
_SCALARS = frozenset((bool, int, float, type(None), values.Uint))
"""Values without parts."""
_COMPILATION, _MOST_REPEATS = 200, 1000
"""Units to compile a short pattern; how often a pattern can repeat a part of itself."""


class Budget:
    """What is left for an evaluation, and for those of the variables it reads.

    A unit is an element that is visited or made, or 16 bytes.
    """

    __slots__ = ("_left", "_limit", "_patterns")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.renew()

    @property
    def spent(self) -> float:
        """How many units the expression has taken so far."""
        return self._limit - self._left

    def renew(self) -> None:
        """Begin with another expression."""
        self._left: float = self._limit
        self._patterns: set[str] = set()

    def spend(self, units: float) -> None:
        """Take units away.

        Raises:
            BudgetExceeded: there are not so many left.
        """
        self._left -= units
        if self._left < 0:
            raise BudgetExceeded

    def spend_on(self, value: Value) -> Value:
        """Return a value that is about to be walked through, when it has been paid for."""
        self.spend(self.measure(value))
        return value

    def metered(self, function: str, implementation: Callable[..., Value]) -> Callable[..., Value]:
        """Return the implementation of a function that pays before it begins."""
        charge, spend = _CHARGES.get(function, _read), self.spend

        def pay_first(*arguments: Value) -> Value:
            spend(charge(self, arguments))
            return implementation(*arguments)

        return pay_first

    def measure(self, value: Value, most: float = math.inf, bytes_of_unit: int = _BYTES_OF_UNIT) -> float:
        """Return the units of a value with all that is in it, or some number above `most` or above what is left.

        A list can hold another one many times, so that it takes little memory and no end to walk through.
        """
        return _measure(value, min(most, self._left), bytes_of_unit, {})

    def is_new_pattern(self, pattern: str) -> bool:
        """Return whether a pattern has not been compiled for this expression yet; the next time it has."""
        if pattern in self._patterns:
            return False
        self._patterns.add(pattern)
        return True


def _measure(value: Value, most: float, bytes_of_unit: int, known: dict[int, float]) -> float:
    """Return the units of a value, or some number above `most`; those of lists and maps are known by identity."""
    kind = value.__class__
    if kind is str or kind is bytes:
        return 1 + len(value) // bytes_of_unit
    if isinstance(value, list):
        children: Iterable[Value] = value
    elif kind is values.Map:
        children = chain.from_iterable((key, value.find(key)) for key in value)
    elif kind is values.Optional and value.is_present:
        children = (value.value,)
    else:
        return 1
    units = known.get(id(value), 0.0)
    if units:
        return units
    units = 1.0
    for child in children:
        units += _measure(child, most - units, bytes_of_unit, known)
        if units > most:
            return units
    known[id(value)] = units
    return units


def count_nodes(node: syntax.Node) -> int:
    """Return how many parts of an expression are evaluated at most when it is evaluated once, loops apart."""
    count, waiting = 0, [node]
    while waiting:
        waiting += waiting.pop().children()
        count += 1
    return count


# --- What functions are charged ---------------------------------------------------------------------------------------


def _length(value: Value) -> int:
    kind = value.__class__
    return len(value) if kind is str or kind is bytes or kind is values.Map or isinstance(value, list) else 0


def _units(value: Value) -> int:
    """Return the units of a text or list that is read or made once, not looking into its elements."""
    length = _length(value)
    return length if isinstance(value, list) or value.__class__ is values.Map else length // _BYTES_OF_UNIT


def _one(_: Budget, __: Sequence[Value]) -> float:
    return 1


def _read(_: Budget, arguments: Sequence[Value]) -> float:
    """Charge what is worked through byte by byte."""
    return 1 + sum(map(_length, arguments))


def _read_fast(_: Budget, arguments: Sequence[Value]) -> float:
    return 1 + sum(map(_units, arguments))


def _walk(budget: Budget, arguments: Sequence[Value]) -> float:
    """Charge what may look into everything, once."""
    return sum(map(budget.measure, arguments))


def _compare(budget: Budget, arguments: Sequence[Value]) -> float:
    """Charge a comparison, which ends with the smaller side."""
    a, b = arguments
    if a.__class__ in _SCALARS or b.__class__ in _SCALARS:
        return _TO_COMPARE
    if a.__class__ is str or b.__class__ is str:
        return 1 + min(_units(a), _units(b))
    smaller, larger = (a, b) if _length(a) < _length(b) else (b, a)
    return _TO_COMPARE * budget.measure(larger, budget.measure(smaller))


def _add(_: Budget, arguments: Sequence[Value]) -> float:
    first, second = arguments
    # A list that a loop is building grows in place.
    return 1 + _units(second) + (0 if first.__class__ is values.Mutable else _units(first))


def _insert(_: Budget, arguments: Sequence[Value]) -> float:
    target, *entry = arguments
    is_growing = target.__class__ is values.Map and target.growing
    return 1 + sum(map(_units, entry)) + (0 if is_growing else _units(target))


def _find(budget: Budget, arguments: Sequence[Value]) -> float:
    value, collection = arguments
    if not isinstance(collection, list):
        return 1 + _units(value)
    return _search(budget, (collection, value))


def _search(budget: Budget, arguments: Sequence[Value]) -> float:
    """Charge a search for an element: a comparison with each."""
    elements, value = arguments
    if not isinstance(elements, list):
        return _compare(budget, arguments)
    return _TO_COMPARE * min(budget.measure(elements), len(elements) * (1 + budget.measure(value)))


def _index_of(budget: Budget, arguments: Sequence[Value]) -> float:
    return _read_fast(budget, arguments) if arguments[0].__class__ is str else _search(budget, arguments[:2])


def _last_index_of(budget: Budget, arguments: Sequence[Value]) -> float:
    text, part = arguments[:2]
    if text.__class__ is not str:
        return _search(budget, (text, part))
    # From the end Python compares the part at every place.
    return 1 + _length(text) * (1 + _length(part)) // _BYTES_OF_UNIT


def _times(one: int, other: int) -> Charge:
    """Return the charge of what compares the elements of two arguments, each with each."""

    def charge(budget: Budget, arguments: Sequence[Value]) -> float:
        return 1 + _length(arguments[one]) * budget.measure(arguments[other])

    return charge


def _both_times(budget: Budget, arguments: Sequence[Value]) -> float:
    return _times(0, 1)(budget, arguments) + _times(1, 0)(budget, arguments)


def _distinct(budget: Budget, arguments: Sequence[Value]) -> float:
    elements = arguments[0]
    if isinstance(elements, list) and all(each.__class__ is str for each in elements):
        return 1 + budget.measure(elements)
    return 1 + _length(elements) * budget.measure(elements) / 2


def _sort(budget: Budget, arguments: Sequence[Value]) -> float:
    return budget.measure(arguments[-1]) * (1 + _length(arguments[0]).bit_length())


def _sum(budget: Budget, arguments: Sequence[Value]) -> float:
    count, units = _length(arguments[0]), budget.measure(arguments[0])
    # Texts and lists are added one to the other, each time all over again.
    return units if units <= 1 + count else count * units


def _flatten(budget: Budget, arguments: Sequence[Value]) -> float:
    elements = arguments[0]
    if len(arguments) > 1 or not isinstance(elements, list):
        return _walk(budget, arguments)
    return 1 + len(elements) + sum(len(each) for each in elements if isinstance(each, list))


def _range(_: Budget, arguments: Sequence[Value]) -> float:
    count = arguments[0]
    return float(count) if isinstance(count, int) and count > 0 else 1.0


def _replace(budget: Budget, arguments: Sequence[Value]) -> float:
    if any(each.__class__ is not str for each in arguments[:3]):
        return 1
    text, old, new = arguments[:3]
    budget.spend(_units(text))
    pieces: int = text.count(old)
    if len(arguments) > 3 and isinstance(arguments[3], int) and arguments[3] >= 0:
        pieces = min(pieces, arguments[3])
    grown: int = max(pieces * (len(new) - len(old)), 0)
    return 1 + pieces + grown // _BYTES_OF_UNIT + _units(text)


def _split(budget: Budget, arguments: Sequence[Value]) -> float:
    if any(each.__class__ is not str for each in arguments[:2]):
        return 1
    text, separator = arguments[:2]
    budget.spend(_units(text))
    return 1 + _units(text) + (text.count(separator) if separator else len(text))


def _join(budget: Budget, arguments: Sequence[Value]) -> float:
    texts, *separator = arguments
    return budget.measure(texts) + _length(texts) * sum(map(_units, separator))


_PRECISION = re.compile(r"\.([0-9]{1,18})")


def _format(budget: Budget, arguments: Sequence[Value]) -> float:
    template, values_ = arguments
    if template.__class__ is not str:
        return 1
    written = sum(int(digits) for digits in _PRECISION.findall(template))
    return len(template) + budget.measure(values_, bytes_of_unit=1) + written


def _match(budget: Budget, arguments: Sequence[Value]) -> float:
    text, pattern = arguments[:2]
    compilation = 0
    if pattern.__class__ is str and budget.is_new_pattern(pattern):
        compilation = _COMPILATION + len(pattern) * (_MOST_REPEATS if "{" in pattern else 1)
    return 1 + compilation + _units(text) + _length(text) * _length(pattern) // _PATTERN_BYTES


def _match_all(budget: Budget, arguments: Sequence[Value]) -> float:
    # Each match may look through all of the rest.
    return _match(budget, arguments) + _length(arguments[0]) ** 2 // _BYTES_OF_UNIT


_CHARGES: dict[str, Charge] = {
    **dict.fromkeys(("size", "type", "dyn", "optional.of", "value", "hasValue", "!_", "@not_strictly_false"), _one),
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_"), _compare),
    **dict.fromkeys(
        ("startsWith", "endsWith", "contains", "substring", "charAt", "reverse", "bytes", "slice"), _read_fast
    ),
    **dict.fromkeys(("min", "max", "isSorted", "optional.unwrap", "unwrapOpt"), _walk),
    **dict.fromkeys(("sort", SORT_BY_KEYS), _sort),
    "_+_": _add,
    MAP_INSERT: _insert,
    "@in": _find,
    "includes": _search,
    "indexOf": _index_of,
    "lastIndexOf": _last_index_of,
    "sets.contains": _times(1, 0),
    "sets.intersects": _times(0, 1),
    "sets.equivalent": _both_times,
    "distinct": _distinct,
    "sum": _sum,
    "flatten": _flatten,
    "lists.range": _range,
    "replace": _replace,
    "split": _split,
    "join": _join,
    "format": _format,
    **dict.fromkeys(("matches", "find"), _match),
    "findAll": _match_all,
}
"""By function; others are charged for each byte and element that they are given."""

"""Functions of lists, sets and optionals: CEL's extensions and Kubernetes' own list library."""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from itertools import pairwise

from schedctl.cel import arithmetic, values
from schedctl.cel.declarations import Overload, declare
from schedctl.cel.values import Failure, Value

_ORDERED = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_SUMMED: dict[str, Value] = {"int": 0, "uint": values.Uint(0), "double": 0.0, "duration": values.Duration(0)}
_MOST_IN_RANGE = 1_000_000


# --- Lists --------------------------------------------------------------------------------------------------------


def contains(elements: list[Value], value: Value) -> bool:
    """Return whether a list has an equal element."""
    return any(values.same(value, element) is True for element in elements)


def _slice(elements: list[Value], start: int, end: int) -> Value:
    if start < 0 or end < 0:
        return Failure(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        return Failure(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(elements) < end:
        return Failure(f"cannot slice({start}, {end}), list is length {len(elements)}")
    return elements[start:end]


def _flatten(elements: Value, *depths: Value) -> Value:
    depth = depths[0] if depths else 1
    if not isinstance(elements, list) or depth.__class__ is not int:
        return Failure(
            f"no such overload: {values.type_name(elements)}.flatten({', '.join(map(values.type_name, depths))})"
        )
    if depth < 0:
        return Failure("level must be non-negative")
    flat: list[Value] = []
    for value in elements:
        if depth and isinstance(value, list):
            flat.extend(_flatten(value, depth - 1))
        else:
            flat.append(value)
    return flat


def sort(elements: list[Value]) -> Value:
    """Return the elements in order; elements of several types have none."""
    return sort_by_keys(elements, elements)


def sort_by_keys(elements: list[Value], keys: list[Value]) -> Value:
    """Return the elements in the order of the keys that belong to them."""
    if len(elements) != len(keys):
        expected = "@sortByAssociatedKeys() expected a list of the same size as the associated keys list"
        return Failure(f"{expected}, but got {len(elements)} and {len(keys)} elements respectively")
    if not elements:
        return elements
    if not values.is_ordered(keys[0]):
        return Failure("list elements must be comparable")
    if any(key.__class__ is not keys[0].__class__ for key in keys):
        return Failure("list elements must have the same type")

    def by_key(i: int, j: int) -> int:
        return _order(keys[i], keys[j])

    order = sorted(range(len(keys)), key=cmp_to_key(by_key))
    return [elements[i] for i in order]


def _order(a: Value, b: Value) -> int:
    found = values.compare(a, b)
    return 0 if isinstance(found, Failure) else found


def _range(count: int) -> Value:
    if count < 0:
        return Failure(f"lists.range: size must be non-negative, got {count}")
    if count > _MOST_IN_RANGE:
        return Failure(f"lists.range: size {count} exceeds maximum allowed ({_MOST_IN_RANGE})")
    return list(range(count))


def _distinct(elements: list[Value]) -> list[Value]:
    if all(value.__class__ is str for value in elements):
        return list(dict.fromkeys(elements))
    found: list[Value] = []
    for value in elements:
        if not any(values.same(value, other) is True for other in found):
            found.append(value)
    return found


def _is_sorted(elements: list[Value]) -> Value:
    for value in elements:
        if not values.is_ordered(value):
            return values.NO_SUCH_OVERLOAD
    return all(values.compare(a, b) != 1 for a, b in pairwise(elements))


def _sum(zero: Value) -> Callable[[list[Value]], Value]:
    def of(elements: list[Value]) -> Value:
        total = zero
        for value in elements:
            total = arithmetic.add(total, value)
            if isinstance(total, Failure):
                return total
        return total

    return of


def _extreme(name: str, order: int) -> Callable[[list[Value]], Value]:
    """Return what finds the first value that no later one beats; `order` is how a value compares to a better one."""

    def of(elements: list[Value]) -> Value:
        found: Value = values.MISSING
        for value in elements:
            if not values.is_ordered(value):
                return values.NO_SUCH_OVERLOAD
            if found is values.MISSING or values.compare(found, value) == order:
                found = value
        return Failure(f"{name} called on empty list") if found is values.MISSING else found

    return of


def _index_of(elements: list[Value], value: Value) -> int:
    return next((i for i, element in enumerate(elements) if values.same(element, value) is True), -1)


def _last_index_of(elements: list[Value], value: Value) -> int:
    return next((i for i in range(len(elements) - 1, -1, -1) if values.same(elements[i], value) is True), -1)


def _includes(elements: Value, value: Value) -> bool:
    searched = elements if isinstance(elements, list) else [elements]
    return any(values.same(element, value) is True for element in searched)


# --- Sets ---------------------------------------------------------------------------------------------------------


def _contains_all(elements: list[Value], others: list[Value]) -> bool:
    return all(contains(elements, other) for other in others)


def _equivalent(elements: list[Value], others: list[Value]) -> bool:
    return _contains_all(elements, others) and _contains_all(others, elements)


def _intersects(elements: list[Value], others: list[Value]) -> bool:
    return any(contains(others, value) for value in elements)


# --- Optionals ----------------------------------------------------------------------------------------------------


def _is_zero(value: Value) -> bool:
    match value:
        case None:
            return True
        case bool() | int() | float() | str() | bytes() | list() | values.Map():
            return not len(value) if isinstance(value, values.Map) else not value
        case values.Duration():
            return value.nanoseconds == 0
        case values.Timestamp():
            return value.nanoseconds == -62135596800 * 10**9
    return False


def _of_non_zero(value: Value) -> values.Optional:
    return values.ABSENT if _is_zero(value) else values.Optional(value)


def _value(optional: values.Optional) -> Value:
    return optional.value if optional.is_present else Failure("optional.none() dereference")


def _at(index: int) -> Callable[[list[Value]], values.Optional]:
    return lambda elements: values.Optional(elements[index]) if elements else values.ABSENT


def _unwrap(elements: list[Value]) -> Value:
    found = []
    for value in elements:
        if not isinstance(value, values.Optional):
            return Failure(f"value {values.format_value(value)} is not optional")
        if value.is_present:
            found.append(value.value)
    return found


# --- Maps ---------------------------------------------------------------------------------------------------------


def insert(target: values.Map, key: Value, value: Value) -> Value:
    """Return the map with one more entry."""
    return _insert(target, [(key, value)])


def insert_all(target: values.Map, entries: values.Map) -> Value:
    """Return the map with the entries of another."""
    return _insert(target, [(key, entries.find(key)) for key in entries])


def _insert(target: values.Map, entries: list[tuple[Value, Value]]) -> Value:
    grown = target if target.growing else values.Map(dict(target.entries))
    for key, value in entries:
        if grown.own(key) is not values.MISSING:
            return Failure(f"insert failed: key {values.format_value(key)} already exists")
        grown.entries[values.token(key)] = value
    return grown


_OF_EACH = [
    overload
    for name in _ORDERED
    for overload in (
        declare(f".isSorted list_{name}_is_sorted_bool (list({name})) bool", _is_sorted),
        declare(f".max list_{name}_max_{name} (list({name})) {name}", _extreme("max", -1)),
        declare(f".min list_{name}_min_{name} (list({name})) {name}", _extreme("min", 1)),
    )
]
_LONG_NAMES = {"duration": "google.protobuf.Duration", "timestamp": "google.protobuf.Timestamp"}

LIBRARY: list[Overload] = [
    declare(".slice list_slice (list(T), int, int) list(T)", _slice),
    declare(".flatten list_flatten (list(list(T))) list(T)", _flatten, unguarded=True),
    declare(".flatten list_flatten_int (list(dyn), int) list(dyn)", _flatten, unguarded=True),
    *(declare(f".sort list_{_LONG_NAMES.get(n, n)}_sort (list({n})) list({n})") for n in _ORDERED),
    *(
        declare(
            f".@sortByAssociatedKeys list_{_LONG_NAMES.get(n, n)}_sortByAssociatedKeys (list(T), list({n})) list(T)"
        )
        for n in _ORDERED
    ),
    declare("lists.range lists_range (int) list(int)", _range),
    declare(".reverse list_reverse (list(T)) list(T)", lambda elements: elements[::-1]),
    declare(".distinct list_distinct (list(T)) list(T)", _distinct),
    *_OF_EACH,
    *(declare(f".sum list_{n}_sum_{n} (list({n})) {n}", _sum(zero)) for n, zero in _SUMMED.items()),
    declare(".indexOf list_a_index_of_int (list(A), A) int", _index_of),
    declare(".lastIndexOf list_a_last_index_of_int (list(A), A) int", _last_index_of),
    declare(".includes list_includes_dyn_dyn (dyn, dyn) bool", _includes),
    declare("sets.contains list_sets_contains_list (list(T), list(T)) bool", _contains_all),
    declare("sets.equivalent list_sets_equivalent_list (list(T), list(T)) bool", _equivalent),
    declare("sets.intersects list_sets_intersects_list (list(T), list(T)) bool", _intersects),
    declare("optional.of optional_of (V) optional(V)", values.Optional),
    declare("optional.ofNonZeroValue optional_ofNonZeroValue (V) optional(V)", _of_non_zero),
    declare("optional.none optional_none () optional(V)", lambda: values.ABSENT),
    declare(".value optional_value (optional(V)) V", _value),
    declare(".hasValue optional_hasValue (optional(V)) bool", lambda optional: optional.is_present),
    declare(".or optional_or_optional (optional(V), optional(V)) optional(V)"),
    declare(".orValue optional_orValue_value (optional(V), V) V"),
    declare(".first list_first (list(V)) optional(V)", _at(0)),
    declare(".last list_last (list(V)) optional(V)", _at(-1)),
    declare("optional.unwrap optional_unwrap (list(optional(V))) list(V)", _unwrap),
    declare(".unwrapOpt optional_unwrapOpt (list(optional(V))) list(V)", _unwrap),
    declare("cel.@mapInsert @mapInsert_map_key_value (map(K, V), K, V) map(K, V)", insert),
    declare("cel.@mapInsert @mapInsert_map_map (map(K, V), map(K, V)) map(K, V)", insert_all),
]

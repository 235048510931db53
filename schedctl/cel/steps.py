"""Steps of a planned expression: functions of the frame of an evaluation, each of which charges for itself.

A failure is returned, not raised, for ``&&``, ``||`` and loops may go on after one; `planning` puts the steps together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from schedctl.cel import costs, values
from schedctl.cel.declarations import Cost, Implementation
from schedctl.cel.values import Failure, Value

Frame = list[Any]
"""The cost and the elements visited so far, the variables of the environment, and a place for every loop variable."""
Step = Callable[[Frame], Value]
COST, STEPS, FIRST_VARIABLE = 0, 1, 2
UNSET: Any = object()
"""Stands in the place of an accumulator that nothing has read yet."""
KEY_CLASSES = frozenset((bool, int, values.Uint, float, str))
"""Keys by which an expression can step into a value."""


class Variable(NamedTuple):
    """The place of a variable in a frame; `initial` computes an accumulator when it is first read."""

    place: int
    initial: Step | None = None


def read_variable(variable: Variable) -> Step:
    """Return the step that reads a variable."""
    place, initial = variable
    if initial is None:
        return lambda frame: frame[place]

    # Only when it is read: cel.bind is a fold too, and a value that is never used must not fail or cost anything.
    def read_accumulator(frame: Frame) -> Value:
        value = frame[place]
        if value is UNSET:
            value = frame[place] = _make_growable(initial(frame))
        return value

    return read_accumulator


def _make_growable(value: Value) -> Value:
    """Return an empty list or map as one that a loop can extend in place."""
    if isinstance(value, list) and not value:
        return values.Mutable()
    if value.__class__ is values.Map and not len(value):
        return values.Map({}, growing=True)
    return value


def freeze(value: Value) -> Value:
    """Return the result of a loop, which nothing extends in place any more."""
    if value.__class__ is values.Mutable:
        return list(value)
    if value.__class__ is values.Map and value.growing:
        return values.Map(value.entries)
    return value


def rounds(collection: Value, variables: int) -> Iterator[tuple[Value, ...]] | Failure:
    """Return what one or two loop variables stand for in each round."""
    if isinstance(collection, list):
        return enumerate(collection) if variables == 2 else zip(collection, strict=False)
    if collection.__class__ is values.Map:
        return ((key, collection.find(key)) if variables == 2 else (key,) for key in list(collection))
    if variables == 2:
        return Failure(f"unsupported comprehension range type: {values.go_type(collection)}")
    return Failure(f"got '{values.go_type(collection)}', expected iterable type")


def junction(a: Step, b: Step, *, decides: bool) -> Step:
    """Return ``&&`` (decided by false) or ``||`` (decided by true); a failure counts only when nothing decides."""

    def junction(frame: Frame) -> Value:
        first = a(frame)
        if first is decides:
            return decides
        second = b(frame)
        if second is decides:
            return decides
        if first.__class__ is not bool:
            return values.failure_or_no_overload(first)
        return second if second.__class__ is bool else values.failure_or_no_overload(second)

    return junction


def equality(a: Step, b: Step) -> Step:
    """Return ``==``."""

    def equality(frame: Frame) -> Value:
        left, right = a(frame), b(frame)
        # What selectors compare nearly always; the charge is that of `costs.kubernetes_equality`.
        if left.__class__ is str and right.__class__ is str:
            shorter = len(left) if len(left) < len(right) else len(right)
            frame[COST] += (shorter + 9) // 10
            return left == right
        frame[COST] += costs.kubernetes_equality(left, right)
        if left.__class__ is Failure:
            return left
        return right if right.__class__ is Failure else values.equal(left, right)

    return equality


def inequality(a: Step, b: Step) -> Step:
    """Return ``!=``, which charges Kubernetes' own types by size like any other, where ``==`` charges them 1."""

    def inequality(frame: Frame) -> Value:
        left, right = a(frame), b(frame)
        frame[COST] += costs.equality(left, right)
        if left.__class__ is Failure:
            return left
        return right if right.__class__ is Failure else values.differs(left, right)

    return inequality


def alternative(a: Step, b: Step, *, unwrap: bool) -> Step:
    """Return ``or`` or ``orValue``: the second is only asked when the first is absent."""

    def alternative(frame: Frame) -> Value:
        first = a(frame)
        if first.__class__ is not values.Optional:
            return values.failure_or_no_overload(first)
        if not first.is_present:
            return b(frame)
        return first.value if unwrap else first

    return alternative


def membership(a: Step, members: list[Value]) -> Step:
    """Return ``in`` for a constant list of simple members: a look into a set, free of charge."""
    tokens = set()
    for value in members:
        tokens.add(values.token(value))
        kind = value.__class__
        if kind is int or kind is values.Uint:
            # A number is found whatever type the other side has, as in `Map.own`.
            tokens |= (
                {(float, float(value)), (int, int(value))} if value <= values.MAX_INT64 else {(float, float(value))}
            )
            if value >= 0:
                tokens.add((values.Uint, values.Uint(value)))
        elif kind is float and value == value and abs(value) < 2.0**64 and value == int(value):
            if abs(value) < 2.0**63:
                tokens.add((int, int(value)))
            if value >= 0:
                tokens.add((values.Uint, values.Uint(int(value))))

    def membership(frame: Frame) -> Value:
        value = a(frame)
        kind = value.__class__
        if kind is Failure:
            return value
        key = values.token(value)
        # NaN equals nothing, but Python finds it in a set by identity.
        return kind in KEY_CLASSES and value == value and key in tokens

    return membership


def lenient(a: Step, implementation: Implementation) -> Step:
    """Return a call that takes a failure as its argument like any other value."""

    def lenient(frame: Frame) -> Value:
        value = implementation(a(frame))
        frame[COST] += 1
        return value

    return lenient


def unary(a: Step, implementation: Implementation, cost: Cost | None) -> Step:
    """Return a call with one argument."""

    def unary(frame: Frame) -> Value:
        value = a(frame)
        result = value if value.__class__ is Failure else implementation(value)
        frame[COST] += cost((value,), result) if cost else 1
        return result

    return unary


def binary(a: Step, b: Step, implementation: Implementation, cost: Cost | None) -> Step:
    """Return a call with two arguments, both of which are computed even if the first fails."""

    def binary(frame: Frame) -> Value:
        left, right = a(frame), b(frame)
        if left.__class__ is Failure:
            result = left
        elif right.__class__ is Failure:
            result = right
        else:
            # A list that grows in place is charged by its length before.
            result = implementation(left, right)
        frame[COST] += cost((left, right), result) if cost else 1
        return result

    return binary


def variadic(parts: list[Step], implementation: Implementation, cost: Cost | None) -> Step:
    """Return a call whose arguments are computed one by one, up to the first failure."""

    def variadic(frame: Frame) -> Value:
        arguments: list[Value] = []
        value: Value = None
        for step in parts:
            value = step(frame)
            arguments.append(value)
            if value.__class__ is Failure:
                # A call whose last argument fails is charged like one that was made.
                if len(arguments) < count:
                    return value
                break
        result = value if value.__class__ is Failure else implementation(*arguments)
        frame[COST] += cost(arguments, result) if cost else 1
        return result

    count = len(parts)
    return variadic


def elements(frame: Frame, parts: list[tuple[Step, bool]]) -> Value:
    """Return the list that is written down; each element comes with whether it may be absent."""
    found = []
    for step, optional in parts:
        value = step(frame)
        if value.__class__ is Failure:
            return value
        if optional:
            if value.__class__ is not values.Optional:
                return Failure(
                    f"cannot initialize optional list element from non-optional value {values.format_value(value)}"
                )
            if not value.is_present:
                continue
            value = value.value
        found.append(value)
    return found


def entries(frame: Frame, parts: list[tuple[Step, Step, bool]]) -> Value:
    """Return the map that is written down; each entry comes with whether its value may be absent."""
    entries: dict[Any, Value] = {}
    for key_step, value_step, optional in parts:
        key = key_step(frame)
        if key.__class__ is Failure:
            return key
        value = value_step(frame)
        if value.__class__ is Failure:
            return value
        if optional:
            if value.__class__ is not values.Optional:
                entry = f"optional entry '{values.format_value(key)}'"
                return Failure(f"cannot initialize {entry} from non-optional value {values.format_value(value)}")
            if not value.is_present:
                entries.pop(values.token(key), None)
                continue
            value = value.value
        entries[values.token(key)] = value
    return values.Map(entries)

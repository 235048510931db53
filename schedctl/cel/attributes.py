"""Attributes: paths such as ``device.attributes[d].x``, which the engine resolves and charges for as one.

The root costs 1 and each step into the value (a *qualifier*) 1 more; a branch of ``?:`` that is an attribute is merged
into the path around it. `planning` makes them of names, fields and indices.
"""

from __future__ import annotations

from typing import NamedTuple

from typing_extensions import override

from schedctl.cel import costs, values
from schedctl.cel.errors import LimitExceeded
from schedctl.cel.steps import COST, KEY_CLASSES, Frame, Step
from schedctl.cel.values import Failure, Value


class Planned:
    """A planned expression that is neither a constant nor an attribute."""

    def __init__(self, step: Step) -> None:
        self._step = step

    def step(self) -> Step:
        """Return the step that computes it, and charges for it."""
        return self._step


class Constant(Planned):
    """What is known while planning, and costs nothing."""

    def __init__(self, value: Value) -> None:
        self.value = value

    @override
    def step(self) -> Step:
        value = self.value
        return lambda frame: value


class Qualifier(NamedTuple):
    """A step into a value.

    Attributes:
        key: the key, or the attribute that yields it.
        optional: whether the rest of the path is absent when there is nothing.
        test_only: whether only its presence is asked.
    """

    key: Value
    optional: bool
    test_only: bool = False


class Attribute(Planned):
    """A root and the steps into it."""

    def __init__(self, root: Step) -> None:
        self._root = root
        self._qualifiers: list[Qualifier] = []
        self._test_only = False

    def add(self, qualifier: Qualifier) -> None:
        """Append a step into the value."""
        self._qualifiers.append(qualifier)
        self._test_only = self._test_only or qualifier.test_only

    def resolve(self) -> Step:
        """Return the step that finds the value; it does not charge for the root."""
        if not self._qualifiers:
            return self._root
        keys = [q.key for q in self._qualifiers]
        simple = not any(q.optional or q.test_only for q in self._qualifiers)
        if simple and all(key.__class__ is str for key in keys):
            return _path(self._root, keys)
        return _path_of_qualifiers(self._root, [_Applied.of(q) for q in self._qualifiers])

    @override
    def step(self) -> Step:
        resolve = self.resolve()
        if not self._test_only:

            def step(frame: Frame) -> Value:
                value = resolve(frame)
                frame[COST] += costs.NAME
                return value

            return step

        def test(frame: Frame) -> Value:
            value = resolve(frame)
            return value.is_present if value.__class__ is values.Optional else value

        return test


class Choice(Attribute):
    """An attribute with two roots, of which a condition picks one. It charges for no root of its own."""

    def __init__(self, condition: Step, then: Attribute, otherwise: Attribute) -> None:
        super().__init__(_absent)
        self._condition, self._then, self._otherwise = condition, then, otherwise

    @override
    def add(self, qualifier: Qualifier) -> None:
        # The engine merges the path into both branches: only the one that is chosen is charged for it.
        self._then.add(qualifier)
        self._otherwise.add(qualifier)
        self._test_only = self._test_only or qualifier.test_only

    @override
    def resolve(self) -> Step:
        condition, then, otherwise = self._condition, self._then.resolve(), self._otherwise.resolve()

        def resolve(frame: Frame) -> Value:
            chosen = condition(frame)
            if chosen is True:
                return then(frame)
            if chosen is False:
                return otherwise(frame)
            return values.failure_or_no_overload(chosen)

        return resolve

    @override
    def step(self) -> Step:
        resolve = self.resolve()
        if not self._test_only:
            return resolve

        def test(frame: Frame) -> Value:
            value = resolve(frame)
            # `has` costs 1 less than the path itself, also where that, as a choice, has charged for no root.
            frame[COST] -= costs.NAME
            if frame[COST] < 0:
                # An unsigned count wraps around here, and is far beyond the limit at once.
                raise LimitExceeded
            return value.is_present if value.__class__ is values.Optional else value

        return test


class HiddenVariable(Attribute):
    """A variable of the environment (``.x``) where a loop has one of the same name.

    The engine leaves the loops to find it, and loses count of the cost on the way.
    """

    @override
    def resolve(self) -> Step:
        resolve = super().resolve()

        def resolve_uncounted(frame: Frame) -> Value:
            cost = frame[COST]
            value = resolve(frame)
            frame[COST] = cost
            return value

        return resolve_uncounted


def _absent(frame: Frame) -> Value:
    return values.ABSENT


# --- Steps into values --------------------------------------------------------------------------------------------


def _path(root: Step, keys: list[str]) -> Step:
    """Return the step along constant texts, none of them optional: by far the most common attribute."""
    count = len(keys)

    def resolve(frame: Frame) -> Value:
        value = root(frame)
        kind = value.__class__
        if kind is Failure:
            return value
        if kind is values.Optional:
            return _along_optional(frame, value, applied)
        # Charged at once, since the path is nearly always there to its end; what was not walked is paid back below.
        frame[COST] += count
        for position, key in enumerate(keys):
            if value.__class__ is values.Map:
                found = value.find(key)
                if found is not values.MISSING:
                    value = found
                    continue
                value = _missing_key(key, value)
            else:
                value = _step_into(value, key)
                if value.__class__ is not Failure:
                    continue
            frame[COST] -= count - position - 1
            return value
        return value

    applied = [_Applied.of(Qualifier(key, False)) for key in keys]
    return resolve


class _Applied(NamedTuple):
    key: Step
    optional: bool
    test_only: bool

    @classmethod
    def of(cls, qualifier: Qualifier) -> _Applied:
        key = qualifier.key
        step = key.resolve() if isinstance(key, Attribute) else lambda frame: key
        return cls(step, qualifier.optional, qualifier.test_only)


def _path_of_qualifiers(root: Step, qualifiers: list[_Applied]) -> Step:
    def resolve(frame: Frame) -> Value:
        value = root(frame)
        if value.__class__ is Failure:
            return value
        if value.__class__ is values.Optional:
            return _along_optional(frame, value, qualifiers)
        for position, qualifier in enumerate(qualifiers):
            if qualifier.optional:
                return _along(frame, value, qualifiers[position:])
            key = qualifier.key(frame)
            frame[COST] += costs.NAME
            if qualifier.test_only:
                found = _step_if_present(value, key)
                return found if found.__class__ is Failure else found is not values.MISSING
            value = _step_into(value, key)
            if value.__class__ is Failure:
                return value
        return value

    return resolve


def _along_optional(frame: Frame, value: values.Optional, qualifiers: list[_Applied]) -> Value:
    return _along(frame, value.value, qualifiers) if value.is_present else value


def _along(frame: Frame, value: Value, qualifiers: list[_Applied]) -> Value:
    """Return an optional of what is at the end of the path; absent when a step finds nothing."""
    for qualifier in qualifiers:
        key = qualifier.key(frame)
        value = key if key.__class__ is Failure else _step_if_present(value, key)
        if value.__class__ is Failure:
            return value
        if value is values.MISSING:
            return values.ABSENT
        frame[COST] += costs.NAME
    return values.Optional(value)


def _missing_key(key: Value, value: Value) -> Failure:
    return Failure(f"no such key: {values.format_value(key)}", values.MissingKey(key, value))


def _step_into(value: Value, key: Value) -> Value:
    """Return the entry or element of a value, a failure if there is none."""
    found = _step_if_present(value, key)
    if found is not values.MISSING:
        return found
    return (
        Failure(f"index out of bounds: {values.format_value(key)}")
        if isinstance(value, list)
        else _missing_key(key, value)
    )


def _step_if_present(value: Value, key: Value) -> Value:
    """Return the entry or element of a value, MISSING if there is none."""
    kind = key.__class__
    if kind not in KEY_CLASSES:
        return key if kind is Failure else Failure(f"invalid qualifier type: {values.go_type(key)}")
    if value.__class__ is values.Map:
        return value.find(key)
    if isinstance(value, list):
        index = _index(key)
        if isinstance(index, Failure):
            return index
        return value[index] if 0 <= index < len(value) else values.MISSING
    return value.find(key) if isinstance(value, values.Record) else values.MISSING


def _index(key: Value) -> int | Failure:
    kind = key.__class__
    if kind is int:
        return int(key)
    if kind is float and -(2.0**63) < key < 2.0**63 and key == int(key):
        return int(key)
    if kind is values.Uint and key <= values.MAX_INT64:
        return int(key)
    if kind is float or kind is values.Uint:
        return Failure(f"unsupported index value {values.format_value(key)} in list")
    return Failure(f"unsupported index type '{values.type_name(key)}' in list")

"""Constraints among the devices of a claim: an attribute they must share, or none of them may share with another.

A constraint speaks of some of the claim's requests, or of all if it names none; a device without the attribute can
never meet it. What it remembers of the devices chosen so far, and how it compares them, differs between releases and
gates: `memory_for` chooses once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from copy import deepcopy
from typing import Protocol

from schedctl.api.devices import DeviceAttribute, DeviceConstraint
from schedctl.devices.allocated import DeviceID
from schedctl.devices.derived import derive
from schedctl.devices.features import DeviceFeatures
from schedctl.devices.pools import DeviceModel, PooledDevice
from schedctl.devices.requests import Request

_VALUES = ("string_value", "int_value", "bool_value", "version_value")
"""The kinds of values, in the order in which they are looked for. Versions are compared as text."""

_LISTS = ("int_values", "bool_values", "string_values", "version_values")
"""The kinds of lists, in the order in which they are looked for; a list without values is passed over."""

Rule = Callable[[DeviceAttribute, Collection[DeviceAttribute]], bool]
"""Says whether a value may join others that are there already."""


class Constraint:
    """One constraint of a claim, and what it remembers of the devices chosen so far.

    Attributes:
        attribute: the name of the attribute, in full.
        distinct: whether its values must differ; otherwise they must be the same.
    """

    def __init__(self, written: DeviceConstraint, features: DeviceFeatures) -> None:
        self.distinct = written.match_attribute is None
        self.attribute = (written.distinct_attribute if self.distinct else written.match_attribute) or ""
        self._requests = frozenset(written.requests or ())
        self._memory = memory_for(features, distinct=self.distinct)

    def add(self, request: Request, device: PooledDevice) -> bool:
        """Count a device in if it may join those chosen; return whether it was.

        Raises:
            DerivationError: the request derives the attribute, and that fails.
        """
        if not self._applies(request):
            return True
        value = attribute_of(request, device, self.attribute)
        return value is not None and self._memory.add(request.parent, value, device.id)

    def remove(self, request: Request) -> None:
        """Take back the last `add` that succeeded."""
        if self._applies(request):
            self._memory.remove(request.parent)

    def allows(self, request: Request, device: PooledDevice) -> bool:
        """Return whether a device may join those chosen, without counting it in.

        Raises:
            DerivationError: see `add`.
        """
        if not self._applies(request):
            return True
        value = attribute_of(request, device, self.attribute)
        return value is not None and deepcopy(self._memory).add(request.parent, value, device.id)

    def _applies(self, request: Request) -> bool:
        return not self._requests or request.parent in self._requests or request.full_name in self._requests


def attribute_of(request: Request, device: PooledDevice, name: str) -> DeviceAttribute | None:
    """Return the attribute of a full name that a request derives, else the device's; None if there is neither.

    Raises:
        DerivationError: it cannot be derived.
    """
    expression = request.derived.get(name)
    return stated_attribute(device.model, name) if expression is None else derive(expression, name, device)


def stated_attribute(model: DeviceModel, name: str) -> DeviceAttribute | None:
    """Return a device's attribute by its full name, None if it has none.

    Attributes of the driver's own domain may be written without it on the device.
    """
    attributes = model.view.attributes or {}
    if name in attributes:
        return attributes[name]
    domain, slash, plain = name.partition("/")
    return attributes.get(plain) if slash and domain == model.view.driver else None


# -- what is remembered ----------------------------------------------------------


class Memory(Protocol):
    """What is remembered of the values chosen."""

    def add(self, request: str, value: DeviceAttribute, device: DeviceID) -> bool:
        """Take in the value of a device chosen for a request, if it may join; return whether it was."""

    def remove(self, request: str) -> None:
        """Take back the last `add` for a request that succeeded."""


class EveryValue:
    """Remembers every value."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._chosen: list[DeviceAttribute] = []

    def add(self, request: str, value: DeviceAttribute, device: DeviceID) -> bool:
        """Take a value in if the rule lets it join."""
        joins = self._rule(value, self._chosen)
        if joins:
            self._chosen.append(value)
        return joins

    def remove(self, request: str) -> None:
        """Forget the last value."""
        self._chosen.pop()


class LastValues:
    """Remembers the last value of each request, and after a step back none of it, as until v1.36."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._by_request: dict[str, DeviceAttribute] = {}
        self._count = 0

    def add(self, request: str, value: DeviceAttribute, device: DeviceID) -> bool:
        """Take a value in if the rule lets it join; the first one always may."""
        if self._count and not self._rule(value, self._by_request.values()):
            return False
        self._by_request[request] = value
        self._count += 1
        return True

    def remove(self, request: str) -> None:
        """Forget the value of a request."""
        self._by_request.pop(request, None)
        self._count -= 1


class LastDevices:
    """Remembers the last device of each request, as until v1.34, which compares where values are kept: a device's own.

    Only a share of a device that holds one already is not distinct.
    """

    def __init__(self) -> None:
        self._by_request: dict[str, DeviceID] = {}
        self._count = 0

    def add(self, request: str, value: DeviceAttribute, device: DeviceID) -> bool:
        """Take a device in if it is none of those; the first one always may join."""
        others = self._by_request.values()
        if self._count and others and (_kind_of(value) is None or device in others):
            return False
        self._by_request[request] = device
        self._count += 1
        return True

    def remove(self, request: str) -> None:
        """Forget the device of a request."""
        self._by_request.pop(request, None)
        self._count -= 1


class CommonValues:
    """Remembers the values that all lists have in common; a single value is a list of one."""

    def __init__(self) -> None:
        self._common: list[frozenset[tuple[str, object]]] = []

    def add(self, request: str, value: DeviceAttribute, device: DeviceID) -> bool:
        """Take a list in if it has a value that all others have."""
        values = _set_of(value)
        common = self._common[-1] & values if self._common else values
        if common:
            self._common.append(common)
        return bool(common)

    def remove(self, request: str) -> None:
        """Return to what the others have in common."""
        self._common.pop()


def memory_for(features: DeviceFeatures, *, distinct: bool) -> Memory:
    """Return what a constraint starts with."""
    if not distinct:
        return CommonValues() if features.lists else EveryValue(_is_same)
    if not features.distinct_values:
        return LastDevices()
    rule = _is_disjoint if features.lists else _is_different
    return LastValues(rule) if features.forgets else EveryValue(rule)


# -- what may join ---------------------------------------------------------------


def _is_same(value: DeviceAttribute, others: Collection[DeviceAttribute]) -> bool:
    # A list joins as the first one and keeps all others out: constraints do not know lists unless a gate is on.
    kind = _kind_of(value)
    return all(kind is not None and getattr(other, kind) == getattr(value, kind) for other in others)


def _is_different(value: DeviceAttribute, others: Collection[DeviceAttribute]) -> bool:
    # A value of another kind differs, too: the attribute of that kind is None there.
    kind = _kind_of(value)
    return all(kind is not None and getattr(other, kind) != getattr(value, kind) for other in others)


def _is_disjoint(value: DeviceAttribute, others: Collection[DeviceAttribute]) -> bool:
    values = _set_of(value)
    return bool(values) and not any(values & _set_of(other) for other in others)


def _kind_of(value: DeviceAttribute) -> str | None:
    return next((kind for kind in _VALUES if getattr(value, kind) is not None), None)


def _set_of(value: DeviceAttribute) -> frozenset[tuple[str, object]]:
    """Return the values of a list, or the only value, each with its kind; nothing where there is none."""
    for kind in _LISTS:
        if getattr(value, kind):
            return frozenset((kind, each) for each in getattr(value, kind))
    single = _kind_of(value)
    return frozenset() if single is None else frozenset([(f"{single}s", getattr(value, single))])

"""Constraints among the devices of a claim: an attribute they must share, or none of them may share with another.

A constraint speaks of some of the claim's requests, or of all if it names none; a device without the attribute can
never meet it. Attributes are named in full; those of the driver's own domain may be written without it on the device.
"""

from __future__ import annotations

from schedctl.api.devices import DeviceAttribute, DeviceConstraint
from schedctl.devices.pools import DeviceModel
from schedctl.devices.requests import Request

_VALUES = ("string_value", "int_value", "bool_value", "version_value")
"""The kinds of values, in the order in which they are looked for. Versions are compared as text."""


class Constraint:
    """What one constraint of a claim remembers of the devices chosen so far.

    Attributes:
        attribute: the name of the attribute, in full.
        distinct: whether its values must differ; otherwise they must be the same.
    """

    def __init__(self, written: DeviceConstraint, *, compares_values: bool = True) -> None:
        self._compares_values = compares_values
        self.attribute = written.match_attribute or ""
        self.distinct = written.match_attribute is None
        if self.distinct:
            self.attribute = written.distinct_attribute or ""
        self._requests = frozenset(written.requests or ())
        self._chosen: list[DeviceAttribute] = []

    def add(self, request: Request, model: DeviceModel) -> bool:
        """Count a device in if it may join those chosen; return whether it was."""
        if not self._applies(request):
            return True
        value = attribute_of(model, self.attribute)
        if value is None or not self._joins(value):
            return False
        self._chosen.append(value)
        return True

    def remove(self, request: Request) -> None:
        """Take back the last `add` that succeeded."""
        if self._applies(request):
            self._chosen.pop()

    def allows(self, request: Request, model: DeviceModel) -> bool:
        """Return whether a device may join those chosen, without counting it in."""
        added = self.add(request, model)
        if added:
            self.remove(request)
        return added

    def _applies(self, request: Request) -> bool:
        return not self._requests or request.parent in self._requests or request.full_name in self._requests

    def _joins(self, value: DeviceAttribute) -> bool:
        if not self._chosen:
            return True
        kind = next((kind for kind in _VALUES if getattr(value, kind) is not None), None)
        if kind is None:  # a list, which constraints do not know; the first device was nevertheless let in above
            return False
        content = getattr(value, kind)
        if self.distinct and not self._compares_values:
            # Until v1.34 kube-scheduler compares where values are kept, which differs for any two devices.
            return True
        if self.distinct:
            # A value of another kind differs, too: the attribute of that kind is None there.
            return all(getattr(other, kind) != content for other in self._chosen)
        return bool(getattr(self._chosen[0], kind) == content)


def attribute_of(model: DeviceModel, name: str) -> DeviceAttribute | None:
    """Return a device's attribute by its full name, None if it has none."""
    attributes = model.device.attributes or {}
    if name in attributes:
        return attributes[name]
    domain, slash, plain = name.partition("/")
    return attributes.get(plain) if slash and domain == model.view.driver else None

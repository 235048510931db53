"""Attributes that a request derives from those a device has: CEL expressions, for constraints to compare (KEP-6080).

`constraints` asks here. As for selectors, what needs the CEL engine is in `selector_programs`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from schedctl.api.devices import DeviceAttribute
from schedctl.devices.selectors import content_of
from schedctl.errors import NotModelled

if TYPE_CHECKING:
    from schedctl.cel.programs import Program
    from schedctl.devices.pools import PooledDevice

_PLUGIN = "DynamicResources"
_WHERE = "a derived attribute"
_NESTED = "very deeply nested CEL expressions"


class DerivationError(Exception):
    """An attribute cannot be derived, which ends the cycle; the text is kube-scheduler's."""


def derive(expression: str, name: str, device: PooledDevice) -> DeviceAttribute:
    """Return what an expression makes of a device.

    Args:
        expression: the CEL expression.
        name: of the attribute.
        device: the device.

    Raises:
        DerivationError: the expression does not compile, fails, or is no attribute.
        NotModelled: it needs what is not modelled.
    """
    known = content_of(device.model.view).derived
    if expression not in known:
        program = _program(expression)
        if isinstance(program, str):
            raise DerivationError(f"compile derived attribute {name} failed: {program}")
        known[expression] = _evaluate(program, content_of(device.model.view).value)
    attribute = known[expression]
    if isinstance(attribute, str):
        raise DerivationError(f"evaluate derived attribute {name} on device {device.id} failed: {attribute}")
    return attribute


@lru_cache(maxsize=1024)
def _program(expression: str) -> Program | str:
    """Return the program of an expression; as text, why it does not compile."""
    from schedctl.devices.selector_programs import DoesNotCompile, compile_derivation

    try:
        return compile_derivation(expression)
    except UnicodeEncodeError:  # half of a character: no API server would take it in
        raise NotModelled(_PLUGIN, "texts that are not Unicode", _WHERE) from None
    except RecursionError:
        raise NotModelled(_PLUGIN, _NESTED, _WHERE) from None
    except DoesNotCompile as reason:
        return str(reason)


def _evaluate(program: Program, device: Any) -> DeviceAttribute | str:
    if isinstance(device, str):  # the error of an attribute that has no value
        return device
    from schedctl.devices.selector_programs import derived_attribute

    try:
        return derived_attribute(program, device)
    except RecursionError:
        raise NotModelled(_PLUGIN, _NESTED, _WHERE) from None

"""The way of a selector through the parts: compile a text, translate a device, evaluate one about the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedctl.api import quantities
from schedctl.api.devices import DeviceAttribute
from schedctl.cel import costs, library
from schedctl.cel.checking import UnknownMessages, check
from schedctl.cel.macros import expanded
from schedctl.cel.planning import CostExceeded, Plan, PlanError, plan
from schedctl.cel.quantities import QuantityValue
from schedctl.cel.semvers import SemverError, parse
from schedctl.cel.syntax import CompileError, Source
from schedctl.cel.syntax import parse as parse_text
from schedctl.cel.types import BOOL, DYN
from schedctl.cel.validation import validate
from schedctl.cel.values import Aborted, Failure, Map, Optional, Value, type_name
from schedctl.errors import NotModelled

if TYPE_CHECKING:
    from schedctl.devices.selectors import DeviceView

_TOO_DEAR = "operation cancelled: actual cost limit exceeded"
_MAP = "*types.baseMap"
_EMPTY = Map({}, native=_MAP)


class DoesNotCompile(Exception):
    """An expression that does not compile; the text is kube-scheduler's."""


class Program:
    """A compiled expression."""

    __slots__ = ("_plan", "cost")

    def __init__(self, planned: Plan) -> None:
        self._plan = planned
        self.cost = 0
        """What the last evaluation cost; it has stopped early if this is beyond the limit."""

    def verdict(self, device: Value) -> bool | str:
        """Return what the expression says of a device, or the error."""
        frame = [0, device, *([None] * (self._plan.places - 2))]
        try:
            value = self._plan.step(frame)
        except CostExceeded:
            return _TOO_DEAR
        except Aborted as reason:
            return str(reason)
        finally:
            self.cost = frame[0]
        if self.cost > costs.LIMIT:
            return _TOO_DEAR
        if value.__class__ is bool:
            return bool(value)
        return value.text if isinstance(value, Failure) else _as_bool(value)


def compile_program(expression: str) -> Program:
    """Return the program of an expression.

    Raises:
        DoesNotCompile: it does not compile, or is not about true and false.
        NotModelled: it uses messages of protocol buffers.
    """
    source = Source(expression)
    functions = library.functions()
    try:
        tree = expanded(parse_text(source), source)
        check(tree, source, functions)
        validate(tree, source)
    except CompileError as error:
        raise DoesNotCompile(f"compilation failed: {source.render(error.problems)}") from None
    except UnknownMessages as error:
        raise NotModelled("DynamicResources", "protocol buffer messages in CEL", f"{error} in a selector") from None
    if tree.type not in (BOOL, DYN):
        raise DoesNotCompile(f"must evaluate to bool or the unknown type, not {tree.type.full_name}")
    try:
        return Program(plan(tree, functions))
    except PlanError as error:
        raise DoesNotCompile(f"program instantiation failed: {error}") from None
    except Aborted as error:
        raise NotModelled("DynamicResources", "expressions on which kube-scheduler crashes", str(error)) from None


# --- Devices ------------------------------------------------------------------------------------------------------


def device_value(device: DeviceView) -> Map | str:
    """Return a device as CEL sees it; as text, the error of an attribute that has no value."""
    attributes: dict[str, dict[str, Value]] = {}
    for name, attribute in sorted((device.attributes or {}).items()):
        try:
            value = _attribute_value(attribute)
        except ValueError as error:
            return f"attribute {name}: {error}"
        domain, identifier = _qualified(name, device.driver)
        attributes.setdefault(domain, {})[identifier] = value
    capacity: dict[str, dict[str, Value]] = {}
    for name, amount in (device.capacity or {}).items():
        domain, identifier = _qualified(name, device.driver)
        capacity.setdefault(domain, {})[identifier] = QuantityValue(quantities.parse(amount.value))
    return Map(
        {
            "driver": device.driver,
            "allowMultipleAllocations": device.allow_multiple_allocations,
            "attributes": _by_domain(attributes),
            "capacity": _by_domain(capacity),
        },
        native="map[string]interface {}",
    )


def _qualified(name: str, domain: str) -> tuple[str, str]:
    before, slash, after = name.partition("/")
    return (before, after) if slash else (domain, name)


def _by_domain(values: dict[str, dict[str, Value]]) -> Map:
    """Return a map of maps in which domains that are not there are empty."""
    return Map({domain: Map(inner, native=_MAP) for domain, inner in values.items()}, _EMPTY, native="cel.mapper")


def _attribute_value(attribute: DeviceAttribute) -> Value:
    """Return the value of an attribute; lists come first.

    Raises:
        ValueError: it has none, or a version that is none.
    """
    lists = (attribute.int_values, attribute.bool_values, attribute.string_values)
    for values in lists:
        if values is not None:
            return list(values)
    if attribute.version_values is not None:
        return [_version(text) for text in attribute.version_values]
    for value in (attribute.int_value, attribute.bool_value, attribute.string_value):
        if value is not None:
            return value
    if attribute.version_value is not None:
        return _version(attribute.version_value)
    raise ValueError("unsupported attribute value")


def _version(text: str) -> Value:
    try:
        return parse(text)
    except SemverError as error:
        raise ValueError(f"parse semantic version: {error}") from None


# --- Results that are not true or false ---------------------------------------------------------------------------

_CONVERSIONS = {
    "bytes": "type conversion error from Bytes to 'bool'",
    "double": "type conversion error from Double to 'bool'",
    "google.protobuf.Duration": "type conversion error from 'Duration' to 'bool'",
    "google.protobuf.Timestamp": "type conversion error from 'Timestamp' to 'bool'",
    "int": "unsupported type conversion from 'int' to bool",
    "kubernetes.NamedFormat": "type conversion error from 'Format' to 'bool'",
    "list": "type conversion error from list to 'bool'",
    "map": "type conversion error from map to 'bool'",
    "null_type": "type conversion error from 'null_type' to 'bool'",
    "optional_type": "optional.none() dereference",
    "string": "unsupported native conversion from string to 'bool'",
    "type": "type conversion not supported for 'type'",
    "uint": "unsupported type conversion from 'uint' to bool",
}


def _as_bool(result: Value) -> bool | str:
    """Return the truth in an optional, or the error that there is no truth in the result."""
    value = result
    while isinstance(value, Optional) and value.is_present:
        value = value.value
    if value.__class__ is bool:
        return bool(value)
    name = type_name(value)
    why = _CONVERSIONS.get(name) or f"type conversion error from '{name.rpartition('.')[2]}' to 'bool'"
    return f"CEL result of type {type_name(result)} could not be converted to bool: {why}"

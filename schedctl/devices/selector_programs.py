"""Selectors as CEL programs: what a device is to CEL, and what kube-scheduler says where there is no answer.

`selectors` imports this when the first selector is compiled, since it loads the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from msgspec import convert

from schedctl.api import quantities
from schedctl.api.devices import DeviceAttribute, DeviceCapacity
from schedctl.cel import costs, errors, library, types, values
from schedctl.cel.declarations import Environment
from schedctl.cel.programs import Program, check_text
from schedctl.cel.quantities import QuantityValue
from schedctl.cel.semvers import Semver, SemverError, parse
from schedctl.cel.syntax import Source
from schedctl.cel.values import Map, Value
from schedctl.errors import NotModelled

_COST_LIMIT = 1_000_000
_TOO_EXPENSIVE = "operation cancelled: actual cost limit exceeded"
_MAP = "*types.baseMap"  # what Go calls the type, which some errors print
_EMPTY = Map({}, native=_MAP)


class DoesNotCompile(Exception):
    """A selector that does not compile; the text is kube-scheduler's."""


@cache
def _environment() -> Environment:
    device, quantity = types.struct("kubernetes.DRADevice"), types.struct("kubernetes.Quantity")
    fields = {
        "driver": types.STRING,
        "attributes": types.map_of(types.STRING, types.map_of(types.STRING, types.DYN)),
        "capacity": types.map_of(types.STRING, types.map_of(types.STRING, quantity)),
        "allowMultipleAllocations": types.BOOL,
    }
    return Environment(
        {"device": device},
        library.functions(),
        {device.name: fields},
        cost_of=costs.cost_of,
        cost_limit=_COST_LIMIT,
    )


def compile_selector(expression: str) -> Program:
    """Return the program of a selector.

    Raises:
        DoesNotCompile: it does not compile, or is not about true and false.
        NotModelled: kube-scheduler can compile it, and schedctl cannot.
    """
    return _compile(expression, _check_selector)


def compile_derivation(expression: str) -> Program:
    """Return the program of a derived attribute.

    Raises:
        DoesNotCompile: it does not compile, or is not about a value that attributes have.
        NotModelled: kube-scheduler can compile it, and schedctl cannot.
    """
    return _compile(expression, _check_derivation)


def _compile(expression: str, check_type: Callable[[types.Type], None]) -> Program:
    source = Source(expression)
    try:
        tree = check_text(source, _environment())
        check_type(tree.type)
        return Program(tree, _environment())
    except errors.CompileError as error:
        raise DoesNotCompile(f"compilation failed: {source.render(error.problems)}") from None
    except errors.PlanError as error:
        raise DoesNotCompile(f"program instantiation failed: {error}") from None
    except errors.Aborted as error:
        raise NotModelled("DynamicResources", "expressions on which kube-scheduler crashes", str(error)) from None
    except errors.Unsupported as error:
        raise not_modelled(error) from None


def _check_selector(result: types.Type) -> None:
    if result not in (types.BOOL, types.DYN):
        raise DoesNotCompile(f"must evaluate to bool or the unknown type, not {result.full_name}")


def _check_derivation(result: types.Type) -> None:
    element = result.parameters[0] if result.kind is types.Kind.LIST and result.parameters else result
    if element not in (types.BOOL, types.INT, types.STRING, types.DYN) and element.name != Semver.type_name:
        raise DoesNotCompile(
            "must evaluate to a primitive scalar (string, integer, boolean, semver) or a list of these scalars, not"
            f" {result}"
        )


def derived_attribute(program: Program, device: Value) -> DeviceAttribute | str:
    """Return what a derivation makes of a device, or the error.

    Raises:
        NotModelled: kube-scheduler has an answer, and schedctl does not.
    """
    try:
        value = program.evaluate(device)
    except errors.LimitExceeded:
        return _TOO_EXPENSIVE
    except errors.Aborted as reason:
        return str(reason)
    except errors.Unsupported as error:
        raise not_modelled(error) from None
    if isinstance(value, values.Failure):
        return value.text
    return _attribute_from(value)


def verdict(program: Program, device: Value) -> bool | str:
    """Return what a selector says of a device, or the error.

    Raises:
        NotModelled: kube-scheduler has an answer, and schedctl does not.
    """
    try:
        value = program.evaluate(device)
    except errors.LimitExceeded:
        return _TOO_EXPENSIVE
    except errors.Aborted as reason:
        return str(reason)
    except errors.Unsupported as error:
        raise not_modelled(error) from None
    if value.__class__ is bool:
        return bool(value)
    return value.text if isinstance(value, values.Failure) else _as_bool(value)


def not_modelled(error: errors.Unsupported) -> NotModelled:
    """Return that a selector needs what CEL here does not support."""
    detail = error.detail or (f"{error.part} in a selector" if error.part else "a device selector")
    return NotModelled("DynamicResources", error.feature, detail)


# --- Devices ------------------------------------------------------------------------------------------------------


def device_value(
    driver: str,
    attributes: Mapping[str, DeviceAttribute] | None,
    capacity: Mapping[str, DeviceCapacity] | None,
    allow_multiple_allocations: bool,
) -> Map | str:
    """Return a device, of these fields of `selectors.DeviceView`, as CEL sees it.

    Returns:
        The device; as text, the error of an attribute that has no value.
    """
    attribute_values: dict[str, dict[str, Value]] = {}
    # In order of name, so that of several attributes without a value the same one is always in the error.
    for name, attribute in sorted((attributes or {}).items()):
        try:
            value = _attribute_value(attribute)
        except ValueError as error:
            return f"attribute {name}: {error}"
        domain, identifier = _split_name(name, driver)
        attribute_values.setdefault(domain, {})[identifier] = value
    capacity_values: dict[str, dict[str, Value]] = {}
    for name, amount in (capacity or {}).items():
        domain, identifier = _split_name(name, driver)
        capacity_values.setdefault(domain, {})[identifier] = QuantityValue(quantities.parse(amount.value))
    return Map(
        {
            "driver": driver,
            "allowMultipleAllocations": allow_multiple_allocations,
            "attributes": _by_domain(attribute_values),
            "capacity": _by_domain(capacity_values),
        },
        native="map[string]interface {}",
    )


def _split_name(name: str, domain: str) -> tuple[str, str]:
    before, slash, after = name.partition("/")
    return (before, after) if slash else (domain, name)


def _by_domain(fields: dict[str, dict[str, Value]]) -> Map:
    """Return a map of maps in which domains that are not there are empty."""
    return Map({domain: Map(inner, native=_MAP) for domain, inner in fields.items()}, _EMPTY, native="cel.mapper")


def _attribute_value(attribute: DeviceAttribute) -> Value:
    """Return the value of an attribute; lists come first.

    Raises:
        ValueError: it has none, or a version that is none.
    """
    lists = (attribute.int_values, attribute.bool_values, attribute.string_values)
    for items in lists:
        if items is not None:
            return list(items)
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


# --- Derived attributes -------------------------------------------------------------------------------------------

_ATTRIBUTES = {bool: ("bool", "bool"), int: ("int", "int"), str: ("string", "string"), Semver: ("version", "semver")}
"""The kinds of attributes by the type of the value, each with what errors call it."""
_GO_VALUES = {
    bool: "bool",
    int: "int64",
    str: "string",
    Semver: "semver.Version",
    values.Uint: "uint64",
    float: "float64",
    bytes: "[]uint8",
    type(None): "structpb.NullValue",
    list: "[]ref.Val",
    Map: "map[ref.Val]ref.Val",
    values.Duration: "time.Duration",
    values.Timestamp: "time.Time",
}
"""The types that Go keeps values in, which errors name."""


def _attribute_from(value: Value) -> DeviceAttribute | str:
    """Return a value as an attribute; as text, why it is none."""
    if value.__class__ is not list:
        if value.__class__ not in _ATTRIBUTES:
            return f"unsupported CEL return type: {_go_value(value)}"
        kind, _ = _ATTRIBUTES[value.__class__]
        return convert({kind: _plain(value)}, DeviceAttribute)
    if not value:
        return DeviceAttribute(string_values=[])
    if value[0].__class__ not in _ATTRIBUTES:
        return f"unsupported list element type: {_go_value(value[0])}"
    kind, name = _ATTRIBUTES[value[0].__class__]
    for index, element in enumerate(value):
        if element.__class__ is not value[0].__class__:
            return f"expected list element at index {index} to be {name}, got {_go_value(element)}"
    return convert({f"{kind}s": list(map(_plain, value))}, DeviceAttribute)


def _plain(value: Value) -> Value:
    return value.text if isinstance(value, Semver) else value


def _go_value(value: Value) -> str:
    if value.__class__ not in _GO_VALUES:
        raise NotModelled("DynamicResources", f"values of type {values.type_name(value)}", "a derived attribute")
    return _GO_VALUES[value.__class__]


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
    # Optionals may be nested; cel-go unwraps all that are present, and the innermost decides.
    while isinstance(value, values.Optional) and value.is_present:
        value = value.value
    if value.__class__ is bool:
        return bool(value)
    name = values.type_name(value)
    why = _CONVERSIONS.get(name) or f"type conversion error from '{name.rpartition('.')[2]}' to 'bool'"
    return f"CEL result of type {values.type_name(result)} could not be converted to bool: {why}"

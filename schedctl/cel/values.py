"""What expressions compute with: Go's numbers, maps with typed keys, optionals, types as values, errors as values.

Most values are Python's own: bool, int (an int64), float, str, bytes, list, None for null; the opaque ones of
Kubernetes' libraries derive from `Opaque`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any, ClassVar, NamedTuple

from typing_extensions import override

from schedctl.cel.errors import Aborted, NotKept

MAX_INT64, MIN_INT64, MAX_UINT64 = (1 << 63) - 1, -(1 << 63), (1 << 64) - 1


class Uint(int):
    """An unsigned 64-bit integer, which arithmetic does not mix with signed ones."""

    __slots__ = ()


class Failure:
    """An error as a value: ``&&``, ``||`` and loops may still make something of it, nothing else does.

    Attributes:
        text: Kubernetes' words.
        cause: what is behind it, for those who word it in their own way: a `MissingKey`, or what a `Record` put there.
    """

    __slots__ = ("cause", "text")

    def __init__(self, text: str, cause: Any = None) -> None:
        self.text, self.cause = text, cause


class MissingKey(NamedTuple):
    """A key was asked for that a value does not have."""

    key: Value
    value: Value


NO_SUCH_OVERLOAD = Failure("no such overload")
MISSING: Any = object()
"""What a search that found nothing returns."""


class Mutable(list[Any]):
    """A list that a loop is still building: adding to it extends it in place."""

    __slots__ = ()


class Opaque:
    """A value of a type that CEL itself does not know."""

    __slots__ = ()
    type_name: ClassVar[str]
    size: int | None = None
    """What its size counts as in the cost of an operation; None when it has no size."""
    hashable: ClassVar[bool] = True
    """Whether Go can hash it, so that it can be the key of a map."""

    @property
    def go_type(self) -> str:
        """The type that kube-scheduler keeps the value in."""
        return f"cel.{self.type_name.rpartition('.')[2]}"

    def equals(self, other: Any) -> bool | Failure:
        """Return whether the values are equal; comparing with another type is an error."""
        return self == other if type(other) is type(self) else failure_or_no_overload(other)


class Record(Opaque):
    """A value of a STRUCT type whose fields are worked out when they are asked for."""

    __slots__ = ("_field", "name")

    def __init__(self, name: str, field: Callable[[str], Value]) -> None:
        """Make a record of a type; `field` returns the value of a field, MISSING where it is absent."""
        self.name, self._field = name, field

    @property
    @override
    def type_name(self) -> str:  # type: ignore[override]
        return self.name

    def find(self, key: Value) -> Value:
        """Return the value of a field, MISSING if there is none."""
        return self._field(key) if key.__class__ is str else MISSING


class Optional:
    """A value that may be absent."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    @property
    def is_present(self) -> bool:
        """Whether there is a value."""
        return self.value is not MISSING


ABSENT = Optional(MISSING)


class TypeValue:
    """A type as a value."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Map:
    """A map; keys are bools, ints, uints or strings, or (behind ``dyn``) what Go can hash.

    Attributes:
        entries: the values by their key's `token`.
        fallback: what a lookup (not a membership test) finds where there is nothing; MISSING if nothing.
        growing: a loop is still building it, and entries may be put into it.
        native: the type that kube-scheduler keeps it in if it is part of the device: then all keys are strings, and
            no other key is even looked for.
    """

    __slots__ = ("entries", "fallback", "growing", "native")

    def __init__(
        self, entries: dict[Any, Value], fallback: Value = MISSING, *, growing: bool = False, native: str = ""
    ) -> None:
        self.entries, self.fallback, self.growing, self.native = entries, fallback, growing, native

    def find(self, key: Value) -> Value:
        """Return the value of a key, MISSING if there is none; numbers are found whatever their type."""
        value = self.own(key)
        return self.fallback if value is MISSING else value

    def own(self, key: Value) -> Value:
        """Return the value that is really there, MISSING if there is none."""
        entries = self.entries
        kind = key.__class__
        if kind is str:
            return entries.get(key, MISSING)
        if self.native or not entries:
            return MISSING
        value = entries.get(token(key), MISSING)
        if value is MISSING and kind in _NUMBERS:
            if kind is float:
                if not math.isfinite(key) or key != int(key):
                    return MISSING
                key = int(key)
            value = entries.get((int, key), MISSING)
            if value is MISSING:
                value = entries.get((Uint, key), MISSING)
        return value

    def __iter__(self) -> Iterator[Value]:
        """Yield the keys, in the order they were written; kube-scheduler's order is random."""
        for found in self.entries:
            yield found if found.__class__ is str else _key_of(*found)

    def __len__(self) -> int:
        return len(self.entries)


Value = Any
_NUMBERS = frozenset((int, Uint, float))
_HASHED = frozenset((bool, int, Uint, float, type(None)))


def token(key: Value) -> Any:
    """Return what a map's entry is kept under: the key if a string, else with its class, or by identity.

    Raises:
        Aborted: the key is one that Go cannot hash.
    """
    kind = key.__class__
    if kind is str:
        return key
    if kind in _HASHED:
        return (kind, key)
    if kind is bytes:
        raise Aborted("internal error: runtime error: hash of unhashable type types.Bytes")
    if kind is Duration:
        return (kind, key.nanoseconds)
    if kind is Timestamp:
        return (kind, key.nanoseconds, key.offset)
    if kind is TypeValue:
        return (kind, key.name)
    if isinstance(key, Opaque) and not key.hashable:
        raise Aborted(f"internal error: runtime error: hash of unhashable type {key.go_type}")
    return (_Identical, _Identical(key))


class _Identical:
    """A key that is found only by itself."""

    __slots__ = ("key",)

    def __init__(self, key: Value) -> None:
        self.key = key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identical) and self.key is other.key

    def __hash__(self) -> int:
        return id(self.key)


def _key_of(kind: type, *parts: Any) -> Value:
    """Return the key that a token stands for."""
    if kind in _HASHED:
        return parts[0]
    return parts[0].key if kind is _Identical else kind(*parts)


def from_json(data: Any) -> Value:
    """Return the value of plain data as JSON has it; numbers stay whole where they are."""
    if data.__class__ is dict:
        return Map(_JsonEntries(data))
    if data.__class__ is PartialObject:
        return Map(_PartialEntries(data))
    return [from_json(value) for value in data] if data.__class__ is list else data


class _JsonEntries(dict[Any, Value]):
    """The entries of a JSON object, each converted when it is first asked for: of a pod's spec little is read."""

    __slots__ = ("_lists",)

    def __init__(self, data: dict[str, Any]) -> None:
        super().__init__(data)
        self._lists: set[Any] | None = None  # the keys of those that are converted, which cannot be told by their class

    @override
    def get(self, key: Any, default: Any = None) -> Value:
        value = super().get(key, default)
        if isinstance(value, dict):
            value = self[key] = from_json(value)
        elif isinstance(value, list) and (self._lists is None or key not in self._lists):
            value = self[key] = from_json(value)
            self._lists = {key} if self._lists is None else self._lists | {key}
        return value


class PartialObject(dict[str, Any]):
    """A JSON object of which only some fields are kept.

    Attributes:
        kind: what it is.
        fields: the names of the fields that are kept where they are written.
    """

    __slots__ = ("fields", "kind")

    def __init__(self, data: dict[str, Any], kind: str, fields: frozenset[str]) -> None:
        super().__init__(data)
        self.kind, self.fields = kind, fields


class _PartialEntries(_JsonEntries):
    """The entries of a `PartialObject`: to ask for a field that is not kept ends the evaluation, ``has()`` included."""

    __slots__ = ("_object",)

    def __init__(self, data: PartialObject) -> None:
        super().__init__(data)
        self._object = data

    @override
    def get(self, key: Any, default: Any = None) -> Value:
        if key not in self._object.fields:
            close = get_close_matches(str(key), self._object.fields, 1, 0.75)
            meant = f"; did you mean {close[0]}?" if close else ""
            raise NotKept(f"schedctl does not read the field {key} of {self._object.kind}{meant}")
        return super().get(key, default)

    @override
    def __iter__(self) -> Iterator[Any]:
        raise NotKept(f"schedctl reads only some fields of {self._object.kind}, so that they cannot be iterated")


class Duration:
    """A span of time in nanoseconds, an int64."""

    __slots__ = ("nanoseconds",)

    def __init__(self, nanoseconds: int) -> None:
        self.nanoseconds = nanoseconds


class Timestamp:
    """A moment: nanoseconds since 1970 and the offset, in seconds, it was written with."""

    __slots__ = ("nanoseconds", "offset")

    def __init__(self, nanoseconds: int, offset: int = 0) -> None:
        self.nanoseconds, self.offset = nanoseconds, offset


_TYPE_NAMES: dict[type, str] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    list: "list",
    Mutable: "list",
    Map: "map",
    Optional: "optional_type",
    TypeValue: "type",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    Failure: "error",
}


def type_name(value: Value) -> str:
    """Return the name of a value's type."""
    name = _TYPE_NAMES.get(value.__class__)
    return str(value.type_name) if name is None else name


def failure_or_no_overload(value: Value) -> Failure:
    """Return the value if it is an error, else the error that nothing takes such a value."""
    return value if value.__class__ is Failure else NO_SUCH_OVERLOAD


# --- Equality and order ------------------------------------------------------------------------------------------


def equal(a: Value, b: Value) -> bool | Failure:
    """Return whether two values are equal: false for values of different types, as a rule."""
    if a is None or b is None:
        return a is None and b is None
    return same(a, b)


def differs(a: Value, b: Value) -> bool:
    """Return whether two values are not equal; those that cannot be compared differ."""
    return equal(a, b) is not True


def same(a: Value, b: Value) -> bool | Failure:
    """Return what the Equal method of a value's Go type says; that of an opaque one fails on another type."""
    kind = a.__class__
    if kind is str or kind is bytes or kind is bool:
        return b.__class__ is kind and bool(a == b)
    if kind in _NUMBERS:
        return b.__class__ in _NUMBERS and _order(a, b) == 0
    if kind is list or kind is Mutable:
        if not isinstance(b, list) or len(a) != len(b):
            return False
        # As in cel-go only a false makes lists unequal: a comparison that fails counts as equal.
        return all(equal(x, y) is not False for x, y in zip(a, b, strict=True))
    if kind is Map:
        return b.__class__ is Map and len(a) == len(b) and all(_same_entry(key, a, b) for key in a)
    if kind is Duration or kind is Timestamp:
        return b.__class__ is kind and bool(a.nanoseconds == b.nanoseconds)
    if kind is TypeValue:
        return b.__class__ is kind and bool(a.name == b.name)
    if kind is Optional:
        if b.__class__ is not Optional or not a.is_present or not b.is_present:
            return b.__class__ is Optional and a.is_present == b.is_present
        return b.value is None if a.value is None else same(a.value, b.value)
    if kind is Failure:
        return a  # type: ignore[no-any-return]
    if a is None:
        return b is None
    return a.equals(b)  # type: ignore[no-any-return]


def _same_entry(key: Value, a: Map, b: Map) -> bool:
    theirs = b.find(key)
    return theirs is not MISSING and equal(a.find(key), theirs) is not False


_ORDERED = frozenset((bool, bytes, float, Duration, int, str, Timestamp, Uint))


def is_ordered(value: Value) -> bool:
    """Return whether values of this type have an order."""
    return value.__class__ in _ORDERED


def compare(a: Value, b: Value) -> int | Failure:
    """Return -1, 0 or 1 as `a`, which has an order, is less than, equal to or greater than `b`."""
    kind = a.__class__
    if kind in _NUMBERS:
        if kind is float and math.isnan(a):
            return Failure("NaN values cannot be ordered")
        if b.__class__ not in _NUMBERS:
            return failure_or_no_overload(b)
        if b.__class__ is float and math.isnan(b):
            return Failure("NaN values cannot be ordered")
        return _order(a, b)
    if b.__class__ is not kind:
        return failure_or_no_overload(b)
    if kind is Duration or kind is Timestamp:
        a, b = a.nanoseconds, b.nanoseconds
    # Go orders strings by their bytes of UTF-8, which is the order of code points, and so Python's.
    return int(a > b) - int(a < b)


def _order(a: Any, b: Any) -> int:
    """Compare two numbers; an integer meets a double as a double, unless that one is beyond its range.

    2 stands for "not comparable" (NaN), which equals nothing.
    """
    if a.__class__ is float or b.__class__ is float:
        if a != a or b != b:
            return 2
        if a.__class__ is not float:
            return -_order_double(b, a)
        if b.__class__ is not float:
            return _order_double(a, b)
    return int(a > b) - int(a < b)


def _order_double(a: float, b: Any) -> int:
    least, most = (0, MAX_UINT64) if b.__class__ is Uint else (MIN_INT64, MAX_INT64)
    if a < float(least):
        return -1
    if a > float(most):
        return 1
    b = float(b)
    return int(a > b) - int(a < b)


# --- How Go prints ------------------------------------------------------------------------------------------------


_EXPONENT_FROM = 6


def go_float(value: float) -> str:
    """Return a double as Go's %g prints it: shortest, with an exponent below -4 and beyond six digits."""
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    digits, exponent = _shortest(value)
    sign = "-" if math.copysign(1, value) < 0 else ""
    if digits == "0":
        return sign + "0"
    if exponent < -4 or exponent >= _EXPONENT_FROM:
        mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
        return f"{sign}{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    return sign + _positional(digits, exponent)


def go_fixed(value: float) -> str:
    """Return a double as Go prints it shortest without an exponent."""
    if value != value or math.isinf(value):
        return go_float(value)
    digits, exponent = _shortest(value)
    return ("-" if math.copysign(1, value) < 0 else "") + _positional(digits, exponent)


def _shortest(value: float) -> tuple[str, int]:
    """Return the digits that identify a double, and the power of ten of the first."""
    if value == 0:
        return "0", 0
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    return digits.rstrip("0") or "0", len(whole) - 1 - leading + int(exponent or 0)


def _positional(digits: str, exponent: int) -> str:
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    fraction = digits[exponent + 1 :]
    return whole + ("." + fraction if fraction else "")


_ESCAPES = {7: "\\a", 8: "\\b", 12: "\\f", 10: "\\n", 13: "\\r", 9: "\\t", 11: "\\v", 92: "\\\\", 34: '\\"'}


def go_quoted(text: str) -> str:
    """Return a string as Go quotes it."""
    parts = []
    for c in text:
        code = ord(c)
        if code in _ESCAPES:
            parts.append(_ESCAPES[code])
        elif c.isprintable() and (code < 0x80 or c != "\u00a0"):
            parts.append(c)
        elif code < 0x20 or code == 0x7F:
            parts.append(f"\\x{code:02x}")
        else:
            parts.append(f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
    return '"' + "".join(parts) + '"'


_GO_NAMES: dict[type, str] = {
    bool: "types.Bool",
    int: "types.Int",
    Uint: "types.Uint",
    float: "types.Double",
    str: "types.String",
    bytes: "types.Bytes",
    type(None): "types.Null",
    list: "*types.baseList",
    Mutable: "*types.mutableList",
    Map: "*types.baseMap",
    Optional: "*types.Optional",
    Duration: "types.Duration",
    Timestamp: "types.Timestamp",
    TypeValue: "*types.Type",
    Failure: "*types.Err",
}


def go_type(value: Value) -> str:
    """Return the name of the type that kube-scheduler keeps a value in, which some errors show."""
    if isinstance(value, Opaque):
        return value.go_type
    if value.__class__ is Map and value.native:
        return value.native
    return _GO_NAMES[value.__class__]


def format_value(value: Value) -> str:
    """Return a value as error messages show it."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return go_float(value)
        case None:
            return "NULL_VALUE"
        case list():
            return "[" + ", ".join(map(format_value, value)) + "]"
        case Map():
            return "{" + ", ".join(f"{format_value(key)}: {format_value(value.find(key))}" for key in value) + "}"
        case bytes():
            return "[" + " ".join(map(str, value)) + "]"
        case Optional():
            return f"optional({format_value(value.value)})" if value.is_present else "optional.none()"
        case TypeValue():
            return value.name
        case Failure():
            return value.text
        case _:
            return str(value)

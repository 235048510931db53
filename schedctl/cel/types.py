"""Types as the type-checker knows them, and when one stands for another.

Types print as CEL prints them, for they appear in compile errors. A type parameter stands for a type yet to be found;
what it was found to be is kept in a `Bindings`, which every successful comparison may refine.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple


class Kind(Enum):
    """What a type is at the top; parameters and names come on top of it."""

    DYN = "dyn"
    BOOL = "bool"
    BYTES = "bytes"
    DOUBLE = "double"
    DURATION = "google.protobuf.Duration"
    ERROR = "error"
    INT = "int"
    LIST = "list"
    MAP = "map"
    NULL = "null_type"
    OPAQUE = "opaque"
    STRING = "string"
    STRUCT = "struct"
    TIMESTAMP = "google.protobuf.Timestamp"
    TYPE = "type"
    PARAMETER = "parameter"
    UINT = "uint"


class Type(NamedTuple):
    """A type: its kind, its name without parameters, and its parameters."""

    kind: Kind
    name: str
    parameters: tuple[Type, ...] = ()

    @property
    def is_dynamic(self) -> bool:
        """Whether anything may be of this type, or nothing is known because of an earlier error."""
        return self.kind is Kind.DYN or self.kind is Kind.ERROR

    def __str__(self) -> str:
        """Return the type as compile errors name it."""
        if self.kind in _SHORT_NAMES:
            return _SHORT_NAMES[self.kind]
        if not self.parameters:
            return self.name
        return f"{self.name}({', '.join(map(str, self.parameters))})"

    @property
    def full_name(self) -> str:
        """The type as the check of a selector's result names it: with the long names."""
        if self.kind is Kind.PARAMETER:
            return f"<{self.name}>"
        if not self.parameters:
            return self.name
        return f"{self.name}({', '.join(p.full_name for p in self.parameters)})"


_SHORT_NAMES = {
    Kind.DURATION: "duration",
    Kind.ERROR: "!error!",
    Kind.NULL: "null",
    Kind.TIMESTAMP: "timestamp",
}
_BY_NAME = {kind.value: Type(kind, kind.value) for kind in Kind}

DYN = _BY_NAME["dyn"]
BOOL = _BY_NAME["bool"]
BYTES = _BY_NAME["bytes"]
DOUBLE = _BY_NAME["double"]
DURATION = _BY_NAME["google.protobuf.Duration"]
ERROR = _BY_NAME["error"]
INT = _BY_NAME["int"]
NULL = _BY_NAME["null_type"]
STRING = _BY_NAME["string"]
TIMESTAMP = _BY_NAME["google.protobuf.Timestamp"]
TYPE = _BY_NAME["type"]
UINT = _BY_NAME["uint"]


def list_of(element: Type) -> Type:
    """Return the type of lists of `element`."""
    return Type(Kind.LIST, "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """Return the type of maps from `key` to `value`."""
    return Type(Kind.MAP, "map", (key, value))


def optional_of(value: Type) -> Type:
    """Return the type of an optional `value`."""
    return Type(Kind.OPAQUE, "optional_type", (value,))


def type_of(named: Type) -> Type:
    """Return the type of the type `named` as a value."""
    return Type(Kind.TYPE, "type", (named,))


def parameter(name: str) -> Type:
    """Return the type parameter of that name."""
    return Type(Kind.PARAMETER, name)


def struct(name: str) -> Type:
    """Return the message type of that name."""
    return Type(Kind.STRUCT, name)


def unwrap_optional(type_: Type) -> tuple[Type, bool]:
    """Return the type an optional is of, and True; any other type as it is, and False."""
    if type_.kind is Kind.OPAQUE and type_.name == "optional_type":
        return type_.parameters[0], True
    return type_, False


class Bindings(dict[str, Type]):
    """What type parameters were found to be, by the parameter's name."""

    def resolve(self, type_: Type, *, free_is_dyn: bool = False) -> Type:
        """Return the type with every bound parameter replaced, unbound ones by dyn if so wished."""
        if type_.kind is Kind.PARAMETER:
            bound = self.get(type_.name)
            if bound is not None:
                return self.resolve(bound, free_is_dyn=free_is_dyn)
            return DYN if free_is_dyn else type_
        if not type_.parameters:
            return type_
        return type_._replace(parameters=tuple(self.resolve(p, free_is_dyn=free_is_dyn) for p in type_.parameters))

    def accept(self, left: Sequence[Type], right: Sequence[Type]) -> bool:
        """Return whether each type on the left can stand where the right one is asked; remembers what that implies."""
        trial = _Trial(self)
        if len(left) != len(right) or not all(_assignable(trial, a, b) for a, b in zip(left, right, strict=True)):
            return False
        self.update(trial)
        return True


class _Trial(Bindings):
    """What would be added to bindings, which grow too long to copy for every call of a long expression."""

    def __init__(self, settled: Bindings) -> None:
        super().__init__()
        self._settled = settled

    def get(self, name: str, default: Any = None) -> Any:
        """Return what a parameter was found to be, in the trial or before it."""
        return super().get(name) or self._settled.get(name, default)


def most_general(a: Type, b: Type) -> Type:
    """Return the less specific of two types that fit each other."""
    return a if _no_more_specific(a, b) else b


def _no_more_specific(a: Type, b: Type) -> bool:
    if a.kind is Kind.DYN or a.kind is Kind.PARAMETER:
        return True
    if b.kind is Kind.DYN or b.kind is Kind.PARAMETER or a.kind is not b.kind:
        return False
    if a.kind is Kind.TYPE:
        return True
    if a.kind in (Kind.OPAQUE, Kind.LIST, Kind.MAP):
        return (
            a.name == b.name
            and len(a.parameters) == len(b.parameters)
            and all(map(_no_more_specific, a.parameters, b.parameters))
        )
    return a == b


_NULLABLE = frozenset((Kind.OPAQUE, Kind.STRUCT, Kind.DURATION, Kind.TIMESTAMP, Kind.NULL))


def _assignable(bindings: Bindings, a: Type, b: Type) -> bool:
    if b.kind is Kind.PARAMETER:
        valid, bound = _substitutes(bindings, a, b)
        # A free parameter that cannot stand for `a` may still be what `a`, itself a parameter, stands for.
        if valid or bound:
            return valid
    if a.kind is Kind.PARAMETER:
        return _substitutes(bindings, b, a)[0]
    if a.is_dynamic or b.is_dynamic:
        return True
    if a.kind is Kind.NULL or b.kind is Kind.NULL:
        return (b if a.kind is Kind.NULL else a).kind in _NULLABLE
    if a.kind is Kind.TYPE:
        return b.kind is Kind.TYPE
    if a.kind in (Kind.OPAQUE, Kind.LIST, Kind.MAP):
        return (
            a.kind is b.kind
            and a.name == b.name
            and len(a.parameters) == len(b.parameters)
            and all(_assignable(bindings, x, y) for x, y in zip(a.parameters, b.parameters, strict=True))
        )
    return a == b


def _substitutes(bindings: Bindings, a: Type, b: Type) -> tuple[bool, bool]:
    """Return whether `a` may stand for the parameter `b`, and whether `b` was bound already."""
    if a == b:
        return True, True
    bound = bindings.get(b.name)
    if bound is not None:
        if a == bound:
            return True, True
        if not _assignable(bindings, a, bound):
            return False, True
        general = most_general(a, bound)
        if _free_of(bindings, b, general):
            bindings[b.name] = general
        return True, True
    if _free_of(bindings, b, a):
        bindings[b.name] = a
        return True, False
    return False, False


def _free_of(bindings: Bindings, sought: Type, within: Type) -> bool:
    if within == sought:
        return False
    if within.kind is Kind.PARAMETER:
        bound = bindings.get(within.name)
        return bound is None or _free_of(bindings, sought, bound)
    return all(_free_of(bindings, sought, p) for p in within.parameters)

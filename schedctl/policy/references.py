"""Which arguments of built-in checks name something in the cluster: `schedctl.policy.documents` declares it by field.

`schedctl.policy.unknown_names` asks the cluster whether what is named is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import Annotated, Any, NamedTuple, get_args, get_origin

import msgspec


class RefersTo(Enum):
    """What a field names; ``Annotated`` with it, the field is looked up in the cluster before anything is judged."""

    LABEL_KEY = "the key of a label of nodes"
    NODE_LABELS = "labels that a node has"
    TAINT = "a taint of nodes"
    RESOURCE = "a resource that nodes offer"
    WORKLOAD = "a pod or workload"


class Reference(NamedTuple):
    """A field that is given, and what it names.

    Attributes:
        field: as it is written in a policy, e.g. ``must.nodeSelector``.
        to: what kind of thing it names.
        value: the name, or a mapping of names.
    """

    field: str
    to: RefersTo
    value: Any


def references(arguments: msgspec.Struct, prefix: str = "") -> Iterator[Reference]:
    """Yield what arguments name, those of nested structs included; what is not given names nothing."""
    for attribute, field, to in _fields(type(arguments)):
        value = getattr(arguments, attribute)
        if isinstance(value, msgspec.Struct):
            yield from references(value, f"{prefix}{field}.")
        elif to is not None and value:
            yield Reference(f"{prefix}{field}", to, value)


class Taint(NamedTuple):
    """A taint as a policy names it: None and "" stand for any value and any effect."""

    key: str
    value: str | None
    effect: str

    @classmethod
    def parse(cls, text: str) -> Taint:
        """Return the taint of ``KEY``, ``KEY=VALUE``, ``KEY:EFFECT`` or ``KEY=VALUE:EFFECT``."""
        left, _, effect = text.partition(":")
        key, equals, value = left.partition("=")
        return cls(key, value if equals else None, effect)

    def matches(self, key: str, value: str | None, effect: str) -> bool:
        """Return whether a taint of a node is the one that is named."""
        return key == self.key and self.value in (None, value or "") and self.effect in ("", effect)


@cache
def _fields(struct: type[msgspec.Struct]) -> list[tuple[str, str, RefersTo | None]]:
    """Return attribute, name in files and what is named, of each field."""
    return [
        (info.name, info.encode_name, next((mark for mark in _marks(info.type) if isinstance(mark, RefersTo)), None))
        for info in msgspec.structs.fields(struct)
    ]


def _marks(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) is Annotated:
        yield from annotation.__metadata__
    else:
        for part in get_args(annotation):
            yield from _marks(part)

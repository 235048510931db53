"""The attributes and capacities that a device selector names, read off its text for explanations.

A name that no device has makes a selector fail or refuse everywhere, and the error says so of one device only. Names
are found where they are written down, as in ``device.attributes["domain"].name``; one that is worked out, or reached
through a variable, is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from schedctl.cel.syntax import Node

ATTRIBUTES, CAPACITY = "attributes", "capacity"


class Named(NamedTuple):
    """An attribute or a capacity, by its name.

    Attributes:
        kind: ``attributes`` or ``capacity``.
        domain: where it is from.
        name: its name there.
    """

    kind: str
    domain: str
    name: str


def names_in(expression: str) -> tuple[Named, ...]:
    """Return what a selector names, each once; nothing where the text is no expression."""
    from schedctl.cel.errors import CompileError, Unsupported
    from schedctl.cel.parsing import parse
    from schedctl.cel.syntax import Source

    try:
        return tuple(dict.fromkeys(_names(parse(Source(expression)))))
    except (CompileError, Unsupported, RecursionError):
        return ()


def _names(node: Node) -> Iterator[Named]:
    of, name = _step(node)
    collection, domain = _step(of)
    device, kind = _step(collection)
    if name and domain and kind in (ATTRIBUTES, CAPACITY) and getattr(device, "name", "") == "device":
        yield Named(kind, domain, name)
    for child in node.children():
        yield from _names(child)


def _step(node: Node | None) -> tuple[Node | None, str]:
    """Return what a field or an index is taken of, and its name; nothing where it is neither."""
    from schedctl.cel.syntax import Call, Literal, Select

    match node:
        case Select():
            return node.operand, node.field
        case Call(function="_[_]" | "_[?_]" | "_?._", arguments=[of, Literal(value=str() as name)]):
            return of, name
    return None, ""

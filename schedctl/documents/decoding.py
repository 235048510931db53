"""Tree to structs: every unknown, repeated or ill-typed field becomes a problem, and decoding goes on.

The types themselves are the schema, and values mean what Go's decoder makes of them. Where a value cannot be used its
field keeps the default, so that later checks still run; `Decoder.spoilt` tells which of their findings are mere
consequences.
"""

from __future__ import annotations

import base64
import json
import types
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

import msgspec

from schedctl.api.durations import Duration
from schedctl.api.quantities import MAX_INT64
from schedctl.documents.fields import ZERO_IS_ABSENT
from schedctl.documents.spelling import did_you_mean
from schedctl.documents.trees import Node
from schedctl.errors import Problem

T = TypeVar("T", bound=msgspec.Struct)

_LARGEST_FLOAT32: Final = float.fromhex("0x1.ffffffp+127")  # halfway to 2**128: what is below rounds to a float32
_SHOWN: Final = 60
"""How many characters of a text a problem quotes."""
_EXPECTED: Final[dict[Any, str]] = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "text",
    bytes: "base64 text",
    Duration: 'a duration such as "15s"',
    list: "a list",
    tuple: "a list",
    dict: "a mapping",
}


_QUOTED: Final = "write it in quotes; YAML reads y, n, yes, no, on and off without quotes as true or false"
"""The hint for a text that was read as something else."""


class _Absent(Exception):
    """The field counts as not given."""


class _Unusable(Exception):
    """The value at hand has been reported and cannot be used."""


class Decoder(msgspec.Struct):
    """One decoding of one document.

    Attributes:
        problems: what was found, in the order of the document.
        places: line and column of every value that is not null, by path.
        spoilt: paths whose value could not be used.
    """

    problems: list[Problem] = msgspec.field(default_factory=list)
    places: dict[str, tuple[int, int]] = msgspec.field(default_factory=dict)
    spoilt: set[str] = msgspec.field(default_factory=set)

    def see(self, node: Node, path: str) -> None:
        """Remember where a value stands."""
        if node.value is not None:
            self.places[path] = (node.line, node.column)

    def report(self, node: Node, path: str, message: str, hint: str = "") -> None:
        """Add a problem at a node."""
        self.problems.append(Problem(message, line=node.line, column=node.column, path=path, hint=hint))

    def struct(self, node: Node, kind: type[T], path: str = "", also: tuple[str, ...] = ()) -> T:
        """Return a struct from a mapping; null, and a value that had to be reported, make an empty one.

        Args:
            node: what is written.
            kind: the struct, whose field types are the schema; a field without a default gets its zero value.
            path: the node's path, "" for the document.
            also: names of fields that are allowed but not kept.
        """
        schema = _schema(kind)
        values = {name: one.zero() for name, one in schema.values() if one.required}
        for name, key, child, where in self.entries(node, path):
            if name in schema:
                attribute, expected = schema[name]
                try:
                    values[attribute] = self.value(child, expected, where)
                except _Absent:
                    pass
                except _Unusable:
                    self.spoilt.add(where)
            elif name not in also:
                known = (*schema, *also)
                hint = did_you_mean(name, known) if known else "no field is expected here"
                self.report(key, where, f'unknown field "{name}"', hint)
        try:
            return kind(**values)
        except ValueError as wrong:  # what the struct itself demands of its fields
            self.report(node, path, str(wrong))
            self.spoilt.add(path)
            return kind(**{name: one.zero() for name, one in schema.values() if one.required})

    def entries(self, node: Node, path: str) -> Iterator[tuple[str, Node, Node, str]]:
        """Yield name, key, value and path of the entries of a mapping; report anything else, and repeated names."""
        if not node.is_mapping:
            if node.value is not None:
                self.report(node, path, f"expected a mapping, got {describe(node)}")
                self.spoilt.add(path)
            return
        seen: set[str] = set()
        for key, value in node.value:
            where = f"{path}.{key.value}" if path else key.value
            if key.value in seen:
                self.report(key, where, f'duplicate field "{key.value}"')
            seen.add(key.value)
            self.see(value, where)
            yield key.value, key, value, where

    def value(self, node: Node, kind: _Kind, path: str) -> Any:
        """Return what a node means as the value of a field.

        Raises:
            _Absent: for all Kubernetes can tell the field is not there.
            _Unusable: the value was reported.
        """
        if node.value is None and not kind.refuses_null:
            raise _Absent  # to Go, null leaves a field as it is
        value = self.present(node, kind, path)
        if kind.zero_is_absent and not value:
            raise _Absent
        return value

    def present(self, node: Node, kind: _Kind, path: str) -> Any:
        """Return what a node means, null not being looked for; as `value`."""
        if kind.bare is Any:
            return node
        if kind.struct is not None and node.is_mapping:
            return self.struct(node, kind.struct, path)
        if kind.bare in (tuple, list) and node.is_list:
            return kind.bare(self.elements(node, kind.element, path))
        if kind.bare is dict and node.is_mapping:
            return dict(self.pairs(node, kind.element, path))
        return self.scalar(node, kind, path)

    def elements(self, node: Node, kind: _Kind, path: str) -> Iterator[Any]:
        """Yield the elements of a list; null and unusable ones as zero values, so that indices stay."""
        for index, child in enumerate(node.value):
            where = f"{path}[{index}]"
            self.see(child, where)
            yield self.element(child, kind, where)

    def pairs(self, node: Node, kind: _Kind, path: str) -> Iterator[tuple[str, Any]]:
        """Yield the pairs of a free mapping."""
        for name, _, child, where in self.entries(node, path):
            yield name, self.element(child, kind, where)

    def element(self, node: Node, kind: _Kind, path: str) -> Any:
        """Return an element of a list or free mapping, its zero value for null and for what cannot be used."""
        if node.value is not None:
            try:
                return self.present(node, kind, path)
            except _Unusable:
                self.spoilt.add(path)
        return kind.zero()

    def scalar(self, node: Node, kind: _Kind, path: str) -> Any:
        """Return a bool, number, text, bytes or `Duration`."""
        value, bare = node.value, kind.bare
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if bare is bool and isinstance(value, bool):
            return value
        if bare is int and number and isinstance(value, int):
            if not kind.least <= value <= kind.most:
                raise self.refusal(node, path, f"{value} is not between {kind.least} and {kind.most}")
            return value
        if bare is float and number:
            if not abs(value) < _LARGEST_FLOAT32:
                raise self.refusal(node, path, f"{value} does not fit a 32-bit float")
            return float(value)
        if bare is str and isinstance(value, str):
            return value
        if bare is bytes and isinstance(value, str):
            try:  # Go skips line breaks in base64, and nothing else
                return base64.b64decode(value.replace("\r", "").replace("\n", ""), validate=True)
            except ValueError:
                raise self.refusal(node, path, "expected base64 text") from None
        if bare is Duration and (
            value is None or isinstance(value, str)
        ):  # null comes here as "", which is no duration
            try:
                return Duration.parse(value or "")
            except ValueError as error:
                raise self.refusal(node, path, str(error), 'write numbers with units, e.g. "15s" or "1m30s"') from None
        hint = _QUOTED if bare is str and isinstance(value, bool) else ""
        raise self.refusal(node, path, f"expected {_EXPECTED.get(bare, 'a mapping')}, got {describe(node)}", hint)

    def free(self, node: Node, path: str) -> Any:
        """Return plain JSON values of something that has no schema; of a repeated name the last value stands."""
        if node.is_mapping:
            return {name: self.free(child, where) for name, _, child, where in self.entries(node, path)}
        if node.is_list:
            return [self.free(child, f"{path}[{index}]") for index, child in enumerate(node.value)]
        return node.value

    def refusal(self, node: Node, path: str, message: str, hint: str = "") -> _Unusable:
        """Report a value that cannot be used; the caller raises what this returns."""
        self.report(node, path, message, hint)
        return _Unusable()


class _Kind(msgspec.Struct, frozen=True):
    """What a field's type says, taken apart.

    Attributes:
        bare: the type without annotations, parameters and None.
        arguments: the parameters of a list or mapping.
        zero_is_absent: whether a zero value is replaced by the default.
        least: the smallest integer allowed.
        most: the largest.
        required: whether the struct has no default for the field.
    """

    bare: Any
    arguments: tuple[Any, ...]
    zero_is_absent: bool
    least: int
    most: int
    required: bool = False

    @property
    def struct(self) -> type[msgspec.Struct] | None:
        """The struct, where it is one."""
        return self.bare if isinstance(self.bare, type) and issubclass(self.bare, msgspec.Struct) else None

    @property
    def element(self) -> _Kind:
        """What a list or mapping holds."""
        return _kind(self.arguments[-1 if self.bare is dict else 0])

    @property
    def refuses_null(self) -> bool:
        """Whether null is an error: Go hands it to a duration that is no pointer, which cannot parse it."""
        return self.bare is Duration and self.zero_is_absent

    def zero(self) -> Any:
        """Return Go's zero value; of a struct, one in which nothing is written."""
        return Decoder().struct(Node(None, 0, 0), self.struct) if self.struct else self.bare()


@cache
def _schema(struct: type[msgspec.Struct]) -> dict[str, tuple[str, _Kind]]:
    """Return attribute and type of every field by its name in files."""
    return {
        info.encode_name: (info.name, _kind(info.type, required=info.required))
        for info in msgspec.structs.fields(struct)
    }


def _kind(annotation: Any, required: bool = False) -> _Kind:
    # `X | None` is X: whether a field may be absent shows in its default
    optional = get_origin(annotation) in (Union, types.UnionType)
    bare = next(one for one in get_args(annotation) if one is not type(None)) if optional else annotation
    marks: tuple[Any, ...] = getattr(bare, "__metadata__", ())
    if get_origin(bare) is Annotated:
        bare = get_args(bare)[0]
    if get_origin(bare) is Literal:
        bare = str  # which words it takes is for later checks to say
    bounds = next((mark for mark in marks if isinstance(mark, msgspec.Meta)), msgspec.Meta())
    return _Kind(
        bare=get_origin(bare) or bare,
        arguments=get_args(bare),
        zero_is_absent=ZERO_IS_ABSENT in marks,
        least=-MAX_INT64 - 1 if bounds.ge is None else int(bounds.ge),
        most=MAX_INT64 if bounds.le is None else int(bounds.le),
        required=required,
    )


def describe(node: Node) -> str:
    """Return what a node holds, for a message: ``text "x"``, ``the number 5``, ``true``, ``a list``."""
    if node.is_mapping or node.is_list:
        return "a mapping" if node.is_mapping else "a list"
    if isinstance(node.value, bool) or node.value is None:
        return {True: "true", False: "false", None: "null"}[node.value]
    if not isinstance(node.value, str):
        return f"the number {node.value}"
    shown = node.value if len(node.value) <= _SHOWN else f"{node.value[:_SHOWN]}…"
    return f"text {json.dumps(shown, ensure_ascii=False)}"

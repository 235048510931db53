"""What is checked of literals once the types fit: dates, patterns, mixed lists and maps, templates of ``format``."""

from __future__ import annotations

from collections.abc import Callable

from schedctl.cel import formatting, syntax
from schedctl.cel.conversions import string_to_duration, string_to_timestamp
from schedctl.cel.errors import CompileError, Problem, Unsupported
from schedctl.cel.formatting import Clause, FormatError
from schedctl.cel.patterns import PatternError, compile_pattern
from schedctl.cel.times import timestamp_of_seconds
from schedctl.cel.types import Kind, Type
from schedctl.cel.values import Failure, Value


def validate(root: syntax.Node, source: syntax.Source) -> None:
    """Check the literals of a typed tree.

    Raises:
        CompileError: some are not valid, with all of them.
    """
    validator = _Validator(source)
    validator.visit(root, in_format=False)
    if validator.problems:
        raise CompileError(validator.problems)


def _bad_duration(value: Value) -> bool:
    return value is None or (isinstance(value, str) and isinstance(string_to_duration(value), Failure))


def _bad_timestamp(value: Value) -> bool:
    if isinstance(value, str):
        return isinstance(string_to_timestamp(value), Failure)
    return value is None or (isinstance(value, int) and isinstance(timestamp_of_seconds(value), Failure))


def _bad_pattern(value: Value) -> bool:
    return isinstance(value, str) and isinstance(compile_pattern(value), PatternError)


_ARGUMENTS: dict[str, Callable[[Value], bool]] = {
    "duration": _bad_duration,
    "timestamp": _bad_timestamp,
    "matches": _bad_pattern,
}
"""What is wrong with a literal that is the first argument in parentheses."""


class _Validator:
    def __init__(self, source: syntax.Source) -> None:
        self._source = source
        self.problems: list[Problem] = []

    def visit(self, node: syntax.Node, *, in_format: bool) -> None:
        """Check a node and everything inside; mixed literals are allowed inside calls of ``format``."""
        inside = in_format or (isinstance(node, syntax.Call) and node.function == "format")
        for child in node.children():
            self.visit(child, in_format=inside)
        match node:
            case syntax.Call():
                self._call(node)
            case syntax.ListOf() if not in_format:
                self._list(node)
            case syntax.MapOf() if not in_format:
                self._map(node)

    def _report(self, node: syntax.Node, text: str) -> None:
        self.problems.append(self._source.problem(node.position, text))

    def _call(self, call: syntax.Call) -> None:
        is_bad = _ARGUMENTS.get(call.function)
        if (
            is_bad
            and call.arguments
            and isinstance(call.arguments[0], syntax.Literal)
            and is_bad(call.arguments[0].value)
        ):
            self._report(call.arguments[0], f"invalid {call.function} argument")
        if call.function == "format" and call.target is not None:
            self._format(call)

    def _format(self, call: syntax.Call) -> None:
        template, (arguments,) = call.target, call.arguments
        if not isinstance(template, syntax.Literal) or not isinstance(template.value, str):
            return
        if not isinstance(arguments, syntax.ListOf):
            return
        elements = iter(arguments.elements)
        used = 0
        try:
            for part in formatting.clauses(template.value, len(arguments.elements)):
                if isinstance(part, Clause):
                    used += 1
                    bad = _unfit(part, next(elements))
                    if bad is not None:
                        self._report(bad, str(formatting.unfit(part, bad.type.name)))
                        return
        except FormatError as error:
            self._report(call, str(error))
            return
        got = len(arguments.elements)
        if got > used:
            counts = f"(expected {used}, got {got})"
            self._report(call, f"too many arguments supplied to string.format {counts}")

    def _list(self, node: syntax.ListOf) -> None:
        expected: Type | None = None
        for index, element in enumerate(node.elements):
            found = _present(element) if index in node.optional else element.type
            if expected is None:
                expected = found
            elif found != expected:
                self._mismatch(element, expected, found)
                return

    def _map(self, node: syntax.MapOf) -> None:
        first: tuple[Type, Type] | None = None
        for entry in node.entries:
            found = (entry.key.type, _present(entry.value) if entry.optional else entry.value.type)
            if first is None:
                first = found
            for which, expected, actual in zip((entry.key, entry.value), first, found, strict=True):
                if actual != expected:
                    self._mismatch(which, expected, actual)

    def _mismatch(self, node: syntax.Node, expected: Type, found: Type) -> None:
        self._report(node, f"expected type '{expected}' but found '{found}'")


_SHOWN = frozenset(
    (
        *(Kind.LIST, Kind.MAP, Kind.INT, Kind.UINT, Kind.DOUBLE, Kind.BOOL, Kind.STRING, Kind.TIMESTAMP, Kind.BYTES),
        *(Kind.DURATION, Kind.TYPE, Kind.NULL),
    )
)
_FIT: dict[str, frozenset[Kind]] = {
    "s": _SHOWN,
    "d": frozenset((Kind.INT, Kind.UINT)),
    "f": frozenset((Kind.DOUBLE, Kind.STRING)),
    "e": frozenset((Kind.DOUBLE, Kind.STRING)),
    "b": frozenset((Kind.INT, Kind.UINT, Kind.BOOL)),
    "x": frozenset((Kind.INT, Kind.UINT, Kind.STRING, Kind.BYTES)),
    "o": frozenset((Kind.INT, Kind.UINT)),
}


def _present(node: syntax.Node) -> Type:
    """Return the type of what an optional element is if it is there.

    Raises:
        Unsupported: the type is unknown, which kube-scheduler does not survive.
    """
    if not node.type.parameters:
        raise Unsupported("expressions on which kube-scheduler crashes", detail="an optional of type dyn")
    return node.type.parameters[0]


def _unfit(clause: Clause, node: syntax.Node) -> syntax.Node | None:
    """Return the argument, or the part of it, that a clause cannot print."""
    if node.type.kind is not Kind.DYN and node.type.kind not in _FIT[clause.letter.lower()]:
        return node
    if clause.letter == "s" and isinstance(node, syntax.ListOf | syntax.MapOf):
        return next((bad for child in node.children() if (bad := _unfit(clause, child))), None)
    return None

"""The tree of an expression, and the text it was written as; `parsing` makes it, the other stages read it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from typing_extensions import override

from schedctl.cel.errors import Problem
from schedctl.cel.types import DYN, Type
from schedctl.cel.values import Value

STAND_INS = {"optMap": "opt__p", "optFlatMap": "opt_latM_p"}
"""Names of the same length for macros whose misuse `macros` reports along with that of others."""
OPTIONAL_SELECT, OPTIONAL_INDEX = "_?._", "_[?_]"
_UP_TO_BRACE = re.compile(r"(?:[^{/]|//[^\n]*\n)*")
_ESCAPED = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})
_LARGEST_SNIPPET = 16384
_MOST_ERRORS = 100


class Source:
    """The text of an expression, by lines.

    Positions in a tree are offsets in code points; here they become the line and column that a message shows.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in self.lines)]

    def problem(self, position: int, text: str) -> Problem:
        """Return the problem at an offset."""
        line = bisect_right(self._starts, position)
        return Problem(line, position - self._starts[line - 1], text)

    def offset(self, problem: Problem) -> int:
        """Return the offset of a problem, 0 where it has no place."""
        if not 1 <= problem.line <= len(self.lines):
            return 0
        return self._starts[problem.line - 1] + max(problem.column, 0)

    def brace_after(self, position: int) -> int:
        """Return where the brace is that follows a name."""
        match = _UP_TO_BRACE.match(self.text, position)
        return match.end() if match else position

    def follows(self, line: int, column: int, text: str) -> bool:
        """Return whether a place comes right after a text, white space aside."""
        return self.text[: self._starts[line - 1] + column].rstrip().endswith(text)

    def text_at(self, line: int, column: int, shown: str) -> str:
        """Return the text at a place that reads as `shown` once its white space is escaped."""
        start = self._starts[line - 1] + column
        for end in range(start, min(start + len(shown), len(self.text)) + 1):
            text = self.text[start:end]
            if text.translate(_ESCAPED) == shown:
                return text
        return shown

    def render(self, problems: list[Problem]) -> str:
        """Return the problems as the user sees them, in the order of the text, at most a hundred."""
        shown = sorted(problems[:_MOST_ERRORS], key=lambda p: p[:2])
        texts = [self._render(problem) for problem in shown]
        if len(problems) > _MOST_ERRORS:
            texts.append(f"{len(problems) - _MOST_ERRORS} more errors were truncated")
        return "\n".join(texts)

    def _render(self, problem: Problem) -> str:
        head = f"ERROR: <input>:{problem.line}:{problem.column + 1}: {problem.text}"
        # Of an empty text there is nothing to show, although it has a first line.
        if not 1 <= problem.line <= len(self.lines) or not self.text:
            return head
        snippet = self.lines[problem.line - 1].replace("\t", " ")
        if len(snippet.encode(errors="surrogatepass")) > _LARGEST_SNIPPET:
            return head
        # Wide dots below wide characters, so that the mark stands below its place.
        dots = "".join("．" if ord(c) > 127 else "." for c in snippet[: max(problem.column, 0)])
        at = snippet[max(problem.column, 0) :][:1]
        return f"{head}\n | {snippet}\n | {dots}{'＾' if at > chr(127) else '^'}"


class Node:
    """An expression: where it starts, and, once checked, its type."""

    __slots__ = ("position", "type")

    def __init__(self, position: int) -> None:
        self.position = position
        self.type: Type = DYN

    def children(self) -> Iterator[Node]:
        """Yield the expressions directly inside, in the order of evaluation."""
        return iter(())


class Literal(Node):
    """A constant written down."""

    __slots__ = ("value",)

    def __init__(self, position: int, value: Value) -> None:
        super().__init__(position)
        self.value = value


class Ident(Node):
    """A name; with a leading dot it cannot mean a local variable."""

    __slots__ = ("name",)

    def __init__(self, position: int, name: str) -> None:
        super().__init__(position)
        self.name = name


class Select(Node):
    """A field of something, or (inside ``has``) whether it is there.

    Attributes:
        name: what the checker resolved the whole path to, e.g. a type's qualified name; "" when it is a field.
    """

    __slots__ = ("field", "name", "operand", "test_only")

    def __init__(self, position: int, operand: Node, field: str, test_only: bool = False) -> None:
        super().__init__(position)
        self.operand, self.field, self.test_only, self.name = operand, field, test_only, ""

    @override
    def children(self) -> Iterator[Node]:
        yield self.operand


class Call(Node):
    """A function or operator applied to arguments, after a dot to its target.

    Attributes:
        overloads: the ids of those that fit, once checked.
    """

    __slots__ = ("arguments", "function", "overloads", "target")

    def __init__(self, position: int, function: str, arguments: list[Node], target: Node | None = None) -> None:
        super().__init__(position)
        self.function, self.arguments, self.target = function, arguments, target
        self.overloads: list[str] = []

    @override
    def children(self) -> Iterator[Node]:
        if self.target is not None:
            yield self.target
        yield from self.arguments


class ListOf(Node):
    """A list written down; `optional` are the indices of elements that may be absent."""

    __slots__ = ("elements", "optional")

    def __init__(self, position: int, elements: list[Node], optional: frozenset[int] = frozenset()) -> None:
        super().__init__(position)
        self.elements, self.optional = elements, optional

    @override
    def children(self) -> Iterator[Node]:
        return iter(self.elements)


class Entry(NamedTuple):
    """An entry of a map written down."""

    key: Node
    value: Node
    optional: bool


class MapOf(Node):
    """A map written down."""

    __slots__ = ("entries",)

    def __init__(self, position: int, entries: list[Entry]) -> None:
        super().__init__(position)
        self.entries = entries

    @override
    def children(self) -> Iterator[Node]:
        for entry in self.entries:
            yield entry.key
            yield entry.value


class Message(Node):
    """A message written down, ``name{...}``."""

    __slots__ = ("name", "values")

    def __init__(self, position: int, name: str, values: list[Node]) -> None:
        super().__init__(position)
        self.name, self.values = name, values

    @override
    def children(self) -> Iterator[Node]:
        return iter(self.values)


class Fold(Node):
    """A loop over `range` that accumulates; every macro over lists and maps comes down to it.

    Attributes:
        variables: the one or two loop variables.
        accumulator: the name of the accumulated value, visible in `condition`, `step` and `result`.
    """

    __slots__ = ("accumulator", "condition", "initial", "range", "result", "step", "variables")

    def __init__(
        self,
        position: int,
        over: Node,
        variables: tuple[str, ...],
        accumulator: str,
        initial: Node,
        condition: Node,
        step: Node,
        result: Node,
    ) -> None:
        super().__init__(position)
        self.range, self.variables, self.accumulator = over, variables, accumulator
        self.initial, self.condition, self.step, self.result = initial, condition, step, result

    @override
    def children(self) -> Iterator[Node]:
        return iter((self.range, self.initial, self.condition, self.step, self.result))


def free_names(node: Node, bound: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the names that an expression reads and no loop in it has made, with the field that follows: ``a.b``.

    Args:
        node: the expression.
        bound: the names that loops around it have made.
    """
    match node:
        case Ident():
            return frozenset() if node.name in bound else frozenset((node.name.removeprefix("."),))
        case Select(operand=Ident(name=name)) if name not in bound:
            return frozenset((f"{name.removeprefix('.')}.{node.field}",))
        case Fold():
            inside = bound | {node.accumulator, *node.variables}
            outer = free_names(node.range, bound) | free_names(node.initial, bound)
            result = free_names(node.result, bound | {node.accumulator})
            return outer | result | free_names(node.condition, inside) | free_names(node.step, inside)
    return frozenset().union(*(free_names(child, bound) for child in node.children()))

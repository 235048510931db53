"""From text to syntax tree: cel-expr-python, Google's engine, parses; this module reads the tree it hands out.

The engine shares its grammar with the one that kube-scheduler uses, down to the wording of syntax errors, up to 32
levels of nesting and 12 errors, where it stops and we say so. It only parses: version 0.1.3 has no values of foreign
types, no two-variable comprehensions, no cost, and error texts of its own. Its tree is a protocol buffer,
`cel.expr.ParsedExpr`, which `_Reader` decodes: the few fields that matter do not warrant a dependency. Macros are left
alone here, except ``optMap`` and ``optFlatMap`` which the engine always expands.

Positions are offsets in code points; `Source` turns them into what a message shows.
"""

from __future__ import annotations

import math
import re
import struct
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

from schedctl.cel.errors import CompileError, Problem, Unsupported
from schedctl.cel.nesting import excess
from schedctl.cel.types import DYN, Type
from schedctl.cel.values import Uint, Value

STAND_INS = {"optMap": "opt__p", "optFlatMap": "opt_latM_p"}
"""Names of the same length for macros whose misuse `macros` reports along with that of others."""
OPTIONAL_SELECT, OPTIONAL_INDEX = "_?._", "_[?_]"
_UP_TO_BRACE = re.compile(r"(?:[^{/]|//[^\n]*\n)*")
_ESCAPED = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})
_LARGEST_SNIPPET = 16384
_MOST_ERRORS = 100
_LARGEST_EXPRESSION = 100_000


class Source:
    """The text of an expression, by lines."""

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
        if not 1 <= problem.line <= len(self.lines) or not self.text:
            return head
        snippet = self.lines[problem.line - 1].replace("\t", " ")
        if len(snippet.encode(errors="surrogatepass")) > _LARGEST_SNIPPET:
            return head
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

    def children(self) -> Iterator[Node]:
        """Yield the operand."""
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

    def children(self) -> Iterator[Node]:
        """Yield the target, then the arguments."""
        if self.target is not None:
            yield self.target
        yield from self.arguments


class ListOf(Node):
    """A list written down; `optional` are the indices of elements that may be absent."""

    __slots__ = ("elements", "optional")

    def __init__(self, position: int, elements: list[Node], optional: frozenset[int] = frozenset()) -> None:
        super().__init__(position)
        self.elements, self.optional = elements, optional

    def children(self) -> Iterator[Node]:
        """Yield the elements."""
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

    def children(self) -> Iterator[Node]:
        """Yield keys and values in turn."""
        for entry in self.entries:
            yield entry.key
            yield entry.value


class Message(Node):
    """A message written down, ``name{...}``."""

    __slots__ = ("name", "values")

    def __init__(self, position: int, name: str, values: list[Node]) -> None:
        super().__init__(position)
        self.name, self.values = name, values

    def children(self) -> Iterator[Node]:
        """Yield the values of the fields."""
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

    def children(self) -> Iterator[Node]:
        """Yield range, initial value, condition, step and result."""
        return iter((self.range, self.initial, self.condition, self.step, self.result))


def parse(source: Source) -> Node:
    """Return the syntax tree of an expression, macros not expanded.

    Raises:
        CompileError: it is not an expression.
        Unsupported: the engine cannot read it although kube-scheduler's could.
    """
    if len(source.text) > _LARGEST_EXPRESSION:
        size = f"size: {len(source.text)}, limit {_LARGEST_EXPRESSION}"
        raise CompileError([Problem(-1, -1, f"expression code point size exceeds limit: {size}")])
    try:
        parsed = _parse_with_engine(source.text)
    except RuntimeError as error:
        raise CompileError(_problems(str(error), source)) from None
    envelope = _fields(parsed)
    tree = _fields(envelope[2][0])
    positions = {}
    for entry in _fields(tree[3][0]).get(4, ()):
        pair = _fields(entry)
        positions[_int(pair, 1)] = _int(pair, 2)
    reader = _Reader(source, positions)
    root = reader.node(tree[2][0])
    if reader.problems:
        raise CompileError(reader.problems)
    return root


def _parse_with_engine(text: str) -> bytes:
    """Return the engine's tree.

    Where it stumbles over an ``optMap`` that it cannot expand, the tree has the call as it is; where the grammar is
    broken as well, the report has what is wrong with all macros.

    Raises:
        RuntimeError: the text is not an expression; the argument is the report.
    """
    if sum(map(text.count, STAND_INS)) > _FEW:
        _check_growth(text)
    try:
        return _tree(_engine(), text)
    except RuntimeError as error:
        if not _MISUSED.search(str(error)):
            _tree(_engine(macros=True), text)
            raise
    return _tree(_engine(), _hide_macros(text))


def _hide_macros(text: str) -> str:
    """Return the text with the macros that the engine always expands under names that are no macros."""
    for name, stand_in in STAND_INS.items():
        text = text.replace(name, stand_in)
    return text


_FEW, _MOST_NODES = 8, 20_000


def _check_growth(text: str) -> None:
    """See that the tree stays of a size: what ``optMap`` is called on is there twice once it is expanded.

    Raises:
        Unsupported: the tree would be too large, or it cannot be said how large it would be.
    """
    try:
        root = _fields(_fields(_tree(_engine(), _hide_macros(text)))[2][0])[2][0]
    except RuntimeError:
        size = _MOST_NODES + 1
    else:
        size = _expanded_size(_Reader(Source(text), {}).node(root))
    if size > _MOST_NODES:
        raise Unsupported("CEL expressions with very many nested macros")


def _expanded_size(node: Node) -> int:
    """Return how many nodes there are in a tree once its stand-ins are expanded."""
    sizes = [_expanded_size(child) for child in node.children()]
    doubled = isinstance(node, Call) and node.target is not None and node.function in STAND_INS.values()
    return 1 + sum(sizes) + (sizes[0] if doubled else 0)


_MISUSED = re.compile(r": opt(?:Flat)?Map\(\) variable name")


_TOO_DEEP = re.compile(
    r"^(CANCELLED: Expression recursion limit|(INVALID_ARGUMENT: )?ERROR: \S+ Exceeded max recursion depth)",
    re.MULTILINE,
)


def _tree(engine: Any, text: str) -> bytes:
    try:
        return bytes(engine.compile(text, disable_check=True).serialize())
    except RuntimeError as error:
        if _TOO_DEEP.search(str(error)):
            why = excess(text)
            if why:
                raise CompileError([Problem(-1, -1, why)]) from None
            raise Unsupported("CEL expressions nested more than 32 deep") from None
        raise


@cache
def _engine(*, macros: bool = False) -> Any:
    from cel_expr_python import cel  # type: ignore[import-untyped]

    features = f"stdlib:\n  disable_macros: {'false' if macros else 'true'}\n"
    return cel.NewEnv(
        config=cel.NewEnvConfigFromYaml(f"{features}extensions:\n  - name: optional\n  - name: bindings\n")
    )


_PROBLEM = re.compile(r"^ERROR: <input>:(-?\d+):(-?\d+): ", re.MULTILINE)
_SNIPPET = re.compile(r"\n \| [^\n]*\n \| [^\n]*\Z")
_RESERVED = re.compile("no viable alternative at input '.(true|false|null)'")
_UNREADABLE = "Syntax error: token recognition error at: '"
_REWORDED = {
    "invalid hex int literal": "invalid int literal",
    "invalid hex uint literal": "invalid uint literal",
    "has() argument must be a field selection": "invalid argument to has() macro",
    "cel.bind() variable name must be a simple identifier": "cel.bind() variable names must be simple identifiers",
    **dict.fromkeys(
        (f"{name}() variable name must be a simple identifier" for name in ("all", "exists", "exists_one")),
        "argument must be a simple name",
    ),
    **dict.fromkeys(
        (f"{name}() variable name must be a simple identifier" for name in ("map", "filter")),
        "argument is not an identifier",
    ),
}
_NO_NAME = re.compile(r"Syntax error: mismatched input '.*' expecting \{IDENTIFIER, ESC_IDENTIFIER\}")
_NO_PLACE = 4294967295
_SKIPPED = 256
"""Words that kube-scheduler's engine skips at most to get over an error."""


def _problems(report: str, source: Source) -> list[Problem]:
    """Read the engine's report back into problems, and word the few exceptions as kube-scheduler's engine does.

    Raises:
        Unsupported: the engine has no answer where the other one has.
    """
    report = report.removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]")
    marks = list(_PROBLEM.finditer(report))
    problems = []
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        line, column = int(mark[1]), int(mark[2]) - 1 - (not source.text)
        if line == _NO_PLACE:
            continue
        text = report[mark.end() : after.start() - 1 if after else len(report)]
        text = _reword(_SNIPPET.sub("", text), source, line, column)
        problems.append(Problem(line, column, text))
        if _NO_NAME.fullmatch(text) and source.follows(line, column, ".?"):
            problems.append(Problem(line, column, "unsupported ident kind"))
    if not problems:
        raise Unsupported("expressions that the CEL engine refuses as a whole", detail=report)
    if any(_gives_up(problem, source) for problem in problems):
        raise Unsupported("CEL expressions with very much text that is no CEL")
    # The grammar is wrong before anything else is, at the same place.
    return sorted(problems, key=lambda problem: not problem.text.startswith("Syntax error"))


def _gives_up(problem: Problem, source: Source) -> bool:
    """Return whether one of the two engines gives up reading, be it for many errors or for much text to skip."""
    if problem.text == "Syntax error: More than 12 parse errors.":
        return True
    if not problem.text.startswith(("Syntax error: mismatched", "Syntax error: no viable")):
        return False
    rest = "\n".join(source.text.split("\n")[problem.line - 1 :])[max(problem.column, 0) :]
    return len(rest) > _SKIPPED and len(re.findall(r"\w+|[^\w\s]", rest)) > _SKIPPED


def _reword(text: str, source: Source, line: int, column: int) -> str:
    if text.startswith(_UNREADABLE):
        shown = text[len(_UNREADABLE) : -1]
        return f"{_UNREADABLE}{source.text_at(line, column, shown)}'"
    if text.startswith(("Invalid string literal: ", "Invalid bytes literal: ")):
        if "must end with" in text:
            raise Unsupported("raw strings that end in a backslash")
        is_code_point = "is invalid" in text or "exceeds Unicode limit" in text
        return "invalid unicode code point" if is_code_point else "unable to unescape string"
    text = _RESERVED.sub(r"mismatched input '\1' expecting IDENTIFIER", text)
    return _REWORDED.get(text, text).replace(r"'\u003F'", "'?'")


class _Reader:
    """Decodes the tree; field numbers are those of cel.expr.Expr."""

    def __init__(self, source: Source, positions: dict[int, int]) -> None:
        self._source, self._positions = source, positions
        self.problems: list[Problem] = []

    def node(self, message: bytes) -> Node:
        fields = _fields(message)
        position = self._positions.get(_int(fields, 2), 0)
        if 3 in fields:
            value = _constant(_fields(fields[3][0]))
            if isinstance(value, float) and math.isinf(value):
                self.problems.append(self._source.problem(position, "invalid double literal"))
            return Literal(position, value)
        if 4 in fields:
            return Ident(position, _text(_fields(fields[4][0]), 1))
        if 5 in fields:
            select = _fields(fields[5][0])
            return Select(position, self.node(select[1][0]), _text(select, 2), bool(_int(select, 3)))
        if 6 in fields:
            call = _fields(fields[6][0])
            target = self.node(call[1][0]) if 1 in call else None
            return Call(position, _text(call, 2), [self.node(a) for a in call.get(3, ())], target)
        if 7 in fields:
            elements = _fields(fields[7][0])
            optional = frozenset(i for packed in elements.get(2, ()) for i in _varints(packed))
            return ListOf(position, [self.node(e) for e in elements.get(1, ())], optional)
        if 8 in fields:
            return self._struct(position, _fields(fields[8][0]))
        if 9 in fields:
            return self._fold(position, _fields(fields[9][0]))
        raise ValueError("an expression of an unknown kind")

    def _struct(self, position: int, fields: dict[int, list[Any]]) -> Node:
        entries = [_fields(entry) for entry in fields.get(2, ())]
        if 1 in fields:
            brace = self._source.brace_after(position)
            return Message(brace, _text(fields, 1), [self.node(entry[4][0]) for entry in entries])
        return MapOf(
            position,
            [Entry(self.node(entry[3][0]), self.node(entry[4][0]), bool(_int(entry, 5))) for entry in entries],
        )

    def _fold(self, position: int, fields: dict[int, list[Any]]) -> Node:
        over, initial, condition, step, result = (self.node(fields[n][0]) for n in (2, 4, 5, 6, 7))
        return Fold(position, over, (_text(fields, 1),), _text(fields, 3), initial, condition, step, result)


def _constant(fields: dict[int, list[Any]]) -> Value:
    ((number, (value,)),) = fields.items()
    match number:
        case 2:
            return bool(value)
        case 3:
            return int(value - (1 << 64) if value >> 63 else value)
        case 4:
            return Uint(value)
        case 5:
            return float(struct.unpack("<d", value)[0])
        case 6:
            return bytes(value).decode("utf-8", "surrogateescape")
        case 7:
            return bytes(value)
        case _:
            return None


def _fields(message: bytes) -> dict[int, list[Any]]:
    """Return the fields of an encoded message by number: ints, or bytes where the type is not an integer."""
    found: dict[int, list[Any]] = {}
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        value: int | bytes
        match tag & 7:
            case 0:
                value, at = _varint(message, at)
            case 1:
                value, at = message[at : at + 8], at + 8
            case 2:
                size, at = _varint(message, at)
                value, at = message[at : at + size], at + size
            case _:
                raise ValueError("an encoding of an unknown kind")
        found.setdefault(tag >> 3, []).append(value)
    return found


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def _varints(packed: bytes | int) -> Iterator[int]:
    if isinstance(packed, int):
        yield packed
        return
    at = 0
    while at < len(packed):
        value, at = _varint(packed, at)
        yield value


def _int(fields: dict[int, list[Any]], number: int) -> int:
    return int(fields[number][0]) if number in fields else 0


def _text(fields: dict[int, list[Any]], number: int) -> str:
    return bytes(fields[number][0]).decode() if number in fields else ""

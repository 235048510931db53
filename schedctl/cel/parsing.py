"""From text to syntax tree: cel-expr-python, Google's engine, parses; this module reads the tree it hands out.

The engine shares its grammar with the one that kube-scheduler uses, down to the wording of syntax errors, up to 32
levels of nesting and 12 errors; beyond those `parse` says that it cannot tell. Macros are left to `macros`.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from functools import cache
from typing import Any

from schedctl.cel import syntax
from schedctl.cel.errors import CompileError, Problem, Unsupported
from schedctl.cel.nesting import excess
from schedctl.cel.values import Uint, Value

_LARGEST_EXPRESSION = 100_000


def parse(source: syntax.Source) -> syntax.Node:
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
    if sum(map(text.count, syntax.STAND_INS)) > _FEW:
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
    for name, stand_in in syntax.STAND_INS.items():
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
        size = _expanded_size(_Reader(syntax.Source(text), {}).node(root))
    if size > _MOST_NODES:
        raise Unsupported("CEL expressions with very many nested macros")


def _expanded_size(node: syntax.Node) -> int:
    """Return how many nodes there are in a tree once its stand-ins are expanded."""
    sizes = [_expanded_size(child) for child in node.children()]
    doubled = isinstance(node, syntax.Call) and node.target is not None and node.function in syntax.STAND_INS.values()
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
    # It only parses: version 0.1.3 has no values of foreign types, no two-variable comprehensions, no cost, and error
    # texts of its own. Loading it takes long, so it waits for the first expression.
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
"""The line of what has none: -1 as an unsigned integer."""
_SKIPPED = 256
"""Words that kube-scheduler's engine skips at most to get over an error."""


def _problems(report: str, source: syntax.Source) -> list[Problem]:
    """Read the engine's report back into problems, and word the few exceptions as kube-scheduler's engine does.

    Raises:
        Unsupported: the engine has no answer where the other one has.
    """
    report = report.removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]")
    marks = list(_PROBLEM.finditer(report))
    problems = []
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        # Columns count from 1, but those of an empty text from 2.
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
        raise Unsupported("very long texts that are not CEL")
    # The grammar is wrong before anything else is, at the same place.
    return sorted(problems, key=lambda problem: not problem.text.startswith("Syntax error"))


def _gives_up(problem: Problem, source: syntax.Source) -> bool:
    """Return whether one of the two engines gives up reading, be it for many errors or for much text to skip."""
    if problem.text == "Syntax error: More than 12 parse errors.":
        return True
    if not problem.text.startswith(("Syntax error: mismatched", "Syntax error: no viable")):
        return False
    rest = "\n".join(source.text.split("\n")[problem.line - 1 :])[max(problem.column, 0) :]
    return len(rest) > _SKIPPED and len(re.findall(r"\w+|[^\w\s]", rest)) > _SKIPPED


def _reword(text: str, source: syntax.Source, line: int, column: int) -> str:
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
    """Decodes the tree, a protocol buffer `cel.expr.ParsedExpr`; field numbers are those of cel.expr.Expr.

    The few fields that matter do not warrant a dependency.
    """

    def __init__(self, source: syntax.Source, positions: dict[int, int]) -> None:
        self._source, self._positions = source, positions
        self.problems: list[Problem] = []

    def node(self, message: bytes) -> syntax.Node:
        fields = _fields(message)
        position = self._positions.get(_int(fields, 2), 0)
        if 3 in fields:
            value = _constant(_fields(fields[3][0]))
            # The engine reads `1e999` as infinity, cel-go refuses it.
            if isinstance(value, float) and math.isinf(value):
                self.problems.append(self._source.problem(position, "invalid double literal"))
            return syntax.Literal(position, value)
        if 4 in fields:
            return syntax.Ident(position, _text(_fields(fields[4][0]), 1))
        if 5 in fields:
            select = _fields(fields[5][0])
            return syntax.Select(position, self.node(select[1][0]), _text(select, 2), bool(_int(select, 3)))
        if 6 in fields:
            call = _fields(fields[6][0])
            target = self.node(call[1][0]) if 1 in call else None
            return syntax.Call(position, _text(call, 2), [self.node(a) for a in call.get(3, ())], target)
        if 7 in fields:
            elements = _fields(fields[7][0])
            optional = frozenset(i for packed in elements.get(2, ()) for i in _varints(packed))
            return syntax.ListOf(position, [self.node(e) for e in elements.get(1, ())], optional)
        if 8 in fields:
            return self._struct(position, _fields(fields[8][0]))
        if 9 in fields:
            return self._fold(position, _fields(fields[9][0]))
        raise ValueError("an expression of an unknown kind")

    def _struct(self, position: int, fields: dict[int, list[Any]]) -> syntax.Node:
        entries = [_fields(entry) for entry in fields.get(2, ())]
        if 1 in fields:
            # cel-go places a message at its brace, the engine at its name.
            brace = self._source.brace_after(position)
            return syntax.Message(brace, _text(fields, 1), [self.node(entry[4][0]) for entry in entries])
        return syntax.MapOf(
            position,
            [syntax.Entry(self.node(entry[3][0]), self.node(entry[4][0]), bool(_int(entry, 5))) for entry in entries],
        )

    def _fold(self, position: int, fields: dict[int, list[Any]]) -> syntax.Node:
        over, initial, condition, step, result = (self.node(fields[n][0]) for n in (2, 4, 5, 6, 7))
        return syntax.Fold(position, over, (_text(fields, 1),), _text(fields, 3), initial, condition, step, result)


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

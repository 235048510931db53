"""kubectl's jsonpath templates: text with ``{expressions}`` in it, over plain JSON values.

The dialect is kubectl's own and no library speaks it. A template becomes a tree (`parse`) and the tree becomes text
(`Template.render`).
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from schedctl.errors import UsageError

Clean = Callable[[str], str]
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.)", re.DOTALL)
_NAMED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", "'": "'", '"': '"'}
_SLICE = re.compile(r"(-?\d*)(:-?\d*)?(:-?\d*)?")
_CONDITION = re.compile(r"([^!<>=]+)([!<>=]+)(.+)", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<space>[ @$])
    |   (?P<descend>\.\.)
    |   (?P<filter>\[\?\()
    |   (?P<array>\[(?P<inside>[^\]\n]*)\])
    |   (?P<quoted>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |   (?P<number>[+-]?[0-9][0-9.]*)
    |   \.?(?P<name>(?:[^\s.,\[\]$@{}\\]|\\.)+)
    |   (?P<dot>\.)
    """,
    re.VERBOSE | re.DOTALL,
)


class Field(msgspec.Struct, frozen=True):
    """The value of a key in each map."""

    name: str


class Every(msgspec.Struct, frozen=True):
    """All values of each map or list."""


class Descend(msgspec.Struct, frozen=True):
    """Each value and everything in it that is a map, a list or a text, unless it is empty."""


class Slice(msgspec.Struct, frozen=True):
    """Some elements of each list; `alone` marks a single index, which must be there."""

    start: int | None
    stop: int | None
    step: int | None
    alone: bool = False


class Union(msgspec.Struct, frozen=True):
    """The values of several paths, one path after another."""

    paths: tuple[Path, ...]


class Filter(msgspec.Struct, frozen=True):
    """The elements of each list for which a comparison holds; without an operator, for which the path exists."""

    left: Path
    compare: str = ""
    right: Path = ()


class Literal(msgspec.Struct, frozen=True):
    """A value written in the template."""

    value: str | int | float | bool


Step = Field | Every | Descend | Slice | Union | Filter | Literal
Path = tuple[Step, ...]


class Range(msgspec.Struct, frozen=True):
    """``{range path} ... {end}``: the body once for each value."""

    path: Path
    body: list[Part] = msgspec.field(default_factory=list)


Part = str | Path | Range


class Template(msgspec.Struct, frozen=True):
    """A parsed template."""

    parts: Sequence[Part]

    def render(self, data: Any, clean: Clean = str) -> str:
        """Return the text for these data.

        Args:
            data: maps, lists, strings, numbers, booleans and None.
            clean: applied to every text that comes from the data.

        Raises:
            UsageError: an index is out of bounds, or something that is no list is indexed or filtered.
        """
        return "".join(_render(self.parts, data, clean))


def parse(text: str) -> Template:
    """Return the template.

    Raises:
        UsageError: it cannot be read, or has no expression in it at all.
    """
    if "{" not in text:
        meant = text if text.startswith((".", "[", "$")) else f".{text}"
        raise UsageError(
            f"the jsonpath template has no {{expression}}: {text!r}", f"did you mean `jsonpath={{{meant}}}`?"
        )
    top: list[Part] = []
    open_ranges: list[Range] = []
    at = 0
    while at < len(text):
        parts = open_ranges[-1].body if open_ranges else top
        begin = text.find("{", at)
        if begin != at:
            parts.append(text[at : begin if begin >= 0 else len(text)])
        if begin < 0:
            break
        keyword, path, at = _action(text, begin + 1, "}")
        if keyword == "range":
            loop = Range(path)
            parts.append(loop)
            open_ranges.append(loop)
        elif keyword == "end":
            if not open_ranges:
                raise _wrong("{end} without {range}")
            open_ranges.pop()
        else:
            parts.append(path)
    if open_ranges:
        raise _wrong("{range} without {end}")
    return Template(top)


# -- reading a template ----------------------------------------------------------


def _wrong(what: str) -> UsageError:
    return UsageError(f"cannot read the jsonpath template: {what}")


def _action(text: str, at: int, closing: str) -> tuple[str, Path, int]:
    """Read an expression up to its closing text; return its keyword, its path and the place after it."""
    steps: list[Step] = []
    keyword = ""
    while not text.startswith(closing, at):
        token = _TOKEN.match(text, at)
        if token is None:
            raise _wrong(f"unexpected {text[at]!r}" if at < len(text) else f"{closing} is missing")
        at = token.end()
        if token["descend"]:
            if steps and isinstance(steps[-1], Descend):
                raise _wrong("more than two dots")
            steps.append(Descend())
        elif token["filter"]:
            condition, at = _filter(text, at)
            steps.append(condition)
        elif token["array"]:
            steps += _array(token["inside"])
        elif token["quoted"]:
            steps.append(Literal(_unquote(token["quoted"][1:-1])))
        elif token["number"]:
            steps.append(Literal(_number(token["number"])))
        elif token["dot"]:
            steps.append(Field(""))
        elif token["name"] is not None:
            name = token["name"]
            described = token[0].startswith(".") or (bool(steps) and isinstance(steps[-1], Descend))
            if described:
                steps.append(Every() if name == "*" else Field(re.sub(r"\\(.)", r"\1", name)))
            elif name in ("true", "false"):
                steps.append(Literal(name == "true"))
            elif name in ("range", "end") and not steps and not keyword:
                keyword = name
            else:
                raise _wrong(f'unknown word "{name}"')
    return keyword, tuple(steps), at + len(closing)


def _path(text: str) -> Path:
    keyword, path, _ = _action(text + "}", 0, "}")
    if keyword:
        raise _wrong(f'unknown word "{keyword}"')
    return path


def _filter(text: str, at: int) -> tuple[Filter, int]:
    """Read what is between ``[?(`` and ``)]``; quotes may hold brackets."""
    end = at
    while not text.startswith(")]", end):
        if end >= len(text):
            raise _wrong("[?( is not closed by )]")
        quoted = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'").match(text, end)
        end = quoted.end() if quoted else end + 1
    inside = text[at:end]
    condition = _CONDITION.fullmatch(inside)
    if condition is None:
        return Filter(_path(inside)), end + 2
    left, compare, right = condition.groups()
    if compare not in _COMPARE:
        raise _wrong(f'unknown comparison "{compare}"')
    return Filter(_path(left), compare, _path(right)), end + 2


def _array(inside: str) -> Path:
    if "," in inside:
        return (Union(tuple(_array(each.strip()) for each in inside.split(","))),)
    if inside == "*":
        return (Slice(None, None, None),)
    if len(inside) >= 2 and inside[0] == inside[-1] == "'":
        # As in kubectl, a dot in the quotes still separates fields, unless it is written `\.`.
        return _path(f".{inside[1:-1]}")
    bounds = _SLICE.fullmatch(inside)
    if bounds is None:
        raise _wrong(f"[{inside}] is not an index")
    start, stop, step = (int(part.removeprefix(":")) if part and part != ":" else None for part in bounds.groups())
    return (Slice(start, stop, step, alone=bounds[2] is None and bounds[3] is None),)


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise _wrong(f"{text} is not a number") from None


def _unquote(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        escape = match[1]
        if escape[0] in "xuU":
            return chr(int(escape[1:], 16))
        if escape.isdigit():
            return chr(int(escape, 8))
        if escape not in _NAMED:
            raise _wrong(f"unknown escape \\{escape}")
        return _NAMED[escape]

    return _ESCAPE.sub(character, text)


# -- reading the data ------------------------------------------------------------


def _render(parts: Sequence[Part], data: Any, clean: Clean) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, Range):
            for value in _values(part.path, [data]):
                yield from _render(part.body, value, clean)
        elif part and isinstance(part[-1], Literal):
            yield _print_value(part[-1].value)
        else:
            # kubectl joins the values of one expression by a space
            yield " ".join(clean(_print_value(value)) for value in _values(part, [data]))


def _values(path: Path, values: list[Any]) -> list[Any]:
    for step in path:
        values = _step(step, values)  # a field that is not there leaves no value, and prints nothing
    return values


def _step(step: Step, values: list[Any]) -> list[Any]:
    match step:
        case Literal(value):
            return [value] * len(values)
        case Field(name):
            return [value[name] for value in values if isinstance(value, dict) and name in value]
        case Every():
            return [child for value in values for child in _children(value)]
        case Descend():
            return [inner for value in values for inner in _descendants(value)]
        case Union(paths):
            return [found for path in paths for found in _values(path, values)]
        case Slice():
            return [element for value in values if value is not None for element in _slice(step, _list(value))]
        case Filter():
            return [element for value in values for element in _list(value) if _holds(step, element)]


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _descendants(value: Any) -> Iterator[Any]:
    children = _children(value)
    if children or (isinstance(value, str) and value):
        yield value
    for child in children:
        yield from _descendants(child)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise UsageError(f"jsonpath: {_kind(value)} is not a list and cannot be indexed")
    return value


def _slice(step: Slice, values: list[Any]) -> list[Any]:
    count = len(values)
    start = step.start or 0
    start += count if start < 0 else 0
    if step.alone:
        if not 0 <= start < count:
            raise UsageError(f"jsonpath: index {step.start} is out of bounds, the list has {count}")
        return [values[start]]
    stop = count if step.stop is None else step.stop
    stop += count if stop < 0 else 0
    if start == stop:
        return []
    if not 0 <= start < count or not 0 <= stop <= count:
        raise UsageError(f"jsonpath: {start}:{stop} is out of bounds, the list has {count}")
    if start > stop:
        raise UsageError(f"jsonpath: {start}:{stop} ends before it begins")
    if step.step is not None and step.step <= 0:
        raise UsageError("jsonpath: the step of a slice must be at least 1")
    return values[start : stop : step.step]


def _holds(condition: Filter, element: Any) -> bool:
    if not condition.compare:
        try:
            return bool(_values(condition.left, [element]))
        except UsageError:
            return False
    sides = [_values(path, [element]) for path in (condition.left, condition.right)]
    # Here kubectl ends with an error; an element without the field is one that the filter does not find.
    if not all(sides):
        return False
    if any(len(side) > 1 for side in sides):
        raise UsageError("jsonpath: can only compare one value at a time")
    left, right = sides[0][0], sides[1][0]
    # Kinds are as JSON has them: unlike kubectl, a whole number and a fraction can be compared.
    kinds = {_kind(left), _kind(right)}
    if len(kinds) > 1 or kinds & {"a list", "a map", "null"}:
        raise UsageError(f"jsonpath: cannot compare {_kind(left)} with {_kind(right)}")
    if kinds == {"a boolean"} and condition.compare not in ("==", "!="):
        raise UsageError("jsonpath: booleans have no order")
    return _COMPARE[condition.compare](left, right)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "null" if value is None else f"a {'map' if isinstance(value, dict) else 'list'}"


def _print_value(value: Any) -> str:
    if isinstance(value, list | dict):
        # Go's encoder writes what could be markup as escapes.
        return _json(value).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _float(value, 1e-4, 1e6) if isinstance(value, float) else str(value)


def _json(value: Any) -> str:
    """As Go writes compact JSON: keys sorted, and no ``.0`` after a whole number."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{_json(key)}:{_json(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_json, value)) + "]"
    if isinstance(value, float):
        # encoding/json has bounds of its own for exponents, and drops the zero in e-07
        return _float(value, 1e-6, 1e21).replace("e-0", "e-")
    return json.dumps(value, ensure_ascii=False)


def _float(value: float, least: float, most: float) -> str:
    """As Go prints a float64: shortest digits, with an exponent below `least` and from `most`."""
    shortest = Decimal(repr(value))
    if value == 0 or least <= abs(value) < most:
        text = format(shortest, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    sign, digits, exponent = shortest.normalize().as_tuple()
    mantissa = f"{digits[0]}.{''.join(map(str, digits[1:]))}".rstrip(".")
    return f"{'-' * sign}{mantissa}e{int(exponent) + len(digits) - 1:+03d}"

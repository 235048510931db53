"""``string.format``: a template with clauses such as ``%s`` or ``%.2f``, and a list of what to put there.

Numbers with a point are printed for American readers (``1,234.50``, ``1.5×10⁰⁴``), and the precision of ``%e`` is in
truth a width. The same walk over a template checks one that is written down along with its arguments, at compile time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from schedctl.cel import values
from schedctl.cel.times import duration_text, timestamp_text
from schedctl.cel.values import Failure, Value

_DEFAULT_PRECISION = 6
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_INFINITIES = ("NaN", "Infinity", "-Infinity")
_SHOWN = "strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"


class FormatError(Exception):
    """A template that is malformed, or an argument that its clause cannot print."""


class Clause(NamedTuple):
    """A clause of a template: the letter, and the precision if one is written."""

    letter: str
    precision: int | None


UNFIT = {
    "s": f"string clause can only be used on {_SHOWN}",
    "d": "decimal clause can only be used on integers",
    "f": "fixed-point clause can only be used on doubles",
    "e": "scientific clause can only be used on doubles",
    "b": "only integers and bools can be formatted as binary",
    "x": "only integers, byte buffers, and strings can be formatted as hex",
    "o": "octal clause can only be used on integers",
}
"""What a clause says of an argument that it cannot print."""


def unfit(clause: Clause, name: str) -> FormatError:
    """Return the error that a clause cannot print values of a type."""
    return FormatError(f"error during formatting: {UNFIT[clause.letter.lower()]}, was given {name}")


def clauses(template: str, arguments: int) -> Iterator[str | Clause]:
    """Yield the texts and the clauses of a template in turn.

    Raises:
        FormatError: the template is malformed, or has more clauses than there are arguments.
    """
    at = used = 0
    while at < len(template):
        percent = template.find("%", at)
        if percent < 0:
            yield template[at:]
            return
        yield template[at:percent]
        at = percent + 1
        if template.startswith("%", at):
            yield "%"
            at += 1
            continue
        if used >= arguments:
            raise FormatError(f"index {used} out of range")
        used += 1
        if at >= len(template):
            raise FormatError("unexpected end of string")
        clause, at = _clause(template, at)
        yield clause


def _clause(template: str, at: int) -> tuple[Clause, int]:
    precision = None
    if template[at] == ".":
        match = re.compile("[0-9]*").match(template, at + 1)
        assert match is not None
        wrong = "could not parse formatting clause: error while parsing precision: "
        at = match.end()
        if at >= len(template):
            raise FormatError(wrong + "could not find end of precision specifier")
        digits = match[0]
        significant = digits.lstrip("0") or "0"
        too_large = len(significant) > len(str(values.MAX_INT64)) or int(significant) > values.MAX_INT64
        why = "invalid syntax" if not digits else "value out of range" if too_large else ""
        if why:
            wrong += "error while converting precision to integer: strconv.Atoi: parsing "
            raise FormatError(f"{wrong}{values.go_quoted(digits)}: {why}")
        precision = int(significant)
    letter = template[at]
    if letter not in "sdfebxXo":
        # Go looks at the first byte, and prints it as if it were a character.
        letter = chr(letter.encode(errors="surrogatepass")[0])
        raise FormatError(f'could not parse formatting clause: unrecognized formatting clause "{letter}"')
    return Clause(letter, precision), at + 1


def string_format(template: str, arguments: list[Value]) -> str | Failure:
    """Return the template with every clause replaced by the argument it stands for."""
    parts: list[str] = []
    remaining = iter(arguments)
    try:
        for part in clauses(template, len(arguments)):
            if isinstance(part, str):
                parts.append(part)
            else:
                parts.append(_CLAUSES[part.letter](part, next(remaining)))
    except FormatError as error:
        return Failure(str(error))
    return "".join(parts)


def _string(clause: Clause, value: Value) -> str:
    text = _plain(value)
    if text is None:
        raise unfit(clause, values.type_name(value))
    return text


def _plain(value: Value) -> str | None:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(int(value))
        case float():
            return values.go_float(value)
        case str():
            return value
        case bytes():
            try:
                return value.decode()
            except UnicodeDecodeError:
                text = "invalid UTF-8 in bytes, cannot convert to string"
                raise FormatError(f'error during formatting: could not convert argument "{text}" to string') from None
        case list():
            return "[" + ", ".join(map(_nested_text, value)) + "]"
        case values.Map():
            return "{" + ", ".join(sorted(_entries(value), key=_key_of)) + "}"
        case values.Duration():
            return duration_text(value)
        case values.Timestamp():
            return timestamp_text(value)
        case values.TypeValue():
            return value.name
    return None


def _entries(value: values.Map) -> Iterator[str]:
    for key in value:
        if not isinstance(key, str | int):
            raise FormatError(
                f"error during formatting: no formatting function for map key of type {values.type_name(key)}"
            )
        yield f"{_nested_text(key)}:{_nested_text(value.find(key))}"


def _key_of(entry: str) -> bytes:
    return entry.encode(errors="surrogatepass")


def _nested_text(value: Value) -> str:
    """Return a value inside a list or map, which looks as if written in CEL."""
    match value:
        case str():
            return values.go_quoted(value)
        case bytes():
            return "b" + values.go_quoted(_plain(value) or "")
        case float():
            return f"{value:.6f}" if math.isfinite(value) else values.go_quoted(values.go_float(value))
        case values.Duration():
            return f"duration({values.go_quoted(duration_text(value))})"
        case values.Timestamp():
            return f"timestamp({values.go_quoted(timestamp_text(value))})"
    text = _plain(value)
    if text is None:
        raise FormatError(f"error during formatting: no formatting function for {values.type_name(value)}")
    return text


def _decimal(clause: Clause, value: Value) -> str:
    if not _is_integer(value):
        raise unfit(clause, values.type_name(value))
    return str(int(value))


def _number(clause: Clause, value: Value) -> float:
    if isinstance(value, float):
        return value
    if value in _INFINITIES and isinstance(value, str):
        return float(value.lower())
    raise unfit(clause, values.type_name(value))


def _fixed_point_text(clause: Clause, value: Value) -> str:
    number = _number(clause, value)
    precision = _DEFAULT_PRECISION if clause.precision is None else clause.precision
    return _infinite(number) or f"{number if number else 0.0:,.{precision}f}"


def _scientific(clause: Clause, value: Value) -> str:
    number = _number(clause, value)
    text = _infinite(number)
    if not text:
        mantissa, _, exponent = f"{number if number else 0.0:.6e}".partition("e")
        text = f"{mantissa}×10{exponent.removeprefix('+').translate(_SUPERSCRIPTS)}"
    return text.rjust(_DEFAULT_PRECISION if clause.precision is None else clause.precision)


def _infinite(number: float) -> str:
    if number != number:
        return "NaN"
    return "" if math.isfinite(number) else "∞" if number > 0 else "-∞"


def _binary(clause: Clause, value: Value) -> str:
    if not isinstance(value, int):
        raise unfit(clause, values.type_name(value))
    return f"{value:b}"


def _octal(clause: Clause, value: Value) -> str:
    if not _is_integer(value):
        raise unfit(clause, values.type_name(value))
    return f"{value:o}"


def _hex(clause: Clause, value: Value) -> str:
    if isinstance(value, str):
        value = value.encode(errors="surrogateescape")
    if isinstance(value, bytes):
        text = value.hex()
    elif _is_integer(value):
        text = f"{value:x}"
    else:
        raise unfit(clause, values.type_name(value))
    return text.upper() if clause.letter == "X" else text


def _is_integer(value: Value) -> bool:
    return value.__class__ is int or value.__class__ is values.Uint


_CLAUSES: dict[str, Callable[[Clause, Value], str]] = {
    "s": _string,
    "d": _decimal,
    "f": _fixed_point_text,
    "e": _scientific,
    "b": _binary,
    "x": _hex,
    "X": _hex,
    "o": _octal,
}

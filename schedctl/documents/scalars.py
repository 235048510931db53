"""What a YAML scalar means: text, number, boolean or null, exactly as kubectl takes it.

kubectl reads YAML with a descendant of go-yaml v2 and turns it into JSON before anything else sees it. PyYAML's own
tables differ from it in most respects, so none of them is used; `tests/documents/test_scalars.py` holds some two
hundred scalars with what kubectl made of them.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from decimal import Decimal
from math import copysign, inf, isfinite

from schedctl.documents.findings import quote

Scalar = str | int | float | bool | None

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_INTEGER = re.compile(r"([+-]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))")
_FLOAT = re.compile(r"[+-]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][+-]?[0-9]+)?")
_DOTTED_FLOAT = re.compile(r"\.[0-9](?:_?[0-9])*(?:[eE][+-]?[0-9](?:_?[0-9])*)?")
_BASES = (16, 2, 8, 10)
_LONGEST_INTEGER = 4000  # far beyond 64 bits; Python refuses to convert longer ones
_TIMESTAMP = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}(?:[Tt]\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d*)?(?:Z|[+-]\d{2}:\d{2})"
    r"| \d{1,2}:\d{1,2}:\d{1,2}(?:\.\d*)?)?",
    re.ASCII,
)
_JSON_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("bool", "int", "float", "null", "timestamp"))
_BINARY = "tag:yaml.org,2002:binary"
KNOWN_TAGS = _JSON_TAGS | frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("str", "binary", "map", "seq", "set", "omap", "pairs", "merge")
)
"""Tags that are part of YAML; kubectl takes a scalar with any other tag as text and says nothing."""


def plain(text: str) -> Scalar:
    """Return what a scalar without quotes and tag means.

    That is neither YAML 1.1 nor 1.2: ``yes``, ``on`` and ``y`` are booleans, ``0644`` and ``0o644`` are octal, ``08``
    is eight, ``1e3`` is a number and ``1e400`` is text, dates and base-60 numbers stay text.
    """
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if first.isdecimal() or first in "+-":
        return _number(text)
    if first == "." and _DOTTED_FLOAT.fullmatch(text):
        return _finite(text)
    return text


def tagged_scalar(tag: str, text: str) -> Scalar:
    """Return what a scalar with an explicit tag means; a tag that JSON has no type for makes it text.

    Raises:
        ValueError: the text is not of the tagged type.
    """
    if tag == _BINARY:
        try:
            data = base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
        except binascii.Error:
            raise ValueError("!!binary value contains invalid base64 data") from None
        return data.decode(errors="replace")
    if tag not in _JSON_TAGS:
        return text
    # a timestamp stays the text it is, and other types need a text that means one without a tag
    value, kind = plain(text), tag.rpartition(":")[2]
    if kind == "timestamp" and isinstance(value, str) and _TIMESTAMP.fullmatch(value):
        return text
    if kind == "null" and value is None:
        return None
    if kind == "bool" and isinstance(value, bool):
        return value
    if kind == "float" and isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if kind == "int" and isinstance(value, int) and not isinstance(value, bool) and _integer(text.replace("_", "")):
        return value
    raise ValueError(f"{quote(text)} is not a !!{kind}")


def key(value: Scalar, text: str) -> str:
    """Return the JSON key that a mapping key makes.

    Args:
        value: what the key means as a scalar.
        text: how it is written.

    Raises:
        ValueError: kubectl refuses such a key.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        raise ValueError("a key must not be null")
    exact = _integer(text.replace("_", ""))
    if exact is None:
        return _float_key(float(value)) if value else "-0" if text.startswith("-") else "0"
    if exact >= 1 << 63:
        raise ValueError(f"the key {exact} is too large")
    return str(exact)


def _number(text: str) -> Scalar:
    digits = text.replace("_", "")
    integer = _integer(digits)
    if integer is not None:
        return integer if -(1 << 63) <= integer < 1 << 63 else _whole(float(integer))
    return _finite(digits, text) if _FLOAT.fullmatch(digits) else text


def _integer(digits: str) -> int | None:
    """Return the integer that int64 or uint64 hold, None for anything else."""
    match = _INTEGER.fullmatch(digits) if len(digits) <= _LONGEST_INTEGER else None
    if match is None:
        return None
    sign, *bodies = match.groups()
    magnitude = next(int(body, base) for body, base in zip(bodies, _BASES, strict=True) if body is not None)
    value = -magnitude if sign == "-" else magnitude
    # beyond int64 Go tries uint64, which may not have a sign
    limit = 1 << 63 if sign == "+" else 1 << 64
    return value if -(1 << 63) <= value < limit else None


def _finite(digits: str, text: str = "") -> Scalar:
    value = float(digits)
    return _whole(value) if isfinite(value) else text or digits  # what overflows is text


def _whole(value: float) -> int | float:
    """Return the float, as an int where Go's JSON writes it without fraction and exponent: ``1.0`` is ``1``."""
    return int(Decimal(repr(value))) if value.is_integer() and abs(value) < 1e21 else value


def _float_key(value: float) -> str:
    """Return Go's shortest ``%g`` of the value as a 32-bit float, and YAML's words where it is none."""
    single = _single(value)
    if not isfinite(single):
        return {inf: ".inf", -inf: "-.inf"}.get(single, ".nan")
    scientific = next(text for digits in range(9) if _single(float(text := f"{single:.{digits}e}")) == single)
    if not -4 <= int(scientific.partition("e")[2]) < 6:
        return scientific
    return format(Decimal(scientific), "f")


def _single(value: float) -> float:
    """Return the nearest 32-bit float."""
    try:
        single: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return copysign(inf, value)
    return single

"""Type conversions, ``int("12")`` and the like, as Go's strconv reads and prints numbers."""

from __future__ import annotations

import math
import re

from schedctl.cel import times, values
from schedctl.cel.arithmetic import INT_OVERFLOW, UINT_OVERFLOW
from schedctl.cel.declarations import declare
from schedctl.cel.values import Failure, Value

_INTEGER = re.compile("[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEXADECIMAL = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+")
_SPECIAL = re.compile("[+-]?(?:inf(?:inity)?)|nan", re.IGNORECASE)
_UNDERSCORES = re.compile("(?<=[0-9])_(?=[0-9])")
_HEX_UNDERSCORES = re.compile("(?<=[0-9a-fA-FxX])_(?=[0-9a-fA-F])")
_BOOLS = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}
_MOST_DIGITS = 400


def _refuse(type_: str) -> Failure:
    return Failure(f"type conversion error from 'string' to '{type_}'")


def _integer(text: str, least: int, most: int) -> int | None:
    """Return the integer a text writes, None if it writes none or one out of range."""
    if not _INTEGER.fullmatch(text):
        return None
    digits = text.lstrip("+-").lstrip("0") or "0"
    # Python refuses to read very long integers, and none so long fits an int64.
    if len(digits) > _MOST_DIGITS:
        return None
    value = -int(digits) if text[0] == "-" else int(digits)
    return value if least <= value <= most else None


def _string_to_int(text: str) -> Value:
    value = _integer(text, values.MIN_INT64, values.MAX_INT64)
    return _refuse("int") if value is None else value


def _string_to_uint(text: str) -> Value:
    value = None if text[:1] in ("+", "-") else _integer(text, 0, values.MAX_UINT64)
    return _refuse("uint") if value is None else values.Uint(value)


def parse_double(text: str) -> float | None:
    """Return the double a text writes, None if it writes none or one too large."""
    try:
        if _SPECIAL.fullmatch(text):
            return float(text)
        if text[:2].lower() == "0x" or text[1:3].lower() == "0x":
            plain = _HEX_UNDERSCORES.sub("", text)
            return float.fromhex(plain) if _HEXADECIMAL.fullmatch(plain) else None
        plain = _UNDERSCORES.sub("", text)
        # A decimal that is too large is an error in Go, so infinity can stand for every text that is none.
        value = float(plain) if _DECIMAL.fullmatch(plain) else math.inf
        return None if math.isinf(value) else value
    except OverflowError:
        return None


def _string_to_double(text: str) -> Value:
    value = parse_double(text)
    return _refuse("double") if value is None else value


def _double_to_int(value: float) -> Value:
    return int(value) if -(2.0**63) < value < 2.0**63 else INT_OVERFLOW


def _double_to_uint(value: float) -> Value:
    return values.Uint(int(value)) if 0 <= value < 2.0**64 else UINT_OVERFLOW


def _uint_to_int(value: values.Uint) -> Value:
    return int(value) if value <= values.MAX_INT64 else INT_OVERFLOW


def _int_to_uint(value: int) -> Value:
    return values.Uint(value) if value >= 0 else UINT_OVERFLOW


def _string_to_bool(text: str) -> Value:
    value = _BOOLS.get(text)
    return _refuse("bool") if value is None else value


def _bytes_to_string(value: bytes) -> Value:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return Failure("invalid UTF-8 in bytes, cannot convert to string")


def string_to_duration(text: str) -> Value:
    """Return the duration that a text writes."""
    value = times.parse_duration(text)
    return _refuse(values.type_name(values.Duration(0))) if value is None else value


def string_to_timestamp(text: str) -> Value:
    """Return the timestamp that a text writes."""
    value = times.parse_timestamp(text)
    return _refuse(values.type_name(values.Timestamp(0))) if value is None else value


def _same(value: Value) -> Value:
    return value


def type_of(value: Value) -> values.TypeValue:
    """Return the type of a value, as a value."""
    return values.TypeValue(values.type_name(value))


FUNCTIONS = frozenset(("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"))
"""The conversions; applied to a constant they are computed, and fail, when the expression is compiled."""

LIBRARY = [
    declare("bool bool_to_bool (bool) bool", _same),
    declare("bool string_to_bool (string) bool", _string_to_bool),
    declare("bytes bytes_to_bytes (bytes) bytes", _same),
    declare("bytes string_to_bytes (string) bytes", lambda text: text.encode(errors="surrogateescape")),
    declare("double double_to_double (double) double", _same),
    declare("double int64_to_double (int) double", float),
    declare("double string_to_double (string) double", _string_to_double),
    declare("double uint64_to_double (uint) double", float),
    declare("duration duration_to_duration (duration) duration", _same),
    declare("duration string_to_duration (string) duration", string_to_duration),
    declare("int int64_to_int64 (int) int", _same),
    declare("int double_to_int64 (double) int", _double_to_int),
    declare("int duration_to_int64 (duration) int", lambda value: value.nanoseconds),
    declare("int string_to_int64 (string) int", _string_to_int),
    declare("int timestamp_to_int64 (timestamp) int", lambda value: value.nanoseconds // 10**9),
    declare("int uint64_to_int64 (uint) int", _uint_to_int),
    declare("string string_to_string (string) string", _same),
    declare("string bool_to_string (bool) string", lambda value: "true" if value else "false"),
    declare("string bytes_to_string (bytes) string", _bytes_to_string),
    declare("string double_to_string (double) string", values.go_float),
    declare("string duration_to_string (duration) string", times.duration_text),
    declare("string int64_to_string (int) string", str),
    declare("string timestamp_to_string (timestamp) string", times.timestamp_text),
    declare("string uint64_to_string (uint) string", lambda value: str(int(value))),
    declare("timestamp timestamp_to_timestamp (timestamp) timestamp", _same),
    declare("timestamp int64_to_timestamp (int) timestamp", times.timestamp_of_seconds),
    declare("timestamp string_to_timestamp (string) timestamp", string_to_timestamp),
    declare("uint uint64_to_uint64 (uint) uint", _same),
    declare("uint double_to_uint64 (double) uint", _double_to_uint),
    declare("uint int64_to_uint64 (int) uint", _int_to_uint),
    declare("uint string_to_uint64 (string) uint", _string_to_uint),
]

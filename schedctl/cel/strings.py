"""Functions of strings: CEL's own and the extension's. Positions count code points."""

from __future__ import annotations

from schedctl.cel.declarations import declare
from schedctl.cel.formatting import string_format
from schedctl.cel.values import NO_SUCH_OVERLOAD, Failure, Value, format_value

_SPACES = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
_LOWER = {ord(c): ord(c) + 32 for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_UPPER = {lower: upper for upper, lower in _LOWER.items()}


def _contains(text: Value, part: Value) -> Value:
    return part in text if isinstance(text, str) and isinstance(part, str) else NO_SUCH_OVERLOAD


def _starts_with(text: Value, part: Value) -> Value:
    return text.startswith(part) if isinstance(text, str) and isinstance(part, str) else NO_SUCH_OVERLOAD


def _ends_with(text: Value, part: Value) -> Value:
    return text.endswith(part) if isinstance(text, str) and isinstance(part, str) else NO_SUCH_OVERLOAD


def _out_of_range(index: int) -> Failure:
    return Failure(f"index out of range: {index}")


def _char_at(text: str, index: int) -> Value:
    return text[index : index + 1] if 0 <= index <= len(text) else _out_of_range(index)


def _index_of(text: str, part: str, start: int = 0) -> Value:
    if start < 0:
        return _out_of_range(start)
    # cel-go finds an empty text even beyond the end, where it finds nothing else.
    if not part:
        return min(start, len(text))
    return text.find(part, start) if start < len(text) else -1


def _last_index_of(text: str, part: str, end: int | None = None) -> Value:
    if end is not None and end < 0:
        return _out_of_range(end)
    if not part:
        return len(text) if end is None else min(end, len(text))
    if end is None:
        return text.rfind(part)
    return text.rfind(part, 0, end + len(part)) if end < len(text) else -1


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    return text.replace(old, new, max(count, -1))


def _split(text: str, separator: str, count: int = -1) -> list[str]:
    if count == 0:
        return []
    if separator:
        return text.split(separator, count - 1 if count > 0 else -1)
    pieces = list(text)
    if 0 < count < len(pieces):
        pieces[count - 1 :] = ["".join(pieces[count - 1 :])]
    return pieces


def _substring(text: str, start: int, end: int | None = None) -> Value:
    if end is not None and start > end:
        return Failure(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if index is not None and not 0 <= index <= len(text):
            return _out_of_range(index)
    return text[start:end]


def _join(texts: list[Value], separator: str = "") -> Value:
    for text in texts:
        if not isinstance(text, str):
            return Failure(f"join: invalid input: {format_value(text)}")
    return separator.join(texts)


_QUOTED = str.maketrans(
    {
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
        "\\": "\\\\",
        '"': '\\"',
    }
)

LIBRARY = [
    declare(".contains contains_string (string, string) bool", _contains, unguarded=True),
    declare(".endsWith ends_with_string (string, string) bool", _ends_with, unguarded=True),
    declare(".startsWith starts_with_string (string, string) bool", _starts_with, unguarded=True),
    declare(".charAt string_char_at_int (string, int) string", _char_at),
    declare(".indexOf string_index_of_string (string, string) int", _index_of),
    declare(".indexOf string_index_of_string_int (string, string, int) int", _index_of),
    declare(".lastIndexOf string_last_index_of_string (string, string) int", _last_index_of),
    declare(".lastIndexOf string_last_index_of_string_int (string, string, int) int", _last_index_of),
    declare(".lowerAscii string_lower_ascii (string) string", lambda text: text.translate(_LOWER)),
    declare(".upperAscii string_upper_ascii (string) string", lambda text: text.translate(_UPPER)),
    declare(".replace string_replace_string_string (string, string, string) string", _replace),
    declare(".replace string_replace_string_string_int (string, string, string, int) string", _replace),
    declare(".split string_split_string (string, string) list(string)", _split),
    declare(".split string_split_string_int (string, string, int) list(string)", _split),
    declare(".substring string_substring_int (string, int) string", _substring),
    declare(".substring string_substring_int_int (string, int, int) string", _substring),
    declare(".trim string_trim (string) string", lambda text: text.strip(_SPACES)),
    declare(".format string_format (string, list(dyn)) string", string_format),
    declare("strings.quote strings_quote (string) string", lambda text: f'"{text.translate(_QUOTED)}"'),
    declare(".join list_join (list(string)) string", _join),
    declare(".join list_join_string (list(string), string) string", _join),
]

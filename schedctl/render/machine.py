"""``-o json`` and ``-o yaml``: the report as it is, every field, in the order of its declaration.

The YAML is the JSON with indentation instead of brackets. Every text that could be read as anything but a text, by any
of the YAML parsers around Kubernetes, stands in double quotes, where YAML and JSON agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from schedctl.render import sanitise

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./()'=<-]*(?: [A-Za-z0-9_./()'=<>+-]+)*")
# What YAML 1.1 reads as booleans, null and numbers; `y` and `n` are booleans to go-yaml.
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"))


def json(document: msgspec.Struct | dict[str, Any] | list[Any]) -> str:
    """Return the document as indented JSON, with a newline at its end."""
    return sanitise.json(msgspec.json.format(encode(document), indent=2).decode()) + "\n"


def json_line(document: msgspec.Struct | dict[str, Any]) -> str:
    """Return the document as one line of JSON."""
    return sanitise.json(encode(document).decode()) + "\n"


def yaml(document: msgspec.Struct | dict[str, Any]) -> str:
    """Return the document as YAML."""
    return "".join(f"{line}\n" for line in _block(plain(document)))


def encode(value: Any) -> bytes:
    """Return a value as JSON, in UTF-8 whatever its texts hold."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # half a surrogate pair, which a plugin may put into any text
        return msgspec.json.encode(_encodable(msgspec.to_builtins(value)))


def _encodable(value: Any) -> Any:
    """Return plain values with nothing in their texts and names that UTF-8 cannot hold."""
    if isinstance(value, str):
        return sanitise.encodable(value)
    if isinstance(value, list | tuple):
        return [_encodable(each) for each in value]
    if isinstance(value, dict):
        return {_encodable(name): _encodable(each) for name, each in value.items()}
    return value


def plain(document: msgspec.Struct | dict[str, Any]) -> Any:
    """Return the document as maps, lists and scalars."""
    return msgspec.to_builtins(document)


def _block(value: Any) -> Iterator[str]:
    """Yield the lines of a map or a list, or the one line of a scalar."""
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from _entry(f"{_scalar(key)}:", each)
    elif isinstance(value, list) and value:
        for each in value:
            first, *rest = _block(each)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    else:
        yield _scalar(value)


def _entry(head: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict) and value:
        yield head
        yield from (f"  {line}" for line in _block(value))
    elif isinstance(value, list) and value:
        yield head
        yield from _block(value)
    else:
        yield f"{head} {_scalar(value)}"


def _scalar(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return sanitise.yaml(encode(value).decode())

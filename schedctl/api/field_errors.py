"""How Kubernetes words what is wrong with a field, for where its words end up in scheduler messages.

A selector that cannot be parsed ends a cycle with the text of ``field.ErrorList``: paths, the offending value and a
detail. Only the errors that scheduling can meet are here, and the syntax of label keys and values behind most of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_NAME})?"
_DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_SUBDOMAIN = rf"{_DNS_LABEL}(\.{_DNS_LABEL})*"
_ALPHANUMERIC = "must consist of alphanumeric characters, '-', '_' or '.', "
_ENDS = "and must start and end with an alphanumeric character"
_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
_ESCAPES |= {"\\": "\\\\", '"': '\\"'}


def quote(text: str) -> str:
    """Return a text in double quotes, escaped as Go's ``%q`` does."""
    return f'"{"".join(_ESCAPES.get(c) or (c if c.isprintable() else _escape(ord(c))) for c in text)}"'


def invalid(path: str, value: str | int | Sequence[str] | None, detail: str) -> str:
    """Return ``path: Invalid value: ...: detail``."""
    return f"{path}: Invalid value: {quote(value) if isinstance(value, str) else _json(value)}: {detail}"


def not_supported(path: str, value: str, supported: Iterable[str]) -> str:
    """Return ``path: Unsupported value: ...: supported values: ...``."""
    return f"{path}: Unsupported value: {quote(value)}: supported values: {', '.join(map(quote, supported))}"


def aggregate(problems: Iterable[str]) -> str:
    """Return several messages as one: each once, in brackets where there are more than one."""
    distinct = list(dict.fromkeys(problems))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"


@lru_cache(maxsize=8192)
def label_key_problems(key: str) -> tuple[str, ...]:
    """Return what is wrong with a label key (``prefix/name``), nothing if it is one."""
    *prefixes, name = key.split("/")
    examples = ("MyName", "my.name", "123-abc")
    if len(prefixes) > 1:
        form = _form(f"a valid label key {_ALPHANUMERIC}{_ENDS}", _NAME, *examples)
        return (f"{form} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",)
    problems = [f"prefix part {problem}" for prefix in prefixes for problem in _prefix_problems(prefix)]
    if not name:
        problems.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        problems.append("name part must be no more than 63 bytes")
    if re.fullmatch(_NAME, name) is None:
        problems.append(f"name part {_form(_ALPHANUMERIC + _ENDS, _NAME, *examples)}")
    return tuple(problems)


@lru_cache(maxsize=8192)
def label_value_problems(value: str) -> tuple[str, ...]:
    """Return what is wrong with a label value, nothing if it is one."""
    problems = []
    if len(value.encode()) > 63:
        problems.append("must be no more than 63 bytes")
    if re.fullmatch(_VALUE, value) is None:
        subject = f"a valid label must be an empty string or {_ALPHANUMERIC.removeprefix('must ')}{_ENDS}"
        problems.append(_form(subject, _VALUE, "MyValue", "my_value", "12345"))
    return tuple(problems)


def _prefix_problems(prefix: str) -> list[str]:
    if not prefix:
        return ["must be non-empty"]
    problems = []
    if len(prefix.encode()) > 253:
        problems.append("must be no more than 253 bytes")
    if re.fullmatch(_DNS_SUBDOMAIN, prefix) is None:
        subject = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
        problems.append(_form(subject + _ENDS, _DNS_SUBDOMAIN, "example.com"))
    return problems


def _form(subject: str, pattern: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{subject} (e.g. {shown}regex used for validation is '{pattern}')"


def _json(value: int | Sequence[str] | None) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _escape(code: int) -> str:
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

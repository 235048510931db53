"""What labels, names and expressions look like: a rule for each takes a text and returns what is wrong with it.

The rules are those of ``k8s.io/apimachinery`` (`validation` holds fields to them).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from schedctl.documents.findings import quote

Rule = Callable[[str], str]
"""Returns what is wrong with a text, "" if nothing is."""

_NAME_PART = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
DNS_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"(?=.{{1,253}}\Z){DNS_LABEL}(?:\.{DNS_LABEL})*")
_LABEL_NAME = re.compile(rf"(?=.{{1,63}}\Z){DNS_LABEL}")
_LABEL_KEY = re.compile(rf"(?:(?=[^/]{{1,253}}/){DNS_LABEL}(?:\.{DNS_LABEL})*/)?{_NAME_PART}")
_LABEL_VALUE = re.compile(rf"(?:{_NAME_PART})?")

_KEY_RULE = "at most 63 letters, digits, - _ . with a letter or digit at both ends, after an optional DNS prefix and /"
_VALUE_RULE = "at most 63 letters, digits, - _ . with a letter or digit at both ends"
_NAME_RULE = "lower-case letters, digits, - and . with a letter or digit at both ends"


@lru_cache(maxsize=1 << 14)
def label_key(text: str) -> str:
    """Return why a text is no label key."""
    return "" if _LABEL_KEY.fullmatch(text) else f"{quote(text)} is not a label key: {_KEY_RULE}"


@lru_cache(maxsize=1 << 14)
def label_value(text: str) -> str:
    """Return why a text is no label value."""
    return "" if _LABEL_VALUE.fullmatch(text) else f"{quote(text)} is not a label value: {_VALUE_RULE}"


@lru_cache(maxsize=1 << 14)
def object_name(text: str) -> str:
    """Return why a text is no DNS subdomain, as most objects are called."""
    return "" if _SUBDOMAIN.fullmatch(text) else f"{quote(text)} is not a name: {_NAME_RULE}"


@lru_cache(maxsize=1 << 14)
def dns_label(text: str) -> str:
    """Return why a text is no DNS label, as namespaces are called."""
    return (
        ""
        if _LABEL_NAME.fullmatch(text)
        else f"{quote(text)} is not a name: {_NAME_RULE.replace(', - and .', ' and -')}"
    )


_LONGEST_EXPRESSION = 10 << 10


def cel_expression(text: str) -> str:
    """Return why an expression of CEL is too long."""
    size = len(text.encode(errors="surrogatepass"))
    if size <= _LONGEST_EXPRESSION:
        return ""
    return f"a CEL expression has at most {_LONGEST_EXPRESSION} bytes, and this one {size}"

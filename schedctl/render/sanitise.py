"""Names from a cluster are untrusted: what could steer a terminal, or show as other than it is, is written out.

Control characters, escapes, bidirectional and invisible formatting, line separators and lone surrogates become their
escape in backslashes. In JSON and YAML texts the same characters are escaped in the format's own way, so nothing is
lost.
"""

from __future__ import annotations

import re

_UNSAFE = (
    "\x00-\x1f\x7f-\x9f"  # C0, DEL, C1
    "\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # invisible, bidi, line separators
    "\ufffe\uffff"  # no characters, which neither YAML nor XML can hold
    "\ud800-\udfff\U000e0000-\U000e007f"  # lone surrogates, tags
)
_TEXT = re.compile(f"[{_UNSAFE}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# In a document C0 stays: within texts the encoder has escaped it, between them are line breaks and indentation.
_QUOTED = re.compile(f"[{_UNSAFE.removeprefix(chr(0) + '-' + chr(31))}]")


def encodable(value: str) -> str:
    """Return a text that UTF-8 can hold: half a surrogate pair becomes U+FFFD."""
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)


def text(value: str) -> str:
    """Return a text that fits on a line and does nothing to a terminal."""
    return _TEXT.sub(_escape, value)


def json(document: str) -> str:
    """Return a JSON text without characters a terminal would act on; it means the same."""
    return _QUOTED.sub(_escape_json, document)


def yaml(scalar: str) -> str:
    """Return a double-quoted YAML scalar without characters a terminal would act on; it means the same."""
    return _QUOTED.sub(_escape, scalar)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escape_json(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))

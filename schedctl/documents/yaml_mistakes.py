"""What people usually did where libyaml says that something is not YAML."""

from __future__ import annotations

import re
from typing import Any, Final

from schedctl.documents import findings

_TABS: Final = "indent with spaces, not with tabs"
_ALIGN: Final = "keys of one mapping begin in the same column: compare the indentation of this line with the line above"
_ESCAPE: Final = "found unknown escape character"
_QUOTE: Final = "text that begins with this character has to be quoted"
_HINTS: Final = {
    "mapping values are not allowed in this context": "a value that contains `: ` has to be quoted; keys of one"
    " mapping begin in the same column, and a space follows their colon",
    "did not find expected key": _ALIGN,
    "did not find expected '-' indicator": "entries of one list begin with `- ` in the same column",
    "block sequence entries are not allowed in this context": "a list begins on the line below its key",
    "could not find expected ':'": "a key is followed by `: `; text of several lines is quoted, or begins with `|`",
    "did not find expected alphabetic or numeric character": _QUOTE,
    "found character that cannot start any token": _QUOTE,
    _ESCAPE: "in \"double quotes\" a backslash is written twice; in 'single quotes' once",
    "found unexpected document indicator": "a quote that was opened above is not closed",
}
"""The next step, by libyaml's words."""
_OPENED: Final = {
    "while parsing a flow sequence": "the [ of line {} is not closed, or a comma is missing",
    "while parsing a flow mapping": "the {{ of line {} is not closed, or a comma is missing",
    "while parsing a flow node": "the [ or {{ of line {} is not closed, or has a comma too many",
    "while scanning a quoted scalar": "the quote that opens in line {} is not closed",
}
"""What is not closed, by what libyaml was reading."""


def hint(error: Any, text: str, above: int = 0) -> str:
    """Return the next step after an error of libyaml, "" where none is known.

    Args:
        error: the `yaml.MarkedYAMLError`.
        text: the line it is about.
        above: how many lines stand above the text that libyaml read.
    """
    if "{{" in text:
        return findings.TEMPLATE
    if re.match(r"[ -]*\t", text):
        return _TABS
    opened = _OPENED.get(str(error.context))
    if opened and error.problem != _ESCAPE and error.context_mark is not None:
        return opened.format(above + error.context_mark.line + 1)
    return _HINTS.get(str(error.problem), "")

"""Regular expressions as Go reads them, in a time linear in the text.

RE2, of which Go's engine is a port, searches the bytes of a text. What is left to do here is to refuse the little that
only Go refuses, to say why in Go's words, and to walk from match to match by Go's rule for empty ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import islice
from typing import Any

from schedctl.cel.declarations import declare
from schedctl.cel.errors import Unsupported
from schedctl.cel.values import NO_SUCH_OVERLOAD, Failure, Value

_MOST_MEMORY = 64 << 20
"""Bytes for a compiled pattern and its search; RE2's own default is too small for ``\\pL{500}``."""
_MOST_GROUPS = 240
"""Parentheses that are sure to nest no deeper than Go's parser goes, which is 1000 levels of its tree."""
_MOST_REPEATS = 1000


class PatternError(ValueError):
    """A pattern that is not one; says why in Go's words."""

    def __init__(self, why: str, what: str) -> None:
        super().__init__(f"error parsing regexp: {why}: `{what}`")


class Pattern:
    """A compiled regular expression.

    Raises:
        PatternError: Go does not accept the text.
        Unsupported: it cannot be said whether Go accepts it, or RE2 would need too much memory.
    """

    def __init__(self, text: str) -> None:
        self._engine = _engine(text)

    def matches(self, text: str) -> bool:
        """Return whether the pattern is found anywhere in a text."""
        return self._search(_encode(text), 0) is not None

    def find(self, text: str) -> str:
        """Return the first match, "" if there is none."""
        return next(self._matches(text), "")

    def find_all(self, text: str, most: int) -> list[str]:
        """Return the matches that do not overlap, up to a number of them unless that is negative."""
        return list(islice(self._matches(text), most if most >= 0 else None))

    def _matches(self, text: str) -> Iterator[str]:
        """Yield the matches; an empty one right behind another does not count."""
        encoded = _encode(text)
        at, previous = 0, -1
        while at <= len(encoded):
            found = self._search(encoded, at)
            if found is None:
                return
            start, end = found
            if end > start or start != previous:
                yield encoded[start:end].decode(errors="surrogatepass")
            previous = end
            at = end if end > at else at + 1

    def _search(self, text: bytes, at: int) -> tuple[int, int] | None:
        """Return the first match from a position on; RE2's empty matches inside a character are none to Go."""
        while True:
            found = self._engine.search(text, at)
            if found is None:
                return None
            start, end = found.span()
            if start < end or start == len(text) or text[start] & 0xC0 != 0x80:
                return start, end
            at = start + 1


def _encode(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


# --- What Go refuses, and how it says so --------------------------------------------------------------------------

_ONLY_GO_REFUSES = re.compile(r"\\Q.*?(?:\\E|\Z)|\\(C)|\\.|\(\?P?<([^>]*[^\0-\x7f>][^>]*)>", re.DOTALL)
"""``\\C`` and names of groups that are not ASCII, outside of what is quoted."""
_NEITHER = "\uf8ff"
"""A character that neither engine accepts behind a backslash or in a name."""
_LARGE_COUNT = re.compile(r"(?<!\\x)\{[0-9,]*[0-9]{9}[0-9,]*\}")
"""What RE2 takes for text and Go for a count."""
_COUNT = re.compile(r"(\{(0|[1-9][0-9]*)(?:,(0|[1-9][0-9]*)?)?\})\??\Z")
_CLASS = re.compile(r"\\[pP]\{?\^?([A-Za-z_ -]+)\}?")
_GO_WORDS = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid UTF-8": "invalid UTF-8",
    "invalid character class": "invalid character class",
    "invalid character class range": "invalid character class range",
    "invalid escape sequence": "invalid escape sequence",
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "trailing \\": "trailing backslash at end of expression",
    "unexpected )": "unexpected )",
}
"""Go's words for RE2's."""


@cache
def _options() -> Any:
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _MOST_MEMORY
    return options


def _engine(text: str) -> Any:
    """Return RE2's pattern."""
    import re2

    if text.count("(") > _MOST_GROUPS or _LARGE_COUNT.search(text):
        raise Unsupported("patterns with very many groups or large counts", detail="a regular expression")
    tried = _ONLY_GO_REFUSES.sub(_spoilt, text)
    try:
        return re2.compile(_encode(tried), _options())
    except re2.error as error:
        (report,) = error.args
        why, _, what = report.decode(errors="surrogatepass").partition(": ")
    at = tried.find(what)
    raise _refusal(why, text[at : at + len(what)]) from None


def _spoilt(match: re.Match[str]) -> str:
    """Return what only Go refuses as something of the same length that RE2 refuses, too, and for the same reason."""
    if match[1]:
        return "\\" + _NEITHER
    return match[0].replace(match[2], _NEITHER * len(match[2])) if match[2] else match[0]


def _refusal(why: str, what: str) -> Exception:
    count = _COUNT.search(what) if "repetition" in why else None
    if count and not _counts(count[2], count[3]):
        # Go sees that a count is none before it looks what it counts, or how eagerly.
        return PatternError("invalid repeat count", count[1])
    name = _CLASS.fullmatch(what)
    if name and (len(name[1]) > 1 or name[1] in "clmnpsz"):
        # Go knows the classes by longer names, too, and in any case.
        return Unsupported("Unicode classes by such a name in patterns", detail=f"`{what}`")
    if why not in _GO_WORDS:
        return Unsupported("very large patterns", detail="a regular expression")
    return PatternError(_GO_WORDS[why], what)


def _counts(least: str, most: str | None) -> bool:
    """Return whether ``{2,5}`` is a count; one without a limit has none to keep."""
    if max(len(least), len(most or "")) > len(str(_MOST_REPEATS)):
        return False
    return int(least) <= int(most or least) <= _MOST_REPEATS


# --- The functions ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def compile_pattern(text: str) -> Pattern | PatternError:
    """Return the compiled pattern, or why it is none."""
    try:
        return Pattern(text)
    except PatternError as error:
        return error


def matches(text: Value, pattern: Value) -> Value:
    """Return whether the pattern is found in a text."""
    if not isinstance(pattern, str):
        return NO_SUCH_OVERLOAD
    found = compile_pattern(pattern)
    return found.matches(text) if isinstance(found, Pattern) else Failure(str(found))


def _find(text: str, pattern: str) -> Value:
    found = compile_pattern(pattern)
    return found.find(text) if isinstance(found, Pattern) else Failure(f"Illegal regex: {found}")


def _find_all(text: str, pattern: str, most: int = -1) -> Value:
    found = compile_pattern(pattern)
    return found.find_all(text, most) if isinstance(found, Pattern) else Failure(f"Illegal regex: {found}")


LIBRARY = [
    declare(".find string_find_string (string, string) string", _find),
    declare(".findAll string_find_all_string (string, string) list(string)", _find_all),
    declare(".findAll string_find_all_string_int (string, string, int) list(string)", _find_all),
]

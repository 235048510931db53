"""Regular expressions with Go's syntax, Go's errors, and a time linear in the text.

Python's own engine differs in what it accepts, in what ``$`` or the class of digits means, and in that a pattern can
keep it busy forever, so this is a small engine of its own: `_Parser` reads a pattern into a tree, `_Program` lays the
tree out as instructions, and `Pattern` runs all the ways through them in parallel, the preferred one first (Thompson's
construction, as Pike extended it).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from schedctl.devices.cel.declarations import declare
from schedctl.devices.cel.values import NO_SUCH_OVERLOAD, Failure, Value
from schedctl.errors import NotModelled

_MOST_REPEATS = 1000
_DEEPEST = 120
_LARGEST_PROGRAM = 100_000

Test = Callable[[str], bool]
"""Whether a character is of a class."""


class PatternError(ValueError):
    """A pattern that is not one; says why in Go's words."""

    def __init__(self, why: str, what: str) -> None:
        super().__init__(f"error parsing regexp: {why}: `{what}`")


class _Flags(NamedTuple):
    fold: bool = False
    multiline: bool = False
    dot_newline: bool = False
    lazy: bool = False


# --- The tree -----------------------------------------------------------------------------------------------------


class _Node:
    """A part of a pattern, with how deeply it is nested and how often the costliest part of it repeats."""

    depth = 1
    repeats = 1


class _Char(_Node):
    def __init__(self, test: Test) -> None:
        self.test = test


class _Anchor(_Node):
    def __init__(self, holds: Callable[[str, int], bool]) -> None:
        self.holds = holds


class _Sequence(_Node):
    def __init__(self, parts: list[_Node]) -> None:
        self.parts = parts
        self.depth = 1 + max((part.depth for part in parts), default=0)
        self.repeats = max((part.repeats for part in parts), default=1)


class _Choice(_Sequence):
    pass


class _Repeat(_Node):
    def __init__(self, part: _Node, least: int, most: int | None, lazy: bool, counted: bool) -> None:
        self.part, self.least, self.most, self.lazy = part, least, most, lazy
        self.depth = part.depth + 1
        times = least if most is None else most
        self.repeats = part.repeats * max(times, 1) if counted and times else 1 if counted else part.repeats


class _Group:
    """An open parenthesis: its finished alternatives, the current one, and the flags to restore."""

    def __init__(self, flags: _Flags) -> None:
        self.flags = flags
        self.choices: list[_Node] = []
        self.parts: list[_Node] = []

    def close(self) -> _Node:
        self.end_choice()
        return self.choices[0] if len(self.choices) == 1 else _Choice(self.choices)

    def end_choice(self) -> None:
        self.choices.append(_Sequence(self.parts))
        self.parts = []


# --- Reading ------------------------------------------------------------------------------------------------------


class _Parser:
    def __init__(self, pattern: str) -> None:
        self._all, self._at = pattern, 0
        self._flags = _Flags()
        self._groups = [_Group(self._flags)]

    def parse(self) -> _Node:
        last_repeat: int | None = None
        while self._at < len(self._all):
            start, repeat = self._at, None
            match self._all[start]:
                case "(":
                    self._open()
                case "|":
                    self._groups[-1].end_choice()
                    self._at += 1
                case ")":
                    self._close()
                case "^":
                    self._anchor(_line_start if self._flags.multiline else _text_start)
                case "$":
                    self._anchor(_line_end if self._flags.multiline else _text_end)
                case ".":
                    self._add(_Char(_anything if self._flags.dot_newline else _not_newline))
                    self._at += 1
                case "[":
                    self._add(_Char(self._class()))
                case "*" | "+" | "?" as operator:
                    self._at += 1
                    least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[operator]
                    self._repeat(start, least, most, last_repeat, counted=False)
                    repeat = start
                case "{":
                    if self._counted(last_repeat):
                        repeat = start
                    else:
                        self._literal("{")
                        self._at = start + 1
                case "\\":
                    self._escape()
                case c:
                    self._literal(c)
                    self._at += 1
            last_repeat = repeat
        if len(self._groups) > 1:
            raise PatternError("missing closing )", self._all)
        return self._groups[0].close()

    def _add(self, node: _Node) -> None:
        self._groups[-1].parts.append(node)

    def _literal(self, c: str) -> None:
        if self._flags.fold:
            same = _folded(c)
            self._add(_Char(same.__contains__))
        else:
            self._add(_Char(c.__eq__))

    def _anchor(self, holds: Callable[[str, int], bool], length: int = 1) -> None:
        self._add(_Anchor(holds))
        self._at += length

    def _open(self) -> None:
        if self._all.startswith("(?", self._at):
            self._open_flagged()
        else:
            self._groups.append(_Group(self._flags))
            self._at += 1

    def _open_flagged(self) -> None:
        start, text = self._at, self._all
        rest = text[start:]
        named = 4 if len(rest) > 4 and rest.startswith("(?P<") else 3 if len(rest) > 3 and rest[2] == "<" else 0
        if named:
            end = rest.find(">")
            if end < 0:
                raise PatternError("invalid named capture", rest)
            name = rest[named:end]
            if not name or not all(c == "_" or (c.isascii() and c.isalnum()) for c in name):
                raise PatternError("invalid named capture", rest[: end + 1])
            self._groups.append(_Group(self._flags))
            self._at += end + 1
            return
        flags, on, saw = self._flags, True, False
        at = start + 2
        while at < len(text):
            c = text[at]
            at += 1
            if c in _FLAGS:
                flags, saw = flags._replace(**{_FLAGS[c]: on}), True
            elif c == "-" and on:
                on, saw = False, False
            elif c in ":)" and (on or saw):
                if c == ":":
                    self._groups.append(_Group(self._flags))
                self._flags, self._at = flags, at
                return
            else:
                break
        raise PatternError("invalid or unsupported Perl syntax", text[start:at])

    def _close(self) -> None:
        if len(self._groups) == 1:
            raise PatternError("unexpected )", self._all)
        group = self._groups.pop()
        self._flags = group.flags
        self._add(group.close())
        self._at += 1

    def _counted(self, last_repeat: int | None) -> bool:
        """Read ``{2,5}`` and return True, or return False if it is no such thing."""
        start = self._at
        found = _count(self._all, start + 1)
        if found is None:
            return False
        least, at = found
        most: int | None = least
        if self._all[at : at + 1] == ",":
            at += 1
            if self._all[at : at + 1] == "}":
                most = None
            else:
                found = _count(self._all, at)
                if found is None:
                    return False
                most, at = found
        if self._all[at : at + 1] != "}":
            return False
        self._at = at + 1
        too_many = least > _MOST_REPEATS or (most is not None and (most > _MOST_REPEATS or least > most))
        if too_many:
            raise PatternError("invalid repeat count", self._all[start : self._at])
        self._repeat(start, least, most, last_repeat, counted=True)
        return True

    def _repeat(self, start: int, least: int, most: int | None, last_repeat: int | None, *, counted: bool) -> None:
        lazy = self._flags.lazy
        if self._all.startswith("?", self._at):
            self._at += 1
            lazy = not lazy
        if last_repeat is not None:
            raise PatternError("invalid nested repetition operator", self._all[last_repeat : self._at])
        parts = self._groups[-1].parts
        if not parts:
            raise PatternError("missing argument to repetition operator", self._all[start : self._at])
        parts[-1] = repeat = _Repeat(parts[-1], least, most, lazy, counted)
        if counted and (least >= 2 or (most or 0) >= 2) and repeat.repeats > _MOST_REPEATS:
            raise PatternError("invalid repeat count", self._all[start : self._at])

    def _escape(self) -> None:
        start = self._at
        match self._all[start + 1 : start + 2]:
            case "A":
                self._anchor(_text_start, 2)
            case "z":
                self._anchor(_text_end, 2)
            case "b":
                self._anchor(_word_boundary, 2)
            case "B":
                self._anchor(lambda text, at: not _word_boundary(text, at), 2)
            case "C":
                raise PatternError("invalid escape sequence", r"\C")
            case "Q":
                end = self._all.find(r"\E", start + 2)
                for c in self._all[start + 2 : end if end >= 0 else None]:
                    self._literal(c)
                self._at = end + 2 if end >= 0 else len(self._all)
            case _:
                test = self._class_escape()
                if test is not None:
                    self._add(_Char(test))
                else:
                    self._literal(self._character_escape())

    def _class_escape(self) -> Test | None:
        """Read a class such as that of digits or of ``{Lu}``; return None and read nothing if neither is here."""
        start, text = self._at, self._all
        letter = text[start + 1 : start + 2] if text.startswith("\\", start) else ""
        if letter in ("p", "P"):
            return self._unicode_class()
        if letter and letter in "dDsSwW":
            self._at += 2
            chars = _PERL[letter.lower()]
            return chars.__contains__ if letter.islower() else _negated(chars.__contains__)
        return None

    def _unicode_class(self) -> Test | None:
        start, text = self._at, self._all
        if len(text) < start + 3:
            raise PatternError("invalid character class range", text[start:])
        if text[start + 2] == "{":
            end = text.find("}", start)
            if end < 0:
                raise PatternError("invalid character class range", text[start:])
            sequence, name = text[start : end + 1], text[start + 3 : end]
        else:
            sequence, name = text[start : start + 3], text[start + 2]
        negated = text[start + 1] == "P"
        if name.startswith("^"):
            negated, name = not negated, name[1:]
        self._at = start + len(sequence)
        if not name:
            raise PatternError("invalid character class range", sequence)
        test = _unicode_test(name, sequence)
        if self._flags.fold:
            raise NotModelled("DynamicResources", "Unicode classes in a pattern that ignores case", f"`{text}`")
        return _negated(test) if negated else test

    def _character_escape(self) -> str:
        start, text = self._at, self._all
        if start + 1 >= len(text):
            raise PatternError("trailing backslash at end of expression", "")
        c = text[start + 1]
        at = start + 2
        if c.isascii() and not c.isalnum():
            self._at = at
            return c
        if c in _CONTROLS:
            self._at = at
            return _CONTROLS[c]
        if c in "01234567" and (c == "0" or text[at : at + 1] in tuple("01234567")):
            end = at
            while end < start + 4 and text[end : end + 1] in tuple("01234567"):
                end += 1
            self._at = end
            return chr(int(text[start + 1 : end], 8))
        if c == "x" and at < len(text):
            at, value = _hexadecimal(text, at)
            if value is not None:
                self._at = at
                return chr(value)
        raise PatternError("invalid escape sequence", text[start:at])

    # --- Classes ---

    def _class(self) -> Test:
        start, text = self._at, self._all
        self._at += 1
        negated = text.startswith("^", self._at)
        if negated:
            self._at += 1
        tests: list[Test] = []
        ranges: list[tuple[str, str]] = []
        first = True
        while self._at >= len(text) or text[self._at] != "]" or first:
            first = False
            test = self._posix_class() or self._class_escape()
            if test is not None:
                tests.append(test)
                continue
            at = self._at
            low = high = self._class_character(start)
            if text.startswith("-", self._at) and text[self._at + 1 : self._at + 2] not in ("", "]"):
                self._at += 1
                high = self._class_character(start)
                if high < low:
                    raise PatternError("invalid character class range", text[at : self._at])
            ranges.append((low, high))
        self._at += 1
        test = _class_test(ranges, tests, self._flags.fold)
        return _negated(test) if negated else test

    def _posix_class(self) -> Test | None:
        start, text = self._at, self._all
        if not text.startswith("[:", start) or len(text) <= start + 2:
            return None
        end = text.find(":]", start + 2)
        if end < 0:
            return None
        name = text[start : end + 2]
        inverted = name.startswith("[:^")
        chars = _POSIX.get(name[3 if inverted else 2 : -2])
        if chars is None:
            raise PatternError("invalid character class range", name)
        self._at = end + 2
        return _negated(chars.__contains__) if inverted else chars.__contains__

    def _class_character(self, start: int) -> str:
        text = self._all
        if self._at >= len(text):
            raise PatternError("missing closing ]", text[start:])
        if text[self._at] == "\\":
            return self._character_escape()
        self._at += 1
        return text[self._at - 1]


_FLAGS = {"i": "fold", "m": "multiline", "s": "dot_newline", "U": "lazy"}
_CONTROLS = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_DIGITS = frozenset("0123456789")
_LOWER = frozenset("abcdefghijklmnopqrstuvwxyz")
_UPPER = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_WORD = _DIGITS | _LOWER | _UPPER | {"_"}
_PERL = {"d": _DIGITS, "s": frozenset("\t\n\f\r "), "w": _WORD}
_ASCII = frozenset(map(chr, range(128)))
_GRAPH = frozenset(map(chr, range(0x21, 0x7F)))
_POSIX = {
    "alnum": _DIGITS | _LOWER | _UPPER,
    "alpha": _LOWER | _UPPER,
    "ascii": _ASCII,
    "blank": frozenset("\t "),
    "cntrl": _ASCII - _GRAPH - {" "},
    "digit": _DIGITS,
    "graph": _GRAPH,
    "lower": _LOWER,
    "print": _GRAPH | {" "},
    "punct": _GRAPH - _DIGITS - _LOWER - _UPPER,
    "space": frozenset("\t\n\v\f\r "),
    "upper": _UPPER,
    "word": _WORD,
    "xdigit": frozenset("0123456789abcdefABCDEF"),
}
_CATEGORIES = frozenset(
    ("C", "Cc", "Cf", "Cn", "Co", "Cs", "L", "LC", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn")
) | frozenset(
    (
        "N",
        "Nd",
        "Nl",
        "No",
        "P",
        "Pc",
        "Pd",
        "Pe",
        "Pf",
        "Pi",
        "Po",
        "Ps",
        "S",
        "Sc",
        "Sk",
        "Sm",
        "So",
        "Z",
        "Zl",
        "Zp",
        "Zs",
    )
)


def _count(text: str, at: int) -> tuple[int, int] | None:
    """Return a decimal number without leading zeros, and where it ends."""
    end = at
    while text[end : end + 1] in tuple("0123456789"):
        end += 1
    if end == at or (end - at > 1 and text[at] == "0"):
        return None
    return int(text[at : min(end, at + 9)]), end


def _hexadecimal(text: str, at: int) -> tuple[int, int | None]:
    """Return where an escape ends, and the code point after an ``x``, None if there is none."""
    if text[at] != "{":
        digits = text[at : at + 2]
        good = len(digits) == 2 and all(d in _POSIX["xdigit"] for d in digits)
        return min(at + 2, len(text)), int(digits, 16) if good else None
    at += 1
    value, digits_seen = 0, 0
    while at < len(text):
        c = text[at]
        at += 1
        if c == "}":
            return at, value if digits_seen else None
        if c not in _POSIX["xdigit"]:
            return at, None
        value, digits_seen = value * 16 + int(c, 16), digits_seen + 1
        if value > 0x10FFFF:
            return at, None
    return at, None


def _anything(c: str) -> bool:
    return True


def _not_newline(c: str) -> bool:
    return c != "\n"


def _negated(test: Test) -> Test:
    return lambda c: not test(c)


def _folded(c: str) -> frozenset[str]:
    """Return the characters that differ from one only in case."""
    same = {c, *(x for x in (c.lower(), c.upper(), c.title()) if len(x) == 1)}
    for letter, sign in (("k", "\u212a"), ("s", "\u017f")):
        if letter in same or sign in same:
            same |= {letter, letter.upper(), sign}
    return frozenset(same)


def _class_test(ranges: list[tuple[str, str]], tests: list[Test], fold: bool) -> Test:
    def test(c: str) -> bool:
        return any(low <= c <= high for low, high in ranges) or any(t(c) for t in tests)

    if not fold:
        return test
    return lambda c: any(low <= x <= high for x in _folded(c) for low, high in ranges) or any(t(c) for t in tests)


def _unicode_test(name: str, sequence: str) -> Test:
    canonical = name[:1].upper() + name[1:].lower().replace("_", "").replace("-", "").replace(" ", "")
    if canonical == "Any":
        return _anything
    if canonical == "Ascii":
        return _ASCII.__contains__
    if canonical == "Lc":
        return lambda c: unicodedata.category(c) in ("Lu", "Ll", "Lt")
    if canonical in _CATEGORIES:
        return lambda c: unicodedata.category(c).startswith(canonical)
    if len(name) <= 2:
        raise PatternError("invalid character class range", sequence)
    raise NotModelled("DynamicResources", "Unicode scripts in patterns", f"`{sequence}`")


def _text_start(text: str, at: int) -> bool:
    return at == 0


def _text_end(text: str, at: int) -> bool:
    return at == len(text)


def _line_start(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] == "\n"


def _line_end(text: str, at: int) -> bool:
    return at == len(text) or text[at] == "\n"


def _word_boundary(text: str, at: int) -> bool:
    return (at > 0 and text[at - 1] in _WORD) is not (at < len(text) and text[at] in _WORD)


# --- Running ------------------------------------------------------------------------------------------------------


class _Program:
    """The instructions: a test of a character, an anchor, a fork (preferred way first), or None for a match."""

    def __init__(self, root: _Node) -> None:
        self.steps: list[Any] = []
        self._emit(root)
        self.steps.append(None)

    def _emit(self, node: _Node) -> None:
        if len(self.steps) > _LARGEST_PROGRAM:
            raise NotModelled("DynamicResources", "very large patterns", "a regular expression")
        match node:
            case _Char():
                self.steps.append(node.test)
            case _Anchor():
                self.steps.append(("anchor", node.holds))
            case _Choice():
                self._choice(node.parts)
            case _Sequence():
                for part in node.parts:
                    self._emit(part)
            case _Repeat():
                self._repeat(node)

    def _fork(self) -> int:
        self.steps.append(("fork", 0, 0))
        return len(self.steps) - 1

    def _choice(self, parts: list[_Node]) -> None:
        ends = []
        for part in parts[:-1]:
            fork = self._fork()
            self._emit(part)
            ends.append(self._fork())
            self.steps[fork] = ("fork", fork + 1, len(self.steps))
        self._emit(parts[-1])
        for end in ends:
            self.steps[end] = ("fork", len(self.steps), len(self.steps))

    def _repeat(self, node: _Repeat) -> None:
        for _ in range(node.least):
            self._emit(node.part)
        forks = []
        if node.most is None:
            fork = self._fork()
            self._emit(node.part)
            self.steps.append(("fork", fork, fork))
            forks.append(fork)
        else:
            for _ in range(node.most - node.least):
                forks.append(self._fork())
                self._emit(node.part)
        end = len(self.steps)
        for fork in forks:
            self.steps[fork] = ("fork", end, fork + 1) if node.lazy else ("fork", fork + 1, end)


class Pattern:
    """A compiled regular expression."""

    def __init__(self, text: str) -> None:
        root = _Parser(text).parse()
        if root.depth > _DEEPEST:
            raise NotModelled("DynamicResources", "very deeply nested patterns", "a regular expression")
        self._steps = _Program(root).steps

    def matches(self, text: str) -> bool:
        """Return whether the pattern is found anywhere in a text."""
        return self._search(text, 0, any_match=True) is not None

    def find(self, text: str) -> str:
        """Return the first match, "" if there is none."""
        found = self._search(text, 0)
        return text[found[0] : found[1]] if found else ""

    def find_all(self, text: str, most: int) -> list[str]:
        """Return the matches that do not overlap, up to a number of them unless that is negative."""
        matches = self._matches(text)
        if most < 0:
            return list(matches)
        return [match for match, _ in zip(matches, range(most), strict=False)]

    def _matches(self, text: str) -> Iterator[str]:
        at, previous = 0, -1
        while at <= len(text):
            found = self._search(text, at)
            if found is None:
                return
            start, end = found
            if end > start or start != previous:
                yield text[start:end]
            previous = end
            at = end if end > at else at + 1

    def _search(self, text: str, at: int, *, any_match: bool = False) -> tuple[int, int] | None:
        steps = self._steps
        ways: dict[int, int] = {}
        found: tuple[int, int] | None = None
        while True:
            if found is None:
                self._follow(ways, 0, at, text, at)
            following: dict[int, int] = {}
            for step, start in ways.items():
                test = steps[step]
                if test is None:
                    found = (start, at)
                    break
                if at < len(text) and test(text[at]):
                    self._follow(following, step + 1, start, text, at + 1)
            if (found and any_match) or at >= len(text) or (found and not following):
                return found
            ways, at = following, at + 1

    def _follow(self, ways: dict[int, int], step: int, start: int, text: str, at: int) -> None:
        """Add the character tests that are reached from a step without reading, in the order of preference."""
        pending = [step]
        seen: set[int] = set()
        while pending:
            step = pending.pop()
            if step in ways or step in seen:
                continue
            instruction = self._steps[step]
            if instruction.__class__ is not tuple:
                ways[step] = start
                continue
            seen.add(step)
            if instruction[0] == "fork":
                pending.append(instruction[2])
                pending.append(instruction[1])
            elif instruction[1](text, at):
                pending.append(step + 1)


@lru_cache(maxsize=256)
def compiled(text: str) -> Pattern | PatternError:
    """Return the compiled pattern, or why it is none."""
    try:
        return Pattern(text)
    except PatternError as error:
        return error


def matches(text: Value, pattern: Value) -> Value:
    """Return whether the pattern is found in a text."""
    if not isinstance(pattern, str):
        return NO_SUCH_OVERLOAD
    found = compiled(pattern)
    return found.matches(text) if isinstance(found, Pattern) else Failure(str(found))


def _find(text: str, pattern: str) -> Value:
    found = compiled(pattern)
    return found.find(text) if isinstance(found, Pattern) else Failure(f"Illegal regex: {found}")


def _find_all(text: str, pattern: str, most: int = -1) -> Value:
    found = compiled(pattern)
    return found.find_all(text, most) if isinstance(found, Pattern) else Failure(f"Illegal regex: {found}")


LIBRARY = [
    declare(".find string_find_string (string, string) string", _find),
    declare(".findAll string_find_all_string (string, string) list(string)", _find_all),
    declare(".findAll string_find_all_string_int (string, string, int) list(string)", _find_all),
]

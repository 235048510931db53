"""Semantic versions: ``semver("1.2.3-rc.1")`` and the version attributes of a device."""

from __future__ import annotations

from functools import lru_cache

from schedctl.cel import values
from schedctl.cel.declarations import declare
from schedctl.cel.values import Failure, Value

_DIGITS = frozenset("0123456789")
_WORD = _DIGITS | frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-")


class Semver(values.Opaque):
    """A semantic version; build metadata is checked but never compared.

    Attributes:
        text: as it is written, build metadata included.
    """

    __slots__ = ("_key", "major", "minor", "patch", "text")
    type_name = "kubernetes.Semver"
    hashable = False

    def __init__(
        self, major: int, minor: int, patch: int, prerelease: tuple[int | str, ...] = (), text: str = ""
    ) -> None:
        self.text = text
        self.major, self.minor, self.patch = major, minor, patch
        # Numbers before words, and a release after all its pre-releases.
        order = tuple((0, p, "") if isinstance(p, int) else (1, 0, p) for p in prerelease)
        self._key = (major, minor, patch, not prerelease, order)

    def compare(self, other: Semver) -> int:
        """Return -1, 0 or 1 as this version is older than, as old as or newer than the other."""
        return (self._key > other._key) - (self._key < other._key)

    def equals(self, other: Value) -> bool | Failure:
        """Return whether both have the same precedence."""
        return self._key == other._key if isinstance(other, Semver) else values.failure_or_no_overload(other)


class SemverError(ValueError):
    """A text that is not a semantic version; says why in the words of kube-scheduler's parser."""


@lru_cache(maxsize=4096)
def parse(text: str) -> Semver:
    """Return the version a text writes.

    Raises:
        SemverError: it writes none.
    """
    if not text:
        raise SemverError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) < 3:
        raise SemverError("No Major.Minor.Patch elements found")
    major, minor = _number(parts[0], "major"), _number(parts[1], "minor")
    rest, plus, build = parts[2].partition("+")
    patch, dash, prerelease = rest.partition("-")
    words = tuple(map(_identifier, prerelease.split("."))) if dash else ()
    version = Semver(major, minor, _number(patch, "patch"), words, text)
    for word in build.split(".") if plus else ():
        if not word:
            raise SemverError("Build meta data is empty")
        if not _WORD.issuperset(word):
            raise SemverError(f"Invalid character(s) found in build meta data {values.go_quoted(word)}")
    return version


def _number(text: str, what: str) -> int:
    if not _DIGITS.issuperset(text):
        raise SemverError(f"Invalid character(s) found in {what} number {values.go_quoted(text)}")
    if len(text) > 1 and text[0] == "0":
        raise SemverError(f"{what.capitalize()} number must not contain leading zeroes {values.go_quoted(text)}")
    return _uint64(text)


def _uint64(text: str) -> int:
    if not text:
        raise SemverError('strconv.ParseUint: parsing "": invalid syntax')
    if len(text) > 20 or int(text) > values.MAX_UINT64:
        raise SemverError(f"strconv.ParseUint: parsing {values.go_quoted(text)}: value out of range")
    return int(text)


def _identifier(text: str) -> int | str:
    if not text:
        raise SemverError("Prerelease is empty")
    if _DIGITS.issuperset(text):
        if len(text) > 1 and text[0] == "0":
            raise SemverError(f"Numeric PreRelease version must not contain leading zeroes {values.go_quoted(text)}")
        return _uint64(text)
    if not _WORD.issuperset(text):
        raise SemverError(f"Invalid character(s) found in prerelease {values.go_quoted(text)}")
    return text


def _normalize(text: str) -> str:
    """Return a lenient version as a strict one: without "v" and leading zeros, with minor and patch."""
    parts = text.removeprefix("v").split(".", 2)
    for i, part in enumerate(parts):
        if len(part.encode(errors="surrogatepass")) > 1:
            stripped = part.lstrip("0")
            parts[i] = stripped if stripped[:1] in _DIGITS and stripped else "0" + stripped
    if len(parts) < 3:
        if "+" in parts[-1] or "-" in parts[-1]:
            raise SemverError("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


def _semver(text: str, normalize: bool = False) -> Value:
    try:
        return parse(_normalize(text) if normalize else text)
    except SemverError as error:
        return Failure(str(error))


def _is_semver(text: str, normalize: bool = False) -> bool:
    return isinstance(_semver(text, normalize), Semver)


def _as_signed(value: int) -> int:
    """Return a uint64 as Go converts it to an int64."""
    return value - (1 << 64) if value >> 63 else value


LIBRARY = [
    declare("semver string_to_semver (string) Semver", _semver),
    declare("semver string_bool_to_semver (string, bool) Semver", _semver),
    declare("isSemver is_semver_string (string) bool", _is_semver),
    declare("isSemver is_semver_string_bool (string, bool) bool", _is_semver),
    declare(".isGreaterThan semver_is_greater_than (Semver, Semver) bool", lambda a, b: a.compare(b) > 0),
    declare(".isLessThan semver_is_less_than (Semver, Semver) bool", lambda a, b: a.compare(b) < 0),
    declare(".compareTo semver_compare_to (Semver, Semver) int", lambda a, b: a.compare(b)),
    declare(".major semver_major (Semver) int", lambda v: _as_signed(v.major)),
    declare(".minor semver_minor (Semver) int", lambda v: _as_signed(v.minor)),
    declare(".patch semver_patch (Semver) int", lambda v: _as_signed(v.patch)),
]

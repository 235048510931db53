"""Lengths of time as configurations write them: Go's ``15s``, ``1m30s``, ``100ms``.

The grammar and the rounding are Go's ``time.ParseDuration``, and the text given back is the one kube-scheduler prints,
so that ``600s`` reads ``10m0s`` in a message here as there.
"""

from __future__ import annotations

import re
from typing import Final

SECOND: Final = 1_000_000_000
_UNITS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,  # the micro sign
    "μs": 1_000,  # the Greek letter
    "ms": 1_000_000,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3_600 * SECOND,
}
_LARGEST: Final = 1 << 63
_DIGITS: Final = len(str(_LARGEST))
_PART: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]*)")


class Duration(int):
    """A length of time in nanoseconds, an int64 in Go and an ``int`` here; ``str()`` writes it as Go does."""

    @classmethod
    def parse(cls, text: str) -> Duration:
        """Read a duration.

        Raises:
            ValueError: the text is no duration, or longer than an int64 of nanoseconds; the message says which.
        """
        sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
        if rest == "0":
            return cls(0)
        total = 0
        at = 0
        while at < len(rest) or not rest:
            part = _PART.match(rest, at)
            if part is None or not (part[1] or part[2]):
                raise ValueError(f'"{text}" is not a duration')
            if not part[3]:
                raise ValueError(f'the duration "{text}" lacks a unit')
            if part[3] not in _UNITS:
                raise ValueError(f'unknown unit "{part[3]}" in the duration "{text}"')
            digits, unit = part[1].lstrip("0"), _UNITS[part[3]]
            if len(digits) > _DIGITS:
                raise ValueError(f'the duration "{text}" is too long')
            total += int(digits or 0) * unit + _fraction(part[2] or "", unit)
            at = part.end()
        if total > _LARGEST - (sign > 0):
            raise ValueError(f'the duration "{text}" is too long')
        return cls(sign * total)

    @property
    def seconds(self) -> float:
        """The same length in seconds."""
        return self / SECOND

    def __str__(self) -> str:
        sign = "-" if self < 0 else ""
        length = abs(int(self))
        if length == 0:
            return "0s"
        if length < SECOND:
            unit, size = next((u, _UNITS[u]) for u in ("ms", "µs", "ns") if length >= _UNITS[u])
            return f"{sign}{_decimal(length, size)}{unit}"
        minutes, rest = divmod(length, 60 * SECOND)
        hours, minutes = divmod(minutes, 60)
        text = f"{_decimal(rest, SECOND)}s"
        if hours or minutes:
            text = f"{minutes}m{text}"
        return f"{sign}{hours}h{text}" if hours else sign + text


def _fraction(digits: str, unit: int) -> int:
    """Return what the digits after the point are worth, in float64 and cut off where an int64 overflows, as in Go."""
    value, scale = 0, 1.0
    for digit in digits:
        # as in Go, digits beyond an int64 are dropped
        if value > (_LARGEST - 1) // 10 or value * 10 + int(digit) > _LARGEST:
            break
        value, scale = value * 10 + int(digit), scale * 10
    return int(float(value) * (unit / scale))


def _decimal(length: int, unit: int) -> str:
    whole, rest = divmod(length, unit)
    if not rest:
        return str(whole)
    return f"{whole}.{str(rest).zfill(len(str(unit)) - 1).rstrip('0')}"

"""Durations and timestamps: Go's duration syntax, RFC 3339 as Go reads it, and the parts of both."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from schedctl.api import durations
from schedctl.cel import values
from schedctl.cel.declarations import Overload, declare
from schedctl.cel.values import Failure, Value

_SECOND = 10**9
_LEAST_SECOND, _MOST_SECOND = -62135596800, 253402300799
"""The first second of the year 1, the last of the year 9999."""
_EPOCH = date(1970, 1, 1).toordinal()
_MOST_DIGITS = 19
"""Of a number that can fit an int64."""
_RFC3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)
_DATE = re.compile("([0-9]{4})-([0-9]{2})-([0-9]{2})", re.ASCII)
TIMESTAMP_OVERFLOW = Failure("timestamp overflow")
DURATION_OVERFLOW = Failure("integer overflow")


def parse_duration(text: str) -> values.Duration | None:
    """Return what ``1h30m`` or ``-1.5s`` means, None if it is not a duration."""
    try:
        return values.Duration(int(durations.Duration.parse(text)))
    except ValueError:
        return None


def parse_timestamp(text: str) -> values.Timestamp | Failure | None:
    """Return the moment an RFC 3339 text means, None if it is not one."""
    match = _RFC3339.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    fraction = (match[7] or "")[:9].ljust(9, "0")
    if not (1 <= month <= 12 and hour < 24 and minute < 60 and second < 60 and 1 <= day <= _days(year, month)):
        return None
    offset = 0
    if match[8]:
        if int(match[9]) > 24 or int(match[10]) > 60:
            return None
        offset = (int(match[9]) * 60 + int(match[10])) * (60 if match[8] == "+" else -60)
    # Python knows no year 0; 400 years are the same number of days everywhere.
    days = date(year + 400 if year < 400 else year, month, day).toordinal() - _EPOCH - (146097 if year < 400 else 0)
    seconds = ((days * 24 + hour) * 60 + minute) * 60 + second - offset
    if not _LEAST_SECOND <= seconds <= _MOST_SECOND:
        return TIMESTAMP_OVERFLOW
    return values.Timestamp(seconds * _SECOND + int(fraction), offset)


def is_date(text: str) -> bool:
    """Return whether a text is a calendar date, ``2006-01-02``."""
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    year, month, day = map(int, match.groups())
    return 1 <= month <= 12 and 1 <= day <= _days(year, month)


def _days(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def timestamp_of_seconds(seconds: int) -> values.Timestamp | Failure:
    """Return the moment that many seconds after 1970."""
    if not _LEAST_SECOND <= seconds <= _MOST_SECOND:
        return TIMESTAMP_OVERFLOW
    return values.Timestamp(seconds * _SECOND)


def duration_text(value: values.Duration) -> str:
    """Return a duration in seconds, e.g. ``3600s``."""
    return values.go_fixed(_in(value.nanoseconds, _SECOND)) + "s"


def timestamp_text(value: values.Timestamp) -> str:
    """Return a timestamp in RFC 3339, in the zone it was written in."""
    at = _Civil.of(value, value.offset)
    text = f"{at.year:04d}-{at.month:02d}-{at.day:02d}T{at.hour:02d}:{at.minute:02d}:{at.second:02d}"
    if at.nanosecond:
        text += "." + f"{at.nanosecond:09d}".rstrip("0")
    if not value.offset:
        return text + "Z"
    hours, minutes = divmod(abs(value.offset) // 60, 60)
    return f"{text}{'-' if value.offset < 0 else '+'}{hours:02d}:{minutes:02d}"


class _Civil(NamedTuple):
    """A date and time of day; the years 0 and 10000, which Python does not know, occur at the rim."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int
    nanosecond: int
    weekday: int

    @classmethod
    def of(cls, value: values.Timestamp, offset: int) -> _Civil:
        """Return the moment as clocks show it that are some seconds ahead of UTC."""
        seconds, nanosecond = divmod(value.nanoseconds, _SECOND)
        days, second = divmod(seconds + offset, 86400)
        # Eras of 400 years that start on a 1 March, as months then start on regular days.
        era, day = divmod(days + 719468, 146097)
        year = (day - day // 1460 + day // 36524 - day // 146096) // 365
        day -= 365 * year + year // 4 - year // 100
        month = (5 * day + 2) // 153  # months of 31 and 30 days in turn: five of them have 153
        return cls(
            year + era * 400 + (month >= 10),
            month + 3 if month < 10 else month - 9,
            day - (153 * month + 2) // 5 + 1,
            second // 3600,
            second // 60 % 60,
            second % 60,
            nanosecond,
            (days + 4) % 7,
        )

    @property
    def day_of_year(self) -> int:
        """The day of the year, from 0."""
        return sum(_days(self.year, month) for month in range(1, self.month)) + self.day - 1


# --- Arithmetic ---------------------------------------------------------------------------------------------------


def add_durations(a: values.Duration, b: values.Duration) -> values.Duration | Failure:
    """Return the sum."""
    return _duration(a.nanoseconds + b.nanoseconds)


def subtract_durations(a: values.Duration, b: values.Duration) -> values.Duration | Failure:
    """Return the difference."""
    return _duration(a.nanoseconds - b.nanoseconds)


def negate_duration(a: values.Duration) -> values.Duration | Failure:
    """Return the opposite."""
    return _duration(-a.nanoseconds)


def shift_timestamp(a: values.Timestamp, b: values.Duration, sign: int = 1) -> values.Timestamp | Failure:
    """Return the moment a duration later, or earlier."""
    if sign < 0 and b.nanoseconds == values.MIN_INT64:
        return DURATION_OVERFLOW
    total = a.nanoseconds + sign * b.nanoseconds
    if not _LEAST_SECOND <= total // _SECOND <= _MOST_SECOND:
        return TIMESTAMP_OVERFLOW
    return values.Timestamp(total, a.offset)


def between_timestamps(a: values.Timestamp, b: values.Timestamp) -> values.Duration | Failure:
    """Return the time from `b` to `a`; fails already when its whole seconds do not fit."""
    seconds = (a.nanoseconds // _SECOND - b.nanoseconds // _SECOND) * _SECOND
    if not values.MIN_INT64 <= seconds <= values.MAX_INT64:
        return DURATION_OVERFLOW
    return _duration(a.nanoseconds - b.nanoseconds)


def _duration(nanoseconds: int) -> values.Duration | Failure:
    return values.Duration(nanoseconds) if values.MIN_INT64 <= nanoseconds <= values.MAX_INT64 else DURATION_OVERFLOW


# --- Parts --------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _zone(name: str) -> int | ZoneInfo | Failure:
    """Return the time zone of that name, or the seconds that an offset such as ``-08:00`` stands for."""
    if ":" in name:
        hours, _, minutes = name.partition(":")
        parts = []
        for part in (hours, minutes):
            if not re.fullmatch("[+-]?[0-9]+", part):
                return Failure(f"strconv.Atoi: parsing {values.go_quoted(part)}: invalid syntax")
            part = re.sub("^([+-]?)0+(?=[0-9])", r"\1", part)
            if len(part.lstrip("+-")) >= _MOST_DIGITS:
                return Failure(f"strconv.Atoi: parsing {values.go_quoted(part)}: value out of range")
            parts.append(int(part))
        return 60 * (parts[0] * 60 + (-parts[1] if name.startswith("-") else parts[1]))
    if name in ("", "UTC", "Local"):
        # The images of kube-scheduler live in UTC.
        return 0
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return Failure(f"unknown time zone {name}")


def _offset(value: values.Timestamp, zone: ZoneInfo) -> int:
    """Return how many seconds a zone is ahead of UTC at a moment."""
    seconds = value.nanoseconds // _SECOND
    # A few centuries off where Python's calendar ends, which changes nothing there.
    shift = 1 if seconds < _LEAST_SECOND + 172800 else -1 if seconds > _MOST_SECOND - 172800 else 0
    moment = datetime.fromtimestamp(0, UTC) + timedelta(seconds=seconds + shift * 146097 * 86400)
    offset = moment.astimezone(zone).utcoffset()
    return int(offset.total_seconds()) if offset else 0


def _part(part: Callable[[_Civil], int]) -> Callable[..., Value]:
    def of(value: values.Timestamp, zone: str = "UTC") -> Value:
        found = _zone(zone)
        if isinstance(found, Failure):
            return found
        return part(_Civil.of(value, found if isinstance(found, int) else _offset(value, found)))

    return of


def _in(nanoseconds: int, unit: int) -> float:
    """Return a span in a unit, the way Go computes it in double precision: whole units plus the rest."""
    whole, rest = divmod(abs(nanoseconds), unit)
    return (1 if nanoseconds >= 0 else -1) * (float(whole) + float(rest) / unit)


_PARTS: dict[str, tuple[str, Callable[[_Civil], int]]] = {
    "getFullYear": ("timestamp_to_year", lambda t: t.year),
    "getMonth": ("timestamp_to_month", lambda t: t.month - 1),
    "getDayOfYear": ("timestamp_to_day_of_year", lambda t: t.day_of_year),
    "getDayOfMonth": ("timestamp_to_day_of_month", lambda t: t.day - 1),
    "getDate": ("timestamp_to_day_of_month_1_based", lambda t: t.day),
    "getDayOfWeek": ("timestamp_to_day_of_week", lambda t: t.weekday),
    "getHours": ("timestamp_to_hours", lambda t: t.hour),
    "getMinutes": ("timestamp_to_minutes", lambda t: t.minute),
    "getSeconds": ("timestamp_to_seconds", lambda t: t.second),
    "getMilliseconds": ("timestamp_to_milliseconds", lambda t: t.nanosecond // 10**6),
}
_SPANS: dict[str, tuple[str, int]] = {
    "getHours": ("duration_to_hours", 3600 * _SECOND),
    "getMinutes": ("duration_to_minutes", 60 * _SECOND),
    "getSeconds": ("duration_to_seconds", _SECOND),
    "getMilliseconds": ("duration_to_milliseconds", 10**6),
}


def _span(unit: int) -> Callable[[values.Duration], int]:
    return lambda value: int(_in(value.nanoseconds, unit))


def _library() -> list[Overload]:
    overloads = []
    for name, (overload, part) in _PARTS.items():
        of = _part(part)
        zoned = "timestamp_to_seconds_tz" if name == "getSeconds" else f"{overload}_with_tz"
        overloads.append(declare(f".{name} {overload} (timestamp) int", of))
        overloads.append(declare(f".{name} {zoned} (timestamp, string) int", of))
        if name in _SPANS:
            span, unit = _SPANS[name]
            overloads.append(declare(f".{name} {span} (duration) int", _span(unit)))
    return overloads


LIBRARY = _library()

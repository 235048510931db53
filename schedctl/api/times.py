"""Points in time as Kubernetes writes them: RFC 3339."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import msgspec

from schedctl.api.quantities import MAX_INT64

_RFC3339 = re.compile(r"(\d{4}-\d\d)-(\d\d)(T\d\d:\d\d:\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)


class Moment(msgspec.Struct, frozen=True):
    """A clock that stands still.

    Attributes:
        nanoseconds: what it shows, in Unix nanoseconds.
    """

    nanoseconds: int

    def __call__(self) -> int:
        """Return the time."""
        return self.nanoseconds


def unix_nanoseconds(text: str) -> int:
    """Return the nanoseconds since 1970 of an RFC 3339 time, within int64; 31 February is 3 March.

    Raises:
        ValueError: the text is no such time.
    """
    found = _RFC3339.fullmatch(text)
    if found is None:
        raise ValueError(f'"{text}" is not a time as RFC 3339 writes it')
    month, day, clock, fraction, offset = found.groups()
    # days are counted from the first of the month, because Python has no 31 February
    begins = datetime.fromisoformat(f"{month}-01{clock}{offset}")
    seconds = (begins - _EPOCH) // _SECOND + (int(day) - 1) * 86_400
    nanoseconds = seconds * 10**9 + int((fraction or "0")[:9].ljust(9, "0"))
    return max(-MAX_INT64 - 1, min(nanoseconds, MAX_INT64))

"""Times on the command line, as Go and kubectl write them: ``30s``, ``5m``, ``1h30m``, or bare seconds."""

from __future__ import annotations

from schedctl.api.durations import Duration
from schedctl.errors import UsageError


def seconds(text: str, flag: str) -> float | None:
    """Return how many seconds a text stands for, None for no limit (``""`` and ``0``).

    Raises:
        UsageError: it is no time, or one before now.
    """
    try:
        value = float(text) if text.isdecimal() else Duration.parse(text).seconds if text else 0.0
    except ValueError:
        value = -1.0
    if value < 0:
        raise UsageError(f'invalid {flag} "{text}": expected a duration', f"e.g. {flag} 30s, 5m or 1h")
    return value or None

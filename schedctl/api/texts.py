"""Texts of others, made fit to pass on: as Go has them, and no longer than anybody reads."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 1024
"""How many characters of a message are kept; an API server keeps as many bytes of one in an event."""
MOST: Final = 1 << 16
"""How many characters a reason may have, which kube-scheduler tells whole."""
_HALF: Final = re.compile("[\ud800-\udfff]")


def whole(text: str) -> str:
    """Return a text that UTF-8 can hold: half of a surrogate pair, which Python keeps, is U+FFFD, as in Go."""
    return _HALF.sub("\N{REPLACEMENT CHARACTER}", text)


def tidy(text: str) -> str:
    """Return a text of a plugin as it can be told: fit for UTF-8, and of a whole megabyte the beginning alone."""
    if len(text) > MOST:
        text = f"{text[:LONGEST]}… ({len(text):,} characters)"
    return text if text.isascii() else whole(text)


def clip(text: str) -> str:
    """Return a text, of a long one the beginning and how long it is."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"

"""Texts as Go has them: half of a surrogate pair, which Python keeps and UTF-8 cannot hold, is U+FFFD."""

from __future__ import annotations

import re
from typing import Final

_HALF: Final = re.compile("[\ud800-\udfff]")


def whole(text: str) -> str:
    """Return a text that UTF-8 can hold."""
    return _HALF.sub("\N{REPLACEMENT CHARACTER}", text)

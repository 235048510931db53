"""Secrets that were sent, so that no message shows one: servers, proxies and credential plugins may say them back.

One store serves the process: a text may come from any connection, and what is a secret to one is none to show for
another.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Final

MASK: Final = "[hidden]"
_SHORTEST = 6
"""Shorter texts are left alone: they are in words that mean something else."""
_KEPT = 64
"""How many are remembered; credentials that are renewed for days are not kept for days."""
_LOOKS_SECRET = re.compile(
    r"\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?"  # a JSON web token
    r"|(?<=\bBearer )[\w.~+/-]{8,}=*"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*",
    re.DOTALL,
)
_sent: deque[str] = deque(maxlen=_KEPT)


def remember(*texts: str) -> None:
    """Take down what must not be shown from now on: tokens, passwords, keys."""
    for text in texts:
        stripped = text.strip()
        if len(stripped) >= _SHORTEST and stripped not in _sent:
            _sent.append(stripped)


def mask(text: str) -> str:
    """Return a text without what was sent, and without what looks like a token or a private key."""
    for secret in sorted(_sent, key=len, reverse=True):  # the longest first: one may be a part of another
        text = text.replace(secret, MASK)
    return _LOOKS_SECRET.sub(MASK, text)

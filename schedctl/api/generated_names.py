"""Names that a server or controller makes up, worked out instead of drawn by lot.

The letters, which spell no words, and the lengths are those of Kubernetes; the same input makes the same names on any
machine.
"""

from __future__ import annotations

import hashlib

ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
LONGEST_GENERATED = 58
"""How much of the beginning of a generated name is kept."""


def random_end(*parts: object) -> str:
    """Return five letters that stand for the random end of a generated name."""
    number = int.from_bytes(hashlib.sha256("\0".join(map(str, parts)).encode()).digest()[:8])
    letters = ""
    for _ in range(5):
        number, digit = divmod(number, len(ALPHABET))
        letters += ALPHABET[digit]
    return letters

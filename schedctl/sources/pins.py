"""Names of files with the digest that they have to have."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_PIN: Final = re.compile(r"(?P<path>.+)@(?P<digest>sha256:.*)", re.DOTALL)


class Pinned(NamedTuple):
    """A file as it is named, and the digest that it has to have, "" for any."""

    path: str
    digest: str = ""


def split_pin(written: str) -> Pinned:
    """Return the path and the digest of ``PATH@sha256:HEX``."""
    found = _PIN.fullmatch(written)
    return Pinned(found["path"], found["digest"]) if found else Pinned(written)

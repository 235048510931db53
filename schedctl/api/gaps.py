"""What could not be listed of a cluster, and so is not known rather than absent.

Whoever lists a cluster says which kinds it could not list, a snapshot carries that with it, and the cluster in memory
remembers it: an answer that needed such a kind is a guess, and is called one. Of a kind that an API server does not
have at all there is nothing, and that is known.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

FORBIDDEN: Final = "Forbidden"
"""The reason of a kind that the user may not list."""


class Gap(msgspec.Struct, frozen=True, rename="camel"):
    """A kind that could not be listed.

    Attributes:
        kind: its name, e.g. ``Service``.
        reason: ``Forbidden`` where the user may not list it, ``Unread`` where the API server has it in no version
            that is read, ``LeftOut`` where it was not asked for, ``Unwatched`` where it was listed and what has changed
            since is not known.
        text: the API server's words, "" where it was not asked.
    """

    kind: str
    reason: Literal["Forbidden", "Unread", "LeftOut", "Unwatched"]
    text: str = ""

"""The lines of a cluster's change log, from which whoever keeps an answer learns what to ask again."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple


class ChangeKind(Enum):
    """What happened to the cluster."""

    POD_ADDED = "pod added"
    POD_REMOVED = "pod removed"
    NODE_UPDATED = "node updated"
    NODES = "node added or removed"
    OBJECT = "another object added, changed or removed"


POD_ADDED, POD_REMOVED, OBJECT = ChangeKind.POD_ADDED, ChangeKind.POD_REMOVED, ChangeKind.OBJECT
"""The frequent ones by a name of their own: looking up a member takes longer than comparing with it."""


class Change(NamedTuple):
    """One line of the change log.

    Attributes:
        kind: what happened.
        row: the node row it touches, -1 where it touches none in particular.
        subject: the pod, or the object of another kind.
        before: the object of another kind that it replaced; itself where it was removed, None where it is new.
    """

    kind: ChangeKind
    row: int = -1
    subject: Any = None
    before: Any = None

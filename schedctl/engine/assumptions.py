"""What a cycle takes for granted where a kind could not be listed, or an extender gave no answer.

It assumes that there are no other objects of the kind, and that the extender has no objection and no preference.
Which assumptions a verdict rests on is decided in `schedctl.engine.certainty`.
"""

from __future__ import annotations

from typing import NamedTuple

ADMISSION = "admission"
"""Stands for the point at which a pod was made, before there was a cycle."""
PLACING = frozenset(("preEnqueue", "preFilter", "filter", "reserve", "permit", "preBind"))
"""The points at which a plugin can keep a pod from a node, or from all of them."""
FILTERING = frozenset(("preFilter", "filter"))
SCORING = frozenset(("preScore", "score"))


class ForeignGroup:
    """Stands for a group whose pods another scheduler or controller handles together; here they are placed alone."""


class AbsentPlugin:
    """Stands for a plugin of a profile that is not there, and was not asked."""


class Assumption(NamedTuple):
    """A missing kind was read, an extender or an absent plugin gave no answer, or a pod is of a group.

    Attributes:
        point: at which extension point of the cycle, as configurations call it.
        plugin: who read it; "" where every plugin does, as with nodes and pods; or the extender; or the group.
        kind: of which kind; of an extender, the class of `schedctl.framework.extenders.Unanswered` that says why.
    """

    point: str
    plugin: str
    kind: type

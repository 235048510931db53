"""Which of the reasons comes first: that of the nodes that the pod asks for or could use.

Pools that a taint reserves for others and that the pod nowhere refers to come last, however many nodes they have;
`hints` knows which fixes there are, which decides among reasons that are equally near.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from schedctl.explain import groups
from schedctl.framework.statuses import Code
from schedctl.reports.reasons import Hint, Reason

_replace = msgspec.structs.replace


def nearest_first(reasons: Sequence[Reason], hints: Sequence[Hint], near: Collection[str]) -> list[Reason]:
    """Return reasons, the nearest to being fixed first, and in each the groups with near nodes first.

    Reasons of near nodes come first; among them what the best fix undoes, then what rejects most near nodes, then what
    evictions might undo.

    Args:
        reasons: why nodes were rejected, the most frequent first.
        hints: the fixes, the best first; one that takes the pod to a node that is not near decides nothing.
        near: see `schedctl.framework.near_nodes`.
    """
    fixes = [hint.undoes for hint in hints if hint.fits and hint.undoes and (hint.node in near or not near)]
    # Only the first rejection of a node is counted in its reason; the others may be counted for nodes out of reach, as
    # that of the taint beside a cordon is.
    rank = {text: number + len(fixes) for number, texts in enumerate(fixes) for text in texts[1:]}
    for number, (first, *_) in reversed(list(enumerate(fixes))):
        rank[first] = number
    unresolvable = Code.UNSCHEDULABLE_AND_UNRESOLVABLE.label

    def distance(reason: Reason) -> tuple[bool, int, bool, int]:
        number = sum(name in near for group in reason.groups for name in group.nodes)
        fix = rank.get(reason.text, 2 * len(fixes))
        return bool(near) and not number, fix, reason.code == unresolvable, -number

    # The sort is stable: reasons that are equally near stay the most frequent first.
    return [_near_groups_first(reason, near) for reason in sorted(reasons, key=distance)]


def _near_groups_first(reason: Reason, near: Collection[str]) -> Reason:
    ordered = sorted(reason.groups, key=lambda group: not any(name in near for name in group.nodes))
    if ordered == reason.groups:
        return reason
    return _replace(
        reason,
        groups=ordered,
        detail=reason.summary or groups.first_details(ordered),
        details=[] if reason.summary else groups.counted_details(ordered)[: groups.COUNTED],
    )

"""``snapshot-fresh``: the state is recent, as far as it says when it was as it is."""

from __future__ import annotations

from collections.abc import Iterable

from schedctl.policy import findings
from schedctl.policy.documents import SnapshotFresh

_TOLERANCE = 300.0
"""By how many seconds clocks may disagree."""


def judge(view: findings.View, arguments: SnapshotFresh, about: findings.Judged) -> Iterable[findings.Finding]:
    """Judge the state: it was taken no longer ago than it may be old."""
    if view.state_taken is None:
        yield findings.inconclusive(
            "the state does not say when it was taken", hints=["`schedctl snapshot create` records it"]
        )
        return
    age, most = view.now - view.state_taken, arguments.max_age.seconds
    message = f"the state is {age_of(age)} old, at most {age_of(most)} allowed"
    if is_to_come(age):
        yield findings.inconclusive(f"the state is dated {age_of(-age)} in the future", hints=["compare the clocks"])
    elif age > most:
        yield findings.violation(message, hints=["take a new one with `schedctl snapshot create`"])
    else:
        yield findings.pass_finding(message)


def is_to_come(age: float) -> bool:
    """Return whether a state of this age, in seconds, is of a time to come, so that nobody knows its age."""
    return age < -_TOLERANCE


def age_of(seconds: float) -> str:
    """Return a length of time in words, in its two largest units: ``3h5m``, ``2d``, ``40s``."""
    rest = max(int(seconds), 0)
    parts = []
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        number, rest = divmod(rest, length)
        if number:
            parts.append(f"{number}{unit}")
        if len(parts) == 2:
            break
    return "".join(parts) or "0s"

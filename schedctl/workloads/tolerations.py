"""Lists of tolerations merged as admission plugins merge them."""

from __future__ import annotations

from schedctl.api.pods import Toleration


def merge_tolerations(tolerations: list[Toleration]) -> list[Toleration]:
    """Leave out tolerations that another one covers; of equal ones the first stays."""
    kept: list[Toleration] = []
    for position, toleration in enumerate(tolerations):
        later = (t for t in tolerations[position + 1 :] if t != toleration)
        if not any(covers(t, toleration) for t in (*kept, *later)):
            kept.append(toleration)
    return kept


def covers(wide: Toleration, narrow: Toleration) -> bool:
    """Whether a toleration covers another, as the API server judges it when it merges two lists."""
    if wide == narrow:
        return True
    if wide.key != narrow.key and (wide.key or wide.operator != "Exists"):
        return False
    if wide.effect not in ("", narrow.effect):
        return False
    if wide.effect == "NoExecute" and wide.toleration_seconds is not None:
        seconds = narrow.toleration_seconds
        if seconds is None or seconds > wide.toleration_seconds:
            return False
    if wide.operator in ("", "Equal"):
        # Upstream compares the operator as written, so an empty one covers only what is written Equal.
        return narrow.operator == "Equal" and narrow.value == wide.value
    return wide.operator == "Exists"

"""Classifying differences: what an implementation gets wrong when its answer is not the oracle's.

A node we refuse and kube-scheduler does not is *over-filtering*, the reverse *under-filtering*. A cycle of ours that
says `notModelled` is no difference, but `not_modelled` counts it, so that silence is never taken for agreement.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

Json = Any
_SUCCESS = {"code": "Success"}


class Difference(NamedTuple):
    """One thing two answers disagree on.

    Attributes:
        kind: over-filtering, under-filtering, wrong reason, wrong score, wrong tie, wrong message, wrong postFilter,
            wrong error or wrong cycles.
        where: case, pod and field, e.g. ``spread-7 default/new-0 nodes.node-003``.
        theirs: what the oracle says.
        ours: what we say.
    """

    kind: str
    where: str
    theirs: Json
    ours: Json

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}\n    theirs: {self.theirs}\n    ours:   {self.ours}"


def differences(theirs: Json, ours: Json) -> Iterator[Difference]:
    """Yield the differences between the oracle's answer to a case and ours.

    Args:
        theirs: the oracle's answer.
        ours: ours.
    """
    case = theirs["id"]
    if _crashes(theirs) and any("kube-scheduler crashes" in each.get("error", "") for each in ours.get("cycles") or ()):
        return  # where it is over, no cycle is comparable
    if bool(theirs.get("error")) != bool(ours.get("error")):
        # Their fault may lie in what we do not model.
        if not not_modelled(ours):
            yield Difference("wrong error", case, theirs.get("error"), ours.get("error"))
        return
    before, after = theirs.get("cycles") or [], ours.get("cycles") or []
    pairs = _pair(before, after)
    if pairs is None:
        yield Difference("wrong cycles", case, [c.get("pod") for c in before], [c.get("pod") for c in after])
        return
    for number, cycle, mine in pairs:
        yield from _cycle(f"{case} {cycle.get('pod')}#{number}", cycle, mine)


def _crashes(theirs: Json) -> bool:
    """Return whether a plugin of kube-scheduler's crashed, which the oracle survives."""
    return str(theirs.get("error", "")).startswith("panic: ")


def not_modelled(ours: Json) -> list[str]:
    """Return what is not modelled, a text for each cycle of our answer that was left open for it."""
    return [cycle["notModelled"] for cycle in ours.get("cycles") or [] if "notModelled" in cycle]


def _pair(theirs: list[Json], ours: list[Json]) -> list[tuple[int, Json, Json]] | None:
    """Pair the cycles to compare, with their number; None when they are not of the same pods in the same order.

    A cycle not modelled stands for all that is left of its pod, which may be two cycles (preemption) or none (Reserve).
    """
    pairs = []
    at = 0
    for mine in ours:
        if "notModelled" in mine:
            while at < len(theirs) and theirs[at].get("pod") == mine["pod"]:
                at += 1
        elif at < len(theirs) and theirs[at].get("pod") == mine.get("pod"):
            pairs.append((at, theirs[at], mine))
            at += 1
        else:
            return None
    return pairs if at == len(theirs) else None


# What kube-scheduler leaves to chance is not compared: `seconds`, and which of the tied nodes was `chosen`.
def _cycle(where: str, theirs: Json, ours: Json) -> Iterator[Difference]:
    for field in ("profile", "preEnqueue", "preFilter", "preFilterNodes", "unschedulablePlugins"):
        if theirs.get(field) != ours.get(field):
            yield Difference("wrong reason", f"{where} {field}", theirs.get(field), ours.get(field))
    yield from _statuses(f"{where} nodes", theirs.get("nodes"), ours.get("nodes"))
    rows, mine = theirs.get("matrix") or {}, ours.get("matrix") or {}
    for plugin in sorted(rows.keys() | mine.keys()):
        yield from _statuses(f"{where} matrix.{plugin}", rows.get(plugin), mine.get(plugin))
    yield from _scores(where, theirs, ours)
    if theirs.get("ties") != ours.get("ties"):
        yield Difference("wrong tie", f"{where} ties", theirs.get("ties"), ours.get("ties"))
    if theirs.get("error") != ours.get("error"):
        yield Difference("wrong error", f"{where} error", theirs.get("error"), ours.get("error"))
    if theirs.get("postFilter") != ours.get("postFilter"):
        yield Difference("wrong postFilter", where, theirs.get("postFilter"), ours.get("postFilter"))
    line, my_line = theirs.get("message", ""), ours.get("message", "")
    if line != my_line:
        yield Difference("wrong message", where, line, my_line)


def _statuses(where: str, theirs: Json, ours: Json) -> Iterator[Difference]:
    """Compare statuses by node; in a matrix an absent node is one that was not refused."""
    theirs, ours = theirs or {}, ours or {}
    for node in sorted(theirs.keys() | ours.keys()):
        before, after = theirs.get(node), ours.get(node)
        if before == after:
            continue
        refused, refuses = (status not in (None, _SUCCESS) for status in (before, after))
        kind = "wrong reason" if refused == refuses else "over-filtering" if refuses else "under-filtering"
        yield Difference(kind, f"{where}.{node}", before, after)


def _scores(where: str, theirs: Json, ours: Json) -> Iterator[Difference]:
    before, after = theirs.get("scores") or {}, ours.get("scores") or {}
    for node in sorted(before.keys() | after.keys()):
        mine, yours = after.get(node) or {}, before.get(node) or {}
        for plugin in sorted(mine.keys() | yours.keys()):
            if mine.get(plugin) != yours.get(plugin):
                yield Difference("wrong score", f"{where} scores.{node}.{plugin}", yours.get(plugin), mine.get(plugin))
    if theirs.get("totals") != ours.get("totals"):
        yield Difference("wrong score", f"{where} totals", theirs.get("totals"), ours.get("totals"))

"""Tolerations that were meant for a taint and miss it by a word: its value, its effect, its key or their operator."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import msgspec

from schedctl.api.nodes import Taint
from schedctl.api.pods import Toleration
from schedctl.api.tolerations import COMPARISONS, HARD_EFFECTS, is_automatic, tolerates
from schedctl.cache.arrays import IndexArray
from schedctl.cache.nodes import ClusterView
from schedctl.documents.spelling import nearest
from schedctl.framework.similar import closest_name

_YES = frozenset(("true", "yes", "on", "1", "enabled", "only"))
_MOST_WORDS = 2
"""How many words of a toleration may differ from the taint for it to be meant for it."""


class NearMiss(NamedTuple):
    """A toleration that tolerates no taint of the cluster, and what it would be if it tolerated the taint at hand.

    Attributes:
        toleration: as the pod has it.
        corrected: with the words changed that differ.
        similar: whether the words that differ are alike, so that it is sure to be a slip.
    """

    toleration: Toleration
    corrected: Toleration
    similar: bool


class NearMisses:
    """The near miss of each row, None where there is none; found when somebody reads it."""

    def __init__(
        self, cluster: ClusterView, tolerations: Sequence[Toleration], first: Sequence[Taint | None], sets: IndexArray
    ) -> None:
        self._cluster = cluster
        self._tolerations = tolerations
        self._first = first
        self._sets = sets
        self._known: tuple[int, dict[Taint, NearMiss]] = (-1, {})

    def at(self, row: int) -> NearMiss | None:
        """Return the near miss of the taint that refuses one row."""
        taint = self._first[int(self._sets[row])]
        if taint is None:
            return None
        generation, found = self._known
        if generation != self._cluster.generation:
            found = self._find()
            self._known = self._cluster.generation, found
        return found.get(taint)

    def _find(self) -> dict[Taint, NearMiss]:
        table = self._cluster.node_table
        codes = set(table.taints[self._cluster.rows].tolist())
        every = dict.fromkeys(taint for code in codes for taint in table.taint_sets.values[code])
        found: dict[Taint, NearMiss] = {}
        for toleration in self._tolerations:
            for taint, miss in _meant(toleration, every):
                found.setdefault(taint, miss)
        return found


def may_miss(tolerations: Collection[Toleration]) -> list[Toleration]:
    """Return the tolerations that somebody wrote for taints of their own; a bound that is out of reach is no slip."""
    return [
        each for each in tolerations if each.key and not is_automatic(each.key) and each.operator not in COMPARISONS
    ]


def _meant(toleration: Toleration, taints: Collection[Taint]) -> list[tuple[Taint, NearMiss]]:
    """Return the taints that a toleration is nearest to; none where it tolerates one: that is what it is for."""
    if any(tolerates(toleration, taint, compares=False) for taint in taints):
        return []
    found = []
    for taint in taints:
        if taint.effect in HARD_EFFECTS and not is_automatic(taint.key):
            miss = _near_miss(toleration, taint)
            if miss is not None:
                found.append((_words(miss), taint, miss))
    least = min((words for words, _, _ in found), default=())
    return [(taint, miss) for words, taint, miss in found if words == least]


def _near_miss(toleration: Toleration, taint: Taint) -> NearMiss | None:
    changes: dict[str, str] = {}
    similar = True
    if toleration.key != taint.key:
        if not closest_name(toleration.key, (taint.key,)):
            return None
        changes["key"] = taint.key
    if toleration.effect and toleration.effect != taint.effect:
        changes["effect"] = taint.effect
    if toleration.operator in ("", "Equal"):
        if not toleration.value and taint.value:
            changes["operator"] = "Exists"
        elif toleration.value != taint.value:
            changes["value"] = taint.value
            similar = _similar(toleration.value, taint.value)
    elif toleration.operator != "Exists":
        changes.update(operator="Exists", value="")
    words = 1 if "key" in changes else _MOST_WORDS  # with another key and another value it is about something else
    if len(changes) > words:
        return None
    return NearMiss(toleration, msgspec.structs.replace(toleration, **changes), similar)


def _words(miss: NearMiss) -> tuple[int, bool]:
    before, after = msgspec.structs.astuple(miss.toleration), msgspec.structs.astuple(miss.corrected)
    return sum(a != b for a, b in zip(before, after, strict=True)), not miss.similar


def _similar(value: str, other: str) -> bool:
    return not other or bool(nearest(value, (other,))) or {value.lower(), other.lower()} <= _YES

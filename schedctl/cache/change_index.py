"""Which pods came or went that may concern an answer, found by label; nobody asks each answer about each pod.

A pod concerns whoever selects it by a label that it has, and whoever has a label that a term of its own demands.
"""

from __future__ import annotations

from bisect import bisect_right

from schedctl.cache.affinity_terms import carried_terms, demanded_labels
from schedctl.cache.pod_info import PodInfo, WeightedTerm
from schedctl.cache.reads import Reads

Label = tuple[str, str]
_NO_GENERATIONS: list[int] = []


class ChangeIndex:
    """The generations at which pods came or went, by label."""

    __slots__ = ("_about", "_every", "_with")

    def __init__(self) -> None:
        self._every: list[int] = []
        self._with: dict[Label, list[int]] = {}
        self._about: dict[Label | None, list[int]] = {}

    def note(self, info: PodInfo, generation: int) -> None:
        """File a pod that came or went."""
        self._every.append(generation)
        for label in info.labels.items():
            self._with.setdefault(label, []).append(generation)
        for terms in carried_terms(info):
            for each in terms:
                term = each.term if isinstance(each, WeightedTerm) else each
                for demanded in demanded_labels(term.selector):
                    self._about.setdefault(demanded, []).append(generation)

    def since(self, generation: int, reads: Reads) -> set[int]:
        """Return the later generations at which a pod came or went that may concern what was read."""
        found: set[int] = set()
        for label in reads.selected:
            _add_later(found, self._every if label is None else self._with.get(label, _NO_GENERATIONS), generation)
        if reads.terms and self._about:
            _add_later(found, self._about.get(None, _NO_GENERATIONS), generation)
            for label in reads.terms:
                _add_later(found, self._about.get(label, _NO_GENERATIONS), generation)
        return found

    def forget(self, generation: int) -> None:
        """Forget what was filed up to a generation."""
        self._every = self._every[bisect_right(self._every, generation) :]
        self._with = {key: kept for key, filed in self._with.items() if (kept := _later(filed, generation))}
        self._about = {key: kept for key, filed in self._about.items() if (kept := _later(filed, generation))}


def _later(filed: list[int], generation: int) -> list[int]:
    return filed[bisect_right(filed, generation) :]


def _add_later(found: set[int], filed: list[int], generation: int) -> None:
    if filed and filed[-1] > generation:
        found.update(filed[bisect_right(filed, generation) :])

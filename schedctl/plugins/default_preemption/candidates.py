"""Candidates for preemption: nodes with the victims they would cost, and which of them is the least of evils.

kube-scheduler compares candidates by five criteria, one after another, and takes any of those equal in all; schedctl
takes the first by name of them, and keeps the others as ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import numpy as np

from schedctl.cache.arrays import BoolArray, IndexArray, IntArray
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo

_LEAST_PRIORITY = -(1 << 31)


class Criterion(Enum):
    """What candidates are compared by, in this order; the least value is the best."""

    VIOLATIONS = "fewest budget violations"
    HIGHEST_PRIORITY = "lowest priority of the most important victim"
    PRIORITY_SUM = "lowest sum of priorities"
    VICTIMS = "fewest victims"
    START_TIME = "latest start of the most important victims"


@dataclass(frozen=True, slots=True)
class Candidates:
    """Nodes on which evictions would make room, c of them.

    Attributes:
        nodes: the nodes.
        begin: intp (c + 1,), where the victims of each node begin, and the end.
        pods: intp (v,), rows of the victims in the pod table; those of a node are together, the most important first.
        violating: bool (v,), victims whose eviction breaks a budget.
        counted: int64 (c,), how many of a candidate break one by an extender's count; None where those above count.
    """

    nodes: Nodes
    begin: IndexArray
    pods: IndexArray
    violating: BoolArray
    counted: IntArray | None = None

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def violations(self) -> IntArray:
        """How many victims of each candidate violate a budget, int64 (c,)."""
        return self._sum_by_candidate(self.violating.astype(np.int64)) if self.counted is None else self.counted

    def name(self, candidate: int) -> str:
        """Return the name of one candidate."""
        return self.nodes.object(candidate).metadata.name

    def victims(self, candidate: int) -> list[PodInfo]:
        """Return the victims of one candidate, the most important first; only while the cluster is as it was."""
        rows = self.pods[self.begin[candidate] : self.begin[candidate + 1]]
        victims: list[PodInfo] = self.nodes.cluster.pod_table.infos[rows].tolist()
        return victims

    def every_victim(self) -> list[list[PodInfo]]:
        """Return the victims of each candidate; see `victims`."""
        pods: list[PodInfo] = self.nodes.cluster.pod_table.infos[self.pods].tolist()
        return [pods[begin:end] for begin, end in pairwise(self.begin.tolist())]

    def take(self, chosen: BoolArray) -> Candidates:
        """Return those of a mask."""
        counts = np.diff(self.begin)
        kept = np.repeat(chosen, counts)
        begin = np.concatenate((np.zeros(1, np.intp), np.cumsum(counts[chosen])))
        return Candidates(self.nodes.take(chosen), begin, self.pods[kept], self.violating[kept])

    def values(self, criterion: Criterion) -> IntArray:
        """Return what each candidate is worth by a criterion, int64 (c,).

        A priority counts from the least there is in the sum, so that more victims are never better than fewer; a start
        time is negative, in nanoseconds since 1970.
        """
        table = self.nodes.cluster.pod_table
        if criterion is Criterion.VIOLATIONS:
            return self.violations
        if criterion is Criterion.VICTIMS:
            return np.diff(self.begin)
        if criterion is Criterion.PRIORITY_SUM:
            return self._sum_by_candidate(table.priority[self.pods] - _LEAST_PRIORITY)
        if criterion is Criterion.HIGHEST_PRIORITY:
            priorities: IntArray = table.priority[self.pods[self.begin[:-1]]]
            return priorities
        return -self._earliest_start()

    def _earliest_start(self) -> IntArray:
        """When the first of the most important victims of each candidate started, int64 (c,).

        That is the first victim, unless an extender has put them in another order.
        """
        table = self.nodes.cluster.pod_table
        started: IntArray = table.start_times[self.pods[self.begin[:-1]]]
        if self.counted is None or not len(self):
            return started
        priority = table.priority[self.pods]
        most = np.maximum.reduceat(priority, self.begin[:-1])
        important = priority == np.repeat(most, np.diff(self.begin))
        times = np.where(important, table.start_times[self.pods], np.iinfo(np.int64).max)
        earliest: IntArray = np.minimum.reduceat(times, self.begin[:-1])
        return earliest

    def _sum_by_candidate(self, amounts: IntArray) -> IntArray:
        # no stretch is empty, which reduceat would take for its first element: each candidate has a victim
        return np.add.reduceat(amounts, self.begin[:-1]) if len(amounts) else np.zeros(0, np.int64)


def concatenate(stretches: Sequence[Candidates]) -> Candidates:
    """Return the candidates of several stretches of a column, at least one, as those of the whole."""
    if len(stretches) == 1:
        return stretches[0]
    offsets = np.cumsum([0, *(len(each.pods) for each in stretches)])
    begin = [each.begin[:-1] + offset for each, offset in zip(stretches, offsets, strict=False)]
    return Candidates(
        Nodes(stretches[0].nodes.cluster, np.concatenate([each.nodes.rows for each in stretches])),
        np.concatenate([*begin, offsets[-1:]]),
        np.concatenate([each.pods for each in stretches]),
        np.concatenate([each.violating for each in stretches]),
    )


@dataclass(frozen=True, slots=True)
class Choice:
    """The least of evils.

    Attributes:
        candidate: which, as an index.
        ties: intp, the candidates equal to it in all criteria, itself included.
        criterion: what left it alone; None where it was the only candidate, or where ties were left to the name.
    """

    candidate: int
    ties: IndexArray
    criterion: Criterion | None


@dataclass(frozen=True, slots=True)
class Preemption:
    """What PostFilter found out, as far as it got.

    Attributes:
        ineligible: why the pod may not preempt, "" where it may.
        potential: how many nodes were refused for reasons that evictions might remedy.
        tried: on how many of them evictions were tried.
        enough: with how many candidates the search ends.
        candidates: nodes where evictions would make room; None where evictions were tried on no node.
        choice: which of them was chosen, None where there are none.
        passed_over: the extenders that failed and what went wrong, where the search went on without them.
    """

    ineligible: str = ""
    potential: int = 0
    tried: int = 0
    enough: int = 0
    candidates: Candidates | None = None
    choice: Choice | None = None
    passed_over: tuple[tuple[str, str], ...] = ()


def choose(candidates: Candidates) -> Choice:
    """Return the best of candidates, of which there is at least one, in order of their names."""
    standing = np.arange(len(candidates))
    for criterion in Criterion if len(candidates) > 1 else ():  # a single one is chosen by no criterion
        values = candidates.values(criterion)[standing]
        standing = standing[values == values.min()]
        if len(standing) == 1:
            return Choice(int(standing[0]), standing, criterion)
    return Choice(int(standing[0]), standing, None)

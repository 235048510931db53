"""Adds nodes as Cluster Autoscaler does: of one group at a time, as many as the pods need, the best group first.

Which is the best an *expander* says, by the names that Cluster Autoscaler gives them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from schedctl.api.resources import CPU, MEMORY
from schedctl.autoscaling.joining import Joining
from schedctl.cache.pod_info import PodInfo
from schedctl.scheduler import Scheduler
from schedctl.simulation.scale_ups.options import Counts, cost_of, limit_reached, with_more
from schedctl.simulation.scale_ups.trials import Placement, Trials, place, place_one

Expander = Literal["least-waste", "most-pods", "price", "priority"]
EXPANDERS: tuple[Expander, ...] = ("least-waste", "most-pods", "price", "priority")
_MOST_ATTEMPTS, _FEWEST_PODS = 600, 25
"""How many cycles may go into the estimates of one choice; more pods than that leaves for each are a sample."""


class _Estimate(msgspec.Struct):
    """What comes of adding nodes of one family.

    Attributes:
        counts: the nodes there are then.
        placed: how many of the pods have one.
        left: the pods that have none.
        waste: which part of the new nodes' cpu and memory stays free, from 0 to 1.
        cost: what the new nodes cost.
        priority: that of the group.
    """

    counts: Counts
    placed: int
    left: list[PodInfo] = msgspec.field(default_factory=list)
    waste: float = 0.0
    cost: float = 0.0
    priority: int = 0


class Growth:
    """Grows groups until the pods are placed, or no group can help any more."""

    def __init__(
        self,
        scheduler: Scheduler,
        trials: Trials,
        class_of: Mapping[str, int],
        compatible: Mapping[tuple[int, int], bool],
    ) -> None:
        """Begin with what is known of the pods.

        Args:
            scheduler: the profiles and the cluster, which is as before after each call.
            trials: the options.
            class_of: by key of a pod, the number of its class.
            compatible: by class and option, whether the node itself would take such a pod.
        """
        self._scheduler = scheduler
        self._trials = trials
        self._options = trials.options
        self._class_of = class_of
        self._compatible = compatible
        self._families: dict[tuple[str, str, bool], list[int]] = {}
        for number, option in enumerate(self._options):
            self._families.setdefault(option.family, []).append(number)

    def grow(
        self, pods: Sequence[PodInfo], expander: Expander, begin: Placement | None = None
    ) -> tuple[Counts, list[PodInfo]]:
        """Return how many nodes there are when nothing more helps, and the pods that have none then.

        Args:
            pods: in the order of the queue.
            expander: which family is taken first.
            begin: with which new nodes to begin, and where pods are already; None for none.
        """
        counts = begin.counts if begin is not None else (0,) * len(self._options)
        with self._trials.joined(counts):
            there = begin.placed if begin is not None else {}
            for info in pods:
                if info.key in there:
                    self._scheduler.cluster.assume(info, there[info.key])
            left = place(self._scheduler, [info for info in pods if info.key not in there])
            while left:
                best = self._best(left, counts, expander)
                if best is None:
                    break
                # done once more, with all of the pods and for good
                estimate = self._estimate(best, left, counts)
                if not estimate.placed:
                    break
                counts, left = estimate.counts, estimate.left
        return counts, left

    def _best(self, pods: list[PodInfo], counts: Counts, expander: Expander) -> list[int] | None:
        sample = pods[: max(_FEWEST_PODS, _MOST_ATTEMPTS // max(1, len(self._families)))]
        best: tuple[tuple[float, ...], list[int]] | None = None
        for position, family in enumerate(self._families.values()):
            if not any(self._compatible[self._class_of[info.key], each] for info in sample for each in family):
                continue
            with self._scheduler.fork():
                estimate = self._estimate(family, sample, counts)
            if estimate.placed:
                rank = (*_rank(estimate, expander), position)
                if best is None or rank < best[0]:
                    best = rank, family
        return best[1] if best is not None else None

    def _estimate(self, family: Sequence[int], pods: Sequence[PodInfo], counts: Counts) -> _Estimate:
        """Place pods, and add a node of a family whenever one finds no room, in the zone that has fewest new ones."""
        scheduler, cluster = self._scheduler, self._scheduler.cluster
        joining, before = Joining(cluster), counts
        left: list[PodInfo] = []
        hopeless: set[int] = set()
        new: list[tuple[str, int]] = []
        for info in pods:
            if place_one(scheduler, info):
                continue
            kind = self._class_of[info.key]
            added = None if kind in hopeless else self._add_for(info, kind, family, counts, before, joining)
            if added is None:
                hopeless.add(kind)
                left.append(info)
                continue
            new.append(added)
            counts = with_more(counts, added[1])
        left = place(scheduler, left) if left and new else left
        options = self._options
        return _Estimate(
            counts,
            len(pods) - len(left),
            left,
            self._waste(new),
            cost_of(options, counts) - cost_of(options, before),
            max((options[each].group.priority for each in family), default=0),
        )

    def _add_for(
        self,
        info: PodInfo,
        kind: int,
        family: Sequence[int],
        counts: Counts,
        before: Counts,
        joining: Joining,
    ) -> tuple[str, int] | None:
        """Add a node on which a pod is placed; None if no node of the family takes it."""
        for number in sorted(family, key=lambda each: (counts[each] - before[each], self._options[each].cost, each)):
            option = self._options[number]
            if not self._compatible[kind, number]:
                continue
            if limit_reached(self._options, with_more(counts, number), option.group):
                continue
            (name,) = joining.add(option.template)
            if place_one(self._scheduler, info):
                return name, number
            joining.remove(name)
        return None

    def _waste(self, new: Sequence[tuple[str, int]]) -> float:
        free = offered = 0.0
        for name, _ in new:
            nodes = self._scheduler.cluster.nodes_named([name])
            for resource in (CPU, MEMORY):
                amount = int(nodes.allocatable(resource)[0])
                if amount:
                    free += (amount - int(nodes.requested(resource)[0])) / amount
                    offered += 1
        return free / offered if offered else 0.0


def _rank(estimate: _Estimate, expander: Expander) -> tuple[float, ...]:
    """Return what is least for the family that an expander takes; ties are broken by the others."""
    per_pod = estimate.cost / estimate.placed
    match expander:
        case "most-pods":
            return (-estimate.placed, per_pod, estimate.waste)
        case "price":
            return (per_pod, estimate.waste)
        case "priority":
            return (-estimate.priority, estimate.waste, per_pod)
    return (estimate.waste, per_pod)

"""What a run comes to over time: how much has arrived and is allocated, how evenly, and what plugins measure.

Resources that only annotations know, such as shares of GPUs, are counted like others (`AnnotatedResource`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from typing_extensions import override

from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import UsageError
from schedctl.scheduler import Scheduler
from schedctl.studies.arrival_runs import RunCounts, RunObserver
from schedctl.studies.arrivals import Arrival

_PERCENT = 100
_DIGITS = 4


@runtime_checkable
class MeasuringPlugin(Protocol):
    """A plugin that measures the cluster: its numbers become columns of the metrics, called ``PLUGIN.NAME``."""

    name: str

    def measure(self) -> Mapping[str, float]:
        """Return numbers by name; called when a sample is taken, between two scheduling cycles."""
        ...


@dataclass(frozen=True, slots=True)
class AnnotatedResource:
    """A resource that pods ask for by annotations, and nodes offer as a resource.

    Attributes:
        name: what it is called in metrics.
        factors: the annotations whose values, multiplied, are what a pod asks for; nothing where one is missing.
        offered: the resource of the nodes.
    """

    name: str
    factors: Sequence[str]
    offered: str

    def amount(self, pod: PodInfo) -> int:
        """Return what a pod asks for."""
        annotations = pod.pod.metadata.annotations or {}
        amount = 1
        for factor in self.factors:
            text = annotations.get(factor, "0")
            if not text.isdecimal():
                raise UsageError(f'annotation {factor} of pod {pod.key} is "{text}", expected a whole number')
            amount *= int(text)
        return amount


@dataclass(frozen=True, slots=True)
class CountedResource:
    """A resource that pods request, as the scheduler counts it."""

    name: str

    @property
    def offered(self) -> str:
        """The resource of the nodes."""
        return self.name

    def amount(self, pod: PodInfo) -> int:
        """Return what a pod asks for."""
        return pod.demand.fit_requests.get(self.name, 0)


Resource = AnnotatedResource | CountedResource


def capacity_of(cluster: Cluster, resource: Resource) -> int:
    """Return what the nodes offer together."""
    return int(cluster.nodes.allocatable(resource.offered).sum())


@dataclass(slots=True)
class _Bucket:
    """The arrivals at which as much has arrived, in whole percent."""

    arrivals: int = 0
    totals: dict[str, float] = field(default_factory=dict)


class ArrivalMetrics(RunObserver):
    """Averages over the arrivals at which as much of one resource has arrived, by whole percent of the capacity.

    Attributes:
        rows: by percent, the averages: ``allocated.RESOURCE`` in percent of the capacity, and ``bound``, ``dropped``
            and ``pending`` pods; what is dear, once for each percent: ``balance.RESOURCE``, the standard deviation of
            the nodes' use in percent, and what plugins measure.
    """

    def __init__(self, resources: Sequence[Resource], by: str) -> None:
        """Take note of what is counted.

        Args:
            resources: the resources.
            by: the name of the one whose arrived share makes the rows.

        Raises:
            UsageError: there is none of that name.
        """
        if by not in [each.name for each in resources]:
            raise UsageError(
                f'no resource "{by}" is counted', f"counted are {', '.join(each.name for each in resources)}"
            )
        self.rows: dict[int, dict[str, float]] = {}
        self._resources = resources
        self._by = by
        self._capacity: dict[str, int] = {}
        self._arrived: dict[str, int] = {each.name: 0 for each in resources}
        self._allocated: dict[str, int] = {each.name: 0 for each in resources}
        self._buckets: dict[int, _Bucket] = {}
        self._amounts: dict[tuple[int, int], tuple[PodInfo, tuple[tuple[str, int], ...]]] = {}

    @override
    def on_start(self, scheduler: Scheduler, counts: RunCounts) -> None:
        self._scheduler, self._counts = scheduler, counts
        self._capacity = {each.name: capacity_of(scheduler.cluster, each) for each in self._resources}
        if not self._capacity[self._by]:
            raise UsageError(f"no node offers {self._by}")

    @override
    def on_arrived(self, arrival: Arrival) -> None:
        for name, amount in self._of(arrival.pod):
            self._arrived[name] += amount

    @override
    def on_bound(self, arrival: Arrival, node: str) -> None:
        for name, amount in self._of(arrival.pod):
            self._allocated[name] += amount

    @override
    def on_gone(self, arrival: Arrival, node: str) -> None:
        for name, amount in self._of(arrival.pod):
            self._allocated[name] -= amount

    @override
    def on_arrival_done(self) -> None:
        percent = round(_PERCENT * self._arrived[self._by] / self._capacity[self._by])
        bucket = self._buckets.get(percent)
        if bucket is None:
            bucket = self._buckets[percent] = _Bucket()
            self.rows[percent] = self._measure()
        bucket.arrivals += 1
        values = {
            name: amount / self._capacity[name] for name, amount in self._allocated.items() if self._capacity[name]
        }
        for name, share in values.items():
            key = f"allocated.{name}"
            bucket.totals[key] = bucket.totals.get(key, 0.0) + _PERCENT * share
        counts = self._counts
        numbers = {
            "bound": counts.bound - counts.gone,
            "dropped": counts.dropped,
            "pending": counts.arrived - counts.bound - counts.dropped,
        }
        for key, number in numbers.items():
            bucket.totals[key] = bucket.totals.get(key, 0.0) + number

    def table(self) -> dict[int, dict[str, float]]:
        """Return the rows, in order, with the averages of all arrivals so far."""
        return {
            percent: {key: round(total / self._buckets[percent].arrivals, _DIGITS) for key, total in averages.items()}
            | {key: round(value, _DIGITS) for key, value in self.rows[percent].items()}
            for percent, averages in sorted((each, bucket.totals) for each, bucket in self._buckets.items())
        }

    def _of(self, pod: PodInfo) -> tuple[tuple[str, int], ...]:
        """Return what a pod asks for of each resource; pods of one model share the answer."""
        model = id(pod.pod.spec), id(pod.pod.metadata.annotations)
        known = self._amounts.get(model)
        if known is None:
            amounts = tuple((each.name, each.amount(pod)) for each in self._resources)
            known = self._amounts[model] = pod, amounts  # with the pod, so that nobody else gets its ids
        return known[1]

    def _measure(self) -> dict[str, float]:
        cluster, found = self._scheduler.cluster, {}
        for resource in self._resources:
            if isinstance(resource, CountedResource):
                offered = cluster.nodes.allocatable(resource.name)
                taken = cluster.nodes.requested(resource.name)
                shares = _PERCENT * taken[offered > 0] / offered[offered > 0]
                found[f"balance.{resource.name}"] = float(np.std(shares)) if len(shares) else 0.0
        for profile in self._scheduler.profiles.values():
            for plugin in profile.plugins.values():
                if isinstance(plugin, MeasuringPlugin):
                    found |= {f"{plugin.name}.{name}": float(value) for name, value in plugin.measure().items()}
        return found

"""What a run comes to over time: how much has arrived and is allocated, how evenly, and what plugins measure.

Resources that only annotations know, such as shares of GPUs, are counted like others (`AnnotatedResource`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import add, sub
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
    """The arrivals at which as much has arrived, in whole percent.

    Attributes:
        arrivals: how many.
        allocated: what was allocated of each resource, added up over them.
        bound, dropped, pending: how many pods were so, added up over them.
    """

    allocated: list[int]
    arrivals: int = 0
    bound: int = 0
    dropped: int = 0
    pending: int = 0


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
        self._by = [each.name for each in resources].index(by)
        self._capacity: list[int] = []
        self._arrived = 0
        self._allocated = [0] * len(resources)
        self._buckets: dict[int, _Bucket] = {}
        self._amounts: dict[tuple[int, int], tuple[PodInfo, tuple[int, ...]]] = {}

    @override
    def on_start(self, scheduler: Scheduler, counts: RunCounts) -> None:
        self._scheduler, self._counts = scheduler, counts
        self._capacity = [capacity_of(scheduler.cluster, each) for each in self._resources]
        if not self._capacity[self._by]:
            raise UsageError(f"no node offers {self._resources[self._by].name}")

    @override
    def on_arrived(self, arrival: Arrival) -> None:
        self._arrived += self._amounts_of(arrival.pod)[self._by]

    @override
    def on_bound(self, arrival: Arrival, node: str) -> None:
        self._allocated = [*map(add, self._allocated, self._amounts_of(arrival.pod))]

    @override
    def on_gone(self, arrival: Arrival, node: str) -> None:
        self._allocated = [*map(sub, self._allocated, self._amounts_of(arrival.pod))]

    @override
    def on_arrival_done(self) -> None:
        percent = round(_PERCENT * self._arrived / self._capacity[self._by])
        bucket = self._buckets.get(percent)
        if bucket is None:
            bucket = self._buckets[percent] = _Bucket([0] * len(self._resources))
            self.rows[percent] = self._measure()
        counts = self._counts
        bucket.arrivals += 1
        bucket.allocated = [*map(add, bucket.allocated, self._allocated)]
        bucket.bound += counts.bound - counts.gone
        bucket.dropped += counts.dropped
        bucket.pending += counts.arrived - counts.bound - counts.dropped

    def table(self) -> dict[int, dict[str, float]]:
        """Return the rows, in order, with the averages of all arrivals so far."""
        return {
            percent: {
                name: round(value, _DIGITS) for name, value in (self._averages(bucket) | self.rows[percent]).items()
            }
            for percent, bucket in sorted(self._buckets.items())
        }

    def _averages(self, bucket: _Bucket) -> dict[str, float]:
        allocated = {
            f"allocated.{resource.name}": _PERCENT * amount / capacity / bucket.arrivals
            for resource, amount, capacity in zip(self._resources, bucket.allocated, self._capacity, strict=True)
            if capacity
        }
        pods = {"bound": bucket.bound, "dropped": bucket.dropped, "pending": bucket.pending}
        return allocated | {name: number / bucket.arrivals for name, number in pods.items()}

    def _amounts_of(self, pod: PodInfo) -> tuple[int, ...]:
        """Return what a pod asks for of each resource; pods of one model share the answer."""
        model = id(pod.pod.spec), id(pod.pod.metadata.annotations)
        known = self._amounts.get(model)
        if known is None:
            # with the pod, so that nobody else gets its ids
            known = self._amounts[model] = pod, tuple(each.amount(pod) for each in self._resources)
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

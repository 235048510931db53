"""What a run comes to over time: how much has arrived and is allocated, how evenly, and what plugins measure.

Resources that only annotations know, such as shares of GPUs, are counted like others (`AnnotatedResource`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import add, sub
from typing import Protocol, runtime_checkable

import msgspec
from typing_extensions import override

from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import UsageError
from schedctl.scheduler import Scheduler
from schedctl.studies import cluster_measures
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


class AnnotatedResource(msgspec.Struct, frozen=True):
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


class CountedResource(msgspec.Struct, frozen=True):
    """A resource that pods request, as the scheduler counts it.

    Attributes:
        name: what it is called in metrics.
        resource: what pods and nodes call it, "" for the same.
    """

    name: str
    resource: str = ""

    @property
    def offered(self) -> str:
        """The resource of the nodes."""
        return self.resource or self.name

    def amount(self, pod: PodInfo) -> int:
        """Return what a pod asks for."""
        return pod.demand.fit_requests.get(self.offered, 0)


Resource = AnnotatedResource | CountedResource


def capacity_of(cluster: Cluster, resource: Resource) -> int:
    """Return what the nodes offer together."""
    return int(cluster.nodes.allocatable(resource.offered).sum())


class _Bucket(msgspec.Struct):
    """The arrivals at which as much has arrived, in whole percent.

    Attributes:
        arrivals: how many.
        allocated: what was allocated of each resource, added up over them.
        bound, dropped, pending: how many pods were so, added up over them.
        attempts: how many scheduling cycles there had been, added up over them.
    """

    allocated: list[int]
    arrivals: int = 0
    bound: int = 0
    dropped: int = 0
    pending: int = 0
    attempts: int = 0


class _Model(msgspec.Struct):
    """Pods that share a spec and annotations.

    Attributes:
        pod: one of them, kept so that no other pod gets the ids of its parts.
        amounts: what each asks for of each resource.
        arrivals: how many of them have arrived.
    """

    pod: PodInfo
    amounts: tuple[int, ...]
    arrivals: int = 0


class ArrivalMetrics(RunObserver):
    """Averages over the arrivals at which as much of one resource has arrived, by whole percent of the capacity.

    ``allocated.RESOURCE`` is in percent of the capacity and counts pods that ran before the first arrival; ``bound``,
    ``dropped`` and ``pending`` are pods, ``attempts`` scheduling cycles since the beginning.

    Attributes:
        counts: what has come about in the run.
        rows: by percent, what is dear and so measured once for each, at the first arrival: ``balance.RESOURCE`` and
            ``fragmentation.RESOURCE`` of what pods request, ``devices.DRIVER``, and what plugins measure. `table` has
            the averages beside it.
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
        self.counts = RunCounts()
        self.rows: dict[int, dict[str, float]] = {}
        self._resources = resources
        self._by = [each.name for each in resources].index(by)
        self._capacity: list[int] = []
        self._arrived = 0
        self._allocated = [0] * len(resources)
        self._buckets: dict[int, _Bucket] = {}
        self._models: dict[tuple[int, int], _Model] = {}

    @override
    def on_start(self, scheduler: Scheduler, counts: RunCounts) -> None:
        self._scheduler, self.counts = scheduler, counts
        self._capacity = [capacity_of(scheduler.cluster, each) for each in self._resources]
        if not self._capacity[self._by]:
            raise UsageError(f"no node offers {self._resources[self._by].name}")
        for info in scheduler.cluster.pod_table:
            self._allocated = [*map(add, self._allocated, self._model_of(info).amounts)]

    @override
    def on_arrived(self, arrival: Arrival) -> None:
        model = self._model_of(arrival.pod)
        model.arrivals += 1
        self._arrived += model.amounts[self._by]

    @override
    def on_bound(self, arrival: Arrival, node: str) -> None:
        self._allocated = [*map(add, self._allocated, self._model_of(arrival.pod).amounts)]

    @override
    def on_gone(self, arrival: Arrival, node: str) -> None:
        self._allocated = [*map(sub, self._allocated, self._model_of(arrival.pod).amounts)]

    @override
    def on_evicted(self, pod: PodInfo, node: str) -> None:
        self._allocated = [*map(sub, self._allocated, self._model_of(pod).amounts)]

    @override
    def on_arrival_done(self) -> None:
        percent = round(_PERCENT * self._arrived / self._capacity[self._by])
        bucket = self._buckets.get(percent)
        if bucket is None:
            bucket = self._buckets[percent] = _Bucket([0] * len(self._resources))
            self.rows[percent] = self._measure()
        counts = self.counts
        bucket.arrivals += 1
        bucket.allocated = [*map(add, bucket.allocated, self._allocated)]
        bucket.bound += counts.bound - counts.gone
        bucket.dropped += counts.dropped
        bucket.pending += counts.arrived - counts.bound - counts.dropped
        bucket.attempts += counts.attempts

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
        counts = {
            "bound": bucket.bound,
            "dropped": bucket.dropped,
            "pending": bucket.pending,
            "attempts": bucket.attempts,
        }
        return allocated | {name: number / bucket.arrivals for name, number in counts.items()}

    def _model_of(self, pod: PodInfo) -> _Model:
        """Return what is known of the pods that share the spec and the annotations of this one."""
        key = id(pod.pod.spec), id(pod.pod.metadata.annotations)
        known = self._models.get(key)
        if known is None:
            known = self._models[key] = _Model(pod, tuple(each.amount(pod) for each in self._resources))
        return known

    def _piece(self, place: int) -> float:
        """Return how much the pods that have arrived ask for of a resource on average, of those that ask for any."""
        asking = [each for each in self._models.values() if each.amounts[place] and each.arrivals]
        arrivals = sum(each.arrivals for each in asking)
        return sum(each.amounts[place] * each.arrivals for each in asking) / arrivals if arrivals else 0.0

    def _measure(self) -> dict[str, float]:
        cluster, found = self._scheduler.cluster, dict[str, float]()
        for place, resource in enumerate(self._resources):
            if isinstance(resource, CountedResource):
                name, offered = resource.name, resource.offered
                found[f"balance.{name}"] = cluster_measures.balance(cluster, offered)
                found[f"fragmentation.{name}"] = cluster_measures.fragmentation(cluster, offered, self._piece(place))
        found |= {f"devices.{driver}": share for driver, share in cluster_measures.devices(cluster).items()}
        for profile in self._scheduler.profiles.values():
            for plugin in profile.plugins.values():
                if isinstance(plugin, MeasuringPlugin):
                    found |= {f"{plugin.name}.{name}": float(value) for name, value in plugin.measure().items()}
        return found

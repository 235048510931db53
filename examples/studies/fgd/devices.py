"""GPUs that pods share: how much is free on each device of each node, and which devices a pod gets.

A node offers ``alibabacloud.com/gpu-milli``, 1,000 for each device. A pod asks by two annotations for a number of
devices and for how much of each, so that no plugin of Kubernetes counts them. `GpuPolicy` is the base of the policies
beside this file; a profile has one of them, and none of Kubernetes' score plugins.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from schedctl.framework import (
    SUCCESS,
    Cycle,
    Nodes,
    PodInfo,
    ReservePlugin,
    ScorePlugin,
    Status,
)

GPU, COUNT = "alibabacloud.com/gpu-milli", "alibabacloud.com/gpu-count"
MOST, WHOLE = 8, 1000
"""How many devices a node may have, and what each offers."""


def request(pod: PodInfo) -> tuple[int, int]:
    """Return how many devices a pod asks for, and how much of each."""
    annotations = pod.pod.metadata.annotations or {}
    return int(annotations.get(COUNT, 0)), int(annotations.get(GPU, 0))


def cpu_of(pod: PodInfo) -> int:
    """Return the millicores that a pod asks for."""
    return pod.demand.fit_requests.get("cpu", 0)


class Devices:
    """What is free on each device of each node of a cluster; worked out again where the pods of a node change."""

    _of: ClassVar[WeakKeyDictionary[object, Devices]] = WeakKeyDictionary()

    def __init__(self) -> None:
        self._free = np.zeros((0, MOST), np.int64)
        self._seen = np.zeros(0, np.int64)
        self._taken: dict[str, tuple[int, ...]] = {}  # by uid of the pod; kept, as a pod that a fork removed comes back

    @classmethod
    def of(cls, cluster: object) -> Devices:
        """Return the devices of a cluster, which all plugins share."""
        return cls._of.setdefault(cluster, cls())

    def free(self, nodes: Nodes) -> np.ndarray:
        """Return the milli-GPU free by device, int64 (n, 8); a device that a node lacks has none free."""
        occupancy, rows = nodes.occupancy, nodes.rows
        if len(rows) and (last := int(rows.max())) >= len(self._seen):
            self._free = np.vstack((self._free, np.zeros((last + 1 - len(self._seen), MOST), np.int64)))
            self._seen = np.append(self._seen, np.full(last + 1 - len(self._seen), -2))
        stale = np.flatnonzero(self._seen[rows] != occupancy)
        if len(stale):
            offered = nodes.take(stale).allocatable(GPU) // WHOLE
            for position, devices in zip(stale.tolist(), offered.tolist(), strict=True):
                self._free[rows[position]] = self._left(devices, nodes.pods_on(position))
            self._seen[rows] = occupancy
        return self._free[rows]

    def free_before(self, pod: PodInfo, node: Nodes) -> np.ndarray:
        """Return what was free on a node, int64 (8,), before a pod landed there."""
        others = [each for each in node.pods_on(0) if each.uid != pod.uid]
        return np.array(self._left(int(node.allocatable(GPU)[0]) // WHOLE, others))

    def take(self, pod: PodInfo, devices: tuple[int, ...]) -> None:
        """Note which devices a pod gets, before the next question about its node."""
        self._taken[pod.uid] = devices

    def _left(self, devices: int, pods: list[PodInfo]) -> list[int]:
        left = [WHOLE] * devices + [0] * (MOST - devices)
        for pod in pods:
            count, milli = request(pod)
            # a pod that was there before anybody looked has the devices with most left
            for device in self._taken.get(pod.uid) or sorted(range(MOST), key=lambda each: -left[each])[:count]:
                left[device] -= milli
        return left


class GpuPolicy(ScorePlugin, ReservePlugin):
    """A policy scores every node by what is free on its devices, and says which of them a pod gets there."""

    reads_feasible_set = False

    @abstractmethod
    def score(self, cycle: Cycle, nodes: Nodes) -> np.ndarray:
        """Return the score of each node, int64 (n,)."""

    def devices(self, pod: PodInfo, node: Nodes, free: np.ndarray) -> list[int]:
        """Return the devices that a pod gets on a node where so much is free, int64 (8,): the tightest that will do."""
        count, milli = request(pod)
        return [device for device in np.argsort(free, kind="stable").tolist() if free[device] >= milli][:count]

    def free(self, nodes: Nodes) -> np.ndarray:
        """Return the milli-GPU free by device, int64 (n, 8)."""
        return Devices.of(self.handle.cluster).free(nodes)

    def signature(self, pod: PodInfo) -> Hashable:
        """Return all that is read of a pod."""
        return (*request(pod), cpu_of(pod))

    def reserve(self, cycle: Cycle, node_name: str) -> Status:
        """Note which devices the pod gets."""
        pod, devices = cycle.pod, Devices.of(self.handle.cluster)
        if request(pod)[0]:
            node = self.handle.cluster.nodes_named([node_name])
            devices.take(pod, tuple(self.devices(pod, node, devices.free_before(pod, node))))
        return SUCCESS

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        """Nothing: whoever asks about the node next finds the pod gone, and with it what it had."""

"""GPUs that pods share: how much is free on each device of each node, and which devices a pod gets.

A node offers ``alibabacloud.com/gpu-milli``, 1,000 for each device. A pod asks by two annotations for a number of
devices and for how much of each, so that no plugin of Kubernetes counts them. `GpuPolicy` is the base of the policies
beside this file; a profile has one of them, and none of Kubernetes' score plugins.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from schedctl.framework import (
    SUCCESS,
    Cycle,
    Handle,
    Nodes,
    PodInfo,
    ReservePlugin,
    ScorePlugin,
    Status,
)

GPU, COUNT = "alibabacloud.com/gpu-milli", "alibabacloud.com/gpu-count"
MOST, WHOLE = 8, 1000
"""How many devices a node may have, and what each offers."""
ONE = np.eye(MOST, dtype=np.int64)
"""By device: one of it, and none of the others."""


def request(pod: PodInfo) -> tuple[int, int]:
    """Return how many devices a pod asks for, and how much of each."""
    annotations = pod.pod.metadata.annotations or {}
    return int(annotations.get(COUNT, 0)), int(annotations.get(GPU, 0))


def cpu_of(pod: PodInfo) -> int:
    """Return the millicores that a pod asks for."""
    return pod.demand.fit_requests.get("cpu", 0)


def options(asked: tuple[int, int], free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what a pod may leave behind: rows of the nodes, and what is free there then, int64 (options, 8)."""
    count, milli = asked
    ordered = np.sort(free, axis=1)
    fits = ordered >= milli
    if count != 1:
        return np.arange(len(free)), ordered - (fits & (np.cumsum(fits, axis=1) <= count)) * milli
    fits[:, 1:] &= ordered[:, 1:] > ordered[:, :-1]  # of devices with as much left one stands for all
    rows, device = fits.nonzero()
    return rows, ordered[rows] - milli * ONE[device]


class Devices:
    """What is free on each device of each node of a cluster; worked out again where the pods of a node change."""

    _of: ClassVar[WeakKeyDictionary[object, Devices]] = WeakKeyDictionary()

    def __init__(self) -> None:
        self._free = np.zeros((0, MOST), np.int64)
        self._seen = np.zeros(0, np.int64)
        # how much of which devices, by uid of the pod; kept, as a pod that a fork removed comes back
        self._taken: dict[str, tuple[int, list[int]]] = {}

    @classmethod
    def of(cls, cluster: object) -> Devices:
        """Return the devices of a cluster, which all plugins share."""
        if cluster not in cls._of:
            cls._of[cluster] = cls()
        return cls._of[cluster]

    def free(self, nodes: Nodes) -> np.ndarray:
        """Return the milli-GPU free by device, int64 (n, 8); a device that a node lacks has none free."""
        occupancy, rows = nodes.occupancy, nodes.rows
        if len(rows) and (last := int(rows.max())) >= len(self._seen):
            self._free = np.vstack((self._free, np.zeros((last + 1 - len(self._seen), MOST), np.int64)))
            self._seen = np.append(self._seen, np.full(last + 1 - len(self._seen), -2))
        stale = (self._seen[rows] != occupancy).nonzero()[0]
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

    def take(self, pod: PodInfo, node: Nodes, free: np.ndarray, devices: list[int]) -> None:
        """Note which devices a pod gets of a node where so much was free before, int64 (8,)."""
        _, milli = request(pod)
        self._taken[pod.uid] = milli, devices
        free[devices] -= milli
        self._free[node.rows], self._seen[node.rows] = free, node.occupancy

    def _left(self, devices: int, pods: list[PodInfo]) -> list[int]:
        left = [WHOLE] * devices + [0] * (MOST - devices)
        for pod in pods:
            milli, taken = self._taken.get(pod.uid) or _emptiest(pod, left)
            for device in taken:
                left[device] -= milli
        return left


def _emptiest(pod: PodInfo, left: list[int]) -> tuple[int, list[int]]:
    """Return what a pod has that was there before anybody looked: the devices with most left."""
    count, milli = request(pod)
    return milli, sorted(range(MOST), key=lambda each: -left[each])[:count]


class GpuPolicy(ScorePlugin, ReservePlugin):
    """A policy scores every node by what is free on its devices, and says which of them a pod gets there."""

    reads_feasible_set = False

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._devices = Devices.of(handle.cluster)

    @abstractmethod
    def score(self, cycle: Cycle, nodes: Nodes) -> np.ndarray:
        """Return the score of each node, int64 (n,)."""

    def devices(self, pod: PodInfo, node: Nodes, free: np.ndarray) -> list[int]:
        """Return the devices that a pod gets on a node where so much is free, int64 (8,): the tightest that will do."""
        count, milli = request(pod)
        return [device for device in np.argsort(free, kind="stable").tolist() if free[device] >= milli][:count]

    def free(self, nodes: Nodes) -> np.ndarray:
        """Return the milli-GPU free by device, int64 (n, 8)."""
        return self._devices.free(nodes)

    def signature(self, pod: PodInfo) -> Hashable:
        """Return all that is read of a pod."""
        return (*request(pod), cpu_of(pod))

    def reserve(self, cycle: Cycle, node_name: str) -> Status:
        """Note which devices the pod gets."""
        pod = cycle.pod
        if request(pod)[0]:
            node = self.handle.cluster.nodes_named([node_name])
            free = self._devices.free_before(pod, node)
            self._devices.take(pod, node, free, self.devices(pod, node, free))
        return SUCCESS

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        """Nothing: whoever asks about the node next finds the pod gone, and with it what it had."""

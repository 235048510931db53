"""FGD: the node whose fragmentation grows least, measured by what the pods of a trace could not use of it."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import numpy as np
from devices import MOST, WHOLE, GpuPolicy, cpu_of, request

from schedctl.framework import Cycle, Nodes, PluginArgs, PodInfo

TYPICAL = 0.95  # the most common pods are typical until they are so much of all


class FgdArgs(PluginArgs, frozen=True):
    """The list of pods that says what a node is good for."""

    pods: str = ""


class FGD(GpuPolicy):
    """Prefers the node, and on it the device, where the expected fragmentation grows least."""

    args_type = FgdArgs

    def __init__(self, args: FgdArgs, handle: object) -> None:
        super().__init__(args, handle)
        with Path(args.pods).open(newline="") as file:
            asked = Counter((int(r["cpu_milli"]), int(r["num_gpu"]), int(r["gpu_milli"])) for r in csv.DictReader(file))
        kinds, most = [], TYPICAL * asked.total()
        for kind, number in sorted(asked.items(), key=lambda each: -each[1]):
            if sum(number for _, number in kinds) < most:
                kinds.append((kind, number))
        self._cpu, self._count, milli = np.array([kind for kind, _ in kinds]).T
        self._number = np.array([number for _, number in kinds])
        self._milli, self._kind = np.unique(milli, return_inverse=True)  # a few amounts, which many kinds share

    def score(self, cycle: Cycle, nodes: Nodes) -> np.ndarray:
        """Return the score of each node, int64 (n,)."""
        free, cpu = self.free(nodes), nodes.allocatable("cpu") - nodes.requested("cpu")
        rows, after = _options(request(cycle.pod), free)
        gained = self.fragmentation(free, cpu)[rows] - self.fragmentation(after, cpu[rows] - cpu_of(cycle.pod))
        np.maximum.at(best := np.full(len(nodes), -MOST * WHOLE * self._number.sum()), rows, gained)
        return self._whole(best)

    def devices(self, pod: PodInfo, node: Nodes, free: np.ndarray) -> list[int]:
        """Return the first of the devices with the best score, which is a whole number as that of a node."""
        count, milli = request(pod)
        fitting = np.flatnonzero(free >= milli)
        if count > 1 or milli == WHOLE or len(fitting) == 1:
            return super().devices(pod, node, free)
        cpu = node.allocatable("cpu") - node.requested("cpu")  # the pod is on the node by now
        after = free - milli * np.eye(MOST, dtype=np.int64)[fitting]
        before = self.fragmentation(free[None], cpu + cpu_of(pod))
        return [int(fitting[np.argmax(self._whole(before - self.fragmentation(after, np.repeat(cpu, len(fitting)))))])]

    def fragmentation(self, free: np.ndarray, cpu: np.ndarray) -> np.ndarray:
        """Return how much of the GPUs of each node typical pods could not use, milli-GPU by all of them, int64 (n,)."""
        enough = free[:, None, :] >= self._milli[:, None]
        below = np.where(enough, 0, free[:, None, :]).sum(axis=2)[:, self._kind]
        fits = (enough.sum(axis=2)[:, self._kind] >= self._count) & (cpu[:, None] >= self._cpu) & (self._count > 0)
        return np.where(fits, below, free.sum(axis=1)[:, None]) @ self._number

    def _whole(self, gained: np.ndarray) -> np.ndarray:
        # counted in whole numbers up to here: where nothing is gained, a last digit would make 49 of 50
        return (100 / (1 + np.exp(-gained / self._number.sum() / 1000))).astype(np.int64)


def _options(asked: tuple[int, int], free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what a pod may leave behind: rows of the nodes, and what is free there then, int64 (options, 8)."""
    count, milli = asked
    ordered = np.sort(free, axis=1)
    fits = ordered >= milli
    if count != 1:
        return np.arange(len(free)), ordered - (fits & (np.cumsum(fits, axis=1) <= count)) * milli
    fresh = np.diff(ordered, axis=1, prepend=-1) > 0  # of devices with as much left one stands for all
    rows, device = np.nonzero(fits & fresh)
    return rows, ordered[rows] - milli * np.eye(MOST, dtype=np.int64)[device]

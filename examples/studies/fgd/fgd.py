"""FGD: the node whose fragmentation grows least, measured by what the pods of a trace could not use of it."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import numpy as np
from devices import MOST, ONE, WHOLE, GpuPolicy, cpu_of, options, request

from schedctl.framework import Cycle, Nodes, PluginArgs, PodInfo

TYPICAL = 0.95  # the most common pods are typical until they are so much of all
ENOUGH = 2 * MOST * WHOLE  # more than is free on all devices of a node, so that both can be told from a sum


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
        self._count = np.where(self._count, self._count, MOST + 1)  # who asks for no GPU has no use for any
        self._number = np.array([number for _, number in kinds])
        self._all = int(self._number.sum())
        # of a device by what is free there, for each kind: one that is enough, or what the kind could not use of it
        free = np.arange(WHOLE + 1)[:, None]
        self._device = np.where(free >= milli, ENOUGH, free)

    def score(self, cycle: Cycle, nodes: Nodes) -> np.ndarray:
        """Return the score of each node, int64 (n,)."""
        free, cpu = self.free(nodes), nodes.allocatable("cpu") - nodes.requested("cpu")
        rows, after = options(request(cycle.pod), free)
        best = np.full(len(nodes), -MOST * WHOLE * self._all)
        np.maximum.at(best, rows, self._gain(free, cpu, rows, after, cpu_of(cycle.pod)))
        return self._whole(best)

    def devices(self, pod: PodInfo, node: Nodes, free: np.ndarray) -> list[int]:
        """Return the first of the devices with the best score, which is a whole number as that of a node."""
        count, milli = request(pod)
        fitting = (free >= milli).nonzero()[0]
        if count > 1 or milli == WHOLE or len(fitting) == 1:
            return super().devices(pod, node, free)
        cpu, asked = node.allocatable("cpu") - node.requested("cpu"), cpu_of(pod)  # the pod is on the node by now
        gained = self._gain(free[None], cpu + asked, np.zeros_like(fitting), free - milli * ONE[fitting], asked)
        return [int(fitting[self._whole(gained).argmax()])]

    def fragmentation(self, free: np.ndarray, cpu: np.ndarray) -> np.ndarray:
        """Return how much of the GPUs of each node typical pods could not use, milli-GPU by all of them, int64 (n,)."""
        devices = self._device[free].sum(axis=1)
        fits = (devices >= self._count * ENOUGH) & (cpu[:, None] >= self._cpu)
        return np.where(fits, devices % ENOUGH, free.sum(axis=1)[:, None]) @ self._number

    def _gain(self, free: np.ndarray, cpu: np.ndarray, rows: np.ndarray, after: np.ndarray, asked: int) -> np.ndarray:
        found = self.fragmentation(np.concatenate((free, after)), np.concatenate((cpu, cpu[rows] - asked)))
        return found[rows] - found[len(free) :]

    def _whole(self, gained: np.ndarray) -> np.ndarray:
        # counted in whole numbers up to here: where nothing is gained, a last digit would make 49 of 50
        return (100 / (1 + np.exp(gained / (-1000 * self._all)))).astype(np.int64)

"""RandomFit: any node that will do, and any device that will do; the seed of the study draws."""

from __future__ import annotations

import random
from collections.abc import Hashable

import numpy as np
from devices import GpuPolicy, request

from schedctl.framework import Cycle, Nodes, PluginArgs, PodInfo


class RandomArgs(PluginArgs, frozen=True):
    """What the draws begin with."""

    seed: int = 0


class RandomFit(GpuPolicy):
    """Draws one of the feasible nodes for each pod, and one of its devices that will do."""

    args_type = RandomArgs

    def signature(self, pod: PodInfo) -> Hashable:
        """Nothing is shared: the next pod like this one draws again."""
        return None

    def score(self, cycle: Cycle, nodes: Nodes) -> np.ndarray:
        """Return the score of each node, int64 (n,)."""
        return np.zeros(len(nodes), np.int64)

    def normalize(self, cycle: Cycle, nodes: Nodes, scores: np.ndarray) -> np.ndarray:
        """Return the scores from 0 to 100, int64 (n,)."""
        lots = np.random.default_rng(self._seed(cycle.pod)).random(int(nodes.rows.max()) + 1)[nodes.rows]
        return np.where(lots == lots.max(), 100, 0)

    def devices(self, pod: PodInfo, node: Nodes, free: np.ndarray) -> list[int]:
        """Return the devices that a pod gets on a node."""
        count, milli = request(pod)
        fitting = [device for device, left in enumerate(free.tolist()) if left >= milli]
        return random.Random(f"{self.args.seed}/{pod.key}").sample(fitting, count)

    def _seed(self, pod: PodInfo) -> list[int]:
        return [self.args.seed, *pod.key.encode()]

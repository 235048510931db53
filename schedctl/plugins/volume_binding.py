"""VolumeBinding: claims that are bound, can be bound, or can be provisioned where the pod goes."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from schedctl.api.pods import Volume
from schedctl.cache.arrays import IntArray
from schedctl.cache.cluster import Change
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import NotModelled, PluginError
from schedctl.framework.cycles import Cycle, StateKey
from schedctl.framework.points import (
    FilterPlugin,
    PreBindPlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ReservePlugin,
    Scope,
    ScorePlugin,
)
from schedctl.framework.reasons import Reason, Verdicts
from schedctl.framework.statuses import SKIP, SUCCESS, Code, Status, error

STATE = StateKey[None]("VolumeBinding")
"""Written by PreFilter, whether or not the pod has claims."""


class VolumeBinding(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, ReservePlugin, PreBindPlugin):
    """Finds nodes where all claims of a pod are bound or can be, and binds them before the pod."""

    unread = Reason("not found", code=Code.ERROR)
    reads_feasible_set = False

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status:
        """Skip for a pod without claims.

        Raises:
            NotModelled: it has one.
        """
        for volume in cycle.pod.pod.spec.volumes or ():
            if feature := _claimed(volume):
                raise NotModelled("VolumeBinding", feature, f'pod {cycle.pod.key}, volume "{volume.name}"')
        cycle.state[STATE] = None
        return SKIP

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Fail, since it is asked only where the profile leaves PreFilter out."""
        return self.unread.where(np.ones(len(nodes), np.bool_))

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Go on, even for a pod without claims (StorageCapacityScoring, on by default)."""
        return None if STATE in cycle.state else error("not found")

    def score(self, cycle: Cycle, nodes: Nodes) -> IntArray:
        """Return 0 for every node, int64 (n,): there is no storage to compare.

        Raises:
            PluginError: PreFilter did not run.
        """
        if STATE not in cycle.state:
            raise PluginError("not found")
        return np.zeros(len(nodes), np.int64)

    def reserve(self, cycle: Cycle, node_name: str) -> Status:
        """Succeed: there is nothing to assume."""
        return SUCCESS

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        """Nothing was assumed."""

    def pre_bind(self, cycle: Cycle, node_name: str) -> Status:
        """Succeed: there is nothing to bind."""
        return SUCCESS

    def signature(self, pod: PodInfo) -> Hashable | None:
        """Nothing is read of a pod without claims."""
        return None if any(_claimed(volume) for volume in pod.pod.spec.volumes or ()) else ()

    def moved_by(self, cycle: Cycle, change: Change) -> Scope:
        """Nothing moves for a pod without claims."""
        return Scope.NOTHING


def _claimed(volume: Volume) -> str:
    """Which kind of claim a volume is, "" for none."""
    if volume.persistent_volume_claim is not None:
        return "persistent volume claims"
    return "ephemeral volume claims" if volume.ephemeral is not None else ""

"""VolumeRestrictions: disks that two pods may not share, and claims that only one pod at a time may use."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from schedctl.api.pods import Volume
from schedctl.cache.cluster import Change
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import NotModelled
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import FilterPlugin, PreFilterPlugin, Scope
from schedctl.framework.reasons import Reason, Verdicts
from schedctl.framework.statuses import SKIP, Code, Status


class VolumeRestrictions(PreFilterPlugin, FilterPlugin):
    """Keeps a pod from nodes where a disk it brings along is in use, and waits for claims only one pod may use."""

    unread = Reason('cannot read "PreFilterVolumeRestrictions" from cycleState', code=Code.ERROR)

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status:
        """Skip for a pod without such volumes.

        Raises:
            NotModelled: it has one.
        """
        _refuse_restricted(cycle.pod)
        return SKIP

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Fail, since it is asked only where the profile leaves PreFilter out.

        Raises:
            NotModelled: see `pre_filter`.
        """
        _refuse_restricted(cycle.pod)
        return self.unread.where(np.ones(len(nodes), np.bool_))

    def signature(self, pod: PodInfo) -> Hashable | None:
        """Nothing is read of a pod without such volumes."""
        return None if any(_restricted(volume) for volume in pod.pod.spec.volumes or ()) else ()

    def moved_by(self, cycle: Cycle, change: Change) -> Scope:
        """Nothing moves for a pod without such volumes."""
        return Scope.NOTHING


def _restricted(volume: Volume) -> str:
    """What is special about a volume, "" for nothing."""
    if volume.persistent_volume_claim is not None:
        return "persistent volume claims"
    disks = (volume.gce_persistent_disk, volume.aws_elastic_block_store, volume.iscsi, volume.rbd)
    return "" if disks == (None, None, None, None) else "in-line disks"


def _refuse_restricted(pod: PodInfo) -> None:
    for volume in pod.pod.spec.volumes or ():
        if feature := _restricted(volume):
            raise NotModelled("VolumeRestrictions", feature, f'pod {pod.key}, volume "{volume.name}"')

"""NodeVolumeLimits: how many volumes of a CSI driver can be attached to a node."""

from __future__ import annotations

from collections.abc import Hashable

from schedctl.api.pods import Volume
from schedctl.cache.cluster import Change
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import NotModelled
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import FilterPlugin, PreFilterPlugin, Scope
from schedctl.framework.reasons import ACCEPT, Verdicts
from schedctl.framework.statuses import SKIP, Status


class NodeVolumeLimits(PreFilterPlugin, FilterPlugin):
    """Keeps a pod from nodes that can attach no more volumes of a CSI driver it needs."""

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status:
        """Skip for a pod without volumes that are attached.

        Raises:
            NotModelled: it has one.
        """
        _refuse_attached(cycle.pod)
        return SKIP

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Accept all nodes; it is asked only where the profile leaves PreFilter out.

        Raises:
            NotModelled: see `pre_filter`.
        """
        _refuse_attached(cycle.pod)
        return ACCEPT

    def signature(self, pod: PodInfo) -> Hashable | None:
        """Nothing is read of a pod without such volumes."""
        return None if any(_attached(volume) for volume in pod.pod.spec.volumes or ()) else ()

    def moved_by(self, cycle: Cycle, change: Change) -> Scope:
        """Nothing moves for a pod without such volumes."""
        return Scope.NOTHING


def _attached(volume: Volume) -> bool:
    """Whether a volume counts: a claim, or an in-line disk that a CSI driver has taken over."""
    return not (
        volume.persistent_volume_claim is None
        and volume.ephemeral is None
        and volume.gce_persistent_disk is None
        and volume.aws_elastic_block_store is None
        and volume.azure_disk is None
        and volume.cinder is None
        and volume.portworx_volume is None
    )


def _refuse_attached(pod: PodInfo) -> None:
    for volume in pod.pod.spec.volumes or ():
        if _attached(volume):
            raise NotModelled("NodeVolumeLimits", "attach limits", f'pod {pod.key}, volume "{volume.name}"')

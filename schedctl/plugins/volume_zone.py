"""VolumeZone: persistent volumes that are labelled with the zone they are in."""

from __future__ import annotations

from collections.abc import Hashable

from schedctl.cache.cluster import Change
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import NotModelled
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import FilterPlugin, PreFilterPlugin, Scope
from schedctl.framework.reasons import ACCEPT, Verdicts
from schedctl.framework.statuses import SKIP, Status


class VolumeZone(PreFilterPlugin, FilterPlugin):
    """Keeps a pod in the zones and regions its bound volumes are labelled with."""

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status:
        """Skip for a pod without claims.

        Raises:
            NotModelled: it has one.
        """
        _refuse_claims(cycle.pod)
        return SKIP

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Accept all nodes; it is asked only where the profile leaves PreFilter out.

        Raises:
            NotModelled: see `pre_filter`.
        """
        _refuse_claims(cycle.pod)
        return ACCEPT

    def signature(self, pod: PodInfo) -> Hashable | None:
        """Nothing is read of a pod without claims."""
        return None if any(v.persistent_volume_claim is not None for v in pod.pod.spec.volumes or ()) else ()

    def moved_by(self, cycle: Cycle, change: Change) -> Scope:
        """Nothing moves for a pod without claims."""
        return Scope.NOTHING


def _refuse_claims(pod: PodInfo) -> None:
    for volume in pod.pod.spec.volumes or ():
        if volume.persistent_volume_claim is not None:
            raise NotModelled("VolumeZone", "zones of persistent volumes", f'pod {pod.key}, volume "{volume.name}"')

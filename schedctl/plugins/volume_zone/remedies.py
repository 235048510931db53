"""What would undo a rejection of VolumeZone: a volume that is moved."""

from __future__ import annotations

from schedctl.cache.cluster import Cluster
from schedctl.framework.remedies import Rejection, Remedies
from schedctl.plugins.volume_binding.remedies import move_volume


def remedies(rejection: Rejection, cluster: Cluster) -> Remedies:
    """Return that the volume is moved to the zone of the node."""
    if rejection.reference != "volume-zone/elsewhere":
        return []
    return move_volume(rejection.node, rejection.evidence, {rejection.evidence["label"]}, cluster)

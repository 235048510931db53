"""What would undo a rejection of VolumeZone: a volume that is moved."""

from __future__ import annotations

from schedctl.cache.cluster import Cluster
from schedctl.framework.claim_remedies import move_volume
from schedctl.framework.remedies import Rejection, Remedies


def remedies(rejection: Rejection, cluster: Cluster) -> Remedies:
    """Return that the volume is moved to the zone of the node."""
    if rejection.reference != "volume-zone/elsewhere":
        return []
    evidence = rejection.evidence
    return move_volume(evidence["volume"], evidence["claim"], rejection.node, {evidence["label"]}, cluster)

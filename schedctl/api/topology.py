"""The well-known labels that say where nodes and volumes are, and the two ways of reading them.

Zones and regions have a current and a deprecated label. Which of the two goes first where an object has both depends
on who reads it; both orders stand here, so that no reader chooses by accident.
"""

from __future__ import annotations

from collections.abc import Mapping

HOSTNAME = "kubernetes.io/hostname"
"""The label by which every kubelet says what its node is called."""
ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
BETA_ZONE, BETA_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
"""The deprecated labels, which old nodes and volumes still have."""
CURRENT_LABELS = {BETA_ZONE: ZONE, BETA_REGION: REGION}
"""The current label for each deprecated one."""
LABELS = (BETA_ZONE, BETA_REGION, ZONE, REGION)
"""All of them, in the order in which VolumeZone goes over them."""
ZONE_SEPARATOR = "__"
"""What stands between the zones of a volume's label that names several."""


def zone_of(labels: Mapping[str, str] | None) -> str:
    """Return the zone that reports and policies name for a node, "" for none: the current label first."""
    # whoever writes a manifest today means the current label, which is also the one that selectors and spread
    # constraints name; the deprecated one only stands in on nodes that have no other
    return (labels.get(ZONE) or labels.get(BETA_ZONE, "")) if labels else ""


def group_of(labels: Mapping[str, str] | None, key: str) -> str | None:
    """Return the value of a label by which people choose and group nodes, None for none; of the zone, see `zone_of`."""
    if key == ZONE:
        return zone_of(labels) or None
    return labels.get(key) if labels else None


def node_tree_key(labels: Mapping[str, str]) -> tuple[str, str]:
    """Return the region and zone by which kube-scheduler orders nodes, "" for none: the deprecated labels first."""
    # upstream's GetZoneKey: a deprecated label counts before the current one, and even when it is empty
    region = labels[BETA_REGION] if BETA_REGION in labels else labels.get(REGION, "")
    return region, labels[BETA_ZONE] if BETA_ZONE in labels else labels.get(ZONE, "")

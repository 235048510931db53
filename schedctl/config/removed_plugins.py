"""Plugins kube-scheduler once had, and what became of them, for people who bring an old configuration along."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_VOLUMES: Final = "left in v1.32; NodeVolumeLimits counts {} since CSI drivers replaced them: remove this entry"
_SCORES: Final = (
    "left in v1.23; NodeResourcesFit scores by the scoringStrategy of its arguments, here of type {}: remove this"
    " entry, and put its weight and resources there"
)
_SPREADING: Final = (
    "left in {}; PodTopologySpread spreads the pods of Services and workloads by the default constraints of its"
    " arguments: remove this entry"
)

VOLUME_LIMITS: Final[Mapping[str, str]] = {
    "AzureDiskLimits": "Azure disks",
    "CinderLimits": "Cinder volumes",
    "EBSLimits": "EBS volumes",
    "GCEPDLimits": "GCE disks",
}
"""Plugins that counted the volumes of one cloud, and what they counted."""
REFUSED: Final[Mapping[str, str]] = {name: _VOLUMES.format(volumes) for name, volumes in VOLUME_LIMITS.items()}
"""Plugins that kube-scheduler remembers having removed, and refuses by name."""

GONE: Final[Mapping[str, str]] = {
    **REFUSED,
    "DefaultPodTopologySpread": _SPREADING.format("v1.19"),
    "SelectorSpread": _SPREADING.format("v1.29"),
    "NodeResourcesLeastAllocated": _SCORES.format("LeastAllocated"),
    "NodeResourcesMostAllocated": _SCORES.format("MostAllocated"),
    "RequestedToCapacityRatio": _SCORES.format("RequestedToCapacityRatio"),
    "NodeResourceLimits": "left in v1.19; nothing replaces it: remove this entry",
    "NodeLabel": (
        "left in v1.23; the addedAffinity argument of NodeAffinity requires labels of nodes instead: remove this entry"
    ),
    "NodePreferAvoidPods": (
        "left in v1.23; nodes no longer name pods to avoid; a taint with effect PreferNoSchedule replaces it:"
        " remove this entry"
    ),
    "ServiceAffinity": (
        "left in v1.23; InterPodAffinity keeps the pods of a Service together by the podAffinity of the pods: remove"
        " this entry"
    ),
}
"""All plugins that are no more: the first release without, and what does their work since."""

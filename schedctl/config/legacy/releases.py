"""Which kube-scheduler read which version of its configuration, and which plugins each version ran by itself.

A version meant different things in different releases, because its defaults moved. The one that counts here is the
last release that read it, with its default feature gates: whoever still has such a file has run it there last.
"""

from __future__ import annotations

from typing import Final

import msgspec

from schedctl.config.types import Plugin

_GROUP: Final = "kubescheduler.config.k8s.io/"
POLICY: Final = "Policy"

Sets = dict[str, tuple[Plugin, ...]]
"""Plugins by extension point, in order; a weight counts at ``score`` only."""


class LegacyVersion(msgspec.Struct, frozen=True):
    """A version of the configuration.

    Attributes:
        api_version: as files write it.
        kind: as files write it.
        first: the first release of Kubernetes whose kube-scheduler read it, "" where that is too long ago to matter.
        last: the last one.
        plugins: what ran at each point unless told otherwise; none where ``multiPoint`` says it as today.
    """

    api_version: str
    kind: str
    first: str
    last: str
    plugins: Sets

    def __str__(self) -> str:
        """Return the version with its releases, ``kubescheduler.config.k8s.io/v1beta2 (Kubernetes v1.22 to v1.27)``."""
        if self.first == self.last:
            when = f"Kubernetes {self.last}"
        elif self.first:
            when = f"Kubernetes {self.first} to {self.last}"
        else:
            when = f"Kubernetes up to {self.last}"
        name = f"{self.api_version} {self.kind}" if self.kind == POLICY else self.api_version
        return f"{name} ({when})"


def _sets(text: str) -> Sets:
    """Return plugin sets from words: a point, small at the beginning, before its plugins; a weight behind an ``=``."""
    found: Sets = {}
    point = ""
    for word in text.split():
        name, _, weight = word.partition("=")
        if name[0].islower():
            point = name
        else:
            found[point] = (*found.get(point, ()), Plugin(name, int(weight or 0)))
    return found


_OF_1_18: Final = _sets("""
    queueSort PrioritySort
    preFilter NodeResourcesFit NodePorts InterPodAffinity PodTopologySpread
    filter NodeUnschedulable NodeResourcesFit NodeName NodePorts NodeAffinity VolumeRestrictions TaintToleration
        EBSLimits GCEPDLimits NodeVolumeLimits AzureDiskLimits VolumeBinding VolumeZone InterPodAffinity
        PodTopologySpread
    preScore InterPodAffinity DefaultPodTopologySpread TaintToleration PodTopologySpread
    score NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 NodeResourcesLeastAllocated=1
        NodeAffinity=1 NodePreferAvoidPods=10000 DefaultPodTopologySpread=1 TaintToleration=1 PodTopologySpread=1
    bind DefaultBinder
""")
"""Before there were PostFilter plugins: preemption happened by itself."""
_OF_1_22: Final = _sets("""
    queueSort PrioritySort
    preFilter NodeResourcesFit NodePorts VolumeRestrictions PodTopologySpread InterPodAffinity VolumeBinding
        NodeAffinity
    filter NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions
        EBSLimits GCEPDLimits NodeVolumeLimits AzureDiskLimits VolumeBinding VolumeZone PodTopologySpread
        InterPodAffinity
    postFilter DefaultPreemption
    preScore InterPodAffinity PodTopologySpread TaintToleration NodeAffinity
    score NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 NodeResourcesLeastAllocated=1
        NodeAffinity=1 NodePreferAvoidPods=10000 PodTopologySpread=2 TaintToleration=1
    reserve VolumeBinding
    preBind VolumeBinding
    bind DefaultBinder
""")
_OF_1_27: Final = {
    **_OF_1_22,
    **_sets("""
        score NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 NodeResourcesFit=1 NodeAffinity=1
            PodTopologySpread=2 TaintToleration=1
    """),
}

V1ALPHA1: Final = LegacyVersion(f"{_GROUP}v1alpha1", "KubeSchedulerConfiguration", "", "v1.18", _OF_1_18)
V1ALPHA2: Final = LegacyVersion(f"{_GROUP}v1alpha2", "KubeSchedulerConfiguration", "v1.18", "v1.18", _OF_1_18)
V1BETA1: Final = LegacyVersion(f"{_GROUP}v1beta1", "KubeSchedulerConfiguration", "v1.19", "v1.22", _OF_1_22)
V1BETA2: Final = LegacyVersion(f"{_GROUP}v1beta2", "KubeSchedulerConfiguration", "v1.22", "v1.27", _OF_1_27)
V1BETA3: Final = LegacyVersion(f"{_GROUP}v1beta3", "KubeSchedulerConfiguration", "v1.23", "v1.28", {})
V1_POLICY: Final = LegacyVersion("v1", POLICY, "", "v1.22", _OF_1_22)

LEGACY_VERSIONS: Final = (V1ALPHA1, V1ALPHA2, V1BETA1, V1BETA2, V1BETA3, V1_POLICY)
"""All that can be converted, the oldest first and the ``Policy`` last."""


def legacy_version(kind: object, api_version: object) -> LegacyVersion | None:
    """Return the version that a document's head names, None when it is none that is converted."""
    return next((one for one in LEGACY_VERSIONS if (one.kind, one.api_version) == (kind, api_version)), None)

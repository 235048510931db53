"""The registry of in-tree plugins, in the order of kube-scheduler's default profile."""

from __future__ import annotations

from functools import lru_cache

from schedctl.framework.registries import Registry
from schedctl.plugins.default_binder import DefaultBinder
from schedctl.plugins.default_preemption.plugin import DefaultPreemption
from schedctl.plugins.deferred_pod_scheduling.plugin import DeferredPodScheduling
from schedctl.plugins.dynamic_resources.disabled import DisabledDynamicResources
from schedctl.plugins.dynamic_resources.plugin import DynamicResources, UnscoredDynamicResources
from schedctl.plugins.gang_scheduling import GangScheduling
from schedctl.plugins.image_locality import ImageLocality
from schedctl.plugins.inter_pod_affinity.plugin import InterPodAffinity
from schedctl.plugins.node_affinity.plugin import NodeAffinity
from schedctl.plugins.node_declared_features.plugin import NodeDeclaredFeatures
from schedctl.plugins.node_name.plugin import NodeName
from schedctl.plugins.node_ports.plugin import NodePorts
from schedctl.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from schedctl.plugins.node_resources_fit.plugin import NodeResourcesFit
from schedctl.plugins.node_unschedulable.plugin import NodeUnschedulable
from schedctl.plugins.node_volume_limits.plugin import NodeVolumeLimits
from schedctl.plugins.pod_group_pods_count import PodGroupPodsCount
from schedctl.plugins.pod_topology_spread.plugin import PodTopologySpread
from schedctl.plugins.priority_sort import PrioritySort
from schedctl.plugins.scheduling_gates import SchedulingGates
from schedctl.plugins.taint_toleration.plugin import TaintToleration
from schedctl.plugins.topology_placement_generator import TopologyPlacementGenerator
from schedctl.plugins.volume_binding.plugin import VolumeBinding
from schedctl.plugins.volume_restrictions.plugin import VolumeRestrictions
from schedctl.plugins.volume_zone.plugin import VolumeZone
from schedctl.releases import GENERIC_WORKLOAD, NEWEST, Release, ReleaseChange

IN_TREE = Registry(
    (
        SchedulingGates,
        PrioritySort,
        NodeName,
        NodeUnschedulable,
        TaintToleration,
        NodeAffinity,
        NodePorts,
        NodeResourcesFit,
        VolumeRestrictions,
        NodeVolumeLimits,
        VolumeBinding,
        VolumeZone,
        PodTopologySpread,
        InterPodAffinity,
        DynamicResources,
        DefaultPreemption,
        NodeResourcesBalancedAllocation,
        ImageLocality,
        DefaultBinder,
        NodeDeclaredFeatures,
    )
)
"""Every plugin kube-scheduler enables by default."""


_BEHIND_GATES = {
    DeferredPodScheduling: "InPlacePodVerticalScalingSchedulerPreemption",
    GangScheduling: GENERIC_WORKLOAD,
    TopologyPlacementGenerator: "TopologyAwareWorkloadScheduling",
    PodGroupPodsCount: "TopologyAwareWorkloadScheduling",
}
"""Those enabled by default only where a gate is on that is off unless set."""


@lru_cache(maxsize=64)
def plugins_of(release: Release) -> Registry:
    """Return the plugins that a release has."""
    if release == NEWEST:
        return IN_TREE
    plugins = dict(IN_TREE)
    plugins.update((plugin.name, plugin) for plugin, gate in _BEHIND_GATES.items() if release.enabled(gate))
    if not release.enabled("NodeDeclaredFeatures"):
        del plugins[NodeDeclaredFeatures.name]
    if not release.includes(ReleaseChange.SCORED_DEVICES):
        plugins[DynamicResources.name] = UnscoredDynamicResources
    if not release.enabled("DynamicResourceAllocation"):
        plugins[DynamicResources.name] = DisabledDynamicResources
    return Registry(plugins.values())

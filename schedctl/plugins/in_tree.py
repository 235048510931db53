"""The registry of in-tree plugins, in the order of kube-scheduler's default profile."""

from __future__ import annotations

from schedctl.framework.registries import Registry
from schedctl.plugins.default_binder import DefaultBinder
from schedctl.plugins.default_preemption import DefaultPreemption
from schedctl.plugins.dynamic_resources import DynamicResources
from schedctl.plugins.image_locality import ImageLocality
from schedctl.plugins.inter_pod_affinity import InterPodAffinity
from schedctl.plugins.node_affinity import NodeAffinity
from schedctl.plugins.node_declared_features import NodeDeclaredFeatures
from schedctl.plugins.node_name import NodeName
from schedctl.plugins.node_ports import NodePorts
from schedctl.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from schedctl.plugins.node_resources_fit import NodeResourcesFit
from schedctl.plugins.node_unschedulable import NodeUnschedulable
from schedctl.plugins.node_volume_limits import NodeVolumeLimits
from schedctl.plugins.pod_topology_spread import PodTopologySpread
from schedctl.plugins.priority_sort import PrioritySort
from schedctl.plugins.scheduling_gates import SchedulingGates
from schedctl.plugins.taint_toleration import TaintToleration
from schedctl.plugins.volume_binding import VolumeBinding
from schedctl.plugins.volume_restrictions import VolumeRestrictions
from schedctl.plugins.volume_zone import VolumeZone

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

"""The arguments of in-tree plugins, one type each, with Kubernetes' defaults.

``ARGS`` lists all that exist: an in-tree plugin that is not in it takes none, and whatever a file gives it is ignored,
as kube-scheduler does.
"""

from __future__ import annotations

from typing import Annotated, Final

from schedctl.api.durations import SECOND, Duration
from schedctl.api.meta import Int32, Int64
from schedctl.api.pods import NodeAffinity, TopologySpreadConstraint
from schedctl.documents.fields import ZERO_IS_ABSENT, ConfigStruct


class PluginArgs(ConfigStruct, frozen=True):
    """Base of the arguments of a plugin; `__post_init__` may raise ValueError for what they must not be."""


class DefaultPreemptionArgs(PluginArgs, frozen=True):
    """How many candidates preemption weighs: the larger of a share of the nodes, in percent, and a number."""

    min_candidate_nodes_percentage: Int32 = 10
    min_candidate_nodes_absolute: Int32 = 100


class InterPodAffinityArgs(PluginArgs, frozen=True):
    """What a required affinity of a running pod is worth when scoring, 0 to 100, and whether to skip preferred ones."""

    hard_pod_affinity_weight: Int32 = 1
    ignore_preferred_terms_of_existing_pods: bool = False


class ResourceSpec(ConfigStruct, frozen=True):
    """A resource that is scored, and how much it counts, 1 to 100."""

    name: str = ""
    weight: Annotated[Int64, ZERO_IS_ABSENT] = 1


CPU_AND_MEMORY: Final = (ResourceSpec(name="cpu"), ResourceSpec(name="memory"))


class UtilizationShapePoint(ConfigStruct, frozen=True):
    """A point of a piecewise linear function: a score, 0 to 10, at a utilisation, 0 to 100 percent."""

    utilization: Int32 = 0
    score: Int32 = 0


class RequestedToCapacityRatioParam(ConfigStruct, frozen=True):
    """The function from utilisation to score, sorted by utilisation."""

    shape: tuple[UtilizationShapePoint, ...] = ()


class ScoringStrategy(ConfigStruct, frozen=True):
    """LeastAllocated, MostAllocated or RequestedToCapacityRatio, over the given resources."""

    type: str = ""
    resources: Annotated[tuple[ResourceSpec, ...], ZERO_IS_ABSENT] = CPU_AND_MEMORY
    requested_to_capacity_ratio: RequestedToCapacityRatioParam | None = None


class NodeResourcesFitArgs(PluginArgs, frozen=True):
    """Resources (by name, or by the part before the slash) Filter overlooks, and how nodes are scored."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = ScoringStrategy(type="LeastAllocated")


class NodeResourcesBalancedAllocationArgs(PluginArgs, frozen=True):
    """Resources whose use should be alike; their weight must be 1."""

    resources: Annotated[tuple[ResourceSpec, ...], ZERO_IS_ABSENT] = CPU_AND_MEMORY


class NodeAffinityArgs(PluginArgs, frozen=True):
    """An affinity every pod of the profile has in addition to its own."""

    added_affinity: NodeAffinity | None = None


class PodTopologySpreadArgs(PluginArgs, frozen=True):
    """Constraints of pods that bring none: a list, or Kubernetes' own (``System``)."""

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: Annotated[str, ZERO_IS_ABSENT] = "System"


DEFAULT_STORAGE_SHAPE: Final = (
    UtilizationShapePoint(utilization=0, score=10),
    UtilizationShapePoint(utilization=100, score=0),
)
"""What VolumeBinding scores by where no shape is configured; the very object tells whether one is."""


class VolumeBindingArgs(PluginArgs, frozen=True):
    """How long a bind of volumes may take, and the function that scores nodes by the use of their storage."""

    bind_timeout_seconds: Int64 = 600
    shape: Annotated[tuple[UtilizationShapePoint, ...], ZERO_IS_ABSENT] = DEFAULT_STORAGE_SHAPE


class DynamicResourcesArgs(PluginArgs, frozen=True):
    """Limits on the search for devices on one node (0: none) and on the wait for devices to become ready."""

    filter_timeout: Duration = Duration(10 * SECOND)
    binding_timeout: Duration = Duration(600 * SECOND)


ARGS: Final[dict[str, type[PluginArgs]]] = {
    "DefaultPreemption": DefaultPreemptionArgs,
    "DynamicResources": DynamicResourcesArgs,
    "InterPodAffinity": InterPodAffinityArgs,
    "NodeAffinity": NodeAffinityArgs,
    "NodeResourcesBalancedAllocation": NodeResourcesBalancedAllocationArgs,
    "NodeResourcesFit": NodeResourcesFitArgs,
    "PodTopologySpread": PodTopologySpreadArgs,
    "VolumeBinding": VolumeBindingArgs,
}
"""The argument types by plugin; their ``kind`` in a file is the plugin's name with ``Args`` behind it."""

"""The fields that configurations of other times had, as `decoding` takes them: one struct for each shape there was.

What is as it is today is of today's types. Plugin sets differ from version to version and arguments from plugin to
plugin, so both stay nodes here and are decoded by whoever knows which.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from schedctl.api.meta import Int32, Int64
from schedctl.config import types
from schedctl.config.args import ARGS, PluginArgs, ResourceSpec, UtilizationShapePoint
from schedctl.documents.fields import ConfigStruct


class OldLeaderElection(types.LeaderElection, frozen=True):
    """As today, and two other names for the name and the namespace of the lock."""

    lock_object_name: str = ""
    lock_object_namespace: str = ""


class PolicyFile(ConfigStruct, frozen=True):
    """A file with a ``Policy``."""

    path: str = ""


class PolicyConfigMap(ConfigStruct, frozen=True):
    """A ConfigMap with a ``Policy``."""

    namespace: str = ""
    name: str = ""


class PolicySource(ConfigStruct, frozen=True):
    """Where a ``Policy`` is."""

    file: PolicyFile | None = None
    config_map: PolicyConfigMap | None = None


class AlgorithmSource(ConfigStruct, frozen=True):
    """A ``Policy``, or the name of a set of defaults."""

    policy: PolicySource | None = None
    provider: str | None = None


class _Configuration(ConfigStruct, frozen=True):
    """What all versions have."""

    leader_election: types.LeaderElection = types.LeaderElection()
    client_connection: types.ClientConnection = types.ClientConnection()
    enable_profiling: bool | None = None
    enable_contention_profiling: bool | None = None
    percentage_of_nodes_to_score: Int32 | None = None
    pod_initial_backoff_seconds: Int64 | None = None
    pod_max_backoff_seconds: Int64 | None = None


class _WithAddresses(_Configuration, frozen=True):
    """And where health and metrics are served, which flags say today."""

    healthz_bind_address: str | None = None
    metrics_bind_address: str | None = None


class OldProfile(ConfigStruct, frozen=True):
    """A profile, its plugin sets a node."""

    scheduler_name: str | None = None
    plugins: Any = None
    plugin_config: tuple[types.PluginConfig, ...] = ()


class ConfigurationV1Alpha1(_WithAddresses, frozen=True):
    """One profile, spread over the document."""

    scheduler_name: str | None = None
    algorithm_source: AlgorithmSource = AlgorithmSource()
    hard_pod_affinity_symmetric_weight: Int32 | None = None
    leader_election: OldLeaderElection = OldLeaderElection()
    disable_preemption: bool | None = None
    bind_timeout_seconds: Int64 | None = None
    plugins: Any = None
    plugin_config: tuple[types.PluginConfig, ...] = ()


class ConfigurationV1Alpha2(_WithAddresses, frozen=True):
    """The first with profiles."""

    disable_preemption: bool | None = None
    bind_timeout_seconds: Int64 | None = None
    profiles: tuple[OldProfile, ...] = ()
    extenders: tuple[types.Extender, ...] = ()


class ConfigurationV1Beta1(_WithAddresses, frozen=True):
    """Also that of v1beta2."""

    parallelism: Int32 | None = None
    profiles: tuple[OldProfile, ...] = ()
    extenders: tuple[types.Extender, ...] = ()


class ConfigurationV1Beta3(_Configuration, frozen=True):
    """Today's, but for what came after."""

    parallelism: Int32 | None = None
    profiles: tuple[OldProfile, ...] = ()
    extenders: tuple[types.Extender, ...] = ()


# Plugin sets


class _Plugins(ConfigStruct, frozen=True):
    queue_sort: types.PluginSet = types.PluginSet()
    pre_filter: types.PluginSet = types.PluginSet()
    filter: types.PluginSet = types.PluginSet()
    score: types.PluginSet = types.PluginSet()
    reserve: types.PluginSet = types.PluginSet()
    permit: types.PluginSet = types.PluginSet()
    pre_bind: types.PluginSet = types.PluginSet()
    bind: types.PluginSet = types.PluginSet()
    post_bind: types.PluginSet = types.PluginSet()


class PluginsV1Alpha1(_Plugins, frozen=True):
    """``postFilter`` is what is ``preScore`` today, ``unreserve`` a part of ``reserve``."""

    post_filter: types.PluginSet = types.PluginSet()
    unreserve: types.PluginSet = types.PluginSet()


class PluginsV1Alpha2(_Plugins, frozen=True):
    """``unreserve`` is a part of ``reserve`` today."""

    pre_score: types.PluginSet = types.PluginSet()
    unreserve: types.PluginSet = types.PluginSet()


class PluginsV1Beta1(_Plugins, frozen=True):
    """Today's points, but for ``preEnqueue`` and ``multiPoint``."""

    post_filter: types.PluginSet = types.PluginSet()
    pre_score: types.PluginSet = types.PluginSet()


class PluginsV1Beta2(PluginsV1Beta1, frozen=True):
    """With a ``multiPoint`` that enables nothing by itself."""

    multi_point: types.PluginSet = types.PluginSet()


class PluginsV1Beta3(PluginsV1Beta2, frozen=True):
    """Today's points, but for those of pod groups."""

    pre_enqueue: types.PluginSet = types.PluginSet()


# Arguments of plugins that are gone


class NodeLabelArgs(PluginArgs, frozen=True):
    """Labels a node must have, must not have, should have and should not have."""

    present_labels: tuple[str, ...] = ()
    absent_labels: tuple[str, ...] = ()
    present_labels_preference: tuple[str, ...] = ()
    absent_labels_preference: tuple[str, ...] = ()


class ServiceAffinityArgs(PluginArgs, frozen=True):
    """Labels in whose values all pods of a Service agree, and over whose values they spread."""

    affinity_labels: tuple[str, ...] = ()
    anti_affinity_labels_preference: tuple[str, ...] = ()


class AllocatedArgs(PluginArgs, frozen=True):
    """The resources of NodeResourcesLeastAllocated and NodeResourcesMostAllocated."""

    resources: tuple[ResourceSpec, ...] = ()


class RequestedToCapacityRatioArgs(PluginArgs, frozen=True):
    """The function of RequestedToCapacityRatio, and its resources."""

    shape: tuple[UtilizationShapePoint, ...] = ()
    resources: tuple[ResourceSpec, ...] = ()


OLD_ARGS: Final[dict[str, type[PluginArgs]]] = {
    **{name: kind for name, kind in ARGS.items() if name != "DynamicResources"},
    "NodeLabel": NodeLabelArgs,
    "NodeResourcesLeastAllocated": AllocatedArgs,
    "NodeResourcesMostAllocated": AllocatedArgs,
    "RequestedToCapacityRatio": RequestedToCapacityRatioArgs,
    "ServiceAffinity": ServiceAffinityArgs,
}
"""The arguments of plugins that are or were Kubernetes' own."""


# Policies


class Labels(ConfigStruct, frozen=True):
    """The nodes of a group agree in all these labels."""

    labels: tuple[str, ...] = ()


class LabelsPresence(ConfigStruct, frozen=True):
    """Labels a node must have, or must not have."""

    labels: tuple[str, ...] = ()
    presence: bool = False


class PredicateArgument(ConfigStruct, frozen=True):
    """What a predicate is about; one of them."""

    service_affinity: Labels | None = None
    labels_presence: LabelsPresence | None = None


class Predicate(ConfigStruct, frozen=True):
    """What a node must pass."""

    name: str = ""
    argument: PredicateArgument | None = None


class ServiceAntiAffinity(ConfigStruct, frozen=True):
    """The label over whose values the pods of a Service spread."""

    label: str = ""


class LabelPreference(ConfigStruct, frozen=True):
    """A label that nodes should have, or should not have."""

    label: str = ""
    presence: bool = False


class PriorityArgument(ConfigStruct, frozen=True):
    """What a priority is about; one of them."""

    service_anti_affinity: ServiceAntiAffinity | None = None
    label_preference: LabelPreference | None = None
    requested_to_capacity_ratio_arguments: RequestedToCapacityRatioArgs | None = None


class Priority(ConfigStruct, frozen=True):
    """What scores nodes, and what the score counts."""

    name: str = ""
    weight: Int64 = 0
    argument: PriorityArgument | None = None


class LegacyExtender(ConfigStruct, frozen=True):
    """An extender as a ``Policy`` has it: ``enableHttps``, and a timeout in nanoseconds."""

    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: Int64 = 0
    bind_verb: str = ""
    enable_https: bool = False
    tls_config: types.ExtenderTLSConfig | None = None
    http_timeout: Int64 = 0
    node_cache_capable: bool = False
    managed_resources: tuple[types.ExtenderManagedResource, ...] = ()
    ignorable: bool = False


class Policy(ConfigStruct, frozen=True):
    """Predicates and priorities; None stands for Kubernetes' own, an empty list for none."""

    predicates: tuple[Predicate, ...] | None = None
    priorities: tuple[Priority, ...] | None = None
    extenders: tuple[LegacyExtender, ...] = ()
    hard_pod_affinity_symmetric_weight: Int32 = 0
    always_check_all_predicates: bool = False


EXTENDER_FIELDS: Final = {
    field.encode_name.lower(): field.encode_name for field in msgspec.structs.fields(LegacyExtender)
}
"""The fields of an extender by their name in lower case: of all fields only theirs were read whatever their case."""

"""KubeSchedulerConfiguration ``kubescheduler.config.k8s.io/v1`` as values.

`loading` fills these structs with what is written, `defaults` completes them, `validation` objects. A field's default
*is* Kubernetes' default; where Go's type cannot tell a zero from an absent field, the zero is replaced by it too
(`ZERO_IS_ABSENT`).
"""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec

from schedctl.api.defaults import DEFAULT_SCHEDULER
from schedctl.api.durations import SECOND, Duration
from schedctl.api.meta import Int32, Int64
from schedctl.config.args import ARGS
from schedctl.documents.fields import ZERO_IS_ABSENT, ConfigStruct

API_VERSION: Final = "kubescheduler.config.k8s.io/v1"
KIND: Final = "KubeSchedulerConfiguration"


class Plugin(msgspec.Struct, frozen=True, rename="camel"):
    """A plugin by name; the weight counts at ``score`` and ``placementScore`` only, and 0 stands for 1 there."""

    name: str = ""
    weight: Int32 = 0


class PluginSet(ConfigStruct, frozen=True):
    """What a profile enables and disables at one point; a disabled ``*`` means everything enabled by default."""

    enabled: tuple[Plugin, ...] = ()
    disabled: tuple[Plugin, ...] = ()


class Plugins(ConfigStruct, frozen=True):
    """A plugin set per extension point, and `multi_point`, which stands for every point its plugins implement."""

    pre_enqueue: PluginSet = PluginSet()
    queue_sort: PluginSet = PluginSet()
    pre_filter: PluginSet = PluginSet()
    filter: PluginSet = PluginSet()
    post_filter: PluginSet = PluginSet()
    pre_score: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    reserve: PluginSet = PluginSet()
    permit: PluginSet = PluginSet()
    pre_bind: PluginSet = PluginSet()
    bind: PluginSet = PluginSet()
    post_bind: PluginSet = PluginSet()
    multi_point: PluginSet = PluginSet()
    placement_generate: PluginSet = PluginSet()
    placement_score: PluginSet = PluginSet()
    pod_group_post_filter: PluginSet = PluginSet()

    def at(self, point: str) -> PluginSet:
        """Return the set of a point, named as in a file, e.g. ``preFilter`` or ``multiPoint``."""
        chosen: PluginSet = getattr(self, _ATTRIBUTES[point])
        return chosen

    def enabled_names(self) -> set[str]:
        """Return the names enabled anywhere, which are the plugins kube-scheduler makes for the profile."""
        return {plugin.name for point in _ATTRIBUTES for plugin in self.at(point).enabled}


_ATTRIBUTES: Final = {field.encode_name: field.name for field in msgspec.structs.fields(Plugins)}
MULTI_POINT: Final = "multiPoint"
POINTS: Final = (
    "preFilter",
    "filter",
    "postFilter",
    "reserve",
    "preScore",
    "score",
    "preBind",
    "bind",
    "postBind",
    "permit",
    "preEnqueue",
    "queueSort",
    "placementGenerate",
    "placementScore",
    "podGroupPostFilter",
)
"""The extension points as files name them, without ``multiPoint``, in the order kube-scheduler sets them up."""


class PluginConfig(ConfigStruct, frozen=True):
    """The arguments of one plugin: its `PluginArgs` for an in-tree plugin that takes any, else plain JSON values."""

    name: str = ""
    args: Any = None


class ProfileConfig(ConfigStruct, frozen=True):
    """A profile: which pods it serves, and with which plugins.

    Attributes:
        scheduler_name: pods name it in ``spec.schedulerName``; only a single profile may go without in a file.
        percentage_of_nodes_to_score: None where the scheduler's own holds.
        plugins: the defaults of Kubernetes with the file's changes merged in.
        plugin_config: the file's, followed by the default arguments of every other enabled plugin, by name.
    """

    scheduler_name: str = DEFAULT_SCHEDULER
    percentage_of_nodes_to_score: Int32 | None = None
    plugins: Plugins = Plugins()
    plugin_config: tuple[PluginConfig, ...] = ()

    def args(self, name: str) -> Any:
        """Return a plugin's arguments: its `PluginArgs`, plain JSON values of an out-of-tree plugin, None for none."""
        for config in self.plugin_config:
            if config.name == name:
                return config.args
        return ARGS[name]() if name in ARGS else None


class ExtenderManagedResource(ConfigStruct, frozen=True):
    """An extended resource an extender looks after; ``ignored_by_scheduler`` takes it from NodeResourcesFit."""

    name: str = ""
    ignored_by_scheduler: bool = False


class ExtenderTLSConfig(ConfigStruct, frozen=True):
    """How to speak TLS with an extender; data win over files, which are not opened here."""

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: bytes = b""
    key_data: bytes = b""
    ca_data: bytes = b""


class Extender(ConfigStruct, frozen=True):
    """A webhook that takes part in scheduling; an empty verb is a call it does not offer.

    Extenders stand in the file's order. kube-scheduler asks the ignorable ones last.
    """

    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: Int64 = 0
    bind_verb: str = ""
    enable_https: bool = msgspec.field(default=False, name="enableHTTPS")
    tls_config: ExtenderTLSConfig | None = None
    http_timeout: Annotated[Duration, ZERO_IS_ABSENT] = Duration(5 * SECOND)
    node_cache_capable: bool = False
    managed_resources: tuple[ExtenderManagedResource, ...] = ()
    ignorable: bool = False


class LeaderElection(ConfigStruct, frozen=True):
    """How replicas of kube-scheduler agree on one; nothing here schedules, but a file with it must load."""

    leader_elect: bool = True
    lease_duration: Annotated[Duration, ZERO_IS_ABSENT] = Duration(15 * SECOND)
    renew_deadline: Annotated[Duration, ZERO_IS_ABSENT] = Duration(10 * SECOND)
    retry_period: Annotated[Duration, ZERO_IS_ABSENT] = Duration(2 * SECOND)
    resource_lock: Annotated[str, ZERO_IS_ABSENT] = "leases"
    resource_name: Annotated[str, ZERO_IS_ABSENT] = "kube-scheduler"
    resource_namespace: Annotated[str, ZERO_IS_ABSENT] = "kube-system"


class ClientConnection(ConfigStruct, frozen=True):
    """How kube-scheduler reaches the API server; kept, not used."""

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: Annotated[str, ZERO_IS_ABSENT] = "application/vnd.kubernetes.protobuf"
    qps: Annotated[float, ZERO_IS_ABSENT] = 50.0
    burst: Annotated[Int32, ZERO_IS_ABSENT] = 100


class SchedulerConfiguration(ConfigStruct, frozen=True):
    """A whole KubeSchedulerConfiguration.

    Attributes:
        percentage_of_nodes_to_score: 0 for a share that shrinks as the cluster grows.
        enable_contention_profiling: as `enable_profiling` unless given; None only before completion.
        profiles: at least one; none only before completion.
    """

    parallelism: Int32 = 16
    leader_election: LeaderElection = LeaderElection()
    client_connection: ClientConnection = ClientConnection()
    enable_profiling: bool = True
    enable_contention_profiling: bool | None = None
    percentage_of_nodes_to_score: Int32 = 0
    pod_initial_backoff_seconds: Int64 = 1
    pod_max_backoff_seconds: Int64 = 10
    profiles: tuple[ProfileConfig, ...] = ()
    extenders: tuple[Extender, ...] = ()
    delay_cache_until_active: bool = False

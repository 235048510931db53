"""Policy objects: priorities, disruption budgets, runtimes, and the limits and quotas of a namespace."""

from __future__ import annotations

from schedctl.api.meta import Int32, LabelSelector, ObjectMeta, Struct
from schedctl.api.pods import ResourceList, Toleration


class PriorityClass(Struct, frozen=True):
    """``scheduling.k8s.io/v1.PriorityClass``."""

    metadata: ObjectMeta = ObjectMeta()
    value: Int32 = 0
    global_default: bool = False
    preemption_policy: str | None = None


class PodDisruptionBudgetSpec(Struct, frozen=True):
    """``policy/v1.PodDisruptionBudgetSpec``; an absent selector selects nothing."""

    selector: LabelSelector | None = None
    min_available: Int32 | str | None = None
    max_unavailable: Int32 | str | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(Struct, frozen=True):
    """``policy/v1.PodDisruptionBudgetStatus``."""

    disruptions_allowed: Int32 = 0
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    expected_pods: Int32 = 0
    disrupted_pods: dict[str, str | None] | None = None


class PodDisruptionBudget(Struct, frozen=True):
    """``policy/v1.PodDisruptionBudget``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()


class RuntimeClassOverhead(Struct, frozen=True):
    """What a runtime costs on top of its containers."""

    pod_fixed: ResourceList | None = None


class RuntimeClassScheduling(Struct, frozen=True):
    """Where a runtime can run."""

    node_selector: dict[str, str] | None = None
    tolerations: list[Toleration] | None = None


class RuntimeClass(Struct, frozen=True):
    """``node.k8s.io/v1.RuntimeClass``."""

    metadata: ObjectMeta = ObjectMeta()
    handler: str = ""
    overhead: RuntimeClassOverhead | None = None
    scheduling: RuntimeClassScheduling | None = None


class LimitRangeItem(Struct, frozen=True):
    """Bounds and defaults for one type of object: Container, Pod or PersistentVolumeClaim."""

    type: str = ""
    max: ResourceList | None = None
    min: ResourceList | None = None
    default: ResourceList | None = None
    default_request: ResourceList | None = None
    max_limit_request_ratio: ResourceList | None = None


class LimitRangeSpec(Struct, frozen=True):
    """``v1.LimitRangeSpec``."""

    limits: list[LimitRangeItem] | None = None


class LimitRange(Struct, frozen=True):
    """``v1.LimitRange``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: LimitRangeSpec = LimitRangeSpec()


class ScopedResourceSelectorRequirement(Struct, frozen=True):
    """One condition on what a quota counts: In, NotIn, Exists or DoesNotExist over the values of a scope."""

    scope_name: str = ""
    operator: str = ""
    values: list[str] | None = None


class ScopeSelector(Struct, frozen=True):
    """Conditions that must all hold."""

    match_expressions: list[ScopedResourceSelectorRequirement] | None = None


class ResourceQuotaSpec(Struct, frozen=True):
    """``v1.ResourceQuotaSpec``."""

    hard: ResourceList | None = None
    scopes: list[str] | None = None
    scope_selector: ScopeSelector | None = None


class ResourceQuotaStatus(Struct, frozen=True):
    """``v1.ResourceQuotaStatus``: what the quota controller has seen."""

    hard: ResourceList | None = None
    used: ResourceList | None = None


class ResourceQuota(Struct, frozen=True):
    """``v1.ResourceQuota``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()

"""Priority, disruption and runtime policy objects."""

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


class PodDisruptionBudgetStatus(Struct, frozen=True):
    """``policy/v1.PodDisruptionBudgetStatus``."""

    disruptions_allowed: Int32 = 0
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

"""PodGroup: pods that are scheduled together (KEP-4671), and the conditions that say how that went.

Of ``scheduling.k8s.io/v1beta1``, which v1.37 serves behind the gate GenericWorkload; earlier versions of the API are
other objects. Its neighbours are `schedctl.api.pods`, whose ``schedulingGroup`` names a group, and
`schedctl.api.policies`.
"""

from __future__ import annotations

from schedctl.api.meta import Int32, ObjectMeta, Struct
from schedctl.api.pods import PodResourceClaim


class GangSchedulingPolicy(Struct, frozen=True):
    """All or nothing: at least so many pods of the group, or none."""

    min_count: Int32 = 0


class BasicSchedulingPolicy(Struct, frozen=True):
    """As many pods of the group as there is room for."""


class PodGroupSchedulingPolicy(Struct, frozen=True):
    """One of the two."""

    basic: BasicSchedulingPolicy | None = None
    gang: GangSchedulingPolicy | None = None


class TopologyConstraint(Struct, frozen=True):
    """All pods of the group go to nodes that have one value of this label."""

    key: str = ""


class PodGroupSchedulingConstraints(Struct, frozen=True):
    """``v1beta1.PodGroupSchedulingConstraints``; of the topology keys the first counts."""

    topology: list[TopologyConstraint] | None = None


class PodGroupResourceClaim(Struct, frozen=True):
    """A claim that all pods of the group share."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class SingleDisruptionMode(Struct, frozen=True):
    """Pods of the group may be disrupted one by one."""


class AllDisruptionMode(Struct, frozen=True):
    """Pods of the group are disrupted together or not at all."""


class DisruptionMode(Struct, frozen=True):
    """One of the two; without it, pods are disrupted one by one."""

    single: SingleDisruptionMode | None = None
    all: AllDisruptionMode | None = None


class WorkloadReference(Struct, frozen=True):
    """The Workload, and its template, that a group was made from."""

    workload_name: str = ""
    template_name: str = ""


class PodGroupSpec(Struct, frozen=True):
    """``v1beta1.PodGroupSpec``."""

    parent_composite_pod_group_name: str | None = None
    workload_ref: WorkloadReference | None = None
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: list[PodGroupResourceClaim] | None = None
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: Int32 | None = None
    preemption_policy: str | None = None


class PodGroupCondition(Struct, frozen=True):
    """``metav1.Condition`` of a group; ``PodGroupInitiallyScheduled`` is kube-scheduler's."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class PodGroupResourceClaimStatus(Struct, frozen=True):
    """The claim that was made for the group from a template."""

    name: str = ""
    resource_claim_name: str | None = None


class PodGroupStatus(Struct, frozen=True):
    """``v1beta1.PodGroupStatus``."""

    conditions: list[PodGroupCondition] | None = None
    resource_claim_statuses: list[PodGroupResourceClaimStatus] | None = None


class PodGroup(Struct, frozen=True):
    """``scheduling.k8s.io/v1beta1.PodGroup``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def is_gang(self) -> bool:
        """Whether it is all or nothing."""
        return self.spec.scheduling_policy.gang is not None

    @property
    def min_count(self) -> int:
        """How many of its pods must run for any to run: 1 where it is no gang."""
        gang = self.spec.scheduling_policy.gang
        return 1 if gang is None else gang.min_count

    @property
    def priority(self) -> int:
        """Its own priority, which its pods share; 0 where it states none."""
        return self.spec.priority or 0

    @property
    def topology_key(self) -> str:
        """The label of which its nodes have one value, "" for none."""
        constraints = self.spec.scheduling_constraints
        return constraints.topology[0].key if constraints is not None and constraints.topology else ""

    def has_claim(self, reference: PodResourceClaim) -> bool:
        """Return whether what a pod refers to is a claim of the group: the same name for the same claim or template."""
        return any(
            (each.name, each.resource_claim_name, each.resource_claim_template_name)
            == (reference.name, reference.resource_claim_name, reference.resource_claim_template_name)
            for each in self.spec.resource_claims or ()
        )

    @property
    def is_disrupted_whole(self) -> bool:
        """Whether its pods are preempted together or not at all."""
        mode = self.spec.disruption_mode
        return mode is not None and mode.all is not None

"""Workloads and Services: what makes pods, and what groups them for default spreading."""

from __future__ import annotations

from schedctl.api import pod_groups
from schedctl.api.meta import Int32, LabelSelector, ObjectMeta, Struct
from schedctl.api.pods import PersistentVolumeClaimTemplate, PodTemplateSpec


class ServiceSpec(Struct, frozen=True):
    """``v1.ServiceSpec``; the selector is a plain map of labels."""

    selector: dict[str, str] | None = None


class Service(Struct, frozen=True):
    """``v1.Service``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ServiceSpec = ServiceSpec()


class ReplicationControllerSpec(Struct, frozen=True):
    """``v1.ReplicationControllerSpec``."""

    replicas: Int32 | None = None
    selector: dict[str, str] | None = None
    template: PodTemplateSpec | None = None


class ReplicationController(Struct, frozen=True):
    """``v1.ReplicationController``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ReplicationControllerSpec = ReplicationControllerSpec()


class WorkloadSpec(Struct, frozen=True):
    """What Deployments, ReplicaSets, DaemonSets and StatefulSets share."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()


class RollingUpdate(Struct, frozen=True):
    """How far a rolling update may go above and below the wanted number; a StatefulSet keeps ordinals below one."""

    max_surge: Int32 | str | None = None
    max_unavailable: Int32 | str | None = None
    partition: Int32 | None = None


class UpdateStrategy(Struct, frozen=True):
    """How pods of an old template give way: RollingUpdate, or Recreate (Deployment) or OnDelete (the others)."""

    type: str = ""
    rolling_update: RollingUpdate | None = None


class DeploymentSpec(WorkloadSpec, frozen=True):
    """``apps/v1.DeploymentSpec``."""

    strategy: UpdateStrategy | None = None
    paused: bool = False


class DaemonSetSpec(WorkloadSpec, frozen=True):
    """``apps/v1.DaemonSetSpec``; it has no replicas."""

    update_strategy: UpdateStrategy | None = None


class Deployment(Struct, frozen=True):
    """``apps/v1.Deployment``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: DeploymentSpec = DeploymentSpec()


class ReplicaSet(Struct, frozen=True):
    """``apps/v1.ReplicaSet``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadSpec = WorkloadSpec()


class DaemonSet(Struct, frozen=True):
    """``apps/v1.DaemonSet``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: DaemonSetSpec = DaemonSetSpec()


class StatefulSetOrdinals(Struct, frozen=True):
    """Where the pods of a StatefulSet begin to count."""

    start: Int32 = 0


class StatefulSetSpec(WorkloadSpec, frozen=True):
    """``apps/v1.StatefulSetSpec``."""

    volume_claim_templates: list[PersistentVolumeClaimTemplate] | None = None
    ordinals: StatefulSetOrdinals | None = None
    pod_management_policy: str = ""
    update_strategy: UpdateStrategy | None = None


class StatefulSet(Struct, frozen=True):
    """``apps/v1.StatefulSet``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: StatefulSetSpec = StatefulSetSpec()


class JobGangPolicy(Struct, frozen=True):
    """All or nothing; unless it says how many pods that are, as many as the Job's parallelism."""

    min_count: Int32 | None = None


class JobSchedulingPolicy(Struct, frozen=True):
    """One of the two."""

    basic: pod_groups.BasicSchedulingPolicy | None = None
    gang: JobGangPolicy | None = None


class JobScheduling(Struct, frozen=True):
    """``batch/v1.JobSchedulingConfiguration``: the group that the Job controller makes, with WorkloadWithJob."""

    scheduling_policy: JobSchedulingPolicy | None = None
    scheduling_constraints: pod_groups.PodGroupSchedulingConstraints | None = None
    disruption_mode: pod_groups.DisruptionMode | None = None
    resource_claims: list[pod_groups.PodGroupResourceClaim] | None = None


class JobSpec(Struct, frozen=True):
    """``batch/v1.JobSpec``."""

    parallelism: Int32 | None = None
    completions: Int32 | None = None
    completion_mode: str | None = None
    suspend: bool | None = None
    scheduling: JobScheduling | None = None
    template: PodTemplateSpec = PodTemplateSpec()


class Job(Struct, frozen=True):
    """``batch/v1.Job``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()


class JobTemplateSpec(Struct, frozen=True):
    """The job a CronJob makes."""

    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()


class CronJobSpec(Struct, frozen=True):
    """``batch/v1.CronJobSpec``."""

    schedule: str = ""
    suspend: bool | None = None
    job_template: JobTemplateSpec = JobTemplateSpec()


class CronJob(Struct, frozen=True):
    """``batch/v1.CronJob``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CronJobSpec = CronJobSpec()


class CrossVersionObjectReference(Struct, frozen=True):
    """What a HorizontalPodAutoscaler scales."""

    api_version: str = ""
    kind: str = ""
    name: str = ""


class HorizontalPodAutoscalerSpec(Struct, frozen=True):
    """``autoscaling/v2.HorizontalPodAutoscalerSpec``, without metrics; without a minimum there is one replica."""

    scale_target_ref: CrossVersionObjectReference = CrossVersionObjectReference()
    min_replicas: Int32 | None = None
    max_replicas: Int32 = 0


class HorizontalPodAutoscaler(Struct, frozen=True):
    """``autoscaling/v2.HorizontalPodAutoscaler``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: HorizontalPodAutoscalerSpec = HorizontalPodAutoscalerSpec()

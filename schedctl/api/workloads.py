"""Workloads and Services: what makes pods, and what groups them for default spreading."""

from __future__ import annotations

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


class Deployment(Struct, frozen=True):
    """``apps/v1.Deployment``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadSpec = WorkloadSpec()


class ReplicaSet(Struct, frozen=True):
    """``apps/v1.ReplicaSet``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadSpec = WorkloadSpec()


class DaemonSet(Struct, frozen=True):
    """``apps/v1.DaemonSet``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadSpec = WorkloadSpec()


class StatefulSetOrdinals(Struct, frozen=True):
    """Where the pods of a StatefulSet begin to count."""

    start: Int32 = 0


class StatefulSetSpec(WorkloadSpec, frozen=True):
    """``apps/v1.StatefulSetSpec``."""

    volume_claim_templates: list[PersistentVolumeClaimTemplate] | None = None
    ordinals: StatefulSetOrdinals | None = None


class StatefulSet(Struct, frozen=True):
    """``apps/v1.StatefulSet``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: StatefulSetSpec = StatefulSetSpec()


class JobSpec(Struct, frozen=True):
    """``batch/v1.JobSpec``."""

    parallelism: Int32 | None = None
    completions: Int32 | None = None
    completion_mode: str | None = None
    suspend: bool | None = None
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

    suspend: bool | None = None
    job_template: JobTemplateSpec = JobTemplateSpec()


class CronJob(Struct, frozen=True):
    """``batch/v1.CronJob``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CronJobSpec = CronJobSpec()

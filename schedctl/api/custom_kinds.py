"""Other people's kinds that hold pod templates, and where in them the templates are.

Nobody needs the schema of an Argo ``Rollout`` to know what pods it asks for: a path to each template and one to its
number of replicas is enough. `CUSTOM_KINDS` is the table of those that are known, `schedctl.sources.operators` has
what operators make beyond the pods of a template, and `schedctl.config.custom_kinds` adds a user's own entries.
"""

from __future__ import annotations

from typing import Any

import msgspec

from schedctl.api.meta import Int32, ObjectMeta, Struct
from schedctl.api.pods import PodTemplateSpec

Steps = tuple[str, ...]
"""A path as its steps; ``*`` stands for each item."""

EACH = "*"
FORMS = ("template", "spec", "pod")
"""What can stand at a path: metadata and spec of a pod, its spec alone, or a whole pod with a name of its own."""


class PodsAt(msgspec.Struct, frozen=True):
    """Where a kind keeps one template, or one list of them.

    Attributes:
        path: the template.
        form: what it is, one of `FORMS`.
        otherwise: where the template is when there is none at `path`.
        replicas: how many pods of it; () where there is always `default`. A number in text is read, too.
        times: a second number, which multiplies the first.
        less: what is taken off the second number first.
        default: how many pods where `replicas` finds nothing.
        group: the name of the group in pod names; "" for none.
        named: where the name of the group is; under ``*`` over a mapping the key is the name.
        per_node: whether it is one pod for each eligible node, as of a DaemonSet.
        container: what the operator names a container that has no name; "" where a name is required.
        init_container: the same for an init container.
        hash_label: the label by which the pods belong to a ReplicaSet of their template; "" where they belong to the
            resource itself.
    """

    path: Steps
    form: str = "template"
    otherwise: Steps = ()
    replicas: Steps = ()
    times: Steps = ()
    less: int = 0
    default: int = 1
    group: str = ""
    named: Steps = ()
    per_node: bool = False
    container: str = ""
    init_container: str = ""
    hash_label: str = ""


class CustomKind(msgspec.Struct, frozen=True):
    """A kind with templates; any version of its group is read.

    Attributes:
        group: the API group.
        name: the kind.
        pods: where its templates are.
        operator: the module of `schedctl.sources.operators` that knows which objects its operator makes; "" where
            the pods come straight from the templates.
        company: the kinds of its group, itself among them, without which its operator does not know what to make.
    """

    group: str
    name: str
    pods: tuple[PodsAt, ...]
    operator: str = ""
    company: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}.{self.group}"


class Replicas(Struct, frozen=True):
    """One group of equal pods in a custom workload.

    Attributes:
        template: what each is made of; with a name where the resource names the pod itself.
        count: how many; None where the resource does not say.
        default: how many then.
        group: the name of the group, "" where there is but one.
        per_node: whether there is one for each eligible node instead.
        path: where the template is in the object.
        hash_label: as in `PodsAt`.
    """

    template: PodTemplateSpec
    count: int | None = None
    default: int = 1
    group: str = ""
    per_node: bool = False
    path: tuple[str | int, ...] = ()
    hash_label: str = ""


class WorkloadReference(Struct, frozen=True):
    """Where a custom workload has its pod template from, if another workload holds it (``spec.workloadRef``).

    Attributes:
        kind, name: the other workload.
        replicas: how many pods the custom workload has; None where it does not say.
    """

    kind: str = ""
    name: str = ""
    replicas: Int32 | None = None


class CustomWorkload(Struct, frozen=True):
    """A custom resource that makes pods.

    Attributes:
        metadata, api_version, kind: of the resource.
        replicas: the pods it makes straight from its templates.
        workload_ref: the workload whose template its pods have, None where it has its own.
        made: the objects that its operator makes, workloads and pods among them; None where `replicas` say it all.
        notes: what should be known about `made`; sentences without a full stop.
        unknown: where the resource asks for pods without saying which; ``()`` for the resource as a whole.
    """

    metadata: ObjectMeta = ObjectMeta()
    api_version: str = ""
    kind: str = ""
    replicas: list[Replicas] = msgspec.field(default_factory=list)
    workload_ref: WorkloadReference | None = None
    made: list[Any] | None = None
    notes: list[str] = msgspec.field(default_factory=list)
    unknown: list[tuple[str | int, ...]] = msgspec.field(default_factory=list)


def steps(path: str) -> Steps:
    """Return a dotted path, ``spec.workerGroupSpecs.*.template``, as its steps.

    A step that has dots itself (``autoscaling.knative.dev/min-scale``) cannot be written so, only as a step of a tuple.
    """
    return tuple(path.split(".")) if path else ()


def _kind(group: str, name: str, *pods: PodsAt, operator: str = "", company: tuple[str, ...] = ()) -> CustomKind:
    return CustomKind(group, name, pods, operator, company)


def _like_deployment(path: str = "spec.template", replicas: str = "spec.replicas", **more: Any) -> PodsAt:
    return PodsAt(steps(path), replicas=steps(replicas), **more)


def _roles(path: str) -> PodsAt:
    """The replica specs of a Kubeflow training job: a mapping from role to template and number."""
    return PodsAt(steps(f"{path}.*.template"), replicas=steps(f"{path}.*.replicas"))


def _ray(path: str) -> tuple[PodsAt, ...]:
    """A Ray cluster: a head, and groups of workers in which a replica may be several hosts."""
    workers = f"{path}.workerGroupSpecs.*"
    return (
        PodsAt(steps(f"{path}.headGroupSpec.template"), group="head"),
        PodsAt(
            steps(f"{workers}.template"),
            replicas=steps(f"{workers}.replicas"),
            times=steps(f"{workers}.numOfHosts"),
            named=steps(f"{workers}.groupName"),
        ),
    )


def _submitter() -> PodsAt:
    """The pod that submits a RayJob; without a template of its own the operator makes one."""
    return PodsAt(steps("spec.submitterPodTemplate"), group="submitter")


def _knative(path: str, form: str = "template", replicas: Steps = ()) -> PodsAt:
    """A revision of Knative, in which a container needs no name."""
    return PodsAt(steps(path), form, replicas=replicas, container="user-container", init_container="init-container")


ROLLOUT_HASH = "rollouts-pod-template-hash"
"""The label by which the pods of an Argo Rollout belong to a ReplicaSet."""
_KNATIVE_SCALE = ("spec", "template", "metadata", "annotations", "autoscaling.knative.dev/min-scale")
_OF_KAFKA = ("Kafka", "KafkaNodePool")
_LEADER_WORKER = "spec.leaderWorkerTemplate"

CUSTOM_KINDS: tuple[CustomKind, ...] = (
    _kind("argoproj.io", "Rollout", _like_deployment(hash_label=ROLLOUT_HASH)),
    _kind("apps.kruise.io", "CloneSet", _like_deployment()),
    _kind("apps.kruise.io", "StatefulSet", _like_deployment()),
    _kind("apps.kruise.io", "DaemonSet", PodsAt(steps("spec.template"), per_node=True)),
    _kind("apps.kruise.io", "BroadcastJob", PodsAt(steps("spec.template"), per_node=True)),
    _kind("apps.openshift.io", "DeploymentConfig", _like_deployment()),
    _kind("serving.knative.dev", "Service", _knative("spec.template", replicas=_KNATIVE_SCALE)),
    _kind("serving.knative.dev", "Configuration", _knative("spec.template", replicas=_KNATIVE_SCALE)),
    _kind(
        "serving.knative.dev",
        "Revision",
        _knative("spec", "spec", replicas=("metadata", "annotations", "autoscaling.knative.dev/min-scale")),
    ),
    _kind(
        "serving.kserve.io",
        "InferenceService",
        *(
            PodsAt(steps(f"spec.{part}"), "spec", replicas=steps(f"spec.{part}.minReplicas"), group=part)
            for part in ("predictor", "transformer", "explainer")
        ),
    ),
    _kind("core.strimzi.io", "StrimziPodSet", PodsAt(steps("spec.pods.*"), "pod")),
    _kind(
        "batch.volcano.sh",
        "Job",
        PodsAt(
            steps("spec.tasks.*.template"), replicas=steps("spec.tasks.*.replicas"), named=steps("spec.tasks.*.name")
        ),
        operator="volcano",
    ),
    _kind("ray.io", "RayCluster", *_ray("spec"), operator="kuberay"),
    _kind("ray.io", "RayJob", *_ray("spec.rayClusterSpec"), _submitter(), operator="kuberay"),
    _kind("ray.io", "RayService", *_ray("spec.rayClusterConfig"), operator="kuberay"),
    _kind(
        "jobset.x-k8s.io",
        "JobSet",
        PodsAt(
            steps("spec.replicatedJobs.*.template.spec.template"),
            replicas=steps("spec.replicatedJobs.*.template.spec.parallelism"),
            times=steps("spec.replicatedJobs.*.replicas"),
            named=steps("spec.replicatedJobs.*.name"),
        ),
        operator="jobset",
    ),
    _kind(
        "leaderworkerset.x-k8s.io",
        "LeaderWorkerSet",
        # a group is a leader and size - 1 workers; without a template of its own the leader is one more worker
        PodsAt(
            steps(f"{_LEADER_WORKER}.leaderTemplate"),
            otherwise=steps(f"{_LEADER_WORKER}.workerTemplate"),
            replicas=steps("spec.replicas"),
            group="leader",
        ),
        PodsAt(
            steps(f"{_LEADER_WORKER}.workerTemplate"),
            replicas=steps("spec.replicas"),
            times=steps(f"{_LEADER_WORKER}.size"),
            less=1,
            group="worker",
        ),
        operator="lws",
    ),
    _kind("monitoring.coreos.com", "Prometheus", operator="prometheus"),
    _kind("monitoring.coreos.com", "Alertmanager", operator="prometheus"),
    _kind("monitoring.coreos.com", "ThanosRuler", operator="prometheus"),
    _kind("postgresql.cnpg.io", "Cluster", operator="cloudnative_pg"),
    _kind("elasticsearch.k8s.elastic.co", "Elasticsearch", operator="elastic"),
    _kind("kibana.k8s.elastic.co", "Kibana", operator="elastic"),
    _kind("kafka.strimzi.io", "Kafka", operator="strimzi", company=_OF_KAFKA),
    _kind("kafka.strimzi.io", "KafkaNodePool", operator="strimzi", company=_OF_KAFKA),
    _kind("kubeflow.org", "PyTorchJob", _roles("spec.pytorchReplicaSpecs")),
    _kind("kubeflow.org", "TFJob", _roles("spec.tfReplicaSpecs")),
    _kind("kubeflow.org", "MPIJob", _roles("spec.mpiReplicaSpecs")),
    _kind("kubeflow.org", "XGBoostJob", _roles("spec.xgbReplicaSpecs")),
    _kind("agones.dev", "Fleet", _like_deployment("spec.template.spec.template")),
    _kind("agones.dev", "GameServerSet", _like_deployment("spec.template.spec.template")),
    _kind("agones.dev", "GameServer", PodsAt(steps("spec.template"))),
)
"""Kinds with pod templates at a known place."""

"""The pod a workload makes next, as its controller would make it, with what the controller makes along with it.

For `pod_of` one pod stands for all replicas, and what is random in its name is left open; `expansion` makes all
replicas of the same parts. A DaemonSet's pod is the template before it is tied to a node, which `daemon_sets` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import singledispatch
from itertools import count
from typing import Any

import msgspec

from schedctl.api import pods, workloads
from schedctl.api.annotation_keys import comparable_annotations
from schedctl.api.defaults import DEFAULT_SCHEDULER, with_namespace
from schedctl.api.meta import ELLIPSIS, LabelSelector, ObjectMeta, OwnerReference
from schedctl.api.pods import Pod, PodSpec, PodTemplateSpec, Volume
from schedctl.api.quantities import canonical, stored_amount
from schedctl.api.storage import PersistentVolumeClaim
from schedctl.cache.cluster import Cluster
from schedctl.workloads import admission
from schedctl.workloads.names import HASH_LABEL

_replace = msgspec.structs.replace

NEW = "new"
"""Stands for a hash or uid that does not exist yet; no real one has this value."""
REVISION = "deployment.kubernetes.io/revision"
_ADDED_LABELS = (
    HASH_LABEL,
    "controller-uid",
    "job-name",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
)


class NextPod(msgspec.Struct, frozen=True):
    """A pod as its controller creates it.

    Attributes:
        pod: the pod, not yet admitted.
        companions: objects that its controllers would make and that are not there yet.
        note: which pod of the workload it is, in words; "" where it is simply the next one.
    """

    pod: Pod
    companions: tuple[Any, ...] = ()
    note: str = ""


@singledispatch
def pod_of(workload: Any, cluster: Cluster) -> NextPod:
    """Return the next pod of a workload.

    Args:
        workload: a Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob, ReplicationController or PodTemplate.
        cluster: where its ReplicaSets and claims are looked up.

    Raises:
        TypeError: the object makes no pods.
    """
    raise TypeError(f"a {type(workload).__name__} makes no pods")


@pod_of.register
def _(workload: workloads.Deployment, cluster: Cluster) -> NextPod:
    """A Deployment's pod is its ReplicaSet's; until there is one of this template, the one it would make."""
    current = current_replica_set(workload, cluster)
    if current is not None:
        return pod_of(current, cluster)
    replica_set = replica_set_of(workload, NEW)
    made = pod_of(replica_set, cluster)
    # Its name shows no hash, which is not known yet: `NEW` stands in the labels only.
    pod = _replace(made.pod, metadata=_replace(made.pod.metadata, name=f"{workload.metadata.name}-{ELLIPSIS}"))
    return NextPod(pod, (replica_set,))


@pod_of.register
def _(workload: workloads.ReplicaSet, cluster: Cluster) -> NextPod:
    return NextPod(pod_from(Owner("apps/v1", "ReplicaSet", with_namespace(workload.metadata)), workload.spec.template))


@pod_of.register
def _(workload: workloads.ReplicationController, cluster: Cluster) -> NextPod:
    owner = Owner("v1", "ReplicationController", with_namespace(workload.metadata))
    return NextPod(pod_from(owner, workload.spec.template or PodTemplateSpec()))


@pod_of.register
def _(workload: workloads.StatefulSet, cluster: Cluster) -> NextPod:
    """The first of the ordered pods that is not there, with claims of its own that replace volumes of their names."""
    metadata, spec = with_namespace(workload.metadata), workload.spec
    start = spec.ordinals.start if spec.ordinals else 0
    replicas = 1 if spec.replicas is None else spec.replicas
    names = ((ordinal, f"{metadata.name}-{ordinal}") for ordinal in count(start))
    ordinal, name = next(each for each in names if not exists(f"{metadata.namespace}/{each[1]}", cluster))
    note = ""
    if ordinal >= start + replicas:
        has = {0: "is scaled to 0", 1: "has its only pod"}.get(replicas, f"has all of its {replicas} pods")
        note = f"StatefulSet {metadata.namespace}/{metadata.name} {has}"
        note += f": this is {name}, which it would make if scaled to {ordinal - start + 1}"
    claims = tuple(admission.claim(claim, cluster) for claim in stateful_claims(workload, ordinal, cluster))
    return NextPod(stateful_pod(workload, ordinal), claims, note)


@pod_of.register
def _(workload: workloads.DaemonSet, cluster: Cluster) -> NextPod:
    return NextPod(daemon_pod(Owner("apps/v1", "DaemonSet", with_namespace(workload.metadata)), workload.spec.template))


@pod_of.register
def _(workload: workloads.Job, cluster: Cluster) -> NextPod:
    return NextPod(job_pod(with_namespace(workload.metadata), workload.spec))


@pod_of.register
def _(workload: workloads.CronJob, cluster: Cluster) -> NextPod:
    metadata = with_namespace(workload.metadata)
    owner = Owner("batch/v1", "CronJob", metadata).reference
    job = ObjectMeta(name=f"{metadata.name}-{ELLIPSIS}", namespace=metadata.namespace, owner_references=[owner])
    spec = workload.spec.job_template.spec
    return NextPod(job_pod(job, spec), (workloads.Job(metadata=job, spec=spec),))


@pod_of.register
def _(workload: pods.PodTemplate, cluster: Cluster) -> NextPod:
    """Nothing makes pods of a PodTemplate by itself; the pod has no owner."""
    return NextPod(free_pod(Owner("v1", "PodTemplate", with_namespace(workload.metadata)), workload.template))


class Owner(msgspec.Struct, frozen=True):
    """Who makes a pod.

    Attributes:
        api_version: of its kind.
        kind: its kind.
        metadata: its own, with a namespace.
    """

    api_version: str
    kind: str
    metadata: ObjectMeta

    @property
    def reference(self) -> OwnerReference:
        """How the pod refers to it."""
        metadata = self.metadata
        return OwnerReference(
            api_version=self.api_version, kind=self.kind, name=metadata.name, uid=metadata.uid, controller=True
        )


def pod_from(
    owner: Owner,
    template: PodTemplateSpec,
    *,
    name: str = "",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> Pod:
    """Return the template's pod under its controller, named ``<controller>-…`` unless it has a name."""
    metadata = owner.metadata
    generated = metadata.name if metadata.name.endswith(ELLIPSIS) else f"{metadata.name}-{ELLIPSIS}"
    return Pod(
        metadata=ObjectMeta(
            name=name or generated,
            namespace=metadata.namespace,
            labels={**(template.metadata.labels or {}), **(labels or {})} or None,
            annotations={**(template.metadata.annotations or {}), **(annotations or {})} or None,
            finalizers=template.metadata.finalizers,
            owner_references=[owner.reference],
        ),
        spec=template.spec,
    )


def with_name(pod: Pod, name: str) -> Pod:
    """Return another pod of the same template: what the template writes of both are the very same objects."""
    return _replace(pod, metadata=_replace(pod.metadata, name=name))


def free_pod(owner: Owner, template: PodTemplateSpec, *, name: str = "") -> Pod:
    """Return a template's pod that nobody controls, named after the object that holds the template."""
    made = pod_from(owner, template, name=name)
    return _replace(made, metadata=_replace(made.metadata, owner_references=None))


def replica_set_of(deployment: workloads.Deployment, template_hash: str) -> workloads.ReplicaSet:
    """Return the ReplicaSet that a Deployment makes for its template."""
    metadata, spec = with_namespace(deployment.metadata), deployment.spec
    labels = {**(spec.template.metadata.labels or {}), HASH_LABEL: template_hash}
    selector = spec.selector or LabelSelector()
    return workloads.ReplicaSet(
        metadata=ObjectMeta(
            name=f"{metadata.name}-{template_hash}",
            namespace=metadata.namespace,
            labels=labels,
            owner_references=[Owner("apps/v1", "Deployment", metadata).reference],
        ),
        spec=workloads.WorkloadSpec(
            replicas=spec.replicas,
            selector=_replace(selector, match_labels={**(selector.match_labels or {}), HASH_LABEL: template_hash}),
            template=_replace(spec.template, metadata=_replace(spec.template.metadata, labels=labels)),
        ),
    )


def stateful_pod(workload: workloads.StatefulSet, ordinal: int, labels: Mapping[str, str] | None = None) -> Pod:
    """Return the pod of an ordinal; claims of its own replace volumes of their names."""
    metadata, spec = with_namespace(workload.metadata), workload.spec
    name = f"{metadata.name}-{ordinal}"
    identity = {"statefulset.kubernetes.io/pod-name": name, "apps.kubernetes.io/pod-index": str(ordinal)}
    pod = pod_from(
        Owner("apps/v1", "StatefulSet", metadata), spec.template, name=name, labels={**identity, **(labels or {})}
    )
    claims = {t.metadata.name: f"{t.metadata.name}-{name}" for t in spec.volume_claim_templates or ()}
    volumes = [
        Volume(name=volume, persistent_volume_claim=pods.PersistentVolumeClaimVolumeSource(claim_name=claim))
        for volume, claim in claims.items()
    ]
    volumes += [volume for volume in pod.spec.volumes or () if volume.name not in claims]
    return _replace(pod, spec=_replace(pod.spec, volumes=volumes or None))


def stateful_claims(workload: workloads.StatefulSet, ordinal: int, cluster: Cluster) -> Iterator[PersistentVolumeClaim]:
    """Yield the claims of an ordinal's pod that are not there yet, as they are sent."""
    metadata, spec = with_namespace(workload.metadata), workload.spec
    selected = (spec.selector.match_labels if spec.selector else None) or {}
    for template in spec.volume_claim_templates or ():
        # A claim outlives its pod, so one that is there already is used again.
        name = f"{template.metadata.name}-{metadata.name}-{ordinal}"
        if cluster.get(PersistentVolumeClaim, f"{metadata.namespace}/{name}") is not None:
            continue
        yield PersistentVolumeClaim(
            metadata=ObjectMeta(
                name=name,
                namespace=metadata.namespace,
                annotations=template.metadata.annotations,
                labels={**(template.metadata.labels or {}), **selected},
            ),
            spec=template.spec,
        )


def daemon_pod(
    owner: Owner, template: PodTemplateSpec, *, name: str = "", labels: Mapping[str, str] | None = None
) -> Pod:
    """Return the pod of a daemon before it is tied to a node."""
    pod = pod_from(owner, template, name=name, labels=labels)
    return _replace(pod, spec=_replace(pod.spec, tolerations=_daemon_tolerations(pod.spec)))


def job_pod(metadata: ObjectMeta, spec: workloads.JobSpec, *, index: int = 0) -> Pod:
    """Return a job's pod, which carries the job's name and uid; those of an indexed job carry their index."""
    job, uid = metadata.name, metadata.uid or NEW
    labels = {"job-name": job, "batch.kubernetes.io/job-name": job}
    labels |= {"controller-uid": uid, "batch.kubernetes.io/controller-uid": uid}
    # Of these labels the template may have its own; the index is set over it.
    labels |= spec.template.metadata.labels or {}
    indexed = {"batch.kubernetes.io/job-completion-index": str(index)} if spec.completion_mode == "Indexed" else {}
    owner = Owner("batch/v1", "Job", metadata)
    return pod_from(owner, spec.template, labels={**labels, **indexed}, annotations=indexed)


def has_controller(metadata: ObjectMeta, kind: str, owner: ObjectMeta) -> bool:
    """Whether an object is controlled by this owner, which is known by its name alone where it has no uid yet."""
    return any(
        ref.controller and ref.kind == kind and ref.name == owner.name and ref.uid in ("", owner.uid or ref.uid)
        for ref in metadata.owner_references or ()
    )


def exists(pod: str, cluster: Cluster) -> bool:
    """Return whether a pod of that key is in the cluster."""
    return pod in cluster.pod_table.row_of or pod in cluster.pending or pod in cluster.strays


def current_replica_set(deployment: workloads.Deployment, cluster: Cluster) -> workloads.ReplicaSet | None:
    """Return the Deployment's ReplicaSet of the same template: the one of its revision, else the oldest."""
    metadata = with_namespace(deployment.metadata)
    template = comparable(deployment.spec.template)
    same = [
        candidate
        for candidate in cluster.every(workloads.ReplicaSet).values()
        if candidate.metadata.namespace == metadata.namespace
        and has_controller(candidate.metadata, "Deployment", metadata)
        and comparable(candidate.spec.template) == template
    ]
    # After a rollback several may have the same template; the annotation tells, which a manifest seldom has.
    revision = (metadata.annotations or {}).get(REVISION)
    of_revision = [c for c in same if revision and (c.metadata.annotations or {}).get(REVISION) == revision]
    oldest = sorted(of_revision or same, key=lambda c: (c.metadata.creation_timestamp or "", c.metadata.name))
    return oldest[0] if oldest else None


def comparable(template: PodTemplateSpec) -> PodTemplateSpec:
    """Return a template as templates compare: with a server's defaults and without what controllers add to it."""
    # Live objects have what a server fills in, manifests leave it out: without this all of them would differ.
    labels = {key: value for key, value in (template.metadata.labels or {}).items() if key not in _ADDED_LABELS}
    spec = template.spec
    spec = _replace(
        spec,
        scheduler_name=spec.scheduler_name or DEFAULT_SCHEDULER,
        restart_policy=spec.restart_policy or "Always",
        termination_grace_period_seconds=(
            30 if spec.termination_grace_period_seconds is None else spec.termination_grace_period_seconds
        ),
        containers=_containers(spec.containers),
        init_containers=_containers(spec.init_containers),
        resources=_resources(spec.resources),
        overhead=_amounts(spec.overhead),
        volumes=[_volume(volume) for volume in spec.volumes or ()] or None,
    )
    annotations = comparable_annotations(template.metadata.annotations)
    return PodTemplateSpec(metadata=ObjectMeta(labels=labels or None, annotations=annotations), spec=spec)


def comparable_claim(spec: pods.PersistentVolumeClaimSpec) -> pods.PersistentVolumeClaimSpec:
    """Return the spec of a claim as such specs compare."""
    return _replace(spec, volume_mode=spec.volume_mode or "Filesystem", resources=_resources(spec.resources))


def _containers(containers: list[pods.Container] | None) -> list[pods.Container] | None:
    return [
        _replace(
            container,
            resources=_resources(container.resources),
            ports=[_replace(port, protocol=port.protocol or "TCP") for port in container.ports or ()] or None,
        )
        for container in containers or ()
    ] or None


def _resources(resources: pods.ResourceRequirements | None) -> pods.ResourceRequirements | None:
    if resources is None:
        return None
    same = pods.ResourceRequirements(
        requests=_amounts(resources.requests), limits=_amounts(resources.limits), claims=resources.claims
    )
    return same if same != pods.ResourceRequirements() else None


def _amounts(resources: pods.ResourceList | None) -> pods.ResourceList | None:
    """Equal amounts written alike, in the order of their names."""
    return {name: canonical(stored_amount(resources[name])) for name in sorted(resources)} if resources else None


def _volume(volume: Volume) -> Volume:
    if volume.ephemeral is None or volume.ephemeral.volume_claim_template is None:
        return volume
    claim = volume.ephemeral.volume_claim_template
    same = _replace(claim, spec=comparable_claim(claim.spec))
    return _replace(volume, ephemeral=_replace(volume.ephemeral, volume_claim_template=same))


def _daemon_tolerations(spec: PodSpec) -> list[pods.Toleration]:
    """The template's tolerations and those every daemon has; one that differs in seconds only gives way."""
    tolerations = list(spec.tolerations or ())
    for added in _daemon_taints(spec.host_network):
        same = [_replace(toleration, toleration_seconds=None) == added for toleration in tolerations]
        if any(same):
            tolerations = [added if equal else t for t, equal in zip(tolerations, same, strict=True)]
        else:
            tolerations.append(added)
    return tolerations


def _daemon_taints(host_network: bool) -> Iterable[pods.Toleration]:
    for key in ("not-ready", "unreachable"):
        yield pods.Toleration(key=f"node.kubernetes.io/{key}", operator="Exists", effect="NoExecute")
    pressures = ["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"]
    for key in [*pressures, "network-unavailable"] if host_network else pressures:
        yield pods.Toleration(key=f"node.kubernetes.io/{key}", operator="Exists", effect="NoSchedule")

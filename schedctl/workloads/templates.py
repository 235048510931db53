"""The pod a workload makes next, as its controller would make it.

A controller copies the template and adds what makes the pod its own: a name, an owner reference, labels. Scheduling
reads all of it: Services and owners decide what a pod is spread against by default, and ``pod-template-hash`` is what
``matchLabelKeys`` usually name. Objects that the controllers make along with the pod, the ReplicaSet of a new
Deployment and the claims of a StatefulSet, come back with it, because the pod is judged with them in place.

One pod stands for all replicas. A DaemonSet makes one for each node; here it is the template before it is tied to a
node, and ``daemon_sets`` ties it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import singledispatch
from itertools import count
from typing import Any

import msgspec

from schedctl.api.defaults import DEFAULT_SCHEDULER, namespaced
from schedctl.api.meta import ELLIPSIS, LabelSelector, ObjectMeta, OwnerReference
from schedctl.api.pods import (
    PersistentVolumeClaimVolumeSource,
    Pod,
    PodSpec,
    PodTemplate,
    PodTemplateSpec,
    Toleration,
    Volume,
)
from schedctl.api.storage import PersistentVolumeClaim
from schedctl.api.workloads import (
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    JobSpec,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
    WorkloadSpec,
)
from schedctl.cache.cluster import Cluster
from schedctl.workloads import admission

_replace = msgspec.structs.replace

HASH_LABEL = "pod-template-hash"
NEW = "new"
"""Stands for a hash or uid that does not exist yet; no real one has this value."""
REVISION = "deployment.kubernetes.io/revision"


@dataclass(frozen=True, slots=True)
class Made:
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
def pod_of(workload: Any, cluster: Cluster) -> Made:
    """Return the next pod of a workload.

    Args:
        workload: a Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob, ReplicationController or PodTemplate.
        cluster: where its ReplicaSets and claims are looked up.

    Raises:
        TypeError: the object makes no pods.
    """
    raise TypeError(f"a {type(workload).__name__} makes no pods")


@pod_of.register
def _(workload: Deployment, cluster: Cluster) -> Made:
    """A Deployment's pod is its ReplicaSet's; until there is one of this template, the one it would make."""
    metadata = namespaced(workload.metadata)
    current = _current(workload, cluster)
    if current is not None:
        return pod_of(current, cluster)
    labels = {**(workload.spec.template.metadata.labels or {}), HASH_LABEL: NEW}
    selector = workload.spec.selector or LabelSelector()
    replica_set = ReplicaSet(
        metadata=ObjectMeta(
            name=f"{metadata.name}-{NEW}",
            namespace=metadata.namespace,
            labels=labels,
            owner_references=[_controller("apps/v1", "Deployment", metadata)],
        ),
        spec=WorkloadSpec(
            replicas=workload.spec.replicas,
            selector=_replace(selector, match_labels={**(selector.match_labels or {}), HASH_LABEL: NEW}),
            template=_replace(
                workload.spec.template, metadata=_replace(workload.spec.template.metadata, labels=labels)
            ),
        ),
    )
    made = pod_of(replica_set, cluster)
    pod = _replace(made.pod, metadata=_replace(made.pod.metadata, name=f"{metadata.name}-{ELLIPSIS}"))
    return Made(pod, (replica_set,))


@pod_of.register
def _(workload: ReplicaSet, cluster: Cluster) -> Made:
    return Made(_pod("apps/v1", "ReplicaSet", workload.metadata, workload.spec.template))


@pod_of.register
def _(workload: ReplicationController, cluster: Cluster) -> Made:
    return Made(_pod("v1", "ReplicationController", workload.metadata, workload.spec.template or PodTemplateSpec()))


@pod_of.register
def _(workload: StatefulSet, cluster: Cluster) -> Made:
    """The first of the ordered pods that is not there, with claims of its own that replace volumes of their names."""
    metadata, spec = namespaced(workload.metadata), workload.spec
    start = spec.ordinals.start if spec.ordinals else 0
    replicas = 1 if spec.replicas is None else spec.replicas
    names = ((ordinal, f"{metadata.name}-{ordinal}") for ordinal in count(start))
    ordinal, name = next(each for each in names if not _exists(f"{metadata.namespace}/{each[1]}", cluster))
    note = ""
    if ordinal >= start + replicas:
        has = {0: "is scaled to 0", 1: "has its only pod"}.get(replicas, f"has all of its {replicas} pods")
        note = f"StatefulSet {metadata.namespace}/{metadata.name} {has}"
        note += f": this is {name}, which it would make if scaled to {ordinal - start + 1}"
    own = {"statefulset.kubernetes.io/pod-name": name, "apps.kubernetes.io/pod-index": str(ordinal)}
    pod = _pod("apps/v1", "StatefulSet", metadata, spec.template, name=name, labels=own)
    claims = {t.metadata.name: f"{t.metadata.name}-{name}" for t in spec.volume_claim_templates or ()}
    volumes = [
        Volume(name=volume, persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=claim))
        for volume, claim in claims.items()
    ]
    volumes += [volume for volume in pod.spec.volumes or () if volume.name not in claims]
    missing = tuple(
        admission.claim(
            PersistentVolumeClaim(
                metadata=ObjectMeta(
                    name=claims[template.metadata.name],
                    namespace=metadata.namespace,
                    annotations=template.metadata.annotations,
                    labels={
                        **(template.metadata.labels or {}),
                        **((spec.selector.match_labels if spec.selector else None) or {}),
                    },
                ),
                spec=template.spec,
            ),
            cluster,
        )
        for template in spec.volume_claim_templates or ()
        if cluster.get(PersistentVolumeClaim, f"{metadata.namespace}/{claims[template.metadata.name]}") is None
    )
    return Made(_replace(pod, spec=_replace(pod.spec, volumes=volumes or None)), missing, note)


@pod_of.register
def _(workload: DaemonSet, cluster: Cluster) -> Made:
    pod = _pod("apps/v1", "DaemonSet", workload.metadata, workload.spec.template)
    return Made(_replace(pod, spec=_replace(pod.spec, tolerations=_daemon_tolerations(pod.spec))))


@pod_of.register
def _(workload: Job, cluster: Cluster) -> Made:
    return Made(_job_pod(namespaced(workload.metadata), workload.spec))


@pod_of.register
def _(workload: CronJob, cluster: Cluster) -> Made:
    metadata = namespaced(workload.metadata)
    job = ObjectMeta(name=f"{metadata.name}-{ELLIPSIS}", namespace=metadata.namespace)
    return Made(_job_pod(job, workload.spec.job_template.spec))


@pod_of.register
def _(workload: PodTemplate, cluster: Cluster) -> Made:
    """Nothing makes pods of a PodTemplate by itself; the pod has no owner."""
    metadata, template = namespaced(workload.metadata), workload.template
    made = _pod("v1", "PodTemplate", metadata, template)
    return Made(_replace(made, metadata=_replace(made.metadata, owner_references=None)))


def controlled_by(metadata: ObjectMeta, kind: str, owner: ObjectMeta) -> bool:
    """Whether an object is controlled by this owner, which is known by its name alone where it has no uid yet."""
    return any(
        ref.controller and ref.kind == kind and ref.name == owner.name and ref.uid in ("", owner.uid or ref.uid)
        for ref in metadata.owner_references or ()
    )


def _exists(pod: str, cluster: Cluster) -> bool:
    return pod in cluster.pod_table.row_of or pod in cluster.pending or pod in cluster.strays


def _pod(
    api_version: str,
    kind: str,
    metadata: ObjectMeta,
    template: PodTemplateSpec,
    *,
    name: str = "",
    labels: Mapping[str, str] | None = None,
) -> Pod:
    """Return the template's pod under its controller, named ``<controller>-…`` unless it has a name."""
    metadata = namespaced(metadata)
    generated = metadata.name if metadata.name.endswith(ELLIPSIS) else f"{metadata.name}-{ELLIPSIS}"
    return Pod(
        metadata=ObjectMeta(
            name=name or generated,
            namespace=metadata.namespace,
            labels={**(template.metadata.labels or {}), **(labels or {})} or None,
            annotations=template.metadata.annotations,
            finalizers=template.metadata.finalizers,
            owner_references=[_controller(api_version, kind, metadata)],
        ),
        spec=template.spec,
    )


def _job_pod(metadata: ObjectMeta, spec: JobSpec) -> Pod:
    """A job's pod carries its name and uid; the server writes both into the template when the job is created."""
    name, uid = metadata.name, metadata.uid or NEW
    labels = {"job-name": name, "batch.kubernetes.io/job-name": name}
    labels |= {"controller-uid": uid, "batch.kubernetes.io/controller-uid": uid}
    labels |= spec.template.metadata.labels or {}
    if spec.completion_mode == "Indexed":
        labels["batch.kubernetes.io/job-completion-index"] = "0"
    return _pod("batch/v1", "Job", metadata, spec.template, labels=labels)


def _controller(api_version: str, kind: str, metadata: ObjectMeta) -> OwnerReference:
    return OwnerReference(api_version=api_version, kind=kind, name=metadata.name, uid=metadata.uid, controller=True)


def _current(deployment: Deployment, cluster: Cluster) -> ReplicaSet | None:
    """The Deployment's ReplicaSet of the same template: the one of its revision, else the oldest."""
    metadata = namespaced(deployment.metadata)
    template = _comparable(deployment.spec.template)
    same = [
        candidate
        for candidate in cluster.every(ReplicaSet).values()
        if candidate.metadata.namespace == metadata.namespace
        and controlled_by(candidate.metadata, "Deployment", metadata)
        and _comparable(candidate.spec.template) == template
    ]
    revision = (metadata.annotations or {}).get(REVISION)
    of_revision = [c for c in same if revision and (c.metadata.annotations or {}).get(REVISION) == revision]
    oldest = sorted(of_revision or same, key=lambda c: (c.metadata.creation_timestamp or "", c.metadata.name))
    return oldest[0] if oldest else None


def _comparable(template: PodTemplateSpec) -> PodTemplateSpec:
    """The template without its hash and with the defaults that a server fills into it."""
    labels = {key: value for key, value in (template.metadata.labels or {}).items() if key != HASH_LABEL}
    spec = template.spec
    if not spec.scheduler_name:
        spec = _replace(spec, scheduler_name=DEFAULT_SCHEDULER)
    if not spec.restart_policy:
        spec = _replace(spec, restart_policy="Always")
    if spec.termination_grace_period_seconds is None:
        spec = _replace(spec, termination_grace_period_seconds=30)
    return PodTemplateSpec(metadata=ObjectMeta(labels=labels, annotations=template.metadata.annotations), spec=spec)


def _daemon_tolerations(spec: PodSpec) -> list[Toleration]:
    """The template's tolerations and those every daemon has; one that differs in seconds only gives way."""
    tolerations = list(spec.tolerations or ())
    for added in _daemon_taints(spec.host_network):
        same = [_replace(toleration, toleration_seconds=None) == added for toleration in tolerations]
        if any(same):
            tolerations = [added if alike else t for t, alike in zip(tolerations, same, strict=True)]
        else:
            tolerations.append(added)
    return tolerations


def _daemon_taints(host_network: bool) -> Iterable[Toleration]:
    for key in ("not-ready", "unreachable"):
        yield Toleration(key=f"node.kubernetes.io/{key}", operator="Exists", effect="NoExecute")
    pressures = ["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"]
    for key in [*pressures, "network-unavailable"] if host_network else pressures:
        yield Toleration(key=f"node.kubernetes.io/{key}", operator="Exists", effect="NoSchedule")

"""What the API server makes of a pod when it is created, beyond the defaults of its fields.

Between ``kubectl apply`` and the scheduler lie admission plugins and the pod strategy: priorities are looked up,
tolerations and the overhead of the runtime are added, ``matchLabelKeys`` become part of selectors, pod-level requests
are completed. A pod that came out of a cluster (it has a uid) has been through all that and is left alone. A pod that
the API server would have refused is completed as far as possible, and the refusals are returned as warnings: a file
often holds a part of a cluster only, and the class it misses may well exist.

Objects that other controllers would have made by the time the pod is looked at, the claims of ephemeral volumes and
those from templates of resource claims, come back as well. LimitRanges, webhooks and admission policies are not
consulted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from schedctl.api import defaults, priorities, resources
from schedctl.api.devices import ResourceClaim, ResourceClaimTemplate
from schedctl.api.meta import ELLIPSIS, LabelSelector, LabelSelectorRequirement, ObjectMeta, OwnerReference
from schedctl.api.pods import (
    Affinity,
    Container,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodResourceClaimStatus,
    PodSpec,
    ResourceList,
    ResourceRequirements,
    Toleration,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from schedctl.api.policies import PriorityClass, RuntimeClass
from schedctl.api.quantities import stored
from schedctl.api.storage import CLASS_ANNOTATION, PersistentVolumeClaim, StorageClass, claim_name
from schedctl.cache.cluster import Cluster

T = TypeVar("T")
_replace = msgspec.structs.replace

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
DEFAULT_TOLERATION_SECONDS = 300
PREEMPT_LOWER_PRIORITY = "PreemptLowerPriority"
_POD_CLAIM_ANNOTATION = "resource.kubernetes.io/pod-claim-name"
_DEFAULT_CLASS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


@dataclass(frozen=True, slots=True)
class Admitted:
    """A pod as the API server would store it.

    Attributes:
        pod: the completed pod.
        claims: those of its ephemeral volumes that do not exist yet, and its resource claims from templates.
        warnings: why the API server would refuse it, or what could not be looked up; sentences without a full stop.
    """

    pod: Pod
    claims: tuple[PersistentVolumeClaim | ResourceClaim, ...] = ()
    warnings: tuple[str, ...] = ()


def admit(pod: Pod, cluster: Cluster) -> Admitted:
    """Return the pod as the API server of this cluster would store it, which for a pod with a uid is as it is."""
    pod = defaults.pod(pod)
    if pod.metadata.uid:
        return Admitted(pod)
    warnings: list[str] = []
    pod = _prioritised(pod, cluster.every(PriorityClass), warnings)
    spec = _tolerating_outages(pod.spec)
    spec = _in_runtime(spec, cluster, warnings)
    labels = pod.metadata.labels or {}
    spec = _replace(
        spec,
        affinity=_affinity_with_keys(spec.affinity, labels),
        topology_spread_constraints=_each(
            spec.topology_spread_constraints, lambda constraint: _spread_with_keys(constraint, labels)
        ),
        resources=_pod_level(spec),
    )
    pod = _replace(pod, spec=spec)
    volume_claims = tuple(_ephemeral_claims(pod, cluster))
    pod, resource_claims = generated_claims(pod, cluster)
    return Admitted(pod, volume_claims + resource_claims, tuple(warnings))


def claim(obj: PersistentVolumeClaim, cluster: Cluster) -> PersistentVolumeClaim:
    """Return a new claim as stored: one that names no class gets the cluster's default (DefaultStorageClass)."""
    if obj.spec.storage_class_name is not None or CLASS_ANNOTATION in (obj.metadata.annotations or {}):
        return obj
    name = default_storage_class(cluster)
    return _replace(obj, spec=_replace(obj.spec, storage_class_name=name)) if name else obj


def default_storage_class(cluster: Cluster) -> str:
    """Return the class that claims get which name none: the newest default, the first by name; "" for none."""
    marked = [c for c in cluster.every(StorageClass).values() if _is_default(c.metadata.annotations or {})]
    newest = max((c.metadata.creation_timestamp or "" for c in marked), default="")
    return min((c.metadata.name for c in marked if (c.metadata.creation_timestamp or "") == newest), default="")


def _prioritised(pod: Pod, classes: Mapping[str, PriorityClass], warnings: list[str]) -> Pod:
    """Look up the priority (Priority); of several default classes the one of least value counts."""
    spec = pod.spec
    name = spec.priority_class_name
    if not name:
        marked = [c for c in classes.values() if c.global_default]
        if marked:
            name = min(marked, key=lambda c: c.value).metadata.name
    stated, unknown = spec.priority, bool(name) and name not in classes and name not in priorities.SYSTEM_CLASSES
    pod = priorities.resolve(_replace(pod, spec=_replace(spec, priority_class_name=name, priority=None)), classes)
    computed = pod.spec.priority
    if unknown and stated is None:
        warnings.append(
            f'no PriorityClass "{name}" is known: the API server would refuse the pod, priority 0 is assumed'
        )
    elif not unknown and stated not in (None, computed):
        origin = "its PriorityClass gives" if name else "a pod without a PriorityClass gets"
        warnings.append(
            f"spec.priority is {stated} but {origin} {computed}:"
            f" the API server would refuse the pod, {stated} is assumed"
        )
    policy = pod.spec.preemption_policy or PREEMPT_LOWER_PRIORITY
    priority = computed if stated is None else stated
    return _replace(pod, spec=_replace(pod.spec, priority=priority, preemption_policy=policy))


def _tolerating_outages(spec: PodSpec) -> PodSpec:
    """Let the pod stay on a lost node for five minutes (DefaultTolerationSeconds); scheduling does not change."""
    stated = spec.tolerations or []
    added = [
        Toleration(key=key, operator="Exists", effect="NoExecute", toleration_seconds=DEFAULT_TOLERATION_SECONDS)
        for key in (NOT_READY, UNREACHABLE)
        if not any(t.key in ("", key) and t.effect in ("", "NoExecute") for t in stated)
    ]
    return _replace(spec, tolerations=[*stated, *added])


def _in_runtime(spec: PodSpec, cluster: Cluster, warnings: list[str]) -> PodSpec:
    """Add what the pod's RuntimeClass costs and where it runs (RuntimeClass)."""
    if spec.runtime_class_name is None:
        if spec.overhead:
            warnings.append("spec.overhead is set without a RuntimeClass: the API server would refuse the pod")
        return spec
    runtime = cluster.get(RuntimeClass, spec.runtime_class_name)
    if runtime is None:
        warnings.append(f'no RuntimeClass "{spec.runtime_class_name}" is known: the API server would refuse the pod')
        return spec
    overhead = runtime.overhead.pod_fixed if runtime.overhead else None
    if spec.overhead and not _alike(spec.overhead, overhead):
        warnings.append(
            f"spec.overhead is not that of RuntimeClass {spec.runtime_class_name}: the API server would refuse the pod,"
            " the class's is assumed"
        )
    spec = _replace(spec, overhead=overhead)
    where = runtime.scheduling
    if where is None:
        return spec
    selector, asked = where.node_selector or {}, spec.node_selector or {}
    warnings.extend(
        f"spec.nodeSelector asks for {key}={asked[key]} but RuntimeClass {spec.runtime_class_name} for {key}={value}:"
        " the API server would refuse the pod"
        for key, value in sorted(selector.items())
        if asked.get(key, value) != value
    )
    return _replace(
        spec,
        node_selector={**selector, **asked} or spec.node_selector,
        tolerations=_merged([*(spec.tolerations or ()), *(where.tolerations or ())]),
    )


def _merged(tolerations: list[Toleration]) -> list[Toleration]:
    """Leave out tolerations that another one covers; of equal ones the first stays."""
    kept: list[Toleration] = []
    for position, toleration in enumerate(tolerations):
        later = (t for t in tolerations[position + 1 :] if t != toleration)
        if not any(_covers(t, toleration) for t in (*kept, *later)):
            kept.append(toleration)
    return kept


def _covers(wide: Toleration, narrow: Toleration) -> bool:
    """Whether a toleration covers another, as the API server judges it when it merges two lists."""
    if wide == narrow:
        return True
    if wide.key != narrow.key and (wide.key or wide.operator != "Exists"):
        return False
    if wide.effect not in ("", narrow.effect):
        return False
    if wide.effect == "NoExecute" and wide.toleration_seconds is not None:
        seconds = narrow.toleration_seconds
        if seconds is None or seconds > wide.toleration_seconds:
            return False
    if wide.operator in ("", "Equal"):
        return narrow.operator == "Equal" and narrow.value == wide.value
    return wide.operator == "Exists"


def _affinity_with_keys(affinity: Affinity | None, labels: Mapping[str, str]) -> Affinity | None:
    """Merge ``matchLabelKeys`` and ``mismatchLabelKeys`` into the selectors (KEP-3633)."""
    if affinity is None:
        return None
    return _replace(
        affinity,
        pod_affinity=_terms_with_keys(affinity.pod_affinity, labels),
        pod_anti_affinity=_terms_with_keys(affinity.pod_anti_affinity, labels),
    )


def _terms_with_keys(affinity: PodAffinity | None, labels: Mapping[str, str]) -> PodAffinity | None:
    if affinity is None:
        return None

    def term(term: PodAffinityTerm) -> PodAffinityTerm:
        selector = _with_keys(term.label_selector, term.match_label_keys, "In", labels)
        return _replace(term, label_selector=_with_keys(selector, term.mismatch_label_keys, "NotIn", labels))

    def weighted(weighted: WeightedPodAffinityTerm) -> WeightedPodAffinityTerm:
        return _replace(weighted, pod_affinity_term=term(weighted.pod_affinity_term))

    return _replace(
        affinity,
        required_during_scheduling_ignored_during_execution=_each(
            affinity.required_during_scheduling_ignored_during_execution, term
        ),
        preferred_during_scheduling_ignored_during_execution=_each(
            affinity.preferred_during_scheduling_ignored_during_execution, weighted
        ),
    )


def _spread_with_keys(constraint: TopologySpreadConstraint, labels: Mapping[str, str]) -> TopologySpreadConstraint:
    """Merge ``matchLabelKeys`` into the selector (KEP-3243)."""
    return _replace(
        constraint, label_selector=_with_keys(constraint.label_selector, constraint.match_label_keys, "In", labels)
    )


def _with_keys(
    selector: LabelSelector | None, keys: Iterable[str] | None, operator: str, labels: Mapping[str, str]
) -> LabelSelector | None:
    if selector is None:
        return None
    added = [
        LabelSelectorRequirement(key=key, operator=operator, values=[labels[key]])
        for key in keys or ()
        if key in labels
    ]
    if not added:
        return selector
    return _replace(selector, match_expressions=[*(selector.match_expressions or ()), *added])


def _pod_level(spec: PodSpec) -> ResourceRequirements | None:
    """Complete pod-level requests from the containers and the pod's limits (KEP-2837); limits are not scheduled by."""
    stated = spec.resources
    if stated is None or not (stated.requests or stated.limits):
        return stated
    requests, limits = dict(stated.requests or {}), dict(stated.limits or {})
    for name, amount in _together(spec, spec.containers, spec.init_containers).items():
        if name in (resources.CPU, resources.MEMORY):
            requests.setdefault(name, amount)
    capped = _together(spec, _asking_limits(spec.containers), _asking_limits(spec.init_containers))
    for name, amount in capped.items():
        if resources.is_pod_level(name) and name not in (resources.CPU, resources.MEMORY) and name not in requests:
            limits.setdefault(name, amount)
    for name, quantity in limits.items():
        if resources.is_pod_level(name):
            requests.setdefault(name, quantity)
    return _replace(stated, requests=requests or None, limits=limits or None)


def _together(
    spec: PodSpec, containers: list[Container] | None, init_containers: list[Container] | None
) -> ResourceList:
    """What these containers ask for together, init containers and sidecars counted as they overlap."""
    alone = _replace(spec, containers=containers, init_containers=init_containers, resources=None, overhead=None)
    together = resources.demand_of(Pod(spec=alone)).pending
    return {name: f"{amount}m" if name == resources.CPU else str(amount) for name, amount in together.items()}


def _asking_limits(containers: list[Container] | None) -> list[Container] | None:
    def limits(container: Container) -> ResourceList | None:
        return container.resources.limits if container.resources else None

    return _each(containers, lambda c: _replace(c, resources=ResourceRequirements(requests=limits(c))))


def _alike(one: ResourceList, other: ResourceList | None) -> bool:
    other = other or {}
    return one.keys() == other.keys() and all(stored(one[name]).compare(stored(other[name])) == 0 for name in one)


def _ephemeral_claims(pod: Pod, cluster: Cluster) -> Iterable[PersistentVolumeClaim]:
    """The claims that the ephemeral volume controller would make for the pod."""
    metadata = pod.metadata
    for volume in pod.spec.volumes or ():
        template = volume.ephemeral.volume_claim_template if volume.ephemeral else None
        name = claim_name(pod, volume)
        if (
            template is None
            or name is None
            or cluster.get(PersistentVolumeClaim, f"{metadata.namespace}/{name}") is not None
        ):
            continue
        owner = OwnerReference(api_version="v1", kind="Pod", name=metadata.name, uid=metadata.uid, controller=True)
        yield claim(
            PersistentVolumeClaim(
                metadata=ObjectMeta(
                    name=name,
                    namespace=metadata.namespace,
                    labels=template.metadata.labels,
                    annotations=template.metadata.annotations,
                    owner_references=[owner],
                ),
                spec=template.spec,
            ),
            cluster,
        )


def generated_claims(pod: Pod, cluster: Cluster) -> tuple[Pod, tuple[ResourceClaim, ...]]:
    """Do what the resource claim controller would: make a claim from each template, and note its name in the status.

    Claims that the status names already are not made again. A template that is not there is left alone, as the
    controller leaves it: the pod waits.
    """
    metadata, statuses = pod.metadata, list(pod.status.resource_claim_statuses or ())
    known = {status.name for status in statuses}
    claims = []
    for reference in pod.spec.resource_claims or ():
        key = f"{metadata.namespace}/{reference.resource_claim_template_name}"
        template = cluster.get(ResourceClaimTemplate, key)
        if reference.resource_claim_template_name is None or template is None or reference.name in known:
            continue
        made_for = OwnerReference(api_version="v1", kind="Pod", name=metadata.name, uid=metadata.uid, controller=True)
        name = f"{metadata.name}-{reference.name}-{ELLIPSIS}"
        wanted = template.spec.metadata
        claims.append(
            ResourceClaim(
                metadata=ObjectMeta(
                    name=name,
                    namespace=metadata.namespace,
                    labels=wanted.labels,
                    annotations={**(wanted.annotations or {}), _POD_CLAIM_ANNOTATION: reference.name},
                    owner_references=[made_for],
                ),
                spec=template.spec.spec,
            )
        )
        statuses.append(PodResourceClaimStatus(name=reference.name, resource_claim_name=name))
    if claims:
        pod = _replace(pod, status=_replace(pod.status, resource_claim_statuses=statuses))
    return pod, tuple(claims)


def _is_default(annotations: Mapping[str, str]) -> bool:
    return any(annotations.get(key) == "true" for key in _DEFAULT_CLASS)


def _each(items: list[T] | None, change: Callable[[T], T]) -> list[T] | None:
    return None if items is None else [change(item) for item in items]

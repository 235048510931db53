"""The claims that controllers make for a pod: of its ephemeral volumes, and of its templates of resource claims."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from schedctl.api.devices import ResourceClaim, ResourceClaimTemplate
from schedctl.api.generated_names import LONGEST_GENERATED, random_end
from schedctl.api.meta import ObjectMeta, OwnerReference
from schedctl.api.pod_groups import PodGroup
from schedctl.api.pods import Pod, PodResourceClaimStatus
from schedctl.api.storage import PersistentVolumeClaim, claim_name
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.pod_groups import group_of

_CLAIM_ANNOTATION = "resource.kubernetes.io/pod-claim-name"
_replace = msgspec.structs.replace


def generated_claims(pod: Pod, cluster: Cluster) -> tuple[Pod, tuple[ResourceClaim, ...]]:
    """Return a pod and the claims that the resource claim controller makes of its templates, named in its status.

    Claims that the status names already are not made again. A template that is not there makes no claim, and the pod
    waits for it. Of a claim that is the group's there is one for all of its pods.
    """
    stated = pod.spec.resource_claims
    if not stated or not any(reference.resource_claim_template_name for reference in stated):
        return pod, ()
    known = {status.name: status for status in pod.status.resource_claim_statuses or ()}
    metadata, made = pod.metadata, []
    group = group_of(PodInfo(pod), cluster) if cluster.release.enabled("DRAWorkloadResourceClaims") else None
    for reference in stated:
        if reference.resource_claim_template_name is None or reference.name in known:
            continue
        key = f"{metadata.namespace}/{reference.resource_claim_template_name}"
        template = cluster.get(ResourceClaimTemplate, key)
        if template is None:
            continue
        of_group = group if group is not None and group.has_claim(reference) else None
        owner, inner = _owner(pod, of_group), template.spec.metadata
        base = f"{owner.name}-{reference.name}-"
        name = _name_in(of_group, reference.name) or base[:LONGEST_GENERATED] + random_end(metadata.namespace, base)
        known[reference.name] = PodResourceClaimStatus(name=reference.name, resource_claim_name=name)
        if of_group is not None and cluster.get(ResourceClaim, f"{metadata.namespace}/{name}") is not None:
            continue  # the first of its pods has made it
        metadata_of_claim = ObjectMeta(
            name=name,
            namespace=metadata.namespace,
            labels=inner.labels,
            annotations={**(inner.annotations or {}), _CLAIM_ANNOTATION: reference.name},
            owner_references=[owner],
        )
        made.append(ResourceClaim(metadata=metadata_of_claim, spec=template.spec.spec))
    status = _replace(pod.status, resource_claim_statuses=list(known.values()) or None)
    return _replace(pod, status=status), tuple(made)


def _owner(pod: Pod, group: PodGroup | None) -> OwnerReference:
    """Return who controls a claim that is made of a template: the pod, or the group if it is a claim of that."""
    if group is None:
        metadata, kind, api_version = pod.metadata, "Pod", "v1"
    else:
        metadata, kind, api_version = group.metadata, "PodGroup", "scheduling.k8s.io/v1beta1"
    return OwnerReference(api_version=api_version, kind=kind, name=metadata.name, uid=metadata.uid, controller=True)


def _name_in(group: PodGroup | None, reference: str) -> str:
    """Return the claim that a group's status names already, "" for none."""
    statuses = group.status.resource_claim_statuses if group is not None else None
    return next((each.resource_claim_name or "" for each in statuses or () if each.name == reference), "")


def ephemeral_claims(pod: Pod, cluster: Cluster) -> Iterable[PersistentVolumeClaim]:
    """Yield the claims that the ephemeral volume controller would make for the pod, without a default class."""
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
        yield PersistentVolumeClaim(
            metadata=ObjectMeta(
                name=name,
                namespace=metadata.namespace,
                labels=template.metadata.labels,
                annotations=template.metadata.annotations,
                owner_references=[owner],
            ),
            spec=template.spec,
        )

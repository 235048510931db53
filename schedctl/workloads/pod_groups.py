"""What becomes of a pod group when it is created: the priority of its class, as pods get theirs, and its claims."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from schedctl.api import defaults
from schedctl.api.generated_names import LONGEST_GENERATED, random_end
from schedctl.api.pod_groups import PodGroup, PodGroupResourceClaimStatus
from schedctl.api.policies import PriorityClass
from schedctl.api.priorities import SYSTEM_CLASSES
from schedctl.releases import Release

_replace = msgspec.structs.replace


def admit_group(group: PodGroup, classes: Mapping[str, PriorityClass], release: Release) -> PodGroup:
    """Return a group as the API server stores it; one that is stored already is left alone.

    Args:
        group: the group as it was written.
        classes: the PriorityClasses by name.
        release: the kube-scheduler whose gates hold.
    """
    if group.metadata.uid:
        return group
    spec = group.spec
    name = spec.priority_class_name
    if not name:
        marked = [each for each in classes.values() if each.global_default]
        name = min(marked, key=lambda each: each.value).metadata.name if marked else ""
    named = classes.get(name)
    priority = named.value if named is not None else SYSTEM_CLASSES.get(name, 0)
    policy = spec.preemption_policy
    if named is not None and named.preemption_policy and release.enabled("PodGroupPreemptionPolicy"):
        policy = named.preemption_policy
    spec = _replace(
        spec,
        priority_class_name=name,
        priority=priority if spec.priority is None else spec.priority,
        preemption_policy=policy,
    )
    group = _replace(group, metadata=defaults.with_namespace(group.metadata), spec=spec)
    return _with_claims(group) if release.enabled("DRAWorkloadResourceClaims") else group


def _with_claims(group: PodGroup) -> PodGroup:
    """Return a group whose status names the claims that are made of its templates, as the claim controller does."""
    known = {each.name: each for each in group.status.resource_claim_statuses or ()}
    namespace = group.metadata.namespace
    for claim in group.spec.resource_claims or ():
        if claim.resource_claim_template_name is not None and claim.name not in known:
            base = f"{group.metadata.name}-{claim.name}-"
            name = base[:LONGEST_GENERATED] + random_end(namespace, base)
            known[claim.name] = PodGroupResourceClaimStatus(name=claim.name, resource_claim_name=name)
    return _replace(group, status=_replace(group.status, resource_claim_statuses=list(known.values()) or None))

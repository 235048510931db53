"""What becomes of a pod group when it is created: the priority of its class, as pods get theirs, and its claims.

And why the API server refuses one. Its neighbours are `schedctl.workloads.admission`, which does the same for pods, and
`schedctl.sources.relations`, which sees what is wrong with a group by itself.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from schedctl.api import defaults, field_errors
from schedctl.api.generated_names import LONGEST_GENERATED, random_end
from schedctl.api.meta import ObjectMeta
from schedctl.api.pod_groups import PodGroup, PodGroupResourceClaimStatus
from schedctl.api.policies import PriorityClass
from schedctl.api.priorities import HIGHEST_OF_USERS, SYSTEM_CLASSES, class_name
from schedctl.releases import GENERIC_WORKLOAD, Release
from schedctl.workloads import admission

_PREEMPTION_POLICY = "PodGroupPreemptionPolicy"
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
    name, named = _class_of(group, classes)
    priority = named.value if named is not None else 0
    policy = spec.preemption_policy
    if named is not None and named.preemption_policy and release.enabled(_PREEMPTION_POLICY):
        policy = named.preemption_policy
    spec = _replace(
        spec,
        priority_class_name=name,
        priority=priority if spec.priority is None else spec.priority,
        preemption_policy=policy,
    )
    group = _replace(group, metadata=defaults.with_namespace(group.metadata), spec=spec)
    return _with_claims(group) if release.enabled("DRAWorkloadResourceClaims") else group


def refusal(group: PodGroup, classes: Mapping[str, PriorityClass], release: Release) -> tuple[str, str]:
    """Return which admission plugin refuses a new group because of its priority, and its message; "" if none does.

    A server without the gate does not know groups and refuses none.

    Args:
        group: the group as it was written.
        classes: the PriorityClasses by name.
        release: the kube-scheduler whose gates hold.
    """
    spec = group.spec
    if group.metadata.uid or not release.enabled(GENERIC_WORKLOAD):
        return "", ""
    name, named = _class_of(group, classes)
    if name and named is None:
        return admission.PRIORITY, f"no PriorityClass with name {name} was found"
    computed = named.value if named is not None else 0
    if spec.priority not in (None, computed):
        return admission.PRIORITY, (
            f"priority set in the pod group ({spec.priority}) must match the priority computed ({computed})"
            " based on the priority class set in the spec"
        )
    policy = (named.preemption_policy if named is not None else None) or admission.PREEMPT_LOWER_PRIORITY
    # a group that says none is given the default before its class is asked, so that of a class that never preempts it
    # has to say so, which the Job controller does not
    stated = spec.preemption_policy or admission.PREEMPT_LOWER_PRIORITY
    if release.enabled(_PREEMPTION_POLICY) and stated != policy:
        return admission.PRIORITY, (
            f"the string value of PreemptionPolicy ({stated}) must not be provided in pod group spec;"
            f" priority admission controller computed {policy} from the given PriorityClass name"
        )
    if computed > HIGHEST_OF_USERS:
        most = f"must be less than or equal to {HIGHEST_OF_USERS}"
        return admission.VALIDATION, field_errors.invalid("spec.priority", computed, most)
    return "", ""


def _class_of(group: PodGroup, classes: Mapping[str, PriorityClass]) -> tuple[str, PriorityClass | None]:
    """Return the name of a group's class, or of the default one, and that class if it is there."""
    name = class_name(group.spec.priority_class_name, classes)
    named = classes.get(name)
    if named is None and name in SYSTEM_CLASSES:  # of every cluster, be it listed or not
        named = PriorityClass(metadata=ObjectMeta(name=name), value=SYSTEM_CLASSES[name])
    return name, named


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

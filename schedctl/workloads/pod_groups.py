"""What the API server makes of a pod group when it is created: the priority of its class, as pods get theirs."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from schedctl.api import defaults
from schedctl.api.pod_groups import PodGroup
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
    return _replace(group, metadata=defaults.with_namespace(group.metadata), spec=spec)

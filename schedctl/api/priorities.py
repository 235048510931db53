"""Priorities: what a pod's PriorityClass is worth (the Priority admission plugin)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from schedctl.api.pods import Pod
from schedctl.api.policies import PriorityClass

SYSTEM_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""The classes every cluster has."""
HIGHEST_OF_USERS = 1_000_000_000
"""The most that a class of a user's own is worth, and a pod group of any."""


def class_name(stated: str, classes: Mapping[str, PriorityClass]) -> str:
    """Return the class that a pod or a group is given: its own, else of the default ones that of least value."""
    marked = () if stated else [each for each in classes.values() if each.global_default]
    return min(marked, key=lambda each: each.value).metadata.name if marked else stated


def resolve(pod: Pod, classes: Mapping[str, PriorityClass]) -> Pod:
    """Return the pod with its priority and preemption policy; a class nobody knows counts as 0.

    Args:
        pod: a pod; one that states a priority keeps it.
        classes: the cluster's classes by name; of several global defaults the last one counts.
    """
    spec = pod.spec
    if spec.priority is not None:
        return pod
    named = classes.get(spec.priority_class_name)
    priority = SYSTEM_CLASSES.get(spec.priority_class_name, 0)
    policy = spec.preemption_policy
    if named is not None:
        priority = named.value
        policy = named.preemption_policy or policy
    elif not spec.priority_class_name:
        # the API server refuses a second global default; manifests may hold two
        priority = next((c.value for c in reversed(list(classes.values())) if c.global_default), 0)
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(spec, priority=priority, preemption_policy=policy))

"""Pod groups and Jobs that the API server of v1.37.1 refuses, with the gates of groups on, and what it says.

`test_real_job_groups` sends them to the real one; ``tests/workloads`` holds ours to the same.
"""

from __future__ import annotations

from typing import Any

GANG = {"schedulingPolicy": {"gang": {"minCount": 3}}}
PREFIX = 'podgroups.scheduling.k8s.io "refused" is forbidden: '
CLASSES: list[dict[str, Any]] = [
    {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": 1000,
        "preemptionPolicy": policy,
    }
    for name, policy in (("high", "PreemptLowerPriority"), ("patient", "Never"))
]
"""The classes that are there besides those of every cluster."""
GROUPS: dict[str, tuple[dict[str, Any], str]] = {
    "a class that is not there": (
        {"priorityClassName": "hgih"},
        PREFIX + "no PriorityClass with name hgih was found",
    ),
    "a priority that is not that of its class": (
        {"priorityClassName": "high", "priority": 5},
        PREFIX + "priority set in the pod group (5) must match the priority computed (1000) based on the priority class"
        " set in the spec",
    ),
    "a priority without a class": (
        {"priority": 5},
        PREFIX + "priority set in the pod group (5) must match the priority computed (0) based on the priority class"
        " set in the spec",
    ),
    "a preemption policy that is not that of its class": (
        {"priorityClassName": "high", "preemptionPolicy": "Never"},
        PREFIX + "the string value of PreemptionPolicy (Never) must not be provided in pod group spec; priority"
        " admission controller computed PreemptLowerPriority from the given PriorityClass name",
    ),
    "a class that never preempts, which the group does not say": (
        {"priorityClassName": "patient"},
        PREFIX + "the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod group spec;"
        " priority admission controller computed Never from the given PriorityClass name",
    ),
    "a class of the system": (
        {"priorityClassName": "system-cluster-critical"},
        'PodGroup.scheduling.k8s.io "refused" is invalid: spec.priority: Invalid value: 2000000000: must be less than'
        " or equal to 1000000000",
    ),
}
"""By what is wrong, what a group says besides being a gang, and the message."""


def group(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a group."""
    metadata = {"name": "refused", "namespace": "default"}
    return {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": metadata, "spec": GANG | spec}

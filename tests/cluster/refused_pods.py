"""Pods that the API server of v1.37.1 refuses once admission has filled them in, and what it says.

`test_real_validation` sends them to the real one; ``tests/workloads`` holds ours to the same.
"""

from __future__ import annotations

from typing import Any

LIMITED = "limited"
"""The namespace of `LIMITS`."""
LIMITS = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "limits", "namespace": LIMITED},
    "spec": {"limits": [{"type": "Container", "default": {"memory": "200Mi"}, "max": {"memory": "220Mi"}}]},
}
"""What fills in limits, where a case says so."""
PREFIX = 'Pod "refused" is invalid: '
_MORE = "must be greater than or equal to aggregate container"


def container(name: str, requests: dict[str, str], limits: dict[str, str] | None = None) -> dict[str, Any]:
    return {"name": name, "image": "example.com/main", "resources": {"requests": requests, "limits": limits or {}}}


PODS: dict[str, tuple[bool, dict[str, Any], str]] = {
    "a request above the default limit": (
        True,
        {"containers": [container("main", {"memory": "256Mi"})]},
        'spec.containers[0].resources.requests: Invalid value: "256Mi": must be less than or equal to memory limit of'
        " 200Mi",
    ),
    "requests above default limits in two containers": (
        True,
        {
            "containers": [container("main", {"memory": "256Mi"})],
            "initContainers": [container("first", {"memory": "1Gi"})],
        },
        '[spec.containers[0].resources.requests: Invalid value: "256Mi": must be less than or equal to memory limit of'
        ' 200Mi, spec.initContainers[0].resources.requests: Invalid value: "1Gi": must be less than or equal to memory'
        " limit of 200Mi]",
    ),
    "containers that request more than their pod": (
        False,
        {
            "resources": {"requests": {"cpu": "1"}},
            "containers": [container("main", {"cpu": "800m"}), container("other", {"cpu": "800m"})],
        },
        f'spec.resources.requests[cpu]: Invalid value: "1": {_MORE} requests of 1600m',
    ),
    "an init container that requests more than the pod": (
        False,
        {
            "resources": {"requests": {"cpu": "1"}},
            "containers": [container("main", {"cpu": "500m"})],
            "initContainers": [container("first", {"cpu": "2"})],
        },
        f'spec.resources.requests[cpu]: Invalid value: "1": {_MORE} requests of 2',
    ),
    "containers that request more than their pod may use": (
        False,
        {
            "resources": {"limits": {"cpu": "1"}},
            "containers": [container("main", {"cpu": "800m"}), container("other", {"cpu": "800m"})],
        },
        'spec.resources.requests: Invalid value: "1600m": must be less than or equal to cpu limit of 1',
    ),
    "a container that may use more than its pod": (
        False,
        {"resources": {"limits": {"cpu": "1"}}, "containers": [container("main", {"cpu": "500m"}, {"cpu": "2"})]},
        'spec.resources.containers[0][cpu].limits: Invalid value: "2": must be less than or equal to pod limits of 1',
    ),
    "containers with more huge pages than their pod": (
        False,
        {
            "resources": {
                "requests": {"cpu": "1", "hugepages-2Mi": "2Mi"},
                "limits": {"hugepages-2Mi": "2Mi"},
            },
            "containers": [container("main", {"cpu": "1", "hugepages-2Mi": "4Mi"}, {"hugepages-2Mi": "4Mi"})],
        },
        f'[spec.resources.requests[hugepages-2Mi]: Invalid value: "2Mi": {_MORE} requests of 4Mi,'
        f' spec.resources.limits[hugepages-2Mi]: Invalid value: "2Mi": {_MORE} limits of 4Mi,'
        ' spec.resources.containers[0][hugepages-2Mi].limits: Invalid value: "4Mi": must be less than or equal to pod'
        " limits of 2Mi]",
    ),
}
"""By what is wrong, whether it is so because of `LIMITS`, the spec, and the message behind `PREFIX`."""


def pod(spec: dict[str, Any], *, limited: bool) -> dict[str, Any]:
    """Return a pod, where limits are filled in or where none are."""
    metadata = {"name": "refused", "namespace": LIMITED if limited else "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}

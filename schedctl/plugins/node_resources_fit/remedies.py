"""What would undo a rejection of NodeResourcesFit: a pod that asks for less, or not at all."""

from __future__ import annotations

from typing import Any

import msgspec

from schedctl.api.amounts import quantity
from schedctl.api.pods import Container, Pod, ResourceRequirements
from schedctl.api.quantities import parse
from schedctl.api.resources import CPU, is_scalar
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.pod_edits import map_requests
from schedctl.framework.remedies import Rejection, Remedies, Remedy, edit_pod

_replace = msgspec.structs.replace


def remedies(rejection: Rejection) -> Remedies:
    """Return that the pod asks for what is left; for nothing of it where nothing is."""
    if rejection.reference != "node-resources-fit/insufficient":
        return []
    evidence = rejection.evidence
    resource, free = evidence["resource"], evidence["capacity"] - evidence["used"]
    if free > 0:
        return [lower_request(resource, free)]
    return [] if is_scalar(resource) else [_drop_request(resource)]


def lower_request(resource: str, free: int) -> Remedy:
    """Return that the pod asks for at most what is free, as a quantity one can type."""
    most = quantity(resource, free)
    return Remedy(
        "lower-request",
        f"{resource} <= {most}",
        edit_pod(lambda pod: _cap_request(pod, resource, most)),
        effort=2,
        subject=resource,
    )


def _drop_request(resource: str) -> Remedy:
    def drop(requests: dict[str, Any]) -> dict[str, Any]:
        return {name: requests[name] for name in requests if name != resource}

    return Remedy(
        "drop-request",
        f"it did not ask for {resource}",
        edit_pod(lambda pod: map_requests(pod, drop)),
        effort=5,
        subject=resource,
    )


def _cap_request(pod: Pod, resource: str, most: str) -> Pod:
    """Return the pod with its largest requests cut until they add up to no more."""
    spec = pod.spec
    if spec.resources is not None and resource in (spec.resources.requests or {}):
        return _replace(pod, spec=_replace(spec, resources=_with_request(spec.resources, resource, most)))
    limit = _parse(resource, most)
    containers = list(spec.containers or ())
    inits = [
        _request_of(each, resource, most) if _requested(each, resource) > limit else each
        for each in spec.init_containers or ()
    ]
    pod = _replace(pod, spec=_replace(spec, init_containers=inits or None))
    for index in sorted(range(len(containers)), key=lambda i: -_requested(containers[i], resource)):
        excess = PodInfo(pod).demand.pending.get(resource, 0) - limit
        requested = _requested(containers[index], resource)
        if excess <= 0 or requested <= 0:
            break
        left = max(requested - excess, 0)
        containers[index] = _request_of(containers[index], resource, f"{left}m" if resource == CPU else str(left))
        pod = _replace(pod, spec=_replace(pod.spec, containers=containers))
    return pod


def _request_of(container: Container, resource: str, amount: str) -> Container:
    assert container.resources is not None
    return _replace(container, resources=_with_request(container.resources, resource, amount))


def _with_request(resources: ResourceRequirements, resource: str, amount: str) -> ResourceRequirements:
    return _replace(resources, requests={**(resources.requests or {}), resource: amount})


def _requested(container: Container, resource: str) -> int:
    requests = (container.resources and container.resources.requests) or {}
    return _parse(resource, requests[resource]) if resource in requests else 0


def _parse(resource: str, written: Any) -> int:
    amount = parse(written)
    return amount.milli_value if resource == CPU else amount.value

"""Remedies for the pod that several plugins share: what is asked for and is not there, of resources as of devices."""

from __future__ import annotations

from typing import Any

import msgspec

from schedctl.api.amounts import quantity
from schedctl.api.pods import Container, Pod, ResourceRequirements
from schedctl.api.quantities import parse
from schedctl.api.resources import CPU, is_scalar
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.remedies import Remedy, edit_pod

_replace = msgspec.structs.replace


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


def _cap_request(pod: Pod, resource: str, most: str) -> Pod:
    """Return the pod with its largest requests cut until they add up to no more."""
    spec = pod.spec
    if spec.resources is not None and resource in (spec.resources.requests or {}):  # it stands in for all containers
        return _replace(pod, spec=_replace(spec, resources=_with_request(spec.resources, resource, most)))
    limit = _parse(resource, most)
    containers = list(spec.containers or ())
    inits = [
        _lower_container_request(each, resource, most) if _container_request(each, resource) > limit else each
        for each in spec.init_containers or ()
    ]
    pod = _replace(pod, spec=_replace(spec, init_containers=inits or None))
    for index in sorted(range(len(containers)), key=lambda i: -_container_request(containers[i], resource)):
        # of the pod as it is by now: overhead and sidecars are in the sum, and no container tells of them
        excess = PodInfo(pod).demand.fit_requests.get(resource, 0) - limit
        requested = _container_request(containers[index], resource)
        if excess <= 0 or requested <= 0:
            break
        left = max(requested - excess, 0)
        containers[index] = _lower_container_request(containers[index], resource, quantity(resource, left))
        pod = _replace(pod, spec=_replace(pod.spec, containers=containers))
    return pod


def _lower_container_request(container: Container, resource: str, amount: str) -> Container:
    assert container.resources is not None
    return _replace(container, resources=_with_request(container.resources, resource, amount))


def _with_request(resources: ResourceRequirements, resource: str, amount: str) -> ResourceRequirements:
    changed = _replace(resources, requests={**(resources.requests or {}), resource: amount})
    if is_scalar(resource) and resource in (resources.limits or {}):  # the API server wants both to be the same
        changed = _replace(changed, limits={**(resources.limits or {}), resource: amount})
    return changed


def _container_request(container: Container, resource: str) -> int:
    requests = (container.resources and container.resources.requests) or {}
    return _parse(resource, requests[resource]) if resource in requests else 0


def _parse(resource: str, written: Any) -> int:
    amount = parse(written)
    return amount.milli_value if resource == CPU else amount.value

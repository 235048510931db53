"""Remedies for the pod that several plugins share: what is asked for and is not there, of resources as of devices."""

from __future__ import annotations

from typing import Any

import msgspec

from schedctl.api.amounts import quantity
from schedctl.api.pods import Container, Pod, ResourceRequirements
from schedctl.api.quantities import parse
from schedctl.api.resources import CPU, is_scalar
from schedctl.framework.remedies import Remedy, edit_pod

_MOST_NAMES = 3
"""How many containers are named that would share what is free."""
_replace = msgspec.structs.replace


def lower_request(resource: str, free: int, pod: Pod | None = None) -> Remedy:
    """Return that the pod asks for at most what is free, as a quantity one can type.

    Args:
        resource: of which too much is requested.
        free: how much there is.
        pod: to name the containers that would share it, None where that is not known.
    """
    most = quantity(resource, free)
    names = _sharing(pod, resource, most) if pod is not None else []
    whose = f" of {' + '.join(names)} together" if 1 < len(names) <= _MOST_NAMES else ""
    return Remedy(
        "lower-request",
        f"{resource}{whose} <= {most}",
        edit_pod(lambda pod: _cap_request(pod, resource, most)),
        effort=2,
        subject=resource,
    )


def _sharing(pod: Pod, resource: str, most: str) -> list[str]:
    """Return the names of the containers whose requests are lowered together; none where init containers are too."""
    pairs = zip(_containers(pod), _containers(_cap_request(pod, resource, most)), strict=True)
    lowered = [old for old, new in pairs if old != new]
    inits = [each for each in pod.spec.init_containers or () if not _is_sidecar(each)]
    return [] if any(each in inits for each in lowered) else [each.name for each in lowered]


def _containers(pod: Pod) -> list[Container]:
    return [*(pod.spec.containers or ()), *(pod.spec.init_containers or ())]


def _cap_request(pod: Pod, resource: str, most: str) -> Pod:
    """Return the pod with requests cut in proportion until they add up to no more; as it is where one would get none.

    Init containers are cut one by one, as only one of them runs at a time.
    """
    spec = pod.spec
    if spec.resources is not None and resource in (spec.resources.requests or {}):  # it stands in for all containers
        return _replace(pod, spec=_replace(spec, resources=_with_request(spec.resources, resource, most)))
    overhead = spec.overhead or {}
    limit = _parse(resource, most) - (_parse(resource, overhead[resource]) if resource in overhead else 0)
    inits, containers = list(spec.init_containers or ()), list(spec.containers or ())
    running = sum(_container_request(each, resource) for each in (*containers, *filter(_is_sidecar, inits)))

    def share(container: Container) -> Container:
        requested = _container_request(container, resource)
        return _lower_container_request(container, resource, requested * limit // running) if requested else container

    if running > limit:
        containers = [share(each) for each in containers]
        inits = [share(each) if _is_sidecar(each) else each for each in inits]
    before = 0  # what the sidecars take that start earlier
    for index, each in enumerate(inits):
        if _is_sidecar(each):
            before += _container_request(each, resource)
        elif _container_request(each, resource) > limit - before:
            inits[index] = _lower_container_request(each, resource, limit - before)
    capped = _replace(pod, spec=_replace(spec, containers=containers or None, init_containers=inits or None))
    pairs = zip(_containers(pod), _containers(capped), strict=True)
    starved = any(old != new and _container_request(new, resource) <= 0 for old, new in pairs)
    return pod if starved else capped


def _is_sidecar(container: Container) -> bool:
    return container.restart_policy == "Always"


def _lower_container_request(container: Container, resource: str, amount: int) -> Container:
    assert container.resources is not None
    return _replace(container, resources=_with_request(container.resources, resource, quantity(resource, amount)))


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

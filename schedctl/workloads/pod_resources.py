"""What a pod requests as a whole (KEP-2837), completed as the API server completes it."""

from __future__ import annotations

import msgspec

from schedctl.api import resources
from schedctl.api.pods import Container, PodSpec
from schedctl.workloads.amounts import amount_of, container_totals

_replace = msgspec.structs.replace


def complete_pod_resources(spec: PodSpec) -> PodSpec:
    """Complete what a pod asks for as a whole from its containers and its limits (KEP-2837)."""
    stated = spec.resources
    if stated is None or not (stated.requests or stated.limits):
        return spec
    requests, limits = dict(stated.requests or {}), dict(stated.limits or {})
    containers = [*(spec.init_containers or ()), *(spec.containers or ())]
    requested, most = container_totals(spec, "requests"), container_totals(spec, "limits")
    # The order matters: a request from the containers goes before one from a limit of the pod.
    for name, amount in most.items():
        if name.startswith("hugepages-") and name not in requests:
            limits.setdefault(name, str(amount))
    for name in (resources.CPU, resources.MEMORY):
        if name in requested:
            requests.setdefault(name, str(requested[name]))
    for name, quantity in limits.items():
        if resources.is_pod_level(name):
            requests.setdefault(name, quantity)
    for name, quantity in requests.items():
        # Of a pod without containers, which other checks refuse, there is nothing to take a limit from.
        limited = name in most and all(_has_limit(one, name) for one in containers)
        if name not in limits and resources.is_pod_level(name) and limited:
            # No less than what is asked for, which may be more than the containers' limits come to.
            limits[name] = quantity if amount_of(quantity).more_than(most[name]) else str(most[name])
    completed = _replace(stated, requests=requests or None, limits=limits or None)
    return _replace(spec, resources=completed)


def _has_limit(container: Container, name: str) -> bool:
    return container.resources is not None and name in (container.resources.limits or {})

"""What the request of a pod is made of, where it is not simply the sum that its containers write."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from schedctl.api.defaults import RequestsFromLimits
from schedctl.api.meta import Quantity
from schedctl.api.pods import Container, Pod, ResourceRequirements
from schedctl.api.quantities import parse
from schedctl.api.resources import CPU, is_pod_level, is_scalar

_MOST_NAMES = 2
"""How many containers of one sort are named before they are added up."""
_CONTAINERS = "containers"
LIMIT = "limit of container"
"""What the source of an amount begins with that is a limit where no request is written; the name follows."""


class RequestedPart(NamedTuple):
    """A part of what a pod requests of one resource.

    Attributes:
        source: of whom, as it reads before the amount: ``sidecar proxy``.
        amount: cpu in millicores, all else in whole units.
    """

    source: str
    amount: int


class RequestedParts:
    """The parts of the request for a resource, the same for every row; none where the manifest says it all."""

    def __init__(self, pod: Pod, resource: str, requested: int) -> None:
        self._pod = pod
        self._resource = resource
        self._requested = requested

    def at(self, row: int) -> tuple[RequestedPart, ...]:
        """Return the parts, whatever the row."""
        return self._shown_parts

    @cached_property
    def _shown_parts(self) -> tuple[RequestedPart, ...]:
        parts = tuple(each for each in _parts(self._pod, self._resource) if each.amount)
        if len(parts) == 1 and parts[0].source == _CONTAINERS:
            return ()
        # parts are rounded up one by one, the request as a whole: what does not add up is not told
        return parts if sum(each.amount for each in parts) == self._requested else ()


def naming(pod: Pod) -> Hashable:
    """Return all that the parts read of a pod besides its amounts, None where nothing is named."""
    spec = pod.spec
    names = tuple(each.name for each in spec.init_containers or ())
    limits = tuple(
        (each.name, _limits_as_requests(each)) for each in spec.containers or () if _limits_as_requests(each)
    )
    runtime_class = spec.runtime_class_name if spec.overhead else None
    return (names, limits, runtime_class) if names or limits or runtime_class else None


def _limits_as_requests(container: Container) -> tuple[str, ...]:
    """Return the resources for which no request is written, so that the limit counts.

    None of the extended ones, of which the limit is what one writes.
    """
    requests = container.resources.requests if container.resources is not None else None
    if not isinstance(requests, RequestsFromLimits):
        return ()
    return tuple(name for name in requests.limited if not is_scalar(name))


def _parts(pod: Pod, resource: str) -> Iterator[RequestedPart]:
    spec = pod.spec
    running = sum(_request(each, resource) for each in spec.containers or ())
    inits = spec.init_containers or ()
    sidecars = [each for each in inits if each.restart_policy == "Always"]
    whole = spec.resources
    together = running + sum(_request(each, resource) for each in sidecars)
    # the API server fills in what the pod as a whole does not state, from its containers
    stated = _amount(whole, resource) if whole is not None and is_pod_level(resource) else 0
    if stated and stated != together:
        yield RequestedPart("pod-level resources", stated)
    else:
        starting, peak = _peak(inits, resource)
        if peak > together:
            yield from starting
        else:
            limited = [each for each in spec.containers or () if resource in _limits_as_requests(each)]
            limits = _parts_by_name(LIMIT, "limits", limited, resource)
            yield RequestedPart(_CONTAINERS, running - sum(each.amount for each in limits))
            yield from limits
            yield from _parts_by_name("sidecar", "sidecars", sidecars, resource)
    overhead = spec.overhead or {}
    if resource in overhead:
        owner = f" of RuntimeClass {spec.runtime_class_name}" if spec.runtime_class_name else ""
        yield RequestedPart(f"overhead{owner}", _units(resource, overhead[resource]))


def _peak(inits: Iterable[Container], resource: str) -> tuple[list[RequestedPart], int]:
    """Return what is needed at once while the init container runs that needs most, and how much that is."""
    before: list[Container] = []
    parts: list[RequestedPart] = []
    peak = 0
    for each in inits:
        if each.restart_policy == "Always":
            before.append(each)
            continue
        amount = _request(each, resource) + sum(_request(sidecar, resource) for sidecar in before)
        if amount > peak:
            largest = RequestedPart(f"init container {each.name}", _request(each, resource))
            parts, peak = [largest, *_parts_by_name("sidecar", "sidecars", before, resource)], amount
    return parts, peak


def _parts_by_name(source: str, several: str, containers: Iterable[Container], resource: str) -> list[RequestedPart]:
    """Return what each of the containers requests by name, or where they are many what all do."""
    parts = [RequestedPart(f"{source} {each.name}", _request(each, resource)) for each in containers]
    parts = [each for each in parts if each.amount]
    if len(parts) <= _MOST_NAMES:
        return parts
    return [RequestedPart(f"{len(parts)} {several}", sum(each.amount for each in parts))]


def _request(container: Container, resource: str) -> int:
    return _amount(container.resources, resource) if container.resources else 0


def _amount(resources: ResourceRequirements, resource: str) -> int:
    requests = resources.requests or {}
    return _units(resource, requests[resource]) if resource in requests else 0


def _units(resource: str, written: Quantity) -> int:
    amount = parse(written)
    return amount.milli_value if resource == CPU else amount.value

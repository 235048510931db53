"""LimitRanges: what containers ask for where they do not say, and what is too little or too much (LimitRanger).

A LimitRange completes containers first, all of them in the order of their names, and then each checks containers, pods
or claims against its bounds. The words of a violation are the API server's.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from schedctl.api.pods import Container, PodSpec, ResourceList, ResourceRequirements
from schedctl.api.policies import LimitRange, LimitRangeItem
from schedctl.api.quantities import stored_amount
from schedctl.api.resources import CPU, MEMORY
from schedctl.api.storage import PersistentVolumeClaim
from schedctl.cache.cluster import Cluster
from schedctl.workloads import amounts
from schedctl.workloads.amounts import AmountList, FormattedAmount

_replace = msgspec.structs.replace

CONTAINER, POD, CLAIM = "Container", "Pod", "PersistentVolumeClaim"


def of(cluster: Cluster, namespace: str) -> list[LimitRange]:
    """Return the LimitRanges of a namespace in the order of their names."""
    found = (limits for limits in cluster.every(LimitRange).values() if limits.metadata.namespace == namespace)
    return sorted(found, key=lambda limits: limits.metadata.name)


def apply_defaults(spec: PodSpec, limits: LimitRange) -> tuple[PodSpec, list[str]]:
    """Return a pod's spec with the defaults of a LimitRange, and what they set, as the API server annotates it."""
    default_requests: ResourceList = {}
    default_limits: ResourceList = {}
    for item in limits.spec.limits or ():
        if item.type == CONTAINER:
            default, default_request = _defaults(item)
            default_limits |= default
            default_requests |= default_request
    if not (default_requests or default_limits):
        return spec, []
    texts: list[str] = []
    containers = _with_defaults(spec.containers, default_requests, default_limits, "container", texts)
    init_containers = _with_defaults(spec.init_containers, default_requests, default_limits, "init container", texts)
    return (_replace(spec, containers=containers, init_containers=init_containers) if texts else spec), texts


def pod_violations(spec: PodSpec, limits: LimitRange) -> list[str]:
    """Return how a pod, completed, violates a LimitRange."""
    found: list[str] = []
    for item in limits.spec.limits or ():
        if item.type == CONTAINER:
            for container in (*(spec.containers or ()), *(spec.init_containers or ())):
                stated = container.resources or ResourceRequirements()
                found += _violations(item, amounts.amounts_of(stated.requests), amounts.amounts_of(stated.limits))
        elif item.type == POD:
            found += _violations(item, _in_all(spec, "requests"), _in_all(spec, "limits"))
    return found


def claim_violations(claim: PersistentVolumeClaim, limits: LimitRange) -> list[str]:
    """Return how a claim violates a LimitRange; only what it requests counts."""
    requests = amounts.amounts_of(claim.spec.resources.requests if claim.spec.resources else None)
    found: list[str] = []
    for item in limits.spec.limits or ():
        if item.type == CLAIM:
            found += _below(item, requests, {})
            for name, bound in _bounds(item.max):
                # The API server writes two spaces here and below.
                subject = f"maximum {name} usage per {CLAIM} is {bound}"
                if name not in requests:
                    found.append(f"{subject}.  No request is specified")
                elif requests[name].more_than(bound):
                    found.append(f"{subject}, but request is {requests[name]}")
    return found


def best_effort(spec: PodSpec) -> bool:
    """Return whether a pod asks for no cpu or memory at all and has no limit on them (its QoS class)."""
    whole = spec.resources
    if whole is not None and _counts(whole):
        return False
    return not any(
        container.resources is not None and _counts(container.resources)
        for container in (*(spec.containers or ()), *(spec.init_containers or ()))
    )


def _counts(resources: ResourceRequirements) -> bool:
    return any(
        stored_amount(stated[name]).unscaled > 0
        for stated in (resources.requests or {}, resources.limits or {})
        for name in (CPU, MEMORY)
        if name in stated
    )


def _defaults(item: LimitRangeItem) -> tuple[ResourceList, ResourceList]:
    """Return limits and requests of an item, of which those that are missing follow from its other amounts."""
    # The API server fills these in when it stores a LimitRange: a maximum is the default limit, a limit the default
    # request, and a minimum is the request only where there is none of these.
    default = {**(item.max or {}), **(item.default or {})}
    return default, {**(item.min or {}), **default, **(item.default_request or {})}


def _with_defaults(
    containers: list[Container] | None, requests: ResourceList, limits: ResourceList, what: str, texts: list[str]
) -> list[Container] | None:
    if containers is None:
        return None
    result = []
    for container in containers:
        stated = container.resources or ResourceRequirements()
        new_requests = sorted(requests.keys() - (stated.requests or {}).keys())
        new_limits = sorted(limits.keys() - (stated.limits or {}).keys())
        if new_requests:
            texts.append(f"{', '.join(new_requests)} request for {what} {container.name}")
        if new_limits:
            texts.append(f"{', '.join(new_limits)} limit for {what} {container.name}")
        if new_requests or new_limits:
            filled = _replace(
                stated,
                requests={**(stated.requests or {}), **{name: requests[name] for name in new_requests}} or None,
                limits={**(stated.limits or {}), **{name: limits[name] for name in new_limits}} or None,
            )
            container = _replace(container, resources=filled)
        result.append(container)
    return result


def _in_all(spec: PodSpec, side: amounts.Side) -> AmountList:
    """What a pod asks for, or may use at most; cpu and memory that it states as a whole go first."""
    whole = spec.resources
    stated = amounts.amounts_of((whole.requests if side == "requests" else whole.limits) if whole else None)
    return amounts.container_totals(spec, side) | {name: stated[name] for name in (CPU, MEMORY) if name in stated}


def _bounds(resources: ResourceList | None) -> list[tuple[str, FormattedAmount]]:
    return sorted(amounts.amounts_of(resources).items())


def _violations(item: LimitRangeItem, requests: AmountList, limits: AmountList) -> Iterator[str]:
    yield from _below(item, requests, limits)
    for name, bound in _bounds(item.max):
        subject = f"maximum {name} usage per {item.type} is {bound}"
        if name not in limits:
            yield f"{subject}.  No limit is specified"
        elif limits[name].more_than(bound):
            yield f"{subject}, but limit is {limits[name]}"
        elif name in requests and requests[name].more_than(bound):
            yield f"{subject}, but request is {requests[name]}"
    for name, bound in _bounds(item.max_limit_request_ratio):
        subject = f"{name} max limit to request ratio per {item.type} is {bound}"
        request, limit = requests.get(name, amounts.ZERO), limits.get(name, amounts.ZERO)
        if request.is_zero:
            yield f"{subject}, but no request is specified or request is 0"
        elif limit.is_zero:
            yield f"{subject}, but no limit is specified or limit is 0"
        else:
            # Go divides float64 and compares in thousandths; a value is rounded up to milli before.
            ratio = limit.amount.milli_value / request.amount.milli_value
            if ratio * 1000 > bound.amount.milli_value:
                yield f"{subject}, but provided ratio is {ratio:f}"


def _below(item: LimitRangeItem, requests: AmountList, limits: AmountList) -> Iterator[str]:
    for name, bound in _bounds(item.min):
        subject = f"minimum {name} usage per {item.type} is {bound}"
        if name not in requests:
            yield f"{subject}.  No request is specified"
        elif bound.more_than(requests[name]):
            yield f"{subject}, but request is {requests[name]}"
        elif name in limits and bound.more_than(limits[name]):
            yield f"{subject}, but limit is {limits[name]}"

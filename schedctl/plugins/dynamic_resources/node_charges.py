"""What the devices of a pod's claims take of their node's own resources (KEP-5517, DRANodeAllocatableResources).

A device may stand for CPU, memory and so on of its node, or cost some of it. Filter adds that to what the pod requests,
and the status of the assumed pod says it, so that the node counts it from then on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from schedctl.api import devices, meta, pods, quantities, resources
from schedctl.api.claimed_resources import claimed_amounts, container_items
from schedctl.api.meta import Quantity
from schedctl.api.node_selectors import compile_node_selector
from schedctl.api.quantities import Amount
from schedctl.api.resources import Demand, RequestRules
from schedctl.api.selectors import SelectorError
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo
from schedctl.devices.allocated import PoolID
from schedctl.devices.slices import effective_slices
from schedctl.plugins.dynamic_resources.claims import is_reserved_for, keys_by_reference

ClaimStatuses = tuple[pods.NodeAllocatableResourceClaimStatus, ...]
_HUGE_PAGES = "hugepages-"
_ZERO = Amount(0, 0)
_replace = msgspec.structs.replace


Shortage = Literal["request", "limit", "containerLimit"]
"""What the requests and limits of a pod as a whole do not cover."""


class Charge(NamedTuple):
    """What the claims of a pod take of one node.

    Attributes:
        statuses: by claim; none where no device takes anything.
        requests: what the pod needs of the node with it, in int64.
        shortage: why the pod cannot have it on any node, None where it can.
        resource: of the shortage.
        container: of the shortage, "" for the pod as a whole.
        fault: what ends the cycle, "" for nothing.
    """

    statuses: ClaimStatuses = ()
    requests: Mapping[str, int] = {}
    shortage: Shortage | None = None
    resource: str = ""
    container: str = ""
    fault: str = ""


class ChargeFault(Exception):
    """What a device takes cannot be told; the text is kube-scheduler's."""


def is_held_by_others(claim: devices.ResourceClaim, pod: PodInfo, cluster: ClusterView) -> bool:
    """Return whether a claim is another pod's, and cannot be shared since a device of it stands for node resources."""
    if not claim.status.reserved_for or is_reserved_for(claim, pod):
        return False
    return any(
        mapped.mapping is not None
        for result in _results(claim.status.allocation)
        for mapped in _resources_of(_find_anywhere(result, cluster))
    )


def charge_on(
    row: int,
    pod: PodInfo,
    claims: Sequence[devices.ResourceClaim],
    allocations: Sequence[devices.AllocationResult | None],
    cluster: ClusterView,
) -> Charge | None:
    """Return what claims with these allocations take of a node, None where no device of theirs takes anything.

    Args:
        row: of the node, in the node table.
        pod: the pod, with the request rules of the cluster.
        claims: its claims.
        allocations: what each has, or would be given there.
        cluster: where it is to go.
    """
    # a pod may name one claim twice: it counts once, with what it was given last
    by_key = {meta.key_of(claim): (claim, allocation) for claim, allocation in zip(claims, allocations, strict=True)}
    charging = [
        (claim, allocation)
        for claim, allocation in by_key.values()
        if any(_resources_of(_known(result, cluster, row)) for result in _results(allocation))
    ]
    if not charging:
        return None
    try:
        statuses = tuple(_statuses(row, pod, charging, cluster))
    except ChargeFault as fault:
        return Charge(fault=str(fault))
    return _judge(pod.pod, statuses, cluster.request_rules)


def with_statuses(pod: PodInfo, statuses: ClaimStatuses, rules: RequestRules) -> PodInfo:
    """Return a pod whose status says what its claims take of its node, and nothing else of that kind."""
    if not statuses and not pod.pod.status.node_allocatable_resource_claim_statuses:
        return pod
    return PodInfo(_with_statuses(pod.pod, statuses)).count_by(rules)


def _with_statuses(pod: pods.Pod, statuses: ClaimStatuses) -> pods.Pod:
    return _replace(pod, status=_replace(pod.status, node_allocatable_resource_claim_statuses=list(statuses) or None))


# -- devices ---------------------------------------------------------------------


def _results(allocation: devices.AllocationResult | None) -> Sequence[devices.DeviceRequestAllocationResult]:
    return (allocation.devices.results if allocation is not None else None) or ()


def _resources_of(device: devices.Device | None) -> Sequence[devices.NodeAllocatableResource]:
    return () if device is None else tuple((device.node_allocatable_resources or {}).values())


def _find_anywhere(result: devices.DeviceRequestAllocationResult, cluster: ClusterView) -> devices.Device | None:
    """Return a device wherever it can be reached from; of several of its name the first, by name of the slice."""
    slices = effective_slices(cluster).of_pool.get(PoolID(result.driver, result.pool), ())
    found = (device for each in slices for device in each.spec.devices or () if device.name == result.device)
    return next(found, None)


def _known(result: devices.DeviceRequestAllocationResult, cluster: ClusterView, row: int) -> devices.Device | None:
    try:
        return _find(result, cluster, row)
    except ChargeFault:
        return None


def _find(result: devices.DeviceRequestAllocationResult, cluster: ClusterView, row: int) -> devices.Device:
    """Return a device that a node reaches.

    Raises:
        ChargeFault: it does not.
    """
    for each in effective_slices(cluster).of_pool.get(PoolID(result.driver, result.pool), ()):
        by_device = bool(each.spec.per_device_node_selection)
        if not by_device and not _is_reached(each.spec, cluster, row):
            continue
        for device in each.spec.devices or ():
            if device.name == result.device:
                if by_device and not _is_reached(device, cluster, row):
                    raise ChargeFault(f"device {device.name} does not match node")
                return device
    raise ChargeFault(f"device {result.device} not found in pool {result.pool} for driver {result.driver}")


def _is_reached(where: devices.ResourceSliceSpec | devices.Device, cluster: ClusterView, row: int) -> bool:
    table = cluster.node_table
    name = table.names[row]
    if where.node_name == name or where.all_nodes:
        return True
    if where.node_selector is None:
        return False
    try:
        query = compile_node_selector(where.node_selector).require_valid()
    except SelectorError:
        return False
    return query.matches(name, table.objects[row].metadata.labels)


# -- amounts ---------------------------------------------------------------------


def _statuses(
    row: int,
    pod: PodInfo,
    charging: Sequence[tuple[devices.ResourceClaim, devices.AllocationResult | None]],
    cluster: ClusterView,
) -> Iterator[pods.NodeAllocatableResourceClaimStatus]:
    """Yield what each claim takes, in the order of their names.

    Raises:
        ChargeFault: a device is not to be found there, or takes part of a capacity that it has not been given.
    """
    users = _containers_by_claim(pod)
    for claim, allocation in sorted(charging, key=lambda each: each[0].metadata.name):
        mapped: dict[str, Amount] = {}
        overhead: dict[str, _Overhead] = {}
        for result in _results(allocation):
            try:
                device = _find(result, cluster, row)
            except ChargeFault as fault:
                where = f"claim {meta.key_of(claim)}, device {result.device}, driver {result.driver}"
                raise ChargeFault(f"{where}: {fault}") from None
            for name, each in (device.node_allocatable_resources or {}).items():
                if each.mapping is not None:
                    amount = _mapped_amount(name, each.mapping, result, claim)
                    if amount is not None:
                        mapped[name] = mapped.get(name, _ZERO).plus(amount)
                if each.overhead is not None and each.overhead != _NO_OVERHEAD:
                    overhead[name] = overhead.get(name, _Overhead()).plus(each.overhead)
        if mapped or overhead:
            yield pods.NodeAllocatableResourceClaimStatus(
                resource_claim_name=claim.metadata.name,
                containers=users.get(meta.key_of(claim)),
                mapping=[
                    pods.NodeAllocatableMappedResources(name=name, quantity=_written(mapped[name]))
                    for name in sorted(mapped)
                ]
                or None,
                overhead=[overhead[name].of(name) for name in sorted(overhead)] or None,
            )


class _Overhead(NamedTuple):
    """What devices cost, once and for each container."""

    per_pod: Amount | None = None
    per_container: Amount | None = None

    def plus(self, more: devices.NodeAllocatableOverhead) -> _Overhead:
        return _Overhead(_sum(self.per_pod, more.per_pod), _sum(self.per_container, more.per_container))

    def of(self, name: str) -> pods.NodeAllocatableOverheadResources:
        return pods.NodeAllocatableOverheadResources(
            name=name,
            per_pod=None if self.per_pod is None else _written(self.per_pod),
            per_container=None if self.per_container is None else _written(self.per_container),
        )


_NO_OVERHEAD = devices.NodeAllocatableOverhead()


def _sum(total: Amount | None, more: Quantity | None) -> Amount | None:
    if more is None:
        return total
    amount = quantities.parse(more)
    return amount if total is None else total.plus(amount)


def _written(amount: Amount) -> str:
    return quantities.canonical(amount)


def _mapped_amount(
    resource: str,
    mapping: devices.NodeAllocatableMapping,
    result: devices.DeviceRequestAllocationResult,
    claim: devices.ResourceClaim,
) -> Amount | None:
    """Return how much of a resource a device stands for, None where it is not about what it was taken for.

    Raises:
        ChargeFault: nothing says how much of its capacity was given.
    """
    if not mapping.capacity_key:
        return None if mapping.device_multiplier is None else quantities.parse(mapping.device_multiplier)
    if result.consumed_capacity is None:
        raise ChargeFault(
            f"claim {meta.key_of(claim)}, device {result.device}: ConsumedCapacity is nil, but Capacity key"
            f" '{mapping.capacity_key}' is set in NodeAllocatableResources for resource {resource}"
        )
    if mapping.capacity_key not in result.consumed_capacity:
        return None
    consumed = quantities.parse(result.consumed_capacity[mapping.capacity_key])
    if mapping.capacity_multiplier is None:
        return consumed
    factor = quantities.parse(mapping.capacity_multiplier)
    return consumed if factor.compare(Amount(1, 0)) == 0 else consumed.scaled_by(factor)


def _containers_by_claim(pod: PodInfo) -> dict[str, list[str]]:
    """Return the containers that use each claim, by its key, once for each time that they name it."""
    keys, found = keys_by_reference(pod), dict[str, list[str]]()
    for container in (*(pod.pod.spec.init_containers or ()), *(pod.pod.spec.containers or ())):
        for claim in (container.resources.claims if container.resources else None) or ():
            if claim.name in keys:
                found.setdefault(keys[claim.name], []).append(container.name)
    return found


# -- the pod as a whole ----------------------------------------------------------


def _judge(pod: pods.Pod, statuses: ClaimStatuses, rules: RequestRules) -> Charge:
    """Add up what the pod needs, and see whether its requests and limits as a whole cover it."""
    demand = resources.demand_of(_with_statuses(pod, statuses), rules)
    whole = pod.spec.resources
    if rules.pod_level and whole is not None and statuses:
        for shortage, resource, container in _shortages(pod, whole, statuses, demand):
            return Charge(statuses, {}, shortage, resource, container)
    return Charge(statuses, demand.requests_with_claims)


def _shortages(
    pod: pods.Pod, whole: pods.ResourceRequirements, statuses: ClaimStatuses, demand: Demand
) -> Iterator[tuple[Shortage, str, str]]:
    """Yield what the pod as a whole does not cover; of several resources kube-scheduler names any, here the first."""
    needed = demand.container_requests_with_claims
    for name, quantity in sorted((whole.requests or {}).items(), key=lambda item: item[0]):
        if resources.is_pod_level(name) and name in needed and needed[name].compare(_stored(quantity)) > 0:
            yield "request", name, ""
    limits = {name: _stored(quantity) for name, quantity in (whole.limits or {}).items()}
    if not limits:
        return
    of_containers = resources.container_limits(pod)
    for name, amount in claimed_amounts(demand.needs.claimed).items():
        if name.startswith(_HUGE_PAGES):
            of_containers[name] = of_containers.get(name, _ZERO).plus(amount)
    for name in sorted(of_containers):
        if name.startswith(_HUGE_PAGES) and name in limits and of_containers[name].compare(limits[name]) > 0:
            yield "limit", name, ""
    for container in pod.spec.containers or ():
        charged = claimed_amounts(container_items(list(statuses), container.name))
        limited = (container.resources.limits if container.resources else None) or {}
        for name in sorted(name for name in limited if not name.startswith(_HUGE_PAGES) and name in limits):
            if _stored(limited[name]).plus(charged.get(name, _ZERO)).compare(limits[name]) > 0:
                yield "containerLimit", name, container.name


def _stored(quantity: Quantity) -> Amount:
    return quantities.stored_amount(quantity)

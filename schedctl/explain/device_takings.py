"""The devices a pod takes along on a node: for each request of its claims which ones, and what it consumes of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.api.devices import DeviceRequestAllocationResult, ResourceClaim
from schedctl.api.meta import key_of
from schedctl.cache.cluster import Cluster
from schedctl.framework.wording import name_of
from schedctl.plugins.dynamic_resources.extended import in_memory
from schedctl.plugins.dynamic_resources.plugin import DynamicResources
from schedctl.plugins.dynamic_resources.search import Finding
from schedctl.reports.explanations import Taking

_Results = Sequence[DeviceRequestAllocationResult]


def devices(found: Finding, cluster: Cluster) -> Iterator[Taking]:
    """Yield the devices for each request of the pod's claims; claims may have been given theirs before."""
    given = iter(found.allocations or ())
    for claim in found.claims:
        before = claim.status.allocation
        allocation = before or next(given, None)
        requests: dict[str, list[DeviceRequestAllocationResult]] = {}
        for each in (allocation.devices.results if allocation is not None else None) or ():
            requests.setdefault(each.request, []).append(each)
        for request, results in requests.items():
            who = (
                _extended(found, request) if in_memory(claim) else f"claim {name_of(key_of(claim))}, request {request}"
            )
            text = f"{who}: {_told(results)}{' (allocated before)' if before is not None else ''}"
            names = [f"{each.driver}/{each.pool}/{each.device}" for each in results]
            yield Taking(plugin=DynamicResources.__name__, claim=_key(claim), request=request, names=names, text=text)


def _key(claim: ResourceClaim) -> str:
    return "" if in_memory(claim) else key_of(claim)


def _extended(found: Finding, request: str) -> str:
    """``nvidia.com/gpu of container main``, as far as it is known who gets the devices of a request."""
    mappings = found.special.mappings if found.special is not None else ()
    told = [
        f"{each.resource_name} of container {each.container_name}" for each in mappings if each.request_name == request
    ]
    return " and ".join(told) or request


def _told(results: _Results) -> str:
    """``gpu-0, gpu-1 of gpu.example.com/node-a``, pool by pool."""
    pools: dict[str, list[str]] = {}
    for each in results:
        pools.setdefault(f"{each.driver}/{each.pool}", []).append(_device(each))
    return " and ".join(f"{', '.join(names)} of {pool}" for pool, names in pools.items())


def _device(result: DeviceRequestAllocationResult) -> str:
    """``gpu-0``, or ``gpu-0 (a share, 10Gi memory)``."""
    consumed = [f"{amount} {name}" for name, amount in (result.consumed_capacity or {}).items()]
    share = ["a share"] if result.share_id is not None else []
    admin = ["admin access"] if result.admin_access else []
    more = [*share, *consumed, *admin]
    return f"{result.device} ({', '.join(more)})" if more else result.device

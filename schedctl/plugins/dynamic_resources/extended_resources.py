"""Extended resources that are devices (KEP-5004): the claim kube-scheduler makes up for them.

One claim covers all such resources of a pod; until PreBind writes it, it exists in the scheduler alone, under a name no
object can have. What it requests differs from node to node: a resource that a node's device plugin offers is not asked
for there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from schedctl.api import annotation_keys, devices, meta, pods, quantities
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.device_classes import can_be_devices, classes_by_resource
from schedctl.plugins.dynamic_resources.claims import is_pod

_LONGEST_GENERATED = 58


class NodeClaim(NamedTuple):
    """The claim as one kind of node needs it.

    Attributes:
        claim: with its requests.
        mappings: which container gets which resource from which request.
    """

    claim: devices.ResourceClaim
    mappings: tuple[pods.ContainerExtendedResourceRequest, ...]


class _ContainerRequest(NamedTuple):
    """What one container asks for of one resource, beyond what others leave to it."""

    request: devices.DeviceRequest | None
    mappings: list[pods.ContainerExtendedResourceRequest]


def asks_for_devices(pod: PodInfo, cluster: ClusterView) -> bool:
    """Return whether a class stands in for a resource that the pod asks for."""
    release = cluster.release
    names = [name for name, amount in pod.demand.fit_requests.items() if amount and can_be_devices(name, release)]
    return bool(names) and not classes_by_resource(cluster).keys().isdisjoint(names)


def special_claim(pod: PodInfo, cluster: ClusterView) -> devices.ResourceClaim:
    """Return the claim for the pod's extended resources: the one an earlier attempt left behind, else a new one."""
    for claim in cluster.derive(_special_claims, devices.ResourceClaim):
        for owner in claim.metadata.owner_references or ():
            if owner.controller and owner.name == pod.pod.metadata.name and is_pod(owner, pod):
                return claim
    name, uid = pod.pod.metadata.name, pod.pod.metadata.uid
    owner = meta.OwnerReference(api_version="v1", kind="Pod", name=name, uid=uid, controller=True)
    return devices.ResourceClaim(
        metadata=meta.ObjectMeta(
            name=devices.IN_MEMORY_NAME,
            namespace=pod.namespace,
            uid=f"{devices.IN_MEMORY_NAME}/{pod.uid}",
            generate_name=f"{name}-extended-resources-",
            annotations={annotation_keys.EXTENDED_RESOURCE_CLAIM: "true"},
            owner_references=[owner],
        )
    )


def in_memory(claim: devices.ResourceClaim) -> bool:
    """Return whether the claim for extended resources has not been written yet."""
    return claim.metadata.name == devices.IN_MEMORY_NAME


def written_name(claim: devices.ResourceClaim, cluster: ClusterView) -> str:
    """Return a name for the claim as the API server generates it, the random end told by an ellipsis."""
    base = claim.metadata.generate_name[:_LONGEST_GENERATED] + meta.ELLIPSIS
    taken, name, number = cluster.every(devices.ResourceClaim), base, 1
    while f"{claim.metadata.namespace}/{name}" in taken:
        number += 1
        name = f"{base}{number}"
    return name


def on_node(
    claim: devices.ResourceClaim, pod: PodInfo, resources: Iterable[str], classes: Mapping[str, devices.DeviceClass]
) -> NodeClaim:
    """Return the claim for nodes where these resources have to be devices."""
    requests: list[devices.DeviceRequest] = []
    mappings: list[pods.ContainerExtendedResourceRequest] = []
    for resource in sorted(resources):
        more_requests, more_mappings = _requests(pod.pod, resource, classes[resource].metadata.name)
        requests += more_requests
        mappings += more_mappings
    requests.sort(key=lambda request: request.name)
    spec = devices.ResourceClaimSpec(devices=devices.DeviceClaim(requests=requests or None))
    return NodeClaim(msgspec.structs.replace(claim, spec=spec), tuple(mappings))


def on_node_unshared(
    claim: devices.ResourceClaim, pod: PodInfo, resources: Iterable[str], classes: Mapping[str, devices.DeviceClass]
) -> NodeClaim:
    """Return the claim with a request for each container and resource, as until v1.34.

    kube-scheduler makes them for every resource that a class stands in for, also where the node lists it; in which
    order of the resources is by chance there, and by name here.
    """
    requests: list[devices.DeviceRequest] = []
    mappings: list[pods.ContainerExtendedResourceRequest] = []
    containers = (*(pod.pod.spec.init_containers or ()), *(pod.pod.spec.containers or ()))
    for resource in sorted(resources):
        for index, container in enumerate(containers):
            made = _find_requests(index, container, resource, classes[resource].metadata.name, ())
            requests += [made.request] if made.request is not None else []
            mappings += made.mappings
    spec = devices.ResourceClaimSpec(devices=devices.DeviceClaim(requests=requests or None))
    return NodeClaim(msgspec.structs.replace(claim, spec=spec), tuple(mappings))


def _special_claims(cluster: ClusterView) -> tuple[devices.ResourceClaim, ...]:
    """Return all claims of the cluster that were made up for extended resources."""
    claims = cluster.every(devices.ResourceClaim).values()
    return tuple(
        claim
        for claim in claims
        if (claim.metadata.annotations or {}).get(annotation_keys.EXTENDED_RESOURCE_CLAIM) == "true"
    )


def _requests(
    pod: pods.Pod, resource: str, device_class: str
) -> tuple[list[devices.DeviceRequest], list[pods.ContainerExtendedResourceRequest]]:
    """Return the requests for one resource and who gets what from them.

    Containers that run one after another share devices: init containers that are done hand theirs on to those that
    start later, and of all their own requests only the largest is made.
    """
    starting = pod.spec.init_containers or ()
    containers = (*starting, *(pod.spec.containers or ()))
    # a sidecar keeps its devices while the others run, as a main container does
    init_indexes = [index for index, container in enumerate(starting) if container.restart_policy != "Always"]
    running_indexes = [index for index in range(len(containers)) if index not in init_indexes]
    kept: list[devices.DeviceRequest | None] = [None] * len(containers)
    mappings: list[pods.ContainerExtendedResourceRequest] = []
    for index in running_indexes:
        kept[index], mapped = _find_requests(index, containers[index], resource, device_class, ())
        mappings += mapped
    largest: devices.DeviceRequest | None = None
    replaced: set[str] = set()
    passed: list[pods.ContainerExtendedResourceRequest] = []
    for index in init_indexes:
        request, mapped = _find_requests(index, containers[index], resource, device_class, kept[index:])
        if request is not None:
            replaced.add(request.name)
            if largest is None or _count(largest) < _count(request):
                largest = request
        passed += mapped
    if largest is not None:  # the smaller requests are not made: who was to be served by them gets from the largest
        passed = [
            msgspec.structs.replace(each, request_name=largest.name) if each.request_name in replaced else each
            for each in passed
        ]
    return [request for request in (largest, *kept) if request is not None], mappings + passed


def _find_requests(
    index: int,
    container: pods.Container,
    resource: str,
    device_class: str,
    left: Sequence[devices.DeviceRequest | None],
) -> _ContainerRequest:
    """Return what a container asks for beside the requests that later containers leave to it."""
    resources = container.resources.requests if container.resources else None
    if not resources or resource not in resources:
        return _ContainerRequest(None, [])
    amount = quantities.stored_amount(resources[resource]).whole
    if not amount:
        return _ContainerRequest(None, [])

    def mapping_to(request: str) -> pods.ContainerExtendedResourceRequest:
        return pods.ContainerExtendedResourceRequest(
            container_name=container.name, resource_name=resource, request_name=request
        )

    available = 0
    mappings = []
    for other in left:
        if other is not None:
            available += _count(other)
            mappings.append(mapping_to(other.name))
            if available >= amount:
                return _ContainerRequest(None, mappings)
    name = f"container-{index}-request-{sorted(resources).index(resource)}"
    exactly = devices.ExactDeviceRequest(
        device_class_name=device_class, allocation_mode="ExactCount", count=amount - available
    )
    return _ContainerRequest(devices.DeviceRequest(name=name, exactly=exactly), [*mappings, mapping_to(name)])


def _count(request: devices.DeviceRequest) -> int:
    assert request.exactly is not None
    return request.exactly.count

"""What the API server fills in before the scheduler sees an object (``pkg/apis/core/v1`` defaulting).

Only fields that scheduling reads are filled; objects that came from a cluster have them already, and filling them again
changes nothing. Pod-level requests are filled at creation (``workloads.admission``), and not here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from schedctl.api.meta import ObjectMeta, Quantity
from schedctl.api.nodes import Node
from schedctl.api.pods import Container, ContainerPort, Pod, ResourceRequirements
from schedctl.api.storage import StorageClass

DEFAULT_SCHEDULER = "default-scheduler"
DEFAULT_NAMESPACE = "default"
IMMEDIATE = "Immediate"
"""How a StorageClass binds that does not say: without waiting for a pod."""


def pod(obj: Pod) -> Pod:
    """Return the pod with its namespace, scheduler name, requests from limits and host-network ports filled in."""
    spec, replace = obj.spec, msgspec.structs.replace
    if (
        spec.scheduler_name
        and obj.metadata.namespace
        and _are_complete(spec.containers, spec.host_network)
        and _are_complete(spec.init_containers, spec.host_network)
    ):
        return obj  # as nearly all pods of a cluster are, of which there may be 150,000
    changes: dict[str, object] = {}
    if not spec.scheduler_name:
        changes["scheduler_name"] = DEFAULT_SCHEDULER
    for field, before in (("containers", spec.containers), ("init_containers", spec.init_containers)):
        if before and not _are_complete(before, spec.host_network):
            changes[field] = [_container(container, spec.host_network) for container in before]
    if changes:
        obj = replace(obj, spec=replace(spec, **changes))
    if not obj.metadata.namespace:
        obj = replace(obj, metadata=replace(obj.metadata, namespace=DEFAULT_NAMESPACE))
    return obj


def node(obj: Node) -> Node:
    """Return the node with its allocatable resources, which are its capacity where it states none."""
    status = obj.status
    if status.allocatable is None and status.capacity is not None:
        return msgspec.structs.replace(obj, status=msgspec.structs.replace(status, allocatable=status.capacity))
    return obj


def storage_class(obj: StorageClass) -> StorageClass:
    """Return the class with its binding mode."""
    return obj if obj.volume_binding_mode is not None else msgspec.structs.replace(obj, volume_binding_mode=IMMEDIATE)


def with_namespace(metadata: ObjectMeta) -> ObjectMeta:
    """Return the metadata of a namespaced object with its namespace filled in."""
    return metadata if metadata.namespace else msgspec.structs.replace(metadata, namespace=DEFAULT_NAMESPACE)


class RequestsFromLimits(dict[str, Quantity]):
    """Requests of a container, some of which its manifest does not write, so that the limits count.

    Attributes:
        limited: the resources of which the limit counts.
    """

    def __init__(self, requests: Mapping[str, Quantity], limited: Iterable[str]) -> None:
        super().__init__(requests)
        self.limited = tuple(limited)


def _are_complete(containers: list[Container] | None, host_network: bool) -> bool:
    for container in containers or ():
        resources = container.resources
        if resources and resources.limits and not resources.limits.keys() <= (resources.requests or {}).keys():
            return False
        if host_network and any(not port.host_port for port in container.ports or ()):
            return False
    return True


def _container(container: Container, host_network: bool) -> Container:
    changes: dict[str, object] = {}
    resources = container.resources
    if resources is not None and resources.limits:
        # a limit stands for a request that is not written, resource by resource
        written = resources.requests or {}
        limited = [name for name in resources.limits if name not in written]
        filled = RequestsFromLimits({**resources.limits, **written}, limited) if limited else written
        changes["resources"] = ResourceRequirements(requests=filled, limits=resources.limits, claims=resources.claims)
    if host_network:
        changes["ports"] = container.ports and [_host_port(port) for port in container.ports]
    return msgspec.structs.replace(container, **changes) if changes else container


def _host_port(port: ContainerPort) -> ContainerPort:
    return port if port.host_port else msgspec.structs.replace(port, host_port=port.container_port)

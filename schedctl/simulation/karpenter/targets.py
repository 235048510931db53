"""What a pod may be put on: a node that is there, or a claim of a node that gets narrower with each pod."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from schedctl.api.topology import HOSTNAME
from schedctl.cache.pod_info import HostPort
from schedctl.simulation.karpenter.models import ModelNode, owner_kind
from schedctl.simulation.karpenter.offers import OfferedType, Offering, Pool, enough_values, fits, in_price_order
from schedctl.simulation.karpenter.topology import Topology
from schedctl.simulation.karpenter.topology_groups import TopologyGroup, tolerated
from schedctl.simulation.karpenter.value_sets import Requirements, ValueSet, conflict, narrow
from schedctl.simulation.karpenter.waiting_pods import WaitingPod

_UNSPECIFIED = ("0.0.0.0", "::")


class Room(msgspec.Struct, frozen=True):
    """A place for a pod, and what becomes of the node or claim.

    Attributes:
        requirements: of it, with the pod.
        types: the instance types that are left of a claim.
    """

    requirements: Requirements
    types: tuple[OfferedType, ...] = ()


class ExistingNode(msgspec.Struct, frozen=True):
    """A node that is there, with some of the pods that are being placed.

    Attributes:
        node: the node.
        free: what is left of it.
        requirements: its labels, narrowed by nothing.
        ports: the host ports that pods of it take, by pod.
        pods: those that are put on it.
    """

    node: ModelNode
    free: Mapping[str, int]
    requirements: Requirements
    ports: Mapping[str, Sequence[HostPort]]
    pods: tuple[WaitingPod, ...] = ()

    def room_for(self, pod: WaitingPod, topology: Topology) -> Room | None:
        """Return the place that it has for a pod, None for none."""
        if not fits(pod.requests, self.free) or not tolerated(self.node.taints, pod.tolerations):
            return None
        if ports_conflict(pod, self.ports) or conflict(self.requirements, pod.requirements):
            return None
        found = narrow(self.requirements, pod.requirements.items())
        if pod.volumes:
            if conflict(found, pod.volumes):
                return None
            found = narrow(found, pod.volumes.items())
        narrowed = topology.narrow(pod, self.node.taints, found)
        if isinstance(narrowed, TopologyGroup) or conflict(found, narrowed):
            return None
        return Room(narrow(found, narrowed.items()))

    def with_pod(self, pod: WaitingPod, room: Room) -> ExistingNode:
        """Return it with a pod more."""
        free = {**self.free, **{name: self.free.get(name, 0) - amount for name, amount in pod.requests.items()}}
        ports = {**self.ports, pod.key: pod.host_ports}
        return ExistingNode(self.node, free, room.requirements, ports, (*self.pods, pod))


def existing_node(node: ModelNode, daemons: Sequence[WaitingPod]) -> ExistingNode:
    """Return a node with what its pods, and DaemonSets whose pods have not started there, leave of it."""
    free = dict(node.allocatable)
    ports: dict[str, Sequence[HostPort]] = {}
    reserved: dict[str, int] = {}
    for daemon in daemons:
        if tolerated(node.taints, daemon.tolerations) and not conflict(node.requirements, daemon.strict_requirements):
            for name, amount in daemon.requests.items():
                reserved[name] = reserved.get(name, 0) + amount
    for info in node.pods:
        runs = WaitingPod(info)
        is_daemon = owner_kind(info) == "DaemonSet"
        for name, amount in runs.requests.items():
            if name in free:
                free[name] -= amount
            if is_daemon and name in reserved:
                reserved[name] -= amount
        if runs.host_ports:
            ports[info.key] = runs.host_ports
    for name, amount in reserved.items():
        if name in free:
            free[name] -= max(0, amount)
    requirements = narrow(node.requirements, ((HOSTNAME, ValueSet(frozenset((node.host,)))),))
    return ExistingNode(node, free, requirements, ports)


class Claim(msgspec.Struct):
    """A node that Karpenter would launch: what all its pods leave of a NodePool.

    Attributes:
        pool: the NodePool.
        number: 1 for the first.
        requirements: of the node.
        types: the instance types that it may be.
        requests: what its pods and those of DaemonSets take.
        daemons: what those of DaemonSets take.
        ports: the host ports that are taken, by pod; the claims of a pool share them.
        pods: those that are put on it.
    """

    pool: Pool
    number: int
    requirements: Requirements
    types: tuple[OfferedType, ...]
    requests: dict[str, int]
    daemons: Mapping[str, int]
    ports: dict[str, Sequence[HostPort]]
    pods: list[WaitingPod] = msgspec.field(default_factory=list)

    @property
    def host(self) -> str:
        """The host name that it has until it has its own."""
        return f"claim {self.number}"

    def room_for(self, pod: WaitingPod, topology: Topology) -> Room | str:
        """Return the place that it has for a pod, or why it has none."""
        if not tolerated(self.pool.taints, pod.tolerations):
            return "its taints are not tolerated"
        if ports_conflict(pod, self.ports):
            return "a pod of the same round takes its host port on a node of the pool"
        key = conflict(self.requirements, pod.requirements, of_new_node=True)
        if key:
            return f"its requirements do not go with what the pod requires of {key}"
        found = narrow(self.requirements, pod.requirements.items())
        if pod.volumes:
            key = conflict(found, pod.volumes, of_new_node=True)
            if key:
                return f"its requirements do not go with what a volume of the pod requires of {key}"
            found = narrow(found, pod.volumes.items())
        narrowed = topology.narrow(pod, self.pool.taints, found)
        if isinstance(narrowed, TopologyGroup):
            return f"{narrowed.rule.value} over {narrowed.key} leaves no domain"
        key = conflict(found, narrowed, of_new_node=True)
        if key:
            return f"the rules of topology leave no common domain of {key}"
        found = narrow(found, narrowed.items())
        requests = _sum(self.requests, pod.requests)
        types = tuple(each for each in self.types if each.suits(found, requests))
        if not types or not enough_values(types, found):
            return _why_no_type(self.types, found, requests, types)
        return Room(found, types)

    def add(self, pod: WaitingPod, room: Room, topology: Topology) -> None:
        """Put a pod on it."""
        self.pods.append(pod)
        self.types, self.requirements = room.types, room.requirements
        self.requests = _sum(self.requests, pod.requests)
        topology.register(self.host)
        topology.record(pod, self.pool.taints, room.requirements)
        self.ports[pod.key] = pod.host_ports

    @property
    def final_requirements(self) -> Requirements:
        """What the cloud is asked for, without the host name."""
        return {key: values for key, values in self.requirements.items() if key != HOSTNAME}

    def cheapest(self) -> tuple[OfferedType, Offering] | None:
        """Return what a cloud launches that takes the cheapest; of equal prices the first by name."""
        found = []
        for instance_type in in_price_order(self.types, self.requirements):
            for each in instance_type.offerings_for(self.requirements):
                price = each.price if each.price is not None else 0.0
                found.append(((each.price is None, price, instance_type.name, each.zone), instance_type, each))
        return min(found, key=lambda each: each[0])[1:] if found else None


def ports_conflict(pod: WaitingPod, taken: Mapping[str, Sequence[HostPort]]) -> bool:
    """Return whether a pod asks for a host port that another one has."""
    for port in pod.host_ports:
        for key, ports in taken.items():
            for other in ports:
                same = port.port == other.port and port.protocol == other.protocol
                any_ip = port.ip in _UNSPECIFIED or other.ip in _UNSPECIFIED
                if same and key != pod.key and (port.ip == other.ip or any_ip):
                    return True
    return False


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in (*one, *other)}


def _why_no_type(
    types: Sequence[OfferedType], requirements: Requirements, requests: Mapping[str, int], left: Sequence[OfferedType]
) -> str:
    """Return why no instance type is left, by what rules the most of them out."""
    if left:
        return "too few different values would be left for its minValues"
    if not any(fits(requests, each.allocatable) for each in types):
        return "no instance type has room for it"
    if not any(each.suits(requirements, {}) for each in types):
        return "no instance type meets the requirements"
    return "no instance type that meets the requirements has room for it"

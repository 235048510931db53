"""NodePorts: a port of the host belongs to one pod per protocol and address; ``0.0.0.0`` stands for all addresses."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from typing_extensions import override

from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import HostPort, PodInfo
from schedctl.framework.cycles import Cycle, StateKey
from schedctl.framework.events import Action, Hint, Registration, Resource, registers
from schedctl.framework.points import FilterPlugin, PreFilterPlugin
from schedctl.framework.reasons import ACCEPT, Reason, Verdicts
from schedctl.framework.statuses import SKIP, Code, Status

if TYPE_CHECKING:
    from schedctl.framework.remedies import Rejection, Remedies
    from schedctl.framework.wording import Wording


HOST_PORTS = StateKey[tuple[HostPort, ...]]("PreFilterNodePorts")
ANY_ADDRESS = "0.0.0.0"


class NodePorts(PreFilterPlugin, FilterPlugin):
    """Rejects nodes on which another pod holds a host port the pod asks for."""

    skips_resizes = True
    filters_all_nodes = True
    foreseeable = True

    taken = Reason("node(s) didn't have free ports for the requested pod ports")
    unprepared = Reason(f'reading "{HOST_PORTS.name}" from cycleState: not found', code=Code.ERROR)

    def signature(self, pod: PodInfo) -> Hashable:
        """The host ports it asks for."""
        return pod.host_ports

    def events_to_register(self) -> tuple[Registration, ...]:
        """A pod gone that held one of the ports, and any new node."""
        return (
            registers(Resource.ASSIGNED_POD, Action.DELETE, _after_deletion),
            registers(Resource.NODE, Action.ADD),
        )

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Skip pods without host ports."""
        ports = cycle.pod.host_ports
        if not ports:
            return SKIP
        cycle.state[HOST_PORTS] = ports
        return None

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Compare the wanted ports with those taken on each node."""
        if HOST_PORTS not in cycle.state:
            return self.unprepared.where(np.ones(len(nodes), np.bool_))
        ports = cycle.state[HOST_PORTS]
        refused: list[int] = []
        for ip, protocol, port in ports:
            users = nodes.port_users(protocol, port)
            # the wildcard collides with every address, whichever of the two pods asks for it
            refused += [at for at, held in users if ip == ANY_ADDRESS or ANY_ADDRESS in held or ip in held]
        if not refused:
            return ACCEPT
        mask = np.zeros(len(nodes), np.bool_)
        mask[refused] = True
        return self.taken.where(mask, collisions=_Collisions(nodes, ports))

    @override
    def wording(self) -> Mapping[str, Wording]:
        from schedctl.plugins.node_ports.wording import WORDING

        return WORDING

    @override
    def remedies(self, pod: PodInfo, rejection: Rejection) -> Remedies:
        from schedctl.plugins.node_ports.remedies import remedies

        return remedies(rejection)


@dataclass(frozen=True, slots=True)
class _Collisions:
    """Which of some ports are taken on a node, and by which pods, found out when asked for."""

    nodes: Nodes
    ports: tuple[HostPort, ...]

    def at(self, position: int) -> tuple[tuple[HostPort, tuple[str, ...]], ...]:
        pods = self.nodes.pods_on(position)
        found = ((port, tuple(pod.key for pod in pods if _holds(pod, port))) for port in self.ports)
        return tuple((port, holders) for port, holders in found if holders)


def _holds(pod: PodInfo, port: HostPort) -> bool:
    return any(
        held[1:] == port[1:] and (held.ip == port.ip or ANY_ADDRESS in (held.ip, port.ip)) for held in pod.host_ports
    )


def _after_deletion(pod: PodInfo, before: PodInfo, after: None) -> Hint:
    if not before.pod.spec.node_name and not before.pod.status.nominated_node_name:
        return Hint.SKIP
    return Hint.QUEUE if any(_holds(before, port) for port in pod.host_ports) else Hint.SKIP

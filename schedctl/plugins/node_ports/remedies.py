"""What would undo a rejection of NodePorts: a pod that does without the host port."""

from __future__ import annotations

import msgspec

from schedctl.api.pods import Container, Pod
from schedctl.framework.remedies import Reach, Rejection, Remedies, Remedy, edit_pod

_replace = msgspec.structs.replace


def remedies(rejection: Rejection) -> Remedies:
    """Return that the pod does not ask for the ports that others hold."""
    if rejection.reference != "node-ports/taken":
        return []
    ports = tuple(f"{port['port']}/{port['protocol']}" for port, _ in rejection.evidence["collisions"])
    condition = f"it does not request host port{'s' if len(ports) > 1 else ''} {', '.join(ports)}"
    return [
        Remedy(
            "drop-host-ports",
            condition,
            edit_pod(lambda pod: _drop_ports(pod, ports)),
            effort=3,
            subject=ports,
            reach=Reach.RULE,
        )
    ]


def _drop_ports(pod: Pod, ports: tuple[str, ...]) -> Pod:
    def without(container: Container) -> Container:
        kept = [each for each in container.ports or () if f"{each.host_port}/{each.protocol or 'TCP'}" not in ports]
        return _replace(container, ports=kept or None)

    spec = pod.spec
    containers = [without(each) for each in spec.containers or ()]
    inits = [without(each) for each in spec.init_containers or ()]
    return _replace(pod, spec=_replace(spec, containers=containers or None, init_containers=inits or None))

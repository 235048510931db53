"""How rejections of NodePorts read: who has the host port."""

from __future__ import annotations

from schedctl.framework.remedies import Evidence
from schedctl.framework.wording import Wording, few


def _collisions(evidence: Evidence) -> str:
    return ", ".join(
        f"{port['port']}/{port['protocol']} is used by {few(pods)}" for port, pods in evidence["collisions"]
    )


WORDING = {"node-ports/taken": Wording(_collisions)}

"""Pods that come back: what the controller of a pod makes when the pod has to go.

A Deployment's pod has a successor of another name as soon as it is told to go, a StatefulSet's and a DaemonSet's has
one of the same name or for the same node once it is gone, and a pod nobody controls has none.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from schedctl.api.meta import OwnerReference
from schedctl.api.pods import Pod, PodStatus
from schedctl.workloads.names import LONGEST_GENERATED, random_end

_LATER = ("StatefulSet", "DaemonSet")
"""Kinds that wait until the pod before is gone."""
_NEVER = ("Node",)
"""Owners that are no controllers: a node runs its static pods itself."""
_replace = msgspec.structs.replace


def controller_of(pod: Pod) -> OwnerReference | None:
    """Return who makes another such pod, None if nobody does."""
    for reference in pod.metadata.owner_references or ():
        if reference.controller and reference.kind not in _NEVER:
            return reference
    return None


def comes_later(pod: Pod) -> bool:
    """Return whether the controller of a pod makes no other before this one is gone."""
    owner = controller_of(pod)
    return owner is not None and owner.kind in _LATER


def successor(pod: Pod, taken: Callable[[str], bool]) -> Pod | None:
    """Return the pod that takes the place of one that has to go, on no node yet; None if none does.

    It is as admission left the pod before it, and marked as admitted by a uid of its own.

    Args:
        pod: the pod that has to go.
        taken: whether there is a pod of this key already.
    """
    owner = controller_of(pod)
    if owner is None:
        return None
    metadata = pod.metadata
    name = metadata.name
    if owner.kind != "StatefulSet":
        stem = name.rpartition("-")[0] or owner.name
        base = (metadata.generate_name or f"{stem}-")[:LONGEST_GENERATED]
        attempt = 0
        while name == metadata.name or taken(f"{metadata.namespace}/{name}"):
            name = base + random_end(metadata.namespace, base, "successor", metadata.name, attempt)
            attempt += 1
    fresh = _replace(
        metadata,
        name=name,
        uid=f"successor of {metadata.uid or metadata.name}",
        creation_timestamp=None,
        deletion_timestamp=None,
        deletion_grace_period_seconds=None,
    )
    status = PodStatus(phase="Pending")
    return _replace(pod, metadata=fresh, spec=_replace(pod.spec, node_name=""), status=status)

"""What the controller of a pod makes in its place when the pod is evicted or deleted.

A ReplicaSet replaces a pod as soon as it terminates, under another name; a StatefulSet and a DaemonSet replace it once
it is gone, under the same name or on the same node; a pod without a controller is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from schedctl.api.meta import OwnerReference
from schedctl.api.pods import Pod, PodStatus
from schedctl.cache.pod_info import PodInfo
from schedctl.scheduler import Scheduler
from schedctl.simulation.events import Controller, SimulatedEvent
from schedctl.workloads.admission import RESOURCE_QUOTA
from schedctl.workloads.api_server import Admission, Created
from schedctl.workloads.expansion import Replica
from schedctl.workloads.names import LONGEST_GENERATED, random_end
from schedctl.workloads.pod_templates import exists

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


class ReplacementController(Controller):
    """Makes the successors of pods that are evicted, each when its controller would.

    Quotas are left aside: what comes was counted before.

    Attributes:
        successors: by key of a pod that had to go, the key of the pod in its place.
        foreign: successors that no profile serves, by key.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self.successors: dict[str, str] = {}
        self.foreign: set[str] = set()
        self._taken: set[str] = set()  # the keys of successors, some of which are still on their way
        self._scheduler = scheduler
        self._cluster = scheduler.cluster
        self._admission = Admission(scheduler.cluster, disabled=(RESOURCE_QUOTA,))
        self._replaced = {
            info.key for info in scheduler.cluster.pod_table if info.terminating and not comes_later(info.pod)
        }

    def now(self, key: str) -> str:
        """Return the key of the pod that is in a pod's place in the end, "" for none."""
        found = self.successors.get(key, "")
        seen = {key}
        while found not in seen and found in self.successors:
            seen.add(found)
            found = self.successors[found]
        return found

    def evicted(self, pod: PodInfo, node_name: str) -> Iterable[SimulatedEvent]:
        """Make the successor of a pod, where its controller does not wait until it is gone."""
        return () if comes_later(pod.pod) else self._succeed(pod)

    def gone(self, pod: PodInfo, node_name: str) -> Iterable[SimulatedEvent]:
        """Make the successor of a pod that has none yet; those on their way out when all began have theirs."""
        if pod.key in self._replaced:
            self._replaced.discard(pod.key)
            return ()
        known = pod.key in self.successors and self.successors[pod.key] != pod.key
        return () if known else self._succeed(pod)

    def _succeed(self, pod: PodInfo) -> Iterator[SimulatedEvent]:
        """Create the pod that takes the place of another, if anything does."""
        made = successor(pod.pod, lambda key: key in self._taken or exists(key, self._cluster))
        created = self._admission.create(Replica(made)) if made is not None else None
        if not isinstance(created, Created):
            return
        self.successors[pod.key] = created.pod.key
        self._taken.add(created.pod.key)
        for claim in created.claims:
            yield SimulatedEvent(claim)
        info = PodInfo(created.pod)
        if self._scheduler.profile_of(info) is None:
            self.foreign.add(info.key)
        else:
            yield SimulatedEvent(info)

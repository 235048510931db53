"""Telling the queue what happened: each change of the cluster as the event it is, and as a line of the timeline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schedctl.cache.cluster import ChangeKind, Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.queues import QueuedPod, SchedulingQueue
from schedctl.framework.events import ASSIGNED_POD_ADD, ASSIGNED_POD_DELETE, RESOURCES, Action, ClusterEvent
from schedctl.simulation.records import AnyRecord, Happened
from schedctl.simulation.standing import placed

Among = Callable[[QueuedPod], bool]
"""Says which pods an event could help at all."""


class Teller:
    """Tells one queue of what happens to one cluster. Where nobody listens, little is done."""

    def __init__(
        self, queue: SchedulingQueue, cluster: Cluster, record: Callable[[AnyRecord], None] | None = None
    ) -> None:
        self._queue = queue
        self._cluster = cluster
        self._record = record

    def tell(self, event: ClusterEvent, before: Any, after: Any, among: Among | None = None) -> None:
        """Tell of an event, with the object before and after; see `SchedulingQueue.tell`."""
        self._note(event, _name(before if after is None else after))
        if self._queue.hears(event):
            self._queue.tell(event, before, after, among)

    def of_arrival(self, info: PodInfo, node_name: str) -> None:
        """Tell that a pod is bound to a node."""
        self._note(ASSIGNED_POD_ADD, info.key)
        if self._queue.hears(ASSIGNED_POD_ADD):
            self._queue.tell(ASSIGNED_POD_ADD, None, placed(info, node_name))

    def of_departure(self, info: PodInfo, node_name: str, among: Among | None = None) -> None:
        """Tell that a pod has left a node, or is not assumed to be there any more."""
        self._note(ASSIGNED_POD_DELETE, info.key)
        if self._queue.hears(ASSIGNED_POD_DELETE):
            self._queue.tell(ASSIGNED_POD_DELETE, placed(info, node_name), None, among)

    def of_objects(self, generation: int) -> None:
        """Tell of objects that are neither pods nor nodes and have changed since a generation of the cluster."""
        if generation == self._cluster.generation:
            return
        for change in self._cluster.changes_since(generation) or ():
            resource = RESOURCES.get(type(change.subject)) if change.kind is ChangeKind.OBJECT else None
            if resource is None:
                continue
            if change.before is change.subject:
                self.tell(ClusterEvent(resource, Action.DELETE), change.before, None)
            elif change.before is None:
                self.tell(ClusterEvent(resource, Action.ADD), None, change.subject)
            elif change.before != change.subject:
                self.tell(ClusterEvent(resource, Action.UPDATE), change.before, change.subject)

    def _note(self, event: ClusterEvent, subject: str) -> None:
        if self._record is not None:
            self._record(Happened(self._queue.clock.now, event.label, subject))


def _name(obj: Any) -> str:
    if isinstance(obj, PodInfo):
        return obj.key
    metadata = obj.metadata
    return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name

"""Dispatches each change of the cluster as a cluster event: to plugins, to the queue, and into the timeline.

Plugins see what an informer would show them; what goes on in the memory of kube-scheduler only, such as a pod that is
not assumed any more, reaches the queue alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from schedctl.api.pod_groups import PodGroup
from schedctl.cache.changes import ChangeKind
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.handles import ProfileHandle
from schedctl.engine.queue.entries import QueuedPod
from schedctl.engine.queue.group_queue import GroupQueue
from schedctl.engine.queue.queues import SchedulingQueue
from schedctl.framework import events
from schedctl.simulation.pod_state import pod_on_node
from schedctl.simulation.timeline import AnyRecord, Happened

PodPredicate = Callable[[QueuedPod], bool]
"""Says which pods an event could help at all."""


class EventDispatcher:
    """Tells one queue, and the plugins behind some handles, of what happens to one cluster."""

    def __init__(
        self,
        queue: SchedulingQueue,
        cluster: Cluster,
        record: Callable[[AnyRecord], None] | None = None,
        handles: Collection[ProfileHandle] = (),
    ) -> None:
        self._queue = queue
        self._cluster = cluster
        self._record = record
        self._handles = handles

    def dispatch(self, event: events.ClusterEvent, before: Any, after: Any, among: PodPredicate | None = None) -> None:
        """Tell of an event, with the object before and after; see `SchedulingQueue.tell`."""
        self.dispatch_to_plugins(event, before, after)
        self.dispatch_to_queue(event, before, after, among)

    def dispatch_to_queue(
        self, event: events.ClusterEvent, before: Any, after: Any, among: PodPredicate | None = None
    ) -> None:
        """Tell the queue alone of an event."""
        self._record_event(event, _name(before if after is None else after))
        if self._queue.reacts_to(event):
            self._queue.tell(event, before, after, among)

    def dispatch_to_plugins(self, event: events.ClusterEvent, before: Any, after: Any) -> None:
        """Tell the plugins that listen, and nobody else, of an event."""
        for handle in self._handles:
            handle.tell(event, before, after)

    def dispatch_arrival(self, info: PodInfo, node_name: str) -> None:
        """Tell that a pod is bound to a node."""
        if self._has_listeners:  # where nobody listens, the pod with its node need not be made
            self.dispatch_to_plugins(events.ASSIGNED_POD_ADD, None, pod_on_node(info, node_name))
        self._record_event(events.ASSIGNED_POD_ADD, info.key)
        if self._queue.reacts_to(events.ASSIGNED_POD_ADD):
            self._queue.tell(events.ASSIGNED_POD_ADD, None, pod_on_node(info, node_name))

    def dispatch_departure(self, info: PodInfo, node_name: str) -> None:
        """Tell that a pod has left a node."""
        if self._has_listeners:
            self.dispatch_to_plugins(events.ASSIGNED_POD_DELETE, pod_on_node(info, node_name), None)
        self.dispatch_release(info, node_name)

    def dispatch_release(self, info: PodInfo, node_name: str, *, to_itself: bool = True) -> None:
        """Tell the queue that a pod has left a node, or is not assumed to be there any more.

        Args:
            info: the pod.
            node_name: the node.
            to_itself: whether the pod is told, too, where it is back in the queue.
        """
        self._record_event(events.ASSIGNED_POD_DELETE, info.key)
        if self._queue.reacts_to(events.ASSIGNED_POD_DELETE):
            among = None if to_itself else lambda other: other.info.uid != info.uid
            self._queue.tell(events.ASSIGNED_POD_DELETE, pod_on_node(info, node_name), None, among)

    @property
    def _has_listeners(self) -> bool:
        return any(handle.has_listeners for handle in self._handles)

    def dispatch_objects(self, generation: int) -> None:
        """Tell of objects that are neither pods nor nodes and have changed since a generation of the cluster."""
        if generation >= self._cluster.objects_since:
            return
        for change in self._cluster.changes_since(generation) or ():
            # pods and nodes are told of where they change, with the events that they make
            resource = events.RESOURCES.get(type(change.subject)) if change.kind is ChangeKind.OBJECT else None
            if resource is None:
                continue
            if isinstance(change.subject, PodGroup):
                self._tell_of_group(change.subject, removed=change.before is change.subject)
            if change.before is change.subject:
                self.dispatch(events.ClusterEvent(resource, events.Action.DELETE), change.before, None)
            elif change.before is None:
                self.dispatch(events.ClusterEvent(resource, events.Action.ADD), None, change.subject)
            elif change.before != change.subject:
                self.dispatch(events.ClusterEvent(resource, events.Action.UPDATE), change.before, change.subject)

    def _tell_of_group(self, group: PodGroup, *, removed: bool) -> None:
        """Let the queue know of a group before pods hear of it."""
        if isinstance(self._queue, GroupQueue):
            (self._queue.remove_group if removed else self._queue.put_group)(group)

    def _record_event(self, event: events.ClusterEvent, subject: str) -> None:
        if self._record is not None:
            self._record(Happened(self._queue.clock.now, event.label_in(self._cluster.release), subject))


def _name(obj: Any) -> str:
    if isinstance(obj, PodInfo):
        return obj.key
    metadata = obj.metadata
    return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name

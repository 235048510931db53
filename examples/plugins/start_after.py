"""StartAfter: a PreFilter that keeps an order of starting, and wakes whoever waited by listening to the cluster.

For pods that crash until their database is there. A pod names by the annotation ``order.example.com/after`` the value
of the label ``app`` of pods in its namespace, one of which must have a node before it gets one.

Extension points: ``preFilter``; it also uses ``Handle.listen`` and ``Handle.activate``::

    schedctl simulate app.yaml -f cluster.yaml --plugin examples/plugins/start_after.py
"""

from __future__ import annotations

from typing import Any

from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.cycles import Cycle
from schedctl.framework.events import ASSIGNED_POD_ADD, ClusterEvent, Registration
from schedctl.framework.handles import Handle
from schedctl.framework.points import PreFilterPlugin
from schedctl.framework.reasons import Reason
from schedctl.framework.statuses import Status

AFTER, LABEL = "order.example.com/after", "app"


class StartAfter(PreFilterPlugin):
    """Refuses a pod until one it depends on has a node."""

    first = Reason("waits for a pod with {label}={app} to start", unresolvable=True)

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        # instead of an event to register: pods that are activated are spared the rest of their backoff
        handle.listen(ASSIGNED_POD_ADD, self._started)

    def signature(self, pod: PodInfo) -> tuple[str, str]:
        """Whom it waits for, and where."""
        return pod.namespace, _awaited(pod)

    def events_to_register(self) -> tuple[Registration, ...]:
        """None: whoever waits is activated."""
        return ()

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Look for a pod that is awaited among those with a node."""
        awaited = _awaited(cycle.pod)
        if not awaited or any(_frees(cycle.pod, other) for other in self.handle.cluster.pod_table):
            return None
        return self.first.status(label=LABEL, app=awaited)

    def _started(self, event: ClusterEvent, before: PodInfo | None, after: PodInfo) -> None:
        """Activate the pods that waited for a pod that has a node now."""
        self.handle.activate([pod for pod in self.handle.cluster.pending.values() if _frees(pod, after)])


def _awaited(pod: PodInfo) -> str:
    return (pod.pod.metadata.annotations or {}).get(AFTER, "")


def _frees(pod: PodInfo, started: PodInfo) -> bool:
    """Return whether a pod waits for another."""
    awaited = _awaited(pod)
    return bool(awaited) and started.namespace == pod.namespace and started.labels.get(LABEL) == awaited

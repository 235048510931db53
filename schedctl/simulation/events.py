"""What happens to a cluster during a run that the scheduler does not do itself.

A `SimulatedEvent` is something at a time: a pod or node comes, changes or goes. A `Controller` answers what the run
does with further events, as the controllers of Kubernetes do: it is told when pods are bound, told to go, and gone, and
may have replacements made, the next ordinal, or the next step of a rollout.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

import msgspec

from schedctl.cache.pod_info import PodInfo


class EventAction(Enum):
    """What is done to an object."""

    PUT = "put"
    DELETE = "delete"


class SimulatedEvent(msgspec.Struct, frozen=True):
    """Something done to one object.

    Putting an object adds it, or replaces the one of its name: a pod without a node joins the queue, one with a node
    runs there; a changed pending pod is put as a new `PodInfo`. A deleted pod that runs is gone after its grace period,
    any other object at once, a node with all its pods.

    Attributes:
        subject: a `PodInfo`, a `Node`, or any other API struct.
        action: what is done.
        at: when, in seconds since the run began; in an answer of a `Controller`, how much later.
        grace: of a deleted pod, its grace period in seconds; None for the pod's own.
    """

    subject: Any
    action: EventAction = EventAction.PUT
    at: float = 0.0
    grace: float | None = None


class Controller:
    """Answers what a run does; here with nothing. Inherit and override what is to be answered.

    Pods are told of as they are then, with their deletion time; one that is bound as it was in the queue.
    """

    def on_start(self) -> None:
        """Called before the first pod is scheduled; may change objects that are neither pods nor nodes."""

    def on_object(self, obj: Any) -> None:
        """Called when an object that is neither pod nor node was put or deleted; may change other such objects."""

    def on_arrival(self, pod: PodInfo) -> None:
        """Called before a pod without a node joins the queue for the first time."""

    def on_bound(self, pod: PodInfo, node_name: str) -> Iterable[SimulatedEvent]:
        """Called when a pod is bound."""
        return ()

    def on_eviction(self, pod: PodInfo, node_name: str) -> Iterable[SimulatedEvent]:
        """Called when a running pod is told to go, by preemption or an event."""
        return ()

    def on_deletion(self, pod: PodInfo, node_name: str) -> Iterable[SimulatedEvent]:
        """Called when a pod has left the cluster; `node_name` is "" if it never ran.

        May change objects that are neither pods nor nodes, such as claims of the pod.
        """
        return ()

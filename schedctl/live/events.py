"""What schedulers have recorded about pods: the events of one reason, of one pod or of all.

An event that cannot be understood is left out and counted: one recorder's oddity takes nobody's history away.
"""

from __future__ import annotations

import socket
import time
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import quote

from schedctl.api.events import SCHEDULED, Event
from schedctl.api.pods import Pod
from schedctl.errors import ClusterError
from schedctl.live.connections import Connection
from schedctl.live.journal import Journal
from schedctl.live.objects import decode
from schedctl.live.pages import pages


class PodEvents(NamedTuple):
    """What was recorded.

    Attributes:
        events: in the order in which they happened first.
        unreadable: how many more there are that cannot be understood.
    """

    events: list[Event]
    unreadable: int = 0

    @property
    def note(self) -> str:
        """What is to be said of the events that are left out, "" where none are."""
        return f"{self.unreadable} of the events cannot be read and are ignored" if self.unreadable else ""


def read_events(connection: Connection, reason: str, pod: Pod | None = None) -> PodEvents:
    """Return the events about pods with a reason.

    Args:
        connection: the cluster.
        reason: ``FailedScheduling`` or ``Scheduled``.
        pod: the pod they are about, known by its uid; None for all pods.

    Raises:
        ClusterError: they cannot be listed.
    """
    path = f"/api/v1/namespaces/{pod.metadata.namespace}/events" if pod is not None else "/api/v1/events"
    about = f"involvedObject.uid={pod.metadata.uid}" if pod is not None else "involvedObject.kind=Pod"
    found, unreadable = [], 0
    for page in pages(connection, path, {"fieldSelector": f"{about},reason={reason}"}):
        for item in page.items:
            try:
                # One at a time and not by the typed client, which refuses a whole list for one event without
                # ``eventTime``; there are recorders that write none.
                event: Event = decode(item, Event)
            except ClusterError:
                unreadable += 1
            else:
                found.append(event)
    return PodEvents(sorted(found, key=lambda event: (event.first, event.metadata.name)), unreadable)


CONTROLLER = "schedctl"
"""The ``reportingController`` of our events, which tells them from a scheduler's."""


_VERSION = "events.k8s.io/v1"


_LONGEST_NAME = 253


_LONGEST_INSTANCE = 128


def record_scheduled(journal: Journal, pod: Pod, node: str) -> None:
    """Record that a pod was assigned to a node.

    Raises:
        ClusterError: it could not be recorded.
    """
    metadata, nanoseconds = pod.metadata, time.time_ns()
    at = datetime.fromtimestamp(nanoseconds / 10**9, UTC).isoformat(timespec="microseconds")
    end = f".{nanoseconds:x}"
    event = {
        "apiVersion": _VERSION,
        "kind": "Event",
        "metadata": {
            # As client-go's recorder names events: the name of the pod and the time, in hexadecimal.
            "name": metadata.name[: _LONGEST_NAME - len(end)].rstrip("-.") + end,
            "namespace": metadata.namespace,
        },
        "eventTime": at.replace("+00:00", "Z"),
        "reportingController": CONTROLLER,
        "reportingInstance": f"{CONTROLLER}-{socket.gethostname()}"[:_LONGEST_INSTANCE],
        "action": "Binding",
        "reason": SCHEDULED,
        "regarding": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": metadata.namespace,
            "name": metadata.name,
            "uid": metadata.uid,
        },
        "note": f"Successfully assigned {pod.key} to {node}",
        "type": "Normal",
    }
    journal.send("POST", f"/apis/{_VERSION}/namespaces/{quote(metadata.namespace, safe='')}/events", event)

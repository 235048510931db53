"""What schedulers have recorded about pods: the events of one reason, of one pod or of all.

They are read as raw JSON. The typed client refuses a whole list for one event without ``eventTime``, and there are
recorders that write none. An event that cannot be understood is left out and counted: one recorder's oddity takes
nobody's history away.
"""

from __future__ import annotations

from typing import NamedTuple

from schedctl.api.events import Event
from schedctl.api.pods import Pod
from schedctl.errors import ClusterError
from schedctl.live.connections import Connection
from schedctl.live.pages import pages
from schedctl.live.sightings import read


class Recorded(NamedTuple):
    """What was recorded.

    Attributes:
        events: in the order in which they happened first.
        odd: how many more there are that cannot be understood.
    """

    events: list[Event]
    odd: int = 0

    @property
    def note(self) -> str:
        """What is to be said of the events that are left out, "" where none are."""
        return f"{self.odd} of the events cannot be understood, and are left out" if self.odd else ""


def recorded(connection: Connection, reason: str, pod: Pod | None = None) -> Recorded:
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
    found, odd = [], 0
    for page in pages(connection, path, {"fieldSelector": f"{about},reason={reason}"}):
        for item in page.items:
            try:
                event: Event = read(item, Event)
            except ClusterError:
                odd += 1
            else:
                found.append(event)
    return Recorded(sorted(found, key=lambda event: (event.first, event.metadata.name)), odd)

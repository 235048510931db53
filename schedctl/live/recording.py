"""The event that says who put a pod where, worded as kube-scheduler words it."""

from __future__ import annotations

import socket
import time
from datetime import UTC, datetime
from urllib.parse import quote

from schedctl.api.events import SCHEDULED
from schedctl.api.pods import Pod
from schedctl.live.journal import Journal

CONTROLLER = "schedctl"
"""The ``reportingController`` of our events, which tells them from a scheduler's."""
_VERSION = "events.k8s.io/v1"
_LONGEST_NAME = 253
_LONGEST_INSTANCE = 128


def record(journal: Journal, pod: Pod, node: str) -> None:
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

"""How many pods workloads report to have, by their status: a state that holds none of these pods is not all of it.

Scheduling reads no status of a workload, so it is looked at beside the object that `objects` makes.
"""

from __future__ import annotations

from typing import Any

import msgspec

from schedctl.sources.objects import Body

_FIELDS = {
    "Deployment": "replicas",
    "ReplicaSet": "replicas",
    "ReplicationController": "replicas",
    "StatefulSet": "replicas",
    "DaemonSet": "currentNumberScheduled",
    "Job": "active",
}
"""The field of the status that counts pods, by kind."""


class _Reporting(msgspec.Struct):
    status: dict[str, Any] | None = None


def reported_pods(body: Body, kind: str) -> int:
    """Return how many pods the status of a workload counts, 0 where it does not say."""
    field = _FIELDS.get(kind)
    if field is None:
        return 0
    try:
        status = (
            msgspec.convert(body, _Reporting) if isinstance(body, dict) else msgspec.json.decode(body, type=_Reporting)
        ).status
    except (msgspec.ValidationError, msgspec.DecodeError, RecursionError):
        return 0
    count = (status or {}).get(field)
    return count if isinstance(count, int) and count > 0 else 0

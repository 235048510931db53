"""How many pods workloads report to have, by their status: a state that holds none of these pods is not all of it.

Scheduling reads no status of a workload, so it is looked at beside the object that `objects` makes.
"""

from __future__ import annotations

from collections.abc import Iterable
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


_OF_OPERATORS = ("replicas", "readyReplicas", "availableReplicas", "currentReplicas", "instances", "readyInstances")
"""The fields of the status by which resources of operators count pods."""


class _Reporting(msgspec.Struct):
    status: dict[str, Any] | None = None


def reported_pods(body: Body, kind: str) -> int:
    """Return how many pods the status of a workload counts, 0 where it does not say."""
    field = _FIELDS.get(kind)
    return 0 if field is None else _largest(_status(body), (field,))


def reported_by_operator(body: Body) -> int:
    """Return how many pods the status of a resource of an operator counts, 0 where it does not say."""
    return _largest(_status(body), _OF_OPERATORS)


def _status(body: Body) -> dict[str, Any]:
    try:
        status = (
            msgspec.convert(body, _Reporting) if isinstance(body, dict) else msgspec.json.decode(body, type=_Reporting)
        ).status
    except (msgspec.ValidationError, msgspec.DecodeError, RecursionError):
        return {}
    return status or {}


def _largest(status: dict[str, Any], fields: Iterable[str]) -> int:
    counts = [status.get(field) for field in fields]
    return max((count for count in counts if isinstance(count, int) and not isinstance(count, bool)), default=0)

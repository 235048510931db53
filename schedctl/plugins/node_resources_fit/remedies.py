"""What would undo a rejection of NodeResourcesFit: a pod that asks for less, or not at all."""

from __future__ import annotations

from typing import Any

from schedctl.api.resources import is_scalar
from schedctl.framework.pod_edits import map_requests
from schedctl.framework.pod_remedies import lower_request
from schedctl.framework.remedies import Rejection, Remedies, Remedy, edit_pod


def remedies(rejection: Rejection) -> Remedies:
    """Return that the pod asks for what is left; for nothing of it where nothing is."""
    if rejection.reference != "node-resources-fit/insufficient":
        return []
    evidence = rejection.evidence
    resource, free = evidence["resource"], evidence["capacity"] - evidence["used"]
    if free > 0:
        return [lower_request(resource, free)]
    return [] if is_scalar(resource) else [_drop_request(resource)]


def _drop_request(resource: str) -> Remedy:
    def drop(requests: dict[str, Any]) -> dict[str, Any]:
        return {name: requests[name] for name in requests if name != resource}

    return Remedy(
        "drop-request",
        f"it did not ask for {resource}",
        edit_pod(lambda pod: map_requests(pod, drop)),
        effort=5,
        subject=resource,
    )

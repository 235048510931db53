"""What would undo a rejection of NodeResourcesFit: a quantity as it was meant, a smaller request, or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schedctl.api.pods import Pod
from schedctl.api.resources import is_extended
from schedctl.framework.pod_edits import map_requests
from schedctl.framework.pod_remedies import lower_request
from schedctl.framework.remedies import Reach, Rejection, Remedies, Remedy, edit_pod
from schedctl.plugins.node_resources_fit.slips import Slip, correct, subject


def remedies(pod: Pod, rejection: Rejection) -> Remedies:
    """Return that the pod asks for what it was meant to, or for what is left; for nothing of it where nothing is."""
    if rejection.reference != "node-resources-fit/insufficient":
        return []
    evidence = rejection.evidence
    resource, free = evidence["resource"], evidence["capacity"] - evidence["used"]
    slips = [Slip(**each) for each in evidence.get("slips") or ()]
    meant = [_correct(pod, resource, slips)] if slips else []
    if free > 0:
        return [*meant, lower_request(resource, free, pod)]
    # Of devices that no node has left there is no advice to ask for none: the pod would not do what it is for.
    return meant if is_extended(resource) else [*meant, _drop_request(resource)]


def _correct(pod: Pod, resource: str, slips: Sequence[Slip]) -> Remedy:
    return Remedy(
        "correct-quantity",
        " and ".join(f"{subject(pod, resource, slip)} has {resource}: {slip.meant}" for slip in slips),
        edit_pod(lambda pod: correct(pod, resource, slips)),
        effort=0,
        subject=resource,
        size=0,
    )


def _drop_request(resource: str) -> Remedy:
    def drop(requests: dict[str, Any]) -> dict[str, Any]:
        return {name: requests[name] for name in requests if name != resource}

    return Remedy(
        "drop-request",
        f"it does not request {resource}",
        edit_pod(lambda pod: map_requests(pod, drop)),
        effort=5,
        reach=Reach.RULE,
        subject=resource,
    )

"""Edits of a pod that remedies, what-ifs and explanations share, as functions from a pod to the changed pod."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from schedctl.api import pods

_replace = msgspec.structs.replace


def as_pending(pod: pods.Pod) -> pods.Pod:
    """Return a pod as it was before it was bound: on no node, and with nothing in its status but its claims' names."""
    status = pods.PodStatus(
        phase="Pending",
        resource_claim_statuses=pod.status.resource_claim_statuses,
        extended_resource_claim_status=pod.status.extended_resource_claim_status,
    )
    return _replace(pod, spec=_replace(pod.spec, node_name=""), status=status)


def with_scheduler(pod: pods.Pod, name: str) -> pods.Pod:
    """Return a pod that asks for a scheduler by its name; "" leaves it with the one it asks for."""
    return _replace(pod, spec=_replace(pod.spec, scheduler_name=name)) if name else pod


def map_requests(pod: pods.Pod, change: Callable[[pods.ResourceList], pods.ResourceList]) -> pods.Pod:
    """Return a pod with the requests of the pod itself and of each container changed."""

    def resources(written: pods.ResourceRequirements | None) -> pods.ResourceRequirements | None:
        return _replace(written, requests=change(written.requests)) if written and written.requests else written

    def containers(written: list[pods.Container] | None) -> list[pods.Container] | None:
        return [_replace(each, resources=resources(each.resources)) for each in written or ()] or None

    spec = pod.spec
    changed = _replace(
        spec,
        containers=containers(spec.containers),
        init_containers=containers(spec.init_containers),
        resources=resources(spec.resources),
    )
    return _replace(pod, spec=changed)

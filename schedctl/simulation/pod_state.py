"""Pods as a run changes them: bound to a node, or terminating; and the dates that takes."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import msgspec

from schedctl.api.pods import PodCondition
from schedctl.cache.pod_info import PodInfo

DEFAULT_GRACE = 30.0
"""The grace period of a pod that states none, in seconds."""
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
"""The date of the clock's zero, where an object needs one."""
_replace = msgspec.structs.replace


def pod_on_node(info: PodInfo, node_name: str) -> PodInfo:
    """Return a pod bound to a node."""
    pod = info.pod
    if pod.spec.node_name == node_name:
        return info
    if pod.status.nominated_node_name:
        pod = _replace(pod, status=_replace(pod.status, nominated_node_name=""))
    return info.as_now(_replace(pod, spec=_replace(pod.spec, node_name=node_name)))


def nominated_pod(info: PodInfo, node_name: str) -> PodInfo:
    """Return a pod nominated to a node, "" for none."""
    return info.as_now(_replace(info.pod, status=_replace(info.pod.status, nominated_node_name=node_name)))


def terminating_pod(info: PodInfo, until: float, grace: float, *, preempted: bool) -> PodInfo:
    """Return a running pod as it is once it has been told to go: `until` a time, after a grace period in seconds."""
    pod = info.pod
    written = (_BEGINNING + timedelta(seconds=until)).strftime("%Y-%m-%dT%H:%M:%SZ")
    metadata = _replace(pod.metadata, deletion_timestamp=written, deletion_grace_period_seconds=math.ceil(grace))
    status = pod.status
    if preempted:
        others = [condition for condition in status.conditions or () if condition.type != "DisruptionTarget"]
        evicted = PodCondition(type="DisruptionTarget", status="True", reason="PreemptionByScheduler")
        status = _replace(status, conditions=[*others, evicted])
    return info.as_now(_replace(pod, metadata=metadata, status=status))


def grace_period(info: PodInfo) -> float:
    """Return how many seconds a pod takes to go."""
    stated = info.pod.spec.termination_grace_period_seconds
    return DEFAULT_GRACE if stated is None else float(stated)


def remaining_grace_period(info: PodInfo) -> float:
    """Return how many seconds a pod that terminates already has left: what its deletion stated, else its own."""
    stated = info.pod.metadata.deletion_grace_period_seconds
    return grace_period(info) if stated is None else float(stated)

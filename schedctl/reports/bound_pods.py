"""`BoundPod`: where a pod is whose scheduling is done, and what the kubelet says of it."""

from __future__ import annotations

from typing import Literal

from schedctl.reports.metadata import Record


class ContainerReport(Record, frozen=True):
    """What the kubelet says of one container.

    Attributes:
        name: the container.
        init: whether it is an init container that has to end before the others start; a sidecar has not.
        state: ``Waiting``, ``Running`` or ``Terminated``; ``Unknown`` where the state of the cluster does not say.
        reason, message: the kubelet's, "" where it gives none.
        exit_code: with which it ended, null unless it is terminated.
        restarts: how often it was restarted.
        last_reason, last_exit_code: how it ended before it was restarted; "" and null where it was not.
        image: of the pod's spec.
    """

    name: str
    init: bool
    state: Literal["Waiting", "Running", "Terminated", "Unknown"]
    reason: str = ""
    message: str = ""
    exit_code: int | None = None
    restarts: int = 0
    last_reason: str = ""
    last_exit_code: int | None = None
    image: str = ""


class FalseCondition(Record, frozen=True):
    """A condition of the pod that is False.

    Attributes:
        type: of the condition.
        reason, message: why, "" if it is not known.
    """

    type: str
    reason: str = ""
    message: str = ""


class BoundPod(Record, frozen=True):
    """A pod that has a node.

    Attributes:
        node: its node.
        node_exists: whether the cluster has that node.
        node_ready: the status of the node's Ready condition: ``True``, ``False`` or ``Unknown``; "" if it is not known.
        running: whether all of its containers run, as far as the state of the cluster says.
        phase: of the pod, "" where the state of the cluster does not say.
        reason, message: why the pod is in its phase, "" if it is not known.
        since: when the kubelet started it, RFC 3339; "" where it has not, or where the pods of one answer differ.
        deleted: when its deletion was asked for, RFC 3339; "" where it was not.
        cause: what keeps it from running, in a few words; "" where nothing does or it is not known.
        containers: init containers first; empty where the kubelet has not reported any.
        conditions: of the pod, those that are False.
        nodes: the node of each pod that the answer holds for, in the order of its ``pods``.
    """

    node: str
    node_exists: bool
    node_ready: str
    running: bool
    phase: str = ""
    reason: str = ""
    message: str = ""
    since: str = ""
    deleted: str = ""
    cause: str = ""
    containers: list[ContainerReport] = []
    conditions: list[FalseCondition] = []
    nodes: list[str] = []

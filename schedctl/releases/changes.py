"""What kube-scheduler decides or says otherwise since a minor version, where no feature gate switches it.

Each is a value that a plugin asks its `Release` for when it is made; docs/kube-versions.md lists them with the gates.
"""

from __future__ import annotations

from enum import Enum


class ReleaseChange(Enum):
    """One change: since when, and what it is, in words."""

    def __init__(self, since: tuple[int, int], text: str) -> None:
        self.since = since
        self.text = text

    SCORED_DEVICES = (1, 35), "DynamicResources scores nodes: the earlier an alternative of a request, the better"
    NODE_NAME_FIRST = (1, 37), "NodeName is asked before NodeUnschedulable, and names the reason where both refuse"
    UNNAMED_FEATURES = (1, 36), "nodes without a declared feature are refused without naming the feature"
    HOST_USER_NAMESPACES = (1, 36), "user namespaces on the host network need the node's declared feature"
    BIND_MOUNT_OPTIONS = (1, 37), "bind mount options need the node's declared feature"
    OPT_IN_DRIVERS = (1, 36), "a missing CSI driver refuses a node only if it asks for that"
    SILENT_DEVICES = (1, 37), "a PostFilter that finds nothing to deallocate says nothing"

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
    RESIZED_SUMS = (1, 37), "of a resized pod the largest sum counts, of what is asked, granted and in use"
    IMAGE_VOLUMES = (1, 36), "ImageLocality counts the images of volumes"
    IMAGES_OF_ALL = (1, 37), "ImageLocality's score is relative to all images, those of volumes among them"
    PREEMPTION_MESSAGE = (1, 37), "a preemption that found room says so in the event"
    DEVICE_ERRORS = (1, 37), "errors of device allocation name the device; capacity that cannot be worked out is one"
    COMPATIBILITY_GROUPS = (1, 37), "a slice with compatibility groups is left out, so that its pool is incomplete"
    COUNTERS_BY_NODE = (1, 37), "shared counters count for the nodes that reach their slice"
    WHOLE_REQUESTS = (1, 37), "a request for all devices fails when one of them has no capacity left"
    ALL_SHARES = (1, 37), "a device shared without taking capacity has drawn on its counters"
    BALANCE_IMPROVEMENT = (1, 36), "NodeResourcesBalancedAllocation rates how much the pod evens out the use of a node"
    PLAIN_ALLOCATOR = (1, 35), "the status of devices alone does not ask for the experimental allocator"
    CAPITAL_POD = (1, 36), "a claim made for another pod is told with a capital Pod"
    WHOLE_POOLS = (1, 35), "a pool of devices is judged by all its slices, not only by those that a node reaches"
    PAIRED_ALLOCATIONS = (1, 36), "a pod that has some of its claims and is to get others is scored, not an error"
    SPARED_VICTIMS = (1, 35), "victims that are on their way out already are not deleted again"
    DISTINCT_VALUES = (1, 35), "distinctAttribute of a claim compares values; before, any two devices are distinct"
    GATED_TAINT_RULES = (1, 35), "DeviceTaintRules have a feature gate of their own beside that of device taints"

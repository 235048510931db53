"""What the device allocator of a release does otherwise than the newest: gates of KEP-4381's family, and changes.

`pools`, `eligibility` and `search` ask for it by name; it is worked out once for a cluster.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from schedctl.releases import Release, ReleaseChange


class DeviceFeatures(NamedTuple):
    """How devices are allocated.

    Attributes:
        taints: whether taints of devices keep claims away (DRADeviceTaints).
        taint_rules: whether DeviceTaintRules add taints (DRADeviceTaintRules).
        partitions: whether slices may share counters and choose nodes by device (DRAPartitionableDevices).
        shares: whether several claims may share a device, and ask for capacity (DRAConsumableCapacity).
        conditions: whether devices may have binding conditions (DRADeviceBindingConditions).
        amounts: whether the variant of the allocator that runs knows amounts of capacity and distinct attributes.
        distinct_values: whether distinct attributes are compared by value.
        groups: whether slices with compatibility groups are recognized, and left out.
        whole_pools: whether a pool is judged by all its slices; else by those that a node reaches, and its devices are
            counted even where some are missing, and an invalid pool ends the cycle.
        counters_by_node: whether slices with counters count only where they are reached.
        counters_by_name: whether pools of several drivers that have one name share the counters of the first one asked.
        named_errors: whether errors name the device, and how much of the claim's limit is left.
        capacity_errors: whether capacity that cannot be worked out ends the cycle; else the device is passed over.
        whole_requests: whether a request for all devices needs those that have nothing left to share.
        all_shares: whether a device counts as shared that others hold without taking capacity.
    """

    taints: bool = True
    taint_rules: bool = True
    partitions: bool = True
    shares: bool = True
    conditions: bool = True
    amounts: bool = True
    distinct_values: bool = True
    groups: bool = True
    whole_pools: bool = True
    counters_by_node: bool = True
    counters_by_name: bool = False
    named_errors: bool = True
    capacity_errors: bool = True
    whole_requests: bool = True
    all_shares: bool = True


@lru_cache(maxsize=64)
def features_of(release: Release) -> DeviceFeatures:
    """Return how a release allocates devices."""
    taints = release.enabled("DRADeviceTaints")
    gated_rules = release.includes(ReleaseChange.GATED_TAINT_RULES)
    shares = release.enabled("DRAConsumableCapacity")
    status = release.enabled("DRAResourceClaimDeviceStatus")
    conditions = release.enabled("DRADeviceBindingConditions") and status
    whole_pools = release.includes(ReleaseChange.WHOLE_POOLS)
    newest = release.includes(ReleaseChange.DEVICE_ERRORS)
    return DeviceFeatures(
        taints=taints,
        taint_rules=taints and (release.enabled("DRADeviceTaintRules") or not gated_rules),
        partitions=release.enabled("DRAPartitionableDevices"),
        shares=shares,
        conditions=conditions,
        # kube-scheduler has three allocators, and takes the oldest that has all the features that are on
        amounts=shares or conditions or (status and not release.includes(ReleaseChange.PLAIN_ALLOCATOR)),
        distinct_values=release.includes(ReleaseChange.DISTINCT_VALUES),
        groups=release.includes(ReleaseChange.COMPATIBILITY_GROUPS),
        whole_pools=whole_pools,
        counters_by_node=release.includes(ReleaseChange.COUNTERS_BY_NODE) or not whole_pools,
        counters_by_name=whole_pools and not release.includes(ReleaseChange.COUNTERS_BY_DRIVER),
        named_errors=newest,
        capacity_errors=newest,
        whole_requests=release.includes(ReleaseChange.WHOLE_REQUESTS),
        all_shares=release.includes(ReleaseChange.ALL_SHARES),
    )

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
        unselective_rules: whether a DeviceTaintRule without a selector taints every device; else it taints none.
        rule_selectors: whether DeviceTaintRules may choose devices by class and by CEL.
        partitions: whether slices may share counters and choose nodes by device (DRAPartitionableDevices).
        shares: whether several claims may share a device, and ask for capacity (DRAConsumableCapacity).
        conditions: whether devices may have binding conditions (DRADeviceBindingConditions).
        amounts: whether the variant of the allocator that runs knows amounts of capacity and distinct attributes.
        fractions: whether amounts are rounded in thousandths (DRAFractionalCapacityRange).
        admin: whether requests may name admin access (DRAAdminAccess).
        alternatives: whether requests may have alternatives (DRAPrioritizedList).
        distinct_values: whether distinct attributes are compared by value.
        forgets: whether constraints forget devices that were chosen before the last of a request.
        known_lists: whether selectors see attributes that are lists; else those have no value.
        lists: whether constraints compare lists (DRAListTypeAttributes).
        known_derivations: whether requests may derive attributes; else that they do goes unnoticed.
        derivations: whether those are derived; else the request is refused (DRADerivedAttributes).
        groups: whether slices with compatibility groups are left out.
        common_groups: whether devices that draw on the same counters need a group in common, or none has any
            (DRADeviceCompatibilityGroups).
        known_operations: whether devices may need no work on the node.
        reads_operations: whether such devices are noticed when one is given out.
        operations: whether such devices are given out on nodes that know of them (DRAOptionalNodeOperations).
        whole_pools: whether a pool is judged by all its slices; else by those that a node reaches, and its devices are
            counted even where some are missing, and an invalid pool ends the cycle.
        counters_by_node: whether slices with counters count only where they are reached.
        counters_by_name: whether pools of several drivers that have one name share the counters of the first one asked.
        named_errors: whether errors name the device, and how much of the claim's limit is left.
        capacity_errors: whether capacity that cannot be worked out ends the cycle; else the device is passed over.
        whole_requests: whether a request for all devices needs those that have nothing left to share.
        all_shares: whether a device counts as shared that others hold without taking capacity.
        all_taints: whether taints of every effect count, not only of those known.
        counters_by_slice: whether devices draw on the counters of their slice, not of their pool.
        counted_shares: whether devices that are shared have used counters, not only those held whole.
        every_share: whether every share draws on counters, not only the first one of a device.
        own_capacity: whether the capacity of the device itself is checked when it is taken; else that of another one in
            its slice.
        names_subrequests: whether the error about capacity in an alternative names it, not the request it belongs to.
        own_alternatives: whether alternatives for all devices keep to their own selectors and devices.
        one_order: whether the devices of a request are tried in one order, so that no set of them comes twice.
        clean_refusals: whether devices that are refused or given up give back all that they took.
        pool_of_all: whether it is known of which pool the devices are that a request for all of them takes; else
            kube-scheduler crashes where they draw on counters.
        charges: whether devices may take some of their node's own resources (DRANodeAllocatableResources).
    """

    taints: bool = True
    taint_rules: bool = True
    unselective_rules: bool = False
    rule_selectors: bool = False
    partitions: bool = True
    shares: bool = True
    conditions: bool = True
    amounts: bool = True
    fractions: bool = False
    admin: bool = True
    alternatives: bool = True
    distinct_values: bool = True
    forgets: bool = False
    known_lists: bool = True
    lists: bool = False
    known_derivations: bool = True
    derivations: bool = False
    groups: bool = True
    common_groups: bool = False
    known_operations: bool = True
    reads_operations: bool = False
    operations: bool = False
    whole_pools: bool = True
    counters_by_node: bool = True
    counters_by_name: bool = False
    named_errors: bool = True
    capacity_errors: bool = True
    whole_requests: bool = True
    all_shares: bool = True
    all_taints: bool = False
    counters_by_slice: bool = False
    counted_shares: bool = True
    every_share: bool = False
    own_capacity: bool = True
    names_subrequests: bool = True
    own_alternatives: bool = True
    one_order: bool = True
    clean_refusals: bool = True
    pool_of_all: bool = True
    charges: bool = False


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
    listed = release.enabled("DRAListTypeAttributes")
    lists = listed and release.includes(ReleaseChange.LIST_ATTRIBUTES)
    derivations = release.enabled("DRADerivedAttributes")
    common_groups = release.enabled("DRADeviceCompatibilityGroups")
    operations = release.enabled("DRAOptionalNodeOperations")
    known_operations = release.includes(ReleaseChange.NODE_OPERATIONS)
    fractions = release.enabled("DRAFractionalCapacityRange")
    # of the third allocator alone
    experimental = lists or derivations or common_groups or operations
    features = DeviceFeatures(
        taints=taints,
        taint_rules=taints and (release.enabled("DRADeviceTaintRules") or not gated_rules),
        unselective_rules=not release.includes(ReleaseChange.SELECTED_TAINTS),
        rule_selectors=not release.includes(ReleaseChange.PLAIN_TAINT_RULES),
        partitions=release.enabled("DRAPartitionableDevices"),
        shares=shares,
        conditions=conditions,
        # kube-scheduler has three allocators, and takes the oldest that has all the features that are on: `amounts` is
        # whether that is the second or the third, `reads_operations` whether it is the third
        amounts=experimental
        or shares
        or conditions
        or fractions
        or (status and not release.includes(ReleaseChange.PLAIN_ALLOCATOR)),
        fractions=fractions,
        admin=release.enabled("DRAAdminAccess"),
        alternatives=release.enabled("DRAPrioritizedList"),
        distinct_values=release.includes(ReleaseChange.DISTINCT_VALUES),
        forgets=not release.includes(ReleaseChange.EVERY_VALUE),
        known_lists=listed or release.includes(ReleaseChange.LIST_ATTRIBUTES),
        lists=lists,
        known_derivations=release.includes(ReleaseChange.DERIVED_ATTRIBUTES),
        derivations=derivations,
        groups=release.includes(ReleaseChange.COMPATIBILITY_GROUPS) and not common_groups,
        common_groups=common_groups,
        known_operations=known_operations,
        reads_operations=known_operations and experimental,
        operations=operations,
        whole_pools=whole_pools,
        counters_by_node=release.includes(ReleaseChange.COUNTERS_BY_NODE) or not whole_pools,
        counters_by_name=whole_pools and not release.includes(ReleaseChange.COUNTERS_BY_DRIVER),
        named_errors=newest,
        capacity_errors=newest,
        whole_requests=release.includes(ReleaseChange.WHOLE_REQUESTS),
        all_shares=release.includes(ReleaseChange.ALL_SHARES),
        charges=release.enabled("DRANodeAllocatableResources"),
    )
    return _with_search(features, release)


def _with_search(features: DeviceFeatures, release: Release) -> DeviceFeatures:
    """Return the features with what the releases before v1.37 do otherwise when they search."""
    return features._replace(
        all_taints=not release.includes(ReleaseChange.KNOWN_TAINT_EFFECTS),
        counters_by_slice=not release.includes(ReleaseChange.COUNTERS_BY_POOL),
        counted_shares=release.includes(ReleaseChange.COUNTED_SHARES),
        every_share=not release.includes(ReleaseChange.FIRST_SHARE_DRAWS),
        own_capacity=release.includes(ReleaseChange.OWN_CAPACITY),
        names_subrequests=features.whole_pools,
        own_alternatives=release.includes(ReleaseChange.OWN_ALTERNATIVES),
        one_order=release.includes(ReleaseChange.ONE_ORDER),
        clean_refusals=release.includes(ReleaseChange.CLEAN_REFUSALS),
        pool_of_all=not release.includes(ReleaseChange.COUNTERS_BY_POOL)
        or release.includes(ReleaseChange.CLEAN_REFUSALS),
    )

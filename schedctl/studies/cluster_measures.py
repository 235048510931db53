"""What a cluster comes to at one moment: how evenly it is used, in how small pieces room is left, who holds devices."""

from __future__ import annotations

from collections import Counter

import numpy as np

from schedctl.api.devices import ResourceSlice
from schedctl.cache.cluster import Cluster
from schedctl.devices.allocated import DeviceID, devices_in_use

_PERCENT = 100


def balance(cluster: Cluster, resource: str) -> float:
    """Return the standard deviation of the nodes' use of a resource, in percent of what each offers."""
    offered, taken = cluster.nodes.allocatable(resource), cluster.nodes.requested(resource)
    shares = _PERCENT * taken[offered > 0] / offered[offered > 0]
    return float(np.std(shares)) if len(shares) else 0.0


def fragmentation(cluster: Cluster, resource: str, piece: float) -> float:
    """Return how much of what is free of a resource lies on nodes with less than a piece of it left, in percent.

    Args:
        cluster: the cluster.
        resource: the resource.
        piece: how much a pod asks for.
    """
    free = np.maximum(cluster.nodes.allocatable(resource) - cluster.nodes.requested(resource), 0)
    every = int(free.sum())
    return _PERCENT * int(free[free < piece].sum()) / every if every else 0.0


def devices(cluster: Cluster) -> dict[str, float]:
    """Return how many of the devices of each driver claims hold, or shares of them, in percent."""
    offered = {
        DeviceID(each.spec.driver, each.spec.pool.name, device.name)
        for each in cluster.every(ResourceSlice).values()
        for device in each.spec.devices or ()
    }
    if not offered:
        return {}
    in_use = {
        DeviceID(pool.driver, pool.pool, device)
        for pool, uses in devices_in_use(cluster).pools.items()
        for device in uses
    }
    all_of, used_of = Counter(each.driver for each in offered), Counter(each.driver for each in offered & in_use)
    return {driver: _PERCENT * used_of[driver] / number for driver, number in sorted(all_of.items())}

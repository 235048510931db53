"""ResourceSlices as the scheduler sees them: with the taints of DeviceTaintRules (KEP-5055), by node and by pool.

kube-scheduler keeps slices in a map, so that where their order matters (which of two slices is named in an error, or
whose word on the number of slices counts when they disagree) it is by chance; here it is the order of their names. The
same goes for the order in which rules add their taints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from schedctl.api.devices import Device, DeviceTaintRule, ResourceSlice
from schedctl.cache.nodes import ClusterView
from schedctl.devices.allocated import PoolID
from schedctl.devices.features import features_of


class Slices(NamedTuple):
    """The slices that take part in scheduling, in order of name wherever there are several.

    Attributes:
        on_node: those that name a node, by its name, whether or not it exists.
        shared: all others.
        of_pool: those of each pool, of every generation.
    """

    on_node: Mapping[str, Sequence[ResourceSlice]]
    shared: Sequence[ResourceSlice]
    of_pool: Mapping[PoolID, Sequence[ResourceSlice]]


def effective_slices(cluster: ClusterView) -> Slices:
    """Return the cluster's slices, tainted as its rules demand; worked out anew when either changes."""
    return cluster.derive(_effective_slices, ResourceSlice, DeviceTaintRule)


def pool_of(resource_slice: ResourceSlice) -> PoolID:
    """Return the pool a slice belongs to."""
    return PoolID(resource_slice.spec.driver, resource_slice.spec.pool.name)


def _effective_slices(cluster: ClusterView) -> Slices:
    rules = cluster.every(DeviceTaintRule) if features_of(cluster.release).taint_rules else {}
    in_order = [rules[name] for name in sorted(rules)]
    slices = cluster.every(ResourceSlice)
    on_node: dict[str, list[ResourceSlice]] = {}
    shared: list[ResourceSlice] = []
    of_pool: dict[PoolID, list[ResourceSlice]] = {}
    for name in sorted(slices):
        each = _add_taints(slices[name], in_order)
        (on_node.setdefault(each.spec.node_name, []) if each.spec.node_name else shared).append(each)
        of_pool.setdefault(pool_of(each), []).append(each)
    return Slices(on_node, shared, of_pool)


def _add_taints(resource_slice: ResourceSlice, rules: Sequence[DeviceTaintRule]) -> ResourceSlice:
    spec = resource_slice.spec
    devices = spec.devices
    for rule in rules:
        selector = rule.spec.device_selector
        if (
            selector is None
            or selector.driver not in (None, spec.driver)
            or selector.pool not in (None, spec.pool.name)
        ):
            continue
        devices = [
            _with_taint(device, rule) if selector.device in (None, device.name) else device for device in devices or ()
        ]
    return resource_slice if devices is spec.devices else replace(resource_slice, spec=replace(spec, devices=devices))


def _with_taint(device: Device, rule: DeviceTaintRule) -> Device:
    return replace(device, taints=[*(device.taints or ()), rule.spec.taint])

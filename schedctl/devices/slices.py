"""ResourceSlices as the scheduler sees them: with the taints of DeviceTaintRules (KEP-5055), by node and by pool.

kube-scheduler keeps slices in a map, so that where their order matters (which of two slices is named in an error, or
whose word on the number of slices counts when they disagree) it is by chance; here it is the order of their names. The
same goes for the order in which rules add their taints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from schedctl.api.devices import (
    Device,
    DeviceClass,
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintSelector,
    ResourceSlice,
)
from schedctl.cache.nodes import ClusterView
from schedctl.devices.allocated import PoolID
from schedctl.devices.features import DeviceFeatures, features_of
from schedctl.devices.selectors import DeviceView, Selector, SelectorError, compile_selector


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


class _TaintRule(NamedTuple):
    """A DeviceTaintRule that may taint devices: the taint, where, and what they have to match."""

    taint: DeviceTaint
    selector: DeviceTaintSelector
    programs: tuple[Selector, ...]


def effective_slices(cluster: ClusterView) -> Slices:
    """Return the cluster's slices, tainted as its rules demand; worked out anew when either changes."""
    kinds = (DeviceClass,) if features_of(cluster.release).rule_selectors else ()
    return cluster.derive(_effective_slices, ResourceSlice, DeviceTaintRule, *kinds)


def pool_of(resource_slice: ResourceSlice) -> PoolID:
    """Return the pool a slice belongs to."""
    return PoolID(resource_slice.spec.driver, resource_slice.spec.pool.name)


def _effective_slices(cluster: ClusterView) -> Slices:
    features = features_of(cluster.release)
    rules = cluster.every(DeviceTaintRule) if features.taint_rules else {}
    classes = cluster.every(DeviceClass) if features.rule_selectors else {}
    effective = (_rule_in(rules[name], features, classes) for name in sorted(rules))
    in_order = [rule for rule in effective if rule is not None]
    slices = cluster.every(ResourceSlice)
    on_node: dict[str, list[ResourceSlice]] = {}
    shared: list[ResourceSlice] = []
    of_pool: dict[PoolID, list[ResourceSlice]] = {}
    for name in sorted(slices):
        each = _add_taints(slices[name], in_order)
        (on_node.setdefault(each.spec.node_name, []) if each.spec.node_name else shared).append(each)
        of_pool.setdefault(pool_of(each), []).append(each)
    return Slices(on_node, shared, of_pool)


def _rule_in(rule: DeviceTaintRule, features: DeviceFeatures, classes: Mapping[str, DeviceClass]) -> _TaintRule | None:
    """Return a rule as a release reads it, None if it taints nothing there."""
    selector = rule.spec.device_selector
    if selector is None:
        return _TaintRule(rule.spec.taint, DeviceTaintSelector(), ()) if features.unselective_rules else None
    if not features.rule_selectors:
        return _TaintRule(rule.spec.taint, selector, ())
    written = list(selector.selectors or ())
    if selector.device_class_name is not None:
        device_class = classes.get(selector.device_class_name)
        if device_class is None:
            return None
        written += device_class.spec.selectors or ()
    programs = tuple(compile_selector(each.cel.expression) for each in written if each.cel is not None)
    # kube-scheduler gives up on a slice with such a rule, and keeps what it knew of it before
    broken = any(program.error for program in programs)
    return None if broken else _TaintRule(rule.spec.taint, selector, programs)


def _add_taints(resource_slice: ResourceSlice, rules: Sequence[_TaintRule]) -> ResourceSlice:
    spec = resource_slice.spec
    devices = spec.devices
    for rule in rules:
        if rule.selector.driver in (None, spec.driver) and rule.selector.pool in (None, spec.pool.name):
            devices = [
                _with_taint(device, rule.taint) if _is_meant(device, rule, spec.driver) else device
                for device in devices or ()
            ]
    return resource_slice if devices is spec.devices else replace(resource_slice, spec=replace(spec, devices=devices))


def _is_meant(device: Device, rule: _TaintRule, driver: str) -> bool:
    """Return whether a rule taints a device; a selector that fails on it matches it not."""
    if rule.selector.device not in (None, device.name):
        return False
    if not rule.programs:
        return True
    view = DeviceView(driver, device.attributes or {}, device.capacity or {}, allow_multiple_allocations=False)
    try:
        return all(program.matches(view) for program in rule.programs)
    except SelectorError:
        return False


def _with_taint(device: Device, taint: DeviceTaint) -> Device:
    return replace(device, taints=[*(device.taints or ()), taint])

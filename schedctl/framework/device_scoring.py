"""How many devices of a class each node has, for scoring extended resources that devices stand in for (KEP-5004).

This is not what the device allocator would find: slices count whether or not their pool is complete or out of date,
and taints and capacity do not matter. A node on which it cannot be worked out, because a selector fails, has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from schedctl.api.devices import Device, DeviceClass, ResourceSlice
from schedctl.api.node_selectors import compile_node_selector
from schedctl.api.nodes import Node
from schedctl.api.pods import NodeSelector
from schedctl.cache.arrays import BoolArray, IndexArray, IntArray
from schedctl.cache.node_matching import nodes_matching
from schedctl.cache.nodes import ClusterView
from schedctl.devices.allocated import AllocatedState, DeviceID, devices_in_use
from schedctl.devices.selectors import DeviceView, SelectorError, compile_selector


class DeviceCounts(NamedTuple):
    """The devices of one class, by row of the node table.

    Attributes:
        capacity: int64 (rows,), how many a node sees; 0 where it cannot be worked out.
        allocated: int64 (rows,), how many of them are in use.
        selected: bool (rows,), whether a selector of the class is asked of some device the node sees.
    """

    capacity: IntArray
    allocated: IntArray
    selected: BoolArray


def device_counts(cluster: ClusterView, device_class: DeviceClass) -> DeviceCounts:
    """Return the devices of a class; worked out anew when what is on offer changes, or what is taken."""
    return cluster.derive(_Counting, ResourceSlice, DeviceClass, Node).of(device_class)


class _ClassDevices(NamedTuple):
    """The devices of one class, whoever holds them.

    Attributes:
        rows: by device, for each slice that lists it the rows of the nodes that see it, intp (n,).
        selected: as `DeviceCounts.selected`.
        failing: bool (rows,), nodes on which a selector fails.
    """

    rows: Mapping[DeviceID, Sequence[IndexArray]]
    selected: BoolArray
    failing: BoolArray


class _Counting:
    """Counts the devices of classes, each when it is first asked for."""

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self._devices: dict[str, _ClassDevices] = {}
        self._counts: dict[str, tuple[int, DeviceCounts]] = {}

    def of(self, device_class: DeviceClass) -> DeviceCounts:
        name, state = device_class.metadata.name, devices_in_use(self._cluster)
        if name not in self._devices:
            self._devices[name] = _devices_of(device_class, self._cluster)
        if name not in self._counts or self._counts[name][0] != state.version:
            self._counts[name] = state.version, _count_devices(self._devices[name], state)
        return self._counts[name][1]


def _count_devices(devices: _ClassDevices, state: AllocatedState) -> DeviceCounts:
    capacity = np.zeros(len(devices.selected), np.int64)
    allocated = np.zeros(len(devices.selected), np.int64)
    for device, listings in devices.rows.items():
        in_use = state.use_of(device) is not None
        for rows in listings:
            capacity[rows] += 1
            if in_use:
                allocated[rows] += 1
    capacity[devices.failing] = 0
    return DeviceCounts(capacity, allocated, devices.selected)


def _devices_of(device_class: DeviceClass, cluster: ClusterView) -> _ClassDevices:
    expressions = [each.cel.expression for each in device_class.spec.selectors or () if each.cel is not None]
    nodes = len(cluster.node_table)
    selected, failing = np.zeros(nodes, np.bool_), np.zeros(nodes, np.bool_)
    listed: dict[DeviceID, list[IndexArray]] = {}
    slices = cluster.every(ResourceSlice)
    for name in sorted(slices):
        spec = slices[name].spec
        for device, rows in _device_rows(slices[name], cluster):
            if device is None or rows is None:
                failing[:] = True
                continue
            selected[rows] |= bool(expressions)
            try:
                if _matches(expressions, device, spec.driver):
                    listed.setdefault(DeviceID(spec.driver, spec.pool.name, device.name), []).append(rows)
            except SelectorError:
                failing[rows] = True
    return _ClassDevices(listed, selected, failing)


def _device_rows(
    resource_slice: ResourceSlice, cluster: ClusterView
) -> Sequence[tuple[Device | None, IndexArray | None]]:
    """Return each device of a slice with the rows that see it; without rows where they cannot be told."""
    spec, devices = resource_slice.spec, resource_slice.spec.devices or ()
    if spec.per_device_node_selection:
        return [
            (each, _rows(cluster, each.node_name, each.all_nodes, each.node_selector, unstated=False))
            for each in devices
        ]
    rows = _rows(cluster, spec.node_name, spec.all_nodes, spec.node_selector, unstated=True)
    return [(None, None)] if rows is None else [(each, rows) for each in devices]


def _rows(
    cluster: ClusterView,
    node_name: str | None,
    all_nodes: bool | None,
    selector: NodeSelector | None,
    *,
    unstated: bool,
) -> IndexArray | None:
    """Return the rows that are meant; `unstated` tells whether that is all or none where nothing is said."""
    table = cluster.node_table
    if all_nodes:
        return cluster.rows
    if node_name:
        return np.array([table.row_of[node_name]] if node_name in table.row_of else [], np.intp)
    if selector is None:
        return cluster.rows if unstated else np.empty(0, np.intp)
    query = compile_node_selector(selector)
    return None if query.problems else np.flatnonzero(nodes_matching(table, query))


def _matches(expressions: Sequence[str], device: Device, driver: str) -> bool:
    """Return whether every expression is true of a device; as opposed to allocation, it is never seen as shareable.

    Raises:
        SelectorError: one of them does not compile, or fails.
    """
    view = DeviceView(driver, device.attributes or {}, device.capacity or {}, False)
    for expression in expressions:
        program = compile_selector(expression)
        if program.error:
            raise SelectorError(program.error)
        if not program.matches(view):
            return False
    return True

"""Which DeviceClass stands in for an extended resource (KEP-5004).

Every class can be asked for as ``deviceclass.resource.kubernetes.io/<name>``, and under ``spec.extendedResourceName``
if it has one. Of several with the same name the newest counts, of equally old ones the first by name.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from schedctl.api.devices import DeviceClass, ResourceClaim, ResourceSlice
from schedctl.api.quantities import MIN_INT64
from schedctl.api.resources import is_extended
from schedctl.api.times import unix_nanoseconds
from schedctl.cache.arrays import BoolArray, IndexArray
from schedctl.cache.node_table import NodeTable
from schedctl.cache.nodes import ClusterView
from schedctl.releases import Release, ReleaseChange

IMPLICIT_PREFIX = "deviceclass.resource.kubernetes.io/"
DEVICE_KINDS = (DeviceClass, ResourceSlice, ResourceClaim)
"""The kinds that say how many devices there are in place of a resource, and how many are taken."""


def classes_by_resource(cluster: ClusterView) -> Mapping[str, DeviceClass]:
    """Return the class that stands in for each extended resource; worked out anew only when a class has changed.

    Classes are taken in by name, as kube-scheduler meets them when it starts. One that loses its extended resource to
    a class taken in before it cannot be asked for by its own name either.
    """
    if not cluster.release.enabled("DRAExtendedResource"):
        return {}
    return cluster.derive(_classes if shares_devices(cluster.release) else _classes_by_one_name, DeviceClass)


def can_be_devices(resource: str, release: Release) -> bool:
    """Return whether DynamicResources looks at a resource: an extended one, or a class by its implicit name."""
    return is_extended(resource) or (shares_devices(release) and resource.startswith(IMPLICIT_PREFIX))


def shares_devices(release: Release) -> bool:
    """Return whether devices stand in for extended resources as since v1.35."""
    return release.includes(ReleaseChange.SHARED_EXTENDED_RESOURCES)


def is_listed(table: NodeTable, resource: str, rows: IndexArray) -> BoolArray:
    """Return which nodes have an entry for a resource, be it 0, bool (n,)."""
    listed: BoolArray = table.column(table.allocatable, resource)[rows] != 0
    for position in np.flatnonzero(~listed).tolist():
        listed[position] = resource in (table.objects[int(rows[position])].status.allocatable or {})
    return listed


def _classes_by_one_name(cluster: ClusterView) -> Mapping[str, DeviceClass]:
    """Return the classes as until v1.34; which of several of one name counts is by chance there, and the last here."""
    every = cluster.every(DeviceClass)
    return {every[name].spec.extended_resource_name or IMPLICIT_PREFIX + name: every[name] for name in sorted(every)}


def _classes(cluster: ClusterView) -> Mapping[str, DeviceClass]:
    classes: dict[str, DeviceClass] = {}
    every = cluster.every(DeviceClass)
    for name in sorted(every):
        device_class = every[name]
        explicit = device_class.spec.extended_resource_name
        if explicit is not None:
            rival = classes.get(explicit)
            if rival is not None and _creation_time(device_class) <= _creation_time(rival):
                continue  # without its implicit name either, see `classes_by_resource`
            classes[explicit] = device_class
        classes[IMPLICIT_PREFIX + name] = device_class
    return classes


def _creation_time(device_class: DeviceClass) -> int:
    written = device_class.metadata.creation_timestamp
    return unix_nanoseconds(written) if written else MIN_INT64

"""Which DeviceClass stands in for an extended resource (KEP-5004).

Every class can be asked for as ``deviceclass.resource.kubernetes.io/<name>``, and under ``spec.extendedResourceName``
if it has one. Of several with the same name the newest counts, of equally old ones the first by name.
"""

from __future__ import annotations

from schedctl.api.devices import DeviceClass
from schedctl.api.quantities import MIN_INT64
from schedctl.api.times import unix_nanoseconds
from schedctl.cache.cluster import Cluster

IMPLICIT_PREFIX = "deviceclass.resource.kubernetes.io/"


def classes_by_resource(cluster: Cluster) -> dict[str, DeviceClass]:
    """Return the class that stands in for each extended resource.

    Classes are taken in by name, as kube-scheduler meets them when it starts. One that loses its extended resource to
    a class taken in before it cannot be asked for by its own name either.
    """
    classes: dict[str, DeviceClass] = {}
    every = cluster.every(DeviceClass)
    for name in sorted(every):
        device_class = every[name]
        explicit = device_class.spec.extended_resource_name
        if explicit is not None:
            rival = classes.get(explicit)
            if rival is not None and _created(device_class) <= _created(rival):
                continue
            classes[explicit] = device_class
        classes[IMPLICIT_PREFIX + name] = device_class
    return classes


def _created(device_class: DeviceClass) -> int:
    written = device_class.metadata.creation_timestamp
    return unix_nanoseconds(written) if written else MIN_INT64

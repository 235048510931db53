"""Which DeviceClass stands in for an extended resource."""

import pytest

from schedctl.api.devices import DeviceClass, DeviceClassSpec
from schedctl.api.meta import ObjectMeta
from schedctl.framework.device_classes import IMPLICIT_PREFIX, classes_by_resource
from schedctl.testing.builders import cluster


def device_class(name, extended=None, created=None):
    spec = DeviceClassSpec(extended_resource_name=extended)
    return DeviceClass(metadata=ObjectMeta(name=name, creation_timestamp=created), spec=spec)


OLD, NEW, NEW_ELSEWHERE = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-02T01:00:00+01:00"


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        pytest.param([], {}, id="no classes, no resources"),
        pytest.param([device_class("a")], {IMPLICIT_PREFIX + "a": "a"}, id="a class has a name of its own"),
        pytest.param(
            [device_class("a", "x/gpu")], {"x/gpu": "a", IMPLICIT_PREFIX + "a": "a"}, id="and the one it gives itself"
        ),
        pytest.param(
            [device_class("a", "x/gpu", OLD), device_class("b", "x/gpu", NEW)],
            {"x/gpu": "b", IMPLICIT_PREFIX + "a": "a", IMPLICIT_PREFIX + "b": "b"},
            id="the newer class wins",
        ),
        pytest.param(
            [device_class("b", "x/gpu", OLD), device_class("a", "x/gpu", NEW)],
            {"x/gpu": "a", IMPLICIT_PREFIX + "a": "a"},
            id="a class that finds its name taken loses the other one, too",
        ),
        pytest.param(
            [device_class("b", "x/gpu", NEW), device_class("a", "x/gpu", NEW_ELSEWHERE)],
            {"x/gpu": "a", IMPLICIT_PREFIX + "a": "a"},
            id="of equally old ones the first by name wins, in whatever time zone",
        ),
        pytest.param(
            [device_class("a", "x/gpu"), device_class("b", "x/gpu", OLD)],
            {"x/gpu": "b", IMPLICIT_PREFIX + "a": "a", IMPLICIT_PREFIX + "b": "b"},
            id="a class without a date is the oldest",
        ),
    ],
)
def test_classes_by_resource(classes, expected):
    found = classes_by_resource(cluster(*classes))
    assert {resource: each.metadata.name for resource, each in found.items()} == expected

"""Counters of pools that have one name: of two drivers, say, that name their pools after the node."""

import pytest

from schedctl.conformance.answers import answer_as_json
from schedctl.releases import RELEASES

PARTITIONS = {"DRAPartitionableDevices": True}


def pool(driver, counter_set, amount):
    """Two slices of the pool ``a``: ten units of memory, and a device that takes some of them."""
    counters = {"name": counter_set, "counters": {"memory": {"value": "10"}}}
    consumed = {"counterSet": counter_set, "counters": {"memory": {"value": amount}}}
    for name, content in (
        ("counters", {"sharedCounters": [counters]}),
        ("devices", {"devices": [{"name": "d", "consumesCounters": [consumed]}]}),
    ):
        yield {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"{driver}-{name}"},
            "spec": {
                "driver": f"{driver}.example.com",
                "pool": {"name": "a", "generation": 1, "resourceSliceCount": 2},
                "nodeName": "a",
                **content,
            },
        }


def claim(driver):
    """A claim of one device of a driver."""
    request = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}
    request["selectors"] = [{"cel": {"expression": f"device.driver == '{driver}.example.com'"}}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": driver, "namespace": "default", "uid": driver},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": request}]}},
    }


def case(counter_set, amount):
    """A pod that claims a device of each of two drivers whose pools have one name; v1.34 has no such slices."""
    capacity = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    node = {"metadata": {"name": "a"}, "status": {"capacity": capacity, "allocatable": capacity}}
    claims = [{"name": driver, "resourceClaimName": driver} for driver in "xy"]
    spec = {"containers": [{"name": "c", "image": "i"}], "resourceClaims": claims}
    objects = [
        {"apiVersion": "v1", "kind": "Node", **node},
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}},
        *pool("x", "mem", "10"),
        *pool("y", counter_set, amount),
        claim("x"),
        claim("y"),
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"}, "spec": spec},
    ]
    return {"id": "pools", "objects": objects, "pods": ["default/p"]}


@pytest.mark.parametrize(
    ("counter_set", "amount", "fits"),
    [
        pytest.param("mem", "10", (False, False, True), id="counters of one name are shared"),
        pytest.param("else", "20", (True, True, False), id="counters of the second pool do not count"),
    ],
)
def test_pools_of_two_drivers_share_counters_before_v1_37(counter_set, amount, fits):
    answers = [
        answer_as_json(case(counter_set, amount), release.with_gates(PARTITIONS))["cycles"][0]
        for release in RELEASES[1:]
    ]
    assert tuple(answer["nodes"]["a"]["code"] == "Success" for answer in answers) == fits

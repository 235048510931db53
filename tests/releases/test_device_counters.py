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
        pytest.param("mem", "10", (False, True), id="counters of one name are shared"),
        pytest.param("else", "20", (True, False), id="counters of the second pool do not count"),
    ],
)
def test_pools_of_two_drivers_share_counters_before_v1_37(counter_set, amount, fits):
    answers = [
        answer_as_json(case(counter_set, amount), release.with_gates(PARTITIONS))["cycles"][0]
        for release in RELEASES[2:]
    ]
    assert tuple(answer["nodes"]["a"]["code"] == "Success" for answer in answers) == fits


def broken_pool():
    """A pool of node b, by node selector: its device takes of a counter that is not there."""
    only_b = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}]}
    counters, devices = pool("x", "mem", "1")
    devices["spec"]["devices"][0]["consumesCounters"][0]["counters"] = {"nope": {"value": "1"}}
    for each in (counters, devices):
        del each["spec"]["nodeName"]
        each["spec"] |= {"nodeSelector": only_b}
    return counters, devices


@pytest.mark.parametrize(
    ("release", "reason"),
    [
        pytest.param(RELEASES[2], "invalid resource pools were encountered", id="v1.36: of every node"),
        pytest.param(RELEASES[3], "cannot allocate all claims", id="v1.37: of the nodes that reach it"),
    ],
)
def test_a_broken_pool_with_counters_is_a_pool_of(release, reason):
    capacity = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    nodes = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": capacity}}
        for name in "ab"
    ]
    spec = {
        "containers": [{"name": "c", "image": "i"}],
        "resourceClaims": [{"name": "x", "resourceClaimName": "x"}],
    }
    objects = [
        *nodes,
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}},
        *broken_pool(),
        claim("x"),
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"}, "spec": spec},
    ]
    cycle = answer_as_json({"id": "broken", "objects": objects, "pods": ["default/p"]}, release)["cycles"][0]
    assert cycle["nodes"]["a"]["reasons"] == [reason]

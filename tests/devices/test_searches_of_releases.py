"""How releases search for devices: in which order, what a device that was given up leaves behind, where they crash."""

import pytest

from schedctl.cache.cluster import Cluster
from schedctl.devices.allocator import Allocator
from schedctl.devices.eligibility import AllocationError
from schedctl.releases import RELEASES
from schedctl.testing.builders import node
from tests.devices.builders import (
    DRIVER,
    allocated_state,
    alternative,
    claim,
    counter_slice,
    device,
    device_class,
    either,
    memory_of,
    request,
    resource_slice,
    taint_rule,
)

V1_34, V1_35, V1_36, V1_37 = RELEASES
GATES = {"DRAConsumableCapacity": True, "DRADeviceTaints": True, "DRAPartitionableDevices": True}
L4 = f'device.attributes["{DRIVER}"].model == "l4"'
APART = [{"distinctAttribute": f"{DRIVER}/model"}]
ALIKE = [{"matchAttribute": f"{DRIVER}/model"}]


def allocate(release, objects, *claims, **gates):
    """The devices on the one node, each behind its request; None if they cannot be had, or what the error says."""
    made = Cluster.of([node("a"), device_class(), *objects], release.with_gates(GATES | gates))
    try:
        results = Allocator(made, allocated_state(())).allocate(0, claims)
    except AllocationError as error:
        return str(error)
    if results is None:
        return None
    return [f"{each.request}: {each.device}" for result in results for each in result.devices.results]


def by_release(before, since, minor):
    """The answer of each release, where it changed in one."""
    return [pytest.param(each, since if each.minor >= minor else before, id=each.version) for each in RELEASES]


MODELS = resource_slice("p", device("x", model="a100"), device("y", model="l4"), device("z", model="l4"))


@pytest.mark.parametrize(("release", "found"), by_release(None, ["r/some: y", "r/some: z"], (1, 36)))
def test_a_second_alternative_for_all_devices_was_judged_by_the_selectors_of_the_first(release, found):
    none = alternative("none", "All", where='device.driver == "nobody"')
    assert allocate(release, [MODELS], claim(either("r", none, alternative("some", "All", where=L4)))) == found


@pytest.mark.parametrize(("release", "found"), by_release(["r/some: y"], ["r/some: y", "r/some: z"], (1, 36)))
def test_an_alternative_for_all_devices_went_on_as_the_first_one_after_its_first_device(release, found):
    # the first one wants one device, and has got one: that is enough for it
    nobodys = alternative("one", 1, where='device.driver == "nobody"')
    wanted = claim(either("r", nobodys, alternative("some", "All", where=L4)))
    assert allocate(release, [MODELS], wanted) == found


def card(release, *devices):
    """A card with ten units of memory, and devices that take some of them, in slices as the release knows them."""
    if release is V1_34:
        counters = [{"name": "set", "counters": {"memory": {"value": "10"}}}]
        return [resource_slice("p", *devices, sharedCounters=counters)]
    return [counter_slice("q", pool="p", counters={"memory": "10"}, on="a"), resource_slice("p", *devices, count=2)]


@pytest.mark.parametrize(("release", "found"), by_release(None, ["r: y"], (1, 36)))
def test_a_device_that_a_taint_refused_kept_what_it_drew_on_counters(release, found):
    tainted = device("x", counters={"memory": "10"}, taint="broken:NoSchedule")
    assert allocate(release, card(release, tainted, device("y", counters={"memory": "10"})), claim()) == found


@pytest.mark.parametrize(("release", "found"), by_release(None, ["a: x", "b: z"], (1, 36)))
def test_a_device_that_a_constraint_refused_kept_what_it_drew_on_counters(release, found):
    devices = [
        device("x", model="l4"),
        device("y", model="a100", counters={"memory": "10"}),
        device("z", model="l4", counters={"memory": "10"}),
    ]
    wanted = claim(request("a"), request("b"), constraints=ALIKE)
    assert allocate(release, card(release, *devices), wanted) == found


@pytest.mark.parametrize(
    ("release", "found"),
    [
        pytest.param(V1_35, ["r: x", "r: z", "r: y"], id="in every order, values of the request forgotten"),
        pytest.param(V1_36, None, id="in one order, values of the request forgotten"),
        pytest.param(V1_37, None, id="in one order, nothing forgotten"),
    ],
)
def test_devices_of_a_request_were_tried_in_every_order(release, found):
    models = [device("x", model="l4"), device("y", model="l4"), device("z", model="a100")]
    assert allocate(release, [resource_slice("p", *models)], claim(request(count=3), constraints=APART)) == found


@pytest.mark.parametrize(("release", "found"), by_release(None, ["r: x"], (1, 35)))
def test_a_taint_of_an_effect_that_is_not_known_counted(release, found):
    assert allocate(release, [resource_slice("p", device("x", taint="broken:None"))], claim()) == found


@pytest.mark.parametrize(("release", "found"), by_release(None, ["r: x"], (1, 37)))
def test_a_taint_rule_without_a_selector_tainted_every_device(release, found):
    gates = {} if release is V1_34 else {"DRADeviceTaintRules": True}
    objects = [resource_slice("p", "x"), taint_rule("rule", "broken")]
    assert allocate(release, objects, claim(), **gates) == found


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        pytest.param({"deviceClassName": "gpu"}, None, id="a class that takes in every device"),
        pytest.param({"deviceClassName": "gone"}, ["r: x"], id="a class that is not there"),
        pytest.param({"selectors": [{"cel": {"expression": L4}}]}, ["r: x"], id="another model"),
        pytest.param({"selectors": [{"cel": {"expression": f"!({L4})"}}]}, ["r: y"], id="the model of the first"),
        pytest.param({"selectors": [{"cel": {"expression": "device.nope"}}]}, ["r: x"], id="no expression"),
        pytest.param(
            {"selectors": [{"cel": {"expression": f'device.attributes["{DRIVER}"].nope == "l4"'}}]},
            ["r: x"],
            id="an expression that fails on every device",
        ),
    ],
)
def test_taint_rules_of_v1_34_choose_devices_by_class_and_cel(selector, found):
    models = resource_slice("p", device("x", model="a100"), device("y", model="l4"))
    assert allocate(V1_34, [models, taint_rule("rule", "broken", **selector)], claim()) == found


def test_a_share_of_a_device_is_not_distinct_from_another_share_of_it_in_v1_34():
    shared = resource_slice("p", device("x", model="l4", memory="10", share=True), device("y", model="l4"))
    memory = memory_of("1")
    wanted = claim(request("a", **memory), request("b", **memory), constraints=APART)
    assert allocate(V1_34, [shared], wanted) is None
    assert allocate(V1_34, [shared], claim(request("a", **memory), request("b", **memory))) == ["a: x", "b: x"]


@pytest.mark.parametrize(
    ("release", "objects", "wanted", "says"),
    [
        pytest.param(
            V1_35,
            card(V1_35, device("x", counters={"memory": "1"})),
            claim(request(count="All")),
            "asks for all devices, and gpu.example.com/p/x draws on counters, on which kube-scheduler crashes",
            id="v1.35: all devices, and one draws on counters",
        ),
        pytest.param(
            V1_34,
            [resource_slice("p", "x", pool="p", count=2), resource_slice("q", "y", pool="p", count=2)],
            claim(request(count=2)),
            "device number 2 is in ResourceSlice q, which has only 1, on which kube-scheduler crashes",
            id="v1.34: the second device is the first of its slice",
        ),
    ],
)
def test_where_kube_scheduler_crashes_it_is_said(release, objects, wanted, says):
    assert allocate(release, objects, wanted).endswith(says)

"""Which devices are allocated to claims where a release, or a feature gate, decides otherwise than by default."""

import pytest

from schedctl.cache.cluster import Cluster
from schedctl.devices.allocator import Allocator
from schedctl.devices.eligibility import AllocationError
from schedctl.releases import RELEASES
from schedctl.testing.builders import node
from tests.devices.builders import (
    DRIVER,
    allocated_state,
    claim,
    counter_slice,
    device,
    device_class,
    holding,
    memory_of,
    request,
    resource_slice,
)

V1_36, V1_37 = RELEASES[-2:]
ROOTS = [{"matchAttribute": f"{DRIVER}/roots"}]
APART = [{"distinctAttribute": f"{DRIVER}/roots"}]


def allocate(release, objects, *claims, held=(), features=()):
    """The devices allocated on the one node, as ``pool/device``; None if that cannot be."""
    made = Cluster.of([node("a", declared_features=list(features)), device_class(), *objects], release)
    results = Allocator(made, allocated_state(held)).allocate(0, claims)
    if results is None:
        return None
    return [f"{each.pool}/{each.device}" for result in results for each in result.devices.results]


def rooted(name, *roots):
    return device(name, attributes={"roots": {"strings": list(roots)}})


LISTS = resource_slice("p", rooted("x", "pci0"), rooted("y", "pci1", "pci2"), rooted("z", "pci0", "pci2"))


@pytest.mark.parametrize(
    ("release", "constraints", "devices"),
    [
        pytest.param(V1_37, ROOTS, None, id="lists match nothing while the gate is off"),
        pytest.param(
            V1_37.with_gates({"DRAListTypeAttributes": True}), ROOTS, ["p/x", "p/z"], id="lists match in a common value"
        ),
        pytest.param(
            V1_37.with_gates({"DRAListTypeAttributes": True}), APART, ["p/x", "p/y"], id="lists differ in all values"
        ),
        pytest.param(
            V1_36.with_gates({"DRAListTypeAttributes": True}), ROOTS, None, id="in v1.36 the gate is for selectors only"
        ),
    ],
)
def test_constraints_compare_lists_if_the_gate_is_on(release, constraints, devices):
    assert allocate(release, [LISTS], claim(request(count=2), constraints=constraints)) == devices


@pytest.mark.parametrize(
    ("release", "devices"),
    [
        pytest.param(V1_37, None, id="with all that were chosen"),
        pytest.param(V1_36, ["p/x", "p/y", "p/z"], id="until v1.36 with the last one of a request"),
    ],
)
def test_a_distinct_attribute_is_compared(release, devices):
    models = resource_slice("p", device("x", model="l4"), device("y", model="t4"), device("z", model="l4"))
    wanted = claim(request(count=3), constraints=[{"distinctAttribute": f"{DRIVER}/model"}])
    assert allocate(release, [models], wanted) == devices


def derived(expression):
    return [{"name": f"{DRIVER}/kin", "expression": expression}]


DERIVED = V1_37.with_gates({"DRADerivedAttributes": True})
KIN = [{"matchAttribute": f"{DRIVER}/kin"}]
PAIRS = resource_slice("p", device("x", model="l4-b"), device("y", model="t4-b"), device("z", model="t4-c"))


def test_a_derived_attribute_is_compared_as_one_of_the_device():
    generation = f'device.attributes["{DRIVER}"].model.split("-")[0]'
    wanted = claim(request(count=2, derivedAttributes=derived(generation)), constraints=KIN)
    assert allocate(DERIVED, [PAIRS], wanted) == ["p/y", "p/z"]


@pytest.mark.parametrize(
    ("release", "expression", "text"),
    [
        pytest.param(
            V1_37, '"x"', "claim default/c, request r: cannot handle request with derived attributes", id="off"
        ),
        pytest.param(
            DERIVED,
            "device.nope",
            f"compile derived attribute {DRIVER}/kin failed: compilation failed: ",
            id="not compiled",
        ),
        pytest.param(
            DERIVED,
            "1.5",
            f"compile derived attribute {DRIVER}/kin failed: must evaluate to a primitive scalar",
            id="no type of attributes",
        ),
        pytest.param(
            DERIVED,
            "dyn(1.5)",
            f"evaluate derived attribute {DRIVER}/kin on device {DRIVER}/p/x failed: unsupported CEL",
            id="no value of attributes",
        ),
    ],
)
def test_a_derived_attribute_that_cannot_be_had_ends_the_cycle(release, expression, text):
    wanted = claim(request(derivedAttributes=derived(expression)), constraints=KIN)
    with pytest.raises(AllocationError) as error:
        allocate(release, [PAIRS], wanted)
    assert str(error.value).startswith(text)


def test_until_v1_36_derived_attributes_are_not_noticed():
    assert allocate(V1_36, [PAIRS], claim(request(derivedAttributes=derived("nonsense(")))) == ["p/x"]


def part(name, *groups):
    use = {"counterSet": "set", "counters": {"memory": {"value": "1"}}, "compatibilityGroups": list(groups)}
    return device(name, consumesCounters=[use])


PARTS = [
    resource_slice("p", part("x", "mig"), part("y", "mps"), part("z", "mps", "mig"), part("plain"), count=2),
    counter_slice("q", pool="p", counters={"memory": "9"}),
]
GROUPED = V1_37.with_gates({"DRADeviceCompatibilityGroups": True})


@pytest.mark.parametrize(
    ("release", "count", "held", "devices"),
    [
        pytest.param(V1_37, 1, "", None, id="a pool with groups is no pool while the gate is off"),
        pytest.param(GROUPED, 2, "", ["p/x", "p/z"], id="devices on the same counters have a group in common"),
        pytest.param(GROUPED, 3, "", None, id="all of them the same one"),
        pytest.param(GROUPED, 1, "p/y", ["p/z"], id="with devices in use, too"),
        pytest.param(GROUPED, 1, "p/plain", None, id="none goes with one that has no groups"),
    ],
)
def test_devices_go_together_by_compatibility_groups(release, count, held, devices):
    users = [holding("held", held)] if held else []
    assert allocate(release, PARTS, claim(request(count=count)), held=users) == devices


@pytest.mark.parametrize(
    ("release", "asked", "fits"),
    [
        pytest.param(V1_37, "1.25", False, id="a step of a half is one while the gate is off"),
        pytest.param(V1_37.with_gates({"DRAFractionalCapacityRange": True}), "1.25", True, id="and a half with it"),
    ],
)
def test_amounts_are_rounded_to_fractions_if_the_gate_is_on(release, asked, fits):
    policy = {"default": "500m", "validRange": {"min": "500m", "step": "500m"}}
    slices = [resource_slice("p", device("x", share=True, memory={"value": "1.5", "requestPolicy": policy}))]
    assert (allocate(release, slices, claim(request(**memory_of(asked)))) is not None) is fits


OPERATIONS = "DRAOptionalNodeOperations"


@pytest.mark.parametrize(
    ("release", "features", "devices"),
    [
        pytest.param(V1_37, [], ["p/x"], id="nothing by default"),
        pytest.param(
            V1_37.with_gates({OPERATIONS: True}), [OPERATIONS], ["p/x"], id="with the gate that the node declares it"
        ),
        pytest.param(V1_37.with_gates({OPERATIONS: True}), [], None, id="and else it is not given out"),
        pytest.param(
            V1_37.with_gates({"DRAListTypeAttributes": True}),
            [OPERATIONS],
            None,
            id="nor by the allocator of other gates",
        ),
    ],
)
def test_a_device_without_node_operations_needs(release, features, devices):
    slices = [resource_slice("p", "x", skipNodeOperations=["*"])]
    assert allocate(release, slices, claim(), features=features) == devices


@pytest.mark.parametrize("wanted", [True, False])
def test_a_request_that_says_whether_it_wants_admin_access_is_an_error_while_the_gate_is_off(wanted):
    release = RELEASES[1].with_gates({"DRAAdminAccess": False})
    with pytest.raises(AllocationError) as error:
        allocate(release, [PAIRS], claim(request(admin=wanted)))
    assert str(error.value) == "claim default/c, request r: admin access is requested, but the feature is disabled"

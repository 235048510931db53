"""Which devices are allocated to claims."""

import msgspec
import pytest

from schedctl.devices.allocator import Allocator
from schedctl.devices.eligibility import AllocationError
from schedctl.devices.search import BudgetExceeded, NodeAllocationError
from schedctl.devices.shortages import Why
from schedctl.testing.builders import cluster, node
from tests.devices.builders import (
    allocated_state,
    alternative,
    claim,
    counter_slice,
    device,
    device_class,
    either,
    holding,
    memory_of,
    request,
    resource_slice,
    share_of,
    taint_rule,
    zone_is,
)

MODEL = 'device.attributes["gpu.example.com"].model == '
NOT_MODEL = 'device.attributes["gpu.example.com"].nope == "x"'


def allocator(*objects, held=(), budget=100_000):
    made = cluster(node("a", labels={"zone": "east"}), node("b", labels={"zone": "west"}), device_class(), *objects)
    return Allocator(made, allocated_state(held), budget=budget)


def allocate(objects, claims, held=()):
    """The devices allocated on the node a, as ``request=pool/device`` for each claim; None if that cannot be."""
    results = allocator(*objects, held=held).allocate(0, claims)
    if results is None:
        return None
    return [" ".join(f"{each.request}={each.pool}/{each.device}" for each in r.devices.results) for r in results]


def same(attribute="gpu.example.com/model", **requests):
    return [{"matchAttribute": attribute, **requests}]


def different(attribute="gpu.example.com/model", **requests):
    return [{"distinctAttribute": attribute, **requests}]


XYZ = resource_slice("p", "x", "y", "z")
MODELS = resource_slice("p", device("x", model="l4"), device("y", model="t4"), device("z", model="t4"))
SLOTS = [
    resource_slice(
        "p", device("big", counters={"slots": "3"}), device("x", counters={"slots": "2"}),
        device("y", counters={"slots": "1"}), count=2,
    ),
    counter_slice("q", pool="p", counters={"slots": "3"}),
]  # fmt: skip
SHARED = resource_slice("p", device("x", memory="4Gi", share=True), device("y", memory="4Gi", share=True))


@pytest.mark.parametrize(
    ("objects", "held", "claims", "results"),
    [
        pytest.param([XYZ], [], [claim()], ["r=p/x"], id="the first device is taken"),
        pytest.param([XYZ], [holding("h", "p/x")], [claim()], ["r=p/y"], id="one in use is passed over"),
        pytest.param([XYZ], [], [claim(request(count=2))], ["r=p/x r=p/y"], id="two devices in order"),
        pytest.param([XYZ], [], [claim(request(count=4))], None, id="more than there are"),
        pytest.param([XYZ], [], [claim(), claim(name="d")], ["r=p/x", "r=p/y"], id="two claims"),
        pytest.param([XYZ], [], [], [], id="nothing requested, nothing allocated"),
        pytest.param([], [], [claim()], None, id="no slices, no devices"),
        pytest.param(
            [resource_slice("q", "x"), resource_slice("p", "x", count=2)], [], [claim()], ["r=q/x"],
            id="incomplete pools are passed over",
        ),
        # selectors
        pytest.param([MODELS], [], [claim(request(where=f'{MODEL}"t4"'))], ["r=p/y"], id="a selector of the request"),
        pytest.param(
            [MODELS, device_class("gpu", f'{MODEL}"t4"')], [], [claim(request(where="true"))], ["r=p/y"],
            id="a selector of the class",
        ),
        pytest.param(
            [MODELS], [], [claim(request("r", where="true"), request("s", where=f'{MODEL}"l4"'))], ["r=p/y s=p/x"],
            id="a choice that leaves nothing for the next request is taken back",
        ),
        pytest.param(
            [resource_slice("p", device("x", nodeName="b"), device("y", nodeName="a"), perDeviceNodeSelection=True)],
            [], [claim()], ["r=p/y"],
            id="devices of other nodes are passed over",
        ),
        # all devices
        pytest.param([XYZ], [], [claim(request(count="All"))], ["r=p/x r=p/y r=p/z"], id="all devices"),
        pytest.param([XYZ], [holding("h", "p/y")], [claim(request(count="All"))], None, id="all, but one is in use"),
        pytest.param([], [], [claim(request(count="All"))], None, id="all of none is not enough"),
        pytest.param(
            [MODELS], [], [claim(request(count="All", where=f'{MODEL}"t4"'))], ["r=p/y r=p/z"], id="all that match"
        ),
        pytest.param(
            [resource_slice("p", device("x", memory="1Gi"), device("y", memory="4Gi"))], [],
            [claim(request(count="All", **memory_of("2Gi")))], ["r=p/y"],
            id="all that are big enough",
        ),
        # alternatives
        pytest.param(
            [XYZ], [], [claim(either("r", alternative("s", 4), alternative("t", 2)))], ["r/t=p/x r/t=p/y"],
            id="the first alternative that can be had",
        ),
        pytest.param(
            [XYZ], [], [claim(either("r", alternative("s", 3), alternative("t")), request("u"))], ["r/t=p/x u=p/y"],
            id="an alternative that leaves nothing for the next request is given up",
        ),
        pytest.param(
            [XYZ], [], [claim(either("r", alternative("s", 33), alternative("t")))], ["r/t=p/x"],
            id="an alternative beyond the limit of devices is passed over",
        ),
        # admin access
        pytest.param(
            [XYZ], [holding("h", "p/x")], [claim(request(admin=True))], ["r=p/x"], id="admins may use what is in use"
        ),
        pytest.param(
            [XYZ], [], [claim(request("r", 2, admin=True), request("s"))], ["r=p/x r=p/y s=p/z"],
            id="but not one device twice in a claim, and others may not use it beside them",
        ),
        pytest.param(
            [XYZ], [], [claim(request(admin=True)), claim(request(admin=True), name="d")], ["r=p/x", "r=p/x"],
            id="two claims of a pod may, with admin access",
        ),
        # taints
        pytest.param(
            [resource_slice("p", device("x", taint="k:NoSchedule"), device("y", taint="k:None"))], [], [claim()],
            ["r=p/y"],
            id="tainted devices are passed over, unless the effect is None",
        ),
        pytest.param(
            [resource_slice("p", device("x", taint="k:NoExecute"))], [], [claim(request(tolerate="k"))], ["r=p/x"],
            id="taints may be tolerated",
        ),
        pytest.param([XYZ, taint_rule("r", "k", device="x")], [], [claim()], ["r=p/y"], id="rules taint, too"),
        # constraints
        pytest.param(
            [MODELS], [], [claim(request(count=2), constraints=same())], ["r=p/y r=p/z"], id="one value for all"
        ),
        pytest.param(
            [MODELS], [], [claim(request(count=2), constraints=different())], ["r=p/x r=p/y"], id="no value twice"
        ),
        pytest.param([MODELS], [], [claim(request(count=3), constraints=different())], None, id="too few values"),
        pytest.param(
            [XYZ], [], [claim(constraints=same())], None, id="a device without the attribute can never meet it"
        ),
        pytest.param(
            [MODELS], [], [claim(request("r"), request("s"), constraints=different(requests=["s"]))], ["r=p/x s=p/y"],
            id="a constraint may name requests",
        ),
        pytest.param(
            [MODELS], [],
            [claim(either("r", alternative("s", 2), alternative("t", 2)), constraints=same(requests=["r/s"]))],
            ["r/s=p/y r/s=p/z"],
            id="or alternatives",
        ),
        pytest.param(
            [resource_slice("p", device("x", attributes={"std.io/root": {"int": 1}}), "y")], [],
            [claim(constraints=same("std.io/root"))], ["r=p/x"],
            id="attributes of other domains are written in full",
        ),
        # counters
        pytest.param(SLOTS, [], [claim(request(count=2))], ["r=p/x r=p/y"], id="partitions share counters"),
        pytest.param(SLOTS, [holding("h", "p/y")], [claim()], ["r=p/x"], id="what is in use has drawn on them"),
        pytest.param(
            SLOTS, [holding("h", "p/y", "p/big")], [claim()], None, id="an overdrawn counter gives nothing more"
        ),
        # shared devices
        pytest.param(
            [SHARED], [], [claim(request(**memory_of("3Gi"))), claim(request(**memory_of("1Gi")), name="d")],
            ["r=p/x", "r=p/x"],
            id="shares of one device, as long as there is capacity",
        ),
        pytest.param(
            [SHARED], [holding("h", share_of("p/x", "1", memory="2Gi"))], [claim(request(**memory_of("3Gi")))],
            ["r=p/y"],
            id="shares that are held count",
        ),
        pytest.param([SHARED], [holding("h", "p/x")], [claim()], ["r=p/y"], id="a shared device may be held whole"),
        pytest.param(
            [SHARED], [], [claim(request(count=3, **memory_of("1Gi")))], None,
            id="a request has no two shares of one device",
        ),
        pytest.param(
            [resource_slice("p", device("x", memory="1Gi"), device("y", memory="4Gi"))], [],
            [claim(request(**memory_of("2Gi")))], ["r=p/y"],
            id="devices that are not shared must be big enough, too",
        ),
        pytest.param(
            [
                resource_slice("p", device("x", share=True, memory="4Gi", counters={"slots": "2"}), count=2),
                counter_slice("q", pool="p", counters={"slots": "3"}),
            ],
            [holding("h", share_of("p/x", "1", memory="1Gi"))], [claim(request(**memory_of("1Gi")))], ["r=p/x"],
            id="a further share draws on no counters",
        ),
    ],
)  # fmt: skip
def test_claims_are_allocated(objects, held, claims, results):
    assert allocate(objects, claims, held) == results


@pytest.mark.parametrize(
    ("objects", "claims", "text"),
    [
        pytest.param(
            [], [claim(request(deviceClassName="npu"))],
            "claim default/c, request r: could not retrieve device class npu:"
            ' deviceclass.resource.k8s.io "npu" not found',
            id="no such class",
        ),
        pytest.param(
            [], [claim(request(deviceClassName=""))],
            "claim default/c, request r: missing device class name (unsupported request type?)",
            id="no class at all",
        ),
        pytest.param(
            [], [claim(request(selectors=[{}]))],
            "claim default/c, request r, selector #0: CEL expression empty (unsupported selector type?)",
            id="a selector that is not CEL",
        ),
        pytest.param(
            [], [claim(request(derivedAttributes=[{"name": "x", "expression": "1"}]))],
            "claim default/c, request r: cannot handle request with derived attributes, the feature is disabled",
            id="derived attributes",
        ),
        pytest.param(
            [], [claim(request(allocationMode="Some"))],
            "claim default/c, request r: unsupported count mode Some",
            id="an unknown mode",
        ),
        pytest.param(
            [], [claim(request("r", 20), request("s", 13))],
            "claim default/c, request s: adding 13 devices exceeds the claim limit of 32,"
            " with 20 already accounted for",
            id="more devices than a claim can hold",
        ),
        pytest.param(
            [], [claim(constraints=[{}])],
            "claim default/c, constraint #0: empty constraint (unsupported constraint type?)",
            id="a constraint that demands nothing",
        ),
        pytest.param(
            [resource_slice("p", "x", count=2)], [claim(request(count="All"))],
            "claim default/c, request r: asks for all devices, but resource pool gpu.example.com/p is currently being"
            " updated",
            id="all devices of an incomplete pool",
        ),
        pytest.param(
            [resource_slice("p", "x", "x")], [claim(request(count="All"))],
            "claim default/c, request r: asks for all devices, but resource pool gpu.example.com/p is currently"
            " invalid",
            id="all devices of an invalid pool",
        ),
        pytest.param(
            [MODELS], [claim(request(count="All"), constraints=same())],
            "claim default/c, request r: cannot add device gpu.example.com/p/y because a claim constraint would not be"
            " satisfied",
            id="all devices, and a constraint they cannot meet",
        ),
        pytest.param(
            [resource_slice("p", device("x", memory="4Gi", share=True))], [claim(request(**memory_of("-1")))],
            "claim default/c, request r: checking capacity for device gpu.example.com/p/x:"
            ' capacity "memory": capacity value is negative',
            id="a capacity that cannot be worked out",
        ),
        pytest.param(
            [resource_slice("p", "x", nodeSelector={
                "nodeSelectorTerms": [*zone_is("east")["nodeSelectorTerms"], *zone_is("west")["nodeSelectorTerms"]],
            })],
            [claim()],
            "create NodeSelector for claim c: unsupported ResourceSlice.NodeSelector with 2 terms",
            id="a slice for nodes of two kinds",
        ),
    ],
)  # fmt: skip
def test_errors_end_the_cycle(objects, claims, text):
    with pytest.raises(AllocationError) as caught:
        allocator(*objects).allocate(0, claims)
    assert str(caught.value) == text


def test_a_selector_that_fails_names_the_device():
    with pytest.raises(
        AllocationError, match=r"^claim default/c: selector #0 on device gpu.example.com/p/x: CEL runtime"
    ):
        allocate([MODELS], [claim(request(where=NOT_MODEL))])
    with pytest.raises(AllocationError, match=r"^class gpu: selector #0 on device gpu.example.com/p/x: CEL runtime"):
        allocate([MODELS, device_class("gpu", NOT_MODEL)], [claim()])


def test_an_invalid_pool_is_an_error_only_where_no_other_pool_satisfies_the_claim():
    with pytest.raises(NodeAllocationError, match=r"^invalid resource pools were encountered$"):
        allocate([resource_slice("p", "x", "x")], [claim()])
    assert allocate([resource_slice("p", "x", "x"), resource_slice("q", "y")], [claim()]) == ["r=q/y"]


def test_a_pod_with_more_claims_than_the_stack_is_deep_is_allocated():
    shared = [device(f"d{i}", share=True) for i in range(32)]
    claims = [claim(request(count=32), name=f"c{i}") for i in range(64)]
    results = allocator(resource_slice("p", *shared)).allocate(0, claims)
    assert [len(result.devices.results) for result in results] == [32] * 64


def test_the_limit_of_devices_is_per_claim():
    many = resource_slice("p", *(f"d{i}" for i in range(64)))
    assert allocate([many], [claim(request(count=32)), claim(request(count=32), name="d")]) is not None


def test_a_search_that_exceeds_its_budget_of_steps_raises():
    many = resource_slice("p", *(device(f"d{i}", model=str(i)) for i in range(12)))
    impossible = [claim(request(count=6), request("s", where="false"))]
    with pytest.raises(BudgetExceeded):
        allocator(many, budget=1000).allocate(0, impossible)
    assert allocator(many, budget=100_000).allocate(0, impossible) is None


def test_equal_devices_are_not_tried_in_all_combinations():
    equal = resource_slice("p", *(device(f"d{i}", model="t4") for i in range(60)))
    impossible = [claim(request(count=30), request("s", where="false"))]
    assert allocator(equal, budget=1000).allocate(0, impossible) is None


def test_equal_devices_differ_by_what_is_in_use():
    equal = resource_slice("p", *(device(f"d{i}", share=True, memory="4Gi") for i in range(3)))
    held = [holding("h", share_of("p/d0", "1", memory="2Gi"))]
    claims = [claim(request(**memory_of("3Gi"))), claim(request(**memory_of("3Gi")), name="d")]
    assert allocate([equal], claims, held) == ["r=p/d1", "r=p/d2"]


# -- what results say ------------------------------------------------------------------------------------------------


def result_of(objects, *claims, row=0, held=()):
    (result,) = allocator(*objects, held=held).allocate(row, claims)
    return result


def test_an_allocation_has_binding_conditions_and_tolerations():
    slices = resource_slice(
        "p", device("x", bindingConditions=["Ready"], bindingFailureConditions=["Broken"], taint="k:NoSchedule")
    )
    (result,) = result_of([slices], claim(request(tolerate="k", admin=True))).devices.results
    assert (result.binding_conditions, result.binding_failure_conditions) == (["Ready"], ["Broken"])
    assert result.admin_access is True
    assert [toleration.key for toleration in result.tolerations] == ["k"]


def test_share_ids_are_stable_and_unique():
    first, again = (result_of([SHARED], claim(request(count=2, **memory_of("1Gi")))) for _ in range(2))
    assert first == again
    assert len({each.share_id for each in first.devices.results}) == 2
    assert [each.consumed_capacity for each in first.devices.results] == [{"memory": "1Gi"}] * 2


@pytest.mark.parametrize(
    ("spec", "selector"),
    [
        pytest.param({}, None, id="devices for all nodes can be used anywhere"),
        pytest.param(
            {"on": "a"},
            [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}],
            id="devices of a node on that node",
        ),
        pytest.param(
            {"nodeSelector": zone_is("east")}, zone_is("east")["nodeSelectorTerms"], id="others on the nodes selected"
        ),
    ],
)
def test_the_node_selector_of_an_allocation_covers_the_nodes_that_reach_its_devices(spec, selector):
    result = result_of([resource_slice("p", "x", **spec)], claim())
    terms = result.node_selector and result.node_selector.node_selector_terms
    assert msgspec.to_builtins(terms) == selector


def test_a_device_that_binds_to_a_node_is_selected_by_node_name():
    result = result_of([resource_slice("p", device("x", bindsToNode=True))], claim(), row=1)
    assert result.node_selector.node_selector_terms[0].match_fields[0].values == ["b"]


def test_node_selectors_of_several_devices_are_joined():
    slices = [
        resource_slice("p", "x", nodeSelector=zone_is("east", "west")),
        resource_slice("q", "x", nodeSelector=zone_is("west", "east")),
        resource_slice("r", "x", nodeSelector=zone_is("east")),
    ]
    (term,) = result_of(slices, claim(request(count=3))).node_selector.node_selector_terms
    assert [each.values for each in term.match_expressions] == [["east", "west"], ["east"]]


# -- explaining ------------------------------------------------------------------------------------------------------


def test_an_explanation_has_every_reason_against_each_device():
    slices = resource_slice(
        "p",
        device("held", model="t4"),
        device("other", model="l4"),
        device("tainted", model="l4", taint="k:NoSchedule"),
        device("small", model="t4", memory="1Gi"),
    )
    t4 = claim(request(count=1, where=f'{MODEL}"t4"', **memory_of("2Gi")))
    explained = allocator(slices, held=[holding("h", "p/held")]).explain(0, [t4])
    (shortage,) = explained.shortages
    assert (explained.fits, shortage.claim, shortage.request, shortage.needed, shortage.found) == (
        False, "default/c", "r", 1, 0,
    )  # fmt: skip
    assert [[refusal.why for refusal in judged.refusals] for judged in shortage.devices] == [
        [Why.HELD, Why.CAPACITY],
        [Why.REQUEST, Why.CAPACITY],
        [Why.REQUEST, Why.CAPACITY, Why.TAINT],
        [Why.CAPACITY],
    ]
    assert shortage.devices[0].refusals[0].holders == ("default/h",)
    assert shortage.nearest[0].device.device == "small"
    assert shortage.nearest[0].refusals[0][2:5] == ("memory", "2Gi", "1Gi")
    assert shortage.histogram() == {Why.HELD: 1, Why.REQUEST: 2, Why.CAPACITY: 1}


def test_a_selector_that_fails_on_a_device_that_is_held_is_no_error_of_the_explanation():
    slices, of_nope = resource_slice("p", device("x", model="t4")), claim(request(where=NOT_MODEL))
    held = allocator(slices, held=[holding("h", "p/x")])
    explained = held.explain(0, [of_nope])
    assert held.allocate(0, [of_nope]) is None
    assert (explained.fits, explained.error) == (False, "")
    (judged,) = explained.shortages[0].devices
    assert [refusal.why for refusal in judged.refusals] == [Why.HELD]


def test_an_explanation_has_all_alternatives_of_the_request_that_came_farthest():
    impossible = either("s", alternative("t", 4), alternative("u", where="false"))
    explained = allocator(XYZ).explain(0, [claim(request("r"), impossible)])
    assert [(each.request, each.found) for each in explained.shortages] == [("s/t", 2), ("s/u", 0)]
    assert Why.CHOSEN in explained.shortages[0].histogram()


def test_an_explanation_has_counters_and_constraints():
    (shortage,) = allocator(*SLOTS, held=[holding("h", "p/x")]).explain(0, [claim(request(count=2))]).shortages
    assert ("set/slots", "3", "0") in [refusal[2:5] for refusal in shortage.devices[0].refusals]
    (shortage,) = allocator(MODELS).explain(0, [claim(request(count=3), constraints=same())]).shortages
    assert shortage.devices[0].refusals[0][:3] == (Why.CONSTRAINT, 0, "gpu.example.com/model")


def test_an_explanation_has_invalid_and_incomplete_pools():
    explained = allocator(resource_slice("p", "x", "x"), resource_slice("q", count=2)).explain(0, [claim()])
    assert explained.error == "invalid resource pools were encountered"
    assert [(pool.pool, problem) for pool, problem in explained.pools] == [
        ("p", "duplicate device name x"), ("q", "1 of 2 slices, so its devices are ignored"),
    ]  # fmt: skip


def test_an_allocation_that_fits_has_no_shortages():
    explained = allocator(XYZ).explain(0, [claim()])
    assert explained.fits
    assert not explained.shortages

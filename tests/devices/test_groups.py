"""Asking about many nodes at once is the same as asking about each."""

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from schedctl.api.devices import ResourceClaim
from schedctl.api.meta import ObjectMeta
from schedctl.devices.allocated import PendingAllocation, devices_in_use
from schedctl.devices.allocator import Allocator
from schedctl.devices.eligibility import AllocationError
from schedctl.devices.groups import groups_of
from schedctl.devices.pools import device_pools
from schedctl.devices.search import BudgetExceeded, NodeAllocationError
from schedctl.testing.builders import cluster, node
from tests.devices.builders import (
    DRIVER,
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
    zone_is,
)

NODES = ["a", "b", "c", "d"]
ZONES = ["east", "west", "north"]
MODEL = 'device.attributes["gpu.example.com"].model == "l4"'


def allocate_one(allocator, row, claims):
    try:
        return allocator.allocate(row, claims), None
    except (AllocationError, NodeAllocationError, BudgetExceeded) as fault:
        return None, (type(fault), str(fault))


def assert_columns_equal_rows(made, claims, budget=2000):
    """Ask about all nodes and about each, of a pool that was kept up to date and of a new one."""
    allocator = Allocator(made, devices_in_use(made), budget=budget)
    rows = made.rows
    found = allocator.allocate_all(rows, claims)
    for position, row in enumerate(rows.tolist()):
        results, fault = allocate_one(allocator, row, claims)
        fault_of_group = found.fault(position)
        assert found.at(position) == results
        assert (fault_of_group and (type(fault_of_group), str(fault_of_group))) == fault
        assert found.feasible[position] == (results is not None)
        assert found.faulty[position] == (fault is not None and fault[0] is AllocationError)
        assert found.invalid[position] == (fault is not None and fault[0] is NodeAllocationError)
        assert found.inconclusive[position] == (fault is not None and fault[0] is BudgetExceeded)
    return found


devices = st.lists(
    st.sampled_from(
        [
            device("x", model="l4"),
            device("x", model="t4", taint="k:NoSchedule"),
            device("x", model="t4", share=True, memory="4Gi"),
            device("x", model="l4", memory="2Gi", counters={"slots": "1"}),
            device("x", bindingConditions=["Ready"]),
        ]
    ),
    min_size=1,
    max_size=3,
)
requests = st.sampled_from(
    [
        request(),
        request(count=2),
        request(count="All"),
        request(where=MODEL),
        request(tolerate="k", **memory_of("1Gi")),
        request(admin=True),
        either("r", alternative("s", 3), alternative("t", **memory_of("2Gi"))),
    ]
)
constraint = {"matchAttribute": f"{DRIVER}/model"}


@st.composite
def clusters(draw):
    """Nodes that are given one of few local pools each, now and then a second one, and pools that some or all see."""
    kinds = draw(st.lists(devices, min_size=1, max_size=2))
    objects = [device_class(), *(node(name, labels={"zone": draw(st.sampled_from(ZONES))}) for name in NODES)]
    places = []
    for name in NODES:
        for number in range(draw(st.integers(0, 2))):
            pool = f"{name}{number}"
            named = [{**each, "name": f"{name}-{i}"} for i, each in enumerate(draw(st.sampled_from(kinds)))]
            count = draw(st.sampled_from([2, 2, 2, 3]))
            objects.append(resource_slice(f"s{pool}", *named, pool=pool, on=name, count=count))
            objects.append(counter_slice(f"t{pool}", pool=pool, on=name, counters={"slots": "1"}, count=count))
            places += [f"{pool}/{each['name']}" for each in named]
    for zone in draw(st.lists(st.sampled_from(ZONES), unique=True)):
        meant = draw(st.sampled_from([[zone], ["nowhere", zone], ZONES]))
        objects.append(resource_slice(zone, *draw(st.sampled_from(kinds)), nodeSelector=zone_is(*meant)))
        places.append(f"{zone}/x")
    if draw(st.booleans()):
        where = st.sampled_from(
            [*({"nodeName": name} for name in NODES), *({"nodeSelector": zone_is(z)} for z in ZONES)]
        )
        wide = [{**each, "name": f"w{i}", **draw(where)} for i, each in enumerate(kinds[0])]
        objects.append(resource_slice("w", *wide, perDeviceNodeSelection=True))
        places += [f"w/{each['name']}" for each in wide]
    held = draw(st.lists(st.sampled_from(places), unique=True, max_size=4)) if places else []
    objects += [holding(f"h{i}", place) for i, place in enumerate(held)]
    return objects


@st.composite
def claim_lists(draw):
    return [
        claim(
            *({**draw(requests), "name": f"r{i}"} for i in range(draw(st.integers(1, 2)))),
            name=f"c{number}",
            constraints=draw(st.sampled_from([None, None, [constraint]])),
        )
        for number in range(draw(st.integers(1, 2)))
    ]


@given(objects=clusters(), claims=claim_lists(), budget=st.sampled_from([20, 2000]), data=st.data())
def test_a_column_of_nodes_and_each_node_have_the_same_outcome(objects, claims, budget, data):
    made = cluster(*objects)
    for step in range(4):
        found = assert_columns_equal_rows(made, claims, budget)
        feasible = np.flatnonzero(found.feasible)
        if not feasible.size:
            return
        results = found.at(int(data.draw(st.sampled_from(feasible.tolist()))))
        for number, (each, result) in enumerate(zip(claims, results, strict=True)):
            allocated = msgspec.structs.replace(each, status=msgspec.structs.replace(each.status, allocation=result))
            made.put(PendingAllocation(metadata=ObjectMeta(name=f"{step}-{number}"), claim=allocated))


@given(objects=clusters(), claims=claim_lists())
def test_reverting_a_fork_restores_the_outcomes(objects, claims):
    made = cluster(*objects)
    before = assert_columns_equal_rows(made, claims)
    answers = [before.at(position) for position in range(len(NODES))]
    with made.fork():
        for key in list(made.every(ResourceClaim)):
            made.delete(made.get(ResourceClaim, key))
        made.add_node(node("e"))
        assert_columns_equal_rows(made, claims)
    after = assert_columns_equal_rows(made, claims)
    assert [after.at(position) for position in range(len(NODES))] == answers


def test_nodes_that_are_alike_are_one_group_and_each_is_given_its_own_devices():
    slices = [resource_slice(f"s{i}", "x", "y", on=f"n{i}") for i in range(50)]
    made = cluster(device_class(), *(node(f"n{i}") for i in range(50)), *slices, holding("h", "s7/x"))
    state = devices_in_use(made)
    assert len(set(groups_of(made, device_pools(made), state).of(made.rows).tolist())) == 2
    found = Allocator(made, state).allocate_all(made.rows, [claim()])
    chosen = [found.at(position)[0].devices.results[0] for position in (6, 7, 8)]
    assert [(each.pool, each.device) for each in chosen] == [("s6", "x"), ("s7", "y"), ("s8", "x")]


def test_a_search_is_not_repeated_where_nothing_changed_that_the_node_sees():
    made = cluster(
        device_class(), *(node(zone, labels={"zone": zone}) for zone in ZONES),
        *(resource_slice(zone, "x", "y", nodeSelector=zone_is(zone)) for zone in ZONES),
    )  # fmt: skip
    assert_columns_equal_rows(made, [claim()])
    groups = groups_of(made, device_pools(made), devices_in_use(made))
    before = len(groups.outcomes)
    made.put(holding("h", "west/x"))
    assert_columns_equal_rows(made, [claim()])
    assert (before, len(groups.outcomes)) == (3, 4)


def test_the_cache_of_outcomes_is_bounded(monkeypatch):
    monkeypatch.setattr("schedctl.devices.groups._MOST_KEPT", 5)
    made = cluster(device_class(), node("a"), resource_slice("s", "x", on="a"))
    groups = groups_of(made, device_pools(made), devices_in_use(made))
    for number in range(20):
        assert_columns_equal_rows(made, [claim(request(count=number + 1))])
        assert len(groups.outcomes) <= 6


def test_a_changed_device_class_invalidates_outcomes():
    made = cluster(node("a"), device_class(), resource_slice("s", device("x", model="t4"), on="a"))
    assert assert_columns_equal_rows(made, [claim()]).feasible.all()
    made.put(device_class("gpu", MODEL))
    assert not assert_columns_equal_rows(made, [claim()]).feasible.any()

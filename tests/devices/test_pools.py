"""Pools as a node sees them."""

import pytest

from schedctl.devices.pools import GatherError, device_pools
from schedctl.testing.builders import cluster, node
from tests.devices.builders import counter_slice, device, resource_slice, taint_rule, zone_is


def pools_of(objects, name="a"):
    """What a node sees: each pool with its devices, or with what is wrong with it."""
    made = cluster(node("a", labels={"zone": "east"}), node("b", labels={"zone": "west"}), *objects)
    offer = device_pools(made).offer(made.node_table.row_of[name])
    return [
        (pool.id.pool, "incomplete" if pool.incomplete else pool.invalid or [each.id.device for each in pool.devices])
        for pool in offer.pools
    ]


@pytest.mark.parametrize(
    ("objects", "pools"),
    [
        pytest.param([], [], id="without slices there are no pools"),
        pytest.param(
            [resource_slice("s2", "y", pool="p", count=2), resource_slice("s1", "z", "x", pool="p", count=2)],
            [("p", ["z", "x", "y"])],
            id="devices come in the order of slice names, and then as they are listed",
        ),
        pytest.param(
            [
                resource_slice("s1", "x", pool="b"),
                resource_slice("s2", device("y", bindingConditions=["Ready"]), pool="a"),
                resource_slice("s3", "z", pool="c", driver="a.example.com"),
            ],
            [("c", ["z"]), ("b", ["x"]), ("a", ["y"])],
            id="pools come by driver and name, those that wait for binding conditions last",
        ),
        pytest.param(
            [resource_slice("s1", device("x", bindingConditions=[]), pool="a"), resource_slice("s2", "y", pool="b")],
            [("b", ["y"]), ("a", ["x"])],
            id="an empty list of binding conditions is enough to come last",
        ),
        pytest.param([resource_slice("s", "x", on="b")], [], id="slices of other nodes are not seen"),
        pytest.param(
            [
                resource_slice("s1", "x", nodeSelector=zone_is("east")),
                resource_slice("s2", nodeSelector=zone_is("west")),
            ],
            [("s1", ["x"])],
            id="a node selector decides who sees a slice",
        ),
        pytest.param([resource_slice("s", "x", allNodes=False)], [], id="a slice that names no nodes is overlooked"),
        pytest.param(
            [resource_slice("s", "x", perDeviceNodeSelection=True)], [], id="devices that name no nodes are overlooked"
        ),
        pytest.param(
            [resource_slice("s1", "x", pool="p", count=2)],
            [("p", "incomplete")],
            id="a pool with too few slices is incomplete",
        ),
        pytest.param(
            [
                resource_slice("s1", "x", pool="p"),
                resource_slice("s2", "y", pool="p"),
            ],
            [("p", "incomplete")],
            id="a pool with too many slices is incomplete",
        ),
        pytest.param(
            [
                resource_slice("s1", "x", pool="p", count=2, on="a"),
                resource_slice("s2", "y", pool="p", count=2, on="b"),
            ],
            [("p", ["x"])],
            id="slices on other nodes count for completeness, their devices cannot be had",
        ),
        pytest.param(
            [resource_slice("s1", "x", pool="p"), resource_slice("s2", "y", pool="p", generation=2)],
            [("p", ["y"])],
            id="of two generations that are seen the newer counts",
        ),
        pytest.param(
            [
                resource_slice("s1", "x", pool="p", on="a", count=2),
                resource_slice("s2", "y", pool="p", on="b", generation=2),
            ],
            [],
            id="an incomplete pool is forgotten when there is a newer generation elsewhere",
        ),
        pytest.param(
            [resource_slice("s1", "x", pool="p", on="a"), resource_slice("s2", "y", pool="p", on="b", generation=2)],
            [("p", ["x"])],
            id="a newer generation elsewhere goes unnoticed while the older one looks complete",
        ),
        pytest.param(
            [resource_slice("s", "x", "x", pool="p")], [("p", "duplicate device name x")], id="device names are unique"
        ),
        pytest.param(
            [
                resource_slice("s1", "x", pool="p", count=2, on="a"),
                resource_slice("s2", "x", pool="p", count=2, on="b"),
            ],
            [("p", ["x"])],
            id="a device elsewhere may have the same name",
        ),
        pytest.param(
            [
                resource_slice("s1", device("x", counters={"slots": "1"}), pool="p", count=2),
                counter_slice("s2", pool="p", counters={"slots": "4"}),
            ],
            [("p", ["x"])],
            id="counters may live in a slice of their own",
        ),
        pytest.param(
            [
                resource_slice("s1", device("x", counters={"slots": "1"}), pool="p", count=2, on="a"),
                counter_slice("s2", pool="p", counters={"slots": "4"}, on="b"),
            ],
            [("p", ["x"])],
            id="counters are found on other nodes, too",
        ),
        pytest.param(
            [resource_slice("s1", device("x", counters={"slots": "1"}), pool="p")],
            [("p", "counter set set not found")],
            id="a counter set that is not there makes the pool invalid",
        ),
        pytest.param(
            [
                resource_slice("s1", device("x", counters={"slots": "1"}), pool="p", count=2),
                counter_slice("s2", pool="p", counters={"memory": "4"}),
            ],
            [("p", "counter slots not found in counter set set")],
            id="a counter that is not there makes the pool invalid",
        ),
        pytest.param(
            [
                resource_slice("s1", "x", pool="p", count=3, on="a"),
                resource_slice("s2", device("y", counters={"slots": "1"}), pool="p", count=3, on="b"),
                counter_slice("s3", pool="p", counters={"memory": "4"}, count=3),
            ],
            [("p", "counter slots not found in counter set set")],
            id="so does one that a device elsewhere draws on",
        ),
        pytest.param(
            [counter_slice("s", pool="p", sets=["one", "one"], count=1)],
            [("p", "duplicate counter set name one")],
            id="counter sets are unique",
        ),
        pytest.param(
            [
                resource_slice("s1", "x", pool="p", count=2),
                resource_slice(
                    "s2",
                    device("y", consumesCounters=[{"counterSet": "set", "compatibilityGroups": ["g"]}]),
                    pool="p",
                    count=2,
                ),
            ],
            [("p", "incomplete")],
            id="a slice with compatibility groups is left out, which makes the pool incomplete",
        ),
    ],
)
def test_pools_as_a_node_sees_them(objects, pools):
    assert pools_of(objects) == pools
    assert pools_of(reversed(objects)) == pools


def test_each_of_many_node_selectors_is_matched_with_each_node():
    zones = [f"z{number}" for number in range(20)]
    made = cluster(
        *(node(zone, labels={"zone": zone}) for zone in zones),
        *(resource_slice(f"s{i:02}", "x", nodeSelector=zone_is(*zones[i:])) for i in range(20)),
    )
    for row in made.rows.tolist():
        assert [pool.id.pool for pool in device_pools(made).offer(row).pools] == [f"s{i:02}" for i in range(row + 1)]


def test_devices_may_select_nodes_one_by_one():
    devices = [device("x", nodeName="a"), device("y", nodeSelector=zone_is("west")), device("z", allNodes=True)]
    made = cluster(
        node("a", labels={"zone": "east"}), node("b", labels={"zone": "west"}),
        resource_slice("s", *devices, perDeviceNodeSelection=True),
    )  # fmt: skip
    offers = [device_pools(made).offer(row) for row in (0, 1)]
    assert [[each.id.device for each in offer.devices if each.reached] for offer in offers] == [["x", "z"], ["y", "z"]]


def test_a_node_selector_that_cannot_be_parsed_is_an_error_in_kube_schedulers_words():
    selector = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "Like", "values": ["e"]}]}]}
    with pytest.raises(GatherError) as caught:
        pools_of([resource_slice("s", "x", nodeSelector=selector)])
    assert str(caught.value) == (
        "failed to perform node selection for slice s: failed to parse node selector &NodeSelector{NodeSelectorTerms:"
        "[]NodeSelectorTerm{NodeSelectorTerm{MatchExpressions:[]NodeSelectorRequirement{NodeSelectorRequirement{Key:zone,"
        "Operator:Like,Values:[e],},},MatchFields:[]NodeSelectorRequirement{},},},}: nodeSelectorTerms[0]."
        'matchExpressions[0].operator: Unsupported value: "Like": supported values: "In", "NotIn", "Exists",'
        ' "DoesNotExist", "Gt", "Lt"'
    )


@pytest.mark.parametrize(
    ("rule", "tainted"),
    [
        pytest.param(taint_rule("r", "k"), "", id="a rule without a selector taints nothing"),
        pytest.param(taint_rule("r", "k", driver="gpu.example.com"), "xyz", id="a driver"),
        pytest.param(taint_rule("r", "k", pool="p"), "xy", id="a pool"),
        pytest.param(taint_rule("r", "k", device="x"), "x", id="a device"),
        pytest.param(taint_rule("r", "k", pool="q", device="x"), "", id="a device of another pool"),
        pytest.param(taint_rule("r", "k", effect="None", pool="p"), "", id="the effect None keeps nobody away"),
    ],
)
def test_device_taint_rules_taint_devices(rule, tainted):
    made = cluster(node("a"), resource_slice("s", "x", "y", pool="p"), resource_slice("t", "z", pool="q"), rule)
    devices = device_pools(made).offer(0).devices
    assert "".join(each.id.device for each in devices if each.model.taints) == tainted


def test_signatures_are_equal_when_pools_differ_in_names_alone():
    made = cluster(
        node("a"), node("b"), node("c"), node("d"),
        resource_slice("s1", device("x", model="l4"), on="a", pool="p"),
        resource_slice("s2", device("y", model="l4"), on="b", pool="q"),
        resource_slice("s3", device("y", model="t4"), on="c", pool="r"),
    )  # fmt: skip
    signatures = device_pools(made).signatures(made.rows).tolist()
    assert signatures[0] == signatures[1] != signatures[2] != signatures[3]


def test_signatures_differ_when_nodes_reach_different_devices_of_a_shared_pool():
    made = cluster(
        node("a"), node("b"), node("c"),
        resource_slice("s", device("x", nodeName="a"), device("y", allNodes=True), perDeviceNodeSelection=True),
    )  # fmt: skip
    signatures = device_pools(made).signatures(made.rows).tolist()
    assert signatures[0] != signatures[1] == signatures[2]

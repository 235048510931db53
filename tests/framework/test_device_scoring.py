"""How many devices of a class each node sees, and what NodeResourcesFit and -BalancedAllocation make of it."""

import msgspec
import pytest

from schedctl.api.devices import DeviceClass, ResourceClaim, ResourceSlice
from schedctl.config.args import (
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    ResourceSpec,
    ScoringStrategy,
)
from schedctl.errors import PluginError
from schedctl.framework.cycles import Cycle
from schedctl.framework.device_scoring import device_counts
from schedctl.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from schedctl.plugins.node_resources_fit.plugin import NodeResourcesFit
from schedctl.testing.builders import cluster, handle, node, pod
from schedctl.testing.plugin_answers import parts_read

CARD = "example.com/card"
ANYTHING = 'device.driver == "d"'
BROKEN = 'device.attributes["d"].missing == "x"'


def device_class(*expressions, name="card"):
    selectors = [{"cel": {"expression": expression}} for expression in expressions]
    spec = {"extendedResourceName": CARD, "selectors": selectors}
    return msgspec.convert({"metadata": {"name": name}, "spec": spec}, DeviceClass)


def slice_of(name, *devices, driver="d", generation=1, count=1, **where):
    pool = {"name": where.get("nodeName", "net"), "generation": generation, "resourceSliceCount": count}
    offered = [{"name": each} if isinstance(each, str) else each for each in devices]
    spec = {"driver": driver, "pool": pool, "devices": offered, **where}
    return msgspec.convert({"metadata": {"name": name}, "spec": spec}, ResourceSlice)


def on(name, *devices, **more):
    return slice_of(f"slice-{name}-{more.get('generation', 1)}", *devices, nodeName=name, **more)


def holding(pool, device):
    result = {"request": "r", "driver": "d", "pool": pool, "device": device}
    metadata = {"name": f"{pool}-{device}", "namespace": "default"}
    status = {"allocation": {"devices": {"results": [result]}}}
    return msgspec.convert({"metadata": metadata, "status": status}, ResourceClaim)


def zone(*zones, operator="In"):
    requirement = {"key": "topology.kubernetes.io/zone", "operator": operator, "values": list(zones)}
    return {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}


@pytest.mark.parametrize(
    ("slices", "counts"),
    [
        pytest.param([], [0, 0], id="no devices"),
        pytest.param([on("a", "x", "y")], [2, 0], id="those of a node"),
        pytest.param([slice_of("s", "x", allNodes=True)], [1, 1], id="those of all nodes"),
        pytest.param([slice_of("s", "x", nodeSelector=zone("z"))], [0, 1], id="those of some nodes"),
        pytest.param([slice_of("s", "x")], [1, 1], id="those of a slice that says nothing are everywhere"),
        pytest.param(
            [
                slice_of(
                    "s",
                    {"name": "x", "nodeName": "a"},
                    {"name": "y", "allNodes": True},
                    {"name": "z", "nodeSelector": zone("z")},
                    "nowhere",
                    perDeviceNodeSelection=True,
                )
            ],
            [2, 2],
            id="each where its device says, and nowhere if it says nothing",
        ),
        pytest.param([on("a", "x", count=3)], [1, 0], id="those of a pool that is not complete, too"),
        pytest.param([on("a", "x"), on("a", "x", generation=2)], [2, 0], id="and those out of date"),
        pytest.param([on("a", "x", driver="other")], [0, 0], id="not those that the class does not select"),
        pytest.param([on("gone", "x")], [0, 0], id="not those of nodes that are not there"),
        pytest.param(
            [on("a", "x"), slice_of("s", nodeSelector=zone("z", operator="Near"))],
            [0, 0],
            id="none anywhere when a node selector cannot be parsed",
        ),
    ],
)
def test_how_many_devices_a_node_sees(slices, counts):
    c = cluster(node("a"), node("b", zone="z"), device_class(ANYTHING), *slices)
    assert device_counts(c, device_class(ANYTHING)).capacity.tolist()[:2] == counts


def test_a_selector_that_fails_leaves_the_nodes_that_see_the_device_without_any():
    c = cluster(node("a"), node("b"), on("a", {"name": "x", "attributes": {"missing": {"string": "x"}}}, "y"))
    c.put(on("b", {"name": "x", "attributes": {"missing": {"string": "x"}}}))
    assert device_counts(c, device_class(BROKEN)).capacity.tolist()[:2] == [0, 1]


def test_a_class_without_selectors_takes_every_device():
    c = cluster(node("a"), on("a", "x", driver="other"), on("a", "y", generation=2))
    assert device_counts(c, device_class()).capacity.tolist()[:1] == [2]


def test_devices_in_use_are_counted_anew_when_claims_change():
    c = cluster(node("a"), on("a", "x", "y"))
    before = device_counts(c, device_class())
    c.put(holding("a", "y"))
    after = device_counts(c, device_class())
    assert (before.allocated[0], after.allocated[0], after.capacity[0]) == (0, 1, 2)


def fit(c, incoming, strategy="LeastAllocated", resources=(CARD,)):
    specs = tuple(ResourceSpec(name=name, weight=1) for name in resources)
    args = NodeResourcesFitArgs(scoring_strategy=ScoringStrategy(type=strategy, resources=specs))
    return NodeResourcesFit(args, None).score(Cycle(incoming), c.nodes).tolist()


def balanced(c, incoming, nodes=None):
    args = NodeResourcesBalancedAllocationArgs(resources=tuple(ResourceSpec(name=n) for n in ("cpu", CARD)))
    return NodeResourcesBalancedAllocation(args, handle()).score(Cycle(incoming), nodes or c.nodes).tolist()


def shelf(*more, selectors=(ANYTHING,)):
    """Node a has four devices, one in use; b a device plugin with four, none in use; c nothing."""
    nodes = (node("a"), node("b", **{CARD: "4"}), node("c"))
    return cluster(*nodes, device_class(*selectors), on("a", *"wxyz"), holding("a", "w"), on("b", "v"), *more)


def test_devices_are_scored_where_the_device_plugin_offers_none():
    c, incoming = shelf(), pod(requests={CARD: "1"})
    assert fit(c, incoming) == [50, 75, 0]
    assert fit(c, incoming, "MostAllocated") == [50, 25, 0]


def test_a_resource_the_pod_does_not_ask_for_is_not_scored():
    assert fit(shelf(), pod(cpu="1"), resources=("cpu", CARD)) == [75, 75, 75]


def test_the_balance_counts_devices():
    c = shelf(selectors=())
    # No cpu is in use; of the devices, a goes from 1 to 3 of 4 and b from none to 2; c has only cpu.
    assert balanced(c, pod(requests={CARD: "2"})) == [62, 62, 75]


def test_where_kube_scheduler_crashes_it_is_said_so():
    c, incoming = shelf(), pod(cpu="1", requests={CARD: "1"})
    with pytest.raises(PluginError, match=r'kube-scheduler crashes here: .* DeviceClass "card", which backs "example'):
        balanced(c, incoming)
    assert balanced(c, incoming, c.nodes.take([1, 2])) == [75, 75]


def test_a_single_node_is_not_scored_by_kube_scheduler_and_so_does_not_crash_it():
    c = shelf()
    assert balanced(c, pod(cpu="1", requests={CARD: "1"}), c.nodes.take([0])) == [75]


@pytest.mark.parametrize(
    ("requests", "everything"),
    [
        pytest.param({CARD: "1"}, True, id="devices that are scored"),
        pytest.param({"cpu": "1"}, False, id="a pod that asks for no such thing"),
    ],
)
def test_scores_of_devices_rest_on_everything(requests, everything):
    c = shelf(selectors=())
    args = NodeResourcesBalancedAllocationArgs(resources=(ResourceSpec(CARD), ResourceSpec("cpu")))
    parts = parts_read(NodeResourcesBalancedAllocation(args, handle(c)), pod(requests=requests), c.nodes)
    assert ("everything" in parts) is everything

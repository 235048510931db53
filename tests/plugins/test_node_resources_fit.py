"""NodeResourcesFit: what keeps a pod off a node, and how nodes with room are ranked."""

import numpy as np
import pytest

from schedctl.api.devices import DeviceClass, DeviceClassSpec
from schedctl.api.meta import ObjectMeta
from schedctl.api.nodes import Node
from schedctl.config.args import (
    NodeResourcesFitArgs,
    RequestedToCapacityRatioParam,
    ResourceSpec,
    ScoringStrategy,
    UtilizationShapePoint,
)
from schedctl.framework.cycles import Cycle
from schedctl.framework.statuses import SUCCESS, Code, Status
from schedctl.plugins.node_resources_fit.plugin import NodeResourcesFit
from schedctl.plugins.node_resources_fit.requested_parts import RequestedParts
from schedctl.plugins.node_resources_fit.slips import Slip, Slips, TooLarge
from schedctl.testing.builders import cluster, handle, node, pod
from schedctl.testing.plugin_answers import reads_of

GPU = "nvidia.com/gpu"


def unschedulable(*reasons):
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons):
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)


def verdicts(c, incoming, nodes=None, **args):
    plugin = NodeResourcesFit(NodeResourcesFitArgs(**args), None)
    cycle, nodes = Cycle(incoming), nodes or c.nodes
    plugin.pre_filter(cycle, nodes)
    return plugin.filter(cycle, nodes)


def status(c, incoming, **args):
    return verdicts(c, incoming, **args).status(0)


def scores(c, incoming, strategy="LeastAllocated", resources=("cpu", "memory"), shape=(), weights=()):
    specs = tuple(
        ResourceSpec(name=name, weight=weight)
        for name, weight in zip(resources, weights or (1,) * len(resources), strict=True)
    )
    points = tuple(UtilizationShapePoint(utilization=use, score=score) for use, score in shape)
    ratio = RequestedToCapacityRatioParam(shape=points) if points else None
    scoring = ScoringStrategy(type=strategy, resources=specs, requested_to_capacity_ratio=ratio)
    plugin = NodeResourcesFit(NodeResourcesFitArgs(scoring_strategy=scoring), None)
    cycle = Cycle(incoming)
    plugin.pre_score(cycle, c.nodes)
    return plugin.score(cycle, c.nodes).tolist()


def device_class(name, extended=None, created=None):
    spec = DeviceClassSpec(extended_resource_name=extended)
    return DeviceClass(metadata=ObjectMeta(name=name, creation_timestamp=created), spec=spec)


@pytest.mark.parametrize(
    ("offered", "incoming", "expected"),
    [
        pytest.param({}, pod(cpu="4", memory="16Gi"), SUCCESS, id="a pod may fill a node to the brim"),
        pytest.param(
            {"cpu": "5"}, pod(cpu="5"), unschedulable("Insufficient cpu"), id="others may have taken the room"
        ),
        pytest.param(
            {}, pod(cpu="4001m"), unresolvable("Insufficient cpu"), id="no preemption makes a node larger than it is"
        ),
        pytest.param(
            {"cpu": "5"},
            pod(cpu="5", memory="17Gi"),
            unresolvable("Insufficient cpu", "Insufficient memory"),
            id="one resource that no preemption can help decides for all",
        ),
        pytest.param(
            {"pods": "1"}, pod(), unschedulable("Too many pods"), id="a pod needs a slot even if it asks for nothing"
        ),
        pytest.param(
            {"pods": "1"},
            pod(cpu="4"),
            unschedulable("Too many pods", "Insufficient cpu"),
            id="a full node is told what else it lacks",
        ),
        pytest.param(
            {},
            pod(requests={GPU: "1"}),
            unresolvable(f"Insufficient {GPU}"),
            id="a node may not have the resource at all",
        ),
        pytest.param({GPU: "1"}, pod(requests={GPU: "1"}), SUCCESS, id="an extended resource is counted"),
        pytest.param({}, pod(requests={GPU: "0"}), SUCCESS, id="a request of 0 needs nothing"),
        pytest.param(
            {"ephemeral-storage": "1Gi"},
            pod(requests={"ephemeral-storage": "2Gi"}),
            unresolvable("Insufficient ephemeral-storage"),
            id="ephemeral storage is counted",
        ),
        pytest.param(
            {"hugepages-2Mi": "4Mi"},
            pod(requests={"hugepages-2Mi": "6Mi"}),
            unresolvable("Insufficient hugepages-2Mi"),
            id="huge pages are counted",
        ),
        pytest.param(
            {},
            pod(initContainers=[{"name": "i", "resources": {"requests": {"cpu": "9"}}}]),
            unresolvable("Insufficient cpu"),
            id="an init container must fit, too",
        ),
    ],
)
def test_room(offered, incoming, expected):
    busy = pod("busy", on="a", cpu="1") if offered else pod("elsewhere", on="b", cpu="1")
    assert status(cluster(node("a", **offered), busy), incoming) == expected


def test_amounts_wrap_as_int64_does():
    giants = [pod("five", on="a", memory="5Ei"), pod("six", on="a", memory="6Ei")]
    assert status(cluster(node("a"), giants[0]), pod(memory="1Gi")) == unschedulable("Insufficient memory")
    assert status(cluster(node("a"), *giants), pod(memory="1Gi")) == SUCCESS


@pytest.mark.parametrize(
    ("args", "resource", "ignored"),
    [
        pytest.param({"ignored_resources": (GPU,)}, GPU, True, id="an extended resource may be ignored by name"),
        pytest.param({"ignored_resource_groups": ("nvidia.com",)}, GPU, True, id="and by the part before the slash"),
        pytest.param({"ignored_resource_groups": ("nvidia",)}, GPU, False, id="which counts as a whole"),
        pytest.param({"ignored_resources": ("cpu",)}, "cpu", False, id="cpu cannot be ignored"),
        pytest.param(
            {"ignored_resources": ("kubernetes.io/b",), "ignored_resource_groups": ("kubernetes.io",)},
            "kubernetes.io/b",
            False,
            id="nor can a resource of Kubernetes' own",
        ),
    ],
)
def test_ignored_resources(args, resource, ignored):
    found = status(cluster(node("a", cpu="1")), pod(requests={resource: "9"}), **args)
    assert found == (SUCCESS if ignored else unresolvable(f"Insufficient {resource}"))


@pytest.mark.parametrize(
    ("classes", "resource", "refused"),
    [
        pytest.param([], GPU, ["none", "zero"], id="without a class a node needs a device plugin"),
        pytest.param([device_class("c", GPU)], GPU, [], id="a class takes over where no device plugin offers any"),
        pytest.param(
            [device_class("c", "example.com/x")], GPU, ["none", "zero"], id="a class of another name does not"
        ),
        pytest.param(
            [device_class("c")],
            "deviceclass.resource.kubernetes.io/c",
            [],
            id="every class has a resource of its own name",
        ),
        pytest.param(
            [device_class("c", GPU), device_class("d", GPU)],
            "deviceclass.resource.kubernetes.io/d",
            ["some", "none", "zero"],
            id="but for a class whose name was taken",
        ),
    ],
)
def test_resources_left_to_device_classes(classes, resource, refused):
    nodes = (node("some", **{GPU: "4"}), node("none"), node("zero", **{GPU: "0"}))
    found = verdicts(cluster(*nodes, *classes), pod(requests={resource: "1"}))
    assert [name for i, name in enumerate(("some", "none", "zero")) if not found.status(i).successful] == refused


def test_a_device_plugin_without_enough_devices_is_not_helped_by_a_class():
    c = cluster(node("a", **{GPU: "1"}), device_class("c", GPU))
    assert status(c, pod(requests={GPU: "2"})) == unresolvable(f"Insufficient {GPU}")


def test_the_evidence_is_the_numbers_at_the_time():
    c = cluster(node("a"), node("b", cpu="8"), pod("busy", on="a", cpu="3"))
    found = verdicts(c, pod(cpu="2"))
    c.add_pod(pod("late", on="a", cpu="1"))
    (part,) = found.at(0)
    assert part.at(0) == {"resource": "cpu", "requested": 2000, "used": 3000, "capacity": 4000}
    assert found.at(1) == []


def test_a_supposed_pod_takes_its_room_and_a_lost_one_gives_it_back():
    busy = pod("busy", on="a", cpu="3")
    c = cluster(node("a", pods="1"), busy)
    supposed = c.nodes.take([0, 0, 0]).hypothetical([0, 1, 2], [busy, busy, pod("more", cpu="1")], [-1, -1, 1])
    supposed = supposed.hypothetical([1], [pod("more", cpu="3")], [1])
    found = verdicts(c, pod(cpu="2"), supposed)
    full = unschedulable("Too many pods", "Insufficient cpu")
    assert [found.status(row) for row in range(3)] == [SUCCESS, full, full]


def test_without_prefilter_the_filter_fails():
    c = cluster(node("a"))
    found = NodeResourcesFit(NodeResourcesFitArgs(), None).filter(Cycle(pod()), c.nodes)
    assert found.status(0) == Status(
        Code.ERROR, ('error reading "PreFilterNodeResourcesFit" from cycleState: not found',)
    )


SIZES = cluster(
    node("small", cpu="2", memory="4Gi"), node("large", cpu="4", memory="16Gi"), node("none", cpu="0", memory="4Gi")
)


@pytest.mark.parametrize(
    ("strategy", "more", "expected"),
    [
        pytest.param(
            "LeastAllocated", {}, [62, 84, 75], id="the emptier, the better; what is not offered does not count"
        ),
        pytest.param("MostAllocated", {}, [37, 15, 25], id="the fuller, the better"),
        pytest.param("LeastAllocated", {"weights": (3, 1)}, [56, 79, 75], id="weights count"),
        pytest.param(
            "LeastAllocated", {"resources": (GPU,)}, [0, 0, 0], id="what the pod does not ask for does not count"
        ),
        pytest.param("LeastAllocated", {"resources": ("pods", "cpu")}, [50, 75, 0], id="pod slots are not scored"),
        pytest.param(
            "RequestedToCapacityRatio",
            {"shape": ((0, 0), (100, 10))},
            [38, 16, 25],
            id="a straight line gives the share taken, rounded to the nearest",
        ),
        pytest.param(
            "RequestedToCapacityRatio",
            {"shape": ((30, 10), (60, 0))},
            [67, 100, 100],
            id="before the first point the line is flat",
        ),
        pytest.param(
            "RequestedToCapacityRatio",
            {"shape": ((0, 10), (20, 0))},
            [0, 70, 0],
            id="behind the last point it is flat, too, and scores of 0 do not count",
        ),
    ],
)
def test_scores(strategy, more, expected):
    assert scores(SIZES, pod(cpu="1", memory="1Gi"), strategy, **more) == expected


def test_a_container_that_asks_for_nothing_counts_a_little():
    c = cluster(node("a", cpu="1", memory="1000Mi"))
    assert scores(c, pod()) == [(90 + 80) // 2]
    c.add_pod(pod("busy", on="a"))
    assert scores(c, pod()) == [(80 + 60) // 2]


def test_a_pod_larger_than_the_node_scores_as_if_it_filled_it():
    c = cluster(node("a", cpu="1", memory="1Gi"))
    assert scores(c, pod(cpu="2", memory="2Gi")) == [0]
    assert scores(c, pod(cpu="2", memory="2Gi"), "MostAllocated") == [100]
    assert scores(c, pod(cpu="2", memory="2Gi"), "RequestedToCapacityRatio", shape=((0, 0), (100, 10))) == [100]


def test_shares_of_giant_nodes_wrap_as_int64_does():
    c = cluster(node("a", cpu="1", memory="1Ei"))
    assert scores(c, pod(memory="0.5Ei"), resources=("memory",)) == [2]
    assert scores(c, pod(memory="0.5Ei"), "MostAllocated", resources=("memory",)) == [2]


@pytest.mark.parametrize(
    ("incoming", "kinds"),
    [
        pytest.param(pod(cpu="1"), set(), id="no class changes cpu"),
        pytest.param(pod(requests={GPU: "1"}), {DeviceClass, Node}, id="a class may take over what no node offers"),
    ],
)
def test_answer_rests_on_the_row_and_on_the_classes_of_its_resources(incoming, kinds):
    nodes = cluster(node("a")).nodes
    reads = reads_of(NodeResourcesFit(NodeResourcesFitArgs(), None), incoming, nodes)
    assert reads.description
    assert reads.occupancy
    assert not reads.everything
    assert reads.versions.keys() == kinds


def test_pods_with_equal_requests_have_one_signature():
    plugin = NodeResourcesFit(NodeResourcesFitArgs(), handle())
    assert plugin.signature(pod("a", cpu="1")) == plugin.signature(pod("b", cpu="1", labels={"x": "y"}))
    assert plugin.signature(pod("a", cpu="1")) != plugin.signature(pod("a", cpu="2"))


def test_the_columns_of_the_cluster_stay_unchanged():
    c = cluster(node("a"), pod("busy", on="a", cpu="3"))
    before = c.nodes.requested("cpu").copy()
    verdicts(c, pod(cpu="2"))
    scores(c, pod(cpu="2"))
    assert np.array_equal(c.nodes.requested("cpu"), before)


def test_the_parts_of_a_request_are_found_once_for_all_nodes():
    incoming = pod(cpu="1", initContainers=[{"name": "migrate", "resources": {"requests": {"cpu": "2"}}}])
    parts = RequestedParts(incoming.pod, "cpu", 2000)
    assert parts.at(0) == (("init container migrate", 2000),)
    assert parts.at(1) is parts.at(0)


def test_what_was_probably_meant_is_found_once_for_all_nodes_but_again_when_the_largest_node_is_another():
    c = cluster(node("a", cpu="4"))
    slips = Slips(pod(cpu="100").pod, "cpu", TooLarge(c.nodes.cluster, "cpu", 100_000))
    assert slips.at(0) == (Slip("100", "100m"),)
    assert slips.at(1) is slips.at(0)
    c.add_node(node("b", cpu="128"))
    assert slips.at(0) == ()

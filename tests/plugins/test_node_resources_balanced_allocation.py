"""NodeResourcesBalancedAllocation."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedctl.config.args import NodeResourcesBalancedAllocationArgs, ResourceSpec
from schedctl.framework.cycles import Cycle
from schedctl.framework.statuses import SKIP
from schedctl.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from schedctl.testing.builders import cluster, handle, node, pod
from schedctl.testing.plugin_answers import parts_read

GPU = "nvidia.com/gpu"


def made(*resources):
    specs = {"resources": tuple(ResourceSpec(name=name) for name in resources)} if resources else {}
    return NodeResourcesBalancedAllocation(NodeResourcesBalancedAllocationArgs(**specs), handle())


def scores(c, incoming, *resources):
    return made(*resources).score(Cycle(incoming), c.nodes).tolist()


@pytest.mark.parametrize(
    ("offered", "taken", "requests", "resources", "expected"),
    [
        pytest.param({}, {}, {"cpu": "1", "memory": "4Gi"}, (), 75, id="a pod shaped like the node changes nothing"),
        pytest.param({}, {}, {"cpu": "4"}, (), 50, id="a pod that takes all of one resource spoils it all"),
        pytest.param({}, {"cpu": "4"}, {"memory": "16Gi"}, (), 100, id="a pod that takes what is left mends it all"),
        pytest.param({}, {"cpu": "2"}, {"memory": "4Gi"}, (), 81, id="halves are rounded toward zero"),
        pytest.param(
            {}, {}, {"cpu": "9", "memory": "1Gi"}, (), 51, id="more than all of a resource counts as all of it"
        ),
        pytest.param({"memory": "0"}, {}, {"cpu": "3"}, (), 75, id="one resource is always even"),
        pytest.param(
            {}, {}, {"cpu": "1"}, ("cpu", "memory", GPU), 68, id="what the pod does not ask for does not count"
        ),
        pytest.param(
            {GPU: "4"},
            {},
            {GPU: "2", "cpu": "1"},
            ("cpu", "memory", GPU),
            64,
            id="more than two have a standard deviation",
        ),
        pytest.param(
            {}, {}, {GPU: "2", "cpu": "1"}, ("cpu", "memory", GPU), 68, id="what the node does not offer does not count"
        ),
    ],
)
def test_scores(offered, taken, requests, resources, expected):
    c = cluster(node("a", **offered), pod("busy", on="a", requests=taken))
    assert scores(c, pod(requests=requests), *resources) == [expected]


def test_each_row_counts_what_its_node_offers():
    nodes = [node("a"), node("b", cpu="0"), node("c", **{GPU: "2"}), node("d", memory="0", **{GPU: "2"})]
    assert scores(cluster(*nodes), pod(cpu="1", requests={GPU: "2"}), "cpu", "memory", GPU) == [68, 75, 53, 56]


@pytest.mark.parametrize(
    ("incoming", "resources", "skipped"),
    [
        pytest.param(pod(), (), True, id="a pod that asks for nothing is not scored"),
        pytest.param(pod(cpu="0"), (), True, id="nor is one that asks for 0"),
        pytest.param(pod(requests={GPU: "1"}), (), True, id="nor one that asks only for what is not configured"),
        pytest.param(pod(requests={GPU: "1"}), (GPU,), False, id="what is configured counts"),
        pytest.param(pod(cpu="1"), (), False, id="a pod that asks for something is scored"),
    ],
)
def test_pods_that_balance_nothing_skip(incoming, resources, skipped):
    c = cluster(node("a", **{GPU: "1"}))
    assert (made(*resources).pre_score(Cycle(incoming), c.nodes) == SKIP) is skipped
    assert (scores(c, incoming, *resources) == [0]) is skipped


def test_only_real_requests_count():
    c = cluster(node("a"), *(pod(f"idle-{i}", on="a") for i in range(50)))
    assert scores(c, pod(cpu="4")) == [50]


def test_amounts_that_wrapped_below_0_give_what_go_makes_of_them():
    c = cluster(node("a", memory="18446744073709551615"), pod("b", on="a", memory="1Ei"), pod("c", on="a", cpu="1"))
    assert c.nodes.allocatable("memory").tolist() == [-1]
    assert scores(c, pod(cpu="1")) == [75]


def test_a_change_of_a_node_affects_its_row_and_objects_affect_nothing():
    assert parts_read(made(), pod(cpu="1"), cluster(node("a")).nodes) == {"description", "occupancy"}


RESOURCES = ("cpu", "memory", "ephemeral-storage", GPU)
amounts = st.dictionaries(st.sampled_from(RESOURCES), st.integers(0, 8).map(str))


def referee(requested, offered):
    fractions = [min(requested.get(name, 0) / offered[name], 1.0) for name in RESOURCES if offered.get(name)]
    if len(fractions) == 2:
        deviation = abs((fractions[0] - fractions[1]) / 2)
    elif len(fractions) > 2:
        mean = sum(fractions) / len(fractions)
        deviation = math.sqrt(sum((fraction - mean) * (fraction - mean) for fraction in fractions) / len(fractions))
    else:
        deviation = 0.0
    return int((1 - deviation) * 100)


@given(st.lists(st.tuples(amounts, amounts), min_size=1, max_size=4), amounts)
def test_the_columns_agree_with_a_referee_who_takes_one_node_at_a_time(nodes, requests):
    requests = {**requests, GPU: "1", "cpu": "1"}
    objects = []
    for i, (offered, taken) in enumerate(nodes):
        objects.append(node(f"n{i}", **{"cpu": "0", "memory": "0", **offered}))
        objects.append(pod(f"p{i}", on=f"n{i}", requests=taken))
    found = scores(cluster(*objects), pod(requests=requests), *RESOURCES)
    for score, (offered, taken) in zip(found, nodes, strict=True):
        sizes = {name: int(amount) for name, amount in offered.items()}
        before = {name: int(amount) for name, amount in taken.items()}
        after = {name: before.get(name, 0) + int(requests.get(name, "0")) for name in RESOURCES}
        assert score == 50 + (50 + referee(after, sizes) - referee(before, sizes)) // 2

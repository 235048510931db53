"""Which cause comes first: that of the nodes that the pod asks for or could use."""

import pytest

from schedctl.api.topology import HOSTNAME, ZONE
from schedctl.testing.builders import cluster, node, pod

DEDICATED = [{"key": "dedicated", "value": "postgres", "effect": "NoSchedule"}]
UNREACHABLE = [{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]


@pytest.fixture
def pools():
    """Two general nodes of 2 cpu, one that is lost, one that is cordoned, and three that are dedicated to postgres."""
    return cluster(
        node("general-a", cpu="2", zone="a", labels={"pool": "general"}),
        node("general-b", cpu="2", zone="b", labels={"pool": "general"}),
        node("lost", cpu="2", zone="b", labels={"pool": "general"}, taints=UNREACHABLE),
        node("closed", cpu="2", zone="b", labels={"pool": "general"}, unschedulable=True),
        *(node(f"db-{i}", cpu="4", zone="a", labels={"pool": "db"}, taints=DEDICATED) for i in range(3)),
    )


@pytest.mark.parametrize(
    ("spec", "plugin"),
    [
        pytest.param({}, "NodeResourcesFit", id="a dedicated pool that the pod nowhere refers to comes last"),
        pytest.param(
            {"nodeSelector": {"pool": "db"}}, "TaintToleration", id="a pool that the pod selects by its label"
        ),
        pytest.param(
            {"tolerations": [{"key": "dedicted", "value": "postgres", "effect": "NoSchedule"}]},
            "TaintToleration",
            id="a pool whose taint the pod tries to tolerate",
        ),
        pytest.param({"nodeSelector": {HOSTNAME: "closed"}}, "NodeUnschedulable", id="a node that it selects by name"),
        pytest.param({"nodeSelector": {ZONE: "a"}}, "NodeResourcesFit", id="a zone does not mean the dedicated nodes"),
    ],
)
def test_the_first_cause_is_that_of(spec, plugin, pools, ask):
    assert ask(pools, pod(cpu="3", **spec)).reasons[0].plugin == plugin


def test_the_node_that_the_pod_selects_comes_first_among_the_nodes_of_a_cause(pools, ask):
    found = ask(pools, pod(cpu="1", nodeSelector={HOSTNAME: "lost"})).reasons[0]
    assert (found.plugin, found.groups[0].nodes) == ("TaintToleration", ["lost"])
    assert found.detail.startswith("1 node: taint node.kubernetes.io/unreachable:NoSchedule; 3 nodes: ")


def test_a_pod_that_requests_a_gpu_means_the_nodes_that_have_one(ask):
    tainted = [{"key": "gpu", "value": "present", "effect": "NoSchedule"}]
    state = cluster(
        node("full", cpu="100m"),
        *(node(f"general-{i}", cpu="8") for i in range(5)),
        node("gpu-a", cpu="8", taints=tainted, **{"example.com/gpu": "4"}),
    )
    reasons = ask(state, pod(cpu="1", requests={"example.com/gpu": "1"})).reasons
    assert (reasons[0].plugin, reasons[0].count) == ("TaintToleration", 1)

"""NodePorts."""

import pytest

from schedctl.cache.pod_info import HostPort
from schedctl.framework.cycles import Cycle
from schedctl.framework.reasons import ACCEPT
from schedctl.framework.statuses import SKIP, Code, Status
from schedctl.plugins.node_ports.plugin import NodePorts
from schedctl.testing.builders import cluster, node, pod
from schedctl.testing.plugin_answers import parts_read

PLUGIN = NodePorts(None, None)
TAKEN = Status(Code.UNSCHEDULABLE, ("node(s) didn't have free ports for the requested pod ports",))


def port(number, protocol=None, ip=None):
    fields = {"containerPort": 80, "hostPort": number, "protocol": protocol, "hostIP": ip}
    return {name: value for name, value in fields.items() if value is not None}


def verdicts(incoming, nodes):
    cycle = Cycle(incoming)
    assert PLUGIN.pre_filter(cycle, nodes) is None
    return PLUGIN.filter(cycle, nodes)


@pytest.mark.parametrize(
    ("held", "port", "free"),
    [
        pytest.param(port(80), port(80), False, id="a port belongs to one pod"),
        pytest.param(port(80), port(81), True, id="another port is free"),
        pytest.param(port(80, "UDP"), port(80), True, id="the same number of another protocol is free"),
        pytest.param(port(80, "TCP"), port(80), False, id="a port without a protocol is TCP"),
        pytest.param(port(80, ip="10.0.0.1"), port(80, ip="10.0.0.2"), True, id="another address is free"),
        pytest.param(port(80, ip="10.0.0.1"), port(80, ip="10.0.0.1"), False, id="the same address is not"),
        pytest.param(port(80, ip="10.0.0.1"), port(80), False, id="no address wants all of them"),
        pytest.param(port(80), port(80, ip="10.0.0.1"), False, id="no address holds all of them"),
        pytest.param(port(80, ip="0.0.0.0"), port(80, ip="10.0.0.1"), False, id="0.0.0.0 is all of them"),
        pytest.param(port(80, ip="::"), port(80, ip="10.0.0.1"), True, id="but :: is an address like any other"),
    ],
)
def test_when_a_port_is_taken(held, port, free):
    nodes = cluster(node("a"), node("b"), pod("x", on="b", ports=[held])).nodes
    answer = verdicts(pod(ports=[port]), nodes)
    assert answer.status(0) == Status(Code.SUCCESS)
    assert answer.status(1) == (Status(Code.SUCCESS) if free else TAKEN)


def test_a_pod_without_host_ports_is_skipped():
    assert PLUGIN.pre_filter(Cycle(pod(ports=[{"containerPort": 80}])), cluster(node("a")).nodes) == SKIP


def test_ports_nobody_holds_are_free_everywhere():
    assert verdicts(pod(ports=[port(80)]), cluster(node("a")).nodes) is ACCEPT


@pytest.mark.parametrize(
    ("policy", "free"),
    [pytest.param("Always", False, id="sidecars hold ports"), pytest.param(None, True, id="init containers do not")],
)
def test_ports_of_init_containers(policy, free):
    init = {"name": "init", "image": "x", "ports": [port(80)], "restartPolicy": policy}
    nodes = cluster(node("a"), pod("x", on="a", initContainers=[init])).nodes
    assert (verdicts(pod(ports=[port(80)]), nodes) is ACCEPT) is free


def test_the_evidence_is_the_ports_and_who_holds_them():
    nodes = cluster(
        node("a"), pod("x", on="a", ports=[port(80, ip="10.0.0.1")]), pod("y", on="a", ports=[port(81)])
    ).nodes
    (part,) = verdicts(pod(ports=[port(82), port(81), port(80)]), nodes).parts
    assert part.at(0)["collisions"] == (
        (HostPort("0.0.0.0", "TCP", 81), ("default/y",)),
        (HostPort("0.0.0.0", "TCP", 80), ("default/x",)),
    )


def test_pods_supposed_to_come_or_go_count():
    holder = pod("x", on="a", ports=[port(80)])
    nodes = cluster(node("a"), node("b"), holder).nodes
    column = nodes.take([0, 0, 1, 1]).hypothetical([1, 3], [holder, pod("y", ports=[port(80)])], [-1, 1])
    assert verdicts(pod(ports=[port(80)]), column).mask.tolist() == [True, False, False, True]


def test_filter_without_pre_filter_is_a_fault_as_in_kube_scheduler():
    answer = PLUGIN.filter(Cycle(pod()), cluster(node("a")).nodes)
    assert answer.status(0) == Status(Code.ERROR, ('reading "PreFilterNodePorts" from cycleState: not found',))


@pytest.mark.parametrize(
    ("ports", "parts"),
    [
        pytest.param([port(80)], {"occupancy"}, id="pods may move the answer about a pod with ports"),
        pytest.param([], set(), id="a pod that wants no port is moved by nothing"),
    ],
)
def test_answer_rests_on_the_pods_of_the_node_alone(ports, parts):
    assert parts_read(PLUGIN, pod(ports=ports), cluster(node("a")).nodes) == parts

"""Losses of nodes: who would find no other node; and what is certain without placing anybody."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from schedctl.scheduler import Scheduler
from schedctl.simulation.node_losses import NodeLosses
from schedctl.testing.builders import HOSTNAME, ZONE, cluster, node, pod

LABELS = {"app": "web"}


def owned(name, on, kind="ReplicaSet", **more):
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": "web", "uid": "web", "controller": True}
    return pod(name, on=on, labels=LABELS, metadata={"ownerReferences": [owner], "uid": name}, **more)


def spread(key, skew=1, **more):
    constraint = {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": LABELS},
    }
    return {"topologySpreadConstraints": [constraint | more]}


def anti(key=HOSTNAME):
    term = {"topologyKey": key, "labelSelector": {"matchLabels": LABELS}}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def loss_of(state, *names):
    return NodeLosses(Scheduler(state)).lose(names)


def test_pods_that_find_room_elsewhere_are_not_pending():
    loss = loss_of(cluster(node("a"), node("b"), owned("web-1", "a", cpu="1")), "a")
    assert (loss.displaced, loss.pending, loss.simulated) == (1, (), False)


def test_pods_that_find_no_room_are_pending_for_a_reason():
    state = cluster(node("a"), node("b", cpu="1"), owned("web-1", "a", cpu="2"), owned("web-2", "a", cpu="1"))
    loss = loss_of(state, "a")
    assert (loss.displaced, [each.owner for each in loss.pending]) == (2, ["ReplicaSet default/web"])
    assert loss.pending[0].message.startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert loss.simulated
    assert state.nodes.names == ["a", "b"]


def test_a_pod_without_a_controller_is_lost_and_one_of_a_daemon_set_belongs_to_its_node():
    state = cluster(node("a"), node("b"), pod("bare", on="a"), owned("agent", "a", kind="DaemonSet"))
    loss = loss_of(state, "a")
    assert (loss.displaced, loss.lost, loss.pending) == (0, ("default/bare",), ())


def test_whoever_makes_room_and_finds_none_is_pending_too():
    state = cluster(
        node("a"),
        node("b", cpu="1"),
        owned("high-1", "a", cpu="1", priority=10),
        owned("low-1", "b", cpu="1", priority=0, terminationGracePeriodSeconds=0),
    )
    loss = loss_of(state, "a")
    assert loss.preempted == 1
    assert [each.preempted for each in loss.pending] == [True]


def test_all_nodes_of_a_zone_can_go_at_once():
    state = cluster(node("a", zone="1"), node("b", zone="1"), node("c", zone="2", cpu="1"), owned("w", "a", cpu="2"))
    assert len(loss_of(state, "a", "b").pending) == 1


@pytest.mark.parametrize(
    ("spec", "certain"),
    [
        pytest.param({}, True, id="nothing but room is asked for"),
        pytest.param(spread(ZONE), True, id="one constraint over zones, each of which has room"),
        pytest.param(spread(HOSTNAME), False, id="a constraint over hostnames: no domain has two nodes"),
        pytest.param(spread(ZONE, minDomains=3), False, id="a constraint that wants a number of domains"),
        pytest.param(anti(), True, id="required anti-affinity by hostname, which closes a node at a time"),
        pytest.param(anti(ZONE), False, id="required anti-affinity by zone, which closes several"),
        pytest.param({"schedulingGates": [{"name": "g"}]}, False, id="a gate"),
    ],
)
def test_only_what_moves_one_node_at_a_time_is_certain(spec, certain):
    nodes = [node(f"{zone}{number}", zone=zone) for zone in "xy" for number in range(4)]
    state = cluster(*nodes, *(owned(f"web-{number}", "x0", cpu="1", **spec) for number in range(2)))
    assert loss_of(state, "x0").simulated is not certain


def test_a_hostname_that_two_nodes_share_is_no_single_node():
    nodes = [node(name, labels={HOSTNAME: name[0]}) for name in ("a1", "a2", "b1", "b2", "c1")]
    state = cluster(*nodes, owned("web-1", "c1", **anti()), pod("other", on="c1"))
    assert loss_of(state, "c1").simulated


def test_nothing_is_certain_where_there_are_fewer_nodes_than_pods():
    state = cluster(node("a"), node("b"), *(owned(f"web-{number}", "a", cpu="100m") for number in range(2)))
    loss = loss_of(state, "a")
    assert (loss.simulated, loss.pending) == (True, ())


@st.composite
def states(draw):
    """Small clusters that are nearly full, with and without constraints."""
    names = [f"n{number}" for number in range(draw(st.integers(3, 7)))]
    nodes = [node(name, cpu=str(draw(st.integers(1, 4))), zone=draw(st.sampled_from("xyz"))) for name in names]
    specs = st.sampled_from(
        [{}, {}, {}, spread(ZONE), spread(ZONE, 2), spread(HOSTNAME, 2), anti(), anti(ZONE), {"priority": 5}]
    )
    pods = [
        owned(
            f"p{number}", draw(st.sampled_from(names)), cpu=draw(st.sampled_from(["100m", "500m", "1"])), **draw(specs)
        )
        for number in range(draw(st.integers(1, 9)))
    ]
    return cluster(*nodes, *pods)


@given(states())
def test_what_is_certain_is_what_a_run_finds(state):
    scheduler = Scheduler(state)
    proving, playing = NodeLosses(scheduler), NodeLosses(scheduler, prove=False)
    for name in state.nodes.names:
        assert replace(proving.lose([name]), simulated=True) == replace(playing.lose([name]), simulated=True)

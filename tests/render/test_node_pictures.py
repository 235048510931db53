"""Pictures in characters: the nodes left after each filter, and a map of the nodes."""

from __future__ import annotations

import io

import msgspec
import pytest

from schedctl.explain.explanations import explain, report
from schedctl.render import outputs
from schedctl.render.terminals import Terminal
from schedctl.scheduler import Scheduler
from schedctl.simulation.node_maps import node_map
from schedctl.testing.builders import cluster, node, pod

POOL = {"node-pool": "general"}


def wide(state, asked, encoding=""):
    """Return what ``-o wide`` prints."""
    document = msgspec.structs.replace(report([explain(Scheduler(state), asked)]), node_map=node_map(state))
    stream = io.StringIO()
    outputs.write(document, outputs.parse("wide"), stream, Terminal(encoding=encoding))
    return stream.getvalue()


@pytest.fixture
def state():
    return cluster(
        node("a", zone="z1", labels=POOL),
        node("b", zone="z1", labels=POOL, unschedulable=True),
        node("c", zone="z2", labels=POOL, cpu="1"),
        node("d", zone="z2", labels=POOL),
        pod("full", on="d", cpu="3500m"),
        pod("half", on="a", cpu="1500m"),
    )


def test_the_chosen_node_the_refused_ones_and_how_full_they_are(state):
    printed = wide(state, pod(cpu="2"))
    assert "* chosen, + feasible, N NodeResourcesFit, O NodeUnschedulable" in printed
    assert "  z1    general      2  *O      ░·\n" in printed
    assert "  z2    general      2  NN      ·█\n" in printed


def test_a_zone_is_not_taken_for_a_pool_where_no_label_tells_pools_apart():
    state = cluster(node("a", zone="z1"), node("b", zone="z2", cpu="1"))
    printed = wide(state, pod(cpu="2"))
    assert "nodes by zone (* chosen, + feasible, N NodeResourcesFit):\n  ZONE  NODES  ANSWER  HOW FULL\n" in printed
    assert "  z1        1  *       ·\n" in printed
    assert {each.pool for each in node_map(state).nodes} == {""}


def test_a_bar_of_the_nodes_left_after_each_filter_that_refuses_one(state):
    lines = wide(state, pod(cpu="2")).split("nodes left after each filter:\n")[1].splitlines()
    assert [line.split()[:2] for line in lines[:3]] == [
        ["all", "4"],
        ["NodeUnschedulable", "3"],
        ["NodeResourcesFit", "1"],
    ]


def test_no_picture_where_every_node_is_feasible_and_none_refused():
    assert "nodes left after each filter" not in wide(cluster(node("a")), pod())


def test_a_sign_stands_for_several_nodes_where_there_are_many():
    many = [node(f"n{number:03}", zone="z1", labels=POOL) for number in range(100)]
    printed = wide(cluster(*many), pod(cpu="100"))
    assert "a sign stands for 5 nodes" in printed
    assert f"general    100  {'N' * 20}  " in printed


def test_the_signs_have_a_form_for_terminals_without_them(state):
    printed = wide(state, pod(cpu="2"), encoding="ascii")
    assert printed.isascii()
    assert "-." in printed.split("HOW FULL")[1]

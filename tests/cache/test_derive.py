"""Facts derived from objects: computed once, and again only after what they are made of has changed."""

import pytest

from schedctl.api.meta import Namespace, ObjectMeta
from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.testing.builders import cluster, node, pod

CALLS = []


def namespaces(of):
    CALLS.append(of)
    return sorted(of.every(Namespace))


@pytest.fixture(autouse=True)
def _fresh():
    CALLS.clear()


def named(name):
    return Namespace(ObjectMeta(name=name))


def test_a_fact_is_computed_once_while_its_kinds_stay_the_same():
    made = cluster(node("a"), named("x"))
    assert made.derive(namespaces, Namespace) == ["x"]
    made.add_node(node("b"))
    assert made.derive(namespaces, Namespace) == ["x"]
    assert len(CALLS) == 1


def test_a_fact_is_computed_anew_after_a_change_and_after_a_fork_is_undone():
    made = cluster(node("a"), named("x"))
    with made.fork():
        made.put(named("y"))
        assert made.derive(namespaces, Namespace) == ["x", "y"]
    assert made.derive(namespaces, Namespace) == ["x"]


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        pytest.param(Node, lambda made: made.add_node(node("b")), id="a node joins"),
        pytest.param(Node, lambda made: made.add_node(node("a", cpu="1")), id="a node changes"),
        pytest.param(Node, lambda made: made.remove_node("a"), id="a node goes"),
        pytest.param(Pod, lambda made: made.add_pod(pod("p", on="a")), id="a pod starts"),
        pytest.param(Pod, lambda made: made.add_pods([pod("p", on="a")]), id="pods come at once"),
        pytest.param(Namespace, lambda made: made.put(named("x")), id="an object comes"),
    ],
)
def test_versions_grow_with_every_change_of_their_kind(kind, change):
    made = cluster(node("a"))
    before = {k: made.version(k) for k in (Node, Pod, Namespace)}
    change(made)
    grown = {k for k, version in before.items() if made.version(k) > version}
    assert grown == {kind}

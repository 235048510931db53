"""What comes many at once is as if it had come one by one."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedctl.api.nodes import ContainerImage, Node, NodeSpec, NodeStatus, Taint
from schedctl.api.sharing import Sharing
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.testing.builders import node, pod

STATUSES = [
    NodeStatus(allocatable={"cpu": "4", "memory": "8Gi"}, images=[ContainerImage(names=["web:1"], size_bytes=7)]),
    NodeStatus(allocatable={"cpu": "4", "example.com/gpu": "2"}),
    NodeStatus(capacity={"cpu": "1"}, declared_features=["A", "B"]),
]
SPECS = [NodeSpec(), NodeSpec(unschedulable=True), NodeSpec(taints=[Taint(key="dedicated", effect="NoSchedule")])]
NODES = st.lists(
    st.builds(
        lambda name, spec, status: msgspec.structs.replace(node(name, zone=name[:1]), spec=spec, status=status),
        st.sampled_from(["a1", "a2", "b1", "b2", "c1", "c2"]),
        st.sampled_from(SPECS),
        st.sampled_from([*STATUSES, *(msgspec.convert(msgspec.to_builtins(each), NodeStatus) for each in STATUSES)]),
    ),
    max_size=8,
)
KINDS = [
    {"cpu": "1"},
    {"cpu": "500m", "memory": "1Gi", "priority": 5},
    {"ports": [{"hostPort": 80}]},
    {"labels": {"app": "x"}, "namespace": "other"},
]
PODS = st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(["a", "b", "nowhere", ""])), max_size=12)


def said_of_nodes(cluster: Cluster) -> list[tuple[object, ...]]:
    table = cluster.node_table
    return [
        (
            row,
            table.names[row],
            table.objects[row],
            table.labels.maps[row],
            {name: int(table.column(table.allocatable, name)[row]) for name in table.resource_names.values},
            {name: int(table.column(table.requested, name)[row]) for name in table.resource_names.values},
            table.scored[:, row].tolist(),
            int(table.pod_count[row]),
            bool(table.unschedulable[row]),
            table.taint_sets.values[table.taints[row]],
            table.image_sets.values[table.images[row]],
            table.feature_sets.values[table.features[row]],
            table.row_of[table.names[row]],
        )
        for row in cluster.rows.tolist()
    ]


def said_of_pods(cluster: Cluster) -> list[tuple[object, ...]]:
    table = cluster.pod_table
    return [
        (
            info.key,
            int(table.node[row]),
            table.strings.values[table.namespace[row]],
            int(table.priority[row]),
            bool(table.terminating[row]),
            int(table.footprint[row]),
            table.labels.maps[row],
        )
        for row, info in enumerate(table.infos.tolist())
    ]


@given(NODES, NODES)
def test_nodes_added_at_once_equal_nodes_added_one_by_one(before, nodes):
    one_by_one, at_once = Cluster.of(before), Cluster.of(before)
    for each in nodes:
        one_by_one.add_node(each)
    at_once.add_nodes(nodes)
    assert said_of_nodes(at_once) == said_of_nodes(one_by_one)
    assert at_once.generation == one_by_one.generation
    assert at_once.changes_since(at_once.generation) == []


@given(NODES)
def test_nodes_that_share_what_is_equal(nodes):
    """Sharing by content changes nothing that is said."""
    sharing = Sharing()
    shared = [sharing.node(each) for each in nodes]
    assert shared == nodes
    assert said_of_nodes(Cluster.of(shared)) == said_of_nodes(Cluster.of(nodes))


@given(NODES)
def test_nodes_in_a_fork_are_gone_after_it(nodes):
    made = Cluster.of([node("z")])
    with made.fork():
        made.add_nodes(nodes)
    assert [row[1] for row in said_of_nodes(made)] == ["z"]


@given(PODS)
def test_pods_added_at_once_equal_pods_added_one_by_one(placements):
    pods = [pod(f"p{number}", on=on, **kind) for number, (kind, on) in enumerate(placements)]
    one_by_one, at_once = Cluster.of([node("a"), node("b")]), Cluster.of([node("a"), node("b")])
    for info in pods:
        one_by_one.add_pod(info)
    at_once.add_pods(PodInfo(info.pod) for info in pods)
    assert said_of_pods(at_once) == said_of_pods(one_by_one)
    assert said_of_nodes(at_once) == said_of_nodes(one_by_one)
    assert at_once.node_table.ports == one_by_one.node_table.ports
    assert [*at_once.strays] == [*one_by_one.strays]
    assert [*at_once.pending] == [*one_by_one.pending]


def standing(c: Cluster) -> tuple[object, ...]:
    """Everything that pods change, whatever the rows they have."""
    pods = {
        info.key: (int(c.pod_table.node[row]), int(c.pod_table.footprint[row]), c.pod_table.labels.maps[row])
        for row, info in enumerate(c.pod_table.infos.tolist())
        if info is not None
    }
    apps = sorted(c.pod_table.labels.column("app")[c.pod_table.alive].tolist())
    terms = {
        term: dict(zip(carriers.nodes.tolist(), carriers.weights.tolist(), strict=True))
        for term, carriers in c.affinity_terms.preferred_anti._carriers.items()
    }
    ports = {key: users for key, users in c.node_table.ports.items() if users}
    return pods, apps, terms, ports, said_of_nodes(c)


APART = {
    "affinity": {
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 7,
                    "podAffinityTerm": {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "zone"},
                }
            ]
        }
    }
}


@given(
    st.lists(st.tuples(st.sampled_from([*KINDS, APART]), st.sampled_from(["a", "b"])), max_size=12),
    st.lists(st.tuples(st.sampled_from(["remove", "come back"]), st.sets(st.integers(0, 11))), max_size=4),
)
def test_pods_removed_at_once_equal_pods_removed_one_by_one_and_come_back_with_the_fork(placements, steps):
    pods = [pod(f"p{number}", on=on, **kind) for number, (kind, on) in enumerate(placements)]
    one_by_one, at_once = Cluster.of([node("a"), node("b")]), Cluster.of([node("a"), node("b")])
    for made in (one_by_one, at_once):
        made.add_pods(pods)
        made.pod_table.labels.column("app")
    before, rows = standing(at_once), dict(at_once.pod_table.row_of)
    with pytest.MonkeyPatch.context() as patched, one_by_one.fork(), at_once.fork():
        patched.setattr("schedctl.cache.cluster._MANY", 1)
        for step, numbers in steps:
            chosen = [info for number, info in enumerate(pods) if number in numbers]
            there = [info for info in chosen if info.key in at_once.pod_table.row_of]
            if step == "remove":
                at_once.remove_pods(there)
                for info in there:
                    one_by_one.remove_pod(info)
            for made in (one_by_one, at_once) if step == "come back" else ():
                for info in chosen:
                    if info.key not in made.pod_table.row_of:
                        made.add_pod(info)
            assert standing(at_once) == standing(one_by_one)
    assert standing(at_once) == before
    assert at_once.pod_table.row_of == rows


def test_what_was_known_before_many_pods_were_removed_is_not_known_after_it(monkeypatch):
    monkeypatch.setattr("schedctl.cache.cluster._MANY", 1)
    pods = [pod(name, on="a") for name in "pq"]
    made = Cluster.of([node("a"), *(info.pod for info in pods)])
    with made.fork():
        generation = made.generation
        made.remove_pods([*made.pod_table])
        assert made.changes_since(generation) is None
        generation = made.generation
    assert made.changes_since(generation) is None


@pytest.mark.parametrize("first", ["a", "", "nowhere"])
@pytest.mark.parametrize("second", ["a", "", "nowhere"])
def test_a_pod_that_comes_twice_is_refused(first, second):
    made = Cluster.of([node("a")])
    with pytest.raises(ValueError, match="p is in the cluster already"):
        made.add_pods([pod("p", on=first), pod("p", on=second)])
    made = Cluster.of([node("a"), pod("p", on=first).pod])
    with pytest.raises(ValueError, match="p is in the cluster already"):
        made.add_pods([pod("p", on=second)])


def test_a_node_is_described_by_its_own_capacity_where_it_states_nothing_else():
    made = Cluster.of([Node(metadata=node(name).metadata, status=NodeStatus(capacity={"cpu": "3"})) for name in "ab"])
    assert made.node_table.allocatable[0, :2].tolist() == [3000, 3000]

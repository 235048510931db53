"""A fork undoes everything, whatever was done inside it, and in any nesting."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedctl.cache.cluster import Cluster
from schedctl.testing.builders import cluster, node, pod


def picture(c: Cluster):
    """Everything a plugin could see, keyed so that the order of table rows does not matter."""
    table = c.node_table
    nodes = {}
    for name, row in table.row_of.items():
        requested = {r: int(table.requested[i, row]) for i, r in enumerate(table.resource_names.values)}
        nodes[name] = (
            {r: v for r, v in requested.items() if v},
            table.scored[:, row].tolist(),
            int(table.pod_count[row]),
            bool(table.unschedulable[row]),
            table.objects[row],
            sorted(p.key for p in c.pod_table.on(row)),
        )
    ports = {
        key: {table.names[r]: sorted(ips) for r, ips in users.items()} for key, users in table.ports.items() if users
    }
    zone = c.node_table.labels.column("topology.kubernetes.io/zone")[c.rows].tolist()
    app = sorted(c.pod_table.labels.column("app")[c.pod_table.alive].tolist())
    return nodes, ports, sorted(c.pending), sorted(c.strays), c.next_start, zone, app, list(c.rows)


steps = st.lists(
    st.tuples(
        st.sampled_from(
            ["assume", "remove", "forget", "cordon", "drop node", "add node", "add", "stray", "next", "fork"]
        ),
        st.integers(0, 9),
    ),
    max_size=25,
)


def run(c: Cluster, actions) -> None:
    for number, (action, i) in enumerate(actions):
        pods = sorted(c.pod_table, key=lambda p: p.key)
        names = sorted(c.node_table.row_of)
        pending = sorted(c.pending)
        if action == "assume" and pending and names:
            c.assume(c.pending[pending[i % len(pending)]], names[i % len(names)])
        elif action == "remove" and pods:
            c.remove_pod(pods[i % len(pods)])
        elif action == "forget" and (assumed := [info for info in pods if c.is_assumed(info.key)]):
            c.forget(assumed[i % len(assumed)])
        elif action == "cordon" and names:
            old = c.node_table.objects[c.node_table.row_of[names[i % len(names)]]]
            c.add_node(msgspec.structs.replace(old, spec=msgspec.structs.replace(old.spec, unschedulable=True)))
        elif action == "drop node" and names:
            c.remove_node(names[i % len(names)])
        elif action == "add node":
            c.add_node(node(f"extra-{number}", zone=f"z{i}"))
        elif action == "add":
            c.add_pod(
                pod(f"new-{number}-{id(actions)}", cpu="10m", labels={"app": f"a{i}"}, on=names[0] if names else None)
            )
        elif action == "stray":
            c.add_pod(pod(f"stray-{number}-{id(actions)}", on="nowhere"))
        elif action == "next":
            c.start_next_at(i)
        elif action == "fork":
            before = picture(c)
            with c.fork():
                run(c, actions[number + 1 : number + 5])
            assert picture(c) == before


@settings(max_examples=60, deadline=None)
@given(steps)
def test_leaving_a_fork_puts_back_everything_a_plugin_could_see(actions):
    c = cluster(
        *(node(f"n{i}", zone=f"z{i % 2}") for i in range(4)),
        *(
            pod(
                f"p{i}",
                on=f"n{i % 4}",
                cpu=f"{i}00m",
                labels={"app": f"a{i % 3}"},
                ports=[{"containerPort": 80, "hostPort": 80 + i % 2}],
            )
            for i in range(6)
        ),
        *(pod(f"w{i}", memory="1Gi") for i in range(3)),
    )
    before = picture(c)
    with c.fork():
        run(c, actions)
    assert picture(c) == before


def test_a_pod_on_a_node_that_comes_later_moves_from_the_strays_to_the_node():
    c = cluster(pod("early", on="late", cpu="1"))
    assert list(c.strays) == ["default/early"]
    c.add_node(node("late"))
    assert not c.strays
    assert c.nodes.requested("cpu").tolist() == [1000]


def test_after_a_fork_in_which_an_edited_copy_was_assumed_the_pod_that_was_pending_is_pending():
    c = cluster(node("a"), pod("p", cpu="8"))
    pending = c.pending["default/p"]
    with c.fork():
        c.assume(pod("p", cpu="1"), "a")
    assert c.pending["default/p"] is pending


def test_finished_pods_take_part_in_nothing():
    c = cluster(node("a"), pod("done", on="a", cpu="1", status={"phase": "Succeeded"}))
    assert c.nodes.pod_count.tolist() == [0]


def test_a_supposed_column_may_hold_one_node_in_several_occupancies():
    c = cluster(node("a"), pod("p", on="a", cpu="1"))
    running = next(iter(c.pod_table))
    column = c.nodes.take([0, 0, 0]).hypothetical([1, 2, 2], [running, pod("q", cpu="500m"), running], [-1, 1, -1])
    assert column.requested("cpu").tolist() == [1000, 0, 500]
    assert column.pod_count.tolist() == [1, 0, 1]
    assert c.nodes.requested("cpu").tolist() == [1000]
    again = column.take([2, 0])
    assert again.requested("cpu").tolist() == [500, 1000]


@pytest.mark.parametrize(
    "choose",
    [
        lambda c: c.nodes,
        lambda c: c.nodes_by_name,
        lambda c: c.nodes.take([0]),
        lambda c: c.nodes_named(["a"]),
        lambda c: c.nodes.take([0]).hypothetical([0], [pod("q")], [1]),
    ],
    ids=["all nodes", "all nodes by name", "some nodes", "named nodes", "supposed pods"],
)
def test_no_column_of_nodes_can_be_written_to(choose):
    c = cluster(node("b", labels={"team": "red"}), node("a"), pod("p", on="a", cpu="1"))
    nodes = choose(c)
    columns = {
        "rows": nodes.rows,
        "allocatable": nodes.allocatable("cpu"),
        "a resource of no node": nodes.allocatable("example.com/gpu"),
        "requested": nodes.requested("cpu"),
        "pod_count": nodes.pod_count,
        "unschedulable": nodes.unschedulable,
        "label": nodes.label("team"),
        "domains": nodes.labels.domains("team").codes,
    }
    assert [name for name, column in columns.items() if column.flags.writeable] == []


def test_of_two_pods_that_hold_a_port_the_first_to_go_frees_it_and_undoing_puts_it_back():
    port = [{"containerPort": 80, "hostPort": 80}]
    c = cluster(node("a"), pod("p", on="a", ports=port), pod("q", on="a", ports=port))
    with c.fork():
        c.remove_pod(next(iter(c.pod_table)))
        assert c.nodes.port_users("TCP", 80) == []
    assert c.nodes.port_users("TCP", 80) == [(0, ("0.0.0.0",))]


def test_pods_that_wait_keep_their_turns_whatever_a_fork_did_to_them():
    made = cluster(node("a"), pod("x"), pod("y"), pod("z"))
    x, y = made.pending["default/x"], made.pending["default/y"]
    with made.fork():
        made.assume(x, "a")
        made.remove_pod(y)
        made.forget(x)
        assert list(made.pending) == ["default/z", "default/x"]
    assert list(made.pending) == ["default/x", "default/y", "default/z"]


def test_pods_that_are_assumed_and_forgotten_last_first_are_not_assumed_again_when_the_fork_ends():
    made = cluster(node("a"), pod("x"), pod("y"))
    x, y = made.pending.values()
    before = picture(made)
    with made.fork():
        made.assume(x, "a")
        made.assume(y, "a")
        made.forget(y)
        made.forget(x)
        assert picture(made) == before
        assert list(made.pending) == ["default/y", "default/x"]
        generation = made.generation
    assert made.generation == generation
    assert picture(made) == before
    assert list(made.pending) == ["default/x", "default/y"]

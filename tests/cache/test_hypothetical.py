"""A supposed column answers as if the pods really came and went, one after another, at each position on its own."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedctl.testing.builders import cluster, node, pod

RESOURCES = ("cpu", "memory", "example.com/card")
PORTS = (80, 81)


def web(name, i, on=None):
    """A pod of one of a few kinds."""
    ports = [{"containerPort": 80, "hostPort": PORTS[i % 2], "hostIP": f"10.0.0.{i % 3}"}] if i % 3 else None
    requests = {"example.com/card": "1"} if i % 4 == 0 else None
    return pod(
        name, on=on, cpu=f"{i}00m" if i % 5 else None, memory="1Gi" if i % 2 else None, requests=requests, ports=ports
    )


def made():
    return cluster(*(node(f"n{i}") for i in range(4)), *(web(f"p{i}", i, on=f"n{i % 3}") for i in range(9)))


class Model:
    """What a column should say: for each position its node, and what has come and gone there."""

    def __init__(self, c, positions):
        self.c = c
        self.positions = positions

    def take(self, chosen):
        return Model(self.c, [self.positions[i] for i in chosen])

    def hypothetical(self, changes):
        after = [(row, list(history)) for row, history in self.positions]
        for at, info, sign in changes:
            after[at][1].append((info, sign))
        return Model(self.c, after)

    def requested(self, resource):
        standing = self.c.nodes.requested(resource).tolist()
        return [standing[row] + sum(s * i.requests.exact.get(resource, 0) for i, s in h) for row, h in self.positions]

    def scored(self, which):
        standing = (self.c.nodes.scored_cpu(), self.c.nodes.scored_memory())[which].tolist()
        return [standing[row] + sum(sign * info.requests[1 + which] for info, sign in h) for row, h in self.positions]

    def pod_count(self):
        return [int(self.c.nodes.pod_count[row]) + sum(sign for _, sign in h) for row, h in self.positions]

    def port_users(self, port):
        users = {}
        for at, (row, history) in enumerate(self.positions):
            held = {p.ip for info in self.c.pod_table.on(row) for p in info.host_ports if p.port == port}
            for info, sign in history:
                for host_port in info.host_ports:
                    if host_port.port == port:
                        (held.add if sign > 0 else held.discard)(host_port.ip)
            if held:
                users[at] = tuple(sorted(held))
        return users

    def pods_on(self, at):
        row, history = self.positions[at]
        keys = Counter(info.key for info in self.c.pod_table.on(row))
        for info, sign in history:
            keys[info.key] = keys[info.key] + 1 if sign > 0 else 0
        return +keys


def agree(column, model):
    rows = [row for row, _ in model.positions]
    assert column.rows.tolist() == rows
    for resource in RESOURCES:
        assert column.requested(resource).tolist() == model.requested(resource)
    assert column.scored_cpu().tolist() == model.scored(0)
    assert column.scored_memory().tolist() == model.scored(1)
    assert column.pod_count.tolist() == model.pod_count()
    for port in PORTS:
        assert {at: tuple(sorted(set(ips))) for at, ips in column.port_users("TCP", port)} == model.port_users(port)
    for at in range(len(rows)):
        assert Counter(info.key for info in column.pods_on(at)) == model.pods_on(at)
    changes = column.changes
    history = [(at, info, sign) for at, (_, h) in enumerate(model.positions) for info, sign in h]
    found = (
        []
        if changes is None
        else list(zip(changes.positions.tolist(), changes.pods, changes.signs.tolist(), strict=True))
    )
    assert sorted(found, key=lambda change: change[0]) == history
    if changes is not None:
        infos = column.cluster.pod_table.infos
        assert all(row < 0 or infos[row] is info for row, info in zip(changes.rows.tolist(), changes.pods, strict=True))


steps = st.lists(
    st.tuples(
        st.sampled_from(["take", "suppose", "suppose running", "look"]), st.lists(st.integers(0, 99), max_size=6)
    ),
    max_size=12,
)


@given(steps)
def test_a_supposed_column_is_what_its_changes_make_of_it(actions):
    c = made()
    column, model = c.nodes, Model(c, [(row, []) for row in range(4)])
    running, strangers = list(c.pod_table), [web(f"new-{i}", i) for i in range(5)]
    for action, numbers in actions:
        if not len(column):
            break
        where = [number % len(column) for number in numbers]
        if action == "take":
            column, model = column.take(where), model.take(where)
        elif action == "suppose":
            pods = [strangers[number % 5] if number % 2 else running[number % 9] for number in numbers]
            signs = [1 if number % 3 else -1 for number in numbers]
            column = column.hypothetical(where, pods, signs)
            model = model.hypothetical(zip(where, pods, signs, strict=True))
        elif action == "suppose running":
            rows = np.array([number % 9 for number in numbers], np.intp)
            sign = -1 if len(numbers) % 2 else 1
            column = column.hypothetical_running(np.array(where, np.intp), rows, sign)
            pods = [c.pod_table.infos[row] for row in rows]
            model = model.hypothetical((at, info, sign) for at, info in zip(where, pods, strict=True))
        else:
            column.requested("cpu")
            _ = column.changes
    agree(column, model)


def test_columns_taken_from_a_hypothetical_column_are_hypothetical():
    c = made()
    assert not c.nodes.is_hypothetical
    assert not c.nodes.take([0]).is_hypothetical
    assert c.nodes.changes is None
    supposed = c.nodes.hypothetical([0], [web("x", 1)], 1)
    assert supposed.is_hypothetical
    assert supposed.take([1, 2]).is_hypothetical
    assert c.nodes.requested("cpu").tolist() == made().nodes.requested("cpu").tolist()


def test_thousands_of_steps_are_no_deeper_than_one():
    c = made()
    column = c.nodes
    for _ in range(1500):
        column = column.hypothetical_running(np.array([0, 1]), np.array([1, 1]), 1).take([0, 1, 2, 3])
    assert column.requested("cpu").tolist() == [
        150000 + c.nodes.requested("cpu")[i] if i < 2 else v for i, v in enumerate(c.nodes.requested("cpu").tolist())
    ]
    assert len(column.changes) == 3000


def test_columns_of_what_was_taken_cannot_be_written_through():
    supposed = made().nodes.hypothetical([0], [web("x", 1)], 1)
    with pytest.raises(ValueError, match="read-only"):
        supposed.requested("cpu")[0] = 0


# -- the order of importance -------------------------------------------------------------


def by_importance(c):
    """The order as the definition has it."""
    rows = [row for row, info in enumerate(c.pod_table.infos) if info is not None]
    started = c.pod_table.start_times
    return sorted(rows, key=lambda row: (-c.pod_table.infos[row].priority, int(started[row]), row))


@given(st.lists(st.tuples(st.sampled_from(["add", "remove", "look", "fork"]), st.integers(0, 30)), max_size=40))
def test_order_of_importance_follows_pods_that_come_and_go(actions):
    c = cluster(node("a"))
    for number, (action, i) in enumerate(actions):
        pods = sorted(c.pod_table, key=lambda info: info.key)
        started = f"2026-02-01T00:00:{i % 7:02d}Z" if i % 4 else None
        status = {"phase": "Running", **({"startTime": started} if started else {})}
        if action == "add":
            c.add_pod(pod(f"p{number}", on="a", priority=i % 3, status=status))
        elif action == "remove" and pods:
            c.remove_pod(pods[i % len(pods)])
        elif action == "fork" and pods:
            before = by_importance(c)
            with c.fork():
                c.remove_pod(pods[i % len(pods)])
                c.add_pod(pod(f"p{number}", on="a", priority=i % 3, status=status))
            assert by_importance(c) == before
        else:
            _ = c.pod_table.by_importance
    alive = [row for row in c.pod_table.by_importance.tolist() if c.pod_table.infos[row] is not None]
    assert alive == by_importance(c)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        pytest.param("2026-02-01T00:00:00Z", "2026-02-01T00:00:01Z", id="a second later"),
        pytest.param("2026-02-01T02:00:00+02:00", "2026-02-01T00:00:01Z", id="an hour that only seems to be later"),
        pytest.param("2026-02-01T00:00:00.1Z", "2026-02-01T00:00:00.100000001Z", id="a nanosecond later"),
        pytest.param("2026-02-01T00:00:00Z", None, id="a pod that has not started"),
    ],
)
def test_of_equal_priorities_the_earlier_start_is_the_more_important(earlier, later):
    statuses = ({"phase": "Running", **({"startTime": t} if t else {})} for t in (later, earlier))
    c = cluster(node("a"), *(pod(f"p{i}", on="a", status=status) for i, status in enumerate(statuses)))
    assert c.pod_table.by_importance.tolist() == [1, 0]

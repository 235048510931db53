"""A cluster kept up to date is the cluster that is assembled of what is there in the end."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedctl.api.meta import Namespace, key_of
from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.api.storage import PersistentVolumeClaim
from schedctl.api.topology import ZONE
from schedctl.api.workloads import Service
from schedctl.explain.explanations import explain
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import node, pod
from schedctl.workloads import cluster_updates
from schedctl.workloads.clusters import assemble

NODES, PODS, CLAIMS = 4, 6, 2


def claim(name: str, phase: str) -> PersistentVolumeClaim:
    made = {"metadata": {"name": name, "namespace": "default", "uid": name}, "status": {"phase": phase}}
    return msgspec.convert(made, PersistentVolumeClaim)


def running(i: int, on: int | None, cpu: int, shape: int, phase: str) -> Pod:
    """A pod of the API server: with a uid, in one of a few shapes that others have to do with."""
    label = {"app": f"app-{i % 2}"}
    term = {"labelSelector": {"matchLabels": label}, "topologyKey": ZONE}
    anti = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    ports = {"ports": [{"containerPort": 80, "hostPort": 8080 + i % 2}]}
    more = ({}, anti, ports, {"priority": 10 * i})[shape]
    made = pod(
        f"pod-{i}",
        cpu=str(cpu),
        labels=label,
        on=None if on is None else f"node-{on}",
        metadata={"uid": f"{i}"},
        **more,
    ).pod
    return msgspec.structs.replace(made, status=msgspec.structs.replace(made.status, phase=phase))


nodes = st.builds(
    lambda i, cpu, zone, cordoned: node(f"node-{i}", cpu=str(cpu), zone=zone, unschedulable=cordoned),
    st.integers(0, NODES - 1),
    st.sampled_from([2, 4, 8]),
    st.sampled_from([None, "a", "b"]),
    st.booleans(),
)
pods = st.builds(
    running,
    st.integers(0, PODS - 1),
    st.one_of(st.none(), st.integers(0, NODES - 1)),
    st.integers(1, 3),
    st.integers(0, 3),
    st.sampled_from(["Pending", "Running", "Running", "Succeeded"]),
)
others = st.one_of(
    st.builds(claim, st.sampled_from(["data-0", "data-1"]), st.sampled_from(["Pending", "Bound"])),
    st.builds(
        lambda name, app: msgspec.convert(
            {"metadata": {"name": name, "namespace": "default"}, "spec": {"selector": {"app": app}}}, Service
        ),
        st.sampled_from(["one", "other"]),
        st.sampled_from(["app-0", "app-1"]),
    ),
    st.builds(
        lambda team: msgspec.convert({"metadata": {"name": "default", "labels": {"team": team}}}, Namespace),
        st.sampled_from("xy"),
    ),
)
objects = st.one_of(nodes, pods, pods, others)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), objects),
        st.tuples(st.just("put"), objects),
        st.tuples(st.just("remove"), objects),
        st.tuples(st.just("replace all"), st.lists(st.one_of(nodes, nodes), max_size=3)),
        st.tuples(st.just("replace all"), st.lists(pods, max_size=3)),
    ),
    max_size=25,
)


def pod_to_place(**more) -> Pod:
    return pod("asked", cpu="2", labels={"app": "app-0"}, metadata={"uid": "asked"}, **more).pod


def updated_cluster(start, updates):
    """What is there in the end, in the order in which it came, and the cluster that was kept up to date."""
    state, there = assemble(start), {(type(obj), key_of(obj)): obj for obj in start}
    for action, subject in updates:
        if action == "put":
            cluster_updates.put(state, subject)
            there[type(subject), key_of(subject)] = subject
        elif action == "remove":
            cluster_updates.remove(state, subject)
            there.pop((type(subject), key_of(subject)), None)
        elif subject:
            kind = type(subject[0])
            cluster_updates.replace_all(state, kind, subject)
            now = {(kind, key_of(obj)): obj for obj in subject}
            there = {key: obj for key, obj in there.items() if key[0] is not kind or key in now} | now
    return state, list(there.values())


def facts_of(state):
    """Which pods are where."""
    cluster = state.cluster
    names = cluster.node_table.names
    on = {
        info.key: names[int(cluster.pod_table.node[row])]
        for info in cluster.pod_table
        for row in [cluster.pod_table.row_of[info.key]]
    }
    return (
        on,
        sorted(cluster.pending),
        sorted(cluster.strays),
        sorted(state.finished),
        sorted(cluster.node_table.row_of),
    )


volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data-0"}}]
spread = [
    {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "app-0"}},
    }
]


@settings(max_examples=150)
@given(st.lists(st.one_of(nodes, pods), max_size=8, unique_by=lambda obj: (type(obj), key_of(obj))), steps)
def test_any_sequence_of_updates_equals_assembling_the_final_objects(start, updates):
    state, there = updated_cluster(start, updates)
    fresh = assemble(there)
    assert facts_of(state) == facts_of(fresh)
    for subject in (
        pod_to_place(),
        pod_to_place(priority=100),
        pod_to_place(volumes=volumes),
        pod_to_place(topologySpreadConstraints=spread),
    ):
        ours, theirs = (explain(Scheduler(one.cluster), subject, hints=False) for one in (state, fresh))
        assert ours == theirs


@settings(max_examples=100)
@given(st.lists(st.one_of(nodes, pods), max_size=8, unique_by=lambda obj: (type(obj), key_of(obj))), steps)
def test_updates_that_report_no_change_change_nothing(start, updates):
    state = assemble(start)
    for action, subject in updates:
        if action not in ("put", "remove"):
            continue
        before, generation = facts_of(state)[:3], state.cluster.generation
        if not (cluster_updates.put if action == "put" else cluster_updates.remove)(state, subject):
            assert (facts_of(state)[:3], state.cluster.generation) == (before, generation)


@pytest.mark.parametrize(
    "heartbeat",
    [
        {"conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-11-20T10:00:00Z"}]},
        {"conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {"kernelVersion": "6.1"}},
    ],
)
def test_the_heartbeat_of_a_node_changes_nothing(heartbeat):
    def beating(status):
        return msgspec.convert({"metadata": {"name": "a"}, "status": {"capacity": {"cpu": "4"}, **status}}, Node)

    state = assemble([beating({"conditions": [{"type": "Ready", "status": "True"}]})])
    assert cluster_updates.put(state, beating(heartbeat)) is False


def assumed_state():
    """A pod of the API server that the scheduler counts on node a, which is not bound yet."""
    waiting = pod("p", cpu="1", metadata={"uid": "1"})
    state = assemble([node("a"), node("b"), waiting.pod])
    state.cluster.assume(state.cluster.pending["default/p"], "a")
    return state


def test_an_assumed_pod_is_confirmed_by_its_binding():
    state = assumed_state()
    assert cluster_updates.put(state, pod("p", cpu="1", on="a", metadata={"uid": "1"}).pod)
    assert state.cluster.nodes.requested("cpu").tolist() == [1000, 0]
    assert not state.cluster.is_assumed("default/p")


def test_an_assumed_pod_that_was_bound_elsewhere_moves_there():
    state = assumed_state()
    assert cluster_updates.put(state, pod("p", cpu="1", on="b", metadata={"uid": "1"}).pod)
    assert state.cluster.nodes.requested("cpu").tolist() == [0, 1000]


def test_news_of_a_pod_that_is_assumed_and_not_bound_yet_take_it_off_no_node():
    state = assumed_state()
    condition = {"phase": "Pending", "nominatedNodeName": "b"}
    assert not cluster_updates.put(state, pod("p", cpu="1", metadata={"uid": "1"}, status=condition).pod)
    assert state.cluster.nodes.requested("cpu").tolist() == [1000, 0]
    assert not state.cluster.pending


def test_a_new_pod_of_the_name_of_an_assumed_one_is_another_pod():
    state = assumed_state()
    assert cluster_updates.put(state, pod("p", cpu="2", metadata={"uid": "2"}).pod)
    assert state.cluster.nodes.requested("cpu").tolist() == [0, 0]
    assert list(state.cluster.pending) == ["default/p"]

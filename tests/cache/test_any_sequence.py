"""Whatever is done to a cluster, in any order: it is as one built anew of what is there, or the step was refused."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from schedctl.api.storage import StorageClass
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.testing.builders import node, pod

NODES = ("a", "b", "c")
PODS = ("p", "q", "r", "s")
NODE_FORMS: tuple[dict[str, Any], ...] = (
    {"zone": "z1"},
    {"zone": "z2", "cpu": "2"},
    {"unschedulable": True, "example.com/gpu": "2"},
)
REPEL = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
        ]
    }
}
POD_FORMS: tuple[dict[str, Any], ...] = (
    {"cpu": "1"},
    {"memory": "1Gi", "labels": {"app": "x"}, "priority": 5},
    {"affinity": REPEL, "labels": {"app": "x"}},
    {"requests": {"example.com/gpu": "1"}, "namespace": "default"},
)
node_names, pod_names = st.sampled_from(NODES), st.sampled_from(PODS)
node_forms, pod_forms = st.sampled_from(NODE_FORMS), st.sampled_from(POD_FORMS)


def view(c: Cluster) -> tuple[object, ...]:
    """Everything that a plugin can read of a cluster, whatever the numbers of its rows."""
    table, pods = c.node_table, c.pod_table
    names = table.names
    of_nodes = [
        (
            names[row],
            table.objects[row],
            table.labels.maps[row],
            {key: int(value) for key in table.resource_names.values if (value := table.usage(key)[row])},
            table.scored[:, row].tolist(),
            int(table.pod_count[row]),
            bool(table.unschedulable[row]),
        )
        for row in c.rows.tolist()
    ]
    of_pods = {
        info.key: (
            info,
            names[pods.node[row]],
            pods.strings.values[pods.namespace[row]],
            int(pods.priority[row]),
            bool(pods.terminating[row]),
            pods.labels.maps[row],
        )
        for row, info in enumerate(pods.infos.tolist())
        if info is not None
    }
    ports = {key: {names[row]: taken for row, taken in users.items()} for key, users in table.ports.items() if users}
    repelled = {
        term: dict(zip((names[row] for row in each.nodes.tolist()), each.counts.tolist(), strict=True))
        for term, each in c.affinity_terms.required_anti._carriers.items()
        if each.pods
    }
    app = sorted((info.key, code >= 0) for info, code in zip(pods, pods.labels.column("app")[pods.alive], strict=True))
    assumed = {key for key in pods.row_of if c.is_assumed(key)}
    objects = dict(c.every(StorageClass))
    return of_nodes, of_pods, ports, repelled, app, assumed, [*c.pending.items()], {**c.strays}, objects, c.next_start


class Model:
    """What there is: objects in order of arrival, and which pods are assumed where."""

    def __init__(self) -> None:
        self.nodes: dict[str, Any] = {}
        self.on: dict[str, tuple[PodInfo, str]] = {}
        self.pending: dict[str, PodInfo] = {}
        self.objects: dict[str, StorageClass] = {}

    def copy(self) -> Model:
        other = Model()
        for name, mapping in vars(self).items():
            setattr(other, name, dict(mapping))
        return other

    def build(self) -> Cluster:
        made = Cluster()
        for each in self.nodes.values():
            made.add_node(each)
        for info, name in self.on.values():
            if info.pod.spec.node_name:
                made.add_pod(info)
            else:
                made.assume(info, name)
        for info in self.pending.values():
            made.add_pod(info)
        for obj in self.objects.values():
            made.put(obj)
        return made

    def info(self, key: str) -> PodInfo | None:
        return self.on[key][0] if key in self.on else self.pending.get(key)

    def is_assumed(self, key: str) -> bool:
        return key in self.on and not self.on[key][0].pod.spec.node_name


class AnySequence(RuleBasedStateMachine):
    """Every step is tried, sensible or not."""

    def __init__(self) -> None:
        super().__init__()
        self.cluster, self.model = Cluster(), Model()
        self.forks: list[tuple[AbstractContextManager[Cluster], Model]] = []
        self.made = 0

    @initialize()
    def begin(self) -> None:
        for name in NODES[:2]:
            self.add_node(name, NODE_FORMS[0])

    def pod(self, name: str, form: dict[str, Any], on: str | None) -> PodInfo:
        self.made += 1
        port = {"containerPort": 80, "hostPort": 8000 + PODS.index(name)}  # of its own: on a node, ports are a set
        return pod(name, on=on, ports=[port], metadata={"uid": f"uid-{self.made}"}, **form)

    def refuses(self, error: type[Exception], step: Any) -> None:
        before, generation = view(self.cluster), self.cluster.generation
        with pytest.raises(error):
            step()
        assert (view(self.cluster), self.cluster.generation) == (before, generation)

    @rule(name=node_names, form=node_forms)
    def add_node(self, name: str, form: dict[str, Any]) -> None:
        self.cluster.add_node(made := node(name, **form))
        self.model.nodes[name] = made

    @rule(name=node_names)
    def remove_node(self, name: str) -> None:
        if name not in self.model.nodes:
            self.refuses(KeyError, lambda: self.cluster.remove_node(name))
            return
        gone = self.cluster.remove_node(name)
        there = {key for key, (_, on) in self.model.on.items() if on == name}
        assert {info.key for info in gone} == there
        del self.model.nodes[name]
        for key in there:
            del self.model.on[key]

    @rule(name=pod_names, form=pod_forms, on=st.sampled_from((*NODES, None)))
    def add(self, name: str, form: dict[str, Any], on: str | None) -> None:
        info = self.pod(name, form, on)
        if self.model.info(info.key):
            self.refuses(ValueError, lambda: self.cluster.add_pod(info))
            return
        self.cluster.add_pod(info)
        if on is None:
            self.model.pending[info.key] = info
        else:
            self.model.on[info.key] = info, on

    @rule(names=st.lists(pod_names, max_size=3), form=pod_forms, on=st.sampled_from((*NODES, None)))
    def add_many(self, names: list[str], form: dict[str, Any], on: str | None) -> None:
        infos = [self.pod(name, form, on) for name in names]
        if len({*names}) < len(names) or any(self.model.info(info.key) for info in infos):
            self.refuses(ValueError, lambda: self.cluster.add_pods(infos))
            return
        self.cluster.add_pods(infos)
        for info in infos:
            if on is None:
                self.model.pending[info.key] = info
            else:
                self.model.on[info.key] = info, on

    @rule(name=pod_names, form=pod_forms, on=node_names, edited=st.booleans())
    def assume(self, name: str, form: dict[str, Any], on: str, edited: bool) -> None:
        known = self.model.pending.get(f"default/{name}")
        info = known if known and not edited else self.pod(name, form, None)
        if on not in self.model.nodes:
            self.refuses(KeyError, lambda: self.cluster.assume(info, on))
        elif info.key in self.model.on:
            self.refuses(ValueError, lambda: self.cluster.assume(info, on))
        else:
            self.cluster.assume(info, on)
            self.model.pending.pop(info.key, None)
            self.model.on[info.key] = info, on

    @rule(name=pod_names, form=pod_forms, on=st.sampled_from((*NODES, None)))
    def confirm(self, name: str, form: dict[str, Any], on: str | None) -> None:
        info = self.pod(name, form, on)
        if on is None or not self.model.is_assumed(info.key):
            self.refuses(ValueError, lambda: self.cluster.confirm(info))
            return
        self.cluster.confirm(info)
        self.model.on[info.key] = info, on

    @rule(name=pod_names, form=pod_forms, stale=st.booleans())
    def forget(self, name: str, form: dict[str, Any], stale: bool) -> None:
        known = self.model.info(f"default/{name}")
        info = known if known and not stale else self.pod(name, form, None)
        if known and info.key in self.model.on and not self.model.is_assumed(info.key):
            self.refuses(ValueError, lambda: self.cluster.forget(info))
            return
        for _ in range(2):
            self.cluster.forget(info)
        if info.key in self.model.on:
            self.model.pending[info.key], _ = self.model.on.pop(info.key)

    @rule(name=pod_names, form=pod_forms)
    def update_pending(self, name: str, form: dict[str, Any]) -> None:
        info = self.pod(name, form, None)
        if info.key not in self.model.pending:
            self.refuses(KeyError, lambda: self.cluster.update_pending(info))
            return
        self.cluster.update_pending(info)
        self.model.pending[info.key] = info

    @rule(name=pod_names, form=pod_forms, stale=st.booleans())
    def remove(self, name: str, form: dict[str, Any], stale: bool) -> None:
        known = self.model.info(f"default/{name}")
        info = known if known and not stale else self.pod(name, form, None)
        if known is None:
            self.refuses(KeyError, lambda: self.cluster.remove_pod(info))
            return
        self.cluster.remove_pod(info)
        self.model.on.pop(info.key, None)
        self.model.pending.pop(info.key, None)

    @rule(names=st.lists(pod_names, max_size=3), many=st.booleans(), form=pod_forms)
    def remove_many(self, names: list[str], many: bool, form: dict[str, Any]) -> None:
        infos = [self.pod(name, form, None) for name in names]
        running = [info.key in self.model.on and self.model.on[info.key][1] in self.model.nodes for info in infos]
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("schedctl.cache.cluster._MANY", 1 if many else 256)
            if not all(running) or len({*names}) < len(names):
                self.refuses(KeyError, lambda: self.cluster.remove_pods(infos))
                return
            self.cluster.remove_pods(infos)
        for info in infos:
            del self.model.on[info.key]

    @rule(name=st.sampled_from(("fast", "slow")), provisioner=st.sampled_from(("x", "y", None)))
    def put_or_delete(self, name: str, provisioner: str | None) -> None:
        made = msgspec.convert({"metadata": {"name": name}, "provisioner": provisioner or ""}, StorageClass)
        if provisioner:
            self.cluster.put(made)
            self.model.objects[name] = made
        elif name in self.model.objects:
            self.cluster.delete(made)
            del self.model.objects[name]
        else:
            self.refuses(KeyError, lambda: self.cluster.delete(made))

    @precondition(lambda self: len(self.forks) < 3)
    @rule()
    def fork(self) -> None:
        context = self.cluster.fork()
        context.__enter__()
        self.forks.append((context, self.model.copy()))

    @precondition(lambda self: self.forks)
    @rule()
    def revert(self) -> None:
        context, self.model = self.forks.pop()
        context.__exit__(None, None, None)

    @invariant()
    def equals_a_cluster_built_anew(self) -> None:
        assert view(self.cluster) == view(self.model.build())

    def teardown(self) -> None:
        while self.forks:
            self.revert()
            self.equals_a_cluster_built_anew()


# a profile that looks for new examples says how many
EXAMPLES = 60 if settings.default.derandomize else settings.default.max_examples
AnySequence.TestCase.settings = settings(max_examples=EXAMPLES, stateful_step_count=30, deadline=None)
TestAnySequence = AnySequence.TestCase


def test_a_pod_that_is_on_a_node_is_not_assumed_on_another():
    c = Cluster.of([node("a"), node("b"), pod("p").pod])
    info = c.pending["default/p"]
    c.assume(info, "a")
    with pytest.raises(ValueError, match='pod default/p is on node "a" already'):
        c.assume(info, "b")
    assert c.nodes.pod_count.tolist() == [1, 0]


def test_a_pod_that_is_confirmed_on_another_node_than_assumed_runs_there():
    c = Cluster.of([node("a"), node("b"), pod("p").pod])
    c.assume(c.pending["default/p"], "a")
    c.confirm(pod("p", on="b"))
    assert c.nodes.pod_count.tolist() == [0, 1]
    with pytest.raises(ValueError, match="pod default/p is not assumed"):
        c.confirm(pod("p", on="a"))


def test_a_pod_that_runs_is_not_forgotten():
    c = Cluster.of([node("a"), pod("p", on="a").pod])
    with pytest.raises(ValueError, match="pod default/p is bound to node"):
        c.forget(next(iter(c.pod_table)))


def test_what_is_removed_is_what_stood_there_whatever_a_later_copy_asks_for():
    c = Cluster.of([node("a"), pod("p", on="a", cpu="1").pod])
    c.remove_pod(pod("p", on="a", cpu="3"))
    assert c.nodes.requested("cpu").tolist() == [0]

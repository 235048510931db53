"""For which node a DaemonSet makes its next pod."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.api.workloads import DaemonSet
from schedctl.cache.cluster import Cluster
from schedctl.workloads import daemon_sets

OWNER = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "d", "controller": True}


def node(name: str, *, taint: str = "", **labels: str) -> Node:
    taints = [{"key": taint, "effect": "NoSchedule"}] if taint else []
    return msgspec.convert({"metadata": {"name": name, "labels": labels}, "spec": {"taints": taints}}, Node)


def affinity(*names: str) -> dict[str, Any]:
    field = {"key": "metadata.name", "operator": "In", "values": list(names)}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def running(on: str, owner: dict[str, Any] = OWNER, **spec: Any) -> Pod:
    metadata = {"name": f"agent-{on}", "namespace": "shop", "ownerReferences": [owner]}
    return msgspec.convert({"metadata": metadata, "spec": spec or {"nodeName": on}}, Pod)


def daemon_set(**spec: Any) -> DaemonSet:
    template = {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [{"name": "main"}], **spec}}
    metadata = {"name": "agent", "namespace": "shop", "uid": "d"}
    return msgspec.convert({"metadata": metadata, "spec": {"template": template}}, DaemonSet)


def tie(made: daemon_sets.NextPod) -> Any:
    return msgspec.to_builtins(made.pod.spec).get("affinity")


NODES = [node("b"), node("a"), node("c", pool="gpu"), node("d", taint="dedicated")]
FOR = "this is the pod that DaemonSet shop/agent would make for node"


@pytest.mark.parametrize(
    ("spec", "there", "node_name", "chosen", "note"),
    [
        pytest.param(
            {},
            [],
            "",
            "a",
            f"{FOR} a, the first of 3 eligible nodes without one; `--node NAME` explains another",
            id="the first of all by name",
        ),
        pytest.param({}, [running("a"), running("c")], "", "b", f"{FOR} b", id="a node without one"),
        pytest.param(
            {},
            [running("a"), running("b", affinity=affinity("b"))],
            "",
            "c",
            f"{FOR} c",
            id="a pending pod counts for the node it is tied to",
        ),
        pytest.param({"nodeSelector": {"pool": "gpu"}}, [], "", "c", f"{FOR} c", id="only nodes it selects"),
        pytest.param(
            {"affinity": affinity("b")}, [], "", "b", f"{FOR} b", id="the tie takes the place of what it required"
        ),
        pytest.param({"tolerations": [{"operator": "Exists"}]}, [], "d", "d", f"{FOR} d", id="the node that is named"),
        pytest.param(
            {},
            [running("a", {**OWNER, "uid": "other"}), running("b"), running("c")],
            "",
            "a",
            f"{FOR} a",
            id="pods of others of the name do not count",
        ),
    ],
)
def test_a_daemon_pod_is_tied_to_its_node(spec, there, node_name, chosen, note):
    made = daemon_sets.pod_for(daemon_set(**spec), Cluster.of([*NODES, *there]), node_name)
    assert (tie(made), made.note) == (affinity(chosen), note)
    assert made.pod.metadata.name == "agent-…"


def test_an_existing_daemon_pod_stands_for_its_node():
    made = daemon_sets.pod_for(daemon_set(), Cluster.of([*NODES, running("a")]), "a")
    assert made.pod.key == "shop/agent-a"
    assert made.note == "DaemonSet shop/agent has pod shop/agent-a for node a: this is about that pod"


@pytest.mark.parametrize(
    ("spec", "node_name", "note"),
    [
        pytest.param(
            {}, "d", "makes no pod for node d, because of its node selector, affinity or tolerations", id="this node"
        ),
        pytest.param(
            {"nodeSelector": {"pool": "arm"}},
            "",
            "makes no pod, as no node meets its node selector, affinity and tolerations",
            id="any node",
        ),
    ],
)
def test_without_an_eligible_node_the_untied_template_is_returned(spec, node_name, note):
    made = daemon_sets.pod_for(daemon_set(**spec), Cluster.of(NODES), node_name)
    assert (tie(made), made.note) == (None, f"DaemonSet shop/agent {note}: this is its template")


@pytest.mark.parametrize(
    ("spec", "there", "status"),
    [
        pytest.param({}, [running("a"), running("b"), running("c")], "each of its 3 nodes; `", id="all run"),
        pytest.param(
            {},
            [running("a"), running("b", affinity=affinity("b")), running("c")],
            "each of its 3 nodes, 1 of them pending (`pod shop/agent-b`); `",
            id="one is pending",
        ),
        pytest.param({"nodeSelector": {"pool": "gpu"}}, [running("c")], "its only node; `", id="there is one"),
    ],
)
def test_a_daemon_set_with_all_its_pods_makes_none(spec, there, status):
    with pytest.raises(daemon_sets.Complete) as complete:
        daemon_sets.pod_for(daemon_set(**spec), Cluster.of([*NODES, *there]))
    assert str(complete.value) == f"DaemonSet shop/agent has a pod for {status}--node NAME` explains that of a node"

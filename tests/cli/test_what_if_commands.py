"""``drain``, ``capacity`` and the what-if options on a command line: exit codes, mistakes, and what they share."""

from __future__ import annotations

import json

import msgspec
import pytest

from schedctl.reports.capacities import CapacityReport
from schedctl.reports.drains import DrainReport
from schedctl.reports.schemas import schema_of

SHOP = ("-f", "fixtures/clusters/shop")
CART = ("capacity", "--like", "deploy/cart", "-n", "shop", *SHOP)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["drain", "gpu-a-1", *SHOP, "--exit-code"], 1, id="a node that kubectl refuses"),
        pytest.param(
            ["drain", "general-a-1", *SHOP, "--ignore-daemonsets"], 0, id="pods pending, answered all the same"
        ),
        pytest.param(["drain", "general-a-1", *SHOP, "--ignore-daemonsets", "--exit-code"], 1, id="pods pending"),
        pytest.param(
            ["drain", "general-b-3", *SHOP, "--ignore-daemonsets", "--exit-code"], 0, id="a node with daemons only"
        ),
        pytest.param([*CART, "--exit-code"], 0, id="more fit"),
        pytest.param([*CART, "--exit-code", "--lose", "pool=general"], 1, id="none fits"),
        pytest.param(["drain", "nowhere", *SHOP], 2, id="a node that is not there"),
        pytest.param(["drain", *SHOP], 2, id="no node"),
        pytest.param(["drain", "-l", "a=b", *SHOP], 2, id="labels that no node has"),
        pytest.param(["capacity", *SHOP], 2, id="like nothing"),
        pytest.param(["capacity", "--like", "fixtures/clusters/shop/storage.yaml", *SHOP], 2, id="a file without pods"),
        pytest.param(["capacity", "--like", "missing.yaml", *SHOP], 3, id="a file that is not there"),
        pytest.param(["explain", "--all-pending", *SHOP, "--cordon", "nowhere"], 2, id="a what-if about nothing"),
    ],
)
def test_exit_codes(arguments, code, schedctl):
    ended = schedctl(*arguments)
    assert ended.code == code, ended.err
    assert bool(ended.out) is (code < 2)


@pytest.mark.parametrize(
    ("arguments", "document"),
    [
        pytest.param(
            ["drain", "--zone", "eu-west-1a", *SHOP, "--ignore-daemonsets", "--cordon", "zone=eu-west-1b"],
            DrainReport,
            id="a drain",
        ),
        pytest.param([*CART, "--like", "pod/cart-5c7d94b8f6-vk7xn"], CapacityReport, id="a capacity"),
    ],
)
def test_a_report_is_what_its_schema_says(arguments, document, schedctl):
    printed = json.loads(schedctl(*arguments, "-o", "json").out)
    assert msgspec.to_builtins(msgspec.convert(printed, document)) == printed
    assert json.loads(schedctl("schema", document.__name__).out) == schema_of(document)
    undescribed = [
        f"{name}.{key}"
        for name, record in schema_of(document)["$defs"].items()
        for key, value in record.get("properties", {}).items()
        if "description" not in value and key not in ("apiVersion", "kind", "pod", "node")
    ]
    assert undescribed == []


def test_what_ifs_are_made_in_the_order_of_the_command_line(schedctl):
    words = ("--label", "general-a-1:x=y", "--cordon", "x=y", "--label=general-a-2:x=y", "--cordon=x=y")
    report = json.loads(schedctl("explain", "--all-pending", *SHOP, *words, "-o", "json").out)
    assert report["metadata"]["whatIf"] == [
        "labelled general-a-1 x=y",
        "cordoned general-a-1",
        "labelled general-a-2 x=y",
        "cordoned general-a-1, general-a-2",
    ]


@pytest.mark.parametrize("command", ["explain", "simulate", "drain", "capacity"])
def test_every_command_about_a_cluster_takes_them(command, schedctl):
    from schedctl.simulation.what_if_syntax import WORDS

    text = schedctl(command, "--help").out
    missing = ["drain"] if command == "drain" else []  # its arguments are the nodes
    assert [word for word in WORDS if f"--{word} " not in text] == missing


def test_control_characters_in_a_what_if_do_not_reach_the_terminal(schedctl):
    ended = schedctl("explain", "--all-pending", *SHOP, "--cordon", "a\x1b[31m")
    assert "\x1b" not in ended.err


def test_of_a_pod_that_has_to_go_its_successor_is_explained(schedctl):
    ended = schedctl(
        "explain", "pod", "web-7d9c6b5f4d-gxs82", "-n", "shop", *SHOP, "--drain", "general-a-1", "-o", "json"
    )
    (result,) = json.loads(ended.out)["results"]
    assert result["pod"]["name"].startswith("web-7d9c6b5f4d-")
    assert (result["pod"]["name"] != "web-7d9c6b5f4d-gxs82", result["pod"]["nodeName"]) == (True, "")


def test_pods_of_a_file_may_bring_what_they_need(schedctl, tmp_path):
    file = tmp_path / "pods.yaml"
    file.write_text(
        """
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: mine}
value: 77
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: mine}
spec:
  selector: {matchLabels: {app: mine}}
  template:
    metadata: {labels: {app: mine}}
    spec:
      priorityClassName: mine
      containers: [{name: main, image: mine, resources: {requests: {cpu: 1500m}}}]
"""
    )
    report = json.loads(schedctl("capacity", "--like", str(file), "-n", "shop", *SHOP, "-o", "json").out)
    (result,) = report["results"]
    assert (result["subject"], result["priority"], result["requests"]) == ("deploy shop/mine", 77, {"cpu": 1500})
    assert result["nodes"] == {"general-a-1": 1, "general-b-1": 1}


def test_a_node_is_drained_by_the_name_that_kubectl_prints(schedctl):
    flags = (*SHOP, "--ignore-daemonsets", "--timeout", "0s")
    assert schedctl("drain", "node/general-a-1", *flags).out == schedctl("drain", "general-a-1", *flags).out


def test_a_timeout_of_a_drain_is_refused_with_a_hint(schedctl):
    refused = schedctl("drain", "general-a-1", *SHOP, "--timeout", "5m")
    assert refused.code == 2
    assert "--timeout 5m is not simulated" in refused.err
    assert "goneAt" in refused.err


def test_a_drain_is_over_when_its_last_pod_is_gone(schedctl):
    text = schedctl("drain", "general-a-1", *SHOP, "--ignore-daemonsets").out
    assert "in about 30 s" in text.partition("\n")[0]


ZONAL = """
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: a-1, labels: {topology.kubernetes.io/zone: a}}, status: &size {allocatable: {cpu: "4", memory: 8Gi, pods: "9"}}}
- {apiVersion: v1, kind: Node, metadata: {name: b-1, labels: {topology.kubernetes.io/zone: b}}, status: *size}
- apiVersion: v1
  kind: PersistentVolume
  metadata: {name: pv-0}
  spec:
    capacity: {storage: 1Gi}
    accessModes: [ReadWriteOnce]
    claimRef: {namespace: shop, name: data}
    csi: {driver: disk.example, volumeHandle: pv-0}
    nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [a]}]}]}}
  status: {phase: Bound}
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {name: data, namespace: shop, annotations: {pv.kubernetes.io/bind-completed: "yes"}}
  spec: {accessModes: [ReadWriteOnce], volumeName: pv-0, storageClassName: "", resources: {requests: {storage: 1Gi}}}
  status: {phase: Bound}
- apiVersion: apps/v1
  kind: StatefulSet
  metadata: {name: db, namespace: shop, uid: db}
  spec: {replicas: 1, serviceName: db, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: &spec {containers: [{name: main, image: db}], volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}}}
- apiVersion: v1
  kind: Pod
  metadata: {name: db-0, namespace: shop, labels: {app: db}, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: db, controller: true}]}
  spec: {<<: *spec, nodeName: a-1}
  status: {phase: Running}
"""  # noqa: E501


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("drain", "a-1"), id="drain"),
        pytest.param(("explain", "pod", "db-0", "-n", "shop", "--drain", "a-1"), id="a drain as a what-if"),
        pytest.param(("explain", "pod", "db-0", "-n", "shop", "--cordon", "a-1", "--reconsider"), id="a cordon"),
    ],
)
def test_no_fix_undoes_what_was_asked_about(arguments, schedctl, tmp_path):
    state = tmp_path / "zonal.yaml"
    state.write_text(ZONAL)
    printed = schedctl(*arguments, "-f", str(state)).out
    assert "volume pv-0 of claim data is reachable only from topology.kubernetes.io/zone=a" in printed
    assert "would fit if another node like a-1 is added" in printed
    assert "uncordon" not in printed


def workload_on_two_nodes(budget_spec, status):
    """Return two nodes, a Deployment with a pod on each, and its PodDisruptionBudget."""

    def owned(kind, owner):
        return {
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": owner, "controller": True}
            ]
        }

    def named(name, **more):
        return {"name": name, "namespace": "default", "uid": name, **more}

    labels, containers = {"app": "web"}, {"containers": [{"name": "main", "image": "a"}]}
    spec = {
        "replicas": 2,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": containers},
    }
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": named("web"), "status": status}
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    return [
        *(
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": allocatable}}
            for name in "ab"
        ),
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": named("web"), "spec": spec},
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": named("web-1", **owned("Deployment", "web")),
            "spec": spec,
        },
        *(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": named(f"web-1-{name}", labels=labels, **owned("ReplicaSet", "web-1")),
                "spec": {**containers, "nodeName": name},
                "status": {"phase": "Running"},
            }
            for name in "ab"
        ),
        {**budget, "spec": {"selector": {"matchLabels": labels}, **budget_spec}},
    ]


@pytest.mark.parametrize(
    ("spec", "status", "replicas", "allowed", "desired"),
    [
        pytest.param(
            {"minAvailable": 2},
            {"currentHealthy": 2, "desiredHealthy": 2, "expectedPods": 2},
            2,
            0,
            2,
            id="no pod to spare before",
        ),
        pytest.param(
            {"minAvailable": 2},
            {"currentHealthy": 2, "desiredHealthy": 2, "expectedPods": 2},
            3,
            1,
            2,
            id="one pod to spare, beside a status that knows nothing of it",
        ),
        pytest.param({"minAvailable": 2}, {}, 3, 1, 2, id="one pod to spare, without a status"),
        pytest.param(
            {"maxUnavailable": 1},
            {"currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2, "disruptionsAllowed": 1},
            4,
            1,
            3,
            id="of more pods, more must be healthy",
        ),
        pytest.param({"minAvailable": "100%"}, {}, 3, 0, 3, id="all of them must be, however many there are"),
    ],
)
def test_a_budget_counts_the_pods_that_scaling_up_adds(spec, status, replicas, allowed, desired, schedctl, tmp_path):
    state = tmp_path / "state.json"
    state.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": workload_on_two_nodes(spec, status)}))
    ended = schedctl("drain", "a", "-f", str(state), "--scale", f"deploy/web={replicas}", "-o", "json")
    (use,) = json.loads(ended.out)["budgets"]
    assert (use["allowed"], use["desired"], use["blocked"] > 0) == (allowed, desired, allowed == 0)


def test_what_force_costs_stands_beside_the_hint_to_use_it(schedctl, tmp_path):
    *nodes, alone = (
        each for each in workload_on_two_nodes({}, {}) if each["metadata"]["name"] in ("a", "b", "web-1-b")
    )
    alone["metadata"] = {"name": "alone", "namespace": "default", "uid": "alone"}
    state = tmp_path / "state.json"
    state.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, alone]}))
    refused = schedctl("drain", "b", "-f", str(state)).out
    assert "hint: add `--force`, as with kubectl drain; it also deletes pods that no controller recreates" in refused
    forced = schedctl("drain", "b", "-f", str(state), "--force").out
    assert "1 pod would be evicted: 1 lost (no controller recreates it)" in forced

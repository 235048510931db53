"""Commands at the end of an answer: pasted, they ask about the same state, by the same rules, of the same scheduler."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

SHOP = str(Path(__file__).parents[2] / "fixtures/clusters/shop")
NODES = """
apiVersion: v1
kind: Node
metadata: {name: NAME, labels: {disk: DISK}}
status: {allocatable: {cpu: "2", memory: 8Gi, pods: "10"}}
---
"""
PODS = """
apiVersion: v1
kind: Pod
metadata: {name: anywhere}
spec: {containers: [{name: c, image: c, resources: {requests: {cpu: "1", memory: 1Gi}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: picky}
spec: {nodeSelector: {disk: ssd}, containers: [{name: c, image: c, resources: {requests: {cpu: "2", memory: 1Gi}}}]}
"""


@pytest.fixture
def files(schedctl, tmp_path, monkeypatch):
    """A hundred and twenty nodes, of which one has the disk that a pod asks for, once another one has not taken it."""
    nodes = "".join(NODES.replace("NAME", f"n{i:03}").replace("DISK", "ssd" if i == 60 else "hdd") for i in range(120))
    (tmp_path / "nodes.yaml").write_text(nodes)
    (tmp_path / "pods.yaml").write_text(PODS)
    monkeypatch.chdir(tmp_path)
    return "pods.yaml", "-f", "nodes.yaml"


def pasted(schedctl, command, *more):
    program, *words = shlex.split(command)
    assert program == "schedctl"
    ended = schedctl(*words, *more, "-o", "json")
    assert ended.code in (0, 1), ended.err
    return json.loads(ended.out)


@pytest.mark.parametrize(
    "options",
    [
        ("--kube-version", "1.35", "--feature-gates", "GenericWorkload=false"),
        ("--profile", "bin-packing", "-n", "shop"),
        ("--skip-admission", "ResourceQuota,LimitRanger", "--strict"),
        ("--cordon", "n001", "--label", "n002:disk=ssd"),
        ("--scheduler-config", "config.yaml"),
    ],
    ids=" ".join,
)
def test_the_worst_draw_is_repeated_under_the_options_of_the_draws(files, schedctl, options, tmp_path):
    head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    (tmp_path / "config.yaml").write_text(head + "profiles: [{schedulerName: default-scheduler}]\n")
    drawn = json.loads(schedctl("simulate", *files, *options, "--draws", "3", "-o", "json").out)
    again = pasted(schedctl, drawn["draws"]["worstCommand"])
    same = ("kubernetesVersion", "featureGates", "configuration", "whatIf", "skippedAdmission")
    assert [again["metadata"].get(name) for name in same] == [drawn["metadata"].get(name) for name in same]
    assert [each["namespace"] for each in again["results"]] == [each["namespace"] for each in drawn["results"]]
    assert again["summary"]["placed"] == drawn["draws"]["podsPlaced"]["lowest"]


def test_a_draw_that_samples_nodes_is_repeated_from_the_node_where_it_began(files, schedctl):
    for seed in range(4):
        one = json.loads(
            schedctl("simulate", *files, "--sampling", "--draws", "1", "--seed", str(seed), "-o", "json").out
        )
        drawn = {each["name"]: [node["name"] for node in each["nodes"]] for each in one["draws"]["workloads"]}
        again = pasted(schedctl, one["draws"]["worstCommand"])
        assert {each["name"]: [node["name"] for node in each["nodes"]] for each in again["results"]} == drawn


def test_a_lost_zone_is_explained_on_the_cluster_that_was_asked_about(schedctl):
    options = ("--scale", "deploy/shop/web=9", "--kube-version", "1.36", "--profile", "bin-packing")
    lost = json.loads(schedctl("n-1", "-f", SHOP, "--by", "zone", *options, "-o", "json").out)
    worst = lost["results"][0]
    again = pasted(schedctl, worst["command"])
    assert again["metadata"]["kubernetesVersion"] == lost["metadata"]["kubernetesVersion"]
    assert again["metadata"]["configuration"] == lost["metadata"]["configuration"]
    assert again["metadata"]["whatIf"][0].startswith("scaled deploy/shop/web")


def test_pods_that_are_pending_before_a_loss_are_explained_from_the_same_files(schedctl):
    lost = schedctl("n-1", "-f", SHOP, "--by", "zone")
    command = f"schedctl explain --all-pending -f {SHOP}"
    assert f"not counted: `{command}`" in lost.out.replace("\n", " ").replace("  ", " ")
    report = json.loads(schedctl("n-1", "-f", SHOP, "--by", "zone", "-o", "json").out)
    explained = pasted(schedctl, report["pendingCommand"])["results"]
    assert report["pendingBefore"] == sorted(pod for each in explained for pod in each["pods"] or [each["pod"]])

"""Groups of nodes from a snapshot: it holds what they are detected from, and gives the answers of the cluster."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from schedctl.api import autoscalers
from schedctl.api.autoscalers import ConfigMap
from schedctl.api.gaps import Gap
from schedctl.autoscaling.detection import detect
from schedctl.cli.running import run
from schedctl.snapshots import documents
from schedctl.workloads.clusters import assemble
from tests.nodes.conftest import FIXTURES

STATES = {
    "Karpenter": ["autoscalers/karpenter.yaml"],
    "Cluster API": ["autoscalers/cluster-api.yaml"],
    "Cluster Autoscaler": ["clusters/shop", "autoscalers/autoscaler-status.yaml"],
}
EACH = pytest.mark.parametrize("names", STATES.values(), ids=STATES)


@pytest.fixture
def stored(tmp_path, capsys):
    """Takes a snapshot of files, and returns its path and what it holds."""

    def store(*names: str, redact: str = "default"):
        target = tmp_path / f"{redact}.json"
        paths = [flag for name in names for flag in ("--from", str(FIXTURES / name))]
        assert run(("snapshot", "create", str(target), "--redact", redact, *paths)) == 0, capsys.readouterr().err
        capsys.readouterr()
        read = documents.decode(target.read_bytes())
        objects = (obj for _, found in read.objects for obj in found)
        return str(target), assemble(objects, kinds=autoscalers.KINDS).cluster

    return store


@EACH
def test_groups_of_a_snapshot_are_those_of_the_cluster(state, stored, names):
    _, cluster = stored(*names)
    assert detect(cluster) == detect(state(*names))


@EACH
def test_groups_keep_all_but_their_names_under_strict_redaction(state, stored, names):
    def shapes(found):
        return Counter(
            (
                each.autoscaler,
                len(each.nodes),
                (each.min_size, each.max_size, each.priority),
                tuple(each.limits.items()),
                bool(each.disruption),
                len(each.notes),
                tuple(sorted((one.spot, one.node.status.allocatable["cpu"]) for one in each.templates)),
            )
            for each in found.groups
        )

    _, cluster = stored(*names, redact="strict")
    found, before = detect(cluster), detect(state(*names))
    assert shapes(found) == shapes(before)
    assert len(found.notes) == len(before.notes)


def test_plans_are_the_same_from_a_snapshot(stored, capsys):
    files = [flag for name in STATES["Cluster Autoscaler"] for flag in ("-f", str(FIXTURES / name))]

    def plan(*paths: str):
        assert run(("nodes", *paths, "-o", "json")) == 0
        report = json.loads(capsys.readouterr().out)
        return {key: report[key] for key in ("groups", "nodes", "pods", "bound") if key in report}

    path, _ = stored(*STATES["Cluster Autoscaler"])
    assert plan("-f", path) == plan(*files)


def test_a_snapshot_says_in_explain_what_a_scale_up_would_do(stored, capsys):
    path, _ = stored("autoscalers/karpenter.yaml")
    run(("explain", "pod", "web-1", "-f", path))
    assert "scale-up: 1 new node of group general would take the pod" in capsys.readouterr().out


def test_of_config_maps_only_the_sizes_in_that_of_cluster_autoscaler_are_kept(stored, written):
    status = (FIXTURES / "autoscalers/autoscaler-status.yaml").read_text().replace("Healthy", "a-password")
    other = (
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: shop}\ndata: {status: a-password}\n"
    )
    path, cluster = stored("clusters/shop", written(f"{status}{other}"))
    assert [each.metadata.name for each in cluster.every(ConfigMap).values()] == ["cluster-autoscaler-status"]
    assert "a-password" not in Path(path).read_text()


def test_a_question_about_no_groups_passes_over_what_autoscalers_keep(stored, capsys):
    path, _ = stored("autoscalers/karpenter.yaml")
    assert run(("simulate", str(FIXTURES / "pods/fits.yaml"), "-f", path)) in (0, 1)
    assert "NodePool" not in capsys.readouterr().err


def test_kinds_that_could_not_be_listed_are_told():
    gap = Gap("NodePool", "Forbidden")
    cluster = assemble((), (gap,), autoscalers.KINDS).cluster
    assert "could not list NodePool: " in detect(cluster).notes[0]


def test_machines_of_openshift_are_found_again_under_strict_redaction(stored, written):
    machines = written(
        """
apiVersion: machine.openshift.io/v1beta1
kind: MachineSet
metadata:
  name: prod-worker-a
  namespace: openshift-machine-api
  annotations: {machine.openshift.io/cluster-api-autoscaler-node-group-max-size: "5",
    machine.openshift.io/vCPU: "8", machine.openshift.io/memoryMb: "16384"}
---
apiVersion: v1
kind: Node
metadata:
  name: ip-1
  annotations: {machine.openshift.io/machine: openshift-machine-api/prod-worker-a-x7k2p}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
"""
    )
    _, cluster = stored(machines, redact="strict")
    (group,) = detect(cluster).groups
    assert (group.max_size, len(group.nodes)) == (5, 1)

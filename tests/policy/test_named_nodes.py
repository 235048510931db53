"""Pods whose manifest names their node: no scheduler judges them, so that a gate must not call them schedulable."""

from __future__ import annotations

import pytest

from schedctl.cli.running import run

NODES = """
apiVersion: v1
kind: Node
metadata: {name: fast, labels: {disk: ssd}}
status: {allocatable: {cpu: "2", memory: 8Gi, pods: "3"}}
---
apiVersion: v1
kind: Pod
metadata: {name: before}
spec: {nodeName: fast, containers: [{name: c, image: c, resources: {requests: {cpu: 500m}}}]}
"""
WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: REPLICAS
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {nodeName: fast, SPEC, containers: [{name: c, image: c, resources: {requests: {cpu: CPU}}}]}
"""


@pytest.mark.parametrize(
    ("replicas", "cpu", "spec", "code", "told"),
    [
        pytest.param(2, "500m", "hostNetwork: false", 0, "1 passed", id="what fits is schedulable"),
        pytest.param(
            1,
            "2",
            "hostNetwork: false",
            5,
            "web[0]: not modelled: spec.nodeName names fast, whose kubelet rejects pods that do not fit: "
            "cpu: 2000m requested, 2500m by all its pods, 2000m allocatable",
            id="more than is left on the node may be rejected by its kubelet",
        ),
        pytest.param(3, "100m", "hostNetwork: false", 5, "4 pods on it, at most 3", id="so may one pod too many"),
        pytest.param(
            1,
            "100m",
            "nodeSelector: {disk: hdd}",
            5,
            "node(s) didn't match Pod's node affinity/selector",
            id="and a pod that wants another node",
        ),
    ],
)
def test_a_pod_that_names_its_node_passes_only_where_it_fits(
    tmp_path, monkeypatch, capsys, replicas, cpu, spec, code, told
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nodes.yaml").write_text(NODES)
    web = WEB.replace("REPLICAS", str(replicas)).replace("CPU", cpu).replace("SPEC", spec)
    (tmp_path / "web.yaml").write_text(web)
    assert run(("check", "web.yaml", "-f", "nodes.yaml")) == code
    assert told in capsys.readouterr().out


def test_where_it_may_run_is_judged_by_the_node_that_it_names(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nodes.yaml").write_text(NODES)
    web = WEB.replace("REPLICAS", "1").replace("CPU", '"2"').replace("SPEC", "hostNetwork: false")
    (tmp_path / "web.yaml").write_text(web)
    check = "{name: pool, builtin: placement, with: {mustNot: {nodeSelector: {disk: ssd}}}}"
    head = "apiVersion: schedctl.dev/v1alpha1\nkind: CheckPolicy\nmetadata: {name: p}\n"
    (tmp_path / "policy.yaml").write_text(f"{head}spec: {{checks: [{check}]}}\n")
    assert run(("check", "web.yaml", "-f", "nodes.yaml", "-p", "policy.yaml")) == 1
    assert "1 of 1 pod on a node that is not allowed" in capsys.readouterr().out

"""Nodes whose only zone label is the deprecated one are in that zone for every command, but for selectors and keys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedctl.api.topology import BETA_ZONE, ZONE
from schedctl.testing.builders import HOSTNAME

POLICY = """\
apiVersion: schedctl.dev/v1alpha1
kind: CheckPolicy
metadata: {name: zones}
spec:
  scenarios:
    - name: lose-zone
      forEach: {topologyKey: topology.kubernetes.io/zone}
      changes: [{lose: {topology.kubernetes.io/zone: $value}}]
  checks:
    - {name: spread, builtin: spread, with: {topologyKey: topology.kubernetes.io/zone, minDomains: 3}}
    - {name: survives, builtin: survives, with: {scenario: lose-zone}}
"""
WORKLOAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      # of its own, for the default ones know the current label only, in kube-scheduler too
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
      containers: [{name: main, image: web, resources: {requests: {cpu: "2"}}}]
"""


def state(label: str) -> str:
    items: list[dict] = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {HOSTNAME: name, label: zone}},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
        }
        for name, zone in (("a", "eu-1"), ("b", "eu-2"), ("c", "eu-2"))
    ]
    for name, cpu in (("huge", "64"), ("small", "1")):
        container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": cpu}}}
        metadata = {"name": name, "namespace": "default", "uid": name}
        items.append({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}})
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("explain", "pod", "huge", "-o", "wide"), id="explain"),
        pytest.param(("explain", "node", "a"), id="explain node"),
        pytest.param(("explain", "pod", "small", "--lose", "zone=eu-2"), id="a zone that is lost"),
        pytest.param(("simulate", "web.yaml"), id="simulate"),
        pytest.param(("simulate", "web.yaml", "--lose", "zone=eu-1"), id="simulate without a zone"),
        pytest.param(("drain", "--zone", "eu-2"), id="drain"),
        pytest.param(("capacity", "--like", "pod/small"), id="capacity"),
        pytest.param(("check", "web.yaml", "--policy", "policy.yaml"), id="check"),
    ],
)
def test_a_deprecated_zone_label_answers_as_the_current_one(schedctl, tmp_path, monkeypatch, command):
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "web.yaml").write_text(WORKLOAD)
    monkeypatch.chdir(tmp_path)
    answers = []
    for label in (ZONE, BETA_ZONE):
        Path("state.json").write_text(state(label))
        answers.append(schedctl(*command, "-f", "state.json"))
    current, deprecated = answers
    assert current.code != 2, current.err
    assert (deprecated.code, deprecated.out) == (current.code, current.out)

"""A repository of sixty Deployments of three teams, the cluster they run in, and the policies that hold for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

TEAMS = ("data", "pay", "shop")
ZONES = ("eu-1a", "eu-1b", "eu-1c")
EACH = 20
"""How many Deployments a team has."""

TEMPLATE = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  namespace: {team}
spec:
  replicas: {replicas}
  selector:
    matchLabels: {{app: {name}}}
  template:
    metadata:
      labels: {{app: {name}}}
    spec:
      priorityClassName: standard
      nodeSelector: {{pool: general}}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {{matchLabels: {{app: {name}}}}}
      containers:
        - name: main
          image: {name}
          resources:
            requests: {{cpu: 100m, memory: 128Mi}}
"""

AVAILABILITY = """\
apiVersion: schedctl.dev/v1alpha1
kind: CheckPolicy
metadata: {name: availability}
spec:
  match: {namespaces: [data, pay, shop]}
  requireMatch: true
  scenarios:
    - name: lose-zone
      forEach: {topologyKey: topology.kubernetes.io/zone}
      remove: {nodeSelector: {topology.kubernetes.io/zone: $value}}
  checks:
    - {name: fits, builtin: schedulable}
    - {name: zones, builtin: spread, with: {minDomains: 2}}
    - {name: zone-loss, builtin: survives, with: {scenario: lose-zone, allowPending: 1}}
    - {name: nobody-goes, builtin: no-preemption}
    - {name: no-regression, builtin: no-regression}
    - {name: drains, builtin: drain-safe, with: {nodeSelector: {kubernetes.io/hostname: eu-1b-0}}}
"""
HYGIENE = """\
apiVersion: schedctl.dev/v1alpha1
kind: CheckPolicy
metadata: {name: hygiene}
spec:
  match: {namespaces: [data, pay, shop]}
  checks:
    - name: requests
      scope: pod
      validations:
        - expression: "pod.requests[?'cpu'].orValue(0) > 0 && pod.requests[?'memory'].orValue(0) > 0"
          message: requests no cpu or no memory
    - {name: pool, builtin: placement, with: {must: {nodeSelector: {pool: general}}}}
    - {name: room, builtin: headroom, with: {resource: cpu, percent: 30}}
"""
TEAM = """\
apiVersion: schedctl.dev/v1alpha1
kind: CheckPolicy
metadata: {{name: {team}}}
spec:
  match: {{namespaces: [{team}]}}
  requireMatch: true
  checks:
    - {{name: {team}-fits, builtin: schedulable}}
"""
QUOTA = """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: pods, namespace: shop}
spec: {hard: {pods: "60"}}
"""
CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: ledger, namespace: pay}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: fast
  resources: {requests: {storage: 1Gi}}
"""


def name_of(team: str, number: int) -> str:
    """Return how a Deployment is called, ``shop-07``."""
    return f"{team}-{number:02}"


def manifest(team: str, number: int) -> str:
    """Return a Deployment as its file has it; the last of data has one replica, in one zone therefore."""
    replicas = 1 if (team, number) == ("data", EACH - 1) else 2
    return TEMPLATE.format(name=name_of(team, number), team=team, replicas=replicas)


def write(folder: Path) -> None:
    """Write ``deploy`` and ``policies``, those of the base branch in ``base``, and the cluster in ``state``."""
    files = {f"deploy/{team}/{name_of(team, n)}.yaml": manifest(team, n) for team in TEAMS for n in range(EACH)}
    files["deploy/shop/quota.yaml"] = QUOTA
    rules = {"availability": AVAILABILITY, "hygiene": HYGIENE}
    rules |= {team: TEAM.format(team=team) for team in TEAMS}
    for name, text in rules.items():
        files[f"policies/{name}.yaml"] = files[f"base/policies/{name}.yaml"] = text
    files["state/cluster.json"] = json.dumps({"apiVersion": "v1", "kind": "List", "items": cluster()})
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def cluster() -> list[dict[str, Any]]:
    """Return what is in the cluster: nodes in three zones, one with GPUs, and the sixty Deployments with their pods."""
    nodes = [_node(f"{zone}-{number}", zone, "general") for zone in ZONES for number in range(2)]
    nodes.append(_node("gpu-0", "eu-1a", "gpu", taints=[{"key": "gpu", "value": "present", "effect": "NoSchedule"}]))
    classes = [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
        for name, value in (("standard", 100), ("critical", 1000))
    ]
    storage = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "fast"},
        "provisioner": "csi.example.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    namespaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in (*TEAMS, "sandbox")]
    running = [each for team in TEAMS for number in range(EACH) for each in _running(team, number)]
    return [*nodes, *classes, storage, *namespaces, yaml.safe_load(QUOTA), *running]


def _node(name: str, zone: str, pool: str, **spec: Any) -> dict[str, Any]:
    amounts = {"cpu": "8", "memory": "16Gi", "pods": "60"}
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone, "pool": pool}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def _running(team: str, number: int) -> list[dict[str, Any]]:
    """Return a Deployment of the cluster with its ReplicaSet and its pods, in as many zones as it has pods."""
    deployment = yaml.safe_load(manifest(team, number))
    deployment["metadata"]["uid"] = f"uid-{team}-{number}"
    spec, name = deployment["spec"], deployment["metadata"]["name"]
    labels = spec["template"]["metadata"]["labels"] | {"pod-template-hash": "5d4f"}
    template = {"metadata": {"labels": labels}, "spec": spec["template"]["spec"]}
    replica_set = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": _owned(f"{name}-5d4f", team, deployment) | {"labels": labels},
        "spec": {"replicas": spec["replicas"], "selector": {"matchLabels": labels}, "template": template},
    }
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": _owned(f"{name}-5d4f-{replica}", team, replica_set) | {"labels": labels},
            "spec": template["spec"] | {"nodeName": f"{ZONES[(number + replica) % 3]}-{number % 2}", "priority": 100},
            "status": {"phase": "Running"},
        }
        for replica in range(spec["replicas"])
    ]
    return [deployment, replica_set, *pods]


def _owned(name: str, namespace: str, owner: dict[str, Any]) -> dict[str, Any]:
    reference = {name: owner[name] for name in ("apiVersion", "kind")}
    reference |= {"name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"], "controller": True}
    return {"name": name, "namespace": namespace, "uid": f"uid-{name}", "ownerReferences": [reference]}

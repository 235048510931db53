"""What loading may cost: 20 MB of YAML a few seconds, JSON not much more than msgspec needs to decode it."""

from __future__ import annotations

import gc
import json
import time

import msgspec
import pytest
import yaml

from schedctl.sources import load_text

pytestmark = pytest.mark.slow


def pod(number: int) -> dict:
    """A pod as kubectl prints it, with all that scheduling does not read."""
    app = f"app-{number % 180}"
    condition = {"lastProbeTime": None, "lastTransitionTime": "2026-03-01T10:00:00Z", "status": "True"}
    probe = {
        "failureThreshold": 3,
        "httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"},
        "periodSeconds": 10,
    }
    fields = {"f:metadata": {"f:labels": {".": {}, "f:app": {}}}, "f:spec": {"f:containers": {}, "f:dnsPolicy": {}}}
    affinity = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "annotations": {"prometheus.io/port": "8080", "prometheus.io/scrape": "true"},
            "creationTimestamp": "2026-03-01T10:00:00Z",
            "labels": {"app": app, "pod-template-hash": f"h{number % 180:09d}"},
            "managedFields": [{"apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields, "manager": "kubelet"}],
            "name": f"{app}-{number:06d}",
            "namespace": f"ns-{number % 25}",
            "ownerReferences": [{"apiVersion": "apps/v1", "controller": True, "kind": "ReplicaSet", "name": app}],
            "uid": f"00000000-0000-4000-8000-{number:012d}",
        },
        "spec": {
            "affinity": {
                "podAntiAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [{"podAffinityTerm": affinity, "weight": 100}]
                }
            },
            "containers": [
                {
                    "env": [{"name": f"SETTING_{i}", "value": f"value of setting {i}"} for i in range(8)],
                    "image": f"registry.example.com/{app}:1.0",
                    "livenessProbe": probe,
                    "name": "main",
                    "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
                    "readinessProbe": probe,
                    "resources": {
                        "limits": {"cpu": "1", "memory": "1Gi"},
                        "requests": {"cpu": "250m", "memory": "1Gi"},
                    },
                    "volumeMounts": [{"mountPath": "/var/run/secrets", "name": "token", "readOnly": True}],
                }
            ],
            "nodeName": f"node-{number % 500:04d}",
            "tolerations": [
                {
                    "effect": "NoExecute",
                    "key": f"node.kubernetes.io/{key}",
                    "operator": "Exists",
                    "tolerationSeconds": 300,
                }
                for key in ("not-ready", "unreachable")
            ],
            "volumes": [
                {"name": "token", "projected": {"defaultMode": 420, "sources": [{"configMap": {"name": "ca"}}]}}
            ],
        },
        "status": {
            "conditions": [condition | {"type": kind} for kind in ("Initialized", "Ready", "PodScheduled")],
            "containerStatuses": [{"containerID": f"containerd://{number:064x}", "name": "main", "ready": True}],
            "phase": "Running",
            "podIPs": [{"ip": "10.1.2.3"}],
        },
    }


def listed(megabytes: int, *, uid: bool = True) -> dict:
    items = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{i:04d}", "uid": str(i)}} for i in range(500)
    ]
    size = len(json.dumps(pod(0)))
    items += [pod(i) for i in range((megabytes << 20) // size)]
    for item in items if not uid else ():
        del item["metadata"]["uid"]
    return {"apiVersion": "v1", "kind": "List", "items": items}


def seconds(work) -> float:
    """Processor time of the best of three runs, without the garbage collector."""
    best = float("inf")
    for _ in range(3):
        gc.collect()
        gc.disable()
        began = time.process_time()
        result = work()
        best = min(best, time.process_time() - began)
        gc.enable()
        del result
    return best


@pytest.mark.parametrize("uid", [True, False], ids=["from a cluster", "written by hand"])
@pytest.mark.parametrize("indent", [None, 4], ids=["compact", "as kubectl indents it"])
def test_json_loads_in_at_most_thrice_the_time_of_plain_decoding(uid, indent):
    text = json.dumps(listed(10, uid=uid), indent=indent).encode()
    assert seconds(lambda: load_text(text)) <= 3 * seconds(lambda: msgspec.json.decode(text))


def test_yaml_loads_in_a_few_seconds():
    one = yaml.dump([pod(0)], Dumper=yaml.CSafeDumper).replace("&id001", "").replace("*id001", "{}")
    pods = "".join(one.replace("-000000", f"-{number:06d}") for number in range(20_000_000 // len(one) + 1))
    text = f"apiVersion: v1\nitems:\n{pods}kind: List\n".encode()
    assert len(text) >= 20_000_000
    began = time.process_time()
    manifests = load_text(text)
    assert time.process_time() - began < 6
    assert len(manifests.objects) > 5000

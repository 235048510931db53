"""Snapshots of a cluster as `kubectl get -A -o json` writes them, noise included."""

import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks import workloads


def write(path: str, nodes: int, running: int, pending: int, noise: bool, indent: int | None = None) -> None:
    """Write a snapshot of a cluster as one JSON list, item by item: a large one takes little memory.

    ``kubectl get -o json`` indents by 4; without `indent`, there is no white space.
    """
    separators = (",", ":") if indent is None else (",", ": ")
    with Path(path).open("w", encoding="utf-8") as file:
        before = '{"apiVersion":"v1","kind":"List","items":['
        for item in items(nodes, running, pending, noise=noise):
            file.write(before + json.dumps(item, indent=indent, separators=separators))
            before = ","
        file.write("]}\n")


def items(nodes: int, running: int, pending: int, *, noise: bool) -> Iterator[dict]:
    """Nodes, running pods of the mixed templates, and pending pods; with `noise`, everything kubectl would print."""
    names = [f"node-{i:05d}" for i in range(nodes)]
    for i, name in enumerate(names):
        node = workloads.node(name, f"zone{i % 3}", cpu="32", memory="256Gi")
        yield noisy_node(node, i) if noise else node
    for i, pod in enumerate(mixed(names, running)):
        yield noisy_pod(pod, i) if noise else pod
    for i in range(pending):
        yield workloads.pod(f"pod-{i:05d}", "sched-1", "spread", cpu="40")


def mixed(names: list[str], running: int) -> Iterator[dict]:
    """Running pods of the templates of `MixedSchedulingBasePod`, evenly on these nodes."""
    kinds = workloads.MIXED
    for i in range(running):
        kind = kinds[i * len(kinds) // running]
        # One to a node is all that anti-affinity to itself allows, and half the nodes are left to pods yet to come.
        if kind == "anti" and i - kinds.index(kind) * running // len(kinds) >= len(names) // 2:
            kind = "default"
        yield workloads.pod(f"init-{i:05d}", "sched-0", kind, on=names[i % len(names)])


def noisy_pod(pod: dict, number: int) -> dict:
    """The pod with what an API server, its controllers and a kubelet have added; fifty are of one ReplicaSet."""
    of = number // 50
    labels = {**pod["metadata"].get("labels", {}), "app": f"app-{of}", "pod-template-hash": f"{of:010x}"}
    pod["metadata"] |= {
        "labels": labels,
        "uid": f"00000000-0000-4000-8000-{number:012d}",
        "resourceVersion": str(1_000_000 + number),
        "creationTimestamp": "2026-03-01T10:00:00Z",
        "annotations": {"kubectl.kubernetes.io/restartedAt": "2026-03-01T10:00:00Z", "prometheus.io/scrape": "true"},
        "ownerReferences": [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": f"rs-{of}",
                "uid": f"00000000-0000-4000-9000-{of:012d}",
                "controller": True,
            }
        ],
        "managedFields": [
            {
                "manager": "kubelet",
                "operation": "Update",
                "apiVersion": "v1",
                "time": "2026-03-01T10:00:00Z",
                "fieldsType": "FieldsV1",
                "fieldsV1": {
                    "f:status": {
                        "f:conditions": {
                            'k:{"type":"Ready"}': {".": {}, "f:status": {}, "f:type": {}, "f:lastTransitionTime": {}}
                        },
                        "f:podIP": {},
                    }
                },
            }
        ],
    }
    for box in pod["spec"]["containers"]:
        box |= {
            "env": [{"name": f"SETTING_{i}", "value": f"value of setting {i}"} for i in range(8)],
            "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10},
            "volumeMounts": [{"name": "kube-api-access", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}],
            "terminationMessagePath": "/dev/termination-log",
            "imagePullPolicy": "IfNotPresent",
        }
    pod["spec"] |= {
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "serviceAccountName": "default",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "priority": 0,
        "tolerations": [
            {"key": f"node.kubernetes.io/{k}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            for k in ("not-ready", "unreachable")
        ],
    }
    pod["status"] = {
        "phase": "Running",
        "qosClass": "Burstable",
        "podIP": "10.0.0.1",
        "hostIP": "192.0.2.1",
        "startTime": "2026-03-01T10:00:00Z",
        "conditions": [
            {"type": t, "status": "True", "lastTransitionTime": "2026-03-01T10:00:00Z"}
            for t in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
        ],
        "containerStatuses": [
            {
                "name": "pause",
                "ready": True,
                "restartCount": 0,
                "image": "pause:3.10.2",
                "imageID": "sha256:" + "0" * 64,
                "containerID": f"containerd://{number:064d}",
                "state": {"running": {"startedAt": "2026-03-01T10:00:00Z"}},
            }
        ],
    }
    return pod


def noisy_node(node: dict, number: int) -> dict:
    """The node with its system labels, conditions, addresses, images and system info."""
    node["metadata"] |= {
        "uid": f"node-{number}",
        "resourceVersion": str(number),
        "creationTimestamp": "2026-03-01T10:00:00Z",
    }
    node["metadata"]["labels"] |= {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "m5.8xlarge",
    }
    node["status"] |= {
        "addresses": [{"type": "InternalIP", "address": "192.0.2.1"}],
        "nodeInfo": {"kubeletVersion": "v1.37.1", "osImage": "Linux"},
        "conditions": [
            {"type": t, "status": s, "reason": "KubeletReady", "message": "kubelet is posting ready status"}
            for t, s in (
                ("Ready", "True"),
                ("MemoryPressure", "False"),
                ("DiskPressure", "False"),
                ("PIDPressure", "False"),
            )
        ],
        "images": [
            {
                "names": [f"registry.example/app-{i}:v1", f"registry.example/app-{i}@sha256:{'0' * 63}{i % 10}"],
                "sizeBytes": 50_000_000 * (i + 1),
            }
            for i in range(10)
        ],
    }
    return node

"""A spread or an anti-affinity that does not do what was meant is said by every command that is about its pods."""

import json

import pytest

SPREAD = {
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "webb"}},
        }
    ]
}
ANTI_AFFINITY = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
            ]
        }
    }
}
MISSED = "does not count the pod itself: selector app=webb, the pod has app=web"


def node(name):
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}


def workload(constraint, replicas):
    """A Deployment, its ReplicaSet and its pods, the first of them on node a, the second on b, and so on."""
    spec = {"containers": [{"name": "c", "image": "c"}], **constraint}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": spec}
    selector = {"matchLabels": {"app": "web"}}
    metadata = {"name": "web", "namespace": "shop", "uid": "d"}
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d", "controller": True}
    controlled = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "r", "controller": True}
    scaled = {"replicas": replicas, "selector": selector, "template": template}
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"web-1-{name}",
                "namespace": "shop",
                "uid": name,
                "labels": {"app": "web"},
                "ownerReferences": [controlled],
            },
            "spec": {**spec, "nodeName": name},
            "status": {"phase": "Running"},
        }
        for name in "abc"[:replicas]
    ]
    replica_set = {"name": "web-1", "namespace": "shop", "uid": "r", "ownerReferences": [owner]}
    return [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": scaled},
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": replica_set, "spec": scaled},
        *pods,
    ]


@pytest.fixture
def run(schedctl, tmp_path):
    """Run a command over a cluster of three nodes with a workload, and return its output without its line breaks."""

    def run(*arguments, constraint, replicas=2):
        path = tmp_path / "cluster.json"
        items = [*map(node, "abc"), *workload(constraint, replicas)]
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        return " ".join(schedctl(*arguments, "-f", str(path)).out.split())

    return run


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("explain", "pod", "shop/web-1-a"), id="explain"),
        pytest.param(("capacity", "--like", "deploy/web", "-n", "shop"), id="capacity"),
        pytest.param(("drain", "a"), id="drain"),
    ],
)
def test_a_spread_that_misses_its_own_pods_is_said(run, arguments):
    assert MISSED in run(*arguments, constraint=SPREAD)
    assert "warning" not in run(*arguments, constraint={})


def test_a_drain_says_once_whose_evicted_pods_it_is_about(run):
    printed = run("drain", "a", "b", constraint=SPREAD)
    assert "warning: Deployment shop/web (2 evicted pods): its topology spread over" in printed
    assert printed.count(MISSED) == 1


def test_a_drain_says_nothing_of_pods_that_stay(run):
    assert "warning" not in run("drain", "c", constraint=SPREAD)


def test_a_drain_says_that_the_remaining_nodes_are_too_few(run):
    printed = run("drain", "a", constraint=ANTI_AFFINITY, replicas=3)
    assert "at most 2 of 3 replicas can run" in printed
    assert "at most" not in run("drain", "a", constraint=ANTI_AFFINITY, replicas=2)


def test_capacity_does_not_say_how_many_replicas_are_too_many(run):
    assert "at most" not in run("capacity", "--like", "deploy/web", "-n", "shop", constraint=ANTI_AFFINITY, replicas=3)


def test_the_warnings_of_a_drain_are_data_too(run):
    (found,) = json.loads(run("drain", "a", "-o", "json", constraint=SPREAD))["warnings"]
    assert (found["owner"], found["pods"], found["warning"]["plugin"]) == (
        "Deployment shop/web",
        1,
        "PodTopologySpread",
    )

"""``simulate --compare-version``: what would land elsewhere or nowhere under another version, before the upgrade."""

import json
from collections import Counter

import pytest

SHOP = "fixtures/clusters/shop"
RELEASE = "fixtures/releases/spring/payments.yaml"
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "a"},
    "status": {
        "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
        "nodeInfo": {"kubeletVersion": "v1.35.4", "kernelVersion": "6.1"},
    },
}
AGENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "agent", "namespace": "default"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "agent"}},
        "template": {
            "metadata": {"labels": {"app": "agent"}},
            # on the host network with user namespaces of its own: since v1.36 the node has to declare that it can
            "spec": {"hostNetwork": True, "hostUsers": False, "containers": [{"name": "c", "image": "c"}]},
        },
    },
}


@pytest.fixture
def state(tmp_path):
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, AGENT]}))
    return str(path)


def test_a_workload_of_the_cluster_that_no_node_takes_after_the_upgrade_is_named_with_the_reason(schedctl, state):
    ended = schedctl("simulate", "-f", state, "--compare-version", "1.37", "--exit-code")
    assert ended.code == 1
    assert "A  kube-scheduler v1.35.4, built-in defaults\nB  kube-scheduler v1.37.1, built-in defaults\n" in ended.out
    assert "B against A: 1 becomes unschedulable" in ended.out
    assert ended.out.endswith(
        "nothing was changed; kube-scheduler A v1.35.4, B v1.37.1 rules (A as the newest kubelet); more: -o wide\n"
    )
    assert "  B: 0/1 nodes are available: 1 node(s) didn't match Pod's required features." in ended.out


def test_a_version_that_decides_the_same_moves_no_pod(schedctl, state):
    ended = schedctl("simulate", "-f", state, "--compare-version", "1.34", "--exit-code")
    assert ended.code == 0
    assert "B against A: no pod would move (1 pod)" in ended.out


@pytest.mark.parametrize("versions", [("1.34", "1.37"), ("1.37", "1.35")], ids=" to ".join)
def test_each_side_is_what_its_version_alone_answers_about_manifests_and_what_if(schedctl, versions):
    arguments = ("simulate", RELEASE, "-f", SHOP, "--cordon", "general-b-1", "-o", "json", "--kube-version")
    compared = json.loads(schedctl(*arguments, versions[0], "--compare-version", versions[1]).out)
    for number, version in enumerate(versions):
        alone = json.loads(schedctl(*arguments, version).out)
        nodes = [Counter(pod["node"] for pod in result["pods"] if pod["node"]) for result in alone["results"]]
        assert [result["outcomes"][number]["nodes"] for result in compared["results"]] == nodes
        assert compared["sides"][number]["utilisation"] == alone["utilisation"]
    assert compared["metadata"]["kubernetesVersion"].startswith(f"v{versions[0]}.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(
            ("--compare-version", "new"), '--compare-version "new" is no version of Kubernetes', id="no version"
        ),
        pytest.param(
            ("--compare-version", "1.30", "--strict-version"), "kube-scheduler 1.30 is not reproduced", id="strictly"
        ),
        pytest.param(
            ("--compare-version", "1.37", "--feature-gates", "DRAExtendedResource=false"),
            "cannot set feature gate DRAExtendedResource to false, feature is locked to true (kube-scheduler v1.37.1)",
            id="a gate that the other version refuses",
        ),
        pytest.param(
            ("--compare-version", "1.37", "--compare", "bin-packing"),
            "--compare and --compare-version were both given",
            id="two comparisons",
        ),
        pytest.param(
            ("--compare-version", "1.37", "--trace", "run.jsonl"),
            "--compare-version and --trace were both given",
            id="a trace of one run",
        ),
        pytest.param((), "no manifests given", id="nothing to place"),
    ],
)
def test_what_cannot_be_compared_is_refused(schedctl, state, arguments, message):
    ended = schedctl("simulate", "-f", state, "--kube-version", "1.36", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err


def test_a_version_that_is_not_reproduced_is_the_nearest_and_said_to_be(schedctl, state):
    ended = schedctl("simulate", "-f", state, "--compare-version", "1.30")
    assert "warning: kube-scheduler 1.30 is not reproduced; answers follow v1.34.4, the nearest" in ended.err

"""A warning about somebody else's pod does not stand in front of the answer about mine; one about mine does."""

import json

import pytest

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"pods": "9"}}}
LOST = "Pod shop/lost: spec.nodeName: 1 pod runs on a node that is not"


def pod(name, node=""):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": name},
        "spec": {"nodeName": node, "containers": [{"name": "c", "image": "c"}]},
    }


@pytest.fixture
def state(tmp_path):
    """A cluster with a pod on a node that is gone, as a file of manifests."""
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, pod("web"), pod("lost", "gone")]}))
    return str(path)


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("pod", "web", "-n", "shop"), id="a pod by its name"),
        pytest.param(("shop/web",), id="a pod by its namespace and name"),
        pytest.param(("web",), id="a pod that only one namespace has"),
    ],
)
def test_a_warning_about_another_pod_is_counted(schedctl, state, arguments):
    ended = schedctl("explain", *arguments, "-f", state)
    assert ended.err == "1 warning about other objects: -v\n"
    assert LOST in schedctl("explain", *arguments, "-f", state, "-v").err


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("pod", "lost", "-n", "shop"), id="about this very pod"),
        pytest.param(("--all-pending",), id="about the cluster, of which all is asked"),
    ],
)
def test_a_warning_that_may_matter_is_told(schedctl, state, arguments):
    ended = schedctl("explain", *arguments, "-f", state)
    assert LOST in ended.err
    assert "other objects" not in ended.err


def test_a_warning_about_an_object_of_a_snapshot_has_no_line_and_no_file_to_edit(schedctl, state, tmp_path):
    snapshot = str(tmp_path / "snapshot.json")
    schedctl("snapshot", "create", snapshot, "--from", state)
    ended = schedctl("explain", "pod", "shop/lost", "-f", snapshot)
    assert f"warning: {snapshot}: {LOST} in the cluster: gone (1)\n" in ended.err
    assert "hint: these pods are ignored; `schedctl explain pod shop/lost` says more" in ended.err

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


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("bind", "pod", "web", "-n", "shop"), id="bind another pod"),
        pytest.param(("capacity", "--like", "pod/web", "-n", "shop"), id="count pods like another one"),
        pytest.param(("capacity", "--like", "{manifest}"), id="count pods like one of a manifest"),
        pytest.param(("simulate", "{manifest}"), id="simulate a manifest"),
        pytest.param(("drain", "a"), id="drain a node"),
    ],
)
def test_every_command_that_is_about_something_else_counts_it(schedctl, state, tmp_path, arguments):
    manifest = tmp_path / "new.json"
    manifest.write_text(json.dumps(pod("new")))
    words = [each.replace("{manifest}", str(manifest)) for each in arguments]
    ended = schedctl(*words, "-f", state)
    assert "1 warning about other objects: -v\n" in ended.err
    assert LOST not in ended.err
    assert LOST in schedctl(*words, "-f", state, "-v").err


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("bind", "pod", "lost", "-n", "shop"), id="bind this very pod"),
        pytest.param(("capacity", "--like", "pod/lost", "-n", "shop"), id="count pods like this one"),
        pytest.param(("capacity", "--like", "deploy/web", "-n", "shop"), id="a workload whose pod it may be"),
    ],
)
def test_every_command_that_is_about_the_pod_tells_it(schedctl, state, arguments):
    assert LOST in schedctl(*arguments, "-f", state).err


def test_a_warning_about_the_workload_that_is_asked_about_is_told(schedctl, tmp_path):
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "webb"}}}},
    }
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, pod("one"), deployment]}))
    about_web = schedctl("explain", "deploy/web", "-n", "shop", "-f", str(path)).err
    about_one = schedctl("explain", "pod/one", "-n", "shop", "-f", str(path)).err
    assert "Deployment shop/web" in about_web
    assert "Deployment shop/web" not in about_one


def test_a_warning_about_an_object_of_a_snapshot_has_no_line_and_no_file_to_edit(schedctl, state, tmp_path):
    snapshot = str(tmp_path / "snapshot.json")
    schedctl("snapshot", "create", snapshot, "--from", state)
    ended = schedctl("explain", "pod", "shop/lost", "-f", snapshot)
    assert f"warning: {snapshot}: {LOST} in the cluster: gone (1)\n" in ended.err
    assert "hint: these pods are ignored; `schedctl explain pod shop/lost` says more" in ended.err

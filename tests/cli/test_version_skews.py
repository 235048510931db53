"""A state of another minor version than the rules is judged all the same, and both versions are said."""

import json

import pytest

from schedctl.session import version_skews
from schedctl.session.states import StateSource
from schedctl.versions import KUBERNETES_VERSION

COMMANDS = [
    pytest.param(("explain", "pod", "default/web"), id="explain"),
    pytest.param(("simulate", "{pod}"), id="simulate"),
    pytest.param(("capacity", "--like", "{pod}"), id="capacity"),
    pytest.param(("drain", "a"), id="drain"),
    pytest.param(("check", "{pod}"), id="check"),
]


def node(version):
    info = {"nodeInfo": {"kubeletVersion": version, "kernelVersion": "6.1"}} if version else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "a"},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}, **info},
    }


POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"containers": [{"name": "c", "image": "c"}]},
}


@pytest.fixture
def state(tmp_path):
    """Write a cluster whose one node has a kubelet of a version."""

    def write(version):
        path = tmp_path / "cluster.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node(version), POD]}))
        return str(path)

    return write


@pytest.mark.parametrize("arguments", COMMANDS)
def test_every_command_that_judges_says_both_versions(schedctl, state, tmp_path, arguments):
    (tmp_path / "pod.json").write_text(json.dumps({**POD, "metadata": {"name": "new", "namespace": "default"}}))
    words = [each.replace("{pod}", str(tmp_path / "pod.json")) for each in arguments]
    ended = schedctl(*words, "-f", state("v1.29.3-eks-5e0fdde"), "-o", "json")
    both = f"the kubelets are v1.29.3-eks-5e0fdde, but answers follow the rules of kube-scheduler {KUBERNETES_VERSION}"
    assert f"warning: {both}" in ended.err
    skew = json.loads(ended.out)["metadata"]["versionSkew"]
    assert (skew["stateVersion"], skew["rulesVersion"]) == ("v1.29.3-eks-5e0fdde", KUBERNETES_VERSION)
    assert "pod-level resources count (v1.34)" in skew["differences"]


@pytest.mark.parametrize(
    "version",
    [
        pytest.param(KUBERNETES_VERSION, id="of the same version"),
        pytest.param(f"{KUBERNETES_VERSION.rpartition('.')[0]}.99-gke.100", id="of another patch release"),
        pytest.param("", id="of a version that nobody says"),
        pytest.param("unknown", id="of a version that cannot be read"),
    ],
)
def test_nothing_is_said_of_a_state(schedctl, state, version):
    ended = schedctl("explain", "pod", "default/web", "-f", state(version), "-o", "json")
    assert (ended.err, json.loads(ended.out)["metadata"]["versionSkew"]) == ("", None)


def test_only_what_changed_in_between_is_listed(state):
    skew = version_skews.skew(StateSource((state("v1.36.0"),)).load())
    assert skew.differences
    assert all(each.endswith("(v1.37)") for each in skew.differences)


@pytest.mark.parametrize(
    ("kubelets", "schedulers"),
    [
        pytest.param("v1.36.2", "v1.35 to v1.39", id="with kubelets one minor below, which an API server may be above"),
        pytest.param("v1.34.2", "v1.33 to v1.37", id="with kubelets three minors below, as far as the policy goes"),
        pytest.param("v1.38.0", "v1.37 to v1.41", id="with kubelets one above, whose kube-scheduler may be one below"),
    ],
)
def test_kubelets_that_go_with_the_rules_by_the_version_skew_policy_leave_it_open(state, kubelets, schedulers):
    skew = version_skews.skew(StateSource((state(kubelets),)).load())
    assert skew.text == (
        f"the kubelets are {kubelets}, so that kube-scheduler may be {schedulers}; "
        f"answers follow the rules of kube-scheduler {KUBERNETES_VERSION}"
    )


def test_kubelets_that_are_too_old_for_the_rules_are_said_to_contradict_them(state):
    skew = version_skews.skew(StateSource((state("v1.33.9"),)).load())
    assert skew.text.startswith("the kubelets are v1.33.9, but answers follow")


def test_what_a_newer_cluster_does_otherwise_is_not_known(state):
    skew = version_skews.skew(StateSource((state("v1.99.0"),)).load())
    assert skew.differences == []
    assert "does not know" in version_skews.describe(skew)

"""A state is judged by the kube-scheduler of its version, or by the one that is asked for; every answer names it."""

import itertools
import json

import pytest

from schedctl.releases import RELEASES
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
def test_every_command_that_judges_goes_by_the_version_of_the_newest_kubelet(schedctl, state, tmp_path, arguments):
    (tmp_path / "pod.json").write_text(json.dumps({**POD, "metadata": {"name": "new", "namespace": "default"}}))
    words = [each.replace("{pod}", str(tmp_path / "pod.json")) for each in arguments]
    ended = schedctl(*words, "-f", state("v1.35.9-eks-5e0fdde"), "-o", "json")
    metadata = json.loads(ended.out)["metadata"]
    assert (metadata["kubernetesVersion"], metadata["versionSource"]) == ("v1.35.4", "Kubelets")
    assert (ended.err, metadata["versionSkew"]) == ("", None)


@pytest.mark.parametrize("arguments", COMMANDS)
def test_a_version_that_is_not_reproduced_is_judged_by_the_nearest_and_both_are_said(
    schedctl, state, tmp_path, arguments
):
    (tmp_path / "pod.json").write_text(json.dumps({**POD, "metadata": {"name": "new", "namespace": "default"}}))
    words = [each.replace("{pod}", str(tmp_path / "pod.json")) for each in arguments]
    ended = schedctl(*words, "-f", state("v1.29.3-eks-5e0fdde"), "-o", "json")
    both = "the kubelets are v1.29.3-eks-5e0fdde, but answers follow the rules of kube-scheduler v1.34.4"
    assert f"warning: {both}" in ended.err
    skew = json.loads(ended.out)["metadata"]["versionSkew"]
    assert (skew["stateVersion"], skew["rulesVersion"]) == ("v1.29.3-eks-5e0fdde", "v1.34.4")
    assert "pod-level resources count (v1.34)" in skew["differences"]


@pytest.mark.parametrize("version", [pytest.param("", id="nobody says"), pytest.param("unknown", id="cannot be read")])
def test_a_state_of_a_version_that_is_not_known_is_judged_by_the_newest(schedctl, state, version):
    ended = schedctl("explain", "pod", "default/web", "-f", state(version), "-o", "json")
    metadata = json.loads(ended.out)["metadata"]
    assert (ended.err, metadata["versionSource"]) == ("", "Newest")
    assert metadata["kubernetesVersion"] == KUBERNETES_VERSION


def test_the_version_that_is_asked_for_goes_before_the_clusters_and_the_difference_is_said(schedctl, state):
    ended = schedctl("explain", "pod", "default/web", "-f", state("v1.35.1"), "--kube-version", "1.37", "-o", "json")
    metadata = json.loads(ended.out)["metadata"]
    assert (metadata["kubernetesVersion"], metadata["versionSource"]) == (KUBERNETES_VERSION, "Option")
    assert all(each.endswith(("(v1.36)", "(v1.37)")) for each in metadata["versionSkew"]["differences"])
    assert "warning: the kubelets are v1.35.1" in ended.err


def test_rules_older_than_the_state_are_told_with_what_they_do_not_do_yet(schedctl, state):
    ended = schedctl("explain", "pod", "default/web", "-f", state("v1.36.1"), "--kube-version", "1.35", "-o", "json")
    assert "hint: not yet so by default in v1.35: " in ended.err
    differences = json.loads(ended.out)["metadata"]["versionSkew"]["differences"]
    assert "nodes without a declared feature are rejected (v1.36)" in differences
    assert all(each.endswith("(v1.36)") for each in differences)


def test_some_difference_is_known_between_any_two_versions_that_are_reproduced(schedctl, state):
    for kubelet, asked in itertools.permutations((release.version for release in RELEASES), 2):
        told = schedctl("explain", "pod", "default/web", "-f", state(kubelet), "--kube-version", asked, "-o", "json")
        assert json.loads(told.out)["metadata"]["versionSkew"]["differences"], (kubelet, asked)


def test_the_variable_and_the_configuration_set_the_version(schedctl, state, tmp_path, monkeypatch):
    path = state("")
    monkeypatch.setenv("SCHEDCTL_KUBE_VERSION", "1.36")
    assert "kube-scheduler v1.36.3 rules" in schedctl("explain", "pod", "default/web", "-f", path).out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(
            ("--kube-version", "1.3x"),
            'error: --kube-version "1.3x" is no version of Kubernetes',
            id="half a version",
        ),
        pytest.param(
            ("--kube-version", "new"), 'error: --kube-version "new" is no version of Kubernetes', id="no version"
        ),
        pytest.param(
            ("--kube-version", "1.30", "--strict-version"),
            "error: kube-scheduler 1.30 is not reproduced",
            id="one that is not reproduced, strictly",
        ),
        pytest.param(
            ("--feature-gates", "Nope=true"),
            "error: --feature-gates: unrecognized feature gate: Nope (kube-scheduler v1.37.1)",
            id="an unknown gate",
        ),
        pytest.param(
            ("--feature-gates", "=true"),
            "error: --feature-gates: unrecognized feature gate:  (kube-scheduler v1.37.1)",
            id="a gate without a name",
        ),
        pytest.param(
            ("--feature-gates", "genericworkload=true"),
            "hint: did you mean GenericWorkload? `schedctl version --gates` lists all",
            id="a gate in other letters",
        ),
        pytest.param(
            ("--feature-gates", "GenericWorklaod=true"),
            "hint: did you mean GenericWorkload? `schedctl version --gates` lists all",
            id="a misspelt gate",
        ),
        pytest.param(
            ("--feature-gates", "VolumeLimitScaling"),
            "error: --feature-gates: missing bool value for VolumeLimitScaling",
            id="a gate without a value",
        ),
        pytest.param(
            ("--feature-gates", "DRAExtendedResource=false"),
            "cannot set feature gate DRAExtendedResource to false, feature is locked to true",
            id="a locked gate",
        ),
        pytest.param(
            ("--kube-version", "1.36 or so"),
            'error: --kube-version "1.36 or so" is no version of Kubernetes',
            id="a version with words behind it",
        ),
        pytest.param(
            ("--kube-version", "1.37.1.2"),
            'error: --kube-version "1.37.1.2" is no version of Kubernetes',
            id="a version of four numbers",
        ),
        pytest.param(
            ("--feature-gates", "DRADeviceTaints=false"),
            "hint: set DRADeviceTaintRules=false as well, or leave DRADeviceTaints on",
            id="a gate that another one needs",
        ),
        pytest.param(
            ("--feature-gates", "AllAlpha=true"),
            "error: --feature-gates: AllAlpha=true includes CompositePodGroup, which is not modelled",
            id="a group of gates with one that is not modelled",
        ),
        pytest.param(
            ("--kube-version", "1.34", "--feature-gates", "NodeDeclaredFeatures=true"),
            "unrecognized feature gate: NodeDeclaredFeatures (kube-scheduler v1.34.4)",
            id="a gate of a later version",
        ),
        pytest.param(
            ("--kube-version", "1.36", "--feature-gates", "DRANodeAllocatableResources=true"),
            "feature gate DRANodeAllocatableResources is not modelled",
            id="a gate that changes decisions and is not modelled",
        ),
    ],
)
def test_a_version_or_gate_that_cannot_be_is_refused_with_the_next_step(schedctl, state, arguments, message):
    ended = schedctl("explain", "pod", "default/web", "-f", state(""), *arguments)
    assert ended.code == 2
    assert message in ended.err
    assert "hint: " in ended.err


def test_gates_named_in_several_options_are_all_set_as_kube_scheduler_sets_them(schedctl, state):
    several = ("--feature-gates", "GenericWorkload=true", "--feature-gates", "StorageCapacityScoring=false")
    ended = schedctl("explain", "pod", "default/web", "-f", state(""), *several)
    assert "kube-scheduler v1.37.1 GenericWorkload=true StorageCapacityScoring=false rules" in ended.out
    ended = schedctl("explain", "pod", "default/web", "-f", state(""), *several, "--feature-gates", "Nope=true")
    assert "unrecognized feature gate: Nope" in ended.err


def test_a_version_that_is_none_is_told_by_what_says_it(schedctl, state, monkeypatch, tmp_path):
    monkeypatch.setenv("SCHEDCTL_KUBE_VERSION", "new")
    assert schedctl("explain", "pod", "default/web", "-f", state("")).err == (
        'error: SCHEDCTL_KUBE_VERSION "new" is no version of Kubernetes\n'
        "hint: e.g. `SCHEDCTL_KUBE_VERSION=1.36`; there are v1.34.4, v1.35.4, v1.36.3, v1.37.1\n"
    )
    monkeypatch.delenv("SCHEDCTL_KUBE_VERSION")
    settings = tmp_path / "settings.yaml"
    settings.write_text("apiVersion: schedctl.dev/v1alpha1\nkind: Config\ndefaults: {kubeVersion: new}\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    (tmp_path / "home/schedctl").mkdir(parents=True)
    settings.rename(tmp_path / "home/schedctl/config.yaml")
    ended = schedctl("explain", "pod", "default/web", "-f", state(""))
    assert ended.err.startswith('error: kubeVersion of the settings "new" is no version of Kubernetes\n')


@pytest.mark.parametrize("written", ["v1.36.0-gke.7", "1.36+", "v1.36.3-eks-5e0fdde", "1.36.2+k3s1"])
def test_a_version_as_clouds_write_it_is_that_version(schedctl, state, written):
    ended = schedctl("explain", "pod", "default/web", "-f", state(""), "--kube-version", written)
    assert ended.err == ""
    assert "kube-scheduler v1.36.3 rules" in ended.out


@pytest.fixture
def upgrading(tmp_path):
    """Write a cluster of which some nodes are of one version and others of another."""

    def write(*versions):
        nodes = [{**node(version), "metadata": {"name": f"node-{number}"}} for number, version in enumerate(versions)]
        path = tmp_path / "cluster.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, POD]}))
        return str(path)

    return write


def test_kubelets_of_several_versions_are_judged_by_the_newest_and_what_was_assumed_is_said(schedctl, upgrading):
    ended = schedctl("explain", "pod", "default/web", "-f", upgrading("v1.34.2", "v1.36.1", "v1.35.0"))
    assert "kube-scheduler v1.36.3 rules (as the newest kubelet)" in ended.out
    assert ended.err == (
        "warning: the kubelets are v1.34.2 to v1.36.1, and the API server's version is not known; kube-scheduler is"
        " assumed to be v1.36, as the newest kubelet, but may be v1.35 to v1.37\n"
        "hint: name kube-scheduler's own with `--kube-version`\n"
    )


def test_kubelets_further_apart_than_kubernetes_supports_are_told_as_that(schedctl, upgrading):
    ended = schedctl("explain", "pod", "default/web", "-f", upgrading("v1.30.2", "v1.36.1"))
    assert ended.err == (
        "warning: the kubelets are v1.30.2 to v1.36.1, and the API server's version is not known; kube-scheduler is"
        " assumed to be v1.36, as the newest kubelet; Kubernetes supports no cluster whose kubelets are more than 3"
        " minor versions apart\n"
        "hint: name kube-scheduler's own with `--kube-version`\n"
    )
    ended = schedctl("explain", "pod", "default/web", "-f", upgrading("v1.37.2", "v1.40.1"))
    assert ended.err.startswith(
        "warning: the kubelets are v1.37.2 to v1.40.1, but answers follow the rules of kube-sch"
    )


@pytest.mark.parametrize(
    ("versions", "arguments"),
    [
        pytest.param(("v1.36.1", "v1.36.3"), (), id="patches of one minor version"),
        pytest.param(("v1.35.1", "v1.36.3"), ("--kube-version", "1.36"), id="the version is asked for"),
        pytest.param(("v1.35.1", "v1.36.3"), ("--quiet",), id="warnings are left out"),
    ],
)
def test_nothing_is_assumed_of_kubelets_where_it_makes_no_difference(schedctl, upgrading, versions, arguments):
    assert schedctl("explain", "pod", "default/web", "-f", upgrading(*versions), *arguments).err == ""


def test_gates_that_are_set_are_named_with_the_answer(schedctl, state):
    ended = schedctl(
        "explain", "pod", "default/web", "-f", state(""), "--feature-gates", "StorageCapacityScoring=false"
    )
    assert f"kube-scheduler {KUBERNETES_VERSION} StorageCapacityScoring=false rules" in ended.out


def test_gates_are_those_of_the_clusters_version_and_not_of_the_newest(schedctl, state):
    locked_since = "DRAExtendedResource=false"
    ended = schedctl("explain", "pod", "default/web", "-f", state("v1.36.1"), "--feature-gates", locked_since)
    assert f"kube-scheduler v1.36.3 {locked_since} rules" in ended.out


def test_what_a_newer_cluster_does_otherwise_is_not_known(schedctl, state):
    ended = schedctl("explain", "pod", "default/web", "-f", state("v1.99.0"))
    assert f"answers follow the rules of kube-scheduler {KUBERNETES_VERSION}" in " ".join(ended.err.split())
    assert "does not know" in ended.err


def test_a_configuration_on_standard_input_is_followed_by_an_older_version_too(schedctl, state):
    head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    config = head + "profiles: [{schedulerName: mine}]"
    arguments = ("--scheduler-config", "-", "--profile", "mine", "-o", "json")
    ended = schedctl("explain", "pod", "default/web", "-f", state("v1.35.1"), *arguments, stdin=config)
    assert ended.err == ""
    assert json.loads(ended.out)["metadata"]["kubernetesVersion"] == "v1.35.4"


@pytest.mark.parametrize(
    ("version", "arguments", "says"),
    [
        pytest.param("v1.36.1", (), "kube-scheduler v1.36.3 rules (as the newest kubelet)", id="of the kubelets"),
        pytest.param("v1.36.1", ("--kube-version", "1.36"), "v1.36.3 rules (as asked)", id="of the option"),
        pytest.param("", (), f"kube-scheduler {KUBERNETES_VERSION} rules (the newest)", id="of nobody"),
    ],
)
def test_a_wide_answer_always_says_where_the_version_came_from(schedctl, state, version, arguments, says):
    assert says in schedctl("explain", "pod", "default/web", "-f", state(version), "-o", "wide", *arguments).out


@pytest.mark.parametrize("output", ["text", "tap", "markdown"])
def test_a_check_names_the_version_that_judged_and_where_it_came_from(schedctl, state, tmp_path, output):
    path = tmp_path / "new.json"
    path.write_text(json.dumps({**POD, "metadata": {"name": "new", "namespace": "default"}}))
    ended = schedctl("check", str(path), "-f", state("v1.35.9"), "-o", output)
    told = ended.out.replace("&#45;", "-")
    assert "(policy built-in, kube-scheduler v1.35.4 rules, as the newest kubelet)" in told


@pytest.mark.parametrize("output", ["json", "junit", "sarif"])
def test_a_report_of_a_check_has_the_version_and_its_source(schedctl, state, tmp_path, output):
    path = tmp_path / "new.json"
    path.write_text(json.dumps({**POD, "metadata": {"name": "new", "namespace": "default"}}))
    out = schedctl("check", str(path), "-f", state("v1.35.9"), "-o", output).out
    assert "v1.35.4" in out
    assert "versionSource" in out
    assert "Kubelets" in out

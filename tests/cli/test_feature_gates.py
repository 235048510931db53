"""``schedctl version --gates`` lists the gates of a version, and which of them can be set."""

import json
from pathlib import Path

import pytest

from schedctl.errors import NotModelled, UsageError
from schedctl.releases import RELEASES, gates_of
from schedctl.session.kube_versions import rules_of
from schedctl.session.version_options import VersionOptions

PROOF = Path(__file__).parents[2] / "conformance/proof.json"
VERSIONS = [release.version for release in RELEASES]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_gates_that_change_decisions_are_listed_and_the_others_are_counted(schedctl, version):
    gates = gates_of(version).values()
    decisive = [gate.name for gate in gates if gate.decisive]
    lines = schedctl("version", "--gates", "--kube-version", version).out.splitlines()
    assert [line.split()[0] for line in lines[1 : len(decisive) + 1]] == decisive
    assert lines[-3:-1] == [
        f"kube-scheduler {version}: these gates change decisions;",
        f"{len(gates) - len(decisive)} others do not, `-o wide` lists all",
    ]


@pytest.mark.parametrize("release", RELEASES, ids=VERSIONS)
def test_a_gate_can_be_set_where_the_list_says_so_and_only_there(schedctl, release):
    listed = schedctl("version", "--gates", "--kube-version", release.version).out.splitlines()[1:-4]
    for line in listed:
        name, _, default, can_be_set = line.split(maxsplit=3)
        try:
            gates = f"AllAlpha=false,{name}={str(default == 'off').lower()}"
            rules_of(VersionOptions(kube_version=release.version, feature_gates=gates))
            refusal = ""
        except (NotModelled, UsageError) as refused:
            refusal = str(refused).replace("are not modelled yet", "not modelled")
        assert ("locked" in refusal) is (can_be_set == "locked")
        if can_be_set == "not modelled":
            # one that needs another that is off is refused for that first
            assert "not modelled" in refusal or "depends on features that are disabled" in refusal
        else:
            assert "not modelled" not in refusal  # one that others depend on can be set together with them


@pytest.mark.parametrize("version", VERSIONS)
def test_all_gates_are_in_the_wide_list_and_in_the_document(schedctl, version):
    names = list(gates_of(version))
    wide = schedctl("version", "--gates", "--kube-version", version, "-o", "wide").out.splitlines()[1:]
    assert [line.split()[0] for line in wide] == names
    document = json.loads(schedctl("version", "--gates", "--kube-version", version, "-o", "json").out)
    assert (document["kind"], document["metadata"]["kubernetesVersion"]) == ("FeatureGateList", version)
    assert [item["name"] for item in document["items"]] == names
    scoring = next(item for item in document["items"] if item["name"] == "StorageCapacityScoring")
    assert (scoring["stage"], scoring["default"]) == (("BETA", True) if version >= "v1.37" else ("ALPHA", False))


def test_no_line_is_wider_than_a_terminal(schedctl, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for output in ("text", "wide"):
        lines = schedctl("version", "--gates", "-o", output).out.splitlines()
        assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("--kube-version", "1.36"), "error: --kube-version without --gates", id="a version alone"),
        pytest.param(("--gates", "--kube-version", "new"), '"new" is no version of Kubernetes', id="no version"),
        pytest.param(("--gates", "-o", "yaml"), 'error: unknown output "yaml"', id="an output that is none"),
    ],
)
def test_what_cannot_be_listed_is_refused_with_the_next_step(schedctl, arguments, message):
    ended = schedctl("version", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
    assert "hint: " in ended.err


def test_the_proof_of_a_gate_is_what_was_recorded_and_has_no_difference(schedctl):
    recorded = json.loads(PROOF.read_bytes())["gates"]
    assert set(recorded) == set(VERSIONS)
    for version, gates in recorded.items():
        document = json.loads(schedctl("version", "--gates", "--kube-version", version, "-o", "json").out)
        assert {item["name"]: item["proof"] for item in document["items"] if item.get("proof")} == gates
        assert {name for name, proof in gates.items() if proof["differences"]} == set()
        text = schedctl("version", "--gates", "--kube-version", version).out
        assert f"yes ({gates['StorageCapacityScoring']['cases']} cases)" in text


PROFILE = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    pluginConfig:
      - name: PodTopologySpread
        args: {defaultingType: %s, defaultConstraints: %s}
"""
ZONES = "[{topologyKey: zone, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}]"
STATE = """
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: "4", memory: 4Gi, pods: "9"}}
"""
WORKLOAD = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: %s
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: %s
"""
POD_SPEC = "{containers: [{name: web, image: web}]}"
APART = (
    "{containers: [{name: web, image: web}], affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuring"
    "Execution: [{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname}}]}}}"
)


@pytest.mark.parametrize(
    ("defaulting", "constraints", "replicas", "spec", "arguments", "warns"),
    [
        pytest.param("List", "[]", 2, POD_SPEC, (), True, id="equal pods of a profile without default constraints"),
        pytest.param("List", "[]", 1, POD_SPEC, (), False, id="a pod that is alone"),
        pytest.param("List", ZONES, 2, POD_SPEC, (), False, id="a profile with default constraints"),
        pytest.param("System", "[]", 2, POD_SPEC, (), False, id="Kubernetes' own constraints"),
        pytest.param("List", "[]", 2, APART, (), False, id="pods with affinity to pods"),
        pytest.param(
            "List", "[]", 2, POD_SPEC, ("--feature-gates", "OpportunisticBatching=false"), False, id="the gate is off"
        ),
        pytest.param(
            "List", "[]", 2, POD_SPEC, ("--feature-gates", "OpportunisticBatching=true"), True, id="the gate set to on"
        ),
        pytest.param("List", "[]", 2, POD_SPEC, ("--kube-version", "1.34"), False, id="a version without the gate"),
    ],
)  # fmt: skip
def test_a_run_says_where_the_node_order_of_an_equal_pod_may_be_reused(
    schedctl, tmp_path, defaulting, constraints, replicas, spec, arguments, warns
):
    for name, text in (
        ("profile.yaml", PROFILE % (defaulting, constraints)),
        ("state.yaml", STATE),
        ("web.yaml", WORKLOAD % (replicas, spec)),
    ):
        (tmp_path / name).write_text(text)
    ended = schedctl(
        "simulate", str(tmp_path / "web.yaml"), "-f", str(tmp_path / "state.yaml"),
        "--scheduler-config", str(tmp_path / "profile.yaml"), *arguments,
    )  # fmt: skip
    assert ended.code == 0
    warned = "may place equal pods by the node order of the one before (OpportunisticBatching)" in ended.err
    assert warned is warns
    assert ("`--feature-gates OpportunisticBatching=false`" in ended.err) is warns

"""``schedctl simulate`` as a command: what it takes, how it ends, and what it writes where."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from schedctl.session import runs
from schedctl.simulation import timeline
from schedctl.simulation.timeline import Bound, Ended

ROOT = Path(__file__).parents[2]
SPRING = "fixtures/releases/spring"
SHOP = ("-f", "fixtures/clusters/shop")
RUN = "from schedctl.cli import main; main()"
GOOD = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: good}
spec:
  replicas: 2
  selector: {matchLabels: {app: good}}
  template:
    metadata: {labels: {app: good}}
    spec: {containers: [{name: a, image: a, resources: {requests: {cpu: 10m}}}]}
"""
BAD = """
---
apiVersion: v1
kind: Pod
metadata: {name: bad}
spec:
  containers:
    - {name: a, image: a, resources: {requests: {cpu: lots}}}
"""


MISSPELT = GOOD.replace(
    "spec: {containers",
    "spec: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone,"
    " whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: goood}}}], containers",
)


@pytest.fixture
def simulate(schedctl):
    """``schedctl simulate`` in the example cluster."""

    def simulate(*arguments, stdin=None):
        return schedctl("simulate", *arguments, *SHOP, stdin=stdin)

    return simulate


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param((), 0, id="pending and rejected pods are an answer"),
        pytest.param(("--exit-code",), 1, id="and no, where a verdict is wanted"),
        pytest.param(("--exit-code", "-o", "name"), 1, id="whatever the output"),
        pytest.param(("--exit-code", "-q", "--limit", "1"), 1, id="and however little is told"),
        pytest.param(("--exit-code", "-o", "jsonpath={.summary.exitCode}"), 1, id="which the report knows"),
    ],
)
def test_a_release_that_does_not_fit(simulate, arguments, code):
    ended = simulate(SPRING, *arguments)
    assert (ended.code, ended.err) == (code, "")
    if "jsonpath={.summary.exitCode}" in arguments:
        assert ended.out == "1"


def test_a_release_that_fits(simulate):
    assert simulate("-", "-n", "shop", "--exit-code", stdin=GOOD).code == 0


def test_a_spread_that_does_nothing_is_warned_of_once_though_every_pod_is_placed(simulate):
    ended = simulate("-", stdin=MISSPELT)
    assert ended.code == 0
    warning = "its topology spread over topology.kubernetes.io/zone does not count the pod itself:"
    assert ended.out.count(f"warning: {warning} selector app=goood, the pod has app=good") == 1
    (result,) = json.loads(simulate("-", "-o", "json", stdin=MISSPELT).out)["results"]
    assert [each["plugin"] for each in result["warnings"]] == ["PodTopologySpread"]


def test_what_is_not_modelled_is_no_verdict(simulate):
    assert simulate("tests/cli/unclear.yaml").code == 5


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        pytest.param(SHOP, "no manifests given", "`-k DIR`", id="no manifests"),
        pytest.param(("-", "-f", "-"), "cannot both be read from standard input", "", id="both from standard input"),
        pytest.param(
            (SPRING, *SHOP, "--rollout", "blue"), 'unknown rollout strategy "blue"', "rolling", id="no such way"
        ),
        pytest.param(
            (SPRING, *SHOP, "--skip-admission", "limitrangr"),
            "unknown admission plugin",
            "LimitRanger?",
            id="no such plugin",
        ),
        pytest.param(
            (SPRING, *SHOP, "--skip-admission", "quota"), "unknown admission plugin", "ResourceQuota?", id="half a name"
        ),
        pytest.param(
            (SPRING, *SHOP, "--skip-admission", "xyz"),
            "unknown admission plugin",
            "expected one of Defaulting",
            id="no name",
        ),
        pytest.param((SPRING, *SHOP, "-o", "csv"), 'unknown output "csv"', "jsonpath", id="no such output"),
        pytest.param((SPRING, *SHOP, "--color", "red"), "--color takes", "", id="no such colour"),
        pytest.param((SPRING, *SHOP, "--profile", "nope"), "unknown profile", "", id="no such profile"),
        pytest.param((SPRING, *SHOP, "--seed", "x"), "", "simulate --help", id="a seed that is no number"),
        pytest.param((SPRING, *SHOP, "--trace", "none/x"), "the trace cannot be written", "", id="an unwritable trace"),
    ],
)
def test_mistakes_of_the_caller_end_with_2(schedctl, arguments, message, hint):
    ended = schedctl("simulate", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: ")
    assert message in ended.err
    assert hint in ended.err


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        pytest.param(("-",), "", "no objects in the input", id="nothing"),
        pytest.param(("none.yaml",), None, "none.yaml: no such file", id="no such file"),
        pytest.param(("-",), BAD, "<stdin>:8:55: Pod default/bad: spec.containers[0]", id="nothing but a mistake"),
        pytest.param(("-", "--strict"), GOOD + BAD, "spec.containers[0]", id="a mistake beside others, with --strict"),
    ],
)
def test_input_that_is_none_ends_with_3(simulate, arguments, stdin, message):
    ended = simulate(*arguments, stdin=stdin)
    assert (ended.code, ended.out) == (3, "")
    assert message in ended.err


def test_one_mistake_does_not_hide_what_becomes_of_the_others(simulate):
    ended = simulate("-", "--stdin-filename", "web.yaml", stdin=GOOD + BAD)
    assert ended.code == 3
    assert ended.err.startswith("error: web.yaml:18:55: Pod default/bad: spec.containers[0].resources.requests.cpu: ")
    assert ended.out.startswith("2 of 2 pods would be placed; 1 mistake in the manifests\n")
    document = json.loads(simulate("-", "-o", "json", stdin=GOOD + BAD).out)
    assert document["summary"]["exitCode"] == 3
    assert [(each["line"], each["path"]) for each in document["mistakes"]] == [
        (18, "spec.containers[0].resources.requests.cpu")
    ]


def test_nothing_can_be_fine(simulate):
    ended = simulate("-", "--allow-empty", "--exit-code", stdin="")
    assert ended.code == 0
    assert ended.out.startswith("no pods to place\n")


def test_objects_without_a_namespace_are_in_that_of_n(simulate):
    report = json.loads(simulate("-", "-n", "shop", "-o", "json", stdin=GOOD).out)
    assert [result["namespace"] for result in report["results"]] == ["shop"]


def test_files_and_kustomizations_can_be_named_together(simulate, tmp_path, monkeypatch):
    program = tmp_path / "kustomize"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{GOOD}\nEND\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    report = json.loads(simulate(f"{SPRING}/payments.yaml", "-k", "overlays/prod", "-o", "json").out)
    assert [result["name"] for result in report["results"]] == ["payments", "good"]
    assert [(each["source"], each["role"]) for each in report["metadata"]["inputs"]][:2] == [
        (f"{SPRING}/payments.yaml", "Manifests"),
        ("overlays/prod", "Manifests"),
    ]


def test_skipped_admission_plugins_are_noted(simulate):
    ended = simulate(f"{SPRING}/preview.yaml", "--skip-admission", "resourcequota", "--skip-admission", "LimitRanger")
    assert ended.out.startswith("3 of 3 pods would be placed\n")
    assert "note: admission plugins not run: LimitRanger, ResourceQuota\n" in ended.out


def test_a_profile_is_used_whatever_scheduler_pods_ask_for(simulate):
    foreign = GOOD.replace("spec: {containers", "spec: {schedulerName: mine, containers")
    assert simulate("-", stdin=foreign).out.startswith(
        "0 of 2 pods would be placed; 2 skipped (of another scheduler)\n"
    )
    assert simulate("-", "--profile", "bin-packing", stdin=foreign).out.startswith("2 of 2 pods would be placed\n")


def test_the_trace_is_every_step(simulate, tmp_path):
    trace = tmp_path / "run.jsonl"
    ended = simulate(SPRING, "--trace", str(trace))
    records = list(timeline.read(trace.read_bytes().splitlines()))
    assert isinstance(records[-1], Ended)
    assert sum(isinstance(record, Bound) for record in records) == 17
    again = tmp_path / "again.jsonl"
    assert simulate(SPRING, "--trace", str(again)) == ended
    assert again.read_bytes() == trace.read_bytes()


def test_the_same_input_has_the_same_bytes_in_another_process():
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    arguments = [sys.executable, "-c", RUN, "simulate", SPRING, *SHOP, "-o", "json"]
    written = {
        subprocess.run(
            arguments, cwd=ROOT, env={**environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(written) == 1


def test_an_interrupted_run_prints_what_is_known_and_ends_with_130(simulate, monkeypatch):
    def on_attempt(self, run, queued):
        if run.attempts == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(runs.RunProgress, "on_attempt", on_attempt)
    ended = simulate(SPRING)
    assert ended.code == 130
    assert ended.err == "interrupted: this is the result so far\n"
    assert "of 19 pods would be placed" in ended.out.partition("\n")[0]
    assert "still in the queue" in ended.out
    assert "stopped: interrupted" in ended.out


def test_an_interrupt_while_reasons_are_sought_loses_only_those(simulate, monkeypatch):
    from schedctl.explain import explanations

    def explain(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(explanations, "explain", explain)
    ended = simulate(SPRING)
    assert ended.code == 130
    assert ended.out.startswith("17 of 19 pods would be placed")


def test_what_ifs_come_before_the_release_and_count_in_what_it_did(simulate):
    report = json.loads(simulate("-", "-o", "json", "--lose", "zone=eu-west-1c", stdin=GOOD).out)
    assert [text.partition(":")[0] for text in report["metadata"]["whatIf"]] == ["lost zone=eu-west-1c"]
    (memory,) = [group for group in report["utilisation"]["groups"] if group["name"] == "memory"]
    cpu = memory["uses"][0]
    assert cpu["resource"] == "cpu"
    assert cpu["allocatableBefore"] * 2 == cpu["allocatable"] * 3
    assert len(report["others"]) > 10


@pytest.mark.parametrize("kind", ["SimulationReport", "simulationreport"])
def test_the_schema_is_printed(schedctl, kind):
    assert json.loads(schedctl("schema", kind).out)["title"] == "SimulationReport"


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        pytest.param("schedctl simulate --rollout r", {"replace", "rolling"}, id="ways"),
        pytest.param("schedctl simulate --skip-admission R", {"RuntimeClass", "ResourceQuota"}, id="plugins"),
        pytest.param(
            "schedctl simulate --skip-admission Priority,R",
            {"Priority,RuntimeClass", "Priority,ResourceQuota"},
            id="plugins behind others",
        ),
        pytest.param("schedctl simulate --profile sp", {"spreading"}, id="profiles"),
    ],
)
def test_a_shell_completes_words_of_simulate(words, offered):
    environ = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "_SCHEDCTL_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    completion = subprocess.run(
        [sys.executable, "-c", RUN], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert set(completion.stdout.split()) == offered, completion.stderr


FOREIGN = {
    "an object of something else": ('{"version": 1}', True),
    "a list of something else": ('[{"name": "x"}]', True),
    "an object that lacks its kind": ('{"apiVersion": "v1", "metadata": {"name": "x"}}', False),
    "a list of objects": ('[{"metadata": {"name": "x"}}]', False),
}


@pytest.mark.parametrize(("text", "is_foreign"), FOREIGN.values(), ids=FOREIGN)
def test_only_a_foreign_file_in_a_folder_of_the_state_is_left_out_and_strictly_none(
    schedctl, tmp_path, text, is_foreign
):
    state, tool = tmp_path / "state", tmp_path / "state" / "tool.json"
    state.mkdir()
    (state / "node.yaml").write_text("apiVersion: v1\nkind: Node\nmetadata: {name: a}")
    tool.write_text(text)
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: [{name: a, image: i}]}"
    ended = schedctl("simulate", "-", "-f", str(state), stdin=pod)
    assert (ended.code == 0, f"{tool}: is left out" in " ".join(ended.err.split())) == (is_foreign, is_foreign)
    for refused in (("--strict", "-f", str(state)), ("-f", str(tool), "-f", str(state / "node.yaml"))):
        assert schedctl("simulate", "-", *refused, stdin=pod).code == 3


ON_A_NODE = GOOD.replace("spec: {containers", "spec: {nodeName: NODE, containers")


@pytest.mark.parametrize(
    ("kind", "node", "answer", "why"),
    [
        pytest.param(
            "Deployment",
            "nope",
            "0 of 2 pods would be placed; 2 naming a node that does not exist",
            "node nope of spec.nodeName does not exist: no scheduler places the pod, and the pod garbage collector"
            " deletes it",
            id="pods of a node that does not exist are never scheduled",
        ),
        pytest.param(
            "Deployment",
            "general-a-1",
            "2 of 2 pods would be placed",
            "note: spec.nodeName names general-a-1: no scheduler is asked, and the kubelet rejects pods that"
            " do not fit",
            id="pods of a node that exists are there at once",
        ),
        pytest.param(
            "StatefulSet",
            "nope",
            "0 of 2 pods would be placed; 1 not created; 1 naming a node that does not exist",
            "1 not created: good-1",
            id="the controller waits for those that never run",
        ),
        pytest.param(
            "StatefulSet",
            "general-a-1",
            "2 of 2 pods would be placed",
            "eu-west-1a  2  general-a-1 ×2",
            id="the controller goes on after those that run",
        ),
    ],
)
def test_pods_whose_manifests_name_their_node(simulate, kind, node, answer, why):
    manifest = ON_A_NODE.replace("Deployment", kind).replace("NODE", node)
    ended = simulate("-", "-n", "shop", "--exit-code", stdin=manifest)
    assert ended.out.startswith(answer + "\n")
    assert why in ended.out
    assert ended.code == (node == "nope")


def test_a_pod_that_names_a_missing_node_is_a_result(simulate):
    pod = BAD.replace("containers:", "nodeName: nope\n  containers:").replace("lots", "10m")
    ended = simulate("-", "-n", "shop", "-o", "jsonpath={.summary.orphaned} {.results[0].pending[0].fate}", stdin=pod)
    assert ended.out.strip() == "1 Orphaned"
    assert "remove spec.nodeName" in simulate("-", "-n", "shop", stdin=pod).out

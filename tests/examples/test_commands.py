"""The examples on the command line: custom kinds are read, waiting is shown, groups are explained in text and JSON."""

from __future__ import annotations

import json

import pytest

from schedctl.cli.running import run
from tests.examples.conftest import PLUGINS, PROFILES, ROOT

CLUSTER = """
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
"""
TRAIN = """
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: train, namespace: default}
spec: {minMember: MIN, scheduleTimeoutSeconds: 60}
status: {phase: Pending}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: default}
spec:
  parallelism: 5
  completions: 5
  completionMode: Indexed
  template:
    metadata: {labels: {scheduling.x-k8s.io/pod-group: train}}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: x, resources: {requests: {cpu: "1"}}}]
"""
GANG = ("--plugin", str(PLUGINS / "coscheduling.py"))


@pytest.fixture
def schedctl(capsys, monkeypatch, tmp_path):
    """Run a command line where the files are."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    (tmp_path / "train.yaml").write_text(TRAIN.replace("MIN", "5"))
    (tmp_path / "small.yaml").write_text(TRAIN.replace("MIN", "4"))

    def command(*arguments):
        capsys.readouterr()
        code = run(arguments)
        return code, *capsys.readouterr()

    return command


def test_a_pod_group_is_read_for_the_plugin_that_asks_for_it_and_counted_as_ignored_without(schedctl):
    with_it = schedctl("simulate", "small.yaml", "-f", "cluster.yaml", *GANG)
    assert "4 of 5 would be placed" in with_it[1]
    without = schedctl("explain", "job/train", "-f", "cluster.yaml", "-f", "train.yaml")
    assert "1 scheduling.x-k8s.io/v1alpha1 PodGroup" in without[2]


def test_simulate_reports_the_state_of_the_group_in_text_and_json(schedctl):
    code, text, _ = schedctl("simulate", "train.yaml", "-f", "cluster.yaml", *GANG)
    assert code == 0
    assert "Coscheduling: PodGroup train: 4 of 5 pods find room together, minMember 5: none starts" in text
    assert "minMember 4 would find room" in text
    assert "Permit holds the pod back on a: Coscheduling for at most 60s" in text
    code, written, _ = schedctl("simulate", "train.yaml", "-f", "cluster.yaml", *GANG, "-o", "json")
    pending = json.loads(written)["results"][0]["pending"]
    assert {remark["evidence"]["passingMinimum"] for group in pending for remark in group["remarks"]} == {4}


@pytest.mark.parametrize(("file", "code"), [("train.yaml", 1), ("small.yaml", 0)])
def test_a_gang_that_cannot_start_by_permit_is_no_pass(schedctl, tmp_path, file, code):
    pods = "".join(
        f"---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: train-{number}\n"
        "  labels: {scheduling.x-k8s.io/pod-group: train}\n"
        "spec: {containers: [{name: a, image: a, resources: {requests: {cpu: '1'}}}]}\n"
        for number in range(5)
    )
    (tmp_path / "pods.yaml").write_text(pods)
    files = ("-f", "cluster.yaml", "-f", file, "-f", "pods.yaml")
    answer = schedctl("explain", "pod", "train-0", *files, *GANG, "--exit-code")
    assert answer[0] == code
    headline = (
        "pod default/train-0: UNSCHEDULABLE (PodGroup train: 4 of 5 pods find room together, minMember 5: none starts)"
    )
    assert answer[1].startswith(headline if code else "pod default/train-0 → a")


def test_the_trace_shows_who_waited_for_permit(schedctl, tmp_path):
    schedctl("simulate", "train.yaml", "-f", "cluster.yaml", *GANG, "--trace", "trace.jsonl")
    records = [json.loads(line) for line in (tmp_path / "trace.jsonl").read_text().splitlines()]
    waiting = [record for record in records if record["kind"] == "Waiting"]
    assert waiting[0]["until"] == {"Coscheduling": 60.0}


def test_a_group_and_its_profile_work_as_the_docstring_says(schedctl):
    profile = ("--scheduler-config", str(PROFILES / "coscheduling.yaml"))
    code, text, _ = schedctl("simulate", "train.yaml", "-f", "cluster.yaml", *GANG, *profile, "--add-node", "like:a")
    assert code == 0
    assert text.startswith("5 of 5 pods would be placed")


def test_a_mistake_in_an_object_of_a_plugins_kind_is_reported_like_any_other(schedctl, tmp_path):
    (tmp_path / "broken.yaml").write_text(TRAIN.replace("MIN", "many"))
    code, _, messages = schedctl("explain", "job/train", "-f", "cluster.yaml", "-f", "broken.yaml", *GANG)
    assert code == 3
    assert "broken.yaml:5" in messages
    assert "spec.minMember" in messages


def test_a_pod_that_reserve_refuses_is_not_called_scheduled(schedctl, tmp_path):
    (tmp_path / "plugin.py").write_text(
        "from schedctl.framework.points import PermitPlugin\n"
        "from schedctl.framework.statuses import unschedulable\n\n"
        "class Closed(PermitPlugin):\n"
        "    def permit(self, cycle, node_name):\n"
        "        return unschedulable('the shop is closed')\n"
    )
    (tmp_path / "alone.yaml").write_text(TRAIN.replace("MIN", "5").replace("scheduling.x-k8s.io/pod-group", "app"))
    arguments = ("explain", "job/train", "-f", "cluster.yaml", "-f", "alone.yaml", "--plugin", "plugin.py")
    code, text, _ = schedctl(*arguments, "--exit-code")
    assert code == 1
    assert "UNSCHEDULABLE (Closed rejects the pod on the chosen node a: the shop is closed)" in text
    assert "0/1 nodes are available: 1 the shop is closed." in text


def test_the_examples_folder_is_where_the_tests_think_it_is():
    assert (ROOT / "examples/plugins/README.md").is_file()

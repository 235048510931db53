"""`--compare`, and several profiles in one configuration: who is compared with whom, and who is placed by what."""

from __future__ import annotations

import json

import msgspec
import pytest

from schedctl.reports.pod_comparisons import ExplainComparison
from schedctl.reports.run_comparisons import SimulationComparison

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
PACKING = """
- schedulerName: {name}
  plugins: {{score: {{disabled: [{{name: NodeResourcesBalancedAllocation}}]}}}}
  pluginConfig:
  - name: NodeResourcesFit
    args: {{scoringStrategy: {{type: MostAllocated, resources: [{{name: cpu, weight: 1}}]}}}}
"""
STATE = """
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: shop}}
- {apiVersion: v1, kind: Namespace, metadata: {name: default}}
- {apiVersion: v1, kind: Node, metadata: {name: empty}, status: {allocatable: {cpu: "8", memory: 16Gi, pods: "99"}}}
- {apiVersion: v1, kind: Node, metadata: {name: half}, status: {allocatable: {cpu: "8", memory: 16Gi, pods: "99"}}}
- {apiVersion: v1, kind: Node, metadata: {name: leaving}, status: {allocatable: {cpu: "8", memory: 16Gi, pods: "99"}}}
"""
POD = """
---
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  namespace: shop
  ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: {name}, uid: {name}, controller: true}}]
spec:
  schedulerName: {scheduler}
  nodeName: "{on}"
  containers: [{{name: c, image: i, resources: {{requests: {{cpu: "{cpu}"}}}}}}]
"""
SCHEDULERS = ("default-scheduler", "packing", "elsewhere")
WHERE = {"default-scheduler": "empty", "packing": "half", "elsewhere": ""}
"""Where a small pod goes, by the scheduler it asks for."""


def pods(*, on="", cpu="100m"):
    """A pod for each scheduler, named after it."""
    return "".join(POD.format(name=name, scheduler=name, on=on, cpu=cpu) for name in SCHEDULERS)


@pytest.fixture
def files(tmp_path):
    """A state in which one node is half full, and a configuration with two profiles; the third node is cordoned."""
    half = POD.format(name="fills", scheduler="default-scheduler", on="half", cpu="4")
    (tmp_path / "state.yaml").write_text(STATE + half)
    (tmp_path / "two.yaml").write_text(
        f"{HEAD}profiles:\n- schedulerName: default-scheduler\n{PACKING.format(name='packing')}"
    )
    (tmp_path / "packing.yaml").write_text(f"{HEAD}profiles:\n{PACKING.format(name='default-scheduler')}")
    (tmp_path / "default.yaml").write_text(f"{HEAD}profiles:\n- schedulerName: default-scheduler\n")
    (tmp_path / "other.yaml").write_text(f"{HEAD}profiles:\n{PACKING.format(name='other')}")
    return tmp_path


def test_explain_follows_the_profile_that_each_pod_asks_for(schedctl, files):
    (files / "pods.yaml").write_text(pods())
    ended = schedctl(
        "explain", "--all-pending", "-f", str(files / "state.yaml"), "-f", str(files / "pods.yaml"),
        "--cordon", "leaving", "--scheduler-config", str(files / "two.yaml"), "-o", "json",
    )  # fmt: skip
    results = {each["pod"]["name"]: each for each in json.loads(ended.out)["results"]}
    assert {name: each["chosen"] for name, each in results.items()} == WHERE
    assert [results[name]["profile"] for name in SCHEDULERS] == ["default-scheduler", "packing", ""]
    foreign = results["elsewhere"]
    assert foreign["verdict"] == "ForeignScheduler"
    assert foreign["hints"]


def test_simulate_follows_the_profile_that_each_pod_asks_for(schedctl, files):
    (files / "new.yaml").write_text(pods())
    ended = schedctl(
        "simulate", str(files / "new.yaml"), "-f", str(files / "state.yaml"), "--cordon", "leaving",
        "--scheduler-config", str(files / "two.yaml"), "-o", "json",
    )  # fmt: skip
    results = {each["name"]: each for each in json.loads(ended.out)["results"]}
    assert {name: each["pods"][0]["node"] for name, each in results.items()} == WHERE
    assert results["elsewhere"]["pods"][0]["fate"] == "ForeignScheduler"
    assert results["elsewhere"]["pending"][0]["message"] == 'schedulerName "elsewhere" belongs to another scheduler'


def test_drain_follows_the_profile_that_each_pod_asks_for(schedctl, files):
    (files / "running.yaml").write_text(pods(on="leaving"))
    ended = schedctl(
        "drain", "leaving", "-f", str(files / "state.yaml"), "-f", str(files / "running.yaml"), "--force",
        "--scheduler-config", str(files / "two.yaml"), "-o", "json",
    )  # fmt: skip
    (result,) = json.loads(ended.out)["results"]
    assert {each["pod"].partition("/")[2]: each["node"] for each in result["pods"]} == WHERE


@pytest.mark.parametrize(
    ("scheduler", "nodes"),
    [
        ("default-scheduler", {"empty": 80, "half": 40}),
        ("careless", {"empty": 80, "half": 40, "leaving": 80}),
    ],
)
def test_capacity_follows_the_profile_that_the_pod_asks_for(schedctl, files, scheduler, nodes):
    ended = capacity(schedctl, files, scheduler)
    assert {name: fits for name, fits in json.loads(ended.out)["results"][0]["nodes"].items() if fits} == nodes


def test_capacity_says_of_a_pod_of_another_scheduler_that_no_profile_serves_it(schedctl, files):
    ended = capacity(schedctl, files, "elsewhere")
    assert ended.code == 2
    assert 'no profile has schedulerName "elsewhere"' in ended.err


def capacity(schedctl, files, scheduler):
    """How many pods of a scheduler fit beside a cordoned node, of which one profile takes no notice."""
    (files / "one.yaml").write_text(POD.format(name="one", scheduler=scheduler, on="", cpu="100m"))
    disabled = "{disabled: [{name: NodeUnschedulable}, {name: TaintToleration}]}"
    careless = f"- schedulerName: careless\n  plugins: {{multiPoint: {disabled}}}\n"
    (files / "careless.yaml").write_text(f"{HEAD}profiles:\n- schedulerName: default-scheduler\n{careless}")
    return schedctl(
        "capacity", "--like", "shop/one", "-f", str(files / "state.yaml"), "-f", str(files / "one.yaml"),
        "--cordon", "leaving", "--scheduler-config", str(files / "careless.yaml"), "-o", "json",
    )  # fmt: skip


# -- who is compared with whom ------------------------------------------------------


def compared(schedctl, files, *arguments, code=0):
    (files / "pods.yaml").write_text(pods())
    ended = schedctl(
        "explain", "pod", "default-scheduler", "-n", "shop", "-f", str(files / "state.yaml"),
        "-f", str(files / "pods.yaml"), "--cordon", "leaving", "-o", "json", *arguments,
    )  # fmt: skip
    assert ended.code == code, ended.err
    return msgspec.json.decode(ended.out, type=ExplainComparison), ended.err


@pytest.mark.parametrize(
    ("sentence", "arguments", "origins"),
    [
        (
            "one is compared with the defaults",
            ["--compare", "{0}/packing.yaml"],
            ["built-in defaults", "{0}/packing.yaml"],
        ),
        (
            "one is compared with the configuration in force",
            ["--scheduler-config", "{0}/two.yaml", "--compare", "{0}/packing.yaml"],
            ["{0}/two.yaml", "{0}/packing.yaml"],
        ),
        (
            "two are compared with each other",
            ["--compare", "{0}/default.yaml", "--compare", "{0}/packing.yaml"],
            ["{0}/default.yaml", "{0}/packing.yaml"],
        ),
        (
            "what somebody says is in force is never left out",
            ["--profile", "default", "--compare", "{0}/default.yaml", "--compare", "{0}/packing.yaml"],
            ["default.yaml of schedctl", "{0}/default.yaml", "{0}/packing.yaml"],
        ),
        (
            "a profile that ships takes the place of the default scheduler",
            ["--compare", "bin-packing-with-headroom"],
            [
                "built-in defaults",
                "bin-packing.yaml of schedctl, profile bin-packing-with-headroom as default-scheduler",
            ],
        ),
        (
            "a profile of the file in force does so, too",
            ["--scheduler-config", "{0}/two.yaml", "--profile", "packing", "--compare", "{0}/default.yaml"],
            ["{0}/two.yaml, profile packing as default-scheduler", "{0}/default.yaml"],
        ),
    ],
)
def test_the_sides(schedctl, files, sentence, arguments, origins):
    found, _ = compared(schedctl, files, *(argument.format(files) for argument in arguments))
    assert [each.side.configuration for each in found.sides] == [origin.format(files) for origin in origins], sentence
    assert [each.side.name for each in found.sides] == list("ABC"[: len(origins)])


def test_a_configuration_that_does_not_serve_the_pods_breaks_them_and_warns(schedctl, files):
    found, err = compared(schedctl, files, "--compare", str(files / "other.yaml"), "--exit-code", code=1)
    assert found.summary.tallies[0].breaks == 1
    assert f"no profile of {files / 'other.yaml'} is named default-scheduler; pods need schedulerName other" in err


def test_a_run_under_each_side_starts_from_the_same_cluster(schedctl, files):
    """What the first side places is not there for the second: three sides, of which two are the same, agree."""
    (files / "new.yaml").write_text(pods(cpu="3"))
    packing, default = str(files / "packing.yaml"), str(files / "default.yaml")
    ended = schedctl(
        "simulate", str(files / "new.yaml"), "-f", str(files / "state.yaml"), "--drain", "leaving",
        "--compare", default, "--compare", packing, "--compare", default, "-o", "json",
    )  # fmt: skip
    found = msgspec.json.decode(ended.out, type=SimulationComparison)
    first, other, again = ([result.outcomes[side].nodes for result in found.results] for side in range(3))
    assert first == again != other
    assert found.sides[0].balance == found.sides[2].balance
    assert [difference.moves for difference in found.summary.workload_pods] == [1, 0]


def test_mistakes_in_manifests_go_before_what_breaks(schedctl, files):
    (files / "new.yaml").write_text(pods() + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: empty}\n")
    ended = schedctl(
        "simulate", str(files / "new.yaml"), "-f", str(files / "state.yaml"),
        "--compare", str(files / "other.yaml"), "--exit-code",
    )  # fmt: skip
    assert ended.code == 3
